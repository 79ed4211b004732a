import { readdir, rm, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { ifThere } from './fs-errors.js';
import { LONGEST_NAME } from './work-file.js';
import type { Watching } from './watching.js';

export interface ReadyFile {
  readonly name: string;
  /** Epoch ms of its last change: files are taken in this order. */
  readonly arrived: number;
}

/**
 * Finds the files of a folder that nobody writes any more. With a trigger: those with a trigger file beside them.
 * Without: those whose size and time stood still for `stable`, watched by our own clock (or, for one pass alone, those
 * last changed so long ago). Names that match an `ignore` pattern are not looked at.
 */
export class ReadyFiles {
  readonly #watching: Watching;
  readonly #folder: string;
  readonly #trigger: string | undefined;
  readonly #seen = new Map<string, { size: number; changed: number; since: number }>();
  readonly #reported = new Set<string>();

  constructor(watching: Watching, folder: string, trigger: string | undefined) {
    this.#watching = watching;
    this.#folder = folder;
    this.#trigger = trigger;
  }

  /** `alone`: this is the only look at the folder, so age is judged by the files' own time. */
  async list(alone: boolean): Promise<ReadyFile[]> {
    const { config } = this.#watching;
    const entries = await readdir(this.#folder, { withFileTypes: true });
    const names = new Set(entries.filter((entry) => entry.isFile()).map(({ name }) => name));
    for (const name of this.#seen.keys()) if (!names.has(name)) this.#seen.delete(name);
    const ready: ReadyFile[] = [];
    for (const name of names) {
      if (config.ignore.some((pattern) => matches(name, pattern)) || this.#unusable(name)) continue;
      const stats = await ifThere(stat(join(this.#folder, name)));
      if (stats === undefined) continue;
      if (this.#trigger === undefined ? this.#isStable(name, stats, alone) : this.#isTriggered(name, names)) {
        ready.push({ name, arrived: stats.mtimeMs });
      }
    }
    return ready.sort((a, b) => a.arrived - b.arrived || (a.name < b.name ? -1 : 1));
  }

  /** The trigger of one file did its work once the file was taken; one of the whole folder is its writer's to remove. */
  async taken(name: string): Promise<void> {
    this.#seen.delete(name);
    if (this.#trigger?.includes('*') !== true) return;
    for (const trigger of triggersOf(name, this.#trigger)) await rm(join(this.#folder, trigger), { force: true });
  }

  #isTriggered(name: string, names: ReadonlySet<string>): boolean {
    const trigger = this.#trigger ?? '';
    return !matches(name, trigger) && triggersOf(name, trigger).some((one) => names.has(one));
  }

  #isStable(name: string, { size, mtimeMs: changed }: { size: number; mtimeMs: number }, alone: boolean): boolean {
    const { clock, config } = this.#watching;
    if (alone) return clock.now() - changed >= config.stable;
    const now = clock.monotonic();
    const known = this.#seen.get(name);
    if (known === undefined || known.size !== size || known.changed !== changed) {
      this.#seen.set(name, { size, changed, since: now });
      return config.stable <= 0;
    }
    return now - known.since >= config.stable;
  }

  /** A name that cannot be taken is reported once and left where it is. */
  #unusable(name: string): boolean {
    const why = name.includes('\ufffd') ? 'its name is not UTF-8'
      : Buffer.byteLength(name) > LONGEST_NAME ? `its name is longer than ${LONGEST_NAME} bytes` : undefined;
    if (why !== undefined && !this.#reported.has(name)) {
      this.#reported.add(name);
      this.#watching.events.emit('fault', { code: 'USAGE', detail: `${join(this.#folder, name)} is left alone: ${why}` });
    }
    return why !== undefined;
  }
}

/** `*.done` for orders.edi: orders.edi.done, or orders.done. A pattern without star is one trigger for the whole folder. */
function triggersOf(name: string, pattern: string): string[] {
  if (!pattern.includes('*')) return [pattern];
  return [name, basename(name, extname(name))].map((stem) => pattern.replace('*', stem));
}

/** `*` stands for any characters, `?` for one. */
export function matches(name: string, pattern: string): boolean {
  const source = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*').replaceAll('?', '.');
  return new RegExp(`^${source}$`, 's').test(name);
}
