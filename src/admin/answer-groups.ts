import type { AnswerName } from '../events.js';

/** What a person wants to know of an answer. */
export const GROUPS = ['delivered', 'repeated', 'later', 'refused', 'failed', 'passed'] as const;
export type Group = (typeof GROUPS)[number];

/** Every answer of the walk and what it meant for the sender. */
export const GROUP_OF: Readonly<Record<AnswerName, Group>> = {
  // handed on
  first: 'delivered', redelivery: 'delivered', late: 'delivered', resend: 'delivered', forwarded: 'delivered',
  // answered with the stored reply
  replay: 'repeated', waited: 'repeated',
  // asked to come again
  busy: 'later', held: 'later',
  // not acceptable
  refused: 'refused', mismatch: 'refused',
  // we could not
  unavailable: 'failed', failed: 'failed',
  // none of our business: signals, other methods
  passed: 'passed',
};
