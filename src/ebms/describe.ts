import { createHash } from 'node:crypto';
import type { Hash } from 'node:crypto';
import { As4OnceError } from '../errors.js';
import type { ErrorCode } from '../errors.js';
import { header } from '../exchange.js';
import type { Limits } from '../limits.js';
import type { Fingerprint, Message } from '../message.js';
import { boundaryOf, parseContentType } from '../mime/content-type.js';
import { firstBoundary } from '../mime/first-boundary.js';
import { MimeScanner } from '../mime/scanner.js';
import { children } from '../xml/tree.js';
import type { XmlElement } from '../xml/tree.js';
import { messageOf } from './as4.js';
import { describeMessages, warningsOf } from './describe-units.js';
import type { DescribedMessage } from './describe-units.js';
import { present } from './elements.js';
import { readEncryption } from './encryption-info.js';
import type { EncryptionInfo } from './encryption-info.js';
import { fingerprint } from './fingerprint.js';
import { NS } from './namespaces.js';
import { packageReader } from './package.js';
import { openStoredFile } from './stored-file.js';
import type { DigestReference, Envelope } from './units.js';

/** What the walk reads in a stored message: the object that `as4-once read --json` prints. */
export type Description = Refused | Described;

export interface Refused {
  readonly verdict: 'reject';
  readonly code: ErrorCode;
  readonly reason: string;
}

export interface Described extends DescribedPackage {
  readonly verdict: 'parse';
  readonly wellFormed: true;
  readonly soapVersion: '1.1' | '1.2';
  readonly rootElement: string;
  readonly rootNamespace: string;
  readonly messagingHeaders: number;
  readonly messages: readonly DescribedMessage[];
  readonly signatures?: readonly {
    readonly signatureMethod: string;
    readonly c14n: string;
    readonly references: readonly DigestReference[];
    readonly signatureValue: string;
  }[];
  readonly encryption?: EncryptionInfo;
  readonly bodyHasPayload: boolean;
  readonly bodyFirstChild?: string;
  readonly warnings?: readonly string[];
  /** Present where there is a UserMessage. */
  readonly fingerprint?: Fingerprint;
}

/** Of a multipart package; empty for a bare envelope. */
export interface DescribedPackage {
  readonly contentType?: string;
  readonly boundary?: string;
  readonly typeParam?: string;
  readonly startParam?: string;
  readonly mimeClosed?: true;
  readonly preambleBytes?: number;
  readonly rootPart?: number;
  readonly parts?: readonly DescribedPart[];
}

/** Sizes and digests are of the bytes as they stand in the package. */
export interface DescribedPart {
  readonly contentId?: string;
  readonly contentType?: string;
  readonly cte?: string;
  readonly size: number;
  readonly sha256: string;
}

/** A description together with what policy needs of the message. */
export interface Inspection {
  readonly description: Description;
  /** Present where there is a UserMessage. */
  readonly message?: Message;
  readonly bundled: boolean;
}

/** Describes a stored message; see inspect. */
export function describe(bytes: Uint8Array, contentType: string | undefined, limits: Limits): Description {
  return inspect(bytes, contentType, limits).description;
}

/**
 * Reads a stored message as the walk would. An HTTP head in front of it is taken off; without a Content-Type given, the
 * head's counts, and without one the first boundary line tells. Never throws for what the message is like.
 */
export function inspect(bytes: Uint8Array, contentType: string | undefined, limits: Limits): Inspection {
  try {
    const file = openStoredFile(bytes, limits);
    const type = contentType ?? (file.headers && header(file.headers, 'content-type')) ?? guessedType(file.body);
    const reader = packageReader(type, limits, () => ({ hash: true }));
    reader.push(file.body);
    reader.end();
    const envelope = reader.envelope;
    if (envelope === undefined) throw new As4OnceError('MIME_BROKEN', 'no root part');
    if (envelope.messaging === undefined) throw new As4OnceError('HEADER_INVALID', 'eb:Messaging missing');
    const user = envelope.userMessage;
    const mark = user && fingerprint(envelope, reader.parts);
    const description = present<Described>({
      verdict: 'parse', ...describePackage(file.body, type, limits), ...describeEnvelope(envelope), fingerprint: mark,
    });
    const bundled = user !== undefined && envelope.signals.length > 0;
    return user === undefined ? { description, bundled }
      : { description, bundled, message: { ...messageOf(envelope, user), fingerprint: mark! } };
  } catch (error) {
    if (!(error instanceof As4OnceError)) throw error;
    return { description: { verdict: 'reject', code: error.code, reason: error.detail }, bundled: false };
  }
}

function guessedType(body: Uint8Array): string | undefined {
  const boundary = firstBoundary(body);
  if (boundary === undefined) return undefined;
  return `multipart/related; boundary="${boundary.replace(/["\\]/g, '\\$&')}"; type="application/soap+xml"`;
}

function describeEnvelope(envelope: Envelope): Omit<Described, 'verdict' | keyof DescribedPackage | 'fingerprint'> {
  const messages = describeMessages(envelope);
  const warnings = warningsOf(envelope, messages);
  const root = envelope.document.root;
  const first = envelope.body?.children.find((n): n is XmlElement => n.kind === 'element');
  return present<Omit<Described, 'verdict' | keyof DescribedPackage | 'fingerprint'>>({
    wellFormed: true,
    soapVersion: envelope.soap,
    rootElement: root.local,
    rootNamespace: root.uri,
    messagingHeaders: envelope.header === undefined ? 0 : children(envelope.header, NS.eb, 'Messaging').length,
    messages,
    signatures: envelope.signatures.length === 0 ? undefined : envelope.signatures.map((s) => ({
      signatureMethod: s.signatureMethod, c14n: s.c14n, references: s.references, signatureValue: s.signatureValue,
    })),
    encryption: readEncryption(envelope),
    bodyHasPayload: first !== undefined,
    bodyFirstChild: first && (first.uri === '' ? first.local : `{${first.uri}}${first.local}`),
    warnings: warnings.length === 0 ? undefined : warnings,
  });
}

function describePackage(body: Uint8Array, contentType: string | undefined, limits: Limits): DescribedPackage {
  const media = contentType === undefined ? undefined : parseContentType(contentType);
  if (media?.type !== 'multipart/related') return contentType === undefined ? {} : { contentType };
  const parts: DescribedPart[] = [];
  let size = 0;
  let hash: Hash = createHash('sha256');
  const scanner = new MimeScanner({
    head: () => {
      size = 0;
      hash = createHash('sha256');
    },
    data: (bytes) => {
      size += bytes.length;
      hash.update(bytes);
    },
    end: ({ fields, contentId, contentType: type }) => {
      const cte = header(fields, 'content-transfer-encoding');
      parts.push(present<DescribedPart>({ contentId, contentType: type, cte, size, sha256: hash.digest('hex') }));
    },
  }, { boundary: boundaryOf(media), decode: false }, limits);
  scanner.push(body);
  return present<DescribedPackage>({
    contentType,
    boundary: media.parameters.get('boundary'),
    typeParam: media.parameters.get('type'),
    startParam: media.parameters.get('start'),
    mimeClosed: true,
    preambleBytes: scanner.preambleBytes,
    rootPart: 0,
    parts,
  });
}
