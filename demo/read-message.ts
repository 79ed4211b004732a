import { gunzipSync } from 'node:zlib';
import { readEnvelope } from '../src/ebms/envelope.js';
import type { Envelope, UserMessage } from '../src/ebms/units.js';
import { As4OnceError } from '../src/errors.js';
import { LIMITS } from '../src/limits.js';
import { boundaryOf, comparableId, parseContentType } from '../src/mime/content-type.js';
import type { PartHead } from '../src/mime/part-head.js';
import { MimeScanner } from '../src/mime/scanner.js';

/** A payload as the application would get it: decompressed where the message says so (AS4 3.1). */
export interface Payload {
  readonly content: Buffer;
  /** File name ending that fits its media type. */
  readonly ending: 'xml' | 'bin';
}

export interface Received {
  readonly envelope: Envelope;
  readonly message: UserMessage;
  readonly payloads: readonly Payload[];
}

/** Most bytes a payload may grow to: the sample keeps everything in memory. */
const MAX_PAYLOAD = 64 * 1024 * 1024;

/** Reads a whole AS4 message. Throws As4OnceError where there is no UserMessage to be read. */
export function readMessage(contentType: string, body: Buffer): Received {
  const { root, parts } = unpack(contentType, body);
  const envelope = readEnvelope(root, LIMITS);
  const message = envelope.userMessage;
  if (message === undefined) throw new As4OnceError('HEADER_INVALID', 'no UserMessage');
  const payloads = message.payloads.flatMap((info): Payload[] => {
    const part = info.href === undefined ? undefined : parts.get(comparableId(info.href));
    if (part === undefined) return [];
    const says = (name: string): string | undefined => info.properties.find((property) => property.name === name)?.value;
    const content = says('CompressionType') === 'application/gzip' ? gunzipSync(part, { maxOutputLength: MAX_PAYLOAD }) : part;
    return [{ content, ending: says('MimeType')?.includes('xml') === true ? 'xml' : 'bin' }];
  });
  return { envelope, message, payloads };
}

/** The SOAP part, and the attachments by Content-ID. */
function unpack(contentType: string, body: Buffer): { root: Buffer; parts: Map<string, Buffer> } {
  const media = parseContentType(contentType);
  const parts = new Map<string, Buffer>();
  if (media?.type !== 'multipart/related') return { root: body, parts };
  let root: Buffer | undefined;
  let chunks: Buffer[] = [];
  const scanner = new MimeScanner({
    head: () => {
      chunks = [];
    },
    data: (bytes) => {
      chunks.push(Buffer.from(bytes));
    },
    end: (head: PartHead) => {
      const content = Buffer.concat(chunks);
      if (root === undefined) root = content;
      else if (head.contentId !== undefined) parts.set(comparableId(head.contentId), content);
    },
  }, { boundary: boundaryOf(media) }, LIMITS);
  scanner.push(body);
  scanner.end();
  if (root === undefined) throw new As4OnceError('MIME_BROKEN', 'no part');
  return { root, parts };
}
