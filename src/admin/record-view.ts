import type { LedgerRecord } from '../ledger/record.js';
import type { RecordView } from './api-schema.js';

/** A record as the admin API gives it: nothing that lets anybody act (fencing tokens), nothing large (the reply's bytes). */
export function recordView(record: LedgerRecord, configFile: string): RecordView {
  const { facts, reply, attempts } = record;
  const optional = { c1: facts.c1, c4: facts.c4, service: facts.service, action: facts.action, conversationId: facts.conversationId, type: record.type };
  const last = attempts.at(-1);
  const lastReason = last === undefined ? undefined : (last.reason ?? last.outcome ?? 'in progress');
  return {
    key: record.key,
    messageId: record.reference,
    protocol: record.protocol,
    scope: record.scope,
    rule: record.rule,
    state: record.state,
    means: meaning(record),
    from: facts.from.map(({ value }) => value),
    to: facts.to.map(({ value }) => value),
    firstSeen: iso(record.born),
    windowEnds: iso(record.born + record.window),
    attempts: attempts.length,
    copies: record.copies,
    lastSeen: iso(record.lastSeen),
    fingerprint: record.fingerprint,
    timeline: timeline(record),
    resolve: resolving(record, configFile),
    ...(lastReason === undefined ? {} : { lastReason }),
    ...Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)),
    ...(reply === undefined ? {} : { receipt: receiptView(reply) }),
  };
}

function receiptView({ status, contentType, length, sha256, receiptId, signerSerial }: NonNullable<LedgerRecord['reply']>): NonNullable<RecordView['receipt']> {
  return {
    status, contentType, bytes: length, sha256,
    ...(receiptId === undefined ? {} : { receiptId }),
    ...(signerSerial === undefined ? {} : { signerSerial }),
  };
}

type Event = RecordView['timeline'][number];

/** Oldest first; what happened at the same instant stays in the order in which it can have happened. */
function timeline(record: LedgerRecord): Event[] {
  const events: (Omit<Event, 'at'> & { readonly ms: number })[] = [];
  record.attempts.forEach(({ began, ended, outcome, node, mark, reason }, i) => {
    const marked = mark === undefined || mark === 'first' ? '' : `, marked ${mark}`;
    events.push({ ms: began, what: 'attempt', text: `Attempt ${i + 1} began at ${node}${marked}` });
    if (ended === undefined) return;
    events.push({ ms: ended, what: outcome ?? 'uncertain', text: `Attempt ${i + 1} ended ${outcome ?? 'without an outcome'}${reason === undefined ? '' : `: ${reason}`}` });
  });
  for (const { what, who, when, reason } of record.decisions ?? []) events.push({ ms: when, what: 'decision', text: `${what} by ${who}: ${reason}` });
  if (record.copies > 0) events.push({ ms: record.lastSeen, what: 'copy', text: record.copies === 1 ? 'One copy came' : `Last of ${record.copies} copies came` });
  return events.sort((a, b) => a.ms - b.ms).map(({ ms, what, text }) => ({ at: iso(ms), what, text }));
}

function meaning(record: LedgerRecord): string {
  switch (record.state) {
    case 'held': return 'Waits for an operator. Copies are asked to come again until then.';
    case 'open':
      if (record.cleared === true) return 'Released by an operator: the next copy is delivered once, marked.';
      return record.firstUncertain === undefined ? 'The last attempt was rejected; the next copy is delivered.' : 'An attempt ended without a certain outcome; the rule decides about the next copy.';
    case 'claimed': return 'An attempt is in progress.';
    case 'settled': return 'Accepted: every copy gets the stored reply.';
    case 'known': return 'Accepted elsewhere and imported without a reply.';
  }
}

/** The way out, where there is one to take: settle if the access point has it, release if it has not. */
function resolving(record: LedgerRecord, configFile: string): RecordView['resolve'] {
  const config = `--config ${shellWord(configFile)}`;
  const show = { act: 'show', command: `as4-once show --key ${shellWord(record.key)} ${config}`, when: 'To see it in a terminal.' } as const;
  const waits = record.state === 'held' || (record.state === 'open' && record.firstUncertain !== undefined && record.cleared !== true);
  if (!waits) return [show];
  return [
    {
      act: 'settle', command: `as4-once settle --key ${shellWord(record.key)} --receipt FILE --reason TEXT ${config}`,
      when: 'The access point took the message, and you have the Receipt it signed.',
    },
    {
      act: 'release', command: `as4-once release --key ${shellWord(record.key)} --reason TEXT ${config}`,
      when: 'The access point did not take the message.',
    },
    show,
  ];
}

/** One word for a POSIX shell, whatever is in it. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll('\'', '\'\\\'\'')}'`;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
