import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { bits, explicit, implicit, integer, nothing, objectId, octets, sequence, set, time, utf8, yes } from './der.js';

/** A private key with its certificate, as the suite signs with or gives to a test receiver. */
export interface Identity {
  readonly key: KeyObject;
  readonly certificate: X509Certificate;
  /** PKCS#8 PEM of the key. */
  readonly keyPem: string;
  readonly certificatePem: string;
}

export interface IdentityOptions {
  /** Modulus bits; 2048 unless said otherwise. */
  readonly bits?: number;
  /** Days of validity from an hour ago; 3,650 unless said otherwise. */
  readonly days?: number;
  readonly now?: Date;
  /** The authority that signs; self-signed without. */
  readonly issuer?: Identity;
}

const COMMON_NAME = '2.5.4.3';
const RSA_SHA256 = '1.2.840.113549.1.1.11';

/**
 * Makes an RSA key and a certificate for test use: version 3, CN as given, key usage for signing and key encipherment,
 * subject key identifier as RFC 5280 4.2.1.2 (1). Self-signed, or signed by `issuer`.
 */
export function makeIdentity(commonName: string, options: IdentityOptions = {}): Identity {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', {
    modulusLength: options.bits ?? 2048,
    publicExponent: 0x10001,
  });
  const now = options.now ?? new Date();
  const from = new Date(now.getTime() - 3_600_000);
  const to = new Date(from.getTime() + (options.days ?? 3_650) * 86_400_000);
  const subject = name(commonName);
  const signer = options.issuer;
  const algorithm = sequence(objectId(RSA_SHA256), nothing());
  const publicInfo = publicKey.export({ type: 'spki', format: 'der' });
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([0x01]), randomBytes(15)])),
    algorithm,
    signer === undefined ? subject : rawSubject(signer.certificate),
    sequence(time(from), time(to)),
    subject,
    publicInfo,
    explicit(3, sequence(...extensions(publicKey, signer?.key))),
  );
  const signature = sign('sha256', body, signer?.key ?? privateKey);
  const certificate = new X509Certificate(sequence(body, algorithm, bits(signature)));
  return {
    key: privateKey,
    certificate,
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    certificatePem: certificate.toString(),
  };
}

/** Puts a key and a certificate from PEM text together. Throws when they do not belong to each other. */
export function readIdentity(keyPem: string, certificatePem: string, passphrase?: string): Identity {
  const key = createPrivateKey(passphrase === undefined ? keyPem : { key: keyPem, passphrase });
  const certificate = new X509Certificate(certificatePem);
  if (!certificate.checkPrivateKey(key)) throw new Error('the certificate does not belong to the private key');
  return { key, certificate, keyPem, certificatePem };
}

function name(commonName: string): Buffer {
  return sequence(set(sequence(objectId(COMMON_NAME), utf8(commonName))));
}

function extensions(subjectKey: KeyObject, issuerKey: KeyObject | undefined): Buffer[] {
  const extension = (id: string, critical: boolean, value: Buffer): Buffer =>
    critical ? sequence(objectId(id), yes(), octets(value)) : sequence(objectId(id), octets(value));
  // digitalSignature, nonRepudiation, keyEncipherment; keyCertSign too where the certificate is its own issuer
  const usage = issuerKey === undefined ? bits(Buffer.from([0xe4]), 2) : bits(Buffer.from([0xe0]), 5);
  return [
    extension('2.5.29.19', true, issuerKey === undefined ? sequence(yes()) : sequence()),
    extension('2.5.29.15', true, usage),
    extension('2.5.29.14', false, octets(keyIdentifier(subjectKey))),
    ...(issuerKey === undefined
      ? []
      : [extension('2.5.29.35', false, sequence(implicit(0, keyIdentifier(createPublicKey(issuerKey)))))]),
  ];
}

/** SHA-1 over the public key's own bits: the RSAPublicKey structure (RFC 5280, 4.2.1.2). */
function keyIdentifier(publicKey: KeyObject): Buffer {
  return createHash('sha1')
    .update(publicKey.export({ type: 'pkcs1', format: 'der' }))
    .digest();
}

/** The issuer's subject as it stands in its own certificate, so that the chain compares equal byte for byte. */
function rawSubject(certificate: X509Certificate): Buffer {
  const elements = children(children(certificate.raw)[0] ?? Buffer.alloc(0));
  // version [0], serial, algorithm, issuer, validity, subject
  const subject = elements[5];
  if (subject === undefined) throw new Error('the issuer certificate has no subject');
  return subject;
}

/** The elements inside a constructed DER element, each with its own header. */
function children(element: Buffer): Buffer[] {
  const found: Buffer[] = [];
  let at = header(element, 0).start;
  while (at < element.length) {
    const { start, length } = header(element, at);
    found.push(element.subarray(at, start + length));
    at = start + length;
  }
  return found;
}

function header(bytes: Buffer, at: number): { start: number; length: number } {
  const first = bytes[at + 1] ?? 0;
  if (first < 0x80) return { start: at + 2, length: first };
  const count = first & 0x7f;
  return { start: at + 2 + count, length: bytes.readUIntBE(at + 2, count) };
}
