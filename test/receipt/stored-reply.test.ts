import { randomBytes } from 'node:crypto';
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { As4OnceError } from '../../src/errors.js';
import { openReply, storeReply } from '../../src/receipt/stored-reply.js';

const store = (body: Uint8Array) => storeReply({ status: 200, contentType: 'application/soap+xml', body });

function refusal(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof As4OnceError) return error.code;
    throw error;
  }
  return 'none';
}

describe('storeReply and openReply', () => {
  it('give back the very bytes, whatever they are', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 4_096 }), (body) => Buffer.compare(openReply(store(body)), body) === 0));
    for (const size of [0, 1, 65_536, 1_048_576]) expect(Buffer.compare(openReply(store(randomBytes(size))), Buffer.alloc(0))).toBe(size === 0 ? 0 : 1);
  });

  it('give back a body that compresses as far as DEFLATE can', () => {
    const zeros = Buffer.alloc(1_048_576);
    expect(Buffer.compare(openReply(store(zeros)), zeros)).toBe(0);
  });

  it('keep status, Content-Type and the fields that are asked for, and nothing else', () => {
    const stored = storeReply({ status: 202, contentType: 'text/xml', headers: [['Message-ID', '<1>']], body: Buffer.from('x'), receiptId: 'r', signerSerial: '0A' });
    expect(stored).toMatchObject({ status: 202, contentType: 'text/xml', headers: [['Message-ID', '<1>']], length: 1, receiptId: 'r', signerSerial: '0A' });
    expect(store(Buffer.from('x'))).not.toHaveProperty('headers');
  });

  it('make a Receipt smaller', () => {
    const xml = Buffer.from('<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/>'.repeat(40));
    expect(store(xml).deflated.byteLength).toBeLessThan(xml.byteLength / 10);
  });
});

describe('openReply refuses what does not match its digest', () => {
  const body = Buffer.from('<Receipt/>'.repeat(100));
  const good = store(body);
  it.each([
    ['another body of the same length', { deflated: deflateRawSync(Buffer.from('<receipt/>'.repeat(100))) }],
    ['a shorter body', { deflated: deflateRawSync(body.subarray(0, 10)) }],
    ['a longer body', { deflated: deflateRawSync(Buffer.concat([body, body])) }],
    ['cut bytes', { deflated: good.deflated.subarray(0, good.deflated.byteLength >> 1) }],
    ['no bytes', { deflated: new Uint8Array() }],
    ['bytes that are no DEFLATE', { deflated: Buffer.from('ffffffff', 'hex') }],
    ['another digest', { sha256: '0'.repeat(64) }],
    ['a negative length', { length: -1 }],
    ['a broken length', { length: 1.5 }],
    ['a length that no such bytes can have', { length: 1e12 }],
  ])('%s', (_name, change) => {
    expect(refusal(() => openReply({ ...good, ...change }))).toBe('RECORD_UNREADABLE');
  });

  it('any flipped bit, or it makes no difference to the bytes', () => {
    fc.assert(
      fc.property(fc.nat(good.deflated.byteLength - 1), fc.nat(7), (at, bit) => {
        const deflated = Uint8Array.from(good.deflated);
        deflated[at] = (deflated[at] ?? 0) ^ (1 << bit);
        let opened: Uint8Array;
        try {
          opened = openReply({ ...good, deflated });
        } catch (error) {
          return error instanceof As4OnceError && error.code === 'RECORD_UNREADABLE';
        }
        return Buffer.compare(opened, body) === 0;
      }),
    );
  });

  it('a bomb is not inflated beyond the length it claims', () => {
    const bomb = deflateRawSync(Buffer.alloc(64 * 1_048_576));
    expect(refusal(() => openReply({ ...good, deflated: bomb, length: 1_000 }))).toBe('RECORD_UNREADABLE');
  });
});
