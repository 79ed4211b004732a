/**
 * Just enough of DER (ITU-T X.690) to read certificates, certificate paths and revocation lists, and to write a test
 * certificate. Signatures are node:crypto's business; this only finds bytes.
 */

/** One DER value: its tag byte, its content, and the bytes of the whole value. */
export interface DerValue {
  readonly tag: number;
  readonly content: Uint8Array;
  readonly whole: Uint8Array;
}

export const TAG = {
  boolean: 0x01, integer: 0x02, bitString: 0x03, octetString: 0x04, null: 0x05, oid: 0x06, utf8String: 0x0c,
  sequence: 0x30, set: 0x31, utcTime: 0x17, generalizedTime: 0x18,
} as const;

/** A value that is not DER, or not the value that was expected. Never leaves src/security. */
export class DerError extends Error {}

/** Reads the one value that fills `bytes`. */
export function readDer(bytes: Uint8Array): DerValue {
  const [value, ...rest] = readAll(bytes);
  if (value === undefined || rest.length > 0) throw new DerError('not exactly one value');
  return value;
}

/** Reads the values that fill `bytes`, one after the other (the content of a SEQUENCE or SET). */
export function readAll(bytes: Uint8Array): DerValue[] {
  const values: DerValue[] = [];
  let at = 0;
  while (at < bytes.length) {
    const start = at;
    const tag = byteAt(bytes, at++);
    if ((tag & 0x1f) === 0x1f) throw new DerError('long tags are not used in certificates');
    let length = byteAt(bytes, at++);
    if (length > 0x80) {
      const octets = length - 0x80;
      if (octets > 4) throw new DerError('length of more than 4 octets');
      length = 0;
      for (let i = 0; i < octets; i++) length = length * 256 + byteAt(bytes, at++);
    } else if (length === 0x80) {
      throw new DerError('indefinite length');
    }
    if (length > bytes.length - at) throw new DerError('value is cut off');
    values.push({ tag, content: bytes.subarray(at, at + length), whole: bytes.subarray(start, at + length) });
    at += length;
  }
  return values;
}

/** Members of a SEQUENCE or SET. */
export function members(value: DerValue | undefined, tag: number = TAG.sequence): DerValue[] {
  if (value?.tag !== tag) throw new DerError(`expected tag ${tag}, found ${value?.tag ?? 'nothing'}`);
  return readAll(value.content);
}

/** Dotted form of an OBJECT IDENTIFIER. */
export function oidOf(value: DerValue | undefined): string {
  if (value?.tag !== TAG.oid || value.content.length === 0) throw new DerError('expected an object identifier');
  const arcs: number[] = [];
  let arc = 0;
  for (const octet of value.content) {
    arc = arc * 128 + (octet & 0x7f);
    if (arc > 0xffff_ffff) throw new DerError('object identifier too large');
    if (octet < 0x80) {
      arcs.push(arc);
      arc = 0;
    }
  }
  const first = arcs[0] ?? 0;
  const root = Math.min(Math.floor(first / 40), 2);
  return [root, first - root * 40, ...arcs.slice(1)].join('.');
}

/** A non-negative or negative INTEGER, of at most 64 octets (serial numbers have 20). */
export function integerOf(value: DerValue | undefined): bigint {
  if (value?.tag !== TAG.integer || value.content.length === 0 || value.content.length > 64) {
    throw new DerError('expected an integer');
  }
  const magnitude = BigInt(`0x${Buffer.from(value.content).toString('hex')}`);
  return byteAt(value.content, 0) < 0x80 ? magnitude : magnitude - (1n << BigInt(8 * value.content.length));
}

/** UTCTime or GeneralizedTime as epoch milliseconds (RFC 5280 4.1.2.5: always with seconds, always Z). */
export function timeOf(value: DerValue | undefined): number {
  if (value?.tag !== TAG.utcTime && value?.tag !== TAG.generalizedTime) throw new DerError('expected a time');
  const digits = Buffer.from(value.content).toString('latin1');
  const m = /^(\d{2}|\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits);
  if (m === null || (m[1] ?? '').length !== (value.tag === TAG.utcTime ? 2 : 4)) throw new DerError('odd time');
  const year = Number(m[1]);
  const full = value.tag === TAG.generalizedTime ? year : year + (year < 50 ? 2000 : 1900);
  return Date.UTC(full, Number(m[2]) - 1, Number(m[3]), Number(m[4]), Number(m[5]), Number(m[6]));
}

/** Content of a BIT STRING that holds whole octets. */
export function bitsOf(value: DerValue | undefined): Uint8Array {
  if (value?.tag !== TAG.bitString || byteAt(value.content, 0) !== 0) throw new DerError('expected a bit string');
  return value.content.subarray(1);
}

function byteAt(bytes: Uint8Array, at: number): number {
  const octet = bytes[at];
  if (octet === undefined) throw new DerError('value is cut off');
  return octet;
}

/** Writes one value around the given contents. */
export function writeDer(tag: number, ...contents: Uint8Array[]): Uint8Array {
  const content = Buffer.concat(contents);
  if (content.length < 0x80) return Buffer.concat([Uint8Array.of(tag, content.length), content]);
  const length: number[] = [];
  for (let n = content.length; n > 0; n = Math.floor(n / 256)) length.unshift(n % 256);
  return Buffer.concat([Uint8Array.of(tag, 0x80 + length.length, ...length), content]);
}

export function writeOid(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const octets: number[] = [];
  for (const arc of [first * 40 + second, ...rest]) {
    const group = [arc % 128];
    for (let n = Math.floor(arc / 128); n > 0; n = Math.floor(n / 128)) group.unshift((n % 128) + 128);
    octets.push(...group);
  }
  return writeDer(TAG.oid, Uint8Array.from(octets));
}

/** A positive INTEGER from its big-endian octets. */
export function writeInteger(octets: Uint8Array): Uint8Array {
  let start = 0;
  while (start < octets.length - 1 && octets[start] === 0) start++;
  const trimmed = octets.subarray(start);
  return (trimmed[0] ?? 0) < 0x80 ? writeDer(TAG.integer, trimmed) : writeDer(TAG.integer, Uint8Array.of(0), trimmed);
}

/** UTCTime until 2049, GeneralizedTime from 2050, as RFC 5280 asks. */
export function writeTime(ms: number): Uint8Array {
  const digits = new Date(ms).toISOString().replace(/[-:T]/g, '').slice(0, 14);
  const utc = Number(digits.slice(0, 4)) < 2050;
  return writeDer(utc ? TAG.utcTime : TAG.generalizedTime, Buffer.from(`${utc ? digits.slice(2) : digits}Z`, 'latin1'));
}
