import { copyFileSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { systemClock, type Clock } from '../../src/clock.js';
import { compose, type Once } from '../../src/compose.js';
import type { Config } from '../../src/config/config.js';
import { loadConfig } from '../../src/config/load.js';
import type { Ledger } from '../../src/ledger/port.js';
import { memoryLedger } from '../../src/ledger/memory.js';
import { keyFiles } from '../endpoint/served.js';
import { errorCodes } from '../front/messages.js';
import { ROOT } from '../support/child.js';
import { receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream, type Step } from '../support/scripted-upstream.js';
import { send, type Answer } from '../support/send.js';
import { tempDir } from '../support/temp-dir.js';

const DAY = 86_400_000;

/** A file of examples/policy put to work as it stands: only its addresses and folders are this test's own. */
export interface ExampleFront {
  readonly upstream: ScriptedUpstream;
  readonly ledger: Ledger;
  /** Its folder in place of `demo-data`. */
  readonly folder: string;
  /** Sends, and says in a word what became of it; see `wordFor`. */
  says(message: Sendable): Promise<string>;
  post(message: Sendable): Promise<Answer>;
  /** The whole world grows older. */
  pass(days: number): void;
  close(): Promise<void>;
}

export interface Sendable {
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

export interface ExampleOptions {
  /** What the access point answers; default a Receipt. */
  readonly answers?: Step;
  /** What is put into the folder before the file is read. */
  readonly prepare?: (folder: string) => void;
  /** Another wording of the file, for a change of policy on a standing ledger. */
  readonly edit?: (text: string) => string;
  readonly ledger?: Ledger;
  /** So many times as fast, for what is seconds in the file; leases and windows excepted. */
  readonly fast?: number;
}

const running = new Set<ExampleFront>();

/** Ends whatever a test left running. */
export async function closeExamples(): Promise<void> {
  for (const example of running) await example.close();
  running.clear();
}

const FOLDER = join(ROOT, 'examples', 'policy');
/** The names of the files whose configuration fits, in order. */
export const examplesOf = (fits: (config: Config) => boolean): string[] =>
  readdirSync(FOLDER)
    .filter((name) => fits(loadConfig(join(FOLDER, name), { env: {} })))
    .toSorted();

export const isAs4Front = ({ role, routes, watch }: Config): boolean =>
  role === 'front' && watch.length === 0 && routes.every(({ protocol }) => protocol === 'as4');

/** Trust and keys where the examples look for them. */
export function keys(folder: string): void {
  const { trust, certificate, key } = keyFiles(folder);
  mkdirSync(join(folder, 'keys'));
  for (const [file, name] of Object.entries({ 'partner.crt': trust, 'endpoint.crt': certificate, 'endpoint.key': key }))
    copyFileSync(name, join(folder, 'keys', file));
}

export const exampleText = (name: string): string => readFileSync(join(FOLDER, `${name}.yaml`), 'utf8');

/** `name` without its ending. */
export async function runExample(name: string, options: ExampleOptions = {}): Promise<ExampleFront> {
  const { fast = 1 } = options;
  const temp = tempDir('policy-example');
  const folder = temp.path;
  options.prepare?.(folder);
  let older = 0;
  const clock: Clock = {
    ...systemClock,
    now: () => systemClock.now() + older,
    monotonic: () => systemClock.monotonic() * fast,
    sleep: (ms, signal) => systemClock.sleep(ms / fast, signal),
    after: (ms, callback) => systemClock.after(ms / fast, callback),
  };
  const upstream = await startUpstream(options.answers ?? receipt());
  const text = (options.edit ?? ((same: string) => same))(exampleText(name))
    .replaceAll('127.0.0.1:8081', `127.0.0.1:${upstream.port}`)
    .replaceAll('../../demo-data', folder);
  const folders = `spool: ${folder}/spool\njournal: ${folder}/journal\nstate: ${folder}/state\n`;
  const config = loadConfig({ name, text: `${text}\n${folders}` }, { env: {} });
  const ledger = options.ledger ?? memoryLedger({ clock });
  const once: Once = compose({ config, ledger, clock });
  const server: Server = createServer((request, response) => once.handler(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const path = config.routes[0]?.path === '/' ? '/as4' : (config.routes[0]?.path ?? '/');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const post = (message: Sendable): Promise<Answer> => send(url, message);
  const example: ExampleFront = {
    upstream,
    ledger,
    folder,
    post,
    says: async (message) => {
      const before = upstream.requests.length;
      return wordFor(await post(message), upstream, before);
    },
    pass: (days) => {
      older += days * DAY;
    },
    close: async () => {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      await once.close({ graceMs: 100 });
      await upstream.close();
      temp.remove();
    },
  };
  running.add(example);
  return example;
}

/**
 * `first` and the other marks (`unmarked` without one) where it went on, `replay` where the first answer came again; and
 * what its sender got where that was no Receipt: codes of ebMS Errors, or a status with the code of our own refusal.
 */
function wordFor(answer: Answer, upstream: ScriptedUpstream, before: number): string {
  const went = upstream.requests.slice(before).map((request) => request.header('as4-once-copy') ?? 'unmarked');
  const codes = errorCodes(answer.body);
  const own = /^([A-Z_]+):/.exec(answer.body.toString())?.[1];
  const got =
    codes.length > 0 ? codes : answer.status < 300 ? [] : [String(answer.status), ...(own === undefined ? [] : [own])];
  const replayed = answer.headers['as4-once-answer'] === undefined ? [] : ['replay'];
  return [...went, ...replayed, ...got].join(' ');
}
