import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ROOT } from '../support/child.js';
import { freePort } from '../support/free-port.js';
import { startProcess, type OwnedProcess } from '../support/owned-process.js';
import { plain } from '../support/scripted-answers.js';
import { startUpstream } from '../support/scripted-upstream.js';

/** A real phase4 sender and a real phase4 access point, built once from the harness beside the project. */

const SHARED = resolve(ROOT, process.env['AS4_ONCE_SHARED'] ?? '../shared');
const PEER = join(SHARED, 'peers', 'phase4');
/** Two of them and their senders share the machine. */
const JAVA_OPTS = '-Xmx768m -XX:+UseSerialGC -XX:TieredStopAtLevel=1';

/** Why phase4 cannot be run here; undefined where it can. */
export function phase4Missing(): string | undefined {
  if (!existsSync(PEER)) return 'peers/phase4 is not beside the project (AS4_ONCE_SHARED)';
  for (const [command, flag] of [
    ['java', '-version'],
    ['mvn', '-v'],
    ['bash', '--version'],
  ] as const) {
    if (spawnSync(command, [flag], { stdio: 'ignore' }).status !== 0) return `${command} is not installed`;
  }
  return undefined;
}

/** The folder of the built harness: copied and built where there is none of these very sources yet. */
export function phase4Home(): string {
  const home = join(tmpdir(), `as4-once-phase4-${digestOf(PEER).slice(0, 16)}`);
  if (existsSync(join(home, 'target', 'phase4-central.jar'))) return home;
  const making = mkdtempSync(join(tmpdir(), 'as4-once-phase4-build-'));
  cpSync(PEER, making, { recursive: true });
  // what is copied may be read-only
  execFileSync('chmod', ['-R', 'u+w', making]);
  execFileSync('mvn', ['-q', 'package'], { cwd: making, stdio: ['ignore', 2, 2] });
  try {
    renameSync(making, home);
  } catch {
    rmSync(making, { recursive: true, force: true }); // another run was faster
  }
  return home;
}

function digestOf(folder: string): string {
  const hash = createHash('sha256');
  const visit = (path: string): void => {
    for (const name of readdirSync(path).toSorted()) {
      const file = join(path, name);
      if (statSync(file).isDirectory()) visit(file);
      else hash.update(`${file.slice(folder.length)}\0`).update(readFileSync(file));
    }
  };
  visit(folder);
  return hash.digest('hex');
}

export interface ReceiverOptions {
  /** Where it writes one file for each delivery. */
  readonly dir: string;
  readonly port?: number;
  readonly flags?: readonly string[];
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  /** Deliveries of an id, whichever process made them. */
  delivered(messageId: string): number;
  /** Deliveries that its backend refused. */
  failed(messageId: string): number;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export async function startReceiver({ dir, port, flags = [] }: ReceiverOptions): Promise<Receiver> {
  mkdirSync(dir, { recursive: true });
  const at = port ?? (await freePort());
  const process = await phase4('receive', ['--port', String(at), '--dir', dir, ...flags]);
  await process.waitFor(/^READY/m, 180_000);
  const named = (messageId: string, ending: string): number =>
    readdirSync(dir).filter((name) => name.slice(7) === `${messageId.replaceAll(/[^A-Za-z0-9@._-]/g, '_')}${ending}`)
      .length;
  return {
    url: `http://127.0.0.1:${at}/as4`,
    port: at,
    delivered: (id) => named(id, '.sbd'),
    failed: (id) => named(id, '.failed'),
    stop: async () => void (await process.stop()),
    kill: async () => void (await process.kill()),
  };
}

/** What the sender says of each message. */
export interface Sent {
  readonly messageId: string;
  readonly result: string;
  readonly retryFeasible: boolean;
  readonly http: number;
  readonly signalId: string | null;
  readonly nrr: string;
  readonly error: string | null;
  readonly retries: readonly unknown[];
}

/** Sends with the real sender: one line for each message. */
export async function sendWithPhase4(url: string, flags: readonly string[]): Promise<readonly Sent[]> {
  const doc = flags.includes('--doc') ? [] : ['--doc', join(phase4Home(), 'sample', 'invoice-10k.xml')];
  const process = await phase4('send', ['--url', url, ...doc, ...flags]);
  const { code } = await process.ended;
  if (code !== 0) throw new Error(`the sender ended with ${code}:\n${process.stdout()}${process.stderr()}`);
  return process
    .lines()
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Sent);
}

/** One real message as it stands on the wire, to be sent again and again, whole or in part. */
export interface Recorded {
  readonly messageId: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Lets the real sender send to somebody who only listens. */
export async function recordFromPhase4(messageId: string, flags: readonly string[] = []): Promise<Recorded> {
  const listener = await startUpstream(plain(503, 'text/plain', 'recorded'));
  await sendWithPhase4(listener.url, ['--message-id', messageId, ...flags]);
  const [request] = listener.requests;
  await listener.close();
  if (request === undefined) throw new Error('the sender sent nothing');
  const hop = new Set(['host', 'connection', 'transfer-encoding', 'content-length', 'expect']);
  return {
    messageId,
    body: request.body,
    headers: Object.fromEntries(request.headers.filter(([name]) => !hop.has(name.toLowerCase()))),
  };
}

/** An invented invoice of so many bytes. */
export function makeInvoice(bytes: number, file: string): void {
  const made = execFileSync(process.execPath, [join(phase4Home(), 'tools', 'make-invoice.mjs'), String(bytes)], {
    maxBuffer: bytes * 2,
  });
  writeFileSync(file, made);
}

async function phase4(command: 'send' | 'receive', args: readonly string[]): Promise<OwnedProcess> {
  const home = phase4Home();
  return startProcess('bash', [join(home, 'run.sh'), command, ...args], {
    cwd: home,
    env: { ...process.env, JAVA_OPTS },
  });
}
