import type { Clock } from '../clock.js';
import type { AnswerName, Events, ExchangeEvent } from '../events.js';
import { GROUP_OF, GROUPS, type Group } from './answer-groups.js';

/** Length of one slot, ms, and how many are kept: one hour. */
const SLOT = 10_000;
const SLOTS = 360;
const MINUTE = 60_000;

type Counts = Map<AnswerName, number>;

export interface AnswerRate {
  readonly answer: AnswerName;
  readonly group: Group;
  /** Since this process started. */
  readonly total: number;
  readonly lastMinute: number;
  readonly last5Minutes: number;
  readonly lastHour: number;
}

export type MinuteCounts = { readonly at: number } & Readonly<Record<Group, number>>;

interface Slot {
  /** Which ten seconds since the start of the clock. */
  readonly index: number;
  readonly counts: Counts;
}

/**
 * How this process answered during the last hour, by answer. Counted in slots of ten seconds, so memory is bounded
 * whatever the traffic, and so is the cost of one exchange.
 */
export class Rates {
  readonly #clock: Clock;
  readonly #started: number;
  readonly #total: Counts = new Map();
  readonly #partners: PartnerTotals;
  /** Oldest first, at most SLOTS, none older than an hour. */
  #slots: Slot[] = [];

  constructor(events: Events, clock: Clock) {
    this.#clock = clock;
    this.#started = clock.monotonic();
    this.#partners = new PartnerTotals(clock);
    events.on('exchange', (event) => {
      this.#count(event.answer);
      this.#partners.count(event);
    });
  }

  /** ms since this process began to count. */
  get uptime(): number {
    return this.#clock.monotonic() - this.#started;
  }

  /** Every answer that was given at least once, in the order of the groups. */
  answers(): readonly AnswerRate[] {
    const [minute, five, hour] = [this.#since(MINUTE), this.#since(5 * MINUTE), this.#since(60 * MINUTE)];
    return (Object.keys(GROUP_OF) as AnswerName[])
      .filter((answer) => this.#total.has(answer))
      .map((answer) => ({
        answer,
        group: GROUP_OF[answer],
        total: this.#total.get(answer) ?? 0,
        lastMinute: minute.get(answer) ?? 0,
        last5Minutes: five.get(answer) ?? 0,
        lastHour: hour.get(answer) ?? 0,
      }));
  }

  /** The last sixty minutes, oldest first; `at` is the epoch ms at which each began. The last one is still running. */
  minutes(): readonly MinuteCounts[] {
    const per = MINUTE / SLOT;
    const current = Math.floor(this.#slotNow() / per);
    const wall = this.#clock.now() - (this.#clock.monotonic() - current * MINUTE);
    const found = Array.from({ length: 60 }, (_, i) => ({
      at: Math.round(wall - (59 - i) * MINUTE),
      ...(Object.fromEntries(GROUPS.map((group) => [group, 0])) as Record<Group, number>),
    }));
    for (const { index, counts } of this.#slots) {
      const minute = found[59 - (current - Math.floor(index / per))];
      if (minute === undefined) continue;
      for (const [answer, count] of counts) minute[GROUP_OF[answer]] += count;
    }
    return found;
  }

  /** Configured partners that sent something, busiest first. */
  partners(): readonly PartnerRate[] {
    return this.#partners.list();
  }

  #count(answer: AnswerName): void {
    this.#total.set(answer, (this.#total.get(answer) ?? 0) + 1);
    const index = this.#slotNow();
    let slot = this.#slots.at(-1);
    if (slot === undefined || slot.index !== index) {
      slot = { index, counts: new Map() };
      this.#slots = [...this.#slots.filter((old) => old.index > index - SLOTS), slot];
    }
    slot.counts.set(answer, (slot.counts.get(answer) ?? 0) + 1);
  }

  #since(ms: number): Counts {
    const from = this.#slotNow() - ms / SLOT;
    const sum: Counts = new Map();
    for (const { index, counts } of this.#slots) {
      if (index <= from) continue;
      for (const [answer, count] of counts) sum.set(answer, (sum.get(answer) ?? 0) + count);
    }
    return sum;
  }

  #slotNow(): number {
    return Math.floor(this.#clock.monotonic() / SLOT);
  }
}

export interface PartnerRate {
  /** Name of the configured partner; null: everybody who is not configured, together. */
  readonly partner: string | null;
  readonly total: number;
  readonly groups: Readonly<Record<Group, number>>;
  /** Epoch ms. */
  readonly lastSeen: number;
}

/** Totals since start. Only configured partners have a line, as with the metrics: senders cannot fill the memory. */
class PartnerTotals {
  readonly #clock: Clock;
  readonly #lines = new Map<string | null, { total: number; groups: Record<Group, number>; lastSeen: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  count({ partner = null, answer }: { partner?: string | null; answer: ExchangeEvent['answer'] }): void {
    let line = this.#lines.get(partner);
    if (line === undefined) {
      line = { total: 0, groups: Object.fromEntries(GROUPS.map((group) => [group, 0])) as Record<Group, number>, lastSeen: 0 };
      this.#lines.set(partner, line);
    }
    line.total += 1;
    line.groups[GROUP_OF[answer]] += 1;
    line.lastSeen = this.#clock.now();
  }

  list(): readonly PartnerRate[] {
    return [...this.#lines].map(([partner, line]) => ({ partner, ...line, groups: { ...line.groups } })).sort((a, b) => b.total - a.total);
  }
}
