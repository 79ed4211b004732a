import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEnvelope } from '../../src/ebms/envelope.js';
import { ERRORS } from '../../src/errors.js';
import { LIMITS } from '../../src/limits.js';
import { buildError } from '../../src/receipt/build-error.js';
import { buildReceipt, claimedReferences, receiptMessaging, type ReceiptValues } from '../../src/receipt/build-receipt.js';
import { compactCertificateId, compactReceipt, expandReceipt } from '../../src/receipt/compact-receipt.js';
import { TextPacker, TextUnpacker } from '../../src/receipt/compact-text.js';
import { DIGESTS, SHA256_DIGEST } from '../../src/security/algorithms.js';
import type { Certificate } from '../../src/security/certificate.js';
import { independentlyVerify } from '../../src/security/judge.js';
import { selfSigned } from '../../src/security/keys.js';
import { prepareEnvelope } from '../../src/security/sign.js';
import type { SignedReference } from '../../src/security/signature.js';
import { verifyEnvelope } from '../../src/security/verify.js';
import { canonicalize } from '../../src/xml/canonical.js';
import { corpus, open, present } from '../security/corpus.js';
import { hasSchemas, invalidity, libxml2Verdict } from '../security/oracle.js';

const identity = selfSigned('receiver');

const digest = (text: string): Uint8Array => createHash('sha256').update(text).digest();
const references: readonly SignedReference[] = [
  { uri: '#phase4-msg-7dd929c7-ded5-4413-be57-d21af2c87b69', transform: 'exclusive', prefixes: ['S12'], digestMethod: SHA256_DIGEST, hash: 'sha256', digest: digest('a') },
  { uri: '#id-8e8aa2d6-fa03-4c5d-aa46-2f569857df0a', transform: 'exclusive', prefixes: [], digestMethod: SHA256_DIGEST, hash: 'sha256', digest: digest('b') },
  { uri: 'cid:phase4-att-ff0f8ad5-f982-48ba-b8e2-26997600f496@cid', transform: 'attachmentContent', prefixes: [], digestMethod: SHA256_DIGEST, hash: 'sha256', digest: digest('c') },
];
const values: ReceiptValues = {
  soap: '1.2', messageId: '0f3f8ad5-f982-48ba-b8e2-26997600f4aa@as4-once', timestamp: '2026-11-30T23:59:59.123Z',
  refToMessageId: '17a7c374-efe3-41e2-ac0d-8a8f47529e47@phase4', references,
};

