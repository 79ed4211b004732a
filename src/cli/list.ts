import { parseArgs } from 'node:util';
import { oldestFirst } from '../admin/find-records.js';
import { As4OnceError } from '../errors.js';
import type { LedgerRecord } from '../ledger/record.js';
import { EXIT, type Io } from './io.js';
import { configured, withLedger } from './records.js';
import { printable, recordJson } from './show-record.js';

const HELP = `as4-once list: messages an operator may have to look at

Usage: as4-once list --held | --uncertain | --in-flight [--limit N] [--config FILE] [--json]

--held       wait for an operator: settle or release each
--uncertain  an attempt ended without a certain outcome; the next copy is judged by policy
--in-flight  an attempt is in progress

Oldest first.

Exit codes: 0 done (also where nothing is listed) · 2 wrong command line or configuration · 75 ledger not reached

Example: as4-once list --held --config front.yaml
`;

export async function list(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      held: { type: 'boolean' }, uncertain: { type: 'boolean' }, 'in-flight': { type: 'boolean' },
      limit: { type: 'string' }, config: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean' },
    },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const chosen = (['held', 'uncertain', 'inFlight'] as const).filter((name) => values[name === 'inFlight' ? 'in-flight' : name] === true);
  const [what] = chosen;
  if (what === undefined || chosen.length > 1) throw new As4OnceError('USAGE', 'list needs one of --held, --uncertain, --in-flight');
  const limit = values.limit === undefined ? undefined : Number(values.limit);
  if (limit !== undefined && !(Number.isInteger(limit) && limit > 0)) throw new As4OnceError('USAGE', '--limit needs a whole number');
  const config = configured(values.config, io);
  const records = await withLedger(config, (ledger) => oldestFirst(ledger, what, limit));
  io.out(values.json === true ? `${JSON.stringify(records.map(recordJson), undefined, 2)}\n` : table(records));
  return EXIT.ok;
}

function table(records: readonly LedgerRecord[]): string {
  if (records.length === 0) return 'none\n';
  return records.map((record) => {
    const last = record.attempts.at(-1);
    const from = record.facts.from.map((p) => p.value).join(',');
    return `${new Date(record.born).toISOString()}  ${printable(from)}  ${printable(record.reference)}  ${record.attempts.length} attempts, last ${last?.reason ?? last?.outcome ?? 'in progress'}  ${record.copies} copies\n    --key ${record.key}\n`;
  }).join('');
}
