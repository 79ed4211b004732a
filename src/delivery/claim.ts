import { As4OnceError } from '../errors.js';
import type { Claim, ClaimAnswer } from '../ledger/port.js';
import type { Owner } from '../ledger/record.js';
import type { Times } from '../limits.js';
import type { Message } from '../message.js';
import { partiesText } from '../policy/key.js';
import type { Rule } from '../policy/rule.js';
import type { Step } from '../walk.js';

export interface ClaimInputs {
  readonly key: string;
  readonly message: Message;
  readonly rule: Rule;
  readonly scope: string;
  readonly times: Times;
  readonly owner: Owner;
  /** Names this attempt for good. */
  readonly token: string;
  readonly take: boolean;
  readonly remembersMs: number;
}

/** The claim that policy asks for. */
export function claimFor({ key, message, rule, scope, times, owner, token, take, remembersMs }: ClaimInputs): Claim {
  const claim: Claim = {
    key,
    scope,
    owner,
    token,
    take,
    remembersMs,
    protocol: message.protocol,
    reference: message.reference,
    rule: rule.name,
    sender: partiesText(message.facts.from),
    fingerprint: message.fingerprint,
    facts: message.facts,
    leaseMs: times.lease,
    windowMs: rule.window,
    lateMs: rule.late,
    patienceMs: times.patience,
    openKeptMs: times.openKept,
    // a Receipt that comes by callback proves nothing here: every copy goes on, marked, and none waits for an operator
    uncertain: rule.replyPattern === 'callback' ? 'redeliver' : rule.uncertain,
    otherSender: rule.otherSender,
    known: rule.known,
    notAfterMs: times.ledgerOutage,
  };
  return message.type === undefined ? claim : { ...claim, type: message.type };
}

export function claimOf({ route, walk }: Step, key: string, message: Message, rule: Rule, take: boolean): Claim {
  const { scope, times, remembersMs } = route;
  return claimFor({ key, message, rule, take, scope, times, remembersMs, owner: walk.owner, token: walk.clock.id() });
}

/**
 * One atomic question to the ledger, held while it is away; the token is the same, so that our own grant is recognised.
 * `once`: shadow mode holds nobody up.
 */
export async function askLedger(step: Step, claim: Claim, once = false): Promise<ClaimAnswer> {
  let asked = false;
  const ask = async (): Promise<ClaimAnswer> => {
    step.walk.mayDecide();
    asked = true;
    return await step.walk.ledger.claim(claim);
  };
  try {
    return await (once ? ask() : heldWhileDown(step, ask));
  } catch (error) {
    if (asked && claim.take !== false && error instanceof As4OnceError && error.code === 'LEDGER_DOWN') void disown(step, claim);
    throw error;
  }
}

/**
 * A claim that may have been granted without our hearing of it, and that nobody will deliver. Left to lapse it would
 * count as an uncertain attempt, so it is given back as soon as the ledger is there again.
 */
async function disown({ route, walk }: Step, claim: Claim): Promise<void> {
  const { key, token, openKeptMs } = claim;
  const until = walk.clock.monotonic() + route.times.patience;
  while (walk.clock.monotonic() < until) {
    await walk.clock.sleep(route.times.poll, walk.stop);
    if (walk.stop?.aborted === true) return;
    const release = { key, token, outcome: 'rejected', reason: 'LEDGER_DOWN', hold: false, counts: false, openKeptMs, claim } as const;
    const done = await walk.ledger.release(release).then(() => true, () => false);
    if (done) return;
  }
}

/**
 * While the ledger cannot be reached the request is held and the same command is tried again, bounded by
 * times.ledgerOutage; then LEDGER_DOWN, never an invented answer. Only for commands that may be repeated.
 */
export async function heldWhileDown<T>({ route, walk, answerBy }: Step, command: () => Promise<T>): Promise<T> {
  const until = Math.min(walk.clock.monotonic() + route.times.ledgerOutage, answerBy);
  for (let pause = 100; ; pause = Math.min(pause * 2, 1_000)) {
    try {
      return await command();
    } catch (error) {
      const passing = error instanceof As4OnceError && error.code === 'LEDGER_DOWN';
      if (!passing || walk.clock.monotonic() + pause >= until) throw error;
      await walk.clock.sleep(pause);
    }
  }
}
