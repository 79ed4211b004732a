import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { inflateRawSync } from 'node:zlib';
import { findRecords } from '../admin/find-records.js';
import { packageVersion } from '../admin/package-root.js';
import { systemClock } from '../clock.js';
import type { Config } from '../config/config.js';
import { As4OnceError } from '../errors.js';
import type { Ledger } from '../ledger/port.js';
import type { LedgerRecord } from '../ledger/record.js';
import { rootShelf, ROOT_NAME, ROOT_SEEN } from '../ledger/shelves.js';
import { LIMITS } from '../limits.js';
import { evidence, type EvidenceParts } from '../operate/evidence.js';
import { logLinesOf } from '../operate/log-lines.js';
import { verdict } from '../operate/verdict.js';
import { compileRules } from '../policy/select.js';
import { EXIT, type Io } from './io.js';
import { RECORD_OPTIONS, configured, theOne, withLedger } from './records.js';
import { recordJson, timeline } from './show-record.js';

const HELP = `as4-once evidence: all that is known of a message, in one archive that can be checked without as4-once

Usage: as4-once evidence ID [--from P] [--type T] -o FILE.zip [--log FILE]... [--config FILE] [--json]
       as4-once evidence --key K -o FILE.zip [...]

The archive holds the reply byte for byte, its verification by a second implementation and the pieces to repeat it with
openssl, the record with its timeline, the rule, with --log the lines of the log that name the message, the original
SOAP part where the rule keeps it (keepHeader), a README, and SHA256SUMS.

Exit codes: 0 written · 1 no such record · 2 wrong command line or configuration · 75 the ledger cannot be reached

Example: as4-once evidence 5c40387e-ee08@example.org -o evidence.zip --log as4-once.log --config front.yaml
`;

export async function evidenceOf(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { ...RECORD_OPTIONS, output: { type: 'string', short: 'o' }, log: { type: 'string', multiple: true } },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const { output } = values;
  if (output === undefined) throw new As4OnceError('USAGE', 'evidence needs -o FILE.zip');
  const config = configured(values.config, io);
  const [id] = positionals;
  const { record, now, root } = await withLedger(config, async (ledger) => {
    const found = theOne(
      await findRecords(config, ledger, { id, key: values.key, from: values.from, type: values.type }, true),
      id ?? values.key,
    );
    return { record: found, now: (await ledger.meta()).now, root: await rootOf(ledger, found) };
  });
  const log =
    values.log === undefined
      ? undefined
      : (await Promise.all(values.log.map((file) => logLinesOf(file, [record.key, record.reference])))).flat();
  const archive = evidence({
    record,
    root,
    log,
    timeline: timeline(record),
    verdict: verdict(record, now),
    shown: recordJson(record),
    rule: ruleOf(config, record),
    version: packageVersion(),
    at: new Date(systemClock.now()),
  });
  try {
    writeFileSync(output, archive, { flag: 'wx' });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new As4OnceError(
      'USAGE',
      code === 'EEXIST' ? `${output} exists already` : `${output} cannot be written (${code ?? 'error'})`,
    );
  }
  io.out(
    values.json === true
      ? `${JSON.stringify({ file: output, bytes: archive.length, key: record.key })}\n`
      : `${output}: ${archive.length.toLocaleString('en')} bytes; its README.txt says how to check it\n`,
  );
  return EXIT.ok;
}

async function rootOf(ledger: Ledger, record: LedgerRecord): Promise<EvidenceParts['root']> {
  const notes = await ledger.notes(rootShelf(record.key));
  const kept = notes.get(ROOT_NAME);
  if (kept === undefined) return undefined;
  return {
    bytes: inflateRawSync(Buffer.from(kept, 'base64'), {
      maxOutputLength: Math.max(LIMITS.rootPart, 16 * LIMITS.rootPart),
    }),
    kept: notes.get(ROOT_SEEN) ?? '',
  };
}

/** The rule of that name as the configuration says it now. */
function ruleOf(config: Config, record: LedgerRecord): object | undefined {
  for (const { rules, protocol, scope } of [...config.routes, ...config.watch]) {
    if (protocol !== record.protocol || scope !== record.scope) continue;
    const { defaults, partners } = compileRules(rules);
    const rule = [defaults, ...partners].find(({ name }) => name === record.rule);
    if (rule !== undefined) return rule;
  }
  return undefined;
}
