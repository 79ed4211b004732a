import { randomUUID } from 'node:crypto';
import type { SignedPart } from './sign.js';

/**
 * How a multipart/related package is spelled. The defaults are what phase4 and Holodeck write, with a start
 * parameter.
 */
export interface MimeSpelling {
  readonly boundary: string;
  /** Line ends of the MIME framing; the content of parts is never touched. */
  readonly lineEnd: '\r\n' | '\n';
  readonly rootContentId: string | undefined;
  /** The start parameter: the root's Content-ID, nothing, or a text of its own. */
  readonly start: 'root' | 'none' | { readonly value: string };
  readonly type: boolean;
  readonly charset: boolean;
  readonly preamble: string;
  readonly epilogue: string;
  /** Part header lines changed as a whole: case, folding, order. */
  readonly headers?: (lines: string[]) => string[];
  /** The Content-Type header value changed as a whole. */
  readonly contentType?: (value: string) => string;
  /** White space after the boundary on its own line (RFC 2046, 5.1.1: transport padding). */
  readonly padding: string;
  /** False leaves the closing delimiter away, as a cut transfer does. */
  readonly closed: boolean;
  /** Order of the parts: the root first, or last (then `start` must name it). */
  readonly rootFirst: boolean;
}

export function plainMime(): MimeSpelling {
  return {
    boundary: `----=_Part_${randomUUID()}`,
    lineEnd: '\r\n',
    rootContentId: `root.${randomUUID()}@as4-once-conformance.test`,
    start: 'root',
    type: true,
    charset: true,
    preamble: '',
    epilogue: '',
    padding: '',
    closed: true,
    rootFirst: true,
  };
}

export interface Package {
  readonly contentType: string;
  readonly body: Buffer;
  /** Offsets in `body`: end of the SOAP part, and start of the closing delimiter. */
  readonly rootEnd: number;
  readonly closingStart: number;
}

/** Writes the SOAP envelope and its attachments as multipart/related (SOAP with Attachments; RFC 2387, RFC 2046). */
export function writePackage(
  envelope: Buffer,
  soapType: string,
  parts: readonly SignedPart[],
  spelling: MimeSpelling,
): Package {
  const eol = spelling.lineEnd;
  const charset = spelling.charset ? '; charset=UTF-8' : '';
  const root = {
    head: [`Content-Type: ${soapType}${charset}`, 'Content-Transfer-Encoding: binary'],
    id: spelling.rootContentId,
    bytes: envelope,
  };
  const attached = parts.map((part) => ({
    head: [`Content-Type: ${part.mediaType}`, 'Content-Transfer-Encoding: binary'],
    id: part.contentId,
    bytes: part.bytes,
  }));
  const all = spelling.rootFirst ? [root, ...attached] : [...attached, root];
  const pieces: Buffer[] = [Buffer.from(spelling.preamble, 'utf8')];
  let rootEnd = 0;
  for (const [index, part] of all.entries()) {
    const lines = [...part.head, ...(part.id === undefined ? [] : [`Content-ID: <${part.id}>`])];
    const head = spelling.headers === undefined ? lines : spelling.headers(lines);
    // the first delimiter needs no line end before it unless a preamble stands there
    const opening = index === 0 && spelling.preamble === '' ? '' : eol;
    pieces.push(
      Buffer.from(`${opening}--${spelling.boundary}${spelling.padding}${eol}${head.join(eol)}${eol}${eol}`, 'utf8'),
      part.bytes,
    );
    if (part === root) rootEnd = size(pieces);
  }
  const closingStart = size(pieces);
  if (spelling.closed) pieces.push(Buffer.from(`${eol}--${spelling.boundary}--${eol}${spelling.epilogue}`, 'utf8'));
  return { contentType: contentType(soapType, spelling), body: Buffer.concat(pieces), rootEnd, closingStart };
}

function size(pieces: readonly Buffer[]): number {
  return pieces.reduce((sum, piece) => sum + piece.length, 0);
}

function contentType(soapType: string, spelling: MimeSpelling): string {
  const parameters = [`boundary="${spelling.boundary}"`];
  if (spelling.type) parameters.push(`type="${soapType}"`);
  if (spelling.start === 'root' && spelling.rootContentId !== undefined)
    parameters.push(`start="<${spelling.rootContentId}>"`);
  else if (typeof spelling.start === 'object') parameters.push(`start="${spelling.start.value}"`);
  const value = `multipart/related; ${parameters.join('; ')}`;
  return spelling.contentType === undefined ? value : spelling.contentType(value);
}
