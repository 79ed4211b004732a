import { createHash } from 'node:crypto';
import { As4OnceError } from '../errors.js';
import { DIGESTS, HASH_OCTETS } from '../security/algorithms.js';
import type { Certificate } from '../security/certificate.js';
import type { SignedReference } from '../security/signature.js';
import { contentTypeOf, prepareEnvelope } from '../security/sign.js';
import { receiptMessaging, type BuiltReceipt, type ReceiptValues } from './build-receipt.js';
import { TextPacker, TextUnpacker } from './compact-text.js';

/**
 * A Receipt stored as the values that give its exact bytes again: ids, digests, SignatureValue and which certificate,
 * about a fifteenth of the XML. Layout of version 1, lengths as base-128 numbers:
 *
 *   version 1 · SOAP version · certificate (8) · timestamp ms (6) · MessageId · RefToMessageId ·
 *   n · n × (kind · [PrefixList] · URI · digest) · SignatureValue · SHA-256 of the body, first 16 octets
 *
 * The version stands for everything that the bytes are built with (sign.ts, build-receipt.ts, compact-text.ts). Whoever
 * changes what those write adds a version and keeps this one; a test holds the bytes of version 1 fast.
 */
const VERSION = 1;
const CERTIFICATE = 8;
const CHECK = 16;
const TIMESTAMP = 6;
/** Characters of ids and URIs together; longer ones are somebody's test of our patience, and are stored whole. */
const MAX_TEXT = 4_096;

/** Append only, all three. */
const SOAP_VERSIONS = [undefined, '1.1', '1.2'] as const;
const DIGEST_METHODS = [...DIGESTS.keys()];
const TRANSFORMS = ['exclusive', 'attachmentContent', 'attachmentComplete'] as const;

/** How a compact Receipt names the certificate that signed it: 16 hex digits of its SHA-256. */
export function compactCertificateId(certificate: Certificate): string {
  return certificate.fingerprint.slice(0, 2 * CERTIFICATE);
}

/**
 * Makes the compact form, or undefined where it would not give the same bytes (a Receipt with a copy of the
 * UserMessage, an odd timestamp, endless ids): then the Receipt has to be stored whole. Keep the certificate as long
 * as the Receipt.
 */
export function compactReceipt(
  values: ReceiptValues, built: BuiltReceipt, certificate: Certificate,
): Uint8Array | undefined {
  const ms = Date.parse(values.timestamp);
  if (!(ms >= 0) || values.references.some((r) => !DIGEST_METHODS.includes(r.digestMethod))) return undefined;
  const texts = [values.messageId, values.refToMessageId, ...values.references.map((r) => r.uri)];
  if (texts.join('').length > MAX_TEXT) return undefined;
  const packer = new TextPacker();
  const time = Buffer.alloc(TIMESTAMP);
  time.writeUIntBE(ms, 0, TIMESTAMP);
  const compact = Buffer.concat([
    Uint8Array.of(VERSION, SOAP_VERSIONS.indexOf(values.soap)),
    Buffer.from(compactCertificateId(certificate), 'hex'),
    time,
    counted(packer.pack(values.messageId)),
    counted(packer.pack(values.refToMessageId)),
    number(values.references.length),
    ...values.references.flatMap((r) => packReference(r, packer)),
    counted(built.signature),
    createHash('sha256').update(built.body).digest().subarray(0, CHECK),
  ]);
  try {
    return expandReceipt(compact, () => certificate).body.equals(built.body) ? compact : undefined;
  } catch {
    return undefined;
  }
}

function packReference(reference: SignedReference, packer: TextPacker): Uint8Array[] {
  const kind = DIGEST_METHODS.indexOf(reference.digestMethod) * TRANSFORMS.length
    + TRANSFORMS.indexOf(reference.transform);
  const prefixes = reference.transform === 'exclusive' ? [counted(packer.pack(reference.prefixes.join(' ')))] : [];
  return [Uint8Array.of(kind), ...prefixes, counted(packer.pack(reference.uri)), reference.digest];
}

