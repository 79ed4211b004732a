import type { Point, PointAnswer } from '../port.js';
import type { DuplicateKey, LedgerRecord } from '../record.js';
import type { Moment, Step } from './standing.js';

/**
 * Second keys (design 6). A pointer says nothing itself: its truth is the state of its primary. The engine reads the
 * pointer, then the primaries asked for by `primariesOf`, and replaces the pointer by compare-and-set only.
 */
export interface Primaries {
  /** The record the standing pointer names. */
  readonly pointed: LedgerRecord | undefined;
  /** The record of the message that claims the pointer now. */
  readonly own: LedgerRecord | undefined;
}

/** Keys of the records that have to be read before `point` can judge; empty where the pointer is free or one's own. */
export function primariesOf(pointer: LedgerRecord | undefined, command: Point): readonly DuplicateKey[] {
  const named = pointer?.pointer?.primary;
  return named === undefined || named === command.primary ? [] : [named, command.primary];
}

export function point(pointer: LedgerRecord | undefined, command: Point, primaries: Primaries, at: Moment): Step<PointAnswer> {
  const standing = pointer?.pointer;
  if (pointer === undefined || standing === undefined) return place(pointer, command, at);
  if (standing.primary === command.primary) {
    const same = standing.token === command.token && pointer.fingerprint === command.fingerprint;
    return same ? { answer: { kind: 'mine' } } : place(pointer, command, at);
  }
  const { pointed, own } = primaries;
  if (pointed === undefined || pointed.state === 'open' || pointed.state === 'known') return place(pointer, command, at);
  if (pointed.state === 'settled') {
    // settled with other content than the pointer's: what the pointer stands for was never accepted
    if (pointed.fingerprint !== pointer.fingerprint) return place(pointer, command, at);
    return { answer: { kind: pointer.fingerprint === command.fingerprint ? 'hit' : 'differs', primary: pointed } };
  }
  if (own?.state === 'settled') return place(pointer, command, at);
  return { answer: { kind: 'inFlight', primary: pointed } };
}

function place(pointer: LedgerRecord | undefined, command: Point, at: Moment): Step<PointAnswer> {
  const next: LedgerRecord = {
    format: 1,
    version: Math.max(at.now, (pointer?.version ?? 0) + 1),
    key: command.key,
    protocol: command.protocol,
    scope: command.scope,
    reference: command.reference,
    rule: '',
    state: 'known',
    born: at.now,
    window: command.windowMs,
    late: 0,
    keptUntil: at.now + command.windowMs,
    sender: command.sender,
    fingerprint: command.fingerprint,
    facts: { from: [], to: [] },
    attempts: [],
    rejections: 0,
    copies: 0,
    lastSeen: at.now,
    pointer: { primary: command.primary, token: command.token },
  };
  return { next, answer: { kind: 'mine' } };
}
