import { watch, type FSWatcher } from 'node:fs';
import { join } from 'node:path';
import type { DuplicateKey } from '../record.js';
import { Wakes } from '../wakes.js';

/** Looks at most this often after writes of other processes, ms. */
const PAUSE = 20;

/**
 * Wakes who waits. Writes of this process wake at once; those of other processes show as changes of the data file,
 * which is watched only while somebody waits. Both are hints (G10).
 */
export class Changes {
  readonly #waiting = new Wakes();
  readonly #file: string;
  readonly #version: (key: DuplicateKey) => number;
  readonly #seen = new Map<DuplicateKey, number>();
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;

  /** `version` reads the version in force of a key, 0 for none. */
  constructor(folder: string, version: (key: DuplicateKey) => number) {
    this.#file = join(folder, 'data.mdb');
    this.#version = version;
  }

  watch(key: DuplicateKey, wake: () => void): () => void {
    const stop = this.#waiting.watch(key, wake);
    if (!this.#seen.has(key)) this.#seen.set(key, this.#version(key));
    this.#start();
    return () => {
      stop();
      if (!this.#waiting.has(key)) this.#seen.delete(key);
      if (this.#waiting.size === 0) this.#stop();
    };
  }

  /** A write of this process. */
  wake(key: DuplicateKey): void {
    this.#waiting.wake(key);
  }

  close(): void {
    this.#stop();
  }

  #start(): void {
    if (this.#watcher !== undefined) return;
    try {
      this.#watcher = watch(this.#file, { persistent: false }, () => this.#soon());
      this.#watcher.on('error', () => this.#stop());
    } catch {
      // no watching here (too many watches, an unusual file system): polling is the guarantee
    }
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#watcher?.close();
    this.#watcher = undefined;
  }

  #soon(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#look();
    }, PAUSE).unref();
  }

  #look(): void {
    for (const [key, seen] of [...this.#seen]) {
      const version = this.#version(key);
      if (version === seen) continue;
      this.#seen.set(key, version);
      this.#waiting.wake(key);
    }
  }
}
