import type { LedgerRecord } from '../ledger/record.js';
import { formatDuration } from '../policy/duration.js';

/** A record as an operator reads it, and as `--json` gives it (never the reply's bytes, which may be large). */

export function recordJson(record: LedgerRecord): object {
  const { reply, ...rest } = record;
  if (reply === undefined) return rest;
  const { deflated, ...meta } = reply;
  return { ...rest, reply: { ...meta, storedBytes: deflated.byteLength } };
}

export function recordText(record: LedgerRecord): string {
  const { facts, reply } = record;
  const lines: [string, string | undefined][] = [
    ['message', record.reference],
    ['key', record.key],
    ['state', stateText(record)],
    ['protocol', `${record.protocol}, scope ${record.scope}`],
    ['from', facts.from.map((p) => p.value).join(', ')],
    ['to', facts.to.map((p) => p.value).join(', ')],
    ['c1 / c4', facts.c1 === undefined && facts.c4 === undefined ? undefined : `${facts.c1 ?? '-'} / ${facts.c4 ?? '-'}`],
    ['service', facts.service],
    ['action', facts.action],
    ['first seen', iso(record.born)],
    ['copies', `${record.copies} after the first, last ${iso(record.lastSeen)}`],
    ['rule', `${record.rule}, window ${formatDuration(record.window)} (until ${iso(record.born + record.window)})`],
    ['fingerprint', record.fingerprint],
    ['receipt', reply?.receiptId],
    ['signer serial', reply?.signerSerial],
    ['reply', reply === undefined ? undefined : `status ${reply.status}, ${reply.length} bytes, sha256 ${reply.sha256}`],
  ];
  const head = lines.filter(([, value]) => value !== undefined).map(([name, value]) => `${name.padEnd(14)}${printable(value ?? '')}\n`);
  return [...head, ...timeline(record).map((line) => `  ${line}\n`)].join('');
}

/** One line per event, oldest first. */
export function timeline(record: LedgerRecord): string[] {
  const events: [number, string][] = [];
  record.attempts.forEach((attempt, i) => {
    events.push([attempt.began, `attempt ${i + 1} began on ${attempt.node}`]);
    if (attempt.ended !== undefined) events.push([attempt.ended, `attempt ${i + 1} ${attempt.outcome ?? 'ended'}${attempt.reason === undefined ? '' : ` (${attempt.reason})`}`]);
  });
  for (const made of record.decisions ?? []) events.push([made.when, `${made.what} by ${made.who}: ${made.reason}`]);
  if (record.copies > 0) events.push([record.lastSeen, `last of ${record.copies} copies`]);
  return events.sort(([a], [b]) => a - b).map(([when, what]) => `${iso(when)}  ${printable(what)}`);
}

/** What stands, and the command that resolves it where it waits for somebody. */
function stateText(record: LedgerRecord): string {
  const resolve = `as4-once settle --key ${record.key} --receipt FILE --reason T, or as4-once release --key ${record.key} --reason T`;
  switch (record.state) {
    case 'held': return `held: waits for an operator: ${resolve}`;
    case 'open': return record.firstUncertain === undefined ? 'open: the last attempt was rejected, the next copy is delivered' : `open, after an uncertain attempt: ${resolve}`;
    case 'claimed': return `claimed: an attempt is in progress, lease until ${iso(record.leaseUntil ?? 0)}`;
    case 'settled': return 'settled: accepted, copies get the stored reply';
    case 'known': return 'known: accepted elsewhere, imported without a reply';
  }
}

/** A sender's text must not steer the operator's terminal. */
export function printable(value: string): string {
  return value.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
