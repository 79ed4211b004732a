import { securityHeaders } from '../ebms/header-blocks.js';
import type { Envelope } from '../ebms/units.js';
import { comparableId, isCid } from '../mime/content-type.js';
import { attribute, child, children, type XmlElement } from '../xml/tree.js';
import { ATTACHMENT, DIGESTS, NS, type AlgorithmPolicy, type HashName } from './algorithms.js';
import type { KeyTransport } from './key-transport.js';
import type { GcmAlgorithm } from './decrypt.js';
import { refusal, type SecurityRefusal } from './refusal.js';
import { base64Of } from './signature.js';
import { only } from './token.js';

/** An xenc:EncryptedKey that something is encrypted with. */
export interface WrappedKey {
  /** 0 for the first that is used. */
  readonly index: number;
  readonly keyInfo: XmlElement;
  readonly wrapped: Uint8Array;
  readonly transport: KeyTransport;
}

/** An xenc:EncryptedData and the key it is encrypted with. */
export type EncryptedItem = {
  readonly key: WrappedKey;
  readonly algorithm: GcmAlgorithm;
  readonly keyOctets: number;
  readonly mimeType: string | undefined;
} & (
  | { readonly place: 'attachment'; readonly contentId: string }
  | { readonly place: 'body'; readonly cipher: Uint8Array }
);

export interface ReadEncryption {
  readonly security: XmlElement;
  readonly items: readonly EncryptedItem[];
}

const GCM: ReadonlyMap<string, readonly [GcmAlgorithm, octets: number]> = new Map([
  [`${NS.xenc11}aes128-gcm`, ['aes-128-gcm', 16]],
  [`${NS.xenc11}aes192-gcm`, ['aes-192-gcm', 24]],
  [`${NS.xenc11}aes256-gcm`, ['aes-256-gcm', 32]],
]);
const MGFS: ReadonlyMap<string, HashName> = new Map([
  [`${NS.xenc11}mgf1sha1`, 'sha1'], [`${NS.xenc11}mgf1sha256`, 'sha256'],
  [`${NS.xenc11}mgf1sha384`, 'sha384'], [`${NS.xenc11}mgf1sha512`, 'sha512'],
]);

/** Each costs an RSA operation on the event loop; real messages have one, or one for each attachment. */
const MAX_KEYS = 16;

class Broken extends Error {
  readonly refusal: SecurityRefusal;
  constructor(refused: SecurityRefusal) {
    super(refused.detail);
    this.refusal = refused;
  }
}
const broken = (detail: string): never => {
  throw new Broken(refusal('malformed', detail));
};
const tooManyKeys = (count: number): Broken =>
  new Broken(refusal('algorithm', `${count} EncryptedKeys, at most ${MAX_KEYS} are unwrapped`));
const notAllowed = (what: string, algorithm: string): never => {
  throw new Broken(refusal('algorithm', `${what} ${algorithm.slice(0, 200)} is not allowed here`));
};

/**
 * Reads EncryptedKeys and EncryptedData of the security header and of the SOAP Body (SwA Profile 1.1, 5.5; eDelivery
 * AS4 1.15): attachments by CipherReference, a Body by CipherValue. Structure only; no key is touched.
 */
export function readEncryption(envelope: Envelope, algorithms: AlgorithmPolicy): ReadEncryption | SecurityRefusal {
  const headers = securityHeaders(envelope);
  const [security] = headers;
  if (security === undefined || headers.length > 1) {
    if (envelope.bodyEncrypted) return refusal('malformed', 'encrypted Body without one security header');
    return { security: envelope.document.root, items: [] };
  }
  try {
    return { security, items: readItems(envelope, security, algorithms) };
  } catch (error) {
    if (error instanceof Broken) return error.refusal;
    throw error;
  }
}

function readItems(envelope: Envelope, security: XmlElement, algorithms: AlgorithmPolicy): EncryptedItem[] {
  const keys = children(security, NS.xenc, 'EncryptedKey');
  if (keys.length > MAX_KEYS) throw tooManyKeys(keys.length);
  const wrapped = new Map<XmlElement, WrappedKey>();
  const keyOf = (data: XmlElement): WrappedKey => {
    const element = keyElement(data, keys, envelope);
    const known = wrapped.get(element);
    if (known !== undefined) return known;
    if (wrapped.size >= MAX_KEYS) throw tooManyKeys(wrapped.size + 1);
    const key = readKey(element, wrapped.size, algorithms);
    wrapped.set(element, key);
    return key;
  };

  const cids = new Set<string>();
  for (const p of envelope.userMessage?.payloads ?? []) {
    if (isCid(p.href)) cids.add(comparableId(p.href));
  }
  const items: EncryptedItem[] = [];
  for (const data of children(security, NS.xenc, 'EncryptedData')) {
    const contentId = attachmentOf(data);
    if (!cids.delete(contentId)) {
      broken(`EncryptedData for ${contentId.slice(0, 200)}, which is no PartInfo or encrypted twice`);
    }
    const mimeType = attribute(data, '', 'MimeType');
    items.push({ place: 'attachment', contentId, mimeType, key: keyOf(data), ...cipherOf(data) });
  }
  if (envelope.bodyEncrypted && envelope.body !== undefined) {
    const data = only(envelope.body);
    if (data?.uri !== NS.xenc || data.local !== 'EncryptedData') {
      return broken('encrypted Body holds more than its EncryptedData');
    }
    const value = part(data, 'CipherData', 'CipherValue');
    const cipher = base64Of(value) ?? broken('CipherValue is not base64');
    items.push({ place: 'body', cipher, key: keyOf(data), ...cipherOf(data), mimeType: undefined });
  }
  return items;
}

