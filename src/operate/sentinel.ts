import { readdirSync } from 'node:fs';
import type { Clock } from '../clock.js';
import { As4OnceError } from '../errors.js';
import type { Events } from '../events.js';
import type { Ledger, LedgerMeta } from '../ledger/port.js';
import type { Message } from '../message.js';
import { readState, writeState } from './state-file.js';

/**
 * Tells when the ledger went back in time: a snapshot was restored, a failover lost writes, somebody flushed it. Each
 * node remembers in its state folder which ledger it saw and how many settles; a ledger with another id, or with fewer,
 * has forgotten something. That stays said until an operator takes the ledger as it is (`as4-once ledger accept`).
 */
export interface Seen {
  /** The ledger's id. */
  readonly ledger: string;
  /** Most settles ever seen. */
  readonly settles: number;
  /** Epoch ms of the last look that was in order. */
  readonly at: number;
  /** Ids of the operators' acceptances that were heard of: a restored copy may hold an old one. */
  readonly accepted: readonly string[];
  readonly behind?: Behind;
}

export interface Behind {
  /** Epoch ms of this node's clock. */
  readonly noticed: number;
  /** When this node last saw the ledger in order: what happened since may be forgotten. */
  readonly since: number;
  readonly reason: string;
}

const STRICT = 'nothing is decided';
const MARKED = 'first copies that may be older go on marked';
const KEPT_IDS = 32;
const LOOK_EVERY = 1_000;
/** While the ledger is out of reach: nothing is decided after it is back until it was looked at, ms. */
const LOOK_AGAIN = 100;
/** How far a sender's clock may run ahead of ours, ms. */
const SKEW = 300_000;

export interface SentinelParts {
  readonly ledger: Pick<Ledger, 'meta'>;
  readonly folder: string;
  readonly node: string;
  readonly clock: Clock;
  readonly events: Events;
  /** ledger.strict: decide nothing with a ledger that forgot. */
  readonly strict: boolean;
}

export class Sentinel {
  readonly #parts: SentinelParts;
  #seen: Seen | undefined;
  #written = '';
  #outOfReach = false;
  #said: string | undefined;

  constructor(parts: SentinelParts) {
    this.#parts = parts;
    this.#seen = readState(parts.folder, fileOf(parts.node), isSeen);
  }

  get behind(): Behind | undefined {
    return this.#seen?.behind;
  }

  /** @throws As4OnceError LEDGER_BEHIND, or LEDGER_DOWN until the first look after the ledger was out of reach. */
  mayDecide(): void {
    if (this.#outOfReach)
      throw new As4OnceError('LEDGER_DOWN', 'it was out of reach, and nobody has looked at it since');
    const { behind } = this;
    if (behind !== undefined && this.#parts.strict) throw new As4OnceError('LEDGER_BEHIND', behind.reason);
  }

  /** Whether the ledger may have forgotten an earlier copy: the sender made this one before the loss was noticed. */
  fromGap({ facts }: Message): boolean {
    const { behind } = this;
    return behind !== undefined && (facts.timestamp === undefined || facts.timestamp <= behind.noticed + SKEW);
  }

  /** Never throws: what cannot be seen now will be looked at again. */
  async look(): Promise<void> {
    let meta: LedgerMeta;
    try {
      meta = await this.#parts.ledger.meta();
    } catch (error) {
      this.#outOfReach ||= error instanceof As4OnceError && error.code === 'LEDGER_DOWN';
      return;
    }
    const next = judge(this.#seen, meta, this.#parts.clock.now());
    this.#seen = next;
    this.#outOfReach = false;
    this.#tell(next.behind);
    await this.#keep(next);
  }

  /** Until the signal aborts. */
  async watch(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.#parts.clock.sleep(this.#outOfReach ? LOOK_AGAIN : LOOK_EVERY, signal);
      if (!signal.aborted) await this.look();
    }
  }

  #tell(behind: Behind | undefined): void {
    const { events, strict } = this.#parts;
    if (behind?.reason === this.#said) return;
    const before = this.#said;
    this.#said = behind?.reason;
    if (behind !== undefined) {
      events.emit('behind', {
        behind: true,
        reason: `${behind.reason}; ${strict ? STRICT : MARKED} until as4-once ledger accept`,
      });
    } else if (before !== undefined) {
      events.emit('behind', { behind: false, reason: 'an operator has accepted the ledger as it is' });
    }
  }

  async #keep(seen: Seen): Promise<void> {
    // the time of the last look alone is not worth a write
    const text = JSON.stringify({ ...seen, at: 0 });
    if (text === this.#written) return;
    try {
      await writeState(this.#parts.folder, fileOf(this.#parts.node), seen);
      this.#written = text;
    } catch (error) {
      this.#parts.events.emit('fault', {
        code: 'INTERNAL',
        detail: `the state folder cannot be written: ${String(error)}`,
      });
      this.#written = text; // said once; the next settle tries again
    }
  }
}

/** What a node knows after a look, from what it knew before. */
export function judge(seen: Seen | undefined, meta: LedgerMeta, now: number): Seen {
  const known = meta.accepted === undefined ? [] : [meta.accepted.id];
  const accepted = [...new Set([...(seen?.accepted ?? []), ...known])].slice(-KEPT_IDS);
  const fresh: Seen = { ledger: meta.id, settles: meta.settles, at: now, accepted };
  if (seen === undefined) return fresh;
  const wasAccepted = meta.accepted !== undefined && !seen.accepted.includes(meta.accepted.id);
  const why = lossOf(seen, meta);
  if (why === undefined && seen.behind === undefined) return fresh;
  if (wasAccepted) return fresh;
  return { ...seen, accepted, behind: seen.behind ?? { noticed: now, since: seen.at, reason: why ?? '' } };
}

function lossOf(seen: Seen, meta: LedgerMeta): string | undefined {
  if (meta.id !== seen.ledger) return `the ledger is another one (${meta.id}) than before (${seen.ledger})`;
  const lost = seen.settles - meta.settles;
  return lost > 0 ? `the ledger has ${lost} ${lost === 1 ? 'settle' : 'settles'} fewer than it had` : undefined;
}

/** What the nodes that keep their state in this folder have seen, by node. */
export function seenIn(folder: string): ReadonlyMap<string, Seen> {
  const found = new Map<string, Seen>();
  for (const name of names(folder)) {
    const node = /^ledger-(.+)\.json$/.exec(name)?.[1];
    const seen = node === undefined ? undefined : readState(folder, name, isSeen);
    if (node !== undefined && seen !== undefined) found.set(decodeURIComponent(node), seen);
  }
  return found;
}

function names(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

const fileOf = (node: string): string => `ledger-${encodeURIComponent(node)}.json`;

function isSeen(value: unknown): value is Seen {
  const { ledger, settles, at, accepted } = (value ?? {}) as Partial<Seen>;
  return typeof ledger === 'string' && typeof settles === 'number' && typeof at === 'number' && Array.isArray(accepted);
}
