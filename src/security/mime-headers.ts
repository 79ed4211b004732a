import type { HeaderList } from '../exchange.js';

/** The header fields that the complete transform signs, in the order in which it writes them. */
const SIGNED = [
  'Content-Description', 'Content-Disposition', 'Content-ID', 'Content-Location', 'Content-Type',
] as const;

/** Parameters whose values do not differ by case. */
const CASELESS = new Set([
  'charset', 'creation-date', 'filename', 'modification-date', 'padding', 'read-date', 'size', 'type',
]);

/**
 * MIME header fields of an attachment in the canonical form of the Attachment-Complete-Signature-Transform (SwA Profile
 * 1.1, 5.4.1), as WSS4J writes it: no blank line between them and the content. Undefined where a field stands twice or
 * cannot be brought into the form; then nothing can have been signed. AS4 5.1.6 advises against this transform, so it
 * is here for partners that use it all the same. `fields` are unfolded and trimmed.
 */
export function canonicalHeaders(fields: HeaderList): string | undefined {
  let out = '';
  for (const name of SIGNED) {
    const [found, ...more] = fields.filter(([n]) => n.toLowerCase() === name.toLowerCase());
    if (more.length > 0) return undefined;
    const value = found?.[1];
    if (value === undefined) {
      if (name === 'Content-Type') out += 'Content-Type:text/plain;charset="us-ascii"\r\n';
      continue;
    }
    const plain = withoutComments(name === 'Content-Description' ? decodedWords(value) : value);
    const form = name === 'Content-Type' || name === 'Content-Disposition' ? withParameters(plain) : plain;
    if (form === undefined) return undefined;
    out += `${name}:${form}\r\n`;
  }
  return out;
}

/** Takes RFC 822 comments away, outside of quoted text. */
function withoutComments(value: string): string {
  let out = '';
  let depth = 0;
  let quoted = false;
  for (const c of value) {
    if (depth === 0 && c === '"') quoted = !quoted;
    if (!quoted && c === '(') depth++;
    else if (!quoted && c === ')' && depth > 0) depth--;
    else if (depth === 0) out += c;
  }
  return out;
}

/** `type; b=2; A="1"` as `type;a="1";b="2"`. */
function withParameters(value: string): string | undefined {
  const [type = '', ...parameters] = splitOutsideQuotes(value);
  if (parameters.length === 0) return value;
  const found = new Map<string, string>();
  for (const parameter of parameters) {
    const at = parameter.indexOf('=');
    const extended = parameter.slice(0, at).trim().endsWith('*');
    const name = parameter.slice(0, at).trim().toLowerCase().replace(/\*$/, '');
    const given = parameter.slice(at + 1).trim();
    const text = extended ? decodedExtended(given) : unquoted(given);
    // a name with a star left in it is one of several pieces (RFC 2231 3), which no AS4 product is known to sign
    if (at < 1 || text === undefined || name.includes('*') || found.has(name)) return undefined;
    found.set(name, CASELESS.has(name) ? text.toLowerCase() : text);
  }
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1));
  return type.toLowerCase() + sorted.map(([n, v]) => `;${n}="${v.replace(/["\\]/g, '\\$&')}"`).join('');
}

function splitOutsideQuotes(value: string): string[] {
  return value.match(/(?:"(?:[^"\\]|\\.)*"|[^;"])+/g) ?? [];
}

function unquoted(value: string): string {
  return /^".*"$/.test(value) ? value.slice(1, -1).replace(/\\(.)/g, '$1') : value;
}

/** `charset'language'percent-encoded` (RFC 2231, 4). */
function decodedExtended(value: string): string | undefined {
  const m = /^([^']*)'[^']*'(.*)$/.exec(value);
  const octets = (m?.[2] ?? value).replace(/%([0-9a-fA-F]{2})/g, octet);
  return decoded(Buffer.from(octets, 'latin1'), m?.[1] ?? 'us-ascii');
}

/** Encoded words of RFC 2047. */
function decodedWords(value: string): string {
  return value.replace(/=\?([^?]+)\?([QqBb])\?([^?]*)\?=/g, (whole, charset: string, coding: string, text: string) => {
    const quoted = text.replace(/_/g, ' ').replace(/=([0-9a-fA-F]{2})/g, octet);
    return decoded(coding.toUpperCase() === 'B' ? Buffer.from(text, 'base64') : Buffer.from(quoted, 'latin1'), charset)
      ?? whole;
  });
}

const octet = (_whole: string, hex: string): string => String.fromCharCode(parseInt(hex, 16));

function decoded(octets: Uint8Array, charset: string): string | undefined {
  try {
    return new TextDecoder(charset.split('*', 1)[0]).decode(octets);
  } catch {
    return undefined;
  }
}
