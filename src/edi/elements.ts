import { EdiBroken, type Place } from './broken.js';

/** Bytes that separate, as numbers; -1 where the syntax has none. */
export interface Marks {
  readonly element: number;
  readonly component: number;
  readonly release: number;
}

/** Longest value taken from an envelope, bytes. The standards allow at most 35; see limits.messageId and limits.partyId. */
const LONGEST = 255;

/**
 * A segment's elements, each split into components, as bytes with release characters resolved (ISO 9735 section 5.2).
 * Element 0 is the tag. Bytes behind the 40th element are not read.
 */
export function split(segment: Uint8Array, marks: Marks): Uint8Array[][] {
  const elements: Uint8Array[][] = [];
  let components: Uint8Array[] = [];
  let value: number[] = [];
  for (let at = 0; at <= segment.length && elements.length < 40; at += 1) {
    const byte = segment[at];
    if (byte !== undefined && byte === marks.release && at + 1 < segment.length) {
      at += 1;
      value.push(segment[at] ?? 0);
    } else if (byte === undefined || byte === marks.element || byte === marks.component) {
      components.push(Uint8Array.from(value));
      value = [];
      if (byte !== marks.component) {
        elements.push(components);
        components = [];
      }
    } else {
      value.push(byte);
    }
  }
  return elements;
}

/** ISO 8859 parts by syntax identifier (ISO 9735-10, UNO C to L). */
const ISO_8859: Readonly<Record<string, string>> = {
  UNOD: 'iso-8859-2', UNOE: 'iso-8859-5', UNOF: 'iso-8859-7', UNOG: 'iso-8859-3', UNOH: 'iso-8859-4', UNOI: 'iso-8859-6',
  UNOJ: 'iso-8859-8', UNOK: 'iso-8859-9', UNOL: 'iso-8859-15',
};

/**
 * Text of one element. Control characters and bytes outside the declared character set are refused: they mean that the
 * segment was cut, wrapped or recoded, and a key must not come from it.
 */
export function textOf(bytes: Uint8Array, syntaxId: string, place: Place): string {
  if (bytes.length > LONGEST) throw new EdiBroken(`an element is longer than ${LONGEST} bytes`, place);
  let ascii = true;
  for (const byte of bytes) {
    if (byte < 0x20 || byte === 0x7f) {
      const what = byte === 0x0a || byte === 0x0d ? 'a line break' : `the control character 0x${byte.toString(16).padStart(2, '0')}`;
      throw new EdiBroken(`${what} inside an element`, place);
    }
    if (byte > 0x7f) ascii = false;
  }
  if (ascii) return Buffer.from(bytes).toString('latin1');
  if (syntaxId === 'UNOA' || syntaxId === 'UNOB') throw new EdiBroken(`a byte outside the character set ${syntaxId}`, place);
  return decode(bytes, syntaxId, place);
}

function decode(bytes: Uint8Array, syntaxId: string, place: Place): string {
  const label = ISO_8859[syntaxId];
  if (label !== undefined) return new TextDecoder(label).decode(bytes);
  if (syntaxId === 'UNOC') return Buffer.from(bytes).toString('latin1');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    if (syntaxId === 'UNOW') throw new EdiBroken('not UTF-8 although UNOW says so', place);
    return Buffer.from(bytes).toString('latin1');
  }
}
