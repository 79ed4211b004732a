import { As4OnceError } from '../errors.js';

/** Undoing a Content-Transfer-Encoding (RFC 2045, 6) piece by piece; memory stays that of one chunk. */

export type TransferEncoding = 'identity' | 'base64' | 'quoted-printable';

/** The encoding a header field names; 7bit, 8bit and binary change nothing. Throws MIME_BROKEN for any other. */
export function transferEncoding(value: string | undefined): TransferEncoding {
  const name = (value ?? 'binary').trim().toLowerCase();
  if (name === '7bit' || name === '8bit' || name === 'binary' || name === '') return 'identity';
  if (name === 'base64' || name === 'quoted-printable') return name;
  throw new As4OnceError('MIME_BROKEN', `Content-Transfer-Encoding '${name.slice(0, 40)}'`);
}

export interface Decoder {
  /** Decoded bytes of what came so far; the view may share memory with the chunk. */
  push(chunk: Uint8Array): Uint8Array;
  /** The rest. Throws MIME_BROKEN where the encoding is cut. */
  end(): Uint8Array;
}

const NOTHING = new Uint8Array(0);

export function decoderFor(encoding: TransferEncoding): Decoder {
  if (encoding === 'base64') return new Base64Decoder();
  if (encoding === 'quoted-printable') return new QuotedPrintableDecoder();
  return { push: (chunk) => chunk, end: () => NOTHING };
}

const BASE64_CODE = new Int8Array(256).fill(-1);
for (const [value, c] of [...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'].entries()) {
  BASE64_CODE[c.charCodeAt(0)] = value;
}

/** Line ends, blanks and tabs are skipped; else what is outside the alphabet is refused, so that nobody reads it so. */
class Base64Decoder implements Decoder {
  #bits = 0;
  #count = 0;
  #padding = 0;

  push(chunk: Uint8Array): Uint8Array {
    const out = new Uint8Array(Math.ceil((chunk.length * 3) / 4) + 3);
    let length = 0;
    for (const byte of chunk) {
      const code = BASE64_CODE[byte]!;
      if (code < 0) {
        if (byte === 0x3d) this.#padding++;
        else if (byte !== 0x0a && !isPadding(byte)) throw broken('base64 with another character');
        continue;
      }
      if (this.#padding > 0) throw broken('base64 goes on after its end');
      this.#bits = (this.#bits << 6) | code;
      if (++this.#count === 4) {
        out[length++] = this.#bits >> 16;
        out[length++] = this.#bits >> 8;
        out[length++] = this.#bits;
        this.#count = 0;
        this.#bits = 0;
      }
    }
    return out.subarray(0, length);
  }

  end(): Uint8Array {
    if (this.#count === 1 || this.#padding > 2) throw broken('base64 is cut');
    if (this.#count === 2) return Uint8Array.of(this.#bits >> 4);
    if (this.#count === 3) return Uint8Array.of(this.#bits >> 10, this.#bits >> 2);
    return NOTHING;
  }
}

/** Soft line breaks and `=XX`; white space before a line end is padding and dropped (RFC 2045, 6.7 rule 3). */
class QuotedPrintableDecoder implements Decoder {
  /** An unfinished `=…` or trailing white space, at most MAX bytes. */
  #held: number[] = [];
  static readonly #MAX = 1000;

  push(chunk: Uint8Array): Uint8Array {
    const out: number[] = [];
    for (const byte of chunk) this.#byte(byte, out);
    return Uint8Array.from(out);
  }

  end(): Uint8Array {
    const held = this.#held;
    this.#held = [];
    if (held[0] === 0x3d && !held.slice(1).every(isPadding)) throw broken('quoted-printable is cut');
    return NOTHING;
  }

  #byte(byte: number, out: number[]): void {
    const held = this.#held;
    if (held[0] === 0x3d) {
      held.push(byte);
      if (byte === 0x0a) {
        if (held.slice(1, -1).every(isPadding)) this.#held = [];
        else throw broken('quoted-printable with a broken escape');
      } else if (held.length === 3 && isHex(held[1]!) && isHex(byte)) {
        out.push(Number.parseInt(String.fromCharCode(held[1]!, byte), 16));
        this.#held = [];
      } else if (held.length === 3 && isHex(held[1]!)) {
        throw broken('quoted-printable with a broken escape');
      } else if (held.length > QuotedPrintableDecoder.#MAX) {
        throw broken('quoted-printable with a line of white space only');
      }
      return;
    }
    if (isPadding(byte)) {
      held.push(byte);
      if (held.length > QuotedPrintableDecoder.#MAX) throw broken('quoted-printable with a line of white space only');
      return;
    }
    if (byte === 0x0a) {
      if (held.at(-1) === 0x0d) out.push(0x0d);
      out.push(byte);
      this.#held = [];
      return;
    }
    if (held.length > 0) {
      out.push(...held);
      this.#held = [];
    }
    if (byte === 0x3d) this.#held = [byte];
    else out.push(byte);
  }
}

/** Blank, tab or CR: what may stand before a line end without being content. */
function isPadding(byte: number): boolean {
  return byte === 0x20 || byte === 0x09 || byte === 0x0d;
}

function isHex(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}

function broken(detail: string): As4OnceError {
  return new As4OnceError('MIME_BROKEN', detail);
}
