import { createDecipheriv, type DecipherGCM, type KeyObject } from 'node:crypto';
import type { Envelope } from '../ebms/units.js';
import type { Limits } from '../limits.js';
import { attributeValue } from '../xml/canonical.js';
import { parseXml } from '../xml/parse.js';
import type { XmlElement, XmlNode } from '../xml/tree.js';
import type { Certificate } from './certificate.js';
import { readEncryption } from './encryption.js';
import { unwrapKey } from './key-transport.js';
import type { AlgorithmPolicy } from './algorithms.js';
import { refusal, type SecurityRefusal } from './refusal.js';
import { resolveToken } from './token.js';

/** A private key and the certificate that senders encrypt for. */
export interface DecryptionKey {
  readonly certificate: Certificate;
  readonly privateKey: KeyObject;
}

/** What is encrypted in one message, with its session keys already unwrapped. */
export interface Decryption {
  readonly ok: true;
  /** By Content-ID. Empty where no attachment is encrypted. */
  readonly attachments: ReadonlyMap<string, AttachmentKey>;
  readonly body: { readonly key: AttachmentKey; readonly cipher: Uint8Array } | undefined;
}

export interface AttachmentKey {
  /** Media type of the plain attachment, where the sender says so. */
  readonly mimeType: string | undefined;
  readonly algorithm: GcmAlgorithm;
  readonly sessionKey: Uint8Array;
}

export type GcmAlgorithm = 'aes-128-gcm' | 'aes-192-gcm' | 'aes-256-gcm';

/**
 * One text for everything that goes wrong with a key or a cipher text, so that an answer tells nothing (see
 * unwrapKey).
 */
const CANNOT = 'the message cannot be decrypted with the configured keys';

/**
 * Reads what is encrypted and unwraps the session keys: one RSA operation for each EncryptedKey that is used. Nothing
 * is decrypted yet. A key that is not ours, or a wrapped key that is damaged, gives a random session key and fails
 * later, at the authentication tag.
 */
export function prepareDecryption(
  envelope: Envelope, keys: readonly DecryptionKey[], algorithms: AlgorithmPolicy,
): Decryption | SecurityRefusal {
  const read = readEncryption(envelope, algorithms);
  if ('ok' in read) return read;
  if (read.items.length === 0) return { ok: true, attachments: new Map(), body: undefined };
  const security = read.security;
  const known = keys.map((k) => k.certificate);
  const unwrapped = new Map<string, Uint8Array>();
  const attachments = new Map<string, AttachmentKey>();
  let body: Decryption['body'];
  for (const item of read.items) {
    const use = `${item.key.index} ${item.keyOctets}`;
    let sessionKey = unwrapped.get(use);
    if (sessionKey === undefined) {
      const token = resolveToken(item.key.keyInfo, { security, ids: envelope.document.ids, known });
      const ours = typeof token === 'string'
        ? undefined : keys.find((k) => k.certificate.publicKey.equals(token.certificate.publicKey));
      if (ours === undefined) return refusal('decryption', CANNOT);
      sessionKey = unwrapKey(item.key.wrapped, ours.privateKey, item.key.transport, item.keyOctets);
      unwrapped.set(use, sessionKey);
    }
    const key: AttachmentKey = { algorithm: item.algorithm, mimeType: item.mimeType, sessionKey };
    if (item.place === 'body') body = { key, cipher: item.cipher };
    else attachments.set(item.contentId, key);
  }
  return { ok: true, attachments, body };
}

const IV = 12;
const TAG = 16;
/** Chunks shorter than this are put together, octets. */
const SHORT = 256;
const NOTHING = new Uint8Array();

/**
 * Decrypts AES-GCM while it streams by: 12 octets of IV, the cipher text, 16 octets of tag (XML Encryption 1.1, 5.2.4).
 * What `update` returns is NOT proven until `end` has answered: keep it in a spool and throw it away otherwise. Chunks
 * are taken over: the last one waits, uncopied, since the tag may be in it.
 */
export class GcmStream {
  readonly #key: AttachmentKey;
  #decipher: DecipherGCM | undefined;
  #held: Uint8Array = NOTHING;

  constructor(key: AttachmentKey) {
    this.#key = key;
  }

  update(chunk: Uint8Array): Uint8Array {
    const held = this.#held;
    if (chunk.length >= TAG && held.length >= IV) {
      this.#held = chunk;
      return this.#open(held);
    }
    const bytes = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    if (bytes.length < SHORT || held.length === 0) {
      this.#held = bytes;
      return NOTHING;
    }
    const ready = bytes.length - TAG;
    this.#held = bytes.slice(ready);
    return this.#open(bytes.subarray(0, ready));
  }

  /** The last of the plain octets, if the tag proves them and all that came out before; undefined otherwise. */
  end(): Uint8Array | undefined {
    const ready = this.#held.length - TAG;
    if (ready < (this.#decipher === undefined ? IV : 0)) return undefined;
    try {
      const plain = this.#open(this.#held.subarray(0, ready));
      this.#decipher?.setAuthTag(this.#held.subarray(ready)).final();
      return plain;
    } catch {
      return undefined;
    }
  }

  /** The first octets hold the IV at least. */
  #open(bytes: Uint8Array): Uint8Array {
    if (this.#decipher !== undefined) return this.#decipher.update(bytes);
    this.#decipher = createDecipheriv(this.#key.algorithm, this.#key.sessionKey, bytes.subarray(0, IV));
    return this.#decipher.update(bytes.subarray(IV));
  }
}

/**
 * Decrypts an encrypted Body and gives the Body element as it was before encryption, to be handed to verifyEnvelope as
 * `decryptedBody`. Its place in the tree is the old one's, so its canonical form is what the sender signed.
 */
export function decryptBody(envelope: Envelope, decryption: Decryption, limits: Limits): XmlElement | SecurityRefusal {
  const { body } = envelope;
  if (body === undefined || decryption.body === undefined) return refusal('decryption', CANNOT);
  const stream = new GcmStream(decryption.body.key);
  stream.update(decryption.body.cipher);
  const plain = stream.end();
  if (plain === undefined) return refusal('decryption', CANNOT);
  const parsed = parseInScope(plain, body, limits);
  if (parsed === undefined) return refusal('malformed', 'the decrypted Body is not well-formed');
  const children: XmlNode[] = [];
  const restored: XmlElement = { ...body, children };
  for (const node of parsed.children) children.push(node.kind === 'element' ? { ...node, parent: restored } : node);
  return restored;
}

/** Parses a fragment with the namespaces that are in scope at the element. */
function parseInScope(fragment: Uint8Array, at: XmlElement, limits: Limits): XmlElement | undefined {
  const scope = new Map<string, string>();
  for (let e: XmlElement | undefined = at; e !== undefined; e = e.parent) {
    for (const [prefix, uri] of e.declarations) if (!scope.has(prefix)) scope.set(prefix, uri);
  }
  const name = (prefix: string): string => (prefix === '' ? 'xmlns' : `xmlns:${prefix}`);
  const declared = [...scope].map(([prefix, uri]) => ` ${name(prefix)}="${attributeValue(uri)}"`);
  const open = Buffer.from(`<scope${declared.join('')}>`);
  try {
    const bytes = Buffer.concat([open, fragment, Buffer.from('</scope>')]);
    const maxBytes = limits.rootPart + open.length + '</scope>'.length;
    return parseXml(bytes, { maxBytes, depth: limits.depth, uniqueIds: true }).root;
  } catch {
    return undefined;
  }
}
