import { createHash, X509Certificate, type KeyObject } from 'node:crypto';
import { bitsOf, DerError, integerOf, members, oidOf, readDer, TAG, timeOf, type DerValue } from './der.js';
import { nameOf, type DistinguishedName } from './distinguished-name.js';

/** A parsed X.509 certificate (RFC 5280): what signature, trust and party checks ask of it. */
export interface Certificate {
  readonly der: Uint8Array;
  /** SHA-256 of the DER bytes, hex. */
  readonly fingerprint: string;
  /** SHA-1 of the DER bytes, base64: what a ThumbprintSHA1 key identifier names. */
  readonly thumbprint: string;
  readonly publicKey: KeyObject;
  /** Length of the modulus, bits; undefined where the key is no RSA key. */
  readonly rsaBits: number | undefined;
  readonly serial: bigint;
  readonly subject: DistinguishedName;
  readonly issuer: DistinguishedName;
  /** Epoch milliseconds. */
  readonly notBefore: number;
  readonly notAfter: number;
  /**
   * Subject key identifier, base64; computed from the key (RFC 5280 4.2.1.2 method 1) where the extension is absent.
   */
  readonly keyIdentifier: string;
  /** May sign certificates: basicConstraints CA, and keyUsage keyCertSign where keyUsage is present. */
  readonly authority: boolean;
  /** May sign messages: keyUsage absent, or digitalSignature or nonRepudiation. */
  readonly signs: boolean;
  /** Most CA certificates that may stand between this one and the end of its path. */
  readonly pathLength: number;
  /** Signed with MD5 or SHA-1, so that its signature proves nothing. */
  readonly weaklySigned: boolean;
  /** Critical extensions that nothing here understands; such a certificate is not trusted. */
  readonly unknownCritical: readonly string[];
  readonly x509: X509Certificate;
}

const EXTENSION = {
  keyIdentifier: '2.5.29.14', keyUsage: '2.5.29.15', alternativeName: '2.5.29.17', basicConstraints: '2.5.29.19',
  policies: '2.5.29.32', extendedKeyUsage: '2.5.29.37',
};
const UNDERSTOOD = new Set(Object.values(EXTENSION));

/** md2, md5 and sha1 with RSA, sha1 with DSA and ECDSA. */
const WEAK = new Set([
  '1.2.840.113549.1.1.2', '1.2.840.113549.1.1.4', '1.2.840.113549.1.1.5', '1.2.840.10040.4.3', '1.2.840.10045.4.1',
]);

/** Bits of KeyUsage, first octet (RFC 5280 4.2.1.3). */
const DIGITAL_SIGNATURE = 0x80;
const NON_REPUDIATION = 0x40;
const CERT_SIGN = 0x04;

/** Largest certificate that is read, bytes. Real ones have 1 to 3 KB. */
const MAX_DER = 16 * 1024;

const cache = new Map<string, Certificate>();
const CACHED = 512;

/**
 * Parses a DER certificate; undefined where the bytes are not one. Parsing costs more than verifying a signature, so
 * the last few hundred are remembered by their digest.
 */
export function certificateOf(der: Uint8Array): Certificate | undefined {
  if (der.length === 0 || der.length > MAX_DER) return undefined;
  const fingerprint = createHash('sha256').update(der).digest('hex');
  const known = cache.get(fingerprint);
  if (known !== undefined) return known;
  let parsed: Certificate;
  try {
    parsed = parse(Uint8Array.from(der), fingerprint);
  } catch {
    return undefined;
  }
  const [oldest] = cache.keys();
  if (oldest !== undefined && cache.size >= CACHED) cache.delete(oldest);
  cache.set(fingerprint, parsed);
  return parsed;
}

const written = new Map<string, Certificate>();

/**
 * The same from a token's text: a partner's messages all bring the same one, and to look that up saves decoding and
 * digesting it. `decode` is asked for a text that is new.
 */
