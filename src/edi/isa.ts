import { EdiBroken } from './broken.js';
import { unfit } from './una.js';

/**
 * The interchange control header of X12 (X12.5): 106 characters, in which every element has its fixed width. Separators
 * are bytes, beyond ASCII too. In UTF-8 one may be a character of several: read where it separates components, which
 * nothing here is split by.
 */
export interface Isa {
  /** Bytes it takes up. */
  readonly length: number;
  readonly terminator: number;
  readonly separators: { readonly element: string; readonly component: string; readonly terminator: string; readonly repetition?: string };
  /** ISA01 to ISA16 at index 1 to 16, without padding. */
  readonly values: readonly string[];
  readonly raw: { readonly ISA06: string; readonly ISA08: string };
}

const WIDTHS = [2, 10, 2, 10, 2, 15, 2, 15, 6, 4, 1, 5, 9, 1, 1, 1];
/** Elements that may be part of a key: they must be text. */
const NAMING = [5, 6, 7, 8, 9, 10, 13, 15];

const COMPONENT = 104;

/** Bytes that readIsa needs: more than 106 where one of the last two begins a character of UTF-8, as it may. */
export function isaNeeds(bytes: Uint8Array): number {
  return (bytes[COMPONENT] ?? 0) < 0x80 && (bytes[COMPONENT + 1] ?? 0) < 0x80 ? 106 : 112;
}

/** Reads the bytes at file offset `offset`, as many as isaNeeds. */
export function readIsa(bytes: Uint8Array, offset: number): Isa {
  const place = { segment: 1, tag: 'ISA', offset };
  const element = bytes[3] ?? 0;
  const end = COMPONENT + characterLength(bytes, COMPONENT);
  if (characterLength(bytes, 3) > 1 || characterLength(bytes, end) > 1) {
    const what = characterLength(bytes, 3) > 1 ? 'element separator' : 'segment terminator';
    throw new EdiBroken(`the ${what} of ISA is a UTF-8 character of several bytes, and only one byte can be read as such`, place);
  }
  const raw = ['ISA'];
  let at = 3;
  for (const width of WIDTHS) {
    if (bytes[at] !== element) {
      throw new EdiBroken('ISA is not 106 characters with its separators in place', { ...place, offset: offset + at });
    }
    raw.push(Buffer.from(bytes.subarray(at + 1, at + 1 + width)).toString('latin1'));
    at += 1 + width;
  }
  const component = bytes[COMPONENT] ?? 0;
  const terminator = bytes[end] ?? 0;
  if (new Set([element, component, terminator]).size !== 3 || unfit(element) || unfit(component) || unfit(terminator)) {
    throw new EdiBroken('the separators of ISA cannot be told apart or are letters', place);
  }
  for (const index of NAMING) {
    if ([...(raw[index] ?? '')].some((letter) => letter < ' ' || letter === '\x7f')) {
      throw new EdiBroken(`a control character in ISA${String(index).padStart(2, '0')}`, place);
    }
  }
  const values = raw.map((value) => value.trimEnd());
  for (const index of [6, 8, 13]) {
    if ((values[index] ?? '').trim() === '') throw new EdiBroken(`ISA${String(index).padStart(2, '0')} is empty`, place);
  }
  const repetition = repetitionOf(raw[11] ?? '', raw[12] ?? '');
  return {
    length: end + 1,
    terminator,
    separators: {
      element: String.fromCharCode(element),
      component: Buffer.from(bytes.subarray(COMPONENT, end)).toString(end > COMPONENT + 1 ? 'utf8' : 'latin1'),
      terminator: String.fromCharCode(terminator),
      ...(repetition === undefined ? {} : { repetition }),
    },
    values,
    raw: { ISA06: raw[6] ?? '', ISA08: raw[8] ?? '' },
  };
}

/** How many bytes the character has that begins at `at`: 1 unless it is a whole one of UTF-8 beyond ASCII. */
function characterLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const length = first < 0xc2 || first > 0xf4 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  const others = bytes.subarray(at + 1, at + length);
  return others.length === length - 1 && others.every((byte) => byte >> 6 === 2) ? length : 1;
}

/** ISA11 is the repetition separator from version 00402 on; before, and with writers that never changed it, a letter. */
function repetitionOf(isa11: string, isa12: string): string | undefined {
  return isa12 >= '00402' && !/[A-Za-z0-9 ]/.test(isa11) ? isa11 : undefined;
}
