import type { Clock } from '../clock.js';

/**
 * How long this process has been in unbroken contact with the ledger (law 8). After an outage, a pause of the machine
 * or of this process, leases may have lapsed although their owners live: for one lease nothing is taken over, so that
 * the owners come to renew.
 */
export class Contact {
  readonly #clock: Clock;
  #since: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The ledger has just answered. */
  confirm(): void {
    this.#since ??= this.#clock.monotonic();
  }

  /** It did not, or nobody can say whether it would have. */
  lose(): void {
    this.#since = undefined;
  }

  get lost(): boolean {
    return this.#since === undefined;
  }

  /** Milliseconds; 0 where there is none. */
  lastedMs(): number {
    return this.#since === undefined ? 0 : this.#clock.monotonic() - this.#since;
  }
}
