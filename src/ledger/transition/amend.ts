import type { Answer } from '../port.js';
import type { Decision, DuplicateKey, LedgerRecord, StoredReply } from '../record.js';
import { changed, decided, endUncertain, keptUntil, windowEnd, without } from './standing.js';
import type { Moment, Step } from './standing.js';

/** Changes of a standing record that no attempt makes: attach, revoke, extend, forget, adopt. */

export interface Attach { readonly key: DuplicateKey; readonly reply: StoredReply; readonly decision?: Decision }
export interface Revoke { readonly key: DuplicateKey; readonly decision: Decision }
export interface Extend { readonly key: DuplicateKey; readonly windowMs: number; readonly lateMs: number }
export interface Forget { readonly key: DuplicateKey; readonly decision: Decision }

export function attach(record: LedgerRecord | undefined, command: Attach, at: Moment): Step<Answer> {
  if (record === undefined) return { answer: { kind: 'gone' } };
  if (record.state !== 'settled') return { answer: { kind: 'stale', record } };
  if (record.reply?.sha256 === command.reply.sha256) return { answer: { kind: 'ok', record } };
  const next = changed(record, { reply: command.reply, ...decided(record, command.decision, at.now) });
  return { next, answer: { kind: 'ok', record: next } };
}

/** A negative acknowledgement: what was accepted is taken back, and a corrected message is a first copy again. */
export function revoke(record: LedgerRecord | undefined, command: Revoke, at: Moment): Step<Answer> {
  if (record === undefined) return { answer: { kind: 'gone' } };
  if (record.state !== 'settled') {
    const repeated = record.state === 'open' && record.decisions?.at(-1)?.what === 'revoke';
    return { answer: { kind: repeated ? 'ok' : 'stale', record } };
  }
  const attempts = record.attempts.map((attempt) => (attempt.outcome === 'accepted'
    ? { ...attempt, outcome: 'rejected' as const, reason: 'revoked' }
    : attempt));
  const next = changed(without(record, 'reply', 'firstUncertain', 'cleared', 'twoContents'), {
    state: 'open',
    attempts,
    rejections: record.rejections + 1,
    ...decided(record, command.decision, at.now),
  });
  return { next, answer: { kind: 'ok', record: next } };
}

/** A raised window reaches standing records too; a lowered one does not (law 9). */
export function extend(record: LedgerRecord | undefined, command: Extend, _at: Moment): Step<Answer> {
  if (record === undefined) return { answer: { kind: 'gone' } };
  const window = Math.max(record.window, command.windowMs);
  const late = Math.max(record.late, command.lateMs);
  if (window === record.window && late === record.late) return { answer: { kind: 'ok', record } };
  const raised: LedgerRecord = { ...record, window, late };
  // a certain rejection is kept for its day only, whatever the window
  const short = record.state === 'open' && keptUntil(record) < windowEnd(record);
  const next = changed(raised, { keptUntil: short ? keptUntil(record) : Math.max(keptUntil(record), windowEnd(raised)) });
  return { next, answer: { kind: 'ok', record: next } };
}

/** Blanks who and what; the hash, the state and the reply stay, so that copies are still recognised. */
export function forget(record: LedgerRecord | undefined, command: Forget, at: Moment): Step<Answer> {
  if (record === undefined) return { answer: { kind: 'gone' } };
  const blank = record.reference === '' && record.sender === '' && record.facts.from.length === 0;
  if (blank) return { answer: { kind: 'ok', record } };
  const next = changed(without(record, 'type'), {
    reference: '',
    sender: '',
    rule: '',
    facts: { from: [], to: [] },
    ...decided(record, command.decision, at.now),
  });
  return { next, answer: { kind: 'ok', record: next } };
}

/**
 * Import and restore. What stands is never overwritten, and what would be forgotten at once is not written. Whoever
 * held a claim in a copy does not hold it here: what that attempt did is unknown.
 */
export function adopt(record: LedgerRecord | undefined, command: LedgerRecord, at: Moment): Step<boolean> {
  const whole = command.state !== 'settled' || command.reply !== undefined;
  const birth = Math.min(command.born, at.now);
  const rejected = command.state === 'open' && command.firstUncertain === undefined;
  const end = rejected && command.keptUntil !== undefined
    ? command.keptUntil
    : Math.max(birth + command.window + command.late, command.keptUntil ?? 0);
  if (record !== undefined || !whole || end <= at.now) return { answer: false };
  const ended = command.state === 'claimed' ? endUncertain(command, at, 'restored from a copy') : command;
  const next: LedgerRecord = {
    ...without(ended, 'leaseUntil', 'lease', 'owner'),
    version: at.now,
    born: birth,
    lastSeen: Math.min(command.lastSeen, at.now),
    keptUntil: end,
  };
  return { next, answer: true };
}
