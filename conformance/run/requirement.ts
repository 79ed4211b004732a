import type { ProfileName } from '../profile.js';
import type { Capability, Claims } from '../target/target.js';
import type { Context } from './context.js';

export type Level = 'must' | 'should' | 'observe';

/**
 * One thing a receiver has to do, addressed by the clause behind it. `must`: a sentence of OASIS, the EC or an RFC
 * stands behind it. `should`: advice, or what honest traffic needs. `observe`: the standards are silent; what happens
 * is
 * reported, and judged only where the target claims it.
 */
export interface Requirement {
  /** Clause and number: `as4/3.2/1`. */
  readonly id: string;
  readonly title: string;
  readonly level: Level;
  /** What the source says, in a phrase. */
  readonly says: string;
  /** The same thing elsewhere: test assertions, other products' suites, RFCs. */
  readonly refs: readonly string[];
  readonly sends: string;
  readonly expects: string;
  readonly needs?: readonly Capability[];
  /** Requirements without which this one says nothing. The first one, `as4/5.1.8/1`, stands before all others. */
  readonly dependsOn?: readonly string[];
  readonly profiles?: readonly ProfileName[];
  /** The claim that turns an observation or advice into something judged. */
  readonly claimed?: (claims: Claims) => boolean;
  /** Changes the target for everybody (restart, backend, store), so nothing else may run beside it. */
  readonly alone?: boolean;
  run(context: Context): Promise<void>;
}

/** The requirement is not met; the message says what was seen. */
export class Broken extends Error {
  override readonly name = 'Broken';
}

/** The target cannot be judged on this: what was asked for does not exist there. Leads to `skipped`. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable';
}

export const VERDICTS = ['pass', 'fail', 'warning', 'observed', 'skipped', 'blocked', 'error'] as const;
export type Verdict = (typeof VERDICTS)[number];

/** What the verdicts mean, for the head of every report. */
export const VERDICT_MEANING: Readonly<Record<Verdict, string>> = {
  pass: 'the target did what the requirement asks',
  fail: 'it did not, and the requirement is a must, or the target claims it',
  warning: 'it did not, and the requirement is a should',
  observed: 'the standards are silent; what was seen is reported and not judged',
  skipped: 'the target file does not declare what the requirement needs',
  blocked: 'a requirement on which this one stands was not met',
  error: 'the suite itself, or a command of the target file, failed',
};
