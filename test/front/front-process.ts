import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { startCli } from '../support/child.js';
import type { OwnedProcess } from '../support/owned-process.js';
import { tempDir } from '../support/temp-dir.js';

/** The front as users run it: `as4-once serve --config FILE`, a process of its own. */
export interface Front {
  /** Where messages go. */
  readonly url: string;
  readonly port: number;
  /** The operator's listener. */
  readonly admin: string;
  readonly configFile: string;
  readonly process: OwnedProcess;
  /** Every complete line of the log so far. */
  log(): readonly LogLine[];
  /** The `nth` log line (from 1) that has these values; waits for it. */
  logged(values: Readonly<Record<string, unknown>>, nth?: number): Promise<LogLine>;
  /** A value of /metrics; labels as they are written there. */
  metric(name: string): Promise<number>;
  /** Waits until a metric has that value. */
  metricIs(name: string, value: number): Promise<void>;
  stop(): Promise<void>;
  kill(): Promise<void>;
}

export type LogLine = Readonly<Record<string, unknown>> & { readonly event?: string; readonly key?: string };

/** Fields of the configuration file; listeners, role and access point are given where they are left out. */
export type Settings = Readonly<Record<string, unknown>>;

const running = new Set<Front>();

export async function startFront(settings: Settings, env: Readonly<Record<string, string>> = {}): Promise<Front> {
  const configFile = join(tempDir('front').path, 'front.yaml');
  writeSettings(configFile, settings);
  return await startFrontFrom(configFile, env);
}

export function writeSettings(configFile: string, settings: Settings): void {
  writeFileSync(configFile, stringify({
    role: 'front', listen: '127.0.0.1:0', admin: { listen: '127.0.0.1:0' }, accessPoint: 'phase4', ...settings,
  }));
}

/** Again with a file that stands: what an operator does after a crash. */
export async function startFrontFrom(configFile: string, env: Readonly<Record<string, string>> = {}): Promise<Front> {
  const process = await startCli(['serve', '--config', configFile], { env, ready: /as4-once listens on (http:\/\/\S+)/ });
  const url = process.ready?.[1] ?? '';
  const admin = (await process.waitFor(/as4-once admin on (http:\/\/\S+)/))[1] ?? '';
  const parsed: LogLine[] = [];
  const log = (): readonly LogLine[] => {
    for (const line of process.lines().slice(parsed.length)) parsed.push(JSON.parse(line) as LogLine);
    return parsed;
  };
  const metric = async (name: string): Promise<number> => {
    const text = await (await fetch(`${admin}/metrics`)).text();
    const line = text.split('\n').find((one) => one.startsWith(`${name} `));
    return Number(line?.slice(name.length + 1) ?? Number.NaN);
  };
  const front: Front = {
    url: `${url}/as4`,
    port: Number(new URL(url).port),
    admin,
    configFile,
    process,
    log,
    logged: async (values, nth = 1) => await eventually(() => log().filter((line) => hasValues(line, values))[nth - 1], () => `line ${nth} with ${JSON.stringify(values)} in\n${process.stdout()}\n${process.stderr()}`),
    metric,
    metricIs: async (name, value) => {
      let last = Number.NaN;
      await eventually(async () => ((last = await metric(name)) === value ? true : undefined), () => `${name} to be ${value}; it is ${last}`);
    },
    stop: async () => {
      running.delete(front);
      await process.stop();
    },
    kill: async () => {
      running.delete(front);
      await process.kill();
    },
  };
  running.add(front);
  return front;
}

/** Ends whatever a test left running. */
export async function stopFronts(): Promise<void> {
  await Promise.all([...running].map((front) => front.kill()));
}

/** Looks again and again until there is something to see; a test that waits in vain says what for. */
export async function eventually<T>(look: () => T | undefined | Promise<T | undefined>, what: () => string): Promise<T> {
  const end = performance.now() + 30_000;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > end) throw new Error(`waited in vain for ${what()}`);
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
}

function hasValues(line: LogLine, values: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(values).every(([name, value]) => line[name] === value);
}
