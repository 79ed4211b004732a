import type { Clock } from '../clock.js';
import { As4OnceError } from '../errors.js';
import type { Events } from '../events.js';
import { readState, removeState, writeState } from './state-file.js';

/**
 * The ledger switched off for a while: every message goes forward unclaimed and marked, as if as4-once were not there.
 * A file in the state folder says so, since this must work while the ledger does not. It names its own end.
 */
export interface Bypass {
  /** Epoch ms. */
  readonly since: number;
  readonly until: number;
  readonly who: string;
  readonly reason: string;
}

const FILE = 'bypass.json';
/** Longer than this nobody stands beside it any more, ms. */
const LONGEST = 24 * 3_600_000;
/** How often a server looks, ms. */
const LOOK_EVERY = 500;

/** @throws As4OnceError USAGE where it would last longer than a day, or no time at all. */
export async function switchOn(folder: string, bypass: Bypass): Promise<void> {
  const lasts = bypass.until - bypass.since;
  if (!(lasts > 0 && lasts <= LONGEST)) throw new As4OnceError('USAGE', 'a bypass lasts a day at most');
  await writeState(folder, FILE, bypass);
}

export async function switchOff(folder: string): Promise<void> {
  await removeState(folder, FILE);
}

/** What is in force at `now`. */
export function readBypass(folder: string, now: number): Bypass | undefined {
  const found = readState(folder, FILE, isBypass);
  return found !== undefined && now < found.until ? found : undefined;
}

/** A server's eye on that file. */
export class BypassWatch {
  readonly #folder: string;
  readonly #clock: Clock;
  readonly #events: Events;
  #standing: Bypass | undefined;
  #told: Bypass | undefined;

  constructor(folder: string, clock: Clock, events: Events) {
    this.#folder = folder;
    this.#clock = clock;
    this.#events = events;
    this.look();
  }

  /** What is in force; ends by itself, also between two looks. */
  get current(): Bypass | undefined {
    return this.#standing !== undefined && this.#clock.now() < this.#standing.until ? this.#standing : undefined;
  }

  look(): void {
    this.#standing = readBypass(this.#folder, this.#clock.now());
    const [before, now] = [this.#told, this.#standing];
    if (before?.until === now?.until && before?.reason === now?.reason) return;
    this.#told = now;
    if (now !== undefined)
      this.#events.emit('bypass', {
        on: true,
        reason: now.reason,
        who: now.who,
        until: new Date(now.until).toISOString(),
      });
    else if (before !== undefined) this.#events.emit('bypass', { on: false, reason: before.reason, who: before.who });
  }

  /** Until the signal aborts. */
  async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#clock.sleep(LOOK_EVERY, signal);
      if (!signal.aborted) this.look();
    }
  }
}

function isBypass(value: unknown): value is Bypass {
  const { since, until, who, reason } = (value ?? {}) as Partial<Bypass>;
  return (
    typeof since === 'number' &&
    typeof until === 'number' &&
    typeof who === 'string' &&
    typeof reason === 'string' &&
    until - since <= LONGEST
  );
}