export function certificateWritten(text: string, decode: () => Uint8Array | undefined): Certificate | undefined {
  const known = written.get(text);
  if (known !== undefined) return known;
  const certificate = certificateOf(decode() ?? new Uint8Array());
  if (certificate === undefined || text.length > 2 * MAX_DER) return certificate;
  const [oldest] = written.keys();
  if (oldest !== undefined && written.size >= CACHED) written.delete(oldest);
  written.set(text, certificate);
  return certificate;
}

function parse(der: Uint8Array, fingerprint: string): Certificate {
  const [tbs, algorithm] = members(readDer(der));
  const fields = members(tbs);
  if (fields[0]?.tag === 0xa0) fields.shift();
  const [serial, , issuer, validity, subject, spki, ...rest] = fields;
  const [notBefore, notAfter] = members(validity);
  const extensions = readExtensions(rest.find((f) => f.tag === 0xa3));
  const usage = extensions.known.get(EXTENSION.keyUsage);
  const usageBits = usage === undefined ? undefined : (readDer(usage).content[1] ?? 0);
  const constraints = basicConstraints(extensions.known.get(EXTENSION.basicConstraints));
  const ski = extensions.known.get(EXTENSION.keyIdentifier);
  const keyIdentifier = ski === undefined ? hash('sha1', bitsOf(members(spki)[1])) : readDer(ski).content;
  const x509 = new X509Certificate(der);
  const { publicKey } = x509;
  return {
    der, fingerprint, x509,
    thumbprint: Buffer.from(hash('sha1', der)).toString('base64'),
    publicKey,
    rsaBits: publicKey.asymmetricKeyType === 'rsa' ? publicKey.asymmetricKeyDetails?.modulusLength : undefined,
    serial: integerOf(serial),
    subject: nameOf(subject),
    issuer: nameOf(issuer),
    notBefore: timeOf(notBefore),
    notAfter: timeOf(notAfter),
    keyIdentifier: Buffer.from(keyIdentifier).toString('base64'),
    authority: constraints.authority && (usageBits === undefined || (usageBits & CERT_SIGN) !== 0),
    signs: usageBits === undefined || (usageBits & (DIGITAL_SIGNATURE | NON_REPUDIATION)) !== 0,
    pathLength: constraints.pathLength,
    weaklySigned: WEAK.has(oidOf(members(algorithm)[0])),
    unknownCritical: extensions.unknownCritical,
  };
}

function readExtensions(field: DerValue | undefined): { known: Map<string, Uint8Array>; unknownCritical: string[] } {
  const known = new Map<string, Uint8Array>();
  const unknownCritical: string[] = [];
  if (field === undefined) return { known, unknownCritical };
  for (const extension of members(readDer(field.content))) {
    const parts = members(extension);
    const oid = oidOf(parts[0]);
    const critical = parts[1]?.tag === TAG.boolean && parts[1].content[0] !== 0;
    const value = parts[parts.length - 1];
    if (value?.tag !== TAG.octetString || known.has(oid)) throw new DerError('odd extension');
    known.set(oid, value.content);
    if (critical && !UNDERSTOOD.has(oid)) unknownCritical.push(oid);
  }
  return { known, unknownCritical };
}

function basicConstraints(value: Uint8Array | undefined): { authority: boolean; pathLength: number } {
  if (value === undefined) return { authority: false, pathLength: 0 };
  const parts = members(readDer(value));
  const authority = parts[0]?.tag === TAG.boolean && parts[0].content[0] !== 0;
  const limit = parts.find((p) => p.tag === TAG.integer);
  return { authority, pathLength: limit === undefined ? Number.MAX_SAFE_INTEGER : Number(integerOf(limit)) };
}

function hash(algorithm: string, bytes: Uint8Array): Uint8Array {
  return createHash(algorithm).update(bytes).digest();
}

/** Certificates of a PKIPath (X.509 2000 10.1: the end entity is the last one), end entity first. */
export function pathOf(der: Uint8Array): readonly Certificate[] | undefined {
  if (der.length > 10 * MAX_DER) return undefined;
  try {
    const path = members(readDer(der)).map((c) => certificateOf(c.whole));
    return path.length > 0 && path.every((c) => c !== undefined) ? path.reverse() : undefined;
  } catch {
    return undefined;
  }
}
