import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../src/ebms/answer.js';
import { LIMITS } from '../../src/limits.js';
import { RELATED, S11, envelope, pack, receipt, signalEnvelope } from './sample.js';

const answer = signalEnvelope(receipt([['cid:a', 'AAAA']]));
const of = (contentType: string | undefined, body: string | Uint8Array): string | undefined =>
  readAnswer(contentType, Buffer.from(body), LIMITS)?.signals[0]?.refToMessageId;

describe('answers of access points', () => {
  it('bare SOAP, whatever the Content-Type says or leaves out', () => {
    for (const type of ['application/soap+xml;charset=UTF-8', 'text/xml', undefined, 'text/html', 'nonsense', ''])
      expect(of(type, answer)).toBe('m0@test');
    expect(of(undefined, `\ufeff${signalEnvelope('<eb:Receipt/>', S11)}`)).toBe('m0@test');
  });

  it('multipart: the same live peer sends it one moment and bare SOAP the next', () => {
    for (const type of [RELATED, 'multipart/related; boundary=B', undefined, 'text/plain'])
      expect(of(type, pack(answer))).toBe('m0@test');
    expect(of('multipart/related', pack(answer))).toBe('m0@test');
  });

  it("IBM's Content-ID without brackets, and a start that names a later part", () => {
    const parts = (id: string): string =>
      `--B\r\nContent-ID: <other>\r\n\r\nnot it\r\n--B\r\nContent-ID: ${id}\r\n\r\n${answer}\r\n--B--`;
    expect(of(`${RELATED}; start="<root>"`, parts('root'))).toBe('m0@test');
    expect(of(RELATED, parts('root'))).toBeUndefined();
  });

  it('a Receipt that copies the UserMessage with an Id that the Receipt itself carries', () => {
    const copy = signalEnvelope('<eb:Receipt><x:c xmlns:x="urn:x" u:Id="body"/></eb:Receipt>');
    expect(of('application/soap+xml', copy)).toBe('m0@test');
  });

  it('a SOAP Fault without signal is an envelope without signals', () => {
    const fault = readAnswer(
      'application/soap+xml',
      Buffer.from(envelope({ messaging: '', body: '<s:Fault><s:Reason><s:Text>no</s:Text></s:Reason></s:Fault>' })),
      LIMITS,
    );
    expect(fault).toMatchObject({ fault: 'no', signals: [] });
  });

  it('HTML, JSON, text, nothing, half an envelope: no envelope', () => {
    for (const body of [
      '',
      ' ',
      '<html><body>502 Bad Gateway</body></html>',
      '<!DOCTYPE html><html/>',
      '{"error":1}',
      'no',
      answer.slice(0, -1),
      pack(answer).subarray(0, -6),
    ]) {
      for (const type of ['application/soap+xml', 'text/html', RELATED, undefined])
        expect(readAnswer(type, Buffer.from(body), LIMITS)).toBeUndefined();
    }
  });

  it('never throws', () => {
    const good = pack(answer);
    fc.assert(
      fc.property(
        fc.nat(good.length - 1),
        fc.integer({ min: 0, max: 255 }),
        fc.string({ maxLength: 20 }),
        (at, byte, type) => {
          const bytes = Buffer.from(good);
          bytes[at] = byte;
          readAnswer(RELATED, bytes, LIMITS);
          readAnswer(`multipart/${type}`, bytes, LIMITS);
          readAnswer(type, Buffer.from(type), LIMITS);
        },
      ),
      { numRuns: 500 },
    );
  });
});