/**
 * Builds the Receipt again. `certificateOf` finds the certificate by compactCertificateId. Throws RECORD_UNREADABLE
 * where the bytes are damaged, the certificate is gone, or what is built is not what was stored.
 */
export function expandReceipt(
  compact: Uint8Array, certificateOf: (id: string) => Certificate | undefined,
): { readonly contentType: string; readonly body: Buffer; readonly receiptId: string } {
  const reader = new Reader(compact);
  if (reader.octet() !== VERSION) throw unreadable('a version of the compact Receipt that is not known here');
  const soap = SOAP_VERSIONS[reader.octet()];
  if (soap === undefined) throw unreadable('a SOAP version that is not known here');
  const certificateId = reader.take(CERTIFICATE).toString('hex');
  const timestamp = new Date(reader.take(TIMESTAMP).readUIntBE(0, TIMESTAMP)).toISOString();
  const messageId = reader.text();
  const refToMessageId = reader.text();
  const references: SignedReference[] = [];
  for (let left = reader.number(); left > 0; left--) references.push(readReference(reader));
  const signature = reader.take(reader.number());
  const check = reader.take(CHECK);
  if (reader.left > 0) throw unreadable('bytes behind the compact Receipt');
  const certificate = certificateOf(certificateId);
  if (certificate === undefined) {
    throw unreadable(`the certificate ${certificateId} that signed the Receipt is not kept`);
  }
  const messaging = receiptMessaging({ soap, messageId, timestamp, refToMessageId, references });
  const body = prepareEnvelope(soap, messaging, certificate).assemble(signature);
  if (!createHash('sha256').update(body).digest().subarray(0, CHECK).equals(check)) {
    throw unreadable('the Receipt that the stored values give is not the one that was stored');
  }
  return { contentType: contentTypeOf(soap), body, receiptId: messageId };
}

function readReference(reader: Reader): SignedReference {
  const kind = reader.octet();
  const digestMethod = DIGEST_METHODS[Math.floor(kind / TRANSFORMS.length)] ?? '';
  const transform = TRANSFORMS[kind % TRANSFORMS.length] ?? 'exclusive';
  const hash = DIGESTS.get(digestMethod);
  if (hash === undefined) throw unreadable('a digest method that is not known here');
  const prefixes = transform === 'exclusive' ? reader.text().split(' ').filter((p) => p !== '') : [];
  return { transform, prefixes, digestMethod, hash, uri: reader.text(), digest: reader.take(HASH_OCTETS[hash]) };
}

const unreadable = (detail: string): As4OnceError => new As4OnceError('RECORD_UNREADABLE', detail);

class Reader {
  readonly #bytes: Buffer;
  readonly #texts = new TextUnpacker();
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = Buffer.from(bytes);
  }

  get left(): number {
    return this.#bytes.length - this.#at;
  }

  take(octets: number): Buffer {
    if (octets > this.left) throw unreadable('the compact Receipt is cut off');
    this.#at += octets;
    return this.#bytes.subarray(this.#at - octets, this.#at);
  }

  octet(): number {
    return this.take(1)[0] ?? 0;
  }

  number(): number {
    let value = 0;
    for (let i = 0; i < 4; i++) {
      const octet = this.octet();
      value = value * 128 + (octet & 0x7f);
      if (octet < 0x80) return value;
    }
    throw unreadable('a number in the compact Receipt is too long');
  }

  text(): string {
    const text = this.#texts.unpack(this.take(this.number()));
    if (text === undefined) throw unreadable('a text in the compact Receipt cannot be read');
    return text;
  }
}

function number(value: number): Uint8Array {
  const octets = [value % 128];
  for (let n = Math.floor(value / 128); n > 0; n = Math.floor(n / 128)) octets.unshift((n % 128) + 128);
  return Uint8Array.from(octets);
}

function counted(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([number(bytes.length), bytes]);
}