describe('a Receipt', () => {
  it('reads back as what it was built from, for both SOAP versions', async () => {
    for (const soap of ['1.1', '1.2'] as const) {
      const built = await buildReceipt({ ...values, soap }, identity);
      const envelope = readEnvelope(built.body, LIMITS);
      expect(envelope.soap).toBe(soap);
      expect(envelope.signals).toMatchObject([{ kinds: ['Receipt'], messageId: values.messageId, refToMessageId: values.refToMessageId, timestamp: values.timestamp }]);
      expect(envelope.signals[0]?.receipt?.nri).toEqual(references.map((r) => ({ uri: r.uri, digestMethod: r.digestMethod, digestValue: Buffer.from(r.digest).toString('base64') })));
      expect(built.contentType).toBe(soap === '1.1' ? 'text/xml;charset=UTF-8' : 'application/soap+xml;charset=UTF-8');
    }
  });

  it('is the same bytes for the same values', async () => {
    const [one, two] = await Promise.all([buildReceipt(values, identity), buildReceipt(values, identity)]);
    expect(one.body.equals(two.body)).toBe(true);
  });

  it('verifies here, with xml-crypto and with libxml2', async () => {
    for (const soap of ['1.1', '1.2'] as const) {
      const { body } = await buildReceipt({ ...values, soap, refToMessageId: 'a&b<c>"d\u00fc\u{1F600}@x' }, identity);
      const answer = verifyEnvelope(readEnvelope(body, LIMITS), { trust: { anchors: [identity.certificate] }, now: identity.certificate.notBefore + 1 });
      expect(answer).toMatchObject({ ok: true });
      const judgement = independentlyVerify(body);
      expect(judgement).toMatchObject({ ok: true, reason: '', unchecked: [], signed: { kind: 'Receipt', refToMessageId: 'a&b<c>"d\u00fc\u{1F600}@x' } });
      expect(judgement.signed?.acknowledged.map((a) => a.uri)).toEqual(references.map((r) => r.uri));
      expect(libxml2Verdict(body)).toBeUndefined();
    }
  });

  it('is written in canonical form, so that what is hashed is what stands there', async () => {
    const { body } = await buildReceipt(values, identity);
    const { messaging, document } = readEnvelope(body, LIMITS);
    if (messaging === undefined) throw new Error('no eb:Messaging');
    expect(canonicalize(messaging)).toBe(receiptMessaging(values));
    expect(body.toString()).toContain(canonicalize(messaging));
    expect(document.root.local).toBe('Envelope');
  });

  it.skipIf(!hasSchemas)('is valid against the schemas of the standards (needs ../shared/xsd)', async () => {
    for (const soap of ['1.1', '1.2'] as const) {
      expect(invalidity((await buildReceipt({ ...values, soap }, identity)).body)).toBeUndefined();
    }
    const broken = (await buildReceipt(values, identity)).body.toString().replace('<eb:Timestamp>', '<eb:Timestamp>x');
    expect(invalidity(Buffer.from(broken))).toContain('Timestamp');
  });

  it.skipIf(!present)('for an unsigned message holds a copy of it (AS4 5.1.8 a; needs ../shared/corpus)', async () => {
    const file = 'as4/eessi__BizTalkUserMessage.xml';
    const { envelope } = open(readFileSync(join(corpus, file)), undefined);
    const userMessage = envelope.userMessage?.element;
    if (userMessage === undefined) throw new Error('no UserMessage');
    const { body } = await buildReceipt({ ...values, references: [], userMessage }, identity);
    expect(libxml2Verdict(body)).toBeUndefined();
    expect(independentlyVerify(body)).toMatchObject({ ok: true });
    // AS4 asks for the copy, but the ebMS schema allows nothing of its own namespace within eb:Receipt
    expect(invalidity(body)).toContain('UserMessage');
    expect(body.toString()).toContain(envelope.userMessage?.messageId);
    await expect(buildReceipt({ ...values, references: [] }, identity)).rejects.toThrow(/needs references/);
  });

  it.skipIf(!present)('repeats the references of real messages (needs ../shared/corpus)', async () => {
    for (const name of ['phase4-a-peppol-10k', 'holodeck-sign-3payloads', 'oxalis-ng-peppol-invoice']) {
      const folder = join(corpus, 'live', name);
      const wanted = JSON.parse(readFileSync(join(corpus, 'live/expected.json'), 'utf8')) as Record<string, { contentType: string }>;
      const { envelope } = open(readFileSync(join(folder, 'request.mime')), wanted[name]?.contentType);
      const { body } = await buildReceipt({ ...values, references: claimedReferences(envelope) }, identity);
      const nri = readEnvelope(body, LIMITS).signals[0]?.receipt?.nri;
      expect(nri).toEqual(envelope.signatures[0]?.references);
      const theirs = readEnvelope(readFileSync(join(folder, 'response.xml')), LIMITS).signals[0]?.receipt?.nri;
      expect(nri?.map((r) => r.digestValue).sort()).toEqual(theirs?.map((r) => r.digestValue).sort());
      expect(invalidity(body)).toBeUndefined();
    }
  });
});

describe('an Error', () => {
  const error = { soap: '1.2', entry: ERRORS.DECRYPTION_FAILED, messageId: 'e@as4-once', timestamp: values.timestamp } as const;

  it('is signed, valid and says what it is about', async () => {
    const { body } = await buildError({ ...error, refToMessageId: 'm"<&>@x', detail: 'a\u0000\ud800<b>' }, identity);
    const { signals } = readEnvelope(body, LIMITS);
    expect(signals).toMatchObject([{ kinds: ['Error'], refToMessageId: 'm"<&>@x', errors: [{ code: 'EBMS:0102', severity: 'failure', refToMessageInError: 'm"<&>@x' }] }]);
    expect(independentlyVerify(body)).toMatchObject({ ok: true, signed: { kind: 'Error' } });
    expect(libxml2Verdict(body)).toBeUndefined();
    if (hasSchemas) expect(invalidity(body)).toBeUndefined();
  });

  it('needs no reference, never says that a message is a repetition, and has an ebMS code', async () => {
    const { body } = await buildError({ ...error, soap: '1.1', detail: 'Duplicate of x' }, identity);
    expect(body.toString()).not.toMatch(/duplicat/i);
    if (hasSchemas) expect(invalidity(body)).toBeUndefined();
    await expect(buildError({ ...error, entry: ERRORS.IN_PROGRESS }, identity)).rejects.toThrow(/no ebMS|has none/);
  });
});

