import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../clock.js';

/** A delivery is written within `times.patience`; what was begun so long ago belongs to nobody, ms. */
const NOBODYS = 24 * 3_600_000;
/** How often somebody looks for those, ms. */
const LOOK = 3_600_000;

/** The name of an unfinished delivery. */
export const partOf = (name: string, id: string): string => `.${name}.${id}.part`;
const PART = /^\.([0-9a-f]{32})\.[^.]+\.(part|gone)$/;

/**
 * Removes what processes left behind that ended while they wrote. Any number of them may share the folder, also from
 * several machines, so none can tell which others live; what keeps it safe is that a part is renamed before anything in
 * it is removed. Its writer, should it live, cannot rename it to a delivery any more and so fails, without a Receipt.
 */
export class LeftOver {
  readonly #directory: string;
  readonly #clock: Pick<Clock, 'id' | 'now'>;
  #looked = -Infinity;

  constructor(directory: string, clock: Pick<Clock, 'id' | 'now'>) {
    this.#directory = directory;
    this.#clock = clock;
  }

  /** Those of a message that is delivered again: who has its claim now has taken it from whoever wrote them. */
  async of(name: string): Promise<void> {
    await this.#remove((part) => part.startsWith(`.${name}.`));
  }

  /** Now and then those of messages that never came again. */
  async old(): Promise<void> {
    const now = this.#clock.now();
    if (now - this.#looked < LOOK) return;
    this.#looked = now;
    await this.#remove(async (part) => (await stat(join(this.#directory, part))).mtimeMs < now - NOBODYS);
  }

  /** A folder that cannot be read or written is the delivery's matter, not ours. */
  async #remove(which: (part: string) => boolean | Promise<boolean>): Promise<void> {
    const names = await readdir(this.#directory).catch((): string[] => []);
    for (const part of names.filter((name) => PART.test(name))) {
      await this.#away(part, which).catch(() => undefined);
    }
  }

  async #away(part: string, which: (part: string) => boolean | Promise<boolean>): Promise<void> {
    if (!await which(part)) return;
    const [, name = ''] = PART.exec(part) ?? [];
    const gone = join(this.#directory, `.${name}.${this.#clock.id()}.gone`);
    await rename(join(this.#directory, part), gone);
    await rm(gone, { recursive: true, force: true });
  }
}
