import { As4OnceError } from '../errors.js';
import type { Claim, ClaimAnswer } from '../ledger/port.js';
import type { Message } from '../message.js';
import type { Rule } from '../policy/rule.js';
import type { Step } from '../walk.js';

/** The claim that policy asks for; `token` names this attempt for good. */
export function claimOf(step: Step, key: string, message: Message, rule: Rule, take: boolean): Claim {
  const { route, walk } = step;
  return {
    key,
    protocol: message.protocol,
    scope: route.scope,
    reference: message.reference,
    ...(message.type === undefined ? {} : { type: message.type }),
    rule: rule.name,
    sender: senderOf(message),
    fingerprint: message.fingerprint,
    facts: message.facts,
    token: walk.clock.id(),
    owner: walk.owner,
    leaseMs: route.times.lease,
    windowMs: rule.window,
    lateMs: rule.late,
    patienceMs: route.times.patience,
    openKeptMs: route.times.openKept,
    uncertain: rule.uncertain,
    remembersMs: route.remembersMs,
    persistent: route.persistent,
    otherSender: rule.otherSender,
    known: rule.known,
    take,
    notAfterMs: route.times.ledgerOutage,
  };
}

/** All From parties, order irrelevant: what `otherSender` compares. */
export function senderOf(message: Message): string {
  return message.facts.from.map((p) => JSON.stringify([p.type ?? '', p.value])).sort().join('|');
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
