import type { Clock } from './clock.js';
import type { Events } from './events.js';
import type { Journal } from './ledger/journal.js';
import type { Ledger } from './ledger/port.js';

export interface JournalDrain {
  readonly journal: Journal;
  readonly ledger: Ledger;
  readonly events: Events;
  readonly clock: Clock;
  /** Between two tries while the ledger is away, ms. */
  readonly pauseMs: number;
  readonly stop: AbortSignal;
}

/**
 * Settles what lies in the journal, and goes on trying until that is done. An outage can be shorter than the distance of
 * two looks at the ledger's health, so nobody may have noticed that it was away; and a record whose Receipt lies here
 * lapses meanwhile. The promise is that of the first try, whatever came of it.
 */
export function journalDrain({ journal, ledger, events, clock, pauseMs, stop }: JournalDrain): () => Promise<void> {
  let trying = false;
  const once = (): Promise<boolean> =>
    journal.drain(ledger, (entry, answer) => events.emit('journalClosed', { key: entry.key, messageId: entry.claim.reference, answer }))
      .then(() => true, () => false);
  const goOn = async (): Promise<void> => {
    if (trying) return;
    trying = true;
    do await clock.sleep(pauseMs, stop);
    while (!stop.aborted && !(await once()));
    trying = false;
  };
  return async () => {
    if (!(await once())) void goOn();
  };
}
