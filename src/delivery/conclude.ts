import { As4OnceError, ERRORS } from '../errors.js';
import type { Reply } from '../exchange.js';
import type { Answer, Claim, Release, Settle } from '../ledger/port.js';
import type { LedgerRecord } from '../ledger/record.js';
import type { Step } from '../walk.js';
import type { Granted } from './deliver.js';
import type { AttemptResult } from './port.js';
import { later } from './refuse.js';
import { replay } from './replay.js';

/**
 * An attempt has ended: the ledger first, the sender second (law 2). Whatever the ledger does not answer `ok`, the
 * sender gets what the standing record says and never this attempt's own later Error (law 5).
 */
export async function conclude(step: Step, claim: Claim, granted: Granted, result: AttemptResult): Promise<Reply> {
  alert(step, claim, result);
  return result.outcome === 'accepted' ? await settle(step, claim, granted, result) : await release(step, claim, result);
}

async function settle(step: Step, claim: Claim, granted: Granted, result: AttemptResult): Promise<Reply> {
  const { walk } = step;
  const { stored } = result;
  if (stored === undefined) throw new As4OnceError('INTERNAL', 'accepted without a reply to store');
  const began = granted.record.attempts.at(-1)?.began ?? granted.now;
  const grantedAt = walk.clock.monotonic();
  const command = (): Settle => ({
    key: claim.key,
    token: claim.token,
    fingerprint: claim.fingerprint,
    reply: stored,
    beganMsAgo: Math.max(0, granted.now - began) + Math.round(walk.clock.monotonic() - grantedAt),
    claim,
  });
  const named = { key: claim.key, messageId: claim.reference };
  const answer = await persist(step, () => walk.ledger.settle(command())).catch((error: unknown) => {
    // a record that nobody can read, say: the message is delivered all the same, so its proof must not be lost
    walk.events.emit('unreadable', { ...named, reason: error instanceof As4OnceError ? error.message : String(error) });
    return undefined;
  });
  if (answer === undefined) {
    await walk.journal.append(command());
    walk.events.emit('journaled', named);
    return result.reply;
  }
  if (answer.kind === 'gone') return later(step, 'STALE');
  if (answer.twoReceipts === true) walk.events.emit('twoReceipts', named);
  if (answer.kind === 'stale' && answer.twoContents === true) walk.events.emit('twoContents', named);
  if (answer.kind === 'ok' && answer.twoReceipts !== true) return result.reply;
  return fromStanding(step, answer.record, claim);
}

async function release(step: Step, claim: Claim, result: AttemptResult): Promise<Reply> {
  const { walk, route } = step;
  const command: Release = {
    key: claim.key,
    token: claim.token,
    outcome: result.outcome === 'rejected' ? 'rejected' : 'uncertain',
    reason: result.reason,
    hold: result.hold,
    counts: result.counts,
    openKeptMs: route.times.openKept,
    claim,
  };
  const answer = await persist(step, () => walk.ledger.release(command));
  const named = { key: claim.key, messageId: claim.reference };
  if (answer === undefined) return later(step, 'LEDGER_DOWN');
  if (answer.kind === 'gone') return later(step, 'STALE');
  if (answer.kind === 'stale') return fromStanding(step, answer.record, claim);
  if (result.outcome === 'uncertain' && result.reason !== 'callback') walk.events.emit('uncertain', { ...named, reason: result.reason });
  if (answer.record.state === 'held') walk.events.emit('held', { ...named, reason: result.reason });
  return result.code !== undefined && ERRORS[result.code].status === 503 ? later(step, result.code) : result.reply;
}

function fromStanding(step: Step, record: LedgerRecord, claim: Claim): Reply {
  return record.state === 'settled' && record.fingerprint === claim.fingerprint ? replay(step, record) : later(step, 'STALE');
}

/** Tries for times.settle; undefined where the ledger never confirmed. Every command is idempotent under its token. */
export async function persist(step: Step, command: () => Promise<Answer>): Promise<Answer | undefined> {
  const { clock } = step.walk;
  const until = clock.monotonic() + step.route.times.settle;
  for (let pause = 50; ; pause = Math.min(pause * 2, 1_000)) {
    try {
      return await command();
    } catch (error) {
      const passing = error instanceof As4OnceError && (error.code === 'LEDGER_DOWN' || error.code === 'LEDGER_FULL');
      if (!passing) throw error;
      if (clock.monotonic() + pause >= until) return undefined;
      await clock.sleep(pause);
    }
  }
}

function alert(step: Step, claim: Claim, result: AttemptResult): void {
  const { events } = step.walk;
  const named = { key: claim.key, messageId: claim.reference };
  if (result.alert === 'burnt') events.emit('burnt', named);
  if (result.alert === 'wrongAnswer' || result.alert === 'otherDigests') events.emit('wrongAnswer', { ...named, reason: result.reason });
  if (result.alert === 'replyTooLarge') events.emit('replyTooLarge', { ...named, bytes: step.walk.limits.maxReply });
}
