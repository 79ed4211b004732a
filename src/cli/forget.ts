import { parseArgs } from 'node:util';
import { systemClock } from '../clock.js';
import { As4OnceError } from '../errors.js';
import { forgetParty } from '../operate/forget-party.js';
import { EXIT, type Io } from './io.js';
import { configured, decision, withLedger } from './records.js';

const HELP = `as4-once forget: blank a party in the ledger

Usage: as4-once forget --party P --reason TEXT [--dry-run] [--config FILE] [--json]

P is a PartyId, or an identifier of originalSender or finalRecipient, compared exactly. In every record that names it,
parties, reference, service and action are blanked, and a kept SOAP part is removed; the hash that the key is, the
state and the stored reply stay, so that copies are still recognised and answered. Messages that come later are recorded
as before. Interrupted, run it again. The log is not touched.

Exit codes: 0 done · 2 wrong command line or configuration · 75 the ledger cannot be reached

Example: as4-once forget --party POP000123 --reason 'request of 2026-11-30' --config front.yaml
`;

export async function forget(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      party: { type: 'string' },
      reason: { type: 'string' },
      'dry-run': { type: 'boolean' },
      config: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const { party } = values;
  if (party === undefined || party === '') throw new As4OnceError('USAGE', 'forget needs --party P');
  const write = values['dry-run'] !== true;
  const made = decision('forget', values.reason ?? (write ? undefined : 'dry run'), systemClock.now());
  const result = await withLedger(configured(values.config, io), (ledger) => forgetParty(ledger, party, made, write));
  const count = (n: number): string => n.toLocaleString('en');
  if (values.json === true) io.out(`${JSON.stringify({ ...result, written: write })}\n`);
  else
    io.out(
      write
        ? `${count(result.blanked)} records blanked, of ${count(result.looked)}\n`
        : `${count(result.found)} records would be blanked, of ${count(result.looked)}; nothing was written\n`,
    );
  return EXIT.ok;
}
