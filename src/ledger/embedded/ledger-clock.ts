import type { Clock } from '../../clock.js';

/** A wall clock that goes this much faster than the monotonic one was set, or the machine slept, ms. */
const JUMP = 5_000;

/**
 * The embedded ledger's clock: the machine's wall clock, with a floor. When the wall clock is set back, time goes on
 * from where it was at the monotonic pace, so that it neither runs backwards nor stands still.
 */
export class LedgerClock {
  readonly #clock: Clock;
  readonly #jumped: () => void;
  #now: number;
  #monotonic: number;
  #wall: number;

  /** `jumped` is told when the wall clock leapt forward: leases then seem older than they are. */
  constructor(clock: Clock, jumped: () => void) {
    this.#clock = clock;
    this.#jumped = jumped;
    this.#wall = clock.now();
    this.#now = this.#wall;
    this.#monotonic = clock.monotonic();
  }

  /** Epoch ms, whole; never less than any earlier answer. `floor` is what other processes of the ledger have seen. */
  now(floor = 0): number {
    const wall = this.#clock.now();
    const monotonic = this.#clock.monotonic();
    const passed = Math.max(0, monotonic - this.#monotonic);
    if (wall - this.#wall - passed > JUMP) this.#jumped();
    const onward = wall >= this.#now ? wall : this.#now + passed;
    this.#now = Math.max(onward, floor);
    this.#monotonic = monotonic;
    this.#wall = wall;
    return Math.floor(this.#now);
  }
}