/**
 * The EncryptedKey of an EncryptedData: within its KeyInfo, referred to by it, or referring to it by a DataReference.
 */
function keyElement(data: XmlElement, keys: readonly XmlElement[], envelope: Envelope): XmlElement {
  const keyInfo = child(data, NS.ds, 'KeyInfo');
  if (keyInfo !== undefined) {
    const inner = only(keyInfo);
    if (inner?.uri === NS.xenc && inner.local === 'EncryptedKey') return inner;
    const named = inner?.uri === NS.wsse && inner.local === 'SecurityTokenReference' ? only(inner) : inner;
    const uri = named?.uri === NS.wsse && named.local === 'Reference' || named?.local === 'RetrievalMethod'
      ? attribute(named, '', 'URI') : undefined;
    const target = uri?.startsWith('#') === true ? envelope.document.ids.get(uri.slice(1)) : undefined;
    if (target === undefined || !keys.includes(target)) {
      return broken('EncryptedData names no EncryptedKey of the security header');
    }
    return target;
  }
  const id = attribute(data, '', 'Id');
  const lists = (key: XmlElement): boolean =>
    children(child(key, NS.xenc, 'ReferenceList') ?? key, NS.xenc, 'DataReference')
      .some((reference) => attribute(reference, '', 'URI') === `#${id ?? ''}`);
  const found = id === undefined ? [] : keys.filter(lists);
  const [one] = found;
  return one === undefined || found.length > 1 ? broken('EncryptedData without one EncryptedKey') : one;
}

function readKey(element: XmlElement, index: number, algorithms: AlgorithmPolicy): WrappedKey {
  const keyInfo = child(element, NS.ds, 'KeyInfo') ?? broken('EncryptedKey without KeyInfo');
  const wrapped = base64Of(part(element, 'CipherData', 'CipherValue'))
    ?? broken('CipherValue of the EncryptedKey is not base64');
  if (wrapped.length > 1_024) broken('EncryptedKey of more than 1,024 octets');
  return { index, keyInfo, wrapped, transport: readTransport(part(element, 'EncryptionMethod'), algorithms) };
}

function readTransport(method: XmlElement, algorithms: AlgorithmPolicy): KeyTransport {
  const algorithm = attribute(method, '', 'Algorithm') ?? '';
  if (algorithm === `${NS.xenc}rsa-1_5` && algorithms.rsa15) return { scheme: 'rsa15' };
  if (algorithm !== `${NS.xenc}rsa-oaep-mgf1p` && algorithm !== `${NS.xenc11}rsa-oaep`) {
    return notAllowed('key transport', algorithm);
  }
  // OAEP's hashes need no collision resistance, so SHA-1, the default of XML Encryption, is no weakness here.
  const digest = child(method, NS.ds, 'DigestMethod');
  const hash = digest === undefined ? 'sha1' : DIGESTS.get(attribute(digest, '', 'Algorithm') ?? '');
  const mask = algorithm === `${NS.xenc11}rsa-oaep` ? child(method, NS.xenc11, 'MGF') : undefined;
  const mgf = mask === undefined ? 'sha1' : MGFS.get(attribute(mask, '', 'Algorithm') ?? '');
  if (hash === undefined || mgf === undefined) return notAllowed('OAEP hash of', algorithm);
  const params = child(method, NS.xenc, 'OAEPparams');
  const label = params === undefined ? new Uint8Array() : (base64Of(params) ?? broken('OAEPparams is not base64'));
  return { scheme: 'oaep', hash, mgf, label };
}

function cipherOf(data: XmlElement): { algorithm: GcmAlgorithm; keyOctets: number } {
  const uri = attribute(part(data, 'EncryptionMethod'), '', 'Algorithm') ?? '';
  const [algorithm, keyOctets] = GCM.get(uri) ?? notAllowed('encryption', uri);
  return { algorithm, keyOctets };
}

function attachmentOf(data: XmlElement): string {
  const type = attribute(data, '', 'Type') ?? '';
  if (type !== ATTACHMENT.contentOnly) notAllowed('EncryptedData of type', type);
  const reference = part(data, 'CipherData', 'CipherReference');
  const transform = only(part(reference, 'Transforms'));
  const algorithm = transform === undefined ? '(none or several)' : (attribute(transform, '', 'Algorithm') ?? '');
  if (algorithm !== ATTACHMENT.ciphertext) notAllowed('transform', algorithm);
  const uri = attribute(reference, '', 'URI') ?? '';
  return isCid(uri) ? comparableId(uri) : broken('CipherReference is no cid: URI');
}

/** Follows xenc child elements, each of which has to be there exactly once. */
function part(from: XmlElement, ...path: readonly string[]): XmlElement {
  let at = from;
  for (const local of path) {
    const [found, ...more] = children(at, NS.xenc, local);
    if (found === undefined || more.length > 0) return broken(`${at.local} has not exactly one ${local}`);
    at = found;
  }
  return at;
}
