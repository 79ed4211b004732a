import { DerError, members, oidOf, TAG, type DerValue } from './der.js';

/**
 * Distinguished names (X.501), compared in one canonical text: `C=NL,O=X,CN=y` with the most significant part first as
 * in the certificate, short names for the usual attributes and dotted OIDs for the others, values folded as RFC 5280
 * 7.1 asks (case and runs of white space). XML Signature 4.5.4.1 writes them in RFC 4514 order, that is reversed.
 */
export interface DistinguishedName {
  /** Canonical text; two names are the same exactly where these are. */
  readonly text: string;
  /** First commonName, exactly as in the certificate. */
  readonly commonName: string | undefined;
  readonly der: Uint8Array;
}

const SHORT: Readonly<Record<string, string>> = {
  '2.5.4.3': 'CN', '2.5.4.4': 'SN', '2.5.4.5': 'SERIALNUMBER', '2.5.4.6': 'C', '2.5.4.7': 'L', '2.5.4.8': 'ST',
  '2.5.4.9': 'STREET', '2.5.4.10': 'O', '2.5.4.11': 'OU', '2.5.4.12': 'T', '2.5.4.17': 'POSTALCODE', '2.5.4.42': 'GN',
  '2.5.4.97': 'ORGANIZATIONIDENTIFIER', '1.2.840.113549.1.9.1': 'EMAILADDRESS',
  '0.9.2342.19200300.100.1.25': 'DC', '0.9.2342.19200300.100.1.1': 'UID',
};
const SYNONYMS: Readonly<Record<string, string>> = {
  S: 'ST', E: 'EMAILADDRESS', EMAIL: 'EMAILADDRESS', GIVENNAME: 'GN', SURNAME: 'SN', TITLE: 'T',
};
const BMP_STRING = 0x1e;
const UNIVERSAL_STRING = 0x1c;
const LATIN1_STRINGS = new Set([0x13, 0x14, 0x16, 0x1a]);

/** Reads an X.501 Name. */
export function nameOf(value: DerValue | undefined): DistinguishedName {
  if (value === undefined) throw new DerError('name expected');
  let commonName: string | undefined;
  const parts = members(value).map((rdn) => {
    const pairs = members(rdn, TAG.set).map((pair) => {
      const [type, content] = members(pair);
      const oid = oidOf(type);
      const text = stringOf(content);
      if (oid === '2.5.4.3') commonName ??= text;
      return `${SHORT[oid] ?? oid}=${fold(text)}`;
    });
    return pairs.sort(byText).join('+');
  });
  return { text: parts.join(','), commonName, der: value.whole };
}

function stringOf(value: DerValue | undefined): string {
  if (value === undefined) throw new DerError('string expected');
  const bytes = Buffer.from(value.content);
  if (value.tag === BMP_STRING && bytes.length % 2 === 0) return Buffer.from(bytes).swap16().toString('utf16le');
  if (value.tag === UNIVERSAL_STRING) return `#${bytes.toString('hex')}`;
  return bytes.toString(LATIN1_STRINGS.has(value.tag) ? 'latin1' : 'utf8');
}

const byText = (a: string, b: string): number => (a < b ? -1 : Number(a > b));

const fold = (value: string): string =>
  value.trim().replace(/\s+/g, ' ').toLowerCase().replace(/[\\,+=]/g, (c) => `\\${c}`);

/**
 * Canonical text of a name written as RFC 2253 or 4514 (or with blanks and semicolons, as older products do); both
 * orders are returned, since products disagree, and undefined where it cannot be read. At most 2,048 characters.
 */
export function namesWritten(written: string): readonly string[] | undefined {
  if (written.length > 2_048) return undefined;
  const parts: string[] = [];
  for (const rdn of split(written, ',;')) {
    const pairs = split(rdn, '+').map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) return undefined;
      const type = pair.slice(0, at).trim().toUpperCase().replace(/^OID\./, '');
      const name = SHORT[type] ?? SYNONYMS[type] ?? type;
      const value = unescape(pair.slice(at + 1).trim());
      return value === undefined ? undefined : `${name}=${fold(value)}`;
    });
    if (pairs.includes(undefined)) return undefined;
    parts.push(pairs.map(String).sort(byText).join('+'));
  }
  return [parts.join(','), [...parts].reverse().join(',')];
}

/** Splits at unescaped, unquoted separators. */
function split(text: string, separators: string): string[] {
  const parts: string[] = [];
  let part = '';
  let quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text.charAt(i);
    if (c === '\\') part += c + text.charAt(++i);
    else if (!quoted && separators.includes(c)) {
      parts.push(part);
      part = '';
    } else {
      if (c === '"') quoted = !quoted;
      part += c;
    }
  }
  return [...parts, part];
}

function unescape(value: string): string | undefined {
  const inner = value.startsWith('"') && value.endsWith('"') && value.length > 1 ? value.slice(1, -1) : value;
  if (inner.startsWith('#')) return unhex(inner.slice(1));
  const octets: number[] = [];
  for (let i = 0; i < inner.length; i++) {
    const hex = /^\\([0-9a-fA-F]{2})/.exec(inner.slice(i, i + 3));
    if (hex !== null) {
      octets.push(parseInt(hex[1] ?? '', 16));
      i += 2;
      continue;
    }
    const c = inner.charAt(i) === '\\' ? inner.charAt(++i) : String.fromCodePoint(inner.codePointAt(i) ?? 0);
    octets.push(...Buffer.from(c));
    if (c.length === 2) i++;
  }
  return Buffer.from(octets).toString('utf8');
}

/** `#0c03…`: the DER of the value in hex. */
function unhex(hex: string): string | undefined {
  if (!/^([0-9a-fA-F]{2}){2,}$/.test(hex)) return undefined;
  const bytes = Buffer.from(hex, 'hex');
  return bytes[1] === bytes.length - 2
    ? stringOf({ tag: bytes[0] ?? 0, content: bytes.subarray(2), whole: bytes }) : undefined;
}
