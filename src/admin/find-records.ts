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
  /** The type of a reference, where the route tells references apart by one. */
  readonly type?: string | undefined;
}

type Places = Pick<Config, 'routes' | 'watch'>;

/**
 * All records of an id, in whatever scope or protocol of the configuration; or the one of a key from the log. Where a
 * route has types, the key holds the type too: it is asked for, or every record is looked at (`thoroughly`).
 */
export async function findRecords(
  config: Places, ledger: Ledger, which: Wanted, thoroughly = false,
): Promise<readonly LedgerRecord[]> {
  const { id, key, from, type } = which;
  if (key !== undefined) {
    const found = await ledger.find(key);
    return found === undefined ? [] : [found.record];
  }
  if (id === undefined) throw new As4OnceError('USAGE', 'name a message id, or --key K from the log');
  const records = new Map<string, LedgerRecord>();
  for (const prefix of prefixesOf(config, id, type)) {
    for await (const record of ledger.findReference(prefix)) records.set(record.key, record);
  }
  const typed = config.routes.some(({ reference }) => reference?.type !== undefined && reference.type.value === undefined);
  if (thoroughly && typed && type === undefined) {
    for await (const { record } of ledger.iterate()) {
      if (record.reference === id && record.pointer === undefined) records.set(record.key, record);
    }
  }
  return [...records.values()].filter((record) => from === undefined || record.facts.from.some((party) => party.value === from));
}

/** The first half of the keys that the id may have. */
function prefixesOf({ routes, watch }: Places, id: string, type: string | undefined): ReadonlySet<string> {
  const prefixes = new Set<string>();
  for (const { protocol, scope } of [...routes, ...watch]) prefixes.add(referencePrefix(protocol, scope, id));
  for (const { protocol, scope, reference } of routes) {
    for (const one of [type, reference?.type?.value]) {
      if (reference?.type !== undefined && one !== undefined) prefixes.add(referencePrefix(protocol, scope, id, one));
    }
  }
  return prefixes;
}

/** Beyond so many an operator does not go through them one by one; those that come first are sorted then. */
const SORTED = 20_000;

/** What is on a list, the message that has waited longest first. */
export async function oldestFirst(
  ledger: Pick<Ledger, 'list'>, what: 'held' | 'uncertain' | 'inFlight', limit = Infinity,
): Promise<readonly LedgerRecord[]> {
  const records = await ledger.list(what, Math.max(SORTED, limit === Infinity ? 0 : limit));
  return [...records].sort((a, b) => a.born - b.born).slice(0, limit);
}
