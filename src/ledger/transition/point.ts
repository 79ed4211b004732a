import type { Point, PointAnswer } from '../port.js';
import type { DuplicateKey, LedgerRecord } from '../record.js';
import { isLive, mayRedeliver, withoutOwner } from './standing.js';
import type { Moment, Step } from './standing.js';

/**
 * Second keys (design 6). A pointer says nothing itself: its truth is the state of its primary, and of those before it
 * of which nobody knew what had become when it went on. The engine reads the pointer, then the records that `primariesOf`
 * asks for, and replaces the pointer by compare-and-set only.
 */

/** Messages of unknown outcome that a pointer remembers, newest last. */
const BEFORE = 4;

/** Keys of the records that have to be read before `point` can judge: the pointer's, one's own, and those before. */
export function primariesOf(pointer: LedgerRecord | undefined, command: Point): readonly DuplicateKey[] {
  const standing = pointer?.pointer;
  return standing === undefined ? [] : [standing.primary, command.primary, ...(standing.before ?? [])];
}

/** `records`: what stands under `primariesOf`, in its order. */
export function point(
  pointer: LedgerRecord | undefined, command: Point, records: readonly (LedgerRecord | undefined)[], at: Moment,
): Step<PointAnswer> {
  const standing = pointer?.pointer;
  if (pointer === undefined || standing === undefined) return place(pointer, command, at, []);
  const [pointed, own, ...before] = records;
  const same = pointer.fingerprint === command.fingerprint;
  const others = standing.primary === command.primary ? before : [...before, pointed];
  // its primary settled with other content than the pointer's: what the pointer stands for was never accepted
  const accepted = others.filter((record): record is LedgerRecord =>
    record?.state === 'settled' && (record !== pointed || record.fingerprint === pointer.fingerprint));
  const hit = accepted.find(({ fingerprint }) => fingerprint === command.fingerprint);
  const [primary] = hit === undefined ? accepted : [hit];
  if (primary !== undefined) return { answer: { kind: hit === undefined ? 'differs' : 'hit', primary } };
  if (own?.state === 'settled') return standing.primary === command.primary ? { answer: { kind: 'mine' } } : place(pointer, command, at, []);
  const working = others.find((record) => record !== undefined && isLive(record, at));
  if (working !== undefined) return { answer: { kind: 'inFlight', primary: working } };

  const unclear = others.flatMap((record) => (record === undefined ? [] : [withoutOwner(record, at)])).filter(isUnclear);
  const [oldest] = unclear;
  const halted = unclear.find((record) => record.state === 'held' || (same && !mayRedeliver(record, command, at)));
  if (halted !== undefined && command.waits) return { answer: { kind: 'held', primary: halted } };
  const answer: PointAnswer = oldest === undefined ? { kind: 'mine' } : { kind: 'unclear', primary: oldest };
  const again = standing.primary === command.primary && standing.token === command.token && same;
  return again ? { answer } : { ...place(pointer, command, at, unclear), answer };
}

/** Whether the application may have the message, and nobody has said that it has not. */
function isUnclear(record: LedgerRecord): boolean {
  return record.state === 'held' || (record.state === 'open' && record.firstUncertain !== undefined && record.cleared !== true);
}

function place(pointer: LedgerRecord | undefined, command: Point, at: Moment, unclear: readonly LedgerRecord[]): Step<PointAnswer> {
  const before = unclear.map(({ key }) => key).slice(-BEFORE);
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
    pointer: { primary: command.primary, token: command.token, ...(before.length === 0 ? {} : { before }) },
  };
  return { next, answer: { kind: 'mine' } };
}
