import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { as4Protocol } from '../../src/ebms/as4.js';
import { As4OnceError } from '../../src/errors.js';
import type { HeaderList } from '../../src/exchange.js';
import { LIMITS } from '../../src/limits.js';
import type { Limits } from '../../src/limits.js';
import type { Read, Reading } from '../../src/protocol.js';
import { RELATED, S11, cid, envelope, pack, signal, signalEnvelope, signature, userMessage } from './sample.js';

function open(contentType: string | undefined, headers: HeaderList = [], limits: Partial<Limits> = {}): Reading {
  const type: HeaderList = contentType === undefined ? [] : [['content-type', contentType]];
  return as4Protocol.open({ headers: [...type, ...headers], target: '/' }, { ...LIMITS, ...limits });
}

async function read(
  contentType: string | undefined,
  body: Uint8Array | string,
  headers: HeaderList = [],
  limits: Partial<Limits> = {},
): Promise<Read> {
  const reading = open(contentType, headers, limits);
  await reading.push(Buffer.from(body));
  return await reading.end();
}

async function refusal(...of: Parameters<typeof read>): Promise<string> {
  try {
    await read(...of);
  } catch (error) {
    if (error instanceof As4OnceError) return error.code;
    throw error;
  }
  return 'accepted';
}

const signedRoot = envelope({
  payloads: cid('a'),
  security: signature([
    ['#msg', 'AAAA'],
    ['cid:a', 'BBBB'],
  ]),
});

