import { As4OnceError } from '../errors.js';
import type { Clock } from '../clock.js';
import type { Ledger } from '../ledger/port.js';
import type { LedgerRecord } from '../ledger/record.js';

/**
 * Copies that wait for the copy in progress. One watcher and one poller per key serve all of its waiters in this
 * process, so five thousand copies of one slow id cost one read every `poll` ms. Waking is only a hint: whoever wakes
 * claims again, and the ledger lets exactly one through.
 */
export class Waiting {
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  readonly #limits: { readonly waiters: number; readonly waitersPerKey: number };
  readonly #pollMs: number;
  readonly #rooms = new Map<string, Room>();
  #count = 0;

  constructor(ledger: Ledger, clock: Clock, limits: { waiters: number; waitersPerKey: number }, pollMs: number) {
    this.#ledger = ledger;
    this.#clock = clock;
    this.#limits = limits;
    this.#pollMs = pollMs;
  }

  /** Copies waiting in this process. */
  get count(): number {
    return this.#count;
  }

  /**
   * Waits until the record may have changed since `seen`, or until `deadline` (monotonic ms).
   * @returns false when the time is over. @throws As4OnceError TOO_MANY_WAITING at once.
   */
  async for(key: string, seen: LedgerRecord, deadline: number): Promise<boolean> {
    const left = deadline - this.#clock.monotonic();
    if (left <= 0) return false;
    const room = this.#rooms.get(key) ?? this.#open(key, seen);
    if (this.#count >= this.#limits.waiters || room.waiters.size >= this.#limits.waitersPerKey) {
      this.#closeIfEmpty(key, room);
      throw new As4OnceError('TOO_MANY_WAITING', `${room.waiters.size} wait for this id, ${this.#count} in all`);
    }
    // The room may have watched an older state than the one this copy lost to.
    room.seen = seen;
    const timer = new AbortController();
    let woken = false;
    const wake = (): void => {
      woken = true;
      timer.abort();
    };
    room.waiters.add(wake);
    this.#count += 1;
    try {
      await this.#clock.sleep(left, timer.signal);
      return woken;
    } finally {
      this.#count -= 1;
      room.waiters.delete(wake);
      this.#closeIfEmpty(key, room);
    }
  }

  #open(key: string, seen: LedgerRecord): Room {
    const stop = new AbortController();
    const room: Room = { waiters: new Set(), seen, stop, unwatch: () => undefined };
    room.unwatch = this.#ledger.watch(key, () => wakeAll(room));
    this.#rooms.set(key, room);
    void this.#poll(key, room);
    return room;
  }

  async #poll(key: string, room: Room): Promise<void> {
    while (!room.stop.signal.aborted) {
      await this.#clock.sleep(this.#pollMs, room.stop.signal);
      if (room.stop.signal.aborted) return;
      const found = await this.#ledger.find(key).catch(() => null);
      if (found === null) continue; // unreachable: those who wait go on waiting, within their own time
      if (found === undefined || changed(room.seen, found.record, found.now)) wakeAll(room);
    }
  }

  #closeIfEmpty(key: string, room: Room): void {
    if (room.waiters.size > 0 || this.#rooms.get(key) !== room) return;
    this.#rooms.delete(key);
    room.stop.abort();
    room.unwatch();
  }
}

interface Room {
  readonly waiters: Set<() => void>;
  seen: LedgerRecord;
  readonly stop: AbortController;
  unwatch: () => void;
}

function wakeAll(room: Room): void {
  for (const wake of [...room.waiters]) wake();
}

/** Worth a new claim: decided, released, in other hands, or lapsed. A mere renewal is not. */
function changed(seen: LedgerRecord, now: LedgerRecord, ledgerNow: number): boolean {
  if (now.state !== 'claimed' || now.token !== seen.token) return true;
  return now.leaseUntil !== undefined && ledgerNow >= now.leaseUntil;
}