describe('a compact Receipt', () => {
  it('gives the same bytes again and is small', async () => {
    const built = await buildReceipt(values, identity);
    const compact = compactReceipt(values, built, identity.certificate);
    if (compact === undefined) throw new Error('not compact');
    expect(compact.length).toBeLessThanOrEqual(520);
    const expanded = expandReceipt(compact, (id) => (id === compactCertificateId(identity.certificate) ? identity.certificate : undefined));
    expect(expanded.body.equals(built.body)).toBe(true);
    expect(expanded).toMatchObject({ contentType: built.contentType, receiptId: values.messageId });
  });

  it.skipIf(!present)('is small for the messages of every recorded product (needs ../shared/corpus)', async () => {
    const wanted = JSON.parse(readFileSync(join(corpus, 'live/expected.json'), 'utf8')) as Record<string, { contentType: string; messageId: string }>;
    for (const name of ['phase4-a-peppol-10k', 'holodeck-signenc-gzip-1payload', 'oxalis-ng-peppol-invoice']) {
      const { envelope } = open(readFileSync(join(corpus, 'live', name, 'request.mime')), wanted[name]?.contentType);
      const live = { ...values, references: claimedReferences(envelope), refToMessageId: wanted[name]?.messageId ?? '' };
      const compact = compactReceipt(live, await buildReceipt(live, identity), identity.certificate);
      expect(compact?.length, name).toBeLessThanOrEqual(520);
    }
  });

  it('is refused when damaged, whatever octet it is', async () => {
    const compact = compactReceipt(values, await buildReceipt(values, identity), identity.certificate);
    if (compact === undefined) throw new Error('not compact');
    const find = (id: string): Certificate | undefined => (id === compactCertificateId(identity.certificate) ? identity.certificate : undefined);
    for (let at = 0; at < compact.length; at++) {
      const damaged = Uint8Array.from(compact);
      damaged[at] = (damaged[at] ?? 0) ^ 0x41;
      expect(() => expandReceipt(damaged, find), `octet ${at}`).toThrow(/RECORD_UNREADABLE|Invalid/);
    }
    for (let at = 0; at < compact.length; at++) {
      expect(() => expandReceipt(compact.subarray(0, at), () => identity.certificate)).toThrow(/RECORD_UNREADABLE/);
    }
  });

  it('asks for the certificate that signed, which a changed key does not replace', async () => {
    const compact = compactReceipt(values, await buildReceipt(values, identity), identity.certificate);
    const later = selfSigned('receiver');
    expect(() => expandReceipt(compact ?? new Uint8Array(), () => undefined)).toThrow(/not kept/);
    expect(() => expandReceipt(compact ?? new Uint8Array(), () => later.certificate)).toThrow(/not the one/);
  });

  it('is not made where it would not give the same bytes', async () => {
    const odd = { ...values, timestamp: '2026-11-30T23:59:59Z' };
    expect(compactReceipt(odd, await buildReceipt(odd, identity), identity.certificate)).toBeUndefined();
  });

  it('version 1 is held fast: its bytes may never change, since stored Receipts are built with it', () => {
    const certificate = { der: Buffer.from('not a certificate, but the same octets for ever') } as unknown as Certificate;
    const bytes = (['1.1', '1.2'] as const).map((soap) => {
      const odd = { ...values, soap, references: [...references, ...[...DIGESTS].map(([digestMethod, hash]) => ({ ...references[0]!, digestMethod, hash, digest: Buffer.alloc(8) }))] };
      return prepareEnvelope(soap, receiptMessaging(odd), certificate).assemble(Buffer.from('signature'));
    });
    expect(createHash('sha256').update(Buffer.concat(bytes)).digest('hex')).toMatchInlineSnapshot(`"dc385e5edead9ffabb6a2b8b265954badd1d190677b06d2496f7be44f3fce82c"`);
    const packer = new TextPacker();
    const first = packer.pack('#phase4-msg-7dd929c7-ded5-4413-be57-d21af2c87b69@as4-once \u00fc cid:payload_-1853158932-971c-4712-8e0c-36eff1f213cd@a.eu');
    expect(Buffer.from(first).toString('hex')).toMatchInlineSnapshot(`"80017dd929c7ded54413be57d21af2c87b6986200402c3bc2085952d020a185315893203971c47128e0c36eff1f213cd89619a"`);
    expect(Buffer.from(packer.pack('#id-7dd929c7-ded5-4413-be57-d21af2c87b69@x')).toString('hex')).toMatchInlineSnapshot(`"84050c2578"`);
  });
});

describe('packed text', () => {
  it('comes back exactly', () => {
    const piece = fc.oneof(
      fc.uuid(), fc.string({ unit: 'grapheme', maxLength: 80 }), fc.string({ maxLength: 30 }), fc.string({ unit: fc.constantFrom(...'0123456789abcdef'), maxLength: 300 }), fc.constantFrom('#phase4-msg-', '@cid', 'cid:', '-', ' xsd xsi', '\u{1F600}'.repeat(70)),
    );
    fc.assert(fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const [packer, unpacker] = [new TextPacker(), new TextUnpacker()];
      for (const text of [...pieces, pieces.join('')]) {
        expect(unpacker.unpack(packer.pack(text))).toBe(text);
      }
    }), { numRuns: 2_000 });
  });

  it('never fails on other bytes, but may say that it cannot', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      const text = new TextUnpacker().unpack(bytes);
      expect(text === undefined || typeof text === 'string').toBe(true);
    }), { numRuns: 2_000 });
  });
});
