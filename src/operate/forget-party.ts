import type { Ledger } from '../ledger/port.js';
import type { Decision, LedgerRecord } from '../ledger/record.js';
import { rootShelf, ROOT_NAME, ROOT_SEEN } from '../ledger/shelves.js';

export interface Forgotten {
  readonly looked: number;
  readonly found: number;
  readonly blanked: number;
}

const MINUTE = 60_000;

/**
 * Blanks who and what in every record that names the party; hash, state and reply stay, so that its copies are still
 * recognised. Interrupted, it is finished by running it again: a blank record names nobody.
 */
export async function forgetParty(
  ledger: Ledger,
  party: string,
  decision: Decision,
  write: boolean,
): Promise<Forgotten> {
  let [looked, found, blanked] = [0, 0, 0];
  for await (const { record } of ledger.iterate()) {
    looked += 1;
    if (!names(record, party)) continue;
    found += 1;
    if (!write) continue;
    const answer = await ledger.forget({ key: record.key, decision });
    if (answer.kind === 'ok') blanked += 1;
    // the kept SOAP part names the party as well
    await ledger.note({
      shelf: rootShelf(record.key),
      entries: { [ROOT_NAME]: null, [ROOT_SEEN]: null },
      keptMs: MINUTE,
    });
  }
  return { looked, found, blanked };
}

function names({ facts, sender }: LedgerRecord, party: string): boolean {
  const parties = [...facts.from, ...facts.to].map(({ value }) => value);
  return parties.includes(party) || facts.c1 === party || facts.c4 === party || sender.includes(JSON.stringify(party));
}