describe('the message', () => {
  it('is what the walk works on', async () => {
    expect(await read(RELATED, pack(signedRoot, ['a', 'content']))).toEqual({
      kind: 'message',
      bundled: false,
      message: {
        protocol: 'as4',
        reference: 'm1@test',
        signed: true,
        fingerprint: expect.stringMatching(/^signed:/),
        facts: {
          from: [{ value: 'alice', type: 'urn:t' }],
          to: [{ value: 'bob' }],
          c1: 'C1',
          c4: 'C4',
          service: 'service',
          serviceType: 'st',
          action: 'act',
          conversationId: 'c1',
          agreement: 'agreed',
          timestamp: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
        },
      },
    });
  });

  it('is signed only where the signature is over the header', async () => {
    const over = async (uri: string): Promise<unknown> => {
      const result = await read('application/soap+xml', envelope({ security: signature([[uri, 'AAAA']]) }));
      return result.kind === 'message' && result.message.signed;
    };
    expect([await over('#msg'), await over(''), await over('#body'), await over('#none')]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('facts are cut to a length that a record can bear; the reference never is', async () => {
    const result = await read('application/soap+xml', envelope({ action: 'x'.repeat(5_000) }));
    expect(result.kind === 'message' && result.message.facts.action).toHaveLength(1_024);
  });

  it('bundled with a signal says so; signals alone pass', async () => {
    expect(await read(RELATED, pack(envelope({ signals: signal('<eb:Receipt/>') })))).toMatchObject({
      kind: 'message',
      bundled: true,
    });
    for (const content of [
      '<eb:Receipt/>',
      '<eb:Error errorCode="EBMS:0004" severity="failure"/>',
      '<eb:PullRequest mpc="x"/>',
    ]) {
      expect(await read('application/soap+xml', signalEnvelope(content))).toEqual({ kind: 'pass' });
      expect(await read(RELATED, pack(signalEnvelope(content)))).toEqual({ kind: 'pass' });
    }
  });
});

describe('early', () => {
  it('the message is known when its root part is complete, the fingerprint too if the parts cannot change it', () => {
    const body = pack(signedRoot, ['a', 'x'.repeat(100_000)]);
    const rootEnd = body.indexOf('\r\n--B\r\nContent-Type: application/octet-stream');
    const reading = open(RELATED);
    void reading.push(body.subarray(0, rootEnd));
    expect(reading.early).toBeUndefined();
    void reading.push(body.subarray(rootEnd, rootEnd + 10));
    expect(reading.early).toMatchObject({
      kind: 'message',
      bundled: false,
      message: { reference: 'm1@test', fingerprint: expect.stringMatching(/^signed:/) },
    });
  });

  it('a plain message has its fingerprint at the end only', async () => {
    const body = pack(envelope({ payloads: cid('a') }), ['a', 'content']);
    const reading = open(RELATED);
    void reading.push(body.subarray(0, -5));
    expect(reading.early).toMatchObject({ message: { fingerprint: undefined } });
    void reading.push(body.subarray(-5));
    expect(await reading.end()).toMatchObject({ message: { fingerprint: expect.stringMatching(/^plain:/) } });
  });

  it('what was early is what is read in the end', async () => {
    const reading = open(RELATED);
    void reading.push(pack(signedRoot, ['a', 'x']));
    const early = reading.early;
    expect(await reading.end()).toEqual(early);
  });

  it('the sender can be answered in its SOAP version, by its head and then by its envelope, even when it is refused', () => {
    const reading = open(RELATED);
    expect(reading.answerIn).toEqual({ protocol: 'as4', soap: '1.2' });
    expect(open('text/xml; charset=utf-8').answerIn).toEqual({ protocol: 'as4', soap: '1.1' });
    expect(open('multipart/related; type="text/xml"; boundary=b').answerIn).toEqual({ protocol: 'as4', soap: '1.1' });
    expect(open('multipart/related; type="text/xml"').answerIn).toEqual({ protocol: 'as4', soap: '1.1' });
    void reading.push(pack(envelope({ soap: S11 })));
    expect(reading.answerIn).toEqual({ protocol: 'as4', soap: '1.1', messageId: 'm1@test' });
    const refused = open(RELATED);
    expect(() => refused.push(pack(envelope({ soap: S11, id: '' })))).toThrow('MESSAGE_ID_INVALID');
    expect(refused.answerIn).toEqual({ protocol: 'as4', soap: '1.1' });
  });
});

describe('media types', () => {
  it('bare SOAP under its types, and under an unknown or no type if that is what it is', async () => {
    for (const type of [
      'application/soap+xml; charset=UTF-8',
      'text/xml',
      'TEXT/XML;charset="utf-8"',
      'application/xml',
      'application/octet-stream',
      'nonsense',
      undefined,
    ]) {
      expect(await refusal(type, envelope())).toBe('accepted');
      expect(await refusal(type, `\ufeff \r\n${envelope({ soap: S11 })}`)).toBe('accepted');
    }
  });

  it('neither MIME nor SOAP is refused as such, before it was all read where it can be seen', async () => {
    for (const type of ['application/json', 'text/html', undefined]) {
      for (const body of ['{}', '<html><p></html>', '<html/>', '', '<'])
        expect(await refusal(type, body)).toBe('MEDIA_TYPE');
      expect(() => open(type).push(Buffer.from('{'))).toThrow('MEDIA_TYPE');
    }
    expect(await refusal('text/xml', '<order/>')).toBe('MEDIA_TYPE');
    expect(await refusal('multipart/form-data; boundary=B', pack(envelope()))).toBe('MEDIA_TYPE');
    expect(await refusal('application/soap+xml', envelope(), [['Content-Type', RELATED]])).toBe('MEDIA_TYPE');
    expect(await refusal('application/soap+xml', '<a')).toBe('XML_BROKEN');
    expect(await refusal('application/soap+xml', '')).toBe('XML_BROKEN');
  });

  it('an envelope without eb:Messaging is no AS4 message', async () => {
    expect(await refusal('application/soap+xml', envelope({ messaging: '' }))).toBe('HEADER_INVALID');
    expect(await refusal(RELATED, pack(envelope({ messaging: '' })))).toBe('HEADER_INVALID');
    expect(await refusal(RELATED, pack('<order/>'))).toBe('HEADER_INVALID');
    expect(await refusal(RELATED, '--B--')).toBe('MIME_BROKEN');
  });

  it('a charset that contradicts the bytes is refused', async () => {
    expect(await refusal('application/soap+xml; charset=iso-8859-1', envelope({ id: 'é@test' }))).toBe('XML_BROKEN');
    expect(await refusal('application/soap+xml; charset=iso-8859-1', envelope())).toBe('accepted');
  });
});

describe('bounds', () => {
  it('the root part, bare and in a package, is refused as soon as it is too long', async () => {
    const long = envelope({ body: `<a>${'x'.repeat(3_000)}</a>` });
    for (const [type, body] of [
      ['application/soap+xml', Buffer.from(long)],
      [RELATED, pack(long)],
    ] as const) {
      expect(await refusal(type, body, [], { rootPart: 2_000 })).toBe('ROOT_TOO_LARGE');
      expect(await refusal(type, body, [], { rootPart: 10_000 })).toBe('accepted');
      expect(() => open(type, [], { rootPart: 2_000 }).push(body.subarray(0, 2_500))).toThrow('ROOT_TOO_LARGE');
    }
  });

  it('a cut package is never keyed: no byte less than its closing boundary will do', async () => {
    const body = pack(signedRoot, ['a', 'content']);
    const whole = body.length - 2; // without the last CRLF it is whole
    for (let length = 0; length < whole; length++)
      expect(await refusal(RELATED, body.subarray(0, length))).toBe('MIME_BROKEN');
    expect(await refusal(RELATED, body.subarray(0, whole))).toBe('accepted');
  });
});

describe('Content-Encoding', () => {
  const gzip: HeaderList = [['Content-Encoding', 'gzip']];
  const body = pack(envelope({ payloads: cid('a') }), ['a', 'content'.repeat(20_000)]);

  it('gzip is undone for reading, whatever the split', async () => {
    const plain = await read(RELATED, body);
    const coded = gzipSync(body);
    for (const size of [1, 7, 1_000, coded.length]) {
      const reading = open(RELATED, [['content-encoding', 'X-GZip']]);
      for (let at = 0; at < coded.length; at += size) await reading.push(coded.subarray(at, at + size));
      expect(await reading.end()).toEqual(plain);
    }
  });

  it('a bomb is stopped at the bound of the body, one in the root part at the bound of the root part', async () => {
    const bomb = gzipSync(pack(envelope({ payloads: cid('a') }), ['a', '\0'.repeat(30_000_000)]));
    expect(bomb.length).toBeLessThan(40_000);
    expect(await refusal(RELATED, bomb, gzip, { maxBody: 1_000_000 })).toBe('BODY_TOO_LARGE');
    expect(await refusal(RELATED, bomb, gzip)).toBe('accepted');
    expect(
      await refusal('application/soap+xml', gzipSync(envelope({ body: `<a>${' '.repeat(30_000_000)}</a>` })), gzip),
    ).toBe('ROOT_TOO_LARGE');
  });

  it('cut or foreign bytes are refused', async () => {
    const coded = gzipSync(body);
    expect(await refusal(RELATED, coded.subarray(0, -1), gzip)).toBe('MIME_BROKEN');
    expect(await refusal(RELATED, coded.subarray(0, 20), gzip)).toBe('MIME_BROKEN');
    expect(await refusal(RELATED, body, gzip)).toBe('MIME_BROKEN');
    expect(await refusal(RELATED, '', gzip)).toBe('MIME_BROKEN');
  });

  it('what a reader refuses inside the coding is refused, and stays so', async () => {
    const reading = open(RELATED, gzip);
    const coded = gzipSync(pack(envelope({ id: '' })));
    await expect(Promise.resolve(reading.push(coded)).then(() => reading.end())).rejects.toThrow('MESSAGE_ID_INVALID');
    await expect(Promise.resolve(reading.push(coded))).rejects.toThrow('MESSAGE_ID_INVALID');
    await expect(reading.end()).rejects.toThrow('MESSAGE_ID_INVALID');
  });

  it('identity is none, others are refused', async () => {
    expect(await refusal(RELATED, body, [['content-encoding', 'identity']])).toBe('accepted');
    for (const coding of ['deflate', 'br', 'gzip, gzip'])
      expect(await refusal(RELATED, body, [['content-encoding', coding]])).toBe('CONTENT_CODING');
  });
});

it('every split of a package gives the same message', async () => {
  const body = pack(envelope({ payloads: cid('a', 'b') }), ['a', 'one\r\n--\r\n'], ['b', '']);
  const whole = await read(RELATED, body);
  for (let at = 0; at <= body.length; at++) {
    const reading = open(RELATED);
    await reading.push(body.subarray(0, at));
    await reading.push(body.subarray(at));
    expect(await reading.end()).toEqual(whole);
  }
});

it('a mutation is refused, or read as a message whose id stands in the bytes; never anything else', async () => {
  const body = pack(signedRoot, ['a', 'content']);
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(body.length - 1), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 3 }),
      async (changes) => {
        const bytes = Buffer.from(body);
        for (const [at, byte] of changes) bytes[at] = byte;
        try {
          const result = await read(RELATED, bytes);
          if (result.kind === 'message')
            expect(bytes.toString()).toContain(result.message.reference.replaceAll('&', '&amp;'));
        } catch (error) {
          expect(error).toBeInstanceOf(As4OnceError);
        }
      },
    ),
    { numRuns: 1_500 },
  );
});

it('a second UserMessage hidden behind a comment, CDATA or another header is not read', async () => {
  const hidden = userMessage({ id: 'evil@test' });
  for (const messaging of [
    `<!--${hidden.replaceAll('--', '')}--><eb:Messaging>${userMessage()}</eb:Messaging>`,
    `<x><![CDATA[${hidden}]]></x><eb:Messaging>${userMessage()}</eb:Messaging>`,
  ]) {
    expect(await read('application/soap+xml', envelope({ messaging }))).toMatchObject({
      message: { reference: 'm1@test' },
    });
  }
});
