import { X509Certificate } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readEnvelope } from '../../src/ebms/envelope.js';
import { LIMITS } from '../../src/limits.js';
import { STRICT } from '../../src/security/algorithms.js';
import { AttachmentDigest } from '../../src/security/attachment-digest.js';
import { GcmStream, prepareDecryption } from '../../src/security/decrypt.js';
import { independentlyVerify } from '../../src/security/judge.js';
import type { Trust } from '../../src/security/trust.js';
import { verifyEnvelope, type VerifyOptions } from '../../src/security/verify.js';
import { certificateIn, corpus, keysIn, open, present, type Opened } from './corpus.js';

/** Messages and answers recorded from phase4, Holodeck and Oxalis, verified and decrypted with the keys made for them. */

const live = join(corpus, 'live');
const expected = present
  ? (JSON.parse(readFileSync(join(live, 'expected.json'), 'utf8')) as Record<string, { contentType: string; cidDigests: string[] }>)
  : {};
/** Ed25519 and X25519: read and fingerprinted, but not verified. */
const OTHER_ALGORITHMS = 'phase4-g-edelivery2-eddsa-x25519';
/** The recordings in which something is wrong on purpose. */
const WRONG: Readonly<Record<string, string>> = {
  'holodeck-badsig-new-id': 'signatureValue',
  'holodeck-poison-1-corrupt': 'attachment',
  'holodeck-tampered-payload-new-id': 'attachment',
};
const names = Object.keys(expected).filter((n) => n !== OTHER_ALGORITHMS);
const products = ['phase4', 'holodeck', 'oxalis'] as const;
const productOf = (name: string): (typeof products)[number] => products.find((p) => name.startsWith(p)) ?? 'phase4';

const trusts = new Map<string, Trust>();
function trustOf(name: string): Trust {
  const product = productOf(name);
  const folder = join(live, 'pki', product);
  const anchors = product === 'oxalis' ? ['ap.cert.pem'] : product === 'phase4' ? ['ca.crt.pem'] : ['ca.cert.pem'];
  const trust = trusts.get(product) ?? { anchors: anchors.map((f) => certificateIn(join(folder, f))) };
  trusts.set(product, trust);
  return trust;
}
const keysOf = (name: string): ReturnType<typeof keysIn> => keysIn(join(live, 'pki', productOf(name)));
const now = Date.UTC(2026, 11, 2);

function verdict(name: string, opened: Opened, options: Partial<VerifyOptions> = {}): string {
  const keys = keysOf(name);
  const answer = verifyEnvelope(opened.envelope, { trust: trustOf(name), now, known: keys.map((k) => k.certificate), ...options });
  if (!answer.ok) return `${answer.reason}: ${answer.detail}`;
  const decryption = prepareDecryption(opened.envelope, keys, STRICT);
  if (!decryption.ok) return decryption.detail;
  for (const reference of answer.attachments) {
    const part = opened.parts.get(reference.contentId);
    const key = decryption.attachments.get(reference.contentId);
    if (part === undefined) return 'attachment: missing';
    const digest = new AttachmentDigest(reference, key?.mimeType ?? part.type);
    if (key === undefined) {
      digest.update(part.bytes);
    } else {
      const stream = new GcmStream(key);
      const begun = stream.update(part.bytes);
      const last = stream.end();
      if (last === undefined) return 'attachment: cannot be decrypted';
      const plain = Buffer.concat([begun, last]);
      if (key.mimeType === 'application/gzip') expect(gunzipSync(plain).length).toBeGreaterThan(0);
      digest.update(plain);
    }
    if (!digest.matches()) return `attachment: ${reference.uri} differs`;
  }
  return 'ok';
}

describe.skipIf(!present)('recorded exchanges (needs ../shared/corpus/live)', () => {
  it.each(names)('%s: the request', (name) => {
    const opened = open(readFileSync(join(live, name, 'request.mime')), expected[name]?.contentType);
    expect(verdict(name, opened).split(':')[0]).toBe(WRONG[name] ?? 'ok');
    const judgement = independentlyVerify(opened.root);
    expect(judgement.ok).toBe(WRONG[name] !== 'signatureValue');
    expect(judgement.unchecked).toHaveLength(opened.envelope.userMessage?.payloads.filter((p) => p.href?.startsWith('cid:')).length ?? -1);
    if (judgement.ok) expect(judgement.signed?.messageId).toBe(opened.envelope.userMessage?.messageId);
  });

  it.each(names.filter((n) => existsSync(join(live, n, 'response.xml'))))('%s: the answer', (name) => {
    const bytes = readFileSync(join(live, name, 'response.xml'));
    if (bytes.length === 0) return;
    const envelope = readEnvelope(bytes, LIMITS);
    const known = keysOf(name).map((k) => k.certificate);
    const answer = verifyEnvelope(envelope, { trust: trustOf(name), now, known });
    const judgement = independentlyVerify(bytes);
    if (envelope.signatures.length === 0) {
      expect(answer).toMatchObject({ ok: false, reason: 'unsigned' });
      expect(judgement.ok).toBe(false);
    } else {
      expect(answer).toMatchObject({ ok: true });
      expect(judgement).toMatchObject({ ok: true, signed: { messageId: envelope.signals[0]?.messageId } });
    }
  });

  it('all messages of the load set, with the signer named in From', () => {
    const folder = join(live, 'phase4-many');
    const files = readdirSync(folder).filter((f) => f.endsWith('.mime'));
    expect(files.length).toBeGreaterThan(50);
    const apA = certificateIn(join(live, 'pki/phase4/ap-a.crt.pem')).subject.commonName;
    for (const file of files) {
      const opened = open(readFileSync(join(folder, file)), readFileSync(join(folder, file.replace(/\.mime$/, '.ct')), 'utf8').trim());
      const party = opened.envelope.userMessage?.from.ids[0]?.value === apA ? 'commonName' : 'any';
      expect(verdict('phase4', opened, { party }), file).toBe('ok');
    }
  });

  it('Ed25519 signatures are refused as an algorithm that no P-Mode here allows', () => {
    const opened = open(readFileSync(join(live, OTHER_ALGORITHMS, 'request.mime')), expected[OTHER_ALGORITHMS]?.contentType);
    expect(verifyEnvelope(opened.envelope, { trust: trustOf('phase4'), now })).toMatchObject({ ok: false, reason: 'algorithm', code: 'POLICY_FAILED' });
  });

  it('the judge insists on the certificate it is given', () => {
    const bytes = readFileSync(join(live, 'phase4-a-peppol-10k/response.xml'));
    const [own, other] = ['ap-b', 'ap-a'].map((n) => new X509Certificate(readFileSync(join(live, `pki/phase4/${n}.crt.pem`))));
    expect(independentlyVerify(bytes, own)).toMatchObject({ ok: true });
    expect(independentlyVerify(bytes, other)).toMatchObject({ ok: false, reason: expect.stringContaining('another certificate') as string });
  });
});
