import { createHash } from 'node:crypto';
import type { AnswerName, Events, ExchangeEvent } from '../events.js';
import type { Note } from '../ledger/port.js';
import { tallyShelf } from '../ledger/shelves.js';

/** What is counted: the answers of the walk, and what shadow mode says eliminate would have done. */
export type TallyName = AnswerName | 'arrived' | 'bypassed' | `shadow.${string}`;
export type Counts = Readonly<Partial<Record<TallyName, number>>>;

/** Counts of one hour (epoch ms of its start), as one process or, once summed, all of them counted them. */
export interface Tally {
  readonly hour: number;
  /** Name of a configured partner; `''` for everybody else together, `*` for what the door counts before it knows. */
  readonly partner: string;
  readonly counts: Counts;
}

export const DOOR = '*';
export const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** How long tallies are kept: an audit of the year that is over. */
export const TALLIES_KEPT = 400 * DAY;

/** What lies in a note. */
export interface Stored {
  readonly partner: string;
  readonly counts: Counts;
}

/**
 * Counts the exchanges of this process by hour and configured partner. It hands out absolute numbers under a name that
 * is its own, so that a write that is repeated counts once and processes only have to be added up.
 */
export class Tallies {
  readonly #by: string;
  readonly #now: () => number;
  /** `<hour>` to partner to counts. */
  readonly #hours = new Map<number, Map<string, Partial<Record<TallyName, number>>>>();
  readonly #dirty = new Map<string, { readonly hour: number; readonly partner: string }>();

  /** `by` names this run of this process; letters and digits. */
  constructor(events: Events, by: string, now: () => number) {
    this.#by = by;
    this.#now = now;
    events.on('arrived', ({ at }) => this.#count(at, DOOR, 'arrived'));
    events.on('exchange', (event) => this.#exchange(event));
  }

  #exchange(event: ExchangeEvent): void {
    // an exchange counts in the hour in which it arrived, as the door has counted it
    const arrived = event.at ?? this.#now() - event.ms;
    const partner = event.partner ?? '';
    this.#count(arrived, partner, event.mode === 'bypass' ? 'bypassed' : event.answer);
    if (event.mode !== 'shadow') return;
    this.#count(arrived, partner, 'shadow.messages');
    this.#count(arrived, partner, `shadow.${event.would ?? event.answer}`);
  }

  #count(at: number, partner: string, name: TallyName): void {
    const hour = Math.floor(at / HOUR) * HOUR;
    let partners = this.#hours.get(hour);
    if (partners === undefined) this.#hours.set(hour, (partners = new Map<string, Partial<Record<TallyName, number>>>()));
    let counts = partners.get(partner);
    if (counts === undefined) partners.set(partner, (counts = {}));
    counts[name] = (counts[name] ?? 0) + 1;
    const place = `${hour} ${partner}`;
    if (!this.#dirty.has(place)) this.#dirty.set(place, { hour, partner });
  }

  /** What changed since the last time, as notes; give them back with `failed` where they could not be written. */
  take(): { readonly notes: readonly Note[]; failed(): void } {
    const changed = [...this.#dirty];
    this.#dirty.clear();
    const shelves = new Map<string, Record<string, string>>();
    for (const [, { hour, partner }] of changed) {
      const counts = this.#hours.get(hour)?.get(partner) ?? {};
      const iso = new Date(hour).toISOString();
      const entries = shelves.get(iso.slice(0, 10)) ?? {};
      const stored: Stored = { partner, counts };
      entries[`${iso.slice(11, 13)}/${this.#by}/${short(partner)}`] = JSON.stringify(stored);
      shelves.set(iso.slice(0, 10), entries);
    }
    this.#forget();
    return {
      notes: [...shelves].map(([day, entries]) => ({ shelf: tallyShelf(day), entries, keptMs: TALLIES_KEPT })),
      failed: () => {
        for (const [name, place] of changed) this.#dirty.set(name, place);
      },
    };
  }

  /** An exchange may last for a while into the next hour; what is older and written is not needed any more. */
  #forget(): void {
    const waiting = new Set([...this.#dirty.values()].map(({ hour }) => hour));
    for (const hour of this.#hours.keys()) {
      if (hour < this.#now() - 3 * HOUR && !waiting.has(hour)) this.#hours.delete(hour);
    }
  }
}

const short = (partner: string): string => createHash('sha256').update(partner).digest('hex').slice(0, 16);
