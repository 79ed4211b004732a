import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { provenDead } from '../ledger/owner.js';
import type { Owner } from '../ledger/record.js';
import { WATCHERS } from './folders.js';
import { ifThere } from './fs-errors.js';
import type { Watching } from './watching.js';

/** Leases that a silent watcher is given before its files are taken over, when nothing else proves it dead. */
const PATIENCE = 3;

interface Beat {
  readonly owner: Owner;
  readonly beat: number;
}

/**
 * Says in the shared work folder that this watcher lives, and judges whether others do: by their process where it can
 * be seen from here, else by a counter that does not move for three leases of our own time. No clocks are compared.
 */
export class Presence {
  readonly #watching: Watching;
  #beat = 0;
  readonly #seen = new Map<string, { beat: number; since: number }>();

  constructor(watching: Watching) {
    this.#watching = watching;
  }

  #path(id: string): string {
    return join(this.#watching.config.folders.work, WATCHERS, id);
  }

  async beat(): Promise<void> {
    const { owner, id } = this.#watching;
    this.#beat += 1;
    const draft = `${this.#path(id)}.new`;
    await writeFile(draft, JSON.stringify({ owner, beat: this.#beat } satisfies Beat));
    await rename(draft, this.#path(id));
  }

  async leave(): Promise<void> {
    await rm(this.#path(this.#watching.id), { force: true });
  }

  /** Whether a watcher is gone, so that its files may be taken over. */
  async isGone(id: string): Promise<boolean> {
    const { clock, times } = this.#watching;
    const found = beatOf(await ifThere(readFile(this.#path(id), 'utf8')));
    if (found === undefined) return true;
    if (provenDead(found.owner)) {
      await rm(this.#path(id), { force: true });
      return true;
    }
    const now = clock.monotonic();
    const known = this.#seen.get(id);
    if (known === undefined || known.beat !== found.beat) {
      this.#seen.set(id, { beat: found.beat, since: now });
      return false;
    }
    return now - known.since >= PATIENCE * times.lease;
  }
}

function beatOf(text: string | undefined): Beat | undefined {
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Beat);
  } catch {
    return undefined;
  }
}
