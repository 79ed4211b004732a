import { EdiBroken } from './broken.js';
import type { Marks } from './elements.js';

/** The service characters of an EDIFACT interchange, as bytes; -1 where there is none. */
export interface Una {
  readonly marks: Marks;
  readonly decimal: number;
  readonly repetition: number;
  readonly terminator: number;
  /** The service string advice as sent; undefined where the defaults hold. */
  readonly text?: string;
}

const SPACE = 0x20;

/** Service characters where there is no UNA (ISO 9735-1 section 8; the repetition separator is of version 4). */
export const DEFAULTS: Una = {
  marks: { component: 0x3a, element: 0x2b, release: 0x3f },
  decimal: 0x2e,
  repetition: 0x2a,
  terminator: 0x27,
};

/** Reads the nine characters of a UNA. A space stands for "none" as release and as repetition separator. */
export function advice(nine: Uint8Array, offset: number): Una {
  const [component = 0, element = 0, decimal = 0, release = 0, repetition = 0, terminator = 0] = nine.subarray(3);
  const text = Buffer.from(nine).toString('latin1');
  const fixed = release === SPACE ? [component, element, terminator] : [component, element, release, terminator];
  if (new Set(fixed).size !== fixed.length || fixed.some((byte) => byte > 0x7e || unfit(byte))) {
    throw new EdiBroken(`the separators of '${text.replace(/[^ -~]/g, '.')}' cannot be told apart or are letters`, { segment: 0, tag: 'UNA', offset });
  }
  return {
    marks: { component, element, release: release === SPACE ? -1 : release },
    decimal,
    repetition: repetition === SPACE ? -1 : repetition,
    terminator,
    text,
  };
}

/** Letters, digits, spaces and NUL cannot separate anything. */
export function unfit(byte: number): boolean {
  return byte === 0 || byte === SPACE || /[A-Za-z0-9]/.test(String.fromCharCode(byte));
}
