import { createHash } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import type { Claim, Held, Point, Release, Settle } from '../ledger/port.js';
import type { Decision, DuplicateKey, LedgerRecord, Owner, StoredReply } from '../ledger/record.js';

/** Commands as the walk would send them, with every field that a test does not care about filled in. */

const sha = (text: string): string => createHash('sha256').update(text).digest('hex');
const HOUR = 3_600_000;

/** A key of the form every engine expects: hash of the reference, ":", hash of the other parts. */
export const sampleKey = (reference: string, other = 'sender'): DuplicateKey => `${sha(reference)}:${sha(other)}`;

export const sampleOwner: Owner = { node: 'node-a', pid: 1, started: '1', boot: '', pidNamespace: '' };

export const sampleDecision = (what: Decision['what'], reason = 'told by phone'): Decision =>
  ({ what, who: 'operator', when: 0, reason });

export function sampleReply(text: string): StoredReply {
  const body = `<Receipt>${text}</Receipt>`;
  return {
    status: 200,
    contentType: 'application/soap+xml',
    deflated: new Uint8Array(deflateRawSync(body)),
    length: Buffer.byteLength(body),
    sha256: sha(body),
    receiptId: `${text}@receipt`,
  };
}

export function sampleClaim(key: DuplicateKey, token: string, change: Partial<Claim> = {}): Claim {
  return {
    key,
    protocol: 'as4',
    scope: 'test',
    reference: 'message@example.org',
    rule: 'defaults',
    sender: 'POP000001',
    fingerprint: 'signed:content-a',
    facts: { from: [{ value: 'POP000001' }], to: [{ value: 'POP000002' }], service: 'invoicing' },
    token,
    owner: sampleOwner,
    leaseMs: HOUR,
    windowMs: 24 * HOUR,
    lateMs: 0,
    patienceMs: HOUR,
    openKeptMs: 12 * HOUR,
    uncertain: 'auto',
    remembersMs: 0,
    otherSender: 'refuse',
    known: 'pass',
    notAfterMs: 10_000,
    ...change,
  };
}

/** The commands of the attempt that `claim` began. */
export function sampleAttempt(claim: Claim): {
  readonly held: Held;
  settle(text: string, change?: Partial<Settle>): Settle;
  release(outcome: Release['outcome'], change?: Partial<Release>): Release;
} {
  return {
    held: { key: claim.key, token: claim.token, leaseMs: claim.leaseMs, patienceMs: claim.patienceMs },
    settle: (text, change = {}) => ({
      key: claim.key, token: claim.token, fingerprint: claim.fingerprint, reply: sampleReply(text), beganMsAgo: 0, claim, ...change,
    }),
    release: (outcome, change = {}) => ({
      key: claim.key, token: claim.token, outcome, reason: 'as the test wants', hold: false, counts: true,
      openKeptMs: claim.openKeptMs, claim, ...change,
    }),
  };
}

export const samplePoint = (key: DuplicateKey, claim: Claim, change: Partial<Point> = {}): Point => ({
  key, primary: claim.key, token: claim.token, fingerprint: claim.fingerprint, windowMs: claim.windowMs,
  protocol: claim.protocol, scope: claim.scope, reference: claim.reference, sender: claim.sender,
  waits: true, uncertain: claim.uncertain, remembersMs: claim.remembersMs, ...change,
});

/** A record as an import writes it: accepted elsewhere, with a Receipt or without one. */
export function sampleImport(key: DuplicateKey, seen: number, text?: string): LedgerRecord {
  const claim = sampleClaim(key, '');
  return {
    format: 1, version: 0, key, protocol: 'as4', scope: claim.scope, reference: claim.reference, rule: 'import',
    state: text === undefined ? 'known' : 'settled', born: seen, window: claim.windowMs, late: 0,
    sender: claim.sender, fingerprint: text === undefined ? '' : claim.fingerprint, facts: claim.facts,
    attempts: [], rejections: 0, copies: 0, lastSeen: seen,
    ...(text === undefined ? {} : { reply: sampleReply(text) }),
  };
}
