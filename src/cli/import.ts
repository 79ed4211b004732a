import { readFileSync } from 'node:fs';
import { basename, resolve, sep } from 'node:path';
import { parseArgs } from 'node:util';
import { systemClock } from '../clock.js';
import { As4OnceError } from '../errors.js';
import { placesOf, type ImportContext } from '../operate/import-context.js';
import { runImport, type ImportRun } from '../operate/import-run.js';
import { learnTypes, PartyTypes } from '../operate/party-types.js';
import { receiptFrom, type OperatorReceipt } from '../receipt/receipt-file.js';
import { EXIT, type Io } from './io.js';
import { configured, decision, withLedger } from './records.js';
import { printable } from './show-record.js';

const HELP = `as4-once import: bring what was accepted elsewhere into the ledger

Usage: as4-once import FILE [--receipts DIR] [--from-type T] [--route R] [--write] [--config FILE] [--json]

Without --write nothing is written: the counts say what would be. FILE (.gz too) holds one JSON object per line:

  {"messageId": "…", "from": "POP000123", "firstSeen": "2026-11-30T12:00:00Z", "receipt": "abc.xml"}

  messages that an access point took before. from is the sender's PartyId: a text, {"value", "type"}, or a list. With
  receipt, a file in DIR, copies get that Receipt; without one the message is known, and policy (known: pass | hold) says
  what becomes of its copies. Also: fromType, to, toType, type.
  Lines of our own log (after a restore, or a bypass) and backups of as4-once ledger backup are taken too.

A record that stands is never overwritten, so an import that was interrupted is finished by running it again.

--from-type T  the type of from where a line has none. Default: as the ledger has seen it, or Peppol's for names like POP000123
--route R      the route that the messages came by, where the configuration has several

Exit codes: 0 done · 1 some lines cannot be used · 2 wrong command line or configuration · 75 the ledger cannot be reached

Example: as4-once import accepted.jsonl --receipts ./receipts --write --config front.yaml
`;

export async function importRecords(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      receipts: { type: 'string' },
      'from-type': { type: 'string' },
      route: { type: 'string' },
      write: { type: 'boolean' },
      config: { type: 'string' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new As4OnceError('USAGE', 'import needs one FILE');
  const config = configured(values.config, io);
  const write = values.write === true;
  const made = decision('import', `import of ${basename(file)}`, systemClock.now());
  return await withLedger(config, async (ledger) => {
    const types = new PartyTypes(
      values['from-type'],
      values['from-type'] === undefined ? await learnTypes(ledger) : new Map(),
    );
    const context: ImportContext = {
      ...placesOf(config, values.route),
      types,
      decision: made,
      receipt: (name) => readReceipt(values.receipts, name),
    };
    const progress = io.tty ? { progress: (lines: number) => io.err(`\r${lines.toLocaleString('en')} lines`) } : {};
    const run = await runImport({ file, ledger, context, write, clock: systemClock, ...progress });
    if (io.tty && run.lines >= 10_000) io.err('\n');
    const assumed = [...types.assumed].map(([party, { type, why }]) => ({ party, type: type ?? null, why }));
    io.out(
      values.json === true
        ? `${JSON.stringify({ written: write, ...run, assumed }, undefined, 2)}\n`
        : text(run, assumed, write),
    );
    return run.bad > 0 ? EXIT.no : EXIT.ok;
  });
}

/** Only from within the folder: a list from elsewhere must not make us read what it likes. */
function readReceipt(folder: string | undefined, name: string): OperatorReceipt {
  if (folder === undefined) throw new As4OnceError('USAGE', 'it names a receipt; say where with --receipts DIR');
  const home = resolve(folder);
  const path = resolve(home, name);
  if (!path.startsWith(home + sep))
    throw new As4OnceError('USAGE', `its receipt ${JSON.stringify(name)} lies outside of ${folder}`);
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new As4OnceError(
      'USAGE',
      `its receipt ${JSON.stringify(name)} cannot be read (${(error as NodeJS.ErrnoException).code ?? 'error'})`,
    );
  }
  return receiptFrom(bytes, name);
}

function text(
  run: ImportRun,
  assumed: readonly { party: string; type: string | null; why: string }[],
  write: boolean,
): string {
  const count = (n: number, what: string): string => `${n.toLocaleString('en').padStart(12)}  ${what}\n`;
  const known = run.fresh - run.withReceipt - run.uncertain;
  return [
    count(run.lines, 'lines'),
    count(
      run.fresh,
      `${write ? 'written' : 'would be written'}: ${run.withReceipt.toLocaleString('en')} with their Receipt, ${known.toLocaleString('en')} known, ${run.uncertain.toLocaleString('en')} uncertain`,
    ),
    count(run.standing, 'stand in the ledger already'),
    count(run.expired, 'are older than their window'),
    ...(run.other === 0 ? [] : [count(run.other, 'lines about something else')]),
    ...(run.bad === 0 ? [] : [count(run.bad, 'lines cannot be used')]),
    ...run.problems.map(({ line, why }) => `              line ${line}: ${printable(why)}\n`),
    ...(assumed.length === 0 ? [] : ['\nTypes of parties that no line names:\n']),
    ...assumed.slice(0, 20).map(({ party, type, why }) => `  ${printable(party)}: ${type ?? 'none'} (${why})\n`),
    ...(assumed.length > 20 ? [`  … and ${assumed.length - 20} more (--json shows all)\n`] : []),
    ...(write || run.fresh === 0 ? [] : ['\nNothing was written. Run it again with --write.\n']),
  ].join('');
}
