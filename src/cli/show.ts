import { parseArgs } from 'node:util';
import { findRecords } from '../admin/find-records.js';
import { As4OnceError } from '../errors.js';
import { verdict } from '../operate/verdict.js';
import { EXIT, type Io } from './io.js';
import { RECORD_OPTIONS, configured, withLedger, oneId } from './records.js';
import { printable, recordJson, recordText } from './show-record.js';

const HELP = `as4-once show: what the ledger knows of a message

Usage: as4-once show ID [--from P] [--type T] [--config FILE] [--json]
       as4-once show --key K [--config FILE] [--json]

ID is the eb:MessageId (UNB 0020, ISA13, …), compared exactly; the key stands in the log line. --config may be left out
where AS4_ONCE_CONFIG names the file. Works while servers run.

Exit codes: 0 found · 1 no record · 2 wrong command line or configuration · 75 the ledger cannot be reached

Example: as4-once show 5c40387e-ee08@example.org --config front.yaml
`;

export async function show(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: RECORD_OPTIONS });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const config = configured(values.config, io);
  const id = oneId(positionals);
  const { records, now } = await withLedger(config, async (ledger) => ({
    records: await findRecords(config, ledger, { id, key: values.key, from: values.from, type: values.type }, true), now: (await ledger.meta()).now,
  }));
  if (records.length === 0) throw new As4OnceError('NOT_FOUND', `no record of ${JSON.stringify(id ?? values.key)}`);
  const judged = records.map((record) => ({ record, verdict: verdict(record, now) }));
  io.out(values.json === true
    ? `${JSON.stringify(judged.map(({ record, verdict: found }) => ({ ...recordJson(record), verdict: found })), undefined, 2)}\n`
    : judged.map(({ record, verdict: found }) => `${recordText(record)}\n${printable(found.text)}\n`).join('\n'));
  return EXIT.ok;
}
