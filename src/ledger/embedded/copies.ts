import type { DuplicateKey, LedgerRecord } from '../record.js';

interface Seen {
  copies: number;
  lastSeen: number;
}

/**
 * Copies that changed nothing but the count. They are answered from what is committed, without a transaction of their
 * own, and written together a moment later; a crash loses that moment's count and nothing else.
 */
export class Copies {
  readonly #seen = new Map<DuplicateKey, Seen>();

  get size(): number {
    return this.#seen.size;
  }

  add(key: DuplicateKey, lastSeen: number): void {
    const seen = this.#seen.get(key);
    if (seen === undefined) this.#seen.set(key, { copies: 1, lastSeen });
    else {
      seen.copies += 1;
      seen.lastSeen = Math.max(seen.lastSeen, lastSeen);
    }
  }

  /** The record with the copies that are not written yet. */
  over(record: LedgerRecord): LedgerRecord {
    const seen = this.#seen.get(record.key);
    if (seen === undefined) return record;
    return { ...record, copies: record.copies + seen.copies, lastSeen: Math.max(record.lastSeen, seen.lastSeen) };
  }

  /** Another write of the record has taken them along. */
  written(key: DuplicateKey): void {
    this.#seen.delete(key);
  }

  /** Hands over all of them; what comes meanwhile counts for the next time. */
  take(): ReadonlyMap<DuplicateKey, Seen> {
    const taken = new Map(this.#seen);
    this.#seen.clear();
    return taken;
  }
}
