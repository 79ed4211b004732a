/** The few DER forms (X.690) that a self-signed certificate needs. */

export const sequence = (...parts: Buffer[]): Buffer => tagged(0x30, Buffer.concat(parts));
export const set = (...parts: Buffer[]): Buffer => tagged(0x31, Buffer.concat(parts));
export const octets = (content: Buffer): Buffer => tagged(0x04, content);
export const bits = (content: Buffer, unused = 0): Buffer =>
  tagged(0x03, Buffer.concat([Buffer.from([unused]), content]));
export const utf8 = (text: string): Buffer => tagged(0x0c, Buffer.from(text, 'utf8'));
export const yes = (): Buffer => tagged(0x01, Buffer.from([0xff]));
export const nothing = (): Buffer => tagged(0x05, Buffer.alloc(0));
/** A constructed element with a context-specific number, as `[0] EXPLICIT`. */
export const explicit = (number: number, content: Buffer): Buffer => tagged(0xa0 | number, content);
/** A primitive element with a context-specific number, as `[0] IMPLICIT OCTET STRING`. */
export const implicit = (number: number, content: Buffer): Buffer => tagged(0x80 | number, content);

/** A positive INTEGER from its big-endian bytes. */
export function integer(bytes: Buffer): Buffer {
  let start = 0;
  while (start < bytes.length - 1 && bytes[start] === 0) start += 1;
  const trimmed = bytes.subarray(start);
  return tagged(0x02, (trimmed[0] ?? 0) & 0x80 ? Buffer.concat([Buffer.from([0]), trimmed]) : trimmed);
}

export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const groups = [arc & 0x7f];
    for (let left = arc >>> 7; left > 0; left >>>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return tagged(0x06, Buffer.from(bytes));
}

/** UTCTime up to 2049, GeneralizedTime beyond (RFC 5280, 4.1.2.5). */
export function time(at: Date): Buffer {
  const digits = `${at.toISOString().replace(/[-:T]/g, '').slice(0, 14)}Z`;
  return at.getUTCFullYear() < 2050
    ? tagged(0x17, Buffer.from(digits.slice(2), 'latin1'))
    : tagged(0x18, Buffer.from(digits, 'latin1'));
}

function tagged(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.from([tag]), length(content.length), content]);
}

function length(value: number): Buffer {
  if (value < 0x80) return Buffer.from([value]);
  const bytes: number[] = [];
  for (let left = value; left > 0; left = Math.floor(left / 256)) bytes.unshift(left % 256);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}
