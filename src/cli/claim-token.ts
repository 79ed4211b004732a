import { As4OnceError } from '../errors.js';
import type { Claim, Ledger } from '../ledger/port.js';
import type { LedgerRecord, Owner } from '../ledger/record.js';
import { TIMES } from '../limits.js';
import { tokenOf } from '../watch/claim-unit.js';

/** What `claim` hands out and `settle` and `release` take: the keys that were claimed, and under which token. */
export interface ClaimToken {
  readonly token: string;
  readonly keys: readonly string[];
}

export function writeToken({ token, keys }: ClaimToken): string {
  return Buffer.from(JSON.stringify([token, ...keys])).toString('base64url');
}

export function readToken(text: string): ClaimToken {
  try {
    const parts: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (Array.isArray(parts) && parts.length > 1 && parts.every((part): part is string => typeof part === 'string')) {
      const [token = '', ...keys] = parts;
      return { token, keys };
    }
  } catch {
    // said below
  }
  throw new As4OnceError('USAGE', 'that is no token of as4-once claim');
}

/** Nobody's process: such a claim lapses with its lease, and cannot be proven dead before. */
export function noProcess(node: string): Owner {
  return { node, pid: 0, started: '', boot: '', pidNamespace: '' };
}

/** A claim that stands, with what the ledger needs to settle or release it. */
export interface Standing {
  readonly key: string;
  readonly token: string;
  readonly record: LedgerRecord;
  readonly claim: Claim;
  readonly beganMsAgo: number;
}

/** The records of a token. Throws NOT_FOUND where one is gone. */
export async function standing(ledger: Ledger, { token, keys }: ClaimToken): Promise<Standing[]> {
  const found: Standing[] = [];
  for (const key of keys) {
    const one = await ledger.find(key);
    if (one === undefined) throw new As4OnceError('NOT_FOUND', 'the ledger no longer knows this claim');
    const { record, now } = one;
    const own = tokenOf({ token }, key);
    const began = record.attempts.find((attempt) => attempt.token === own)?.began ?? now;
    found.push({ key, token: own, record, claim: claimAgain(record, own), beganMsAgo: now - began });
  }
  return found;
}

/** The claim as it was made, for a record that is lost between being read and being settled. */
function claimAgain(record: LedgerRecord, token: string): Claim {
  const { key, protocol, scope, reference, type, rule, sender, fingerprint, facts, owner, window, late } = record;
  return {
    key, protocol, scope, reference, ...(type === undefined ? {} : { type }), rule, sender, fingerprint, facts, token,
    owner: owner ?? noProcess(''), leaseMs: TIMES.lease, windowMs: window, lateMs: late, patienceMs: TIMES.patience, openKeptMs: TIMES.openKept,
    uncertain: 'hold', remembersMs: 0, otherSender: 'refuse', known: 'hold', notAfterMs: TIMES.ledgerOutage,
  };
}
