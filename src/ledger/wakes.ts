import type { DuplicateKey } from './record.js';

/** Who waits for which key in this process. Waking is a hint (G10): it may be late, spurious or missing. */
export class Wakes {
  readonly #waiting = new Map<DuplicateKey, Set<() => void>>();

  get size(): number {
    return this.#waiting.size;
  }

  watch(key: DuplicateKey, wake: () => void): () => void {
    const waiting = this.#waiting.get(key) ?? new Set();
    // a wrapper per call, so that one function may wait twice
    const once = (): void => wake();
    waiting.add(once);
    this.#waiting.set(key, waiting);
    return () => {
      waiting.delete(once);
      if (waiting.size === 0 && this.#waiting.get(key) === waiting) this.#waiting.delete(key);
    };
  }

  has(key: DuplicateKey): boolean {
    return this.#waiting.has(key);
  }

  wake(key: DuplicateKey): void {
    for (const wake of [...(this.#waiting.get(key) ?? [])]) wake();
  }
}
