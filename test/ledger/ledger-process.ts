import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { ROOT } from '../support/child.js';
import type { Ledger } from '../../src/ledger/port.js';

/** A ledger in a process of its own, driven over IPC, so that a test can kill or stop the process that holds a claim. */
export interface LedgerProcess {
  readonly pid: number;
  readonly ledger: Pick<Ledger, 'claim' | 'renew' | 'settle' | 'release' | 'find' | 'list' | 'meta'>;
  /** Resolves when the watch of `key` wakes. */
  watched(key: string): Promise<{ woken: Promise<void> }>;
  kill(): Promise<void>;
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

export type Opening =
  | { readonly engine: 'embedded'; readonly options: { readonly path: string; readonly commandTimeout?: number } }
  | { readonly engine: 'redis'; readonly options: object };

export interface Call { readonly id: number; readonly method: string; readonly args: readonly unknown[] }
export interface Reply { readonly id: number; readonly value?: unknown; readonly error?: { readonly code: string; readonly message: string } }

const METHODS = ['claim', 'renew', 'settle', 'release', 'find', 'list', 'meta'] as const;
const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

export async function startLedgerProcess(opening: Opening): Promise<LedgerProcess> {
  const main = join(ROOT, 'dist/test/ledger/ledger-process-main.js');
  const child = fork(main, [JSON.stringify(opening)], { serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  let made = 0;
  child.on('message', (reply: Reply) => {
    const call = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.error === undefined) call?.resolve(reply.value);
    else call?.reject(Object.assign(new Error(reply.error.message), { code: reply.error.code }));
  });
  child.once('exit', () => {
    for (const { reject } of waiting.values()) reject(new Error('the ledger process ended'));
  });
  const send = (method: string, args: readonly unknown[]): Promise<unknown> => new Promise((resolve, reject) => {
    made += 1;
    waiting.set(made, { resolve, reject });
    child.send({ id: made, method, args } satisfies Call);
  });
  await send('opened', []);
  const ledger = Object.fromEntries(METHODS.map((name) => [name, (...args: unknown[]) => send(name, args)]));
  return {
    pid: child.pid as number,
    ledger: ledger as unknown as LedgerProcess['ledger'],
    watched: async (key) => {
      const woken = send('woken', [key]) as Promise<void>;
      await send('opened', []);
      return { woken };
    },
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    kill: async () => {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
    close: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGCONT');
      child.send({ id: 0, method: 'close', args: [] } satisfies Call);
      await ended;
    },
  };
}
