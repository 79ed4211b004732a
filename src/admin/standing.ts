import type { Clock } from '../clock.js';
import type { Ledger, LedgerStats } from '../ledger/port.js';

/** What waits in the ledger, counted up to so many: beyond that the exact number helps nobody. */
const COUNTED = 1_000;

export interface Standing {
  readonly held: number;
  readonly uncertain: number;
  readonly inFlight: number;
  /** Birth of the oldest, epoch ms. */
  readonly oldestHeld?: number;
  readonly oldestUncertain?: number;
  readonly stats: LedgerStats;
  /** Epoch ms of this look. */
  readonly at: number;
}

/**
 * Looks at the ledger's small index now and then, so that neither a scrape of the metrics nor the dashboard asks the
 * store more often than that. `latest` is undefined until the first look, and while the ledger cannot be reached.
 */
export class StandingWatch {
  readonly #ledger: Ledger;
  readonly #clock: Clock;
  #latest: Standing | undefined;
  #lookedAt = -Infinity;
  #looking: Promise<void> | undefined;

  constructor(ledger: Ledger, clock: Clock) {
    this.#ledger = ledger;
    this.#clock = clock;
  }

  get latest(): Standing | undefined {
    return this.#latest;
  }

  /**
   * What there is, as of a look at most `maxAgeMs` ago; many who ask at once share one look. On Redis a look costs
   * hundreds of small commands.
   */
  async look(maxAgeMs = 0): Promise<Standing | undefined> {
    if (this.#clock.monotonic() - this.#lookedAt >= maxAgeMs) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = undefined;
      });
      await this.#looking;
    }
    return this.#latest;
  }

  async #look(): Promise<void> {
    this.#lookedAt = this.#clock.monotonic();
    try {
      const [held, uncertain, inFlight, stats] = await Promise.all([
        this.#ledger.list('held', COUNTED), this.#ledger.list('uncertain', COUNTED), this.#ledger.list('inFlight', COUNTED), this.#ledger.stats(),
      ]);
      const oldest = (records: typeof held): number | undefined => records.reduce<number | undefined>((least, { born }) => Math.min(least ?? born, born), undefined);
      const [oldestHeld, oldestUncertain] = [oldest(held), oldest(uncertain)];
      this.#latest = {
        held: held.length, uncertain: uncertain.length, inFlight: inFlight.length, stats, at: this.#clock.now(),
        ...(oldestHeld === undefined ? {} : { oldestHeld }),
        ...(oldestUncertain === undefined ? {} : { oldestUncertain }),
      };
    } catch {
      this.#latest = undefined; // health says that and why the ledger is out of reach
    }
  }

  /** Until the signal aborts. */
  async watch(everyMs: number, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.look();
      await this.#clock.sleep(everyMs, signal);
    }
  }
}
