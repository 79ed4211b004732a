import { randomUUID } from 'node:crypto';
import { setTimeout as sleepFor } from 'node:timers/promises';

/** Time and randomness, handed in: the only file that asks the machine for either. All values are milliseconds. */
export interface Clock {
  /** Wall clock, epoch milliseconds. For logs and for engines that have no clock of their own. */
  now(): number;
  /** Monotonic milliseconds, for durations within this process. */
  monotonic(): number;
  /** Resolves after `ms`; resolves early (never rejects) when `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** A fresh unguessable identifier. */
  id(): string;
  /** A number in [0, 1) for jitter. */
  random(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep: async (ms, signal) => {
    try {
      await sleepFor(ms, undefined, signal === undefined ? {} : { signal });
    } catch {
      // aborted: the caller looks at its signal
    }
  },
  id: () => randomUUID(),
  random: () => Math.random(),
};
