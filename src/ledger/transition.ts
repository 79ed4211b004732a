import type { Answer, Claim, ClaimAnswer, Held, OperatorAnswer, Release, Settle } from './port.js';
import type { LedgerRecord } from './record.js';
import { adopt, attach, extend, forget, revoke } from './transition/amend.js';
import type { Attach, Extend, Forget, Revoke } from './transition/amend.js';
import { claim } from './transition/claim.js';
import { release, renew, settle } from './transition/holder.js';
import { operatorRelease, operatorSettle } from './transition/operator.js';
import type { OperatorRelease, OperatorSettle } from './transition/operator.js';
import { isLive, keptUntil, latest } from './transition/standing.js';
import type { Moment, Step } from './transition/standing.js';

/**
 * The state machine of a record, and the only definition of its states (design 4). Every engine reads the standing
 * record, calls `transition`, and writes `next` under a guard that the record is still the one that was judged.
 *
 *   (none) ─claim▶ claimed ─settle▶ settled ─revoke▶ open
 *                     │ release                ▲ first valid Receipt, from any state
 *                     ├────▶ open ─claim▶ claimed (marked after an uncertain attempt)
 *                     └────▶ held ─operator▶ open | settled
 */
export interface Commands {
  readonly claim: { readonly in: Claim; readonly out: ClaimAnswer };
  readonly renew: { readonly in: Held; readonly out: Answer };
  readonly settle: { readonly in: Settle; readonly out: Answer };
  readonly release: { readonly in: Release; readonly out: Answer };
  readonly attach: { readonly in: Attach; readonly out: Answer };
  readonly revoke: { readonly in: Revoke; readonly out: Answer };
  readonly extend: { readonly in: Extend; readonly out: Answer };
  readonly forget: { readonly in: Forget; readonly out: Answer };
  readonly operatorSettle: { readonly in: OperatorSettle; readonly out: OperatorAnswer };
  readonly operatorRelease: { readonly in: OperatorRelease; readonly out: OperatorAnswer };
  readonly adopt: { readonly in: LedgerRecord; readonly out: boolean };
}
export type CommandName = keyof Commands;

type Rules = {
  readonly [K in CommandName]: (record: LedgerRecord | undefined, command: Commands[K]['in'], at: Moment) => Step<Commands[K]['out']>;
};
const RULES: Rules = {
  claim, renew, settle, release, attach, revoke, extend, forget, operatorSettle, operatorRelease, adopt,
};

/** What `name` does to the record. A record past its keeping is none; the clock never runs before the record's own times. */
export function transition<K extends CommandName>(
  record: LedgerRecord | undefined, name: K, command: Commands[K]['in'], at: Moment,
): Step<Commands[K]['out']> {
  const moment = guarded(record, at);
  return RULES[name](stands(record, moment.now), command, moment);
}

/** The moment, not before anything the record knows of (G5). */
export const guarded = (record: LedgerRecord | undefined, at: Moment): Moment =>
  record === undefined ? at : { ...at, now: Math.max(at.now, latest(record)) };

/** The record, unless its keeping is over and an engine merely has not swept it yet. */
export const stands = (record: LedgerRecord | undefined, now: number): LedgerRecord | undefined =>
  record !== undefined && keptUntil(record) > now ? record : undefined;

/** Whether a write ends in a new settle: what the ledger's own counter counts (G13). */
export const settles = (record: LedgerRecord | undefined, next: LedgerRecord): boolean =>
  next.state === 'settled' && record?.state !== 'settled';

/** Whether waiting copies should look again after this write. */
export const wakes = (record: LedgerRecord | undefined, next: LedgerRecord): boolean =>
  record?.state === 'claimed' && (next.state !== 'claimed' || next.token !== record.token);

export type ListName = 'held' | 'uncertain' | 'inFlight';

/** Whether the record belongs into the small index of what an operator may have to look at (G11). */
export const indexed = (record: LedgerRecord): boolean =>
  record.pointer === undefined
  && (record.state === 'claimed' || record.state === 'held' || waits(record));

/** Nobody can decide about a message whose Receipt comes by callback, and nobody has to. */
const waits = (record: LedgerRecord): boolean =>
  record.state === 'open' && record.firstUncertain !== undefined && record.attempts.at(-1)?.reason !== 'callback';

/** Which list an indexed record is on now: a lapsed claim is an uncertain attempt already. */
export function listedAs(record: LedgerRecord, at: Moment): ListName | undefined {
  if (record.state === 'held') return 'held';
  if (record.state === 'claimed') return isLive(record, { ...at, contactMs: Infinity }) ? 'inFlight' : 'uncertain';
  return waits(record) && record.cleared === undefined ? 'uncertain' : undefined;
}

export { point, primariesOf } from './transition/point.js';
export { keptUntil } from './transition/standing.js';
export type { Moment, Step } from './transition/standing.js';
