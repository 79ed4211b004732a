import type { Fingerprint } from '../../message.js';
import type { OperatorAnswer } from '../port.js';
import type { Attempt, Decision, DuplicateKey, LedgerRecord, StoredReply } from '../record.js';
import { changed, decided, endAttempt, endUncertain, isLive, keptUntil, lapseReason, windowEnd, without } from './standing.js';
import type { Moment, Step } from './standing.js';

/** The operator's way out of an uncertain or held record. Allowed from held, open or lapsed (design 4). */

export interface OperatorSettle {
  readonly key: DuplicateKey;
  readonly reply: StoredReply;
  /** What the Receipt proves; undefined where it carries no digests and only its RefToMessageId was checked. */
  readonly fingerprint: Fingerprint | undefined;
  readonly decision: Decision;
  readonly force: boolean;
}

export interface OperatorRelease {
  readonly key: DuplicateKey;
  readonly decision: Decision;
  readonly force: boolean;
}

export function operatorSettle(record: LedgerRecord | undefined, command: OperatorSettle, at: Moment): Step<OperatorAnswer> {
  if (record === undefined) return { answer: { kind: 'gone' } };
  if (record.state === 'settled' && record.reply?.sha256 === command.reply.sha256) return { answer: { kind: 'ok', record } };
  const refused = refusal(record, command.force, at);
  if (refused !== undefined) return { answer: refused };
  const attempt = provenBy(record, command.fingerprint);
  if (attempt === undefined) {
    return { answer: { kind: 'foreign', record, why: 'the Receipt\'s digests are not those of any attempt' } };
  }
  const { now } = at;
  const base = without(record, 'leaseUntil', 'lease', 'owner', 'cleared');
  const next = changed(base, {
    ...decided(record, command.decision, now),
    state: 'settled',
    token: attempt.token,
    fingerprint: attempt.fingerprint,
    attempts: endAttempt(record, { ...attempt, ended: attempt.ended ?? now, outcome: 'accepted', reason: 'settled by operator' }),
    reply: command.reply,
    keptUntil: Math.max(keptUntil(record), windowEnd(record)),
  });
  return { next, answer: { kind: 'ok', record: next } };
}

/** Clears a record: the next copy is claimed once, marked, whatever policy says. */
export function operatorRelease(record: LedgerRecord | undefined, command: OperatorRelease, at: Moment): Step<OperatorAnswer> {
  if (record === undefined) return { answer: { kind: 'gone' } };
  if (record.state === 'open' && record.cleared === true) return { answer: { kind: 'ok', record } };
  const refused = refusal(record, command.force, at);
  if (refused !== undefined) return { answer: refused };
  const { now } = at;
  const reason = isLive(record, at) ? 'released by operator' : lapseReason(record, at);
  const base = record.state === 'claimed' ? endUncertain(record, at, reason) : record;
  const doubtful = base.state === 'held' || base.firstUncertain !== undefined;
  const next = changed(base, {
    ...decided(record, command.decision, now),
    state: 'open',
    ...(doubtful ? { cleared: true as const } : {}),
    keptUntil: Math.max(keptUntil(record), doubtful ? windowEnd(record) : 0),
  });
  return { next, answer: { kind: 'ok', record: next } };
}

function refusal(record: LedgerRecord, force: boolean, at: Moment): OperatorAnswer | undefined {
  if (record.state === 'settled' || record.state === 'known') {
    return { kind: 'notAllowed', record, why: `the record is ${record.state}` };
  }
  if (isLive(record, at) && !force) return { kind: 'live', record, why: 'an attempt is in progress' };
  return undefined;
}

/** The newest attempt whose content the Receipt proves. An imported record that was held has had none here. */
function provenBy(record: LedgerRecord, proof: Fingerprint | undefined): Attempt | undefined {
  if (record.attempts.length === 0 && (record.fingerprint === '' || proof === undefined || proves(proof, record.fingerprint))) {
    return { token: '', fingerprint: record.fingerprint, began: record.born, node: 'elsewhere' };
  }
  return record.attempts.findLast(({ fingerprint }) => proof === undefined || proves(proof, fingerprint));
}

/**
 * A Receipt repeats the `cid:` digests of the message (NRI), so of `signed:<cid>[.<body>]` it proves the first part;
 * any other fingerprint only as a whole.
 */
function proves(proof: Fingerprint, fingerprint: Fingerprint): boolean {
  if (proof === fingerprint) return true;
  const cid = (text: Fingerprint): string | undefined => (text.startsWith('signed:') ? text.split('.', 1)[0] : undefined);
  return cid(proof) !== undefined && cid(proof) === cid(fingerprint);
}
