import { createDecipheriv, privateDecrypt, constants } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { parameterOf, splitMultipart } from '../../../conformance/as4/multipart.js';
import type { MimePart } from '../../../conformance/as4/multipart.js';
import { NS } from '../../../conformance/as4/names.js';
import { readReferences } from '../../../conformance/as4/answer.js';
import type { ReceiptReference } from '../../../conformance/as4/answer.js';
import type { SignedPart } from '../../../conformance/as4/sign.js';
import { verifyEnvelope } from '../../../conformance/as4/verify.js';
import { attributeOf, childrenOf, everyElement, onlyChild, plainText, readXml } from '../../../conformance/as4/xml.js';
import type { XmlElement } from '../../../conformance/as4/xml.js';

/** A refusal with its ebMS code. */
export class Refusal extends Error {
  readonly code: string;
  readonly messageId: string | undefined;
  constructor(code: string, message: string, messageId?: string) {
    super(message);
    this.code = code;
    this.messageId = messageId;
  }
}

export interface Payload {
  readonly mimeType: string;
  readonly content: Buffer;
}

export interface Incoming {
  readonly soap: '1.1' | '1.2';
  readonly messageId: string;
  readonly from: string;
  readonly service: string;
  readonly signed: boolean;
  readonly references: readonly ReceiptReference[];
  readonly payloads: readonly Payload[];
}

/** What the reader of a broken receiver does differently. */
export interface ReadOptions {
  readonly key: KeyObject;
  readonly requireSignature: boolean;
  readonly trusted: readonly Buffer[];
  /** Rewrites the package before it is read; how a broken reader sees it. */
  readonly before?: (body: Buffer, contentType: string) => Buffer;
  readonly skipVerification?: boolean;
}

/** Reads a request as a careful access point does: strictly, verified, decrypted, decompressed. */
export function readIncoming(body: Buffer, contentType: string, options: ReadOptions): Incoming {
  const { envelope, parts } = unpack(options.before?.(body, contentType) ?? body, contentType);
  const root = xmlOf(envelope);
  if (root.local !== 'Envelope' || (root.ns !== NS.soap11 && root.ns !== NS.soap12))
    throw new Refusal('EBMS:0009', 'no SOAP envelope');
  const header = onlyChild(root, root.ns, 'Header');
  const messaging = onlyChild(header, NS.eb, 'Messaging');
  const user = onlyChild(messaging, NS.eb, 'UserMessage');
  const messageId = plainText(onlyChild(onlyChild(user, NS.eb, 'MessageInfo'), NS.eb, 'MessageId'));
  if (user === undefined || messageId === undefined || messageId === '')
    throw new Refusal('EBMS:0009', 'not exactly one UserMessage with a MessageId');
  if (Buffer.byteLength(messageId) > 255) throw new Refusal('EBMS:0009', 'the MessageId is too long');
  const partInfos = childrenOf(onlyChild(user, NS.eb, 'PayloadInfo') ?? user, NS.eb, 'PartInfo');
  const named = partInfos.map((info) => ({ info, part: partOf(info, parts, messageId) }));
  const decrypted = named.map(({ info, part }) => ({
    info,
    part: decrypt(part, header as XmlElement, options.key, messageId),
  }));
  const signature =
    header === undefined
      ? []
      : childrenOf(header, NS.wsse, 'Security').flatMap((security) => childrenOf(security, NS.ds, 'Signature'));
  const verified =
    options.skipVerification === true
      ? unverified(signature[0])
      : verify(
          envelope,
          signature,
          decrypted.map(({ part }) => part),
          options,
          messageId,
        );
  return {
    soap: root.ns === NS.soap12 ? '1.2' : '1.1',
    messageId,
    from: plainText(onlyChild(onlyChild(onlyChild(user, NS.eb, 'PartyInfo'), NS.eb, 'From'), NS.eb, 'PartyId')) ?? '',
    service: plainText(onlyChild(onlyChild(user, NS.eb, 'CollaborationInfo'), NS.eb, 'Service')) ?? '',
    signed: signature.length > 0,
    references: verified,
    payloads: decrypted.map(({ info, part }) => decompress(info, part, messageId)),
  };
}

