import { gzipSync } from 'node:zlib';
import type { X509Certificate } from 'node:crypto';
import type { Identity } from '../keys.js';
import { encryptParts } from './encrypt.js';
import { plainMime, writePackage } from './mime.js';
import type { MimeSpelling } from './mime.js';
import { NS } from './names.js';
import { signEnvelope } from './sign.js';
import type { SignedPart, SignedReference } from './sign.js';
import { PLAIN_SPELLING, SECURITY_SLOT, writeEnvelope } from './user-message.js';
import type { Spelling, UserMessage } from './user-message.js';

/** Everything that decides the bytes of one request. */
export interface RequestPlan {
  readonly message: UserMessage;
  readonly spelling?: Partial<Spelling>;
  readonly mime?: Partial<MimeSpelling>;
  /** multipart/related unless `bare`: the envelope alone, only without attachments. */
  readonly packaging?: 'multipart' | 'bare';
  /** Signs when given. */
  readonly identity?: Identity;
  /** Encrypts the attachments for this certificate when given. */
  readonly receiver?: X509Certificate;
  /** Changes the finished envelope, after signing: what an attacker or a broken proxy does. */
  readonly tamper?: (envelope: string) => string;
  /** Changes the attachments after signing. */
  readonly tamperParts?: (parts: readonly SignedPart[]) => readonly SignedPart[];
  /** False leaves the attachments out of the signature. */
  readonly signParts?: boolean;
  /** What is done to content that shall be compressed; gzip unless said otherwise. */
  readonly compressor?: (content: Buffer) => Buffer;
  /** Digests are taken of these bytes instead of the compressed ones: the order compress, sign turned round. */
  readonly order?: 'compress-sign-encrypt' | 'sign-compress' | 'encrypt-sign';
}

/** A request ready for the wire. */
export interface BuiltRequest {
  readonly messageId: string;
  readonly contentType: string;
  readonly body: Buffer;
  readonly envelope: string;
  readonly references: readonly SignedReference[];
  readonly soap: '1.1' | '1.2';
  readonly rootEnd: number;
  readonly closingStart: number;
}

/**
 * Compresses, signs, encrypts and packs, in that order (AS4 3.1, 5.1.6). A second call on the same plan makes new ids
 * and keys.
 */
export function buildRequest(plan: RequestPlan): BuiltRequest {
  const spelling: Spelling = { ...PLAIN_SPELLING, ...plan.spelling };
  const order = plan.order ?? 'compress-sign-encrypt';
  const envelope = writeEnvelope(plan.message, spelling);
  const packed: SignedPart[] = plan.message.payloads.map((payload) => ({
    contentId: payload.contentId,
    mediaType: payload.compress ? 'application/gzip' : payload.mimeType,
    bytes: payload.compress ? (plan.compressor ?? gzip)(payload.content) : payload.content,
  }));
  const loose: SignedPart[] = plan.message.payloads.map((payload) => ({
    contentId: payload.contentId,
    mediaType: 'application/octet-stream',
    bytes: payload.content,
  }));
  const encrypted = plan.receiver === undefined ? undefined : encryptParts(packed, plan.receiver);
  const toSign = order === 'sign-compress' ? loose : order === 'encrypt-sign' ? (encrypted?.parts ?? packed) : packed;
  const signature =
    plan.identity === undefined
      ? undefined
      : signEnvelope(envelope, plan.signParts === false ? [] : toSign, plan.identity);
  const security = (encrypted?.xml ?? '') + (signature?.xml ?? '');
  const prefix = spelling.soapPrefix;
  const must = spelling.soap === '1.2' ? 'true' : '1';
  const header =
    security === ''
      ? ''
      : `<wsse:Security xmlns:wsse="${NS.wsse}" ${prefix}:mustUnderstand="${must}">${security}</wsse:Security>`;
  const written = envelope.xml.replace(SECURITY_SLOT, () => header);
  const xml = plan.tamper === undefined ? written : plan.tamper(written);
  const bytes = Buffer.from((spelling.byteOrderMark ? '\ufeff' : '') + xml, 'utf8');
  const soapType = spelling.soap === '1.2' ? 'application/soap+xml' : 'text/xml';
  const parts =
    plan.tamperParts === undefined ? (encrypted?.parts ?? packed) : plan.tamperParts(encrypted?.parts ?? packed);
  const common = {
    messageId: plan.message.messageId,
    envelope: xml,
    references: signature?.references ?? [],
    soap: spelling.soap,
  };
  if (plan.packaging === 'bare') {
    if (parts.length > 0) throw new Error('attachments need multipart packaging');
    const charset = plan.mime?.charset === false ? '' : '; charset=UTF-8';
    const value = `${soapType}${charset}`;
    const contentType = plan.mime?.contentType === undefined ? value : plan.mime.contentType(value);
    return { ...common, contentType, body: bytes, rootEnd: bytes.length, closingStart: bytes.length };
  }
  return { ...common, ...writePackage(bytes, soapType, parts, { ...plainMime(), ...plan.mime }) };
}

/** Node's gzip writes no time stamp, so that the same content always has the same signed digest. */
function gzip(content: Buffer): Buffer {
  return gzipSync(content, { level: 6 });
}
