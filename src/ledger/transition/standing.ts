import { LIMITS, TIMES } from '../../limits.js';
import type { Claim, Held } from '../port.js';
import type { Attempt, Decision, LedgerRecord, Outcome, Owner } from '../record.js';

/** What an engine knows at the moment of a command. */
export interface Moment {
  /** The ledger's clock, epoch ms. The record guards it: for one record it never runs backwards (G5). */
  readonly now: number;
  /** How long this process has been in unbroken contact with the ledger, ms (law 8). */
  readonly contactMs: number;
  /** Proves that a claim's owner is dead; false where that cannot be proven. */
  readonly isDead: (owner: Owner) => boolean;
}

/** What a command does. `next` is written whole, `count` in place; neither present: nothing is written. */
export interface Step<A> {
  readonly next?: LedgerRecord;
  /** A copy was seen and nothing else changed: copies and lastSeen are written without a new version. */
  readonly count?: { readonly copies: number; readonly lastSeen: number };
  readonly answer: A;
}

/** Decisions kept in a record, newest last; bounds what an operator's script can write into one value. */
const DECISIONS = 16;

type Optional = { [K in keyof LedgerRecord]-?: undefined extends LedgerRecord[K] ? K : never }[keyof LedgerRecord];

/** The record without the named optional fields. */
export function without(record: LedgerRecord, ...names: Optional[]): LedgerRecord {
  // Left out, not deleted: an object that a field was deleted from is a slow one for the rest of its way.
  const copy: Record<string, unknown> = {};
  for (const name in record) {
    if (!(names as readonly string[]).includes(name)) copy[name] = record[name as keyof LedgerRecord];
  }
  return copy as unknown as LedgerRecord;
}

/** The latest moment the record knows of: the ledger's clock cannot be before it. */
export function latest(record: LedgerRecord): number {
  const attempt = record.attempts.at(-1);
  return Math.max(record.born, record.lastSeen, attempt?.began ?? 0, attempt?.ended ?? 0);
}

/** When the engine may forget the record. A record being claimed is kept for its lease at least (G12). */
export function keptUntil(record: LedgerRecord): number {
  const kept = record.keptUntil ?? record.born + record.window + record.late;
  return record.state === 'claimed' ? Math.max(kept, record.leaseUntil ?? 0) : kept;
}

/** End of the window and what `late` adds to it. */
export const windowEnd = (record: LedgerRecord): number => record.born + record.window + record.late;

export const lapsedByTime = (record: LedgerRecord, now: number): boolean =>
  record.state === 'claimed' && (record.leaseUntil ?? 0) <= now;

/** Whether somebody works on the record, as far as this process may tell (G6). */
export function isLive(record: LedgerRecord, at: Moment): boolean {
  if (record.state !== 'claimed') return false;
  if (record.owner !== undefined && at.isDead(record.owner)) return false;
  return !lapsedByTime(record, at.now) || at.contactMs < (record.lease ?? TIMES.lease);
}

export const attemptOf = (record: LedgerRecord, token: string): Attempt | undefined =>
  record.attempts.find((attempt) => attempt.token === token);

/** The attempts with one of them ended; one that was dropped or never known is added. */
export function endAttempt(record: LedgerRecord, ended: Attempt & { ended: number; outcome: Outcome }): readonly Attempt[] {
  const known = record.attempts.some(({ token }) => token === ended.token);
  const attempts = known
    ? record.attempts.map((attempt) => (attempt.token === ended.token ? { ...attempt, ...ended, began: attempt.began } : attempt))
    : [...record.attempts, ended];
  return attempts.slice(-LIMITS.attempts);
}

/** Ends a claim that nobody answers for any more: what it did upstream is unknown. Not a write by itself. */
export function endUncertain(record: LedgerRecord, at: Moment, reason: string): LedgerRecord {
  const attempt = attemptOf(record, record.token ?? '') ?? {
    token: record.token ?? '', fingerprint: record.fingerprint, began: record.born, node: record.owner?.node ?? '',
  };
  return {
    ...without(record, 'leaseUntil', 'lease', 'owner'),
    state: 'open',
    attempts: endAttempt(record, { ...attempt, ended: at.now, outcome: 'uncertain', reason }),
    firstUncertain: Math.min(record.firstUncertain ?? attempt.began, attempt.began),
  };
}

/** Why a claim ended without an answer. */
export const lapseReason = (record: LedgerRecord, at: Moment): string =>
  record.owner !== undefined && at.isDead(record.owner) ? 'owner died' : 'lease lapsed';

/** The record as it stands where nobody works on it: a claim that nobody answers for is an uncertain attempt by now. */
export const withoutOwner = (record: LedgerRecord, at: Moment): LedgerRecord =>
  (record.state === 'claimed' ? endUncertain(record, at, lapseReason(record, at)) : record);

/** After an uncertain attempt (design 5): `auto` redelivers while the access point itself still remembers the id. */
export function mayRedeliver(record: LedgerRecord, command: Pick<Claim, 'uncertain' | 'remembersMs'>, at: Moment): boolean {
  if (command.uncertain !== 'auto') return command.uncertain === 'redeliver';
  return at.now - (record.firstUncertain ?? at.now) < command.remembersMs;
}

/** The next version of a standing record. */
export const changed = (record: LedgerRecord, change: Partial<LedgerRecord>): LedgerRecord =>
  ({ ...record, ...change, version: record.version + 1 });

/** An act, stamped with the ledger's own clock (G5). */
export const decided = (record: LedgerRecord, decision: Decision | undefined, now: number): Pick<LedgerRecord, 'decisions'> =>
  decision === undefined ? {} : { decisions: [...(record.decisions ?? []), { ...decision, when: now }].slice(-DECISIONS) };

/** A live record outlasts its lease and the time in which a late answer is awaited. */
export const liveUntil = (now: number, times: Pick<Held, 'leaseMs' | 'patienceMs'>): number =>
  now + times.leaseMs + times.patienceMs;

/**
 * What a record of nothing but this claim looks like. The version starts at the clock and not at one, so that a
 * compare-and-set prepared against a record that was lost meanwhile cannot fit its successor.
 */
export function born(claim: Claim, at: number, now: number): LedgerRecord {
  return {
    format: 1,
    version: now,
    key: claim.key,
    protocol: claim.protocol,
    scope: claim.scope,
    reference: claim.reference,
    ...(claim.type === undefined ? {} : { type: claim.type }),
    rule: claim.rule,
    state: 'open',
    born: at,
    window: claim.windowMs,
    late: claim.lateMs,
    sender: claim.sender,
    fingerprint: claim.fingerprint,
    facts: claim.facts,
    attempts: [],
    rejections: 0,
    copies: 0,
    lastSeen: now,
  };
}
