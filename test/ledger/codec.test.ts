import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { As4OnceError } from '../../src/errors.js';
import { countInPlace, decodeRecord, encodeRecord, HEAD } from '../../src/ledger/codec.js';
import type { LedgerRecord } from '../../src/ledger/record.js';
import { ledgerRecordSchema, recordFromJson, recordToJson } from '../../src/ledger/schema.js';
import { sampleKey, sampleReply } from '../../src/testing/index.js';

const time = fc.nat({ max: 4_000_000_000_000 });
const maybe = <T>(name: string, value: fc.Arbitrary<T>): fc.Arbitrary<object> => fc.option(value).map((v) => (v === null ? {} : { [name]: v }));
const text = fc.string({ unit: 'binary', maxLength: 40 }).filter((s) => Buffer.from(s).toString() === s);

/** Any record that the transition could write, with hostile text wherever text may come from outside. */
const records: fc.Arbitrary<LedgerRecord> = fc.tuple(
  fc.record({
    format: fc.constant(1 as const), version: time, key: text.map((s) => sampleKey(s)), protocol: fc.constant('as4' as const), scope: text,
    reference: text, rule: text, state: fc.constantFrom('claimed', 'open', 'held', 'settled', 'known'), born: time, window: time, late: time,
    keptUntil: time, sender: text, fingerprint: text,
    facts: fc.record({ from: fc.array(fc.record({ value: text })), to: fc.constant([]) }),
    attempts: fc.array(fc.record({ token: text, fingerprint: text, began: time, node: text }), { maxLength: 8 }),
    rejections: fc.nat(), copies: fc.nat(), lastSeen: time,
  }),
  maybe('leaseUntil', time.map((t) => t + 1)), maybe('token', text), maybe('type', text),
  maybe('reply', fc.tuple(text, fc.uint8Array({ maxLength: 500 })).map(([t, deflated]) => ({ ...sampleReply(t), deflated }))),
).map((parts) => Object.assign({}, ...parts) as LedgerRecord);

describe('a record as bytes', () => {
  it('comes back as it was written, whatever text and bytes it holds', () => {
    fc.assert(fc.property(records, (record) => {
      expect(decodeRecord(encodeRecord(record))).toEqual(record);
    }));
  });

  it('comes back as it was written through JSON, which its schema accepts', () => {
    fc.assert(fc.property(records, (record) => {
      const json = JSON.parse(JSON.stringify(recordToJson(record))) as unknown;
      expect(ledgerRecordSchema.safeParse(json).error).toBe(undefined);
      expect(recordFromJson(json)).toEqual(record);
    }));
  });

  it('is counted in place, and nothing else changes', () => {
    fc.assert(fc.property(records, fc.nat(), time, (record, copies, lastSeen) => {
      const bytes = countInPlace(encodeRecord(record), { copies, lastSeen });
      expect(bytes.length).toBe(encodeRecord(record).length);
      expect(decodeRecord(bytes)).toEqual({ ...record, copies, lastSeen });
    }));
  });

  it('is never taken for new where it cannot be read: a newer format, a cut, damage', () => {
    fc.assert(fc.property(records, fc.nat(), (record, at) => {
      const bytes = encodeRecord(record);
      const newer = Buffer.from(bytes);
      newer.write('2', HEAD.magic.length);
      expect(codeOf(() => decodeRecord(newer))).toBe('RECORD_UNREADABLE');
      const end = bytes.indexOf('\n', HEAD.length);
      expect(codeOf(() => decodeRecord(bytes.subarray(0, at % (end + 1))))).toBe('RECORD_UNREADABLE');
    }));
    expect(codeOf(() => decodeRecord(Buffer.from('<xml/>')))).toBe('RECORD_UNREADABLE');
  });

  it('has a JSON Schema', async () => {
    const { z } = await import('zod');
    expect(JSON.stringify(z.toJSONSchema(ledgerRecordSchema))).toContain('Grows with every change of state');
  });
});

function codeOf(run: () => unknown): string {
  try {
    run();
    return 'nothing thrown';
  } catch (error) {
    return error instanceof As4OnceError ? error.code : String(error);
  }
}
