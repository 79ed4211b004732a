import type { Reply } from './exchange.js';
import type { LedgerRecord } from './ledger/record.js';
import type { Message } from './message.js';
import type { Rule } from './policy/rule.js';
import type { Reading } from './protocol.js';
import type { Step } from './walk.js';

/** The exchange's one log line is gathered along the walk and emitted at its end. */

export function noteMessage(step: Step, message: Message, rule: Rule): void {
  const { notes } = step;
  noteHeader(step, message);
  notes.rule = rule.name;
  if (rule.partner !== undefined) notes.partner = rule.partner;
  if (rule.mode !== 'eliminate') notes.mode = rule.mode;
}

/**
 * A message that is refused before anybody has decided about it: what its header said, so that its sender's call finds the
 * line. No rule and no partner: metrics are labelled with those, and whoever is not believed must not count as a partner.
 */
export function noteRefused(step: Step, { early, claimed }: Pick<Reading, 'early' | 'claimed'>): void {
  if (early?.kind === 'message') noteHeader(step, early.message);
  else if (claimed !== undefined) {
    noteHeader(step, claimed);
    step.notes.unverified = true;
  }
}

function noteHeader({ notes }: Step, message: Omit<Message, 'fingerprint'>): void {
  const { facts } = message;
  notes.messageId = message.reference;
  notes.protocol = message.protocol;
  notes.from = facts.from.map((p) => p.value).join(',');
  notes.to = facts.to.map((p) => p.value).join(',');
  for (const name of ['c1', 'c4', 'service', 'action', 'conversationId'] as const) {
    const value = facts[name];
    if (value !== undefined) notes[name] = value;
  }
}

export function noteRecord({ notes }: Step, record: LedgerRecord): void {
  notes.firstSeen = record.born;
  notes.copies = record.copies;
  notes.attempt = record.attempts.length;
}

/** What every event about one message carries. */
export function named({ notes }: Step, key: string): { key: string; messageId: string; partner?: string } {
  return { key, messageId: notes.messageId ?? '', ...(notes.partner === undefined ? {} : { partner: notes.partner }) };
}

export function report({ walk, route, exchange, notes }: Step, reply: Reply, began: number): void {
  walk.events.emit('exchange', {
    ...notes,
    at: notes.at ?? walk.clock.now(),
    answer: notes.answer ?? 'failed',
    status: reply.status,
    ms: Math.round((walk.clock.monotonic() - began) * 10) / 10,
    bytes: notes.bytes ?? 0,
    node: walk.node,
    route: route.name,
    peer: exchange.peer,
  });
}
