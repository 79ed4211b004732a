import { As4OnceError } from '../errors.js';
import type { Note } from './port.js';

/** What every engine holds notes to (G14). */

const SHELF = /^[\w/.:-]{1,200}$/;
const LONGEST_NAME = 400;
const LONGEST_TEXT = 2 * 1024 * 1024;

/** @throws As4OnceError INTERNAL: shelves and names are ours, never a sender's. */
export function checkNote({ shelf, entries, keptMs }: Note): void {
  const fits = SHELF.test(shelf) && keptMs > 0
    && Object.entries(entries).every(([name, text]) => name.length <= LONGEST_NAME && (text?.length ?? 0) <= LONGEST_TEXT);
  if (!fits) throw new As4OnceError('INTERNAL', `no note: ${JSON.stringify(shelf.slice(0, 80))}`);
}

/**
 * When a shelf may be forgotten after a write. A little later than asked for, so that a shelf that is written every few
 * seconds is not put in a new place each time.
 */
export function shelfKeptUntil(standing: number | undefined, now: number, keptMs: number): number {
  const least = now + keptMs;
  return standing !== undefined && standing >= least ? standing : least + Math.ceil(keptMs / 20);
}
