import { createHash } from 'node:crypto';
import { claimFor } from '../delivery/claim.js';
import type { Claim, ClaimAnswer } from '../ledger/port.js';
import type { LedgerRecord } from '../ledger/record.js';
import { mismatchText } from '../policy/mismatch-text.js';
import type { Unit } from './units.js';
import type { WorkFile } from './work-file.js';
import type { Watching } from './watching.js';

/** What the ledger says of one message of a file. */
export type Finding =
  /** Ours to deliver: claimed now, or settled by this very file before a crash. */
  | { readonly kind: 'first'; readonly unit: Unit; readonly claim: Claim; readonly record: LedgerRecord; readonly mark: 'first' | 'redelivery' | 'late'; readonly settled: boolean }
  /** Accepted before, with this content. */
  | { readonly kind: 'duplicate'; readonly unit: Unit; readonly record: LedgerRecord; readonly key: string }
  /** Another file with it is in work right now. */
  | { readonly kind: 'busy'; readonly unit: Unit; readonly record: LedgerRecord }
  /** Goes to quarantine; `why` stands in the report. */
  | { readonly kind: 'quarantine'; readonly unit: Unit; readonly code: 'MISMATCH' | 'OTHER_SENDER' | 'HELD'; readonly why: string; readonly record?: LedgerRecord }
  /** Goes on although it was not claimed (detect-only, shadow, imported without reply). */
  | { readonly kind: 'forward'; readonly unit: Unit; readonly would: string; readonly record?: LedgerRecord };

/** Lease given for each message of a file beside the usual one, ms: all are claimed before the first is settled. */
const LEASE_EACH = 20;

/** Claims one message for a file. Throws LEDGER_DOWN and the like; shadow mode goes on without a ledger. */
export async function claimUnit(watching: Watching, file: WorkFile, unit: Unit, units: number): Promise<Finding> {
  const { rule } = unit;
  try {
    const key = unit.previous !== undefined && (await watching.ledger.find(unit.previous)) !== undefined ? unit.previous : unit.key;
    const claim = claimOf(watching, file, unit, key, units);
    const answer = await watching.ledger.claim(claim);
    const found = judge(unit, claim, answer) ?? (await mismatch(watching, file, unit, claim, answer, units));
    if (rule.mode === 'eliminate' || found.kind === 'first') return found;
    return { kind: 'forward', unit, would: found.kind, ...(found.record === undefined ? {} : { record: found.record }) };
  } catch (error) {
    if (rule.mode !== 'shadow') throw error;
    return { kind: 'forward', unit, would: 'unknown' };
  }
}

function claimOf({ config, owner, times }: Watching, file: WorkFile, unit: Unit, key: string, units: number): Claim {
  const { message, rule } = unit;
  const claim = claimFor({
    key, message, rule, times, owner, scope: config.scope, take: true, token: tokenOf(file, key), remembersMs: 0,
  });
  // what lies in work was not delivered, so a claim that lapsed can always be delivered again
  return { ...claim, uncertain: 'redeliver', leaseMs: times.lease + units * LEASE_EACH };
}

/** One token for each message of a file, the same after every crash, whatever was cut out of the file meanwhile. */
export function tokenOf(file: Pick<WorkFile, 'token'>, key: string): string {
  return `${file.token}.${createHash('sha256').update(key).digest('hex').slice(0, 12)}`;
}

function judge(unit: Unit, claim: Claim, answer: ClaimAnswer): Finding | undefined {
  const { record } = answer;
  switch (answer.kind) {
    case 'claimed':
      return { kind: 'first', unit, claim, record, mark: answer.mark, settled: false };
    case 'settled':
      if (record.token === claim.token) {
        return { kind: 'first', unit, claim, record, mark: markOf(record, claim.token), settled: true };
      }
      return { kind: 'duplicate', unit, record, key: claim.key };
    case 'inFlight':
      return { kind: 'busy', unit, record };
    case 'held':
      return { kind: 'quarantine', unit, code: 'HELD', why: 'the ledger holds it for an operator', record };
    case 'known':
      if (unit.rule.known === 'pass') return { kind: 'forward', unit, would: 'known', record };
      return { kind: 'quarantine', unit, code: 'HELD', why: 'accepted elsewhere before, by an import', record };
    case 'mismatch':
      return undefined;
  }
}

function markOf(record: LedgerRecord, token: string): 'first' | 'redelivery' | 'late' {
  return record.attempts.find((attempt) => attempt.token === token)?.mark ?? 'first';
}

/** The same key with other content, or from another sender: by policy, or because an operator accepted the file. */
async function mismatch(watching: Watching, file: WorkFile, unit: Unit, claim: Claim, { record }: ClaimAnswer, units: number): Promise<Finding> {
  const { rule, message } = unit;
  const otherSender = record.sender !== claim.sender;
  watching.events.emit('mismatch', { key: claim.key, messageId: message.reference, firstSeen: record.born, ...(rule.partner === undefined ? {} : { partner: rule.partner }) });
  if (!otherSender && rule.mismatch === 'replay' && !file.accepted) {
    return { kind: 'duplicate', unit, record, key: claim.key };
  }
  const allowed = file.accepted || (otherSender ? rule.otherSender === 'deliver' : rule.mismatch === 'deliver-flagged');
  const apart = otherSender ? unit.withSender : unit.withContent;
  if (allowed && apart !== claim.key) {
    const second = claimOf(watching, file, unit, apart, units);
    const found = judge(unit, second, await watching.ledger.claim(second));
    if (found !== undefined) return found;
  }
  const why = mismatchText(message.protocol, otherSender, record.born);
  return { kind: 'quarantine', unit, code: otherSender ? 'OTHER_SENDER' : 'MISMATCH', why, record };
}

/** Gives claims back that nothing came of: the next copy is a first one again. */
export async function giveBack(watching: Watching, findings: readonly Finding[], reason: string): Promise<void> {
  for (const found of findings) {
    if (found.kind !== 'first' || found.settled) continue;
    const { claim } = found;
    const { key, token, openKeptMs } = claim;
    await watching.ledger.release({ key, token, outcome: 'rejected', reason, hold: false, counts: false, openKeptMs, claim });
  }
}
