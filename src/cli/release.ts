import { parseArgs } from 'node:util';
import { findRecords } from '../admin/find-records.js';
import { systemClock } from '../clock.js';
import { EXIT, type Io } from './io.js';
import { answered } from './operator-answer.js';
import { RECORD_OPTIONS, configured, decision, theOne, withLedger, oneId } from './records.js';

const HELP = `as4-once release: let the next copy of a held or uncertain message be delivered, once and marked

Usage: as4-once release ID --reason TEXT [--from P] [--type T] [--force] [--config FILE] [--json]
       as4-once release --key K --reason TEXT [--force] [--config FILE] [--json]
       as4-once release --token T --outcome rejected|uncertain   a file that as4-once claim granted (--token T --help)

Do this when you have seen that the access point did NOT take the message. The next copy goes there marked
As4-Once-Copy: redelivery. Refused while an attempt is in progress, unless --force. Who, when and why is written into
the record.

Exit codes: 0 released · 1 not found or not allowed · 2 wrong command line · 75 the ledger cannot be reached

Example: as4-once release 5c40387e-ee08@example.org --reason 'not in the ERP, checked with Anna' --config front.yaml
`;

export async function release(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args], allowPositionals: true,
    options: { ...RECORD_OPTIONS, reason: { type: 'string' }, force: { type: 'boolean' }, token: { type: 'string' }, outcome: { type: 'string' } },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const made = decision('release', values.reason, systemClock.now());
  const config = configured(values.config, io);
  return await withLedger(config, async (ledger) => {
    const id = oneId(positionals);
    const { key, state, cleared } = theOne(await findRecords(config, ledger, { id, key: values.key, from: values.from, type: values.type }, true), id ?? values.key);
    const answer = await ledger.operatorRelease({ key, decision: made, force: values.force === true });
    const before = state === 'open' && cleared === true;
    const done = before ? 'released already: nothing was changed' : 'released: the next copy is delivered once, marked';
    return answered(answer, done, values.json === true, io);
  });
}
