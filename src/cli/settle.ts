import { parseArgs } from 'node:util';
import { findRecords } from '../admin/find-records.js';
import { systemClock } from '../clock.js';
import { As4OnceError } from '../errors.js';
import { receiptFrom } from '../receipt/receipt-file.js';
import { readGiven } from './given-file.js';
import { EXIT, type Io } from './io.js';
import { answered } from './operator-answer.js';
import { RECORD_OPTIONS, configured, decision, theOne, withLedger, oneId } from './records.js';

const HELP = `as4-once settle: record the Receipt of a held or uncertain message; later copies get it

Usage: as4-once settle ID --receipt FILE --reason TEXT [--from P] [--type T] [--content-type T] [--force] [--config FILE] [--json]
       as4-once settle --key K --receipt FILE --reason TEXT [...]
       as4-once settle --token T [--ack FILE]     a file that as4-once claim granted (settle --token T --help says more)

Do this when the access point DID take the message and you have its Receipt (its own message store keeps it). FILE is
the SOAP envelope, or the whole HTTP response. Its RefToMessageId must be the message's id, and its digests those of an
attempt. Refused while an attempt is in progress, unless --force.

Exit codes: 0 settled · 1 not found, not allowed, or a Receipt for something else · 2 wrong command line · 75 ledger not reached

Example: as4-once settle 5c40387e-ee08@example.org --receipt receipt.xml --reason 'in phase4 store since 14:02' --config front.yaml
`;

export async function settle(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args], allowPositionals: true,
    options: {
      ...RECORD_OPTIONS, receipt: { type: 'string' }, reason: { type: 'string' }, force: { type: 'boolean' },
      'content-type': { type: 'string' },
    },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  if (values.receipt === undefined) throw new As4OnceError('USAGE', 'settle needs --receipt FILE');
  const made = decision('settle', values.reason, systemClock.now());
  const receipt = receiptFrom(readGiven(values.receipt), values.receipt, values['content-type']);
  const config = configured(values.config, io);
  return await withLedger(config, async (ledger) => {
    const id = oneId(positionals);
    const record = theOne(await findRecords(config, ledger, { id, key: values.key, from: values.from, type: values.type }, true), id ?? values.key);
    if (receipt.refToMessageId !== record.reference) {
      throw new As4OnceError('RECEIPT_FOREIGN', `its RefToMessageId is ${JSON.stringify(receipt.refToMessageId)}`);
    }
    const answer = await ledger.operatorSettle({
      key: record.key, reply: receipt.reply, fingerprint: receipt.fingerprint, decision: made, force: values.force === true,
    });
    const before = record.state === 'settled' && record.reply?.sha256 === receipt.reply.sha256;
    const done = before ? 'settled already with this very Receipt: nothing was changed' : 'settled: later copies get this Receipt';
    return answered(answer, done, values.json === true, io);
  });
}
