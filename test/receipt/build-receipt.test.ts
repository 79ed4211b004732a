import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEnvelope } from '../../src/ebms/envelope.js';
import { ERRORS } from '../../src/errors.js';
import { LIMITS } from '../../src/limits.js';
import { buildError } from '../../src/receipt/build-error.js';
import { buildReceipt, claimedReferences, receiptMessaging, type ReceiptValues } from '../../src/receipt/build-receipt.js';
import { SHA256_DIGEST } from '../../src/security/algorithms.js';
import { independentlyVerify } from '../../src/security/judge.js';
import { selfSigned } from '../../src/security/keys.js';
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

describe('signing', () => {
  it('leaves the event loop free: it goes round many times while twenty Receipts are signed', async () => {
    let turns = 0;
    let signing = true;
    const turn = (): void => {
      turns += 1;
      if (signing) setImmediate(turn);
    };
    setImmediate(turn);
    await Promise.all(Array.from({ length: 20 }, () => buildReceipt(values, identity)));
    signing = false;
    expect(turns).toBeGreaterThan(20);
  });
});
