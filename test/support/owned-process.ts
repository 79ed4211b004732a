import { spawn, type ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';

/**
 * A child process that this test process owns: everything it prints is kept, it is signalled by its own pid only, and
 * it is killed when the test process ends, whatever the test did.
 */
export interface OwnedProcess {
  readonly pid: number;
  /** Everything printed so far. */
  stdout(): string;
  stderr(): string;
  /** Complete lines printed on stdout so far. */
  lines(): readonly string[];
  /**
   * Resolves with the first match in stdout and stderr (looking back too). Rejects with the whole output when the
   * process ends first or after `timeoutMs` (default 20 s).
   */
  waitFor(pattern: RegExp, timeoutMs?: number): Promise<RegExpMatchArray>;
  /** Resolves when the process has ended. Never rejects. */
  readonly ended: Promise<Ended>;
  readonly running: boolean;
  signal(signal: NodeJS.Signals): void;
  /** SIGSTOP: the process stops dead, its sockets stay open. */
  pause(): void;
  /** SIGCONT. */
  resume(): void;
  /** SIGTERM (after a SIGCONT, so that a paused process hears it); SIGKILL after `graceMs` (default 15 s). */
  stop(graceMs?: number): Promise<Ended>;
  /** SIGKILL. */
  kill(): Promise<Ended>;
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const owned = new Set<ChildProcessByStdio<null, Readable, Readable>>();
process.once('exit', () => {
  for (const child of owned) child.kill('SIGKILL');
});

/** Starts `command`; resolves when it has a pid, rejects when it cannot be started (not installed, not executable). */
export async function startProcess(
  command: string, args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv } = {},
): Promise<OwnedProcess> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', reject);
  });
  owned.add(child);
  return own(child);
}

function own(child: ChildProcessByStdio<null, Readable, Readable>): OwnedProcess {
  let out = '';
  let err = '';
  let ended: Ended | undefined;
  const lookers = new Set<() => void>();
  const look = (): void => {
    for (const looker of [...lookers]) looker();
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
    look();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
    look();
  });
  // `close` and not `exit`: by then everything the process printed has arrived
  const end = new Promise<Ended>((resolve) => {
    child.once('close', (code, signal) => {
      ended = { code, signal };
      owned.delete(child);
      look();
      resolve(ended);
    });
  });
  const signal = (name: NodeJS.Signals): void => {
    if (ended === undefined) child.kill(name);
  };
  return {
    pid: child.pid as number,
    stdout: () => out,
    stderr: () => err,
    lines: () => out.split('\n').slice(0, -1),
    ended: end,
    get running() {
      return ended === undefined;
    },
    signal,
    pause: () => signal('SIGSTOP'),
    resume: () => signal('SIGCONT'),
    kill: () => {
      signal('SIGKILL');
      return end;
    },
    stop: async (graceMs = 15_000) => {
      signal('SIGTERM');
      signal('SIGCONT');
      const timer = setTimeout(() => signal('SIGKILL'), graceMs);
      const result = await end;
      clearTimeout(timer);
      return result;
    },
    waitFor: (pattern, timeoutMs = 20_000) => new Promise((resolve, reject) => {
      const fail = (why: string): void => {
        stop();
        reject(new Error(`${why} while waiting for ${pattern}\n--- stdout\n${out}\n--- stderr\n${err}`));
      };
      const timer = setTimeout(() => fail(`nothing within ${timeoutMs} ms`), timeoutMs);
      const stop = (): void => {
        clearTimeout(timer);
        lookers.delete(looker);
      };
      const looker = (): void => {
        const found = out.match(pattern) ?? err.match(pattern);
        if (found !== null) {
          stop();
          resolve(found);
        } else if (ended !== undefined) {
          fail(`the process ended (code ${ended.code}, signal ${ended.signal})`);
        }
      };
      lookers.add(looker);
      looker();
    }),
  };
}
