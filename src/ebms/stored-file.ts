import { gunzipSync } from 'node:zlib';
import { As4OnceError } from '../errors.js';
import { header } from '../exchange.js';
import type { HeaderList } from '../exchange.js';
import type { Limits } from '../limits.js';
import { isGzipCoded } from './content-coding.js';

/** A message as people keep it: the body alone, or with the HTTP request or response head in front of it. */
export interface StoredFile {
  /** Header fields in front of the body, if any. */
  readonly headers?: HeaderList;
  readonly body: Uint8Array;
}

/** Longest HTTP head that is looked for, bytes. */
const MAX_HEAD = 64 * 1024;

/**
 * Takes an HTTP head off, and with it a chunked transfer coding and a gzip content coding if the body has them: dumps
 * often name a coding that was already undone. Throws CONTENT_CODING, MIME_BROKEN or BODY_TOO_LARGE.
 */
export function openStoredFile(bytes: Uint8Array, limits: Limits): StoredFile {
  const file = splitHead(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length));
  if (file === undefined) return { body: bytes };
  const { headers } = file;
  let body: Buffer = file.body;
  if (/\bchunked\b/i.test(header(headers, 'transfer-encoding') ?? '')) body = unchunk(body) ?? body;
  if (isGzipCoded(header(headers, 'content-encoding')) && body[0] === 0x1f && body[1] === 0x8b) {
    try {
      body = gunzipSync(body, { maxOutputLength: limits.maxBody });
    } catch (error) {
      const tooLarge = (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE';
      const detail = `gzip: ${(error as Error).message}`;
      throw new As4OnceError(tooLarge ? 'BODY_TOO_LARGE' : 'MIME_BROKEN', detail, { cause: error });
    }
  }
  return { headers, body };
}

/** A byte order mark, empty lines (RFC 9112, 2.2) and interim responses (RFC 9110, 15.2), all of which recorders write. */
const BEFORE_HEAD = /^(?:\xef\xbb\xbf)?[\r\n]*(?:HTTP\/\d\S* 1\d\d\b[^]*?\r?\n\r?\n[\r\n]*)*/;

/**
 * A head is a start line or none, then header fields among which is a Content-Type, then an empty line. A field name
 * begins with a letter here, so that a boundary with a colon in it (`--uuid:…`) is none.
 */
function splitHead(bytes: Buffer): { headers: HeaderList; body: Buffer } | undefined {
  const start = BEFORE_HEAD.exec(bytes.subarray(0, MAX_HEAD).toString('latin1'))?.[0].length ?? 0;
  const text = bytes.subarray(start, start + MAX_HEAD).toString('latin1');
  const end = /\r?\n\r?\n/.exec(text);
  if (end === null) return undefined;
  const lines = text.slice(0, end.index).replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/);
  if (/^([A-Z]+ \S+ HTTP\/\d|HTTP\/\d)/.test(lines[0]!)) lines.shift();
  const headers: [string, string][] = [];
  for (const line of lines) {
    const field = /^([A-Za-z][!#$%&'*+.^_`|~0-9A-Za-z-]*)[ \t]*:(.*)$/.exec(line);
    if (field === null) return undefined;
    headers.push([field[1]!, field[2]!.trim()]);
  }
  if (header(headers, 'content-type') === undefined) return undefined;
  return { headers, body: bytes.subarray(start + end.index + end[0].length) };
}

/** Undoes chunked transfer coding (RFC 9112, 7.1); undefined where the bytes are not coded so. */
function unchunk(bytes: Buffer): Buffer | undefined {
  const pieces: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = bytes.indexOf('\r\n', at);
    const line = end < 0 || end - at > 200 ? '' : bytes.toString('latin1', at, end);
    const size = /^([0-9a-f]{1,8})[ \t]*(;.*)?$/i.exec(line);
    if (size === null) return undefined;
    const length = Number.parseInt(size[1]!, 16);
    if (length === 0) return Buffer.concat(pieces);
    pieces.push(bytes.subarray(end + 2, end + 2 + length));
    at = end + 2 + length + 2;
  }
  return undefined;
}
