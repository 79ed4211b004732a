import type { Clock } from '../../src/clock.js';

interface Sleeper {
  readonly until: number;
  readonly order: number;
  readonly wake: () => void;
}

/**
 * A clock that stands still until a test moves it. Sleepers wake in the order of their times (ties: in the order they
 * fell asleep), and what a woken sleeper does is run to its next wait before time moves on, so that a test of time is
 * the same on every run. Ids and random numbers are a fixed sequence.
 */
export interface SimulatedClock extends Clock {
  /** Moves time on by `ms`, waking everybody whose time comes within it; sleepers that fall asleep meanwhile count too. */
  advance(ms: number): Promise<void>;
  /** Sets the wall clock alone, as an operator or NTP does; monotonic time and sleepers are not touched. */
  setWall(epochMs: number): void;
  /** How many sleep now. */
  readonly sleeping: number;
  /** Resolves when at least `count` sleep (default 1): the code under test has come to its wait. */
  whenSleeping(count?: number): Promise<void>;
}

export function simulatedClock(start = Date.UTC(2026, 0, 1), seed = 1): SimulatedClock {
  let elapsed = 0;
  let wall = start;
  let made = 0;
  let slept = 0;
  let state = seed;
  const sleepers = new Set<Sleeper>();
  const watchers = new Set<() => void>();

  const next = (limit: number): Sleeper | undefined => {
    let first: Sleeper | undefined;
    for (const one of sleepers) {
      if (one.until > limit) continue;
      if (first === undefined || one.until < first.until || (one.until === first.until && one.order < first.order)) first = one;
    }
    return first;
  };

  const moveTo = (target: number): void => {
    wall += target - elapsed;
    elapsed = target;
  };

  const fallAsleep = (ms: number, woken: () => void): Sleeper => {
    slept += 1;
    const sleeper: Sleeper = {
      until: elapsed + Math.max(0, ms),
      order: slept,
      wake: () => {
        if (sleepers.delete(sleeper)) woken();
      },
    };
    sleepers.add(sleeper);
    for (const watcher of [...watchers]) watcher();
    return sleeper;
  };

  return {
    now: () => wall,
    monotonic: () => elapsed,
    id: () => {
      made += 1;
      return `00000000-0000-4000-8000-${String(made).padStart(12, '0')}`;
    },
    random: () => {
      // Lehmer generator: small, known, and enough for jitter
      state = (state * 48_271) % 2_147_483_647;
      return state / 2_147_483_647;
    },
    sleep: (ms, signal) => new Promise<void>((resolve) => {
      if (signal?.aborted === true) {
        resolve();
        return;
      }
      const sleeper = fallAsleep(ms, () => {
        signal?.removeEventListener('abort', sleeper.wake);
        resolve();
      });
      signal?.addEventListener('abort', sleeper.wake, { once: true });
    }),
    after: (ms, callback) => {
      const sleeper = fallAsleep(ms, callback);
      return () => void sleepers.delete(sleeper);
    },
    advance: async (ms) => {
      const end = elapsed + ms;
      await settled();
      for (let sleeper = next(end); sleeper !== undefined; sleeper = next(end)) {
        moveTo(Math.max(elapsed, sleeper.until));
        sleeper.wake();
        await settled();
      }
      moveTo(end);
    },
    setWall: (epochMs) => {
      wall = epochMs;
    },
    get sleeping() {
      return sleepers.size;
    },
    whenSleeping: (count = 1) => new Promise<void>((resolve) => {
      const look = (): void => {
        if (sleepers.size < count) return;
        watchers.delete(look);
        resolve();
      };
      watchers.add(look);
      look();
    }),
  };
}

/** Lets everything that is already runnable run: microtasks, and a turn or two of the event loop for streams. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}
