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
 * The elements of one segment (element 0 is the tag), each made of components, release characters resolved (ISO 9735-1,
 * 10). A value is its bytes, one letter each; textOf decodes it. Nothing is split before it is asked for, since most
 * segments are asked for two values.
 */
export class Elements {
  readonly #text: string;
  readonly #element: string;
  readonly #component: string;
  #split: string[][] | undefined;

  constructor(segment: Buffer, marks: Marks) {
    this.#text = segment.toString('latin1');
    this.#element = String.fromCharCode(marks.element);
    this.#component = String.fromCharCode(marks.component);
    const release = String.fromCharCode(marks.release);
    if (marks.release !== -1 && this.#text.includes(release)) {
      this.#split = splitReleased(this.#text, this.#element, this.#component, release);
    }
  }

  /** Undefined where the segment is too short; '' where the value was left out. */
  value(element: number, component: number): string | undefined {
    if (this.#split !== undefined) return this.#split[element]?.[component];
    const whole = part(this.#text, this.#element, element);
    return whole === undefined ? undefined : part(whole, this.#component, component);
  }
}

/** The `index`-th part between separators. */
function part(text: string, separator: string, index: number): string | undefined {
  let from = 0;
  for (let left = index; left > 0; left -= 1) {
    const found = text.indexOf(separator, from);
    if (found === -1) return undefined;
    from = found + 1;
  }
  const end = text.indexOf(separator, from);
  return end === -1 ? text.slice(from) : text.slice(from, end);
}

function splitReleased(text: string, element: string, component: string, release: string): string[][] {
  const elements: string[][] = [];
  let components: string[] = [];
  let value = '';
  for (let at = 0; at <= text.length; at += 1) {
    const letter = text.charAt(at);
    if (letter === release && at + 1 < text.length) {
      at += 1;
      value += text.charAt(at);
    } else if (letter === '' || letter === element || letter === component) {
      components.push(value);
      value = '';
      if (letter !== component) {
        elements.push(components);
        components = [];
      }
    } else {
      value += letter;
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
export function textOf(bytes: string, syntaxId: string, place: Place): string {
  if (bytes.length > LONGEST) throw new EdiBroken(`an element is longer than ${LONGEST} bytes`, place);
  if (isPlain(bytes)) return bytes;
  for (const letter of bytes) {
    if (letter < ' ' || letter === '\x7f') {
      const what = letter === '\n' || letter === '\r' ? 'a line break' : `the control character 0x${letter.charCodeAt(0).toString(16).padStart(2, '0')}`;
      throw new EdiBroken(`${what} inside an element`, place);
    }
  }
  if (syntaxId === 'UNOA' || syntaxId === 'UNOB') throw new EdiBroken(`a byte outside the character set ${syntaxId}`, place);
  return decode(Buffer.from(bytes, 'latin1'), syntaxId, place);
}

/** Printable ASCII, as nearly every value is. */
function isPlain(bytes: string): boolean {
  for (let at = 0; at < bytes.length; at += 1) {
    const code = bytes.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

function decode(bytes: Buffer, syntaxId: string, place: Place): string {
  const label = ISO_8859[syntaxId];
  if (label !== undefined) return new TextDecoder(label).decode(bytes);
  if (syntaxId === 'UNOC') return bytes.toString('latin1');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    if (syntaxId === 'UNOW') throw new EdiBroken('not UTF-8 although UNOW says so', place);
    return bytes.toString('latin1');
  }
}
