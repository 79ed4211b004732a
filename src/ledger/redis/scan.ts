import { As4OnceError } from '../../errors.js';
import type { DuplicateKey, LedgerRecord } from '../record.js';
import type { RedisNode } from './command-port.js';
import { asLedgerError } from './errors.js';
import type { Keys } from './keys.js';
import type { Runner } from './runner.js';
import type { Swaps } from './swaps.js';

/** Keys asked for in one step of a SCAN. */
const STEP = '500';

export interface Scanned {
  readonly record: LedgerRecord;
  /** Goes on with the page this record was on: what was seen of it is seen again, nothing is left out. */
  readonly cursor: string;
}

/**
 * Every record, master by master, by SCAN: whatever stands from beginning to end is seen, in no order, perhaps twice.
 * `reference` narrows it to one reference's records; `cursor` is one that an earlier run gave.
 */
export async function* scanRecords(runner: Runner, keys: Keys, swaps: Swaps, options: { reference?: string; cursor?: string } = {}): AsyncGenerator<Scanned> {
  const nodes = [...await runner.within(runner.port.nodes())].sort((a, b) => (a.id < b.id ? -1 : 1));
  const [from = '', resumeAt = '0'] = options.cursor?.split('|') ?? [];
  const pattern = keys.pattern(runner.port.keyPrefix, options.reference);
  for (const node of nodes) {
    if (node.id < from) continue;
    let at = node.id === from && options.cursor !== undefined ? resumeAt : '0';
    do {
      const page = await scan(runner, node, at, pattern);
      const names = page.names.flatMap((name) => keys.keyIn(name, runner.port.keyPrefix) ?? []);
      for (const record of await recordsOf(runner, swaps, names)) yield { record, cursor: `${node.id}|${at}` };
      at = page.next;
    } while (at !== '0');
  }
}

/** Pages looked at before the number of records is estimated from their share of all keys. */
const SAMPLE = 20;

/** How many records there are: counted in a small database, estimated in a large one or one shared with others. */
export async function countRecords(runner: Runner, keys: Keys): Promise<number> {
  const nodes = await runner.within(runner.port.nodes());
  const counts = await Promise.all(nodes.map(async (node) => {
    const ours = new Set<string>();
    let names = 0;
    let at = '0';
    for (let page = 0; page < SAMPLE; page += 1) {
      const found = await scan(runner, node, at, '*');
      names += found.names.length;
      for (const name of found.names) if (keys.keyIn(name, runner.port.keyPrefix) !== undefined) ours.add(name);
      at = found.next;
      if (at === '0') return ours.size;
    }
    return Math.round(Number(await runner.within(node.send(['DBSIZE']))) * (ours.size / names));
  }));
  return counts.reduce((sum, count) => sum + count, 0);
}

async function scan(runner: Runner, node: RedisNode, cursor: string, pattern: string): Promise<{ next: string; names: string[] }> {
  try {
    const reply = await runner.within(node.send(['SCAN', cursor, 'MATCH', pattern, 'COUNT', STEP]));
    if (!Array.isArray(reply) || !Array.isArray(reply[1])) throw new As4OnceError('LEDGER_DOWN', 'Redis did not understand SCAN');
    return { next: String(reply[0]), names: reply[1].map(String) };
  } catch (error) {
    throw asLedgerError(error, false);
  }
}

/** Reads them together; in a cluster bucket by bucket, since a bucket is a slot. */
export async function recordsOf(runner: Runner, swaps: Swaps, names: readonly DuplicateKey[]): Promise<LedgerRecord[]> {
  if (names.length === 0) return [];
  const groups = new Map<string, DuplicateKey[]>();
  for (const name of names) {
    const bucket = runner.port.cluster ? name.slice(0, 2) : '';
    groups.set(bucket, [...(groups.get(bucket) ?? []), name]);
  }
  const read = await Promise.all([...groups.values()].map((group) => swaps.readAll(group)));
  return read.flat().filter((record) => record !== undefined);
}
