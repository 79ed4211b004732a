import { As4OnceError } from '../errors.js';

/**
 * Reading of a Content-Type value (RFC 2045, 5.1) as real senders write it: parameters in any order and case, quoted or
 * not, any white space around `;` and `=`, empty parameters, folded lines. What two receivers could read differently is
 * refused instead of guessed.
 */
export interface MediaType {
  /** `type/subtype` in lower case. */
  readonly type: string;
  /** Parameters by name in lower case, in the order they came; the first one of a name counts. */
  readonly parameters: ReadonlyMap<string, string>;
}

/** Parameters that decide which bytes are the SOAP part: two different values, or an RFC 2231 spelling, are refused. */
const DECISIVE = ['boundary', 'start'];

/** Throws MIME_BROKEN where quotes do not end, or a decisive parameter is ambiguous. `undefined` for no media type. */
export function parseContentType(value: string): MediaType | undefined {
  const found = /^[\s]*([!#$%&'*+.^_`|~0-9a-z-]+)[\s]*\/[\s]*([!#$%&'*+.^_`|~0-9a-z-]+)[\s]*(?=;|$)/i.exec(value);
  if (found === null) return undefined;
  const parameters = new Map<string, string>();
  for (const [name, parameter] of readParameters(value, found[0].length)) {
    const standing = parameters.get(name);
    if (standing === undefined) {
      parameters.set(name, parameter);
    } else if (standing !== parameter && DECISIVE.includes(name)) {
      throw new As4OnceError('MIME_BROKEN', `Content-Type has two values of ${name}`);
    }
    if (DECISIVE.some((d) => name.startsWith(`${d}*`))) {
      throw new As4OnceError('MIME_BROKEN', `Content-Type spells ${name.slice(0, 40)} in the form of RFC 2231`);
    }
  }
  return { type: `${found[1]}/${found[2]}`.toLowerCase(), parameters };
}

function* readParameters(value: string, from: number): Generator<[name: string, value: string]> {
  let at = from;
  while (at < value.length) {
    // at a ';', or at what is left behind a closing quote
    const semicolon = value.indexOf(';', at);
    if (semicolon < 0) return;
    at = semicolon + 1;
    const equals = nextOf(value, at, '=');
    if (equals < 0) continue;
    const name = value.slice(at, equals).trim().toLowerCase();
    at = equals + 1;
    while (isSpace(value, at)) at++;
    if (value[at] === '"') {
      const [text, end] = quoted(value, at);
      at = end;
      yield [name, text];
    } else {
      const end = value.indexOf(';', at);
      yield [name, value.slice(at, end < 0 ? value.length : end).trim()];
      at = end < 0 ? value.length : end;
    }
  }
}

/** Index of the mark before the next `;`, or -1. */
function nextOf(value: string, from: number, mark: string): number {
  for (let i = from; i < value.length && value[i] !== ';'; i++) if (value[i] === mark) return i;
  return -1;
}

function isSpace(value: string, at: number): boolean {
  const c = value[at];
  return c === ' ' || c === '\t' || c === '\r' || c === '\n';
}

/** A quoted-string from its opening quote: its text without backslashes, and the index behind the closing quote. */
function quoted(value: string, from: number): [text: string, end: number] {
  let text = '';
  for (let i = from + 1; i < value.length; i++) {
    const c = value[i]!;
    if (c === '"') return [text, i + 1];
    if (c === '\\' && i + 1 < value.length) {
      i++;
      text += value[i]!;
    } else if (c !== '\r' && c !== '\n') {
      text += c;
    }
  }
  throw new As4OnceError('MIME_BROKEN', 'Content-Type holds a quote that does not end');
}

/**
 * The boundary of a multipart media type. RFC 2046 allows 70 characters; up to 200 are taken. Throws MIME_BROKEN where
 * there is none or it cannot stand on a delimiter line.
 */
export function boundaryOf(media: MediaType): string {
  const boundary = media.parameters.get('boundary');
  if (boundary === undefined || boundary === '') throw new As4OnceError('MIME_BROKEN', 'multipart without boundary');
  if (boundary.length > 200) throw new As4OnceError('MIME_BROKEN', `boundary of ${boundary.length} characters`);
  if (!/^[\x20-\x7e]*[\x21-\x7e]$/.test(boundary)) {
    throw new As4OnceError('MIME_BROKEN', 'boundary ends with white space or holds other than printable ASCII');
  }
  return boundary;
}

/** Whether a reference means a part of the package: the scheme of a URI has no case (RFC 3986, 3.1), @href is an xs:token. */
export function isCid(uri: string | undefined): uri is string {
  return uri !== undefined && /^\s*cid:/i.test(uri);
}

/** A Content-ID, `start` or `cid:` value to compare by: white space and angle brackets off, percent-encoding undone. */
export function comparableId(value: string): string {
  const bare = writtenId(value);
  if (!bare.includes('%')) return bare;
  try {
    return decodeURIComponent(bare);
  } catch {
    return bare;
  }
}

/** The same without undoing percent-encoding, which RFC 2392 has in `cid:` URIs and not in Content-ID fields. */
export function writtenId(value: string): string {
  let bare = value.trim();
  if (/^cid:/i.test(bare)) bare = bare.slice(4);
  return bare.startsWith('<') && bare.endsWith('>') && bare.length > 1 ? bare.slice(1, -1) : bare;
}
