import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe as suite, expect, it } from 'vitest';
import { describe, inspect } from '../../src/ebms/describe.js';
import type { Described } from '../../src/ebms/describe.js';
import { epochOf } from '../../src/ebms/xs-date-time.js';
import { LIMITS } from '../../src/limits.js';
import { RELATED, S12, cid, envelope, pack, receipt, signal, signalEnvelope, signature } from './sample.js';

const of = (bytes: string | Uint8Array, contentType?: string): Described => {
  const description = describe(Buffer.from(bytes), contentType, LIMITS);
  expect(description).toMatchObject({ verdict: 'parse' });
  return description as Described;
};
const stored = pack(
  envelope({
    payloads: cid('a'),
    security: signature([
      ['#msg', 'AAAA'],
      ['cid:a', 'BBBB'],
    ]),
  }),
  ['a', 'content'],
);

suite('a stored message', () => {
  it('is described with all that is read of it', () => {
    const root = stored.subarray(
      stored.indexOf('<s:Envelope'),
      stored.indexOf('\r\n--B\r\nContent-Type: application/octet'),
    );
    const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
    expect(of(stored, RELATED)).toEqual({
      verdict: 'parse',
      wellFormed: true,
      soapVersion: '1.2',
      rootElement: 'Envelope',
      rootNamespace: S12,
      messagingHeaders: 1,
      bodyHasPayload: false,
      contentType: RELATED,
      boundary: 'B',
      typeParam: 'application/soap+xml',
      mimeClosed: true,
      preambleBytes: 0,
      rootPart: 0,
      parts: [
        { contentType: 'application/soap+xml; charset=UTF-8', size: root.length, sha256: sha256(root) },
        { contentId: '<a>', contentType: 'application/octet-stream', size: 7, sha256: sha256('content') },
      ],
      messages: [
        {
          type: 'UserMessage',
          messageId: 'm1@test',
          timestamp: '2026-01-02T03:04:05.678Z',
          from: { ids: [{ value: 'alice', type: 'urn:t' }], role: 'r1' },
          to: { ids: [{ value: 'bob' }], role: 'r2' },
          agreementRef: { value: 'agreed', pmode: 'p' },
          service: { value: 'service', type: 'st' },
          action: 'act',
          conversationId: 'c1',
          messageProperties: [
            ['originalSender', 'C1'],
            ['finalRecipient', 'C4'],
          ],
          payloads: [{ href: 'cid:a' }],
        },
      ],
      signatures: [
        {
          signatureMethod: 'rsa',
          c14n: 'c14n',
          signatureValue: 'AA==',
          references: [
            { uri: '#msg', digestMethod: 'http://www.w3.org/2001/04/xmlenc#sha256', digestValue: 'AAAA' },
            { uri: 'cid:a', digestMethod: 'http://www.w3.org/2001/04/xmlenc#sha256', digestValue: 'BBBB' },
          ],
        },
      ],
      fingerprint: expect.stringMatching(/^signed:/),
    });
  });

  it('comes with its HTTP head, chunked and coded, or after a tool undid the codings but kept the head', () => {
    const chunked = Buffer.concat([
      Buffer.from('5;x=y\r\n'),
      stored.subarray(0, 5),
      Buffer.from(`\r\n${(stored.length - 5).toString(16)}\r\n`),
      stored.subarray(5),
      Buffer.from('\r\n0\r\nT: r\r\n\r\n'),
    ]);
    const coded = gzipSync(stored);
    const files: [string, Buffer][] = [
      [`POST /as4 HTTP/1.1\r\nHost: x\r\nContent-Type: ${RELATED}`, stored],
      [`Content-Type: multipart/related;\r\n boundary=B`, stored],
      [`HTTP/1.1 200 OK\r\ncontent-type: ${RELATED}\r\nTransfer-Encoding: chunked`, chunked],
      [`HTTP/1.1 200 OK\r\ncontent-type: ${RELATED}\r\nTransfer-Encoding: chunked`, stored],
      [`POST / HTTP/1.1\r\nContent-Type: ${RELATED}\r\nContent-Encoding: gzip`, coded],
      [`POST / HTTP/1.1\r\nContent-Type: ${RELATED}\r\nContent-Encoding: gzip`, stored],
      // recorders write interim responses too, and editors put a byte order mark in front; the package was then taken for none
      [`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-type: ${RELATED}`, stored],
      [`\ufeff\r\n\nHTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK\ncontent-type: ${RELATED}`, stored],
      [`\r\n\r\nPOST / HTTP/1.1\r\nContent-Type: ${RELATED}`, stored],
    ];
    for (const [head, body] of files) {
      const file = Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body]);
      expect(of(file)).toMatchObject({ boundary: 'B', fingerprint: of(stored, RELATED).fingerprint });
      expect(of(file, RELATED)).toMatchObject({ boundary: 'B' });
    }
  });

  it('without a media type is a package if its first line is a boundary, colons in it or not', () => {
    // CXF's boundaries look like a header field: "--uuid:ab4d…" was once taken for the head of an HTTP request.
    for (const boundary of ['uuid:ab4d-1', '=_"x\\"', '----=_Part_0_1.2']) {
      const bytes = Buffer.from(stored.toString().replaceAll('--B', () => `--${boundary}`));
      expect(of(bytes)).toMatchObject({ boundary, typeParam: 'application/soap+xml' });
      expect(of(Buffer.concat([Buffer.from('\ufeff\r\n'), bytes]))).toMatchObject({ boundary, preambleBytes: 5 });
    }
  });

  it('that is refused says why, with the code', () => {
    expect(describe(stored.subarray(0, -6), RELATED, LIMITS)).toEqual({
      verdict: 'reject',
      code: 'MIME_BROKEN',
      reason: 'closing boundary missing after part 1',
    });
    expect(describe(Buffer.from('{}'), undefined, LIMITS)).toMatchObject({ verdict: 'reject', code: 'MEDIA_TYPE' });
    expect(describe(Buffer.from(envelope({ messaging: '' })), undefined, LIMITS)).toMatchObject({
      verdict: 'reject',
      code: 'HEADER_INVALID',
    });
    expect(describe(Buffer.alloc(0), undefined, LIMITS)).toMatchObject({ verdict: 'reject' });
    expect(
      describe(Buffer.from('Content-Type: text/xml\r\nContent-Encoding: br\r\n\r\n<a/>'), undefined, LIMITS),
    ).toMatchObject({ verdict: 'reject', code: 'CONTENT_CODING' });
  });

  it('a gzip bomb in a stored file is stopped at the bound of the body', () => {
    const file = Buffer.concat([
      Buffer.from('Content-Type: text/xml\r\nContent-Encoding: gzip\r\n\r\n'),
      gzipSync(Buffer.alloc(3_000_000)),
    ]);
    expect(describe(file, undefined, { ...LIMITS, maxBody: 1_000_000 })).toMatchObject({
      verdict: 'reject',
      code: 'BODY_TOO_LARGE',
    });
  });

  it('signals: Receipt with references, Errors, PullRequest', () => {
    expect(of(signalEnvelope(receipt([['cid:a', 'AAAA']]))).messages).toEqual([
      {
        type: 'SignalMessage',
        messageId: 's1@test',
        timestamp: '2026-01-02T03:04:05Z',
        refToMessageId: 'm0@test',
        kinds: ['Receipt'],
        receipt: { nonRepudiation: true, copyOfUserMessage: false, references: [{ uri: 'cid:a', digest: 'AAAA' }] },
      },
    ]);
    expect(of(signalEnvelope('<eb:PullRequest mpc="m"/>')).messages).toMatchObject([
      { kinds: ['PullRequest'], mpc: 'm' },
    ]);
    expect(of(signalEnvelope('<eb:Error errorCode="EBMS:0004" severity="failure"/>'))).not.toHaveProperty(
      'fingerprint',
    );
  });

  it('units come in document order, and the message for the walk beside them', () => {
    const bytes = Buffer.from(envelope({ signals: signal('<eb:Receipt/>') }));
    const { description, message, bundled } = inspect(bytes, undefined, LIMITS);
    expect((description as Described).messages.map((m) => m.type)).toEqual(['SignalMessage', 'UserMessage']);
    expect([message?.reference, bundled]).toEqual(['m1@test', true]);
    expect(inspect(Buffer.from(signalEnvelope('<eb:Receipt/>')), undefined, LIMITS)).not.toHaveProperty('message');
  });

  it('ids are shown without the blanks around them, with a warning', () => {
    const { description, message } = inspect(Buffer.from(envelope({ id: '\n m1@test ' })), undefined, LIMITS);
    expect(description).toMatchObject({
      messages: [{ messageId: 'm1@test' }],
      warnings: ['MessageId has white space around it, which is not part of it'],
    });
    expect(message!.reference).toBe('m1@test');
  });
});

it('xs:dateTime in every precision and zone; what is none has no time', () => {
  const at = Date.UTC(2016, 8, 7, 6, 23, 49);
  expect(epochOf('2016-09-07T06:23:49.8575025Z')).toBe(at + 857);
  expect(epochOf('2026-11-30T22:44:42.5Z')).toBe(Date.UTC(2026, 10, 30, 22, 44, 42, 500));
  expect(epochOf('2016-09-07T06:23:49')).toBe(at);
  expect(epochOf(' 2016-09-07T08:23:49+02:00\n')).toBe(at);
  for (const value of ['', 'yesterday', '2016-09-07', '2016-13-07T06:23:49Z', '2016-09-07T06:23:49 Z'])
    expect(epochOf(value)).toBeUndefined();
});
