import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';
import type { EventMap, Events } from '../events.js';

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
