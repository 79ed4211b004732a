import { LIMITS } from '../../limits.js';
import type { Claim, ClaimAnswer } from '../port.js';
import type { LedgerRecord } from '../record.js';
import { attemptOf, born, isLive, keptUntil, liveUntil, mayRedeliver, windowEnd, without, withoutOwner } from './standing.js';
import type { Moment, Step } from './standing.js';

type Mark = 'first' | 'redelivery' | 'late';

/** What a copy finds (design 4): the order of the questions is the order of the table. */
export function claim(record: LedgerRecord | undefined, command: Claim, at: Moment): Step<ClaimAnswer> {
  if (record === undefined) return take({ command, at, mark: 'first' });
  if (record.state === 'claimed' && record.token === command.token) return again(record, command, at);
  if (isLive(record, at)) return look('inFlight', record, command, at);
  if (record.state === 'held') return look('held', record, command, at);

  const before = withoutOwner(record, at);
  if (at.now >= record.born + command.windowMs) return afterWindow(record, before, command, at);
  if (before.state === 'settled') return look(sameContent(before, command) ? 'settled' : 'mismatch', before, command, at);
  if (before.state === 'known') {
    return command.known === 'hold' ? hold(before, command, at) : look('known', before, command, at);
  }
  if (attemptOf(before, command.token)?.ended !== undefined) return look('inFlight', record, command, at);
  if (before.firstUncertain === undefined && before.cleared === undefined) {
    return take({ command, at, mark: before.follows === undefined ? 'first' : 'late', previous: record, onto: before });
  }
  if (before.cleared === true || mayRedeliver(before, command, at)) {
    return take({ command, at, mark: 'redelivery', previous: record, onto: before });
  }
  return hold(before, command, at);
}

/** Sender and content are those of the accepted message. What is unknown (forgotten, imported) cannot differ. */
function sameContent(record: LedgerRecord, command: Claim): boolean {
  const sameSender = record.sender === '' || record.sender === command.sender;
  if (record.fingerprint === '' || record.fingerprint === command.fingerprint) return sameSender;
  // an imported Receipt tells of the attachments only, not of a Body
  return sameSender && record.attempts.length === 0 && command.fingerprint.startsWith(`${record.fingerprint}.`);
}

/** The window, judged with today's policy, is over: a new message, labelled late if the old one may have been accepted. */
function afterWindow(record: LedgerRecord, before: LedgerRecord, command: Claim, at: Moment): Step<ClaimAnswer> {
  if (before.state === 'open' && before.firstUncertain === undefined) {
    return take({ command, at, mark: 'first', previous: record });
  }
  const follows = {
    born: record.born,
    ...(record.reply?.receiptId === undefined ? {} : { receiptId: record.reply.receiptId }),
    ...(record.reply === undefined ? {} : { sha256: record.reply.sha256 }),
  };
  return take({ command, at, mark: 'late', previous: record, follows });
}

interface Taking {
  readonly command: Claim;
  readonly at: Moment;
  readonly mark: Mark;
  /** The record as it stood. */
  readonly previous?: LedgerRecord;
  /** The record that goes on; absent where a new one begins. */
  readonly onto?: LedgerRecord;
  readonly follows?: LedgerRecord['follows'];
}

/** Grants the claim: a fresh record, or the standing one with the content and rules of this copy. */
function take({ command, at, mark, previous, onto, follows }: Taking): Step<ClaimAnswer> {
  const { now } = at;
  const fresh = born(command, onto?.born ?? now, now);
  const attempt = { token: command.token, fingerprint: command.fingerprint, began: now, node: command.owner.node, mark };
  const kept = Math.max(windowEnd(fresh), liveUntil(now, command), onto === undefined ? 0 : keptUntil(onto));
  const next: LedgerRecord = {
    ...(onto === undefined ? fresh : { ...without(onto, 'type', 'reply', 'cleared'), ...fresh, ...history(onto, command) }),
    version: Math.max(fresh.version, (previous?.version ?? 0) + 1),
    state: 'claimed',
    token: command.token,
    leaseUntil: now + command.leaseMs,
    lease: command.leaseMs,
    owner: command.owner,
    attempts: [...(onto?.attempts ?? []), attempt].slice(-LIMITS.attempts),
    keptUntil: kept,
    ...(follows === undefined ? {} : { follows }),
  };
  const answer: ClaimAnswer = {
    kind: 'claimed', mark, record: next, now,
    ...(previous === undefined ? {} : { previous }),
    ...(previous?.state === 'claimed' ? { tookOver: true as const } : {}),
  };
  if (command.take !== false) return { next, answer };
  // a look counts its copy too, and leaves everything else as it stands
  const counted = previous !== undefined && copy(previous, command) > 0;
  return counted ? { count: { copies: previous.copies + 1, lastSeen: now }, answer } : { answer };
}

/** What a standing record keeps when another copy claims it. */
function history(onto: LedgerRecord, command: Claim): Pick<LedgerRecord, 'rejections' | 'copies'> {
  return { rejections: onto.rejections, copies: onto.copies + copy(onto, command) };
}

/** G2: the claimer lost the reply of its own claim. It is answered as the first time, with its lease from now on. */
function again(record: LedgerRecord, command: Claim, at: Moment): Step<ClaimAnswer> {
  const mark = attemptOf(record, command.token)?.mark ?? 'first';
  const next: LedgerRecord = {
    ...record,
    version: record.version + 1,
    leaseUntil: Math.max(record.leaseUntil ?? 0, at.now + command.leaseMs),
    lease: command.leaseMs,
    keptUntil: Math.max(keptUntil(record), liveUntil(at.now, command)),
  };
  const answer: ClaimAnswer = { kind: 'claimed', mark, record: next, now: at.now };
  return command.take === false ? { answer } : { next, answer };
}

/** One copy more, unless its exchange was counted before: it says so, or its token names an attempt. */
const copy = (record: LedgerRecord, command: Claim): number =>
  (command.counted === true || attemptOf(record, command.token) !== undefined ? 0 : 1);

type Seen = Exclude<ClaimAnswer['kind'], 'claimed'>;

/** The loser is shown what it lost to (G1), and is counted. */
function look(kind: Seen, record: LedgerRecord, command: Claim, at: Moment): Step<ClaimAnswer> {
  if (copy(record, command) === 0) return { answer: { kind, record, now: at.now } };
  const count = { copies: record.copies + 1, lastSeen: at.now };
  return { count, answer: { kind, record: { ...record, ...count }, now: at.now } };
}

/** Policy leaves it to an operator: from now on the record says so itself. */
function hold(before: LedgerRecord, command: Claim, at: Moment): Step<ClaimAnswer> {
  const count = { copies: before.copies + copy(before, command), lastSeen: at.now };
  const next: LedgerRecord = {
    ...before, ...count,
    version: before.version + 1,
    state: 'held',
    keptUntil: Math.max(keptUntil(before), windowEnd(before), at.now + command.patienceMs),
  };
  const answer: ClaimAnswer = { kind: 'held', record: next, now: at.now };
  return command.take === false ? { count, answer } : { next, answer };
}
