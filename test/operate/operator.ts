import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { main } from '../../src/cli/main.js';
import { startNode } from '../support/child.js';
import type { OwnedProcess } from '../support/owned-process.js';
import { asDocumented } from './documented.js';

const run = promisify(execFile);

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * `as4-once <args>` as an operator types it, with the configuration named by the environment; within this process,
 * beside the servers that run in theirs, since to start a process for each of a hundred commands takes minutes.
 */
export function operator(configFile: string, env: Readonly<Record<string, string>> = {}): (...args: string[]) => Promise<Ran> {
  return async (...args) => {
    let [stdout, stderr] = ['', ''];
    const io = {
      out: (text: string) => void (stdout += text), err: (text: string) => void (stderr += text), tty: false,
      env: { AS4_ONCE_CONFIG: configFile, NO_COLOR: '1', ...env },
    };
    const code = await main(args, io);
    if (args.includes('--json') && stdout !== '') asDocumented(args, code, JSON.parse(stdout));
    return { code, stdout, stderr };
  };
}

/** The same, which must end well; its standard output as JSON. */
export async function json<T>(ran: Promise<Ran>, code = 0): Promise<T> {
  const { code: ended, stdout, stderr } = await ran;
  if (ended !== code) throw new Error(`exit code ${ended}, not ${code}\n${stdout}${stderr}`);
  return JSON.parse(stdout) as T;
}

/** A program of the machine. Rejects unless it ends with 0. */
export async function program(name: string, args: readonly string[], cwd: string): Promise<string> {
  const { stdout, stderr } = await run(name, [...args], { cwd });
  return stdout + stderr;
}

export async function hasProgram(name: string): Promise<boolean> {
  return await run('which', [name]).then(() => true, () => false);
}

/** An access point that signs real Receipts and delivers every copy into a folder. */
export async function startNaive(deliveries: string): Promise<{ readonly url: string; readonly process: OwnedProcess }> {
  const process = await startNode('dist/test/support/naive-access-point-main.js', [deliveries]);
  return { url: (await process.waitFor(/listens on (\S+)/))[1] ?? '', process };
}
