import { readdirSync } from 'node:fs';
import type { Ledger, Note } from '../ledger/port.js';
import { readState, removeState, writeState } from './state-file.js';
import type { Tallies } from './tally.js';

/**
 * Brings the tallies into the ledger. What a process counted while the ledger was out of reach, and could not write
 * until its end, lies in the state folder until the next one writes it: under the same names, so that it counts once.
 */
export class TallyWriter {
  readonly #tallies: Tallies;
  readonly #ledger: Pick<Ledger, 'note'>;
  readonly #folder: string;
  readonly #file: string;

  constructor(tallies: Tallies, ledger: Pick<Ledger, 'note'>, folder: string, by: string) {
    this.#tallies = tallies;
    this.#ledger = ledger;
    this.#folder = folder;
    this.#file = `tallies-${by}.json`;
  }

  /** False where the ledger could not be reached; nothing is lost then. */
  async write(): Promise<boolean> {
    const { notes, failed } = this.#tallies.take();
    try {
      for (const note of notes) await this.#ledger.note(note);
      return true;
    } catch {
      failed();
      return false;
    }
  }

  /** The last words of this process. */
  async close(): Promise<void> {
    if (await this.write()) return;
    const { notes } = this.#tallies.take();
    await writeState(this.#folder, this.#file, notes).catch(() => undefined);
  }

  /** Writes what earlier processes had to leave behind. */
  async adopt(): Promise<void> {
    for (const name of left(this.#folder)) {
      const notes = readState(this.#folder, name, isNotes);
      try {
        for (const note of notes ?? []) await this.#ledger.note(note);
        await removeState(this.#folder, name);
      } catch {
        return; // still out of reach
      }
    }
  }
}

function left(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^tallies-[\w-]+\.json$/.test(name));
  } catch {
    return [];
  }
}

function isNotes(value: unknown): value is Note[] {
  return (
    Array.isArray(value) &&
    value.every((note: unknown) => {
      const { shelf, entries, keptMs } = (note ?? {}) as Partial<Note>;
      return (
        typeof shelf === 'string' &&
        shelf.startsWith('tally/') &&
        typeof keptMs === 'number' &&
        typeof entries === 'object' &&
        entries !== null &&
        Object.values(entries).every((text) => typeof text === 'string')
      );
    })
  );
}
