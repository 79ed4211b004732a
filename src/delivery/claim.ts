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
  readonly persistent: boolean;
}

/** The claim that policy asks for. */
export function claimFor({ message, rule, times, ...given }: ClaimInputs): Claim {
  return {
    ...given,
    protocol: message.protocol,
    reference: message.reference,
    ...(message.type === undefined ? {} : { type: message.type }),
    rule: rule.name,
    sender: partiesText(message.facts.from),
    fingerprint: message.fingerprint,
    facts: message.facts,
    leaseMs: times.lease,
    windowMs: rule.window,
    lateMs: rule.late,
    patienceMs: times.patience,
    openKeptMs: times.openKept,
    uncertain: rule.uncertain,
    otherSender: rule.otherSender,
    known: rule.known,
    notAfterMs: times.ledgerOutage,
  };
}

export function claimOf({ route, walk }: Step, key: string, message: Message, rule: Rule, take: boolean): Claim {
  const { scope, times, remembersMs, persistent } = route;
  return claimFor({ key, message, rule, take, scope, times, remembersMs, persistent, owner: walk.owner, token: walk.clock.id() });
}

/**
 * One atomic question to the ledger. While it cannot be reached the request is held and the same claim (same token, so
 * our own grant is recognised) is tried again, bounded by times.ledgerOutage; then LEDGER_DOWN, never an invented answer.
 */
export async function askLedger(step: Step, claim: Claim): Promise<ClaimAnswer> {
  const { route, walk } = step;
  const until = Math.min(walk.clock.monotonic() + route.times.ledgerOutage, step.answerBy);
  for (let pause = 100; ; pause = Math.min(pause * 2, 1_000)) {
    try {
      walk.mayDecide();
      return await walk.ledger.claim(claim);
    } catch (error) {
      const passing = error instanceof As4OnceError && error.code === 'LEDGER_DOWN';
      if (!passing || walk.clock.monotonic() + pause >= until) throw error;
      await walk.clock.sleep(pause);
    }
  }
}
