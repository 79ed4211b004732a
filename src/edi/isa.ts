import { EdiBroken } from './broken.js';
import { unfit } from './una.js';

/** The interchange control header of X12 (X12.5): 106 characters, in which every element has its fixed width. */
export interface Isa {
  readonly marks: { readonly element: number; readonly component: number; readonly terminator: number };
  readonly separators: { readonly element: string; readonly component: string; readonly terminator: string; readonly repetition?: string };
  /** ISA01 to ISA16 at index 1 to 16, without padding. */
  readonly values: readonly string[];
  readonly raw: { readonly ISA06: string; readonly ISA08: string };
}

const WIDTHS = [2, 10, 2, 10, 2, 15, 2, 15, 6, 4, 1, 5, 9, 1, 1, 1];
/** Elements that may be part of a key: they must be text. */
const NAMING = [5, 6, 7, 8, 9, 10, 13, 15];

/** Reads the 106 bytes at file offset `offset`. */
export function readIsa(bytes: Uint8Array, offset: number): Isa {
  const place = { segment: 1, tag: 'ISA', offset };
  const element = bytes[3] ?? 0;
  const raw = ['ISA'];
  let at = 3;
  for (const width of WIDTHS) {
    if (bytes[at] !== element) {
      throw new EdiBroken('ISA is not 106 characters with its separators in place', { ...place, offset: offset + at });
    }
    raw.push(Buffer.from(bytes.subarray(at + 1, at + 1 + width)).toString('latin1'));
    at += 1 + width;
  }
  const component = bytes[104] ?? 0;
  const terminator = bytes[105] ?? 0;
  const marks = [element, component, terminator];
  if (new Set(marks).size !== 3 || unfit(element) || unfit(component) || unfit(terminator)) {
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
    marks: { element, component, terminator },
    separators: {
      element: String.fromCharCode(element),
      component: String.fromCharCode(component),
      terminator: String.fromCharCode(terminator),
      ...(repetition === undefined ? {} : { repetition }),
    },
    values,
    raw: { ISA06: raw[6] ?? '', ISA08: raw[8] ?? '' },
  };
}

/** ISA11 is the repetition separator from version 00402 on; before, and with writers that never changed it, a letter. */
function repetitionOf(isa11: string, isa12: string): string | undefined {
  return isa12 >= '00402' && !/[A-Za-z0-9 ]/.test(isa11) ? isa11 : undefined;
}
