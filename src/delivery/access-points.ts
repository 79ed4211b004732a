/** What the known access points do with an id they have seen (measured, see docs of each preset's cookbook page). */

export const ACCESS_POINT_NAMES = ['phase4', 'phoss-ap', 'holodeck', 'domibus', 'oxalis', 'other'] as const;
export type AccessPointName = (typeof ACCESS_POINT_NAMES)[number];

export interface AccessPoint {
  readonly name: AccessPointName;
  /** How long it recognises an id it has taken, ms; 0 where it does not. Counted from the earliest uncertain attempt. */
  readonly remembersMs: number;
  /** Its memory survives its restart. Otherwise a reset or a refused connection means that it remembers nothing. */
  readonly persistent: boolean;
  /** HTTP statuses that mean: the message was not taken, because the access point was not reached. */
  readonly notReached: readonly number[];
  /** Errors of severity failure by which it calls a message a repetition. */
  readonly duplicateErrors: readonly DuplicateError[];
}

/** An error code, and where the code alone is not enough a word that its texts must hold (compared without case). */
export interface DuplicateError {
  readonly code: string;
  readonly says?: string;
}

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

/** EBMS:4001 is private to phase4 4.5; older ones, and Domibus, say it in the text of "Other". */
const DUPLICATE_ERRORS: readonly DuplicateError[] = [
  { code: 'EBMS:4001' },
  { code: 'EBMS:0004', says: 'duplicate' },
];

/** Too Many Requests and Service Unavailable: the answers of a gate in front, or of a server that takes nothing in. */
const NOT_REACHED: readonly number[] = [429, 503];

const preset = (name: AccessPointName, remembersMs: number, persistent: boolean): AccessPoint =>
  Object.freeze({ name, remembersMs, persistent, notReached: NOT_REACHED, duplicateErrors: DUPLICATE_ERRORS });

export const ACCESS_POINTS: Readonly<Record<AccessPointName, AccessPoint>> = Object.freeze({
  // in memory by default: after a restart it delivers the same id again
  phase4: preset('phase4', 10 * MINUTE, false),
  // phase4 with its duplicates in a database
  'phoss-ap': preset('phoss-ap', 10 * MINUTE, true),
  // both keep the messages themselves, for as long as their retention says
  holodeck: preset('holodeck', 30 * DAY, true),
  domibus: preset('domibus', 30 * DAY, true),
  // delivers every copy
  oxalis: preset('oxalis', 0, false),
  other: preset('other', 0, false),
});

/** Values of `upstream:` that replace the preset's. */
export type AccessPointChange = Partial<Pick<AccessPoint, 'remembersMs' | 'persistent' | 'notReached'>>;

/** The preset of that name with what the configuration says otherwise. */
export function accessPoint(name: AccessPointName, change: AccessPointChange = {}): AccessPoint {
  const base = ACCESS_POINTS[name];
  return Object.freeze({
    ...base,
    remembersMs: change.remembersMs ?? base.remembersMs,
    persistent: change.persistent ?? base.persistent,
    notReached: change.notReached ?? base.notReached,
  });
}
