/** One MIME part of a package: header fields with lower-case names, and its octets. */
export interface MimePart {
  readonly headers: ReadonlyMap<string, string>;
  readonly bytes: Buffer;
}

/** The parameter of a header value, quoted or not; undefined when absent. */
export function parameterOf(value: string, name: string): string | undefined {
  for (const match of value.matchAll(/;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]*))/g)) {
    if (match[1]?.toLowerCase() === name) return match[2] === undefined ? match[3] : match[2].replace(/\\(.)/g, '$1');
  }
  return undefined;
}

/** Splits a multipart body at its boundary lines. Throws when it is not closed or a part has no header end. */
export function splitMultipart(body: Buffer, boundary: string): MimePart[] {
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  const parts: MimePart[] = [];
  let start = -1;
  for (let at = body.indexOf(delimiter); at >= 0; at = body.indexOf(delimiter, at + 1)) {
    if (at > 0 && body[at - 1] !== 0x0a) continue;
    if (start >= 0) parts.push(readPart(body.subarray(start, lineEndBefore(body, at))));
    const after = at + delimiter.length;
    if (body[after] === 0x2d && body[after + 1] === 0x2d) return parts;
    const line = body.indexOf(0x0a, after);
    if (line < 0) break;
    start = line + 1;
  }
  throw new Error(parts.length === 0 && start < 0 ? 'the boundary does not occur' : 'the package is not closed');
}

/** Where the content before the delimiter at `at` ends: the line end belongs to the delimiter (RFC 2046, 5.1.1). */
function lineEndBefore(body: Buffer, at: number): number {
  return body[at - 2] === 0x0d ? at - 2 : at - 1;
}

function readPart(bytes: Buffer): MimePart {
  const blank = /\r?\n\r?\n/.exec(bytes.subarray(0, 65_536).toString('latin1'));
  const startsBlank = /^\r?\n/.exec(bytes.subarray(0, 2).toString('latin1'));
  if (startsBlank !== null) return { headers: new Map(), bytes: bytes.subarray(startsBlank[0].length) };
  if (blank === null) throw new Error('a part without an end of its headers');
  const text = bytes
    .subarray(0, blank.index)
    .toString('utf8')
    .replace(/\r?\n[ \t]+/g, ' ');
  const headers = new Map<string, string>();
  for (const line of text.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  return { headers, bytes: bytes.subarray(blank.index + blank[0].length) };
}
