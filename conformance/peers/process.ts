import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';

/** A program that is started, ended and started again during a run. Its output goes to one log file. */
export class Program {
  readonly #command: string;
  readonly #args: () => readonly string[];
  readonly #options: {
    readonly folder: string;
    readonly log: string;
    readonly ready: RegExp;
    readonly env?: NodeJS.ProcessEnv;
  };
  #child: ChildProcess | undefined;

  /** `args` is asked anew at each start. `ready` is a line of its output that says that it works. */
  constructor(
    command: string,
    args: () => readonly string[],
    options: { folder: string; log: string; ready: RegExp; env?: NodeJS.ProcessEnv },
  ) {
    this.#command = command;
    this.#args = args;
    this.#options = options;
  }

  /** Starts it, unless it runs already, and waits, at most three minutes, until it says that it is ready. */
  async start(): Promise<void> {
    if (this.#child !== undefined && running(this.#child)) return;
    const { folder, log, ready, env } = this.#options;
    const child = spawn(this.#command, this.#args(), {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    // whatever ends this process, nothing it started is left behind
    const end = (): void => void child.kill('SIGKILL');
    process.once('exit', end);
    child.once('exit', () => process.off('exit', end));
    const file = createWriteStream(log, { flags: 'a' });
    let seen = '';
    await new Promise<void>((resolve, reject) => {
      const late = new Error(`${this.#command} is not ready after 180 s; see ${log}`);
      const limit = setTimeout(() => reject(late), 180_000);
      const look = (chunk: Buffer): void => {
        file.write(chunk);
        if (seen.length < 100_000) seen += chunk.toString('utf8');
        if (ready.test(seen)) resolve();
      };
      child.stdout.on('data', look);
      child.stderr.on('data', look);
      child.once('error', reject);
      child.once('exit', (code, signal) =>
        reject(new Error(`${this.#command} ended at once (${code ?? signal}); see ${log}: ${seen.slice(-500)}`)),
      );
      child.once('exit', () => {
        clearTimeout(limit);
        file.end();
      });
      void limit.unref();
    });
  }

  /** Ends it with a signal, and by force after 20 s. */
  async stop(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || !running(child)) return;
    const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill(signal);
    const limit = setTimeout(() => child.kill('SIGKILL'), 20_000);
    await gone;
    clearTimeout(limit);
  }

  async restart(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    await this.stop(signal);
    await this.start();
  }
}

function running(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null;
}

/** A port of the loopback address that nobody listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
