import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEnvelope } from '../../src/ebms/envelope.js';
import { buildErrorSignal } from '../../src/ebms/error-signal.js';
import type { ErrorSignal } from '../../src/ebms/error-signal.js';
import { ERRORS } from '../../src/errors.js';
import type { ErrorEntry } from '../../src/errors.js';
import { LIMITS } from '../../src/limits.js';
import { hasSchemas, invalidity } from '../security/oracle.js';

const signal: ErrorSignal = {
  soap: '1.2',
  entry: ERRORS.HEADER_INVALID,
  refToMessageId: 'm1@test',
  detail: 'eb:MessageId missing',
  messageId: 'e1@test',
  timestamp: '2026-01-02T03:04:05.678Z',
};
const withCode: [string, ErrorEntry][] = Object.entries(ERRORS).filter(([, entry]) => 'ebms' in entry);

describe('an ebMS Error', () => {
  it('says code, severity, message and detail, in the SOAP version of the request', () => {
    for (const soap of ['1.1', '1.2'] as const) {
      const { contentType, body } = buildErrorSignal({ ...signal, soap });
      expect(contentType).toBe(soap === '1.1' ? 'text/xml;charset=UTF-8' : 'application/soap+xml;charset=UTF-8');
      const read = readEnvelope(body, LIMITS);
      expect(read.soap).toBe(soap);
      expect(read.signals).toHaveLength(1);
      expect(read.signals[0]).toMatchObject({
        messageId: 'e1@test',
        timestamp: '2026-01-02T03:04:05.678Z',
        refToMessageId: 'm1@test',
        kinds: ['Error'],
        errors: [
          {
            code: 'EBMS:0009',
            severity: 'failure',
            category: 'Unpackaging',
            shortDescription: 'InvalidHeader',
            refToMessageInError: 'm1@test',
            detail: 'eb:MessageId missing',
          },
        ],
      });
    }
  });

  it('of a request that could not be read names no message', () => {
    const { refToMessageId: _, detail: __, ...bare } = signal;
    const [found] = readEnvelope(buildErrorSignal(bare).body, LIMITS).signals;
    expect(found).not.toHaveProperty('refToMessageId');
    expect(found!.errors[0]).not.toHaveProperty('refToMessageInError');
    expect(found!.errors[0]).not.toHaveProperty('detail');
  });

  it('never tells a sender that its message came before', () => {
    for (const [, entry] of withCode) {
      for (const detail of ['this is a duplicate', 'DUPLICATED', undefined]) {
        expect(
          buildErrorSignal({ ...signal, entry, ...(detail === undefined ? {} : { detail }) }).body.toString(),
        ).not.toMatch(/duplicat/i);
      }
    }
  });

  it('is not made for a code that has no ebMS Error', () => {
    expect(() => buildErrorSignal({ ...signal, entry: ERRORS.IN_PROGRESS })).toThrow('INTERNAL');
  });

  it('carries whatever the sender called its message, and XML cannot be smuggled in by it', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.oneof(
            fc.constantFrom('<', '>', '&', '"', "'", '\0', '\ud800', '\n', '\t', '\r', ']]>', '<!--', '\uffff'),
            fc.string({ minLength: 1, maxLength: 2 }),
          ),
          minLength: 1,
          maxLength: 12,
        }),
        (id) => {
          const read = readEnvelope(
            buildErrorSignal({ ...signal, refToMessageId: id, detail: `about ${id}` }).body,
            LIMITS,
          );
          const expected = id.replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\ufffd');
          expect(read.signals[0]!.refToMessageId).toBe(expected);
          expect(read.signals[0]!.errors[0]!.refToMessageInError).toBe(expected);
        },
      ),
    );
  });
});

describe.skipIf(!hasSchemas)('the schemas of the standards (needs ../shared/xsd)', () => {
  it('accept every ebMS Error of the table, with and without reference and detail, in both SOAP versions', () => {
    for (const [, entry] of withCode) {
      for (const soap of ['1.1', '1.2'] as const) {
        for (const more of [{}, { refToMessageId: 'm<1>@test' }, { detail: 'a & b' }]) {
          expect(
            invalidity(
              buildErrorSignal({ soap, entry, messageId: 'e1@test', timestamp: signal.timestamp, ...more }).body,
            ),
          ).toBeUndefined();
        }
      }
    }
  });

  it('would refuse one that lacks what they demand', () => {
    expect(
      invalidity(
        Buffer.from(
          buildErrorSignal(signal)
            .body.toString()
            .replace(/<eb:MessageId>.*<\/eb:MessageId>/, ''),
        ),
      ),
    ).toBeDefined();
  });
});
