import type { Clock } from '../clock.js';
import type { Events, ExchangeEvent } from '../events.js';

/** So many copies of one message after its answer, within so long, are a storm. */
export const STORM_COPIES = 5;
export const STORM_WITHIN = 3_600_000;

/** Messages watched at a time are between so many and twice so many; those that were quiet longest make room. */
const WATCHED = 5_000;
/** Arrival times kept of one message. Beyond that the count stays at this: it is a storm either way. */
const TIMES_KEPT = 1_000;

export interface Storm {
  readonly key: string;
  readonly messageId: string;
  readonly partner?: string;
  readonly from?: string;
  /** `unaccepted`: each copy got its Receipt. `reused`: each copy had other content than was accepted. */
  readonly kind: 'unaccepted' | 'reused';
  /** Copies within the last hour, at this process. */
  readonly copies: number;
  /** Copies since the first, at all processes, as the record says. */
  readonly copiesEver: number;
  /** Epoch ms of the first copy that counts, and of the newest. */
  readonly since: number;
  readonly last: number;
}

interface Watched {
  readonly kind: Storm['kind'];
  readonly messageId: string;
  partner?: string;
  from?: string;
  copiesEver: number;
  /** Epoch ms for people, monotonic ms for the window; oldest first. */
  arrivals: { readonly wall: number; readonly at: number }[];
  /** Monotonic ms of the last `storm` event. */
  told?: number;
}

/**
 * Finds senders that go on sending a message although it was answered: they get their Receipt and do not accept it, or
 * they reuse an id. Looks only at copies that a sender has no reason to send.
 */
export class Storms {
  readonly #clock: Clock;
  readonly #events: Events;
  /** Messages with a copy since the last turn, and those of the turn before: an LRU that costs no search. */
  #young = new Map<string, Watched>();
  #old = new Map<string, Watched>();

  constructor(events: Events, clock: Clock) {
    this.#clock = clock;
    this.#events = events;
    events.on('exchange', (event) => this.#look(event));
  }

  /** The storms of the last hour, worst first. */
  list(): readonly Storm[] {
    const from = this.#clock.monotonic() - STORM_WITHIN;
    return [...this.#young, ...[...this.#old].filter(([key]) => !this.#young.has(key))].flatMap(([key, one]) => {
      const arrivals = one.arrivals.filter(({ at }) => at > from);
      const [first] = arrivals;
      if (first === undefined || arrivals.length < STORM_COPIES) return [];
      const { kind, messageId, partner, from: sender, copiesEver } = one;
      return [{
        key, kind, messageId, copiesEver,
        ...(partner === undefined ? {} : { partner }),
        ...(sender === undefined ? {} : { from: sender }),
        copies: arrivals.length,
        since: first.wall,
        last: arrivals.at(-1)?.wall ?? first.wall,
      }];
    }).sort((a, b) => b.copies - a.copies);
  }

  #look({ answer, key, messageId, partner, from, copies = 0 }: ExchangeEvent): void {
    if ((answer !== 'replay' && answer !== 'mismatch') || key === undefined || messageId === undefined) return;
    const at = this.#clock.monotonic();
    const kind = answer === 'replay' ? 'unaccepted' : 'reused';
    const standing = this.#young.get(key) ?? this.#old.get(key);
    const one: Watched = standing !== undefined && standing.kind === kind ? standing : { kind, messageId, copiesEver: 0, arrivals: [] };
    if (partner !== undefined) one.partner = partner;
    if (from !== undefined) one.from = from;
    one.copiesEver = Math.max(one.copiesEver, copies);
    // from the front, so that a storm costs each of its copies the same
    while ((one.arrivals[0]?.at ?? at) <= at - STORM_WITHIN || one.arrivals.length >= TIMES_KEPT) one.arrivals.shift();
    one.arrivals.push({ wall: this.#clock.now(), at });
    if (this.#young.size >= WATCHED && !this.#young.has(key)) {
      this.#old = this.#young;
      this.#young = new Map();
    }
    this.#young.set(key, one);
    this.#tell(key, one, at);
  }

  #tell(key: string, one: Watched, at: number): void {
    const { messageId, partner, arrivals, told } = one;
    if (arrivals.length < STORM_COPIES || (told !== undefined && at - told < STORM_WITHIN)) return;
    one.told = at;
    this.#events.emit('storm', { key, messageId, copies: arrivals.length, withinMs: STORM_WITHIN, ...(partner === undefined ? {} : { partner }) });
  }
}
