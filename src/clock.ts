import { randomUUID } from 'node:crypto';

/** Time and randomness, handed in: the only file that asks the machine for either. All values are milliseconds. */
export interface Clock {
  /** Wall clock, epoch milliseconds. For logs and for engines that have no clock of their own. */
  now(): number;
  /** Monotonic milliseconds, for durations within this process. */
  monotonic(): number;
  /** Resolves after `ms`; resolves early (never rejects) when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Calls back once after `ms`, unless cancelled by the returned function before. For what happens on every exchange. */
  after(ms: number, callback: () => void): () => void;
  /** A fresh unguessable identifier. */
  id(): string;
  /** A number in [0, 1) for jitter. */
  random(): number;
}

/** The machine's own timers; the promise form costs an AbortError with a stack for each timer that is cancelled. */
function after(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after,
  sleep: (ms, signal) =>
    new Promise<void>((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const cancel = after(ms, done);
      signal?.addEventListener('abort', done, { once: true });
      function done(): void {
        cancel();
        signal?.removeEventListener('abort', done);
        resolve();
      }
    }),
  id: () => randomUUID(),
  random: () => Math.random(),
};
