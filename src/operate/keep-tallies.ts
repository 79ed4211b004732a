import type { Clock } from '../clock.js';
import type { Events } from '../events.js';
import type { Ledger } from '../ledger/port.js';
import { Tallies } from './tally.js';
import { TallyWriter } from './tally-writer.js';

export interface TallyParts {
  readonly events: Events;
  readonly ledger: Pick<Ledger, 'note'>;
  /** The state folder. */
  readonly folder: string;
  readonly clock: Clock;
  /** Names this run of this process. */
  readonly by?: string;
}

/** How often the tallies are written, ms. */
export const WRITE_EVERY = 10_000;

/** A name for this run of this process, of letters and digits. */
export const runName = (clock: Clock): string => clock.id().replaceAll(/[^\w]/g, '').slice(0, 16);

/** Counts from now on and brings the counts into the ledger every now and then; the rest at the end. */
export function keepTallies({ events, ledger, folder, clock, by = runName(clock) }: TallyParts): {
  close(): Promise<void>;
} {
  const writer = new TallyWriter(new Tallies(events, by, () => clock.now()), ledger, folder, by);
  const stop = new AbortController();
  const writing = (async () => {
    await writer.adopt();
    while (!stop.signal.aborted) {
      await clock.sleep(WRITE_EVERY, stop.signal);
      if (!stop.signal.aborted && (await writer.write())) await writer.adopt();
    }
  })();
  return {
    close: async () => {
      stop.abort();
      await writing;
      await writer.close();
    },
  };
}
