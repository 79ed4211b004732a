import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { comparableId } from '../../src/mime/content-type.js';
import { LEGACY, NS } from '../../src/security/algorithms.js';
import { AttachmentDigest } from '../../src/security/attachment-digest.js';
import { certificateOf } from '../../src/security/certificate.js';
import { GcmStream, prepareDecryption, type Decryption } from '../../src/security/decrypt.js';
import { readSignature } from '../../src/security/signature.js';
import { resolveToken } from '../../src/security/token.js';
import { digestFits, signatureFits, verifyEnvelope } from '../../src/security/verify.js';
import { child, children } from '../../src/xml/tree.js';
import { corpus, keysIn, open, present, type Opened } from './corpus.js';

interface Check {
  readonly signatures?: readonly {
    readonly signatureValue: string;
    readonly key: string;
    readonly references: readonly { readonly uri: string; readonly status: string }[];
  }[];
  readonly decrypted?: readonly { readonly cid: string; readonly status: string; readonly size?: number; readonly sha256?: string; readonly gunzippedSha256?: string }[];
  readonly encryptedKeys?: readonly { readonly unwrappedWith?: string }[];
  readonly error?: string;
}
interface Entry {
  readonly contentType?: string;
  readonly verdict: string;
  readonly securityCheck?: Check;
}

const files: Record<string, Entry> = present
  ? (JSON.parse(readFileSync(join(corpus, 'expected.json'), 'utf8')) as { files: Record<string, Entry> }).files
  : {};
const keys = present ? keysIn(join(corpus, 'keys/pem')) : [];
const known = keys.map((k) => k.certificate);
const checked = Object.entries(files).filter(([, e]) => e.securityCheck !== undefined && e.securityCheck.error === undefined);

/** Signatures that are valid but leave eb:Messaging out: no proof of what is read. */
const PARTLY_SIGNED = new Set(['as4/phase4__TestReceipt11.xml']);

function decryptAll(opened: Opened, decryption: Decryption): Map<string, Buffer | undefined> {
  const plain = new Map<string, Buffer | undefined>();
  for (const [id, key] of decryption.attachments) {
    const part = opened.parts.get(id);
    if (part === undefined) continue;
    const stream = new GcmStream(key);
    // odd chunk sizes, so that IV and tag are cut in every way
    const out: Uint8Array[] = [];
    for (let at = 0; at < part.bytes.length; at += 4_093) out.push(stream.update(part.bytes.subarray(at, at + 4_093)));
    const last = stream.end();
    plain.set(id, last === undefined ? undefined : Buffer.concat([...out, last]));
  }
  return plain;
}

const statusesOf = (opened: Opened): { value: string; references: { uri: string; status: string }[] } => {
  const { envelope } = opened;
  const security = child(envelope.header ?? envelope.document.root, NS.wsse, 'Security');
  if (security === undefined) throw new Error('no security header');
  const [signature] = children(security, NS.ds, 'Signature');
  if (signature === undefined) throw new Error('no signature');
  const read = readSignature(signature, 100);
  if ('ok' in read) throw new Error(read.detail);
  const decryption = prepareDecryption(envelope, keys, LEGACY);
  const plain = decryption.ok ? decryptAll(opened, decryption) : new Map<string, Buffer | undefined>();
  const references = read.references.map((reference) => {
    const { uri, transform } = reference;
    if (transform === 'exclusive') {
      const target = envelope.document.ids.get(uri.slice(1));
      return { uri, status: target === undefined ? 'target not found' : digestFits(target, reference) ? 'ok' : 'MISMATCH' };
    }
    const id = comparableId(uri);
    const part = opened.parts.get(id);
    if (part === undefined) return { uri, status: 'attachment not in file' };
    const digest = new AttachmentDigest({ ...reference, transform, contentId: id }, part.type);
    digest.update(plain.get(id) ?? part.bytes);
    return { uri, status: digest.matches() ? 'ok(raw)' : 'MISMATCH' };
  });
  const token = resolveToken(read.keyInfo, { security, ids: envelope.document.ids, known });
  const value = typeof token === 'string' ? 'not checked' : signatureFits(read, token.certificate.publicKey) ? 'valid' : 'INVALID';
  return { value, references };
};

describe.skipIf(!present)('recorded messages of other products (needs ../shared/corpus)', () => {
  it('has files to check', () => {
    expect(checked.length).toBeGreaterThan(25);
  });

  it.each(checked.filter(([, e]) => (e.securityCheck?.signatures ?? []).length > 0))('signature of %s, digest by digest', (file, entry) => {
    const opened = open(readFileSync(join(corpus, file)), entry.contentType);
    const found = statusesOf(opened);
    const [wanted] = entry.securityCheck?.signatures ?? [];
    expect(found.references).toEqual(wanted?.references.map(({ uri, status }) => ({ uri, status })));
    expect(found.value).toBe(wanted?.signatureValue);
  });

  it.each(checked.filter(([, e]) => (e.securityCheck?.decrypted ?? []).length > 0))('decryption of %s', (file, entry) => {
    const opened = open(readFileSync(join(corpus, file)), entry.contentType);
    const ours = entry.securityCheck?.encryptedKeys?.some((k) => k.unwrappedWith !== undefined) ?? false;
    const decryption = prepareDecryption(opened.envelope, keys, LEGACY);
    expect(decryption.ok).toBe(ours);
    if (!decryption.ok) {
      expect(decryption.code).toBe('DECRYPTION_FAILED');
      return;
    }
    const plain = decryptAll(opened, decryption);
    for (const wanted of entry.securityCheck?.decrypted ?? []) {
      const found = plain.get(wanted.cid);
      if (wanted.status !== 'decrypted') {
        expect(found).toBeUndefined();
        continue;
      }
      if (found === undefined) throw new Error(`${wanted.cid} was not decrypted`);
      expect(found.length).toBe(wanted.size);
      expect(createHash('sha256').update(found).digest('hex')).toBe(wanted.sha256);
      if (wanted.gunzippedSha256 !== undefined) {
        expect(createHash('sha256').update(gunzipSync(found)).digest('hex')).toBe(wanted.gunzippedSha256);
      }
    }
  });

  const whole = checked.filter(([, e]) => (e.securityCheck?.signatures ?? []).length > 0);
  it.each(whole)('%s as a whole', (file, entry) => {
    const { envelope } = open(readFileSync(join(corpus, file)), entry.contentType);
    const [wanted] = entry.securityCheck?.signatures ?? [];
    const inEnvelope = wanted?.references.filter((r) => !r.uri.startsWith('cid:')) ?? [];
    const signer = certificateOf(envelope.signatures[0]?.certificate ?? new Uint8Array());
    const token = signer === undefined ? known : [signer];
    const options = { algorithms: LEGACY, unsignedEmptyBody: 'accept', trust: { anchors: token } } as const;
    // each certificate is judged within its own validity
    const answers = token.map((c) => verifyEnvelope(envelope, { ...options, now: c.notAfter - 1 }));
    const answer = answers.find((a) => a.ok) ?? answers.find((a) => !a.ok && !['expired', 'notYetValid'].includes(a.reason)) ?? answers[0];
    if (answer === undefined) throw new Error('no certificate');
    const good = wanted?.signatureValue === 'valid' && inEnvelope.every((r) => r.status === 'ok') && !PARTLY_SIGNED.has(file);
    if (answer.ok !== good) throw new Error(answer.ok ? 'accepted' : `${answer.reason}: ${answer.detail}`);
    if (!answer.ok) expect(['digest', 'dangling', 'signatureValue', 'token', 'referenceSet']).toContain(answer.reason);
  });
});