function unpack(body: Buffer, contentType: string): { envelope: Buffer; parts: MimePart[] } {
  const essence = contentType.split(';')[0]?.trim().toLowerCase();
  if (essence === 'application/soap+xml' || essence === 'text/xml') return { envelope: body, parts: [] };
  if (essence !== 'multipart/related') throw new Refusal('415', 'neither SOAP nor MIME');
  try {
    const parts = splitMultipart(body, parameterOf(contentType, 'boundary') ?? '');
    const start = parameterOf(contentType, 'start');
    if (start !== undefined && parts[0]?.headers.get('content-id') !== start)
      throw new Error('start names another part than the first');
    return { envelope: parts[0]?.bytes ?? Buffer.alloc(0), parts: parts.slice(1) };
  } catch (error) {
    throw new Refusal('EBMS:0007', String(error));
  }
}

function xmlOf(envelope: Buffer): XmlElement {
  try {
    return readXml(envelope);
  } catch (error) {
    throw new Refusal('EBMS:0009', String(error));
  }
}

function partOf(info: XmlElement, parts: readonly MimePart[], messageId: string): SignedPart {
  const href = attributeOf(info, '', 'href') ?? '';
  if (!href.startsWith('cid:')) throw new Refusal('EBMS:0011', `payload ${href}`, messageId);
  const part = parts.find((candidate) => candidate.headers.get('content-id') === `<${href.slice(4)}>`);
  if (part === undefined) throw new Refusal('EBMS:0007', `no part ${href}`, messageId);
  return { contentId: href.slice(4), mediaType: part.headers.get('content-type') ?? '', bytes: part.bytes };
}

function decrypt(part: SignedPart, header: XmlElement, key: KeyObject, messageId: string): SignedPart {
  const elements = [...everyElement(header)];
  const data = elements.find(
    (element) =>
      element.ns === NS.xenc &&
      element.local === 'EncryptedData' &&
      [...everyElement(element)].some((inner) => attributeOf(inner, '', 'URI') === `cid:${part.contentId}`),
  );
  const wrapped = elements.find((element) => element.ns === NS.xenc && element.local === 'EncryptedKey');
  if (data === undefined || wrapped === undefined) return part;
  const value = [...everyElement(wrapped)].find((element) => element.local === 'CipherValue');
  try {
    const secret = privateDecrypt(
      { key, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha256' },
      Buffer.from(plainText(value) ?? '', 'base64'),
    );
    const decipher = createDecipheriv('aes-128-gcm', secret, part.bytes.subarray(0, 12));
    decipher.setAuthTag(part.bytes.subarray(-16));
    const bytes = Buffer.concat([decipher.update(part.bytes.subarray(12, -16)), decipher.final()]);
    return { ...part, mediaType: attributeOf(data, '', 'MimeType') ?? '', bytes };
  } catch {
    throw new Refusal('EBMS:0102', 'not decrypted', messageId);
  }
}

function verify(
  envelope: Buffer,
  signature: readonly XmlElement[],
  parts: readonly SignedPart[],
  options: ReadOptions,
  messageId: string,
): readonly ReceiptReference[] {
  if (signature.length === 0 && !options.requireSignature) return [];
  if (signature.length === 0) throw new Refusal('EBMS:0103', 'not signed', messageId);
  try {
    const { certificate, references } = verifyEnvelope(envelope, parts);
    if (!options.trusted.some((raw) => raw.equals(certificate.raw))) throw new Error('the certificate is not known');
    return references;
  } catch (error) {
    throw new Refusal('EBMS:0101', String(error), messageId);
  }
}

function unverified(signature: XmlElement | undefined): readonly ReceiptReference[] {
  const information = onlyChild(signature, NS.ds, 'SignedInfo');
  return information === undefined ? [] : readReferences(information);
}

function decompress(info: XmlElement, part: SignedPart, messageId: string): Payload {
  const properties = childrenOf(onlyChild(info, NS.eb, 'PartProperties') ?? info, NS.eb, 'Property');
  const value = (name: string) => plainText(properties.find((property) => attributeOf(property, '', 'name') === name));
  const mimeType = value('MimeType');
  if (value('CompressionType') !== 'application/gzip')
    return { mimeType: mimeType ?? part.mediaType, content: part.bytes };
  if (mimeType === undefined) throw new Refusal('EBMS:0003', 'compressed without MimeType', messageId);
  try {
    return { mimeType, content: gunzipSync(part.bytes, { maxOutputLength: 256 * 1024 * 1024 }) };
  } catch {
    throw new Refusal('EBMS:0303', 'not decompressed', messageId);
  }
}
