import type { Answer, Held, Release, Settle } from '../port.js';
import type { Attempt, LedgerRecord } from '../record.js';
import { attemptOf, born, changed, endAttempt, keptUntil, liveUntil, windowEnd, without } from './standing.js';
import type { Moment, Step } from './standing.js';

/** The commands of an attempt's own holder: renew, settle, release. */

/** Keeps the claim. Also revives a lapsed lease that nobody took. */
export function renew(record: LedgerRecord | undefined, command: Held, at: Moment): Step<Answer> {
  if (record === undefined) return { answer: { kind: 'gone' } };
  if (record.state !== 'claimed' || record.token !== command.token) return { answer: { kind: 'stale', record } };
  const next = changed(record, {
    leaseUntil: Math.max(record.leaseUntil ?? 0, at.now + command.leaseMs),
    lease: command.leaseMs,
    keptUntil: Math.max(keptUntil(record), liveUntil(at.now, command)),
  });
  return { next, answer: { kind: 'ok', record: next } };
}

/** A Receipt came. The first valid one wins, whoever holds the record (law 5, G7). */
export function settle(record: LedgerRecord | undefined, command: Settle, at: Moment): Step<Answer> {
  if (record === undefined) return settleAbsent(command, at);
  return record.state === 'settled' ? settleAgain(record, command, at) : settleFirst(record, command, at);
}

const accepted = (command: Settle, at: Moment): Attempt & { ended: number; outcome: 'accepted' } => ({
  token: command.token,
  fingerprint: command.fingerprint,
  began: at.now - command.beganMsAgo,
  node: command.claim.owner.node,
  ended: at.now,
  outcome: 'accepted',
});

/** Flushed or failed over amid the delivery: the proof makes the record anew, born at the attempt's start. */
function settleAbsent(command: Settle, at: Moment): Step<Answer> {
  const fresh = born(command.claim, at.now - command.beganMsAgo, at.now);
  const next: LedgerRecord = {
    ...fresh,
    state: 'settled',
    token: command.token,
    fingerprint: command.fingerprint,
    attempts: [accepted(command, at)],
    reply: command.reply,
    keptUntil: Math.max(windowEnd(fresh), at.now + command.claim.patienceMs),
  };
  return { next, answer: { kind: 'ok', record: next } };
}

function settleFirst(record: LedgerRecord, command: Settle, at: Moment): Step<Answer> {
  const { claim } = command;
  // another attempt's content may stand in the record by now: what was accepted is this one's
  const content = record.token === command.token
    ? {}
    : { sender: claim.sender, facts: claim.facts, reference: claim.reference, rule: claim.rule };
  const next = changed(without(record, 'leaseUntil', 'lease', 'owner', 'cleared'), {
    ...content,
    state: 'settled',
    token: command.token,
    fingerprint: command.fingerprint,
    attempts: endAttempt(record, accepted(command, at)),
    reply: command.reply,
    keptUntil: Math.max(windowEnd(record), at.now + claim.patienceMs),
  });
  return { next, answer: { kind: 'ok', record: next } };
}

/** Settled before: a repetition is fine, a second Receipt is logged in the record and answered with the first. */
function settleAgain(record: LedgerRecord, command: Settle, at: Moment): Step<Answer> {
  const sameContent = record.fingerprint === command.fingerprint;
  if (sameContent && record.reply?.sha256 === command.reply.sha256) return { answer: { kind: 'ok', record } };
  const flag = sameContent ? { twoReceipts: true as const } : { twoContents: true as const };
  const attempt = attemptOf(record, command.token);
  const logged = attempt?.outcome === 'accepted' && (sameContent || record.twoContents === true);
  if (logged) return { answer: { kind: 'stale', record, ...flag } };
  const next = changed(record, {
    attempts: endAttempt(record, { ...accepted(command, at), reason: sameContent ? 'second Receipt' : 'other content' }),
    ...(sameContent ? {} : { twoContents: true as const }),
  });
  return { next, answer: { kind: 'stale', record: next, ...flag } };
}

/** The attempt ended without acceptance. Release never forgets (law 3): the next copy sees what came before it. */
export function release(record: LedgerRecord | undefined, command: Release, at: Moment): Step<Answer> {
  const ended = { ended: at.now, outcome: command.outcome, reason: command.reason } as const;
  if (record === undefined) {
    const fresh = born(command.claim, at.now, at.now);
    const attempt = { token: command.token, fingerprint: fresh.fingerprint, began: at.now, node: command.claim.owner.node };
    const next = released({ ...fresh, token: command.token }, { ...attempt, ...ended }, command, at);
    return { next, answer: { kind: 'ok', record: next } };
  }
  const attempt = attemptOf(record, command.token);
  if (record.state === 'claimed' && record.token === command.token) {
    const own = attempt ?? { token: command.token, fingerprint: record.fingerprint, began: record.born, node: record.owner?.node ?? '' };
    const next = changed(released(without(record, 'leaseUntil', 'lease', 'owner'), { ...own, ...ended }, command, at), {});
    return { next, answer: { kind: 'ok', record: next } };
  }
  if (attempt?.ended !== undefined && attempt.outcome === command.outcome && attempt.reason === command.reason) {
    const kind = record.token === command.token && record.state !== 'settled' ? 'ok' : 'stale';
    return { answer: { kind, record } };
  }
  // overtaken: what came of the attempt is noted for the operator, and changes nothing else
  if (attempt === undefined || attempt.outcome === 'accepted') return { answer: { kind: 'stale', record } };
  const next = changed(record, { attempts: endAttempt(record, { ...attempt, ...ended }) });
  return { next, answer: { kind: 'stale', record: next } };
}

type Ended = Attempt & { ended: number; outcome: 'rejected' | 'uncertain' };

function released(record: LedgerRecord, attempt: Ended, command: Release, at: Moment): LedgerRecord {
  const uncertain = command.outcome === 'uncertain';
  const firstUncertain = uncertain ? Math.min(record.firstUncertain ?? attempt.began, attempt.began) : record.firstUncertain;
  const counts = !uncertain && command.counts && record.firstUncertain === undefined;
  const certain = firstUncertain === undefined && !command.hold;
  return {
    ...record,
    state: command.hold ? 'held' : 'open',
    attempts: endAttempt(record, attempt),
    ...(firstUncertain === undefined ? {} : { firstUncertain }),
    rejections: record.rejections + (counts ? 1 : 0),
    keptUntil: certain
      ? Math.min(at.now + command.openKeptMs, windowEnd(record))
      : Math.max(windowEnd(record), at.now + command.claim.patienceMs),
  };
}
