import type { Config } from '../config/config.js';
import { As4OnceError } from '../errors.js';
import type { Ledger } from '../ledger/port.js';
import type { LedgerRecord } from '../ledger/record.js';
import { referencePrefix } from '../policy/key.js';

/** What an operator knows of a message: its id and perhaps its sender, or the key from the log. */
export interface Wanted {
  readonly id?: string | undefined;
  readonly key?: string | undefined;
  readonly from?: string | undefined;
}

/** All records of an id, in whatever scope or protocol of the configuration; or the one of a key from the log. */
export async function findRecords(config: Pick<Config, 'routes' | 'watch'>, ledger: Ledger, which: Wanted): Promise<readonly LedgerRecord[]> {
  if (which.key !== undefined) {
    const found = await ledger.find(which.key);
    return found === undefined ? [] : [found.record];
  }
  if (which.id === undefined) throw new As4OnceError('USAGE', 'name a message id, or --key K from the log');
  const places = new Set([...config.routes, ...config.watch].map(({ protocol, scope }) => JSON.stringify([protocol, scope])));
  const records = new Map<string, LedgerRecord>();
  for (const place of places) {
    const [protocol, scope] = JSON.parse(place) as [LedgerRecord['protocol'], string];
    for await (const record of ledger.findReference(referencePrefix(protocol, scope, which.id))) records.set(record.key, record);
  }
  const { from } = which;
  return [...records.values()].filter((record) => from === undefined || record.facts.from.some((party) => party.value === from));
}
