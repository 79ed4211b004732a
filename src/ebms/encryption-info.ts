import { comparableId } from '../mime/content-type.js';
import { attribute, child, children } from '../xml/tree.js';
import type { XmlElement } from '../xml/tree.js';
import { present } from './elements.js';
import { NS } from './namespaces.js';
import type { Envelope } from './units.js';

/** What the wsse:Security headers say of encryption (XML Encryption 1.1, SwA profile 1.1); nothing is decrypted. */
export interface EncryptionInfo {
  /** Number of xenc:EncryptedKey elements. */
  readonly keys: number;
  /** Key transport algorithm of each. */
  readonly keyTransport: readonly string[];
  readonly data: readonly EncryptedData[];
}

export interface EncryptedData {
  readonly id?: string;
  readonly algorithm: string;
  /** `cid:…` of an encrypted attachment; absent where the cipher value stands in the envelope. */
  readonly cid?: string;
  readonly mimeType?: string;
}

/** Undefined where nothing is encrypted. */
export function readEncryption({ header, body }: Pick<Envelope, 'header' | 'body'>): EncryptionInfo | undefined {
  const security = header === undefined ? [] : children(header, NS.wsse, 'Security');
  const keys = security.flatMap((s) => children(s, NS.xenc, 'EncryptedKey'));
  const holders = body === undefined ? security : [...security, body];
  const data = holders.flatMap((holder) => children(holder, NS.xenc, 'EncryptedData'));
  if (keys.length === 0 && data.length === 0) return undefined;
  return { keys: keys.length, keyTransport: keys.map(method), data: data.map(readData) };
}

/** Comparable ids (mime/content-type.ts) of the encrypted attachments. */
export function encryptedAttachments(encryption: EncryptionInfo | undefined): ReadonlySet<string> {
  return new Set((encryption?.data ?? []).flatMap((d) => (d.cid === undefined ? [] : [comparableId(d.cid)])));
}

function readData(element: XmlElement): EncryptedData {
  const cipher = child(element, NS.xenc, 'CipherData');
  const reference = cipher && child(cipher, NS.xenc, 'CipherReference');
  return present<EncryptedData>({
    id: attribute(element, '', 'Id'),
    algorithm: method(element),
    cid: reference && attribute(reference, '', 'URI'),
    mimeType: attribute(element, '', 'MimeType'),
  });
}

function method(element: XmlElement): string {
  const found = child(element, NS.xenc, 'EncryptionMethod');
  return (found && attribute(found, '', 'Algorithm')) ?? '';
}
