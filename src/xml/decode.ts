import { As4OnceError } from '../errors.js';

/** The characters of a document, and what its bytes allow a declaration to say of them. */
export interface Source {
  readonly text: string;
  readonly encoding: 'utf-8' | 'utf-16le' | 'utf-16be';
  /** UTF-16 without a byte order mark: something else has to name it, or other readers take it for UTF-8 (4.3.3). */
  readonly guessed: boolean;
  readonly ascii: boolean;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** UTF-8 or UTF-16, by byte order mark or first bytes (XML 1.0, appendix F). Throws XML_BROKEN for any other bytes. */
export function decode(bytes: Uint8Array): Source {
  const [a, b] = bytes;
  const guessed = a === 0x00 || b === 0x00;
  const wide = (a === 0xfe && b === 0xff) || (a === 0x00 && b === 0x3c) ? 'utf-16be'
    : (a === 0xff && b === 0xfe) || (a === 0x3c && b === 0x00) ? 'utf-16le' : undefined;
  try {
    if (wide !== undefined) {
      return { text: new TextDecoder(wide, { fatal: true }).decode(bytes), encoding: wide, guessed, ascii: false };
    }
    const text = utf8.decode(bytes);
    // Byte order mark or not: as many characters as bytes means nothing but ASCII.
    return { text, encoding: 'utf-8', guessed: false, ascii: text.length === bytes.length };
  } catch {
    throw new As4OnceError('XML_BROKEN', `the bytes are not ${wide ?? 'UTF-8'}`);
  }
}

/** Encodings that read pure ASCII the way UTF-8 does, so that every receiver reads the same characters. */
const ASCII_COMPATIBLE = /^(us-ascii|ascii|iso-8859-\d+|latin\d|windows-125\d)$/;

/** Whether bytes of `source` may be called `named`, by the XML declaration or by the media type's charset. */
export function isEncoding(source: Source, named: string): boolean {
  const name = named.toLowerCase();
  return source.encoding !== 'utf-8' ? name === 'utf-16' || name === source.encoding
    : name === 'utf-8' || name === 'utf8' || (source.ascii && ASCII_COMPATIBLE.test(name));
}
