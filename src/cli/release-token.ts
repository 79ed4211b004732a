import { parseArgs } from 'node:util';
import { As4OnceError } from '../errors.js';
import { readToken, standing } from './claim-token.js';
import { EXIT, type Io } from './io.js';
import { configured, withLedger } from './records.js';

const HELP = `as4-once release --token: a file that as4-once claim granted was not processed, or nobody knows

Usage: as4-once release --token TOKEN --outcome rejected|uncertain [--reason TEXT] [--config FILE]

rejected: it certainly was not; the next copy is a first one. uncertain: the next copy waits for an operator (as4-once
list), unless the configuration says uncertain: redeliver.

Exit codes: 0 released · 1 the claim was lost to another copy, or the ledger no longer knows it · 2 wrong command line · 75 ledger not reached
`;

export async function releaseToken(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { token: { type: 'string' }, outcome: { type: 'string' }, reason: { type: 'string' }, config: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const token = readToken(values.token ?? '');
  const { outcome } = values;
  if (outcome !== 'rejected' && outcome !== 'uncertain') {
    throw new As4OnceError('USAGE', '--outcome is rejected or uncertain');
  }
  const config = configured(values.config, io);
  return await withLedger(config, async (ledger) => {
    for (const { key, token: own, record, claim } of await standing(ledger, token)) {
      const reason = values.reason ?? `release --outcome ${outcome}`;
      const answer = await ledger.release({ key, token: own, outcome, reason, hold: false, counts: true, openKeptMs: claim.openKeptMs, claim });
      if (answer.kind !== 'ok') {
        throw new As4OnceError('STALE', `${record.reference} is ${answer.kind === 'gone' ? 'gone' : answer.record.state} by another copy`);
      }
    }
    io.out(values.json === true ? `${JSON.stringify({ released: token.keys.length, outcome })}\n` : `released: ${outcome === 'rejected' ? 'the next copy is a first one' : 'the next copy is held for an operator, or redelivered, as policy says'}\n`);
    return EXIT.ok;
  });
}
