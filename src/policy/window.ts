import { As4OnceError } from '../errors.js';
import { parseDuration } from './duration.js';
import { parseSize } from './size.js';

const PARAMETERS: ReadonlySet<string> = new Set(['maxsize', 'checkwindow']);

/** A duplicate window, as a duration or as the P-Mode's composite string wrote it. */
export interface Window {
  /** How long a message is remembered from the birth of its record, ms. */
  readonly ms: number;
  /** `maxsize`, bytes, where the P-Mode string gave one: a bound of the log, which we only warn about. */
  readonly maxSize?: number;
}

/**
 * Reads a window: a duration (`90d`, `P90D`), or the value of
 * `PMode[1].ReceptionAwareness.DetectDuplicates.Parameters`, for example `maxsize=10Mb,checkwindow=7D` (AS4 3.2 and
 * 5.2.4). The standard gives a grammar (name=value, separated by comma or semicolon) and no more; here names and units
 * are read without regard to case and white space, unknown and repeated names are refused, and `M` is refused as a unit
 * because it means a minute to some and a month to others. `checkwindow` is a guaranteed minimum, so a record is never
 * dropped because of `maxsize`. Throws CONFIG_INVALID.
 */
export function parseWindow(text: string): Window {
  if (!text.includes('=')) return positive({ ms: parseDuration(text) }, text);
  const given = new Map<string, string>();
  for (const part of text.split(/[,;]/)) {
    const [name, value, ...rest] = part.split('=').map((piece) => piece.trim());
    if (name === undefined || value === undefined || value === '' || rest.length > 0) {
      throw wrong(text, `"${part.trim()}" is not name=value`);
    }
    const known = name.toLowerCase();
    if (!PARAMETERS.has(known)) throw wrong(text, `"${name}" is neither maxsize nor checkwindow`);
    if (given.has(known)) throw wrong(text, `${known} is given twice`);
    given.set(known, value);
  }
  const checkWindow = given.get('checkwindow');
  if (checkWindow === undefined) throw wrong(text, 'checkwindow is missing');
  const maxSize = given.get('maxsize');
  const window = positive({ ms: pmodeDuration(checkWindow, text) }, text);
  return maxSize === undefined ? window : { ...window, maxSize: positiveSize(parseSize(maxSize), text) };
}

/** The P-Mode's own example writes `7D`. */
function pmodeDuration(value: string, text: string): number {
  if (/^p/i.test(value)) return parseDuration(value.toUpperCase());
  if (/^\d+ ?M$/.test(value)) throw wrong(text, `"${value}" may mean minutes or months; write PT${value} or P${value}`);
  return parseDuration(value.toLowerCase());
}

function positive(window: Window, text: string): Window {
  if (window.ms <= 0) throw wrong(text, 'a window must be longer than zero');
  return window;
}

function positiveSize(bytes: number, text: string): number {
  if (bytes <= 0) throw wrong(text, 'maxsize must be more than zero');
  return bytes;
}

function wrong(text: string, why: string): As4OnceError {
  const how = 'write it as 90d, P90D or maxsize=10Mb,checkwindow=7D';
  return new As4OnceError('CONFIG_INVALID', `"${text}" is not a window: ${why}; ${how}`);
}
