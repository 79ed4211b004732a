import { pino, type DestinationStream, type Logger } from 'pino';
import type { Events, ExchangeEvent } from '../events.js';

export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** File the JSON lines are appended to; standard output by default. */
  readonly file?: string;
  /** Takes the lines instead of file or standard output. */
  readonly destination?: DestinationStream;
}

/**
 * What JSON leaves as it is and a terminal obeys or hides: DEL and the C1 controls (CSI among them), line separators, and
 * the marks that turn the direction of what follows.
 */
const UNSAFE = /[\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The same JSON with those characters as \\u escapes; they can only stand inside of strings. */
function printable(line: string): string {
  return line.search(UNSAFE) < 0 ? line : line.replace(UNSAFE, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** One JSON line per exchange, and one per event worth seeing. Values are a sender's text: control characters are escaped. */
export function attachLog(events: Events, options: LogOptions): Logger {
  const settings = { level: options.level, base: null, timestamp: pino.stdTimeFunctions.isoTime };
  // Not synchronous: a slow reader of the log must not hold up messages. What is buffered is written when the process ends.
  const destination = options.destination ?? pino.destination({ dest: options.file ?? 1, sync: false });
  const log = pino(settings, { write: (line) => destination.write(printable(line)) });
  events.on('exchange', (event) => {
    const level = levelOf(event);
    if (!log.isLevelEnabled(level)) return;
    const { values } = log.levels;
    destination.write(printable(`{"level":${values[level]}${pino.stdTimeFunctions.isoTime()},${fieldsOf(event)}\n`));
  });
  const warn = ['takeOver', 'uncertain', 'held', 'mismatch', 'late', 'resend', 'lateOutcome', 'twoReceipts', 'replyTooLarge', 'storeWarning', 'journaled', 'storm', 'operator', 'denied', 'gap', 'bypass', 'behind'] as const;
  const error = ['twoContents', 'burnt', 'wrongAnswer', 'unreadable', 'fault'] as const;
  const info = ['shadow', 'journalClosed', 'windowsRaised'] as const;
  for (const name of warn) events.on(name, (event) => log.warn({ event: name, ...event, ...isoTimes(event) }));
  for (const name of error) events.on(name, (event) => log.error({ event: name, ...event }));
  for (const name of info) events.on(name, (event) => log.info({ event: name, ...event }));
  events.on('ledger', (event) => log[event.up ? 'info' : 'error']({ event: 'ledger', ...event }, event.up ? 'ledger reached' : 'ledger lost'));
  return log;
}

/** A duplicate is normal traffic (law 11); a refusal is the sender's matter; only what we could not do is an error. */
function levelOf(event: ExchangeEvent): 'info' | 'warn' | 'error' {
  if (event.answer === 'failed' || event.answer === 'unavailable') return 'error';
  return event.answer === 'refused' || event.answer === 'mismatch' || event.answer === 'held' || event.status >= 500 ? 'warn' : 'info';
}

function textOf(event: ExchangeEvent): string {
  return event.messageId === undefined ? event.answer : `${event.answer} ${JSON.stringify(event.messageId)}`;
}

/**
 * What follows level and time in an exchange's line, as the log's own library would write it. By hand, since every exchange
 * has one and that library's way through the fields costs as much as looking the message up in the ledger.
 */
function fieldsOf(event: ExchangeEvent): string {
  const { firstSeen } = event;
  const line = {
    event: 'exchange',
    messageId: event.messageId, protocol: event.protocol, from: event.from, to: event.to, c1: event.c1, c4: event.c4,
    service: event.service, action: event.action, conversationId: event.conversationId, unverified: event.unverified, bytes: event.bytes,
    rule: event.rule, partner: event.partner, mode: event.mode, would: event.would, key: event.key,
    firstSeen: firstSeen === undefined ? undefined : new Date(firstSeen).toISOString(),
    copies: event.copies, attempt: event.attempt, answer: event.answer, outcome: event.outcome, reason: event.reason,
    code: event.code, detail: event.detail, receiptId: event.receiptId, receiptSha256: event.receiptSha256,
    status: event.status, ms: event.ms, node: event.node, route: event.route, peer: event.peer,
    msg: textOf(event),
  } satisfies Record<Exclude<keyof ExchangeEvent, 'at'>, unknown> & { event: string; msg: string };
  return JSON.stringify(line).slice(1);
}

/** Times are written as the line's own one is, in whatever event. */
function isoTimes(event: object): { firstSeen?: string } {
  return 'firstSeen' in event && typeof event.firstSeen === 'number' ? { firstSeen: new Date(event.firstSeen).toISOString() } : {};
}
