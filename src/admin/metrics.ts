import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { EventMap, Events } from '../events.js';
import type { OwnCertificate } from './certificates.js';
import type { Standing } from './standing.js';

export interface Gauges {
  /** Copies waiting now. */
  waiting(): number;
  /** Attempts under way now. */
  underWay(): number;
  /** Bytes of bodies kept now. */
  spooled(): { readonly memory: number; readonly disk: number };
  /** 1 where the last contact with the ledger succeeded. */
  ledgerUp(): boolean;
}

const COUNTED = [
  'takeOver', 'uncertain', 'held', 'mismatch', 'twoContents', 'twoReceipts', 'burnt', 'wrongAnswer', 'replyTooLarge',
  'unreadable', 'late', 'resend', 'journaled', 'lateOutcome', 'fault', 'storeWarning',
  'storm', 'operator', 'denied', 'gap',
] as const satisfies readonly (keyof EventMap)[];

/**
 * Prometheus metrics. The partner label is given for configured partners only: a label made of what senders write would
 * let anyone fill the memory.
 */
export function metrics(events: Events, gauges: Gauges): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const exchanges = new Counter({
    name: 'as4_once_exchanges_total', help: 'Exchanges by answer, protocol and configured partner', labelNames: ['answer', 'route', 'partner'], registers,
  });
  const refusals = new Counter({ name: 'as4_once_codes_total', help: 'Exchanges that ended with a code of the error table', labelNames: ['code'], registers });
  const seconds = new Histogram({
    name: 'as4_once_exchange_seconds', help: 'Duration of an exchange by answer', labelNames: ['answer'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 60, 120], registers,
  });
  const bytes = new Counter({ name: 'as4_once_request_bytes_total', help: 'Request body bytes received', registers });
  const noted = new Counter({ name: 'as4_once_events_total', help: 'Events worth an alert, by name', labelNames: ['event'], registers });
  for (const name of COUNTED) {
    noted.inc({ event: name }, 0);
    events.on(name, () => noted.inc({ event: name }));
  }
  events.on('exchange', (event) => {
    exchanges.inc({ answer: event.answer, route: event.route, partner: event.partner ?? '' });
    if (event.code !== undefined) refusals.inc({ code: event.code });
    seconds.observe({ answer: event.answer }, event.ms / 1000);
    bytes.inc(event.bytes);
  });
  gauge('as4_once_waiting', 'Copies waiting for the copy in progress', () => gauges.waiting());
  gauge('as4_once_under_way', 'Attempts under way', () => gauges.underWay());
  gauge('as4_once_spool_memory_bytes', 'Body bytes kept in memory', () => gauges.spooled().memory);
  gauge('as4_once_spool_disk_bytes', 'Body bytes kept in spool files', () => gauges.spooled().disk);
  gauge('as4_once_ledger_up', 'Whether the last contact with the ledger succeeded', () => (gauges.ledgerUp() ? 1 : 0));
  return registry;

  function gauge(name: string, help: string, read: () => number): void {
    new Gauge({ name, help, registers, collect() { this.set(read()); } });
  }
}

/** What an operator's process knows beside its own exchanges. */
export interface OperatorGauges {
  readonly version: string;
  readonly role: string;
  /** Undefined while the ledger cannot be reached. */
  standing(): Standing | undefined;
  /** Codes of what endangers the guarantee now. */
  warnings(): readonly string[];
  /** Round trip of the last look at the ledger, ms. */
  pingMs(): number | undefined;
  storms(): number;
  certificates(): readonly OwnCertificate[];
  journal(): Promise<number>;
  /** Epoch ms. */
  now(): number;
}

const STANDING = ['held', 'uncertain', 'inFlight'] as const;

/** Adds to `registry` what the ledger and the files say. All nodes of one ledger report the same: take the maximum. */
export function operatorMetrics(registry: Registry, gauges: OperatorGauges): void {
  const registers = [registry];
  new Gauge({ name: 'as4_once_info', help: 'Always 1', labelNames: ['version', 'role'], registers }).set({ version: gauges.version, role: gauges.role }, 1);
  gauge('as4_once_standing', 'Messages in the ledger that are held, uncertain or in flight (counted up to 1000)', ['what'], (set) => {
    const now = gauges.standing();
    for (const what of now === undefined ? [] : STANDING) set({ what }, now?.[what] ?? 0);
  });
  gauge('as4_once_standing_oldest_seconds', 'Age of the oldest message that is held or uncertain', ['what'], (set) => {
    const { oldestHeld, oldestUncertain } = gauges.standing() ?? {};
    if (oldestHeld !== undefined) set({ what: 'held' }, (gauges.now() - oldestHeld) / 1000);
    if (oldestUncertain !== undefined) set({ what: 'uncertain' }, (gauges.now() - oldestUncertain) / 1000);
  });
  gauge('as4_once_ledger_records', 'Records in the ledger', [], (set) => set({}, gauges.standing()?.stats.records));
  gauge('as4_once_ledger_bytes', 'Bytes the ledger takes', [], (set) => set({}, gauges.standing()?.stats.bytes));
  gauge('as4_once_ledger_max_bytes', 'Bytes beyond which the ledger takes no new claims', [], (set) => set({}, gauges.standing()?.stats.maxBytes));
  gauge('as4_once_ledger_ping_seconds', 'Round trip to the ledger', [], (set) => set({}, divided(gauges.pingMs(), 1000)));
  gauge('as4_once_store_warning', 'What endangers the guarantee, by code', ['code'], (set) => gauges.warnings().forEach((code) => set({ code }, 1)));
  gauge('as4_once_journal_entries', 'Replies that were sent and are not settled yet', [], async (set) => set({}, await gauges.journal().catch(() => undefined)));
  gauge('as4_once_storms', 'Messages that are sent again and again after they were answered', [], (set) => set({}, gauges.storms()));
  gauge('as4_once_certificate_not_after_seconds', 'End of validity of our own certificates, Unix time', ['use', 'file'], (set) =>
    gauges.certificates().forEach(({ use, file, notAfter }) => set({ use, file }, notAfter / 1000)));

  /** A gauge read at each scrape; what is not known then has no value, rather than an old one. */
  function gauge(name: string, help: string, labelNames: string[], read: (set: (labels: Record<string, string>, value: number | undefined) => void) => void | Promise<void>): void {
    new Gauge({
      name, help, labelNames, registers,
      async collect() {
        this.reset();
        if (labelNames.length === 0) this.remove({});
        await read((labels, value) => {
          if (value !== undefined) this.set(labels, value);
        });
      },
    });
  }
}

function divided(value: number | undefined, by: number): number | undefined {
  return value === undefined ? undefined : value / by;
}
