import { z } from 'zod';
import type { LedgerRecord } from './record.js';

/**
 * The ledger record as JSON, wherever one leaves the process (`show --json`, import, backup). Same fields as
 * LedgerRecord; the reply's bytes are base64. The JSON Schema in schemas/ is generated from this.
 */
const time = z.number().int().nonnegative().describe('Epoch milliseconds on the ledger\'s clock.');
const duration = z.number().int().nonnegative().describe('Milliseconds.');
const count = z.number().int().nonnegative();
const outcome = z.enum(['accepted', 'rejected', 'uncertain']);

const party = z.strictObject({ value: z.string(), type: z.string().optional() });

const facts = z.strictObject({
  from: z.array(party),
  to: z.array(party),
  c1: z.string().optional().describe('originalSender of the four corner topology.'),
  c4: z.string().optional().describe('finalRecipient of the four corner topology.'),
  service: z.string().optional(),
  serviceType: z.string().optional(),
  action: z.string().optional(),
  conversationId: z.string().optional(),
  agreement: z.string().optional(),
  mpc: z.string().optional(),
  timestamp: z.number().optional().describe('The sender\'s own date, epoch milliseconds.'),
}).describe('What an operator asks for.');

const owner = z.strictObject({
  node: z.string(),
  pid: count,
  started: z.string().describe('Kernel start ticks of the process.'),
  boot: z.string(),
  pidNamespace: z.string(),
}).describe('Who holds the claim.');

const attempt = z.strictObject({
  token: z.string(),
  fingerprint: z.string(),
  began: time,
  node: z.string(),
  ended: time.optional(),
  outcome: outcome.optional(),
  reason: z.string().optional(),
  mark: z.enum(['first', 'redelivery', 'late']).optional().describe('What the upstream was told.'),
});

const reply = z.strictObject({
  status: z.number().int().min(100).max(599),
  contentType: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()])).optional(),
  deflated: z.base64().describe('Raw DEFLATE of the body, base64.'),
  length: count.describe('Bytes of the plain body.'),
  sha256: z.string().regex(/^[0-9a-f]{64}$/).describe('SHA-256 of the plain body.'),
  receiptId: z.string().optional(),
  signerSerial: z.string().optional(),
}).describe('What is replayed.');

const decision = z.strictObject({
  what: z.enum(['settle', 'release', 'attach', 'revoke', 'forget', 'import']),
  who: z.string(),
  when: time,
  reason: z.string(),
}).describe('An operator\'s act.');

export const ledgerRecordSchema = z.strictObject({
  format: z.literal(1),
  version: count.describe('Grows with every change of state.'),
  key: z.string().describe('The DuplicateKey.'),
  protocol: z.enum(['as4', 'edifact', 'x12', 'sbdh', 'reference']),
  scope: z.string(),
  reference: z.string(),
  type: z.string().optional(),
  rule: z.string().describe('Policy rule that governed the claim.'),
  state: z.enum(['claimed', 'open', 'held', 'settled', 'known']),
  born: time,
  window: duration.describe('Duplicate window, milliseconds from born.'),
  late: duration.describe('How much longer than its window the record is kept, milliseconds.'),
  keptUntil: time.optional(),
  sender: z.string(),
  fingerprint: z.string(),
  facts,
  token: z.string().optional(),
  leaseUntil: time.optional(),
  lease: duration.optional(),
  owner: owner.optional(),
  attempts: z.array(attempt),
  firstUncertain: time.optional(),
  rejections: count.describe('Certain rejections before the first uncertain attempt.'),
  copies: count.describe('Copies seen after the first.'),
  lastSeen: time,
  reply: reply.optional(),
  decisions: z.array(decision).optional(),
  cleared: z.literal(true).optional(),
  follows: z.strictObject({ born: time, receiptId: z.string().optional(), sha256: z.string().optional() }).optional(),
  twoContents: z.literal(true).optional(),
  pointer: z.strictObject({ primary: z.string(), token: z.string(), before: z.array(z.string()).optional() }).optional(),
}).describe('One record of the as4-once ledger.');

/** A record as the operator's commands show it with --json: the reply without its bytes, and a verdict where they have one. */
export const shownRecordSchema = ledgerRecordSchema.extend({
  reply: reply.omit({ deflated: true }).extend({ storedBytes: count.describe('Bytes the stored reply takes.') }).optional(),
  verdict: z.strictObject({
    level: z.enum(['fine', 'look', 'act']), text: z.string(),
  }).optional().describe('What an operator may make of it (show).'),
}).describe('One record, as show, list, settle and release print it with --json.');

export type RecordJson = z.output<typeof ledgerRecordSchema>;

export function recordToJson(record: LedgerRecord): RecordJson {
  const { reply: stored, ...rest } = record;
  const json = stored === undefined
    ? rest
    : { ...rest, reply: { ...stored, deflated: Buffer.from(stored.deflated).toString('base64') } };
  return json as RecordJson;
}

/** @throws z.ZodError naming path and fault. */
export function recordFromJson(json: unknown): LedgerRecord {
  const { reply: stored, ...rest } = ledgerRecordSchema.parse(json);
  const record = stored === undefined
    ? rest
    : { ...rest, reply: { ...stored, deflated: new Uint8Array(Buffer.from(stored.deflated, 'base64')) } };
  return record as LedgerRecord;
}
