import { As4OnceError } from '../errors.js';
import type { Claim, Point, PointAnswer } from '../ledger/port.js';
import type { SecondKey, Step } from '../walk.js';
import { heldWhileDown } from './claim.js';
import { persist } from './conclude.js';

/** How the reason begins where a message was given back because of another one. */
export const SAME_CONTENT = 'the same content';

/** What the second keys said: the id of the first message with this content, and whether to deliver nothing. */
export interface SecondKeyVerdict {
  readonly first: string | undefined;
  readonly suppress: boolean;
  /** After one's own settle: pointers whose primary is not settled now lead here. */
  confirm(): Promise<void>;
}

/**
 * Second keys (design: second keys) are claimed after the primary, in fixed order, all before anything goes upstream.
 * `flag` never waits; `suppress` waits for the copy in progress, since two ids of one content at once are one delivery.
 */
export async function pointSecondKeys(step: Step, keys: readonly SecondKey[], claim: Claim): Promise<SecondKeyVerdict> {
  let first: string | undefined;
  let suppress = false;
  try {
    for (const key of keys) {
      const answer = await point(step, key, claim);
      if (answer.kind === 'mine') continue;
      // accepted, in work or nobody knows: whatever is delivered now says that it follows another message
      first ??= answer.primary.reference;
      suppress ||= key.policy === 'suppress' && answer.kind === 'hit';
    }
  } catch (error) {
    await giveBack(step, claim, error);
    throw error;
  }
  const confirm = async (): Promise<void> => {
    for (const key of keys) await step.walk.ledger.point(commandOf(step, key, claim)).catch(() => undefined);
  };
  return { first, suppress, confirm: first === undefined ? async () => undefined : confirm };
}

async function point(step: Step, key: SecondKey, claim: Claim): Promise<PointAnswer> {
  const { walk } = step;
  for (;;) {
    const answer = await heldWhileDown(step, () => walk.ledger.point(commandOf(step, key, claim)));
    if (answer.kind === 'held') throw new As4OnceError('HELD', `${SAME_CONTENT} came as ${answer.primary.reference}, whose outcome nobody knows`);
    if (answer.kind !== 'inFlight' || key.policy === 'flag') return answer;
    if (!(await walk.waiting.for(answer.primary.key, answer.primary, step.answerBy))) {
      throw new As4OnceError('IN_PROGRESS', `${SAME_CONTENT} is in work as ${answer.primary.reference}`);
    }
  }
}

/**
 * Nothing went upstream, so the claim ends as a certain rejection. That must reach the ledger: a claim that is only left
 * to lapse counts as uncertain, and would be held or delivered marked although nobody has seen the message.
 */
async function giveBack(step: Step, claim: Claim, error: unknown): Promise<void> {
  const code = error instanceof As4OnceError ? error.code : undefined;
  const behind = error instanceof As4OnceError && error.detail.startsWith(SAME_CONTENT);
  const reason = behind ? error.detail : (code ?? 'second key');
  step.notes.answer = code === 'HELD' ? 'held' : code === 'IN_PROGRESS' || code === 'TOO_MANY_WAITING' ? 'busy' : 'unavailable';
  const { key, token, openKeptMs } = claim;
  const release = { key, token, outcome: 'rejected', reason, hold: false, counts: false, openKeptMs, claim } as const;
  await persist(step, () => step.walk.ledger.release(release)).catch(() => undefined);
}

function commandOf(step: Step, key: SecondKey, claim: Claim): Point {
  return {
    key: key.key,
    primary: claim.key,
    token: claim.token,
    fingerprint: key.fingerprint,
    windowMs: claim.windowMs,
    protocol: claim.protocol,
    scope: step.route.scope,
    reference: key.reference,
    sender: claim.sender,
    waits: key.policy === 'suppress',
    uncertain: claim.uncertain,
    remembersMs: claim.remembersMs,
  };
}
