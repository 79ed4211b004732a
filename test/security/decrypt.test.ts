import { constants, createCipheriv, privateDecrypt, publicEncrypt, randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../src/limits.js';
import { LEGACY, STRICT, type AlgorithmPolicy } from '../../src/security/algorithms.js';
import { decryptBody, GcmStream, prepareDecryption, type AttachmentKey, type Decryption } from '../../src/security/decrypt.js';
import { verifyEnvelope } from '../../src/security/verify.js';
import { as4Message, identity } from '../support/messages.js';
import { open, type Opened } from './corpus.js';
import { options, ours, sender } from './forge.js';

const receiver = identity('POP000002');
const keys = [ours(receiver)];
const PAYLOAD = Buffer.from('payload '.repeat(5_000));

function message(tamper: (e: string) => string = (e) => e, tamperParts?: (bytes: Buffer) => Buffer): Opened {
  const built = as4Message({
    signer: sender, receiver: receiver.certificate, compress: true, payloads: [PAYLOAD],
    plan: { tamper, ...(tamperParts === undefined ? {} : { tamperParts: (parts) => parts.map((p) => ({ ...p, bytes: tamperParts(p.bytes) })) }) },
  });
  return open(built.body, built.contentType);
}

function decryption(opened: Opened, policy: AlgorithmPolicy = STRICT): Decryption {
  const answer = prepareDecryption(opened.envelope, keys, policy);
  if (!answer.ok) throw new Error(`${answer.reason}: ${answer.detail}`);
  return answer;
}

/** Plain attachment, or undefined where its tag does not prove it. */
function attachment(opened: Opened, key: AttachmentKey | undefined, step = 1_000): Buffer | undefined {
  const [part] = opened.parts.values();
  if (part === undefined || key === undefined) throw new Error('no attachment');
  const stream = new GcmStream(key);
  const out: Uint8Array[] = [];
  for (let at = 0; at < part.bytes.length; at += step) out.push(stream.update(part.bytes.subarray(at, at + step)));
  const last = stream.end();
  return last === undefined ? undefined : Buffer.concat([...out, last]);
}

const first = (of: Decryption): AttachmentKey | undefined => [...of.attachments.values()][0];
const refused = (tamper: (e: string) => string, policy = STRICT): string => {
  const answer = prepareDecryption(message(tamper).envelope, keys, policy);
  return answer.ok ? 'ok' : `${answer.reason} ${answer.code}`;
};

const CIPHER_VALUE = /(<xenc:EncryptedKey[^]*?<xenc:CipherValue>)([^<]*)/;
const KEY_INFO = /(<xenc:EncryptedKey[^]*?<ds:KeyInfo[^>]*>)[^]*?(<\/ds:KeyInfo>)/;
const METHOD = /(<xenc:EncryptedKey[^>]*>)<xenc:EncryptionMethod[^]*?<\/xenc:EncryptionMethod>/;
const DS = 'xmlns:ds="http://www.w3.org/2000/09/xmldsig#"';

/** Wraps the message's own session key again, in another way. */
function rewrap(envelope: string, method: string, wrap: (key: Buffer) => Buffer): string {
  return envelope
    .replace(CIPHER_VALUE, (_m, head: string, value: string) => {
      const key = privateDecrypt({ key: receiver.key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, Buffer.from(value, 'base64'));
      return head + wrap(key).toString('base64');
    })
    .replace(METHOD, (_m, head: string) => head + method);
}
const oaep = (hash: string) => (key: Buffer): Buffer =>
  publicEncrypt({ key: receiver.certificate.publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: hash }, key);

describe('session keys', () => {
  it.each<[string, string, (key: Buffer) => Buffer]>([
    ['rsa-oaep-mgf1p without a digest: SHA-1', '<xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p"/>', oaep('sha1')],
    ['rsa-oaep with SHA-512 for both', `<xenc:EncryptionMethod Algorithm="http://www.w3.org/2009/xmlenc11#rsa-oaep"><ds:DigestMethod ${DS} Algorithm="http://www.w3.org/2001/04/xmlenc#sha512"/><xenc11:MGF xmlns:xenc11="http://www.w3.org/2009/xmlenc11#" Algorithm="http://www.w3.org/2009/xmlenc11#mgf1sha512"/></xenc:EncryptionMethod>`, oaep('sha512')],
    ['rsa-oaep with a label', `<xenc:EncryptionMethod Algorithm="http://www.w3.org/2009/xmlenc11#rsa-oaep"><xenc:OAEPparams>bGFiZWw=</xenc:OAEPparams></xenc:EncryptionMethod>`, (key) => publicEncrypt({ key: receiver.certificate.publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha1', oaepLabel: Buffer.from('label') }, key)],
  ])('%s', (_name, method, wrap) => {
    const opened = message((e) => rewrap(e, method, wrap));
    expect(attachment(opened, first(decryption(opened)))).toBeDefined();
  });

  const { certificate } = ours(receiver);
  it.each<[string, string]>([
    ['subject key identifier', `<wsse:SecurityTokenReference><wsse:KeyIdentifier ValueType="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-x509-token-profile-1.0#X509SubjectKeyIdentifier">${certificate.keyIdentifier}</wsse:KeyIdentifier></wsse:SecurityTokenReference>`],
    ['issuer and serial number', `<wsse:SecurityTokenReference><ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>CN=POP000002</ds:X509IssuerName><ds:X509SerialNumber>${certificate.serial}</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data></wsse:SecurityTokenReference>`],
    ['SHA-1 thumbprint', `<wsse:SecurityTokenReference><wsse:KeyIdentifier ValueType="http://docs.oasis-open.org/wss/oasis-wss-soap-message-security-1.1#ThumbprintSHA1">${certificate.thumbprint}</wsse:KeyIdentifier></wsse:SecurityTokenReference>`],
    ['X509Data with the key identifier', `<ds:X509Data><ds:X509SKI>${certificate.keyIdentifier}</ds:X509SKI></ds:X509Data>`],
    ['the certificate itself', `<ds:X509Data><ds:X509Certificate>${Buffer.from(certificate.der).toString('base64')}</ds:X509Certificate></ds:X509Data>`],
  ])('found by %s', (_name, keyInfo) => {
    const opened = message((e) => e.replace(KEY_INFO, `$1${keyInfo}$2`));
    expect(attachment(opened, first(decryption(opened)))).toBeDefined();
  });

  it('for somebody else are refused like damaged ones', () => {
    const other = prepareDecryption(message().envelope, [ours(sender)], STRICT);
    expect(other).toMatchObject({ ok: false, reason: 'decryption', code: 'DECRYPTION_FAILED' });
  });

  it('RSA-1_5 only where a P-Mode says so', () => {
    const method = '<xenc:EncryptionMethod Algorithm="http://www.w3.org/2001/04/xmlenc#rsa-1_5"/>';
    const wrap = (key: Buffer): Buffer => publicEncrypt({ key: receiver.certificate.publicKey, padding: constants.RSA_PKCS1_PADDING }, key);
    const tamper = (e: string): string => rewrap(e, method, wrap);
    expect(refused(tamper)).toBe('algorithm POLICY_FAILED');
    const opened = message(tamper);
    expect(attachment(opened, first(decryption(opened, LEGACY)))).toBeDefined();
  });

  it('a damaged wrapped key is noticed only at the tag, like any wrong key', () => {
    const opened = message((e) => e.replace(CIPHER_VALUE, (_m, head: string, v: string) => head + v.slice(4, 8) + v.slice(4)));
    expect(attachment(opened, first(decryption(opened)))).toBeUndefined();
  });
});

describe('attachments', () => {
  it('are the same however the stream is cut', () => {
    const opened = message();
    const key = first(decryption(opened));
    const whole = attachment(opened, key, 1_000_000);
    expect(whole).toBeDefined();
    for (const step of [1, 7, 12, 16, 17, 28]) expect(attachment(opened, key, step)?.equals(whole ?? Buffer.alloc(0))).toBe(true);
    expect(key?.mimeType).toBe('application/gzip');
  });

  it.each<[string, (b: Buffer) => Buffer]>([
    ['tag cut off', (b) => b.subarray(0, -16)],
    ['tag cut short', (b) => b.subarray(0, -1)],
    ['a bit of the tag changed', (b) => Buffer.concat([b.subarray(0, -1), Buffer.from([(b.at(-1) ?? 0) ^ 1])])],
    ['a bit of the text changed', (b) => Buffer.concat([b.subarray(0, 20), Buffer.from([(b[20] ?? 0) ^ 1]), b.subarray(21)])],
    ['a bit of the IV changed', (b) => Buffer.concat([Buffer.from([(b[0] ?? 0) ^ 1]), b.subarray(1)])],
    ['an octet more', (b) => Buffer.concat([b, Buffer.from([0])])],
    ['nothing', () => Buffer.alloc(0)],
    ['less than IV and tag', (b) => b.subarray(0, 27)],
    ['only an IV', (b) => b.subarray(0, 12)],
  ])('%s: not proven', (_name, change) => {
    const opened = message((e) => e, change);
    expect(attachment(opened, first(decryption(opened)))).toBeUndefined();
  });

  it.each<[string, (e: string) => string, string]>([
    ['CBC, which proves nothing', (e) => e.replace('http://www.w3.org/2009/xmlenc11#aes128-gcm', 'http://www.w3.org/2001/04/xmlenc#aes128-cbc'), 'algorithm POLICY_FAILED'],
    ['another type of EncryptedData', (e) => e.replace('#Attachment-Content-Only', '#Attachment-Complete'), 'algorithm POLICY_FAILED'],
    ['another transform', (e) => e.replace('#Attachment-Ciphertext-Transform', '#x'), 'algorithm POLICY_FAILED'],
    ['an unknown OAEP hash', (e) => e.replace(/(<xenc:EncryptedKey[^]*?DigestMethod[^>]*Algorithm=")[^"]*/, '$1urn:x'), 'algorithm POLICY_FAILED'],
    ['an attachment encrypted twice', (e) => e.replace(/<xenc:EncryptedData[^]*?<\/xenc:EncryptedData>/, (d) => d + d.replace(/ Id="[^"]*"/, ' Id="again"')), 'malformed AUTHENTICATION_FAILED'],
    ['EncryptedData for nothing', (e) => e.replace(/(CipherReference URI=")cid:[^"]*/, '$1cid:nobody'), 'malformed AUTHENTICATION_FAILED'],
    ['EncryptedData elsewhere', (e) => e.replace(/(CipherReference URI=")cid:[^"]*/, '$1http://127.0.0.1/'), 'malformed AUTHENTICATION_FAILED'],
    ['EncryptedData that names no key', (e) => e.replace(/(wsse:Reference URI="#)EK-[^"]*/, '$1nobody'), 'malformed AUTHENTICATION_FAILED'],
    ['many EncryptedKeys', (e) => e.replace(/<xenc:EncryptedKey[^]*?<\/xenc:EncryptedKey>/, (k) => k + Array.from({ length: 16 }, (_x, i) => k.replace(/ Id="[^"]*"/, ` Id="k${i}"`)).join('')), 'algorithm POLICY_FAILED'],
    ['a wrapped key of any size', (e) => e.replace(CIPHER_VALUE, (_m, head: string) => head + Buffer.alloc(2_000).toString('base64')), 'malformed AUTHENTICATION_FAILED'],
    ['a wrapped key that is no base64', (e) => e.replace(CIPHER_VALUE, (_m, head: string) => `${head}%%%`), 'malformed AUTHENTICATION_FAILED'],
  ])('%s', (_name, tamper, wanted) => {
    expect(refused(tamper)).toBe(wanted);
  });
});

describe('an encrypted Body', () => {
  const XENC = 'xmlns:xenc="http://www.w3.org/2001/04/xmlenc#"';
  const key = randomBytes(32);

  /** Encrypts the Body's content of a signed bare message with AES-256-GCM, as WSS4J does it. */
  function encrypted(tamper: (e: string) => string = (e) => e, plain = (content: string): string => content): Opened {
    const wrapped = publicEncrypt({ key: receiver.certificate.publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' }, key);
    const encryptedKey = `<xenc:EncryptedKey ${XENC} Id="EK"><xenc:EncryptionMethod Algorithm="http://www.w3.org/2009/xmlenc11#rsa-oaep"><ds:DigestMethod ${DS} Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><xenc11:MGF xmlns:xenc11="http://www.w3.org/2009/xmlenc11#" Algorithm="http://www.w3.org/2009/xmlenc11#mgf1sha256"/></xenc:EncryptionMethod><ds:KeyInfo ${DS}><ds:X509Data><ds:X509SKI>${ours(receiver).certificate.keyIdentifier}</ds:X509SKI></ds:X509Data></ds:KeyInfo><xenc:CipherData><xenc:CipherValue>${wrapped.toString('base64')}</xenc:CipherValue></xenc:CipherData><xenc:ReferenceList><xenc:DataReference URI="#ED"/></xenc:ReferenceList></xenc:EncryptedKey>`;
    const seal = (content: string): string => {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      return Buffer.concat([iv, cipher.update(plain(content)), cipher.final(), cipher.getAuthTag()]).toString('base64');
    };
    const built = as4Message({
      bare: true, signer: sender,
      plan: {
        spelling: { shape: (xml) => xml.replace(/<(\w+):Body([^>]*)\/>/, '<$1:Body$2><doc xmlns="urn:doc" a="1">text &amp; <b>more</b></doc></$1:Body>') },
        tamper: (e) => tamper(e
          .replace(/<wsse:Security[^>]*>/, (s) => s + encryptedKey)
          .replace(/(<(\w+):Body[^>]*>)([^]*)(<\/\2:Body>)/, (_m, start: string, _p, content: string, end: string) =>
            `${start}<xenc:EncryptedData ${XENC} Id="ED" Type="http://www.w3.org/2001/04/xmlenc#Content"><xenc:EncryptionMethod Algorithm="http://www.w3.org/2009/xmlenc11#aes256-gcm"/><xenc:CipherData><xenc:CipherValue>${seal(content)}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedData>${end}`)),
      },
    });
    return open(built.body, built.contentType);
  }

  it('is decrypted in its place, and is what was signed', () => {
    const { envelope } = encrypted();
    expect(envelope.bodyEncrypted).toBe(true);
    expect(verifyEnvelope(envelope, options())).toMatchObject({ ok: true, bodyPending: true });
    const body = decryptBody(envelope, decryption({ envelope } as Opened), LIMITS);
    if ('ok' in body) throw new Error(body.detail);
    expect(verifyEnvelope(envelope, options({ decryptedBody: body }))).toMatchObject({ ok: true, bodyPending: false });
  });

  it.each<[string, (content: string) => string]>([
    ['other content', (c) => c.replace('text', 'evil')],
    ['content that closes what is around it', (c) => `${c}</scope><scope>`],
    ['content that closes the Body', (c) => `${c}</S12:Body><S12:Body>`],
    ['a DOCTYPE', (c) => `<!DOCTYPE x>${c}`],
    ['nothing well-formed', () => '<'],
    ['an Id twice', (c) => `${c}<a Id="x"/><a Id="x" xmlns:wsu="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd" wsu:Id="y"/><a wsu:Id="y"/>`],
    ['more than the limit', (c) => c + ' '.repeat(200_000)],
  ])('encrypted with our key by somebody who cannot sign: %s', (_name, plain) => {
    const { envelope } = encrypted((e) => e, plain);
    const body = decryptBody(envelope, decryption({ envelope } as Opened), { ...LIMITS, rootPart: 100_000 });
    if ('ok' in body) expect(body.reason).toBe('malformed');
    else expect(verifyEnvelope(envelope, options({ decryptedBody: body }))).toMatchObject({ ok: false, reason: 'digest' });
  });

  it('with a wrong tag is refused like a wrong key', () => {
    const { envelope } = encrypted((e) => e.replace(/(Id="ED"[^]*?<xenc:CipherValue>)(....)/, '$1AAAA'));
    expect(decryptBody(envelope, decryption({ envelope } as Opened), LIMITS)).toMatchObject({ ok: false, reason: 'decryption', detail: 'the message cannot be decrypted with the configured keys' });
  });

  it('beside other content is refused', () => {
    const { envelope } = encrypted((e) => e.replace('<xenc:EncryptedData', '<x/><xenc:EncryptedData'));
    expect(prepareDecryption(envelope, keys, STRICT)).toMatchObject({ ok: false, reason: 'malformed' });
  });
});
