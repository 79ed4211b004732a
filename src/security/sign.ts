import { hash, type KeyObject, sign } from 'node:crypto';
import { EXCLUSIVE, NS, RSA_SHA256, SHA256_DIGEST, TOKEN } from './algorithms.js';
import type { Certificate } from './certificate.js';
import type { Identity } from './keys.js';

/**
 * Signs the envelopes that as4-once sends itself: Receipts and Errors, with an empty Body and no attachments.
 * Everything is written in exclusive canonical form from the start, so that what is hashed is what stands in the
 * envelope, and one string of values always gives the same bytes. eb:Messaging and Body are signed (AS4 5.1.4,
 * eDelivery AS4 1.15).
 */

export type SoapVersion = '1.1' | '1.2';

interface SoapNames {
  readonly prefix: string;
  readonly uri: string;
  readonly must: string;
  readonly mediaType: string;
}

const SOAP: Readonly<Record<SoapVersion, SoapNames>> = {
  '1.1': { prefix: 'S11', uri: NS.soap11, must: '1', mediaType: 'text/xml' },
  '1.2': { prefix: 'S12', uri: NS.soap12, must: 'true', mediaType: 'application/soap+xml' },
};

const MESSAGING_ID = 'messaging';
const BODY_ID = 'body';
const TOKEN_ID = 'token';

/** Content-Type of an envelope of that version. */
export function contentTypeOf(soap: SoapVersion): string {
  return `${SOAP[soap].mediaType};charset=UTF-8`;
}

/** Prefixes in force within eb:Messaging as `messagingElement` opens it, for content in canonical form. */
export function messagingScope(soap: SoapVersion): ReadonlyMap<string, string> {
  return new Map([[SOAP[soap].prefix, SOAP[soap].uri], ['eb', NS.eb], ['wsu', NS.wsu]]);
}

/** eb:Messaging in canonical form around content that is canonical in `messagingScope`. */
export function messagingElement(soap: SoapVersion, content: string): string {
  const { prefix, uri, must } = SOAP[soap];
  return `<eb:Messaging xmlns:${prefix}="${uri}" xmlns:eb="${NS.eb}" xmlns:wsu="${NS.wsu}"`
    + ` wsu:Id="${MESSAGING_ID}" ${prefix}:mustUnderstand="${must}">${content}</eb:Messaging>`;
}

/** An envelope of which only the SignatureValue is missing. */
interface Unsigned {
  /** What is signed: ds:SignedInfo in canonical form. */
  readonly signedInfo: string;
  assemble(signature: Uint8Array): Buffer;
}

/**
 * Writes the envelope around eb:Messaging, which has to be canonical and to carry the id that messagingElement gives.
 */
function prepareEnvelope(soap: SoapVersion, messaging: string, certificate: Certificate): Unsigned {
  const { prefix, uri, must } = SOAP[soap];
  const body = `<${prefix}:Body xmlns:${prefix}="${uri}" xmlns:wsu="${NS.wsu}" wsu:Id="${BODY_ID}"></${prefix}:Body>`;
  const signedInfo = `<ds:SignedInfo xmlns:ds="${NS.ds}">`
    + `<ds:CanonicalizationMethod Algorithm="${EXCLUSIVE}"></ds:CanonicalizationMethod>`
    + `<ds:SignatureMethod Algorithm="${RSA_SHA256}"></ds:SignatureMethod>`
    + reference(MESSAGING_ID, messaging) + reference(BODY_ID, body) + '</ds:SignedInfo>';
  const token = `<wsse:BinarySecurityToken EncodingType="${TOKEN.base64}" ValueType="${TOKEN.x509v3}"`
    + ` wsu:Id="${TOKEN_ID}">${Buffer.from(certificate.der).toString('base64')}</wsse:BinarySecurityToken>`;
  const keyInfo = '<ds:KeyInfo><wsse:SecurityTokenReference>'
    + `<wsse:Reference URI="#${TOKEN_ID}" ValueType="${TOKEN.x509v3}"></wsse:Reference>`
    + '</wsse:SecurityTokenReference></ds:KeyInfo>';
  const assemble = (signature: Uint8Array): Buffer => Buffer.from(
    `<?xml version="1.0" encoding="UTF-8"?><${prefix}:Envelope xmlns:${prefix}="${uri}"><${prefix}:Header>`
    + `<wsse:Security xmlns:wsse="${NS.wsse}" xmlns:wsu="${NS.wsu}" ${prefix}:mustUnderstand="${must}">${token}`
    + `<ds:Signature xmlns:ds="${NS.ds}">${signedInfo}`
    + `<ds:SignatureValue>${Buffer.from(signature).toString('base64')}</ds:SignatureValue>${keyInfo}</ds:Signature>`
    + `</wsse:Security>${messaging}</${prefix}:Header>${body}</${prefix}:Envelope>`,
  );
  return { signedInfo, assemble };
}

function reference(id: string, canonical: string): string {
  return `<ds:Reference URI="#${id}">`
    + `<ds:Transforms><ds:Transform Algorithm="${EXCLUSIVE}"></ds:Transform></ds:Transforms>`
    + `<ds:DigestMethod Algorithm="${SHA256_DIGEST}"></ds:DigestMethod>`
    + `<ds:DigestValue>${hash('sha256', canonical, 'base64')}</ds:DigestValue></ds:Reference>`;
}

/** Prepares and signs. The RSA operation runs in the thread pool, so that the event loop goes on. */
export async function signEnvelope(soap: SoapVersion, messaging: string, identity: Identity): Promise<Buffer> {
  const unsigned = prepareEnvelope(soap, messaging, identity.certificate);
  return unsigned.assemble(await signRsaSha256(Buffer.from(unsigned.signedInfo), identity.privateKey));
}

function signRsaSha256(data: Uint8Array, key: KeyObject): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    sign('sha256', data, key, (error, signature) => {
      if (error === null) resolve(signature);
      else reject(error);
    });
  });
}
