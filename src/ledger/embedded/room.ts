import type { Clock } from '../../clock.js';
import { As4OnceError } from '../../errors.js';

const LOOK_EVERY = 1_000;

/** Whether there is room for new claims, looked at once a second. Settles are never asked: they must fit. */
export class Room {
  readonly #clock: Clock;
  readonly #why: () => string | undefined;
  #looked = -Infinity;
  #full: string | undefined;

  constructor(clock: Clock, why: () => string | undefined) {
    this.#clock = clock;
    this.#why = why;
  }

  /** @throws As4OnceError LEDGER_FULL */
  check(): void {
    const now = this.#clock.monotonic();
    if (now - this.#looked >= LOOK_EVERY) {
      this.#looked = now;
      this.#full = this.#why();
    }
    if (this.#full !== undefined) throw new As4OnceError('LEDGER_FULL', `no new claims: ${this.#full}`);
  }
}
