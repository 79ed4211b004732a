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

/** Notes of a ledger that keeps nothing. */
export class Shelves {
  readonly #shelves = new Map<string, { until: number; readonly entries: Map<string, string> }>();

  note(note: Note, now: number): void {
    checkNote(note);
    const standing = this.#shelves.get(note.shelf);
    const shelf = standing !== undefined && standing.until > now ? standing : { until: 0, entries: new Map<string, string>() };
    for (const [name, text] of Object.entries(note.entries)) {
      if (text === null) shelf.entries.delete(name);
      else shelf.entries.set(name, text);
    }
    shelf.until = shelfKeptUntil(shelf.until, now, note.keptMs);
    this.#shelves.set(note.shelf, shelf);
  }

  notes(shelf: string, now: number): ReadonlyMap<string, string> {
    for (const [name, { until }] of this.#shelves) if (until <= now) this.#shelves.delete(name);
    return new Map(this.#shelves.get(shelf)?.entries);
  }
}
