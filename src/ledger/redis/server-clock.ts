import type { Clock } from '../../clock.js';

interface Sample {
  readonly time: number;
  readonly received: number;
}

/**
 * A lower bound of a server's clock: its last TIME and what has passed here since the reply came. A lease judged by a
 * lower bound is never judged lapsed early; the script refuses a judgement whose time was too far behind.
 */
export class ServerClock {
  readonly #clock: Clock;
  /** By bucket, since each master of a cluster has a clock of its own. */
  readonly #samples = new Map<string, Sample>();
  #newest: Sample | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Undefined before the first reply of any server. */
  now(bucket: string): number | undefined {
    const sample = this.#samples.get(bucket) ?? this.#newest;
    return sample === undefined ? undefined : Math.floor(sample.time + this.#clock.monotonic() - sample.received);
  }

  /** A reply that said `time`, to a command sent at `sent` (monotonic). */
  learn(bucket: string, time: number, sent: number): void {
    const received = this.#clock.monotonic();
    const known = this.now(bucket);
    // a bound that lies beyond anything the server can show by now was wrong: clocks drift, or were set back
    const upper = time + 1 + (received - sent);
    const sample = { time: known !== undefined && known > time && known <= upper ? known : time, received };
    this.#samples.set(bucket, sample);
    this.#newest = sample;
  }
}
