import { parseArgs } from 'node:util';
import { systemClock } from '../clock.js';
import type { Config } from '../config/config.js';
import { As4OnceError } from '../errors.js';
import { Events } from '../events.js';
import type { Ledger, LedgerMeta, LedgerStats } from '../ledger/port.js';
import { openLedger } from '../open-ledger.js';
import { backUp } from '../operate/backup.js';
import { judge, seenIn } from '../operate/sentinel.js';
import { formatSize } from '../policy/size.js';
import { EXIT, type Io } from './io.js';
import { configured, decision } from './records.js';
import { printable } from './show-record.js';

const HELP = `as4-once ledger: look after the ledger itself

Usage: as4-once ledger status [--config FILE] [--json]
       as4-once ledger accept --reason TEXT [--config FILE]
       as4-once ledger backup DIR [--config FILE] [--json]
       as4-once ledger upgrade [--config FILE]

status   which ledger it is, its size and format, whether it went back in time, and what its store endangers
accept   take the ledger as it is although it went back in time (restored, failed over with losses, flushed): first
         copies are marked no longer, and with ledger.strict messages are decided again; all machines hear of it
backup   a copy of the whole ledger in the new folder DIR, made while servers run; it is complete or not there at all.
         embedded: DIR is a ledger, name it as ledger.embedded to restore. Redis: as4-once import DIR/ledger.jsonl.gz
         --write. Either way servers that ran before say that the ledger went back in time: import the log of the gap,
         then accept
upgrade  write records in the newest format of this release from now on. Do it when no older release is running

Exit codes: 0 done, status: in order · 1 status: it went back in time; backup: not written · 2 wrong command line or
            configuration · 75 the ledger cannot be reached

Example: as4-once ledger backup /var/backups/as4-once/monday --config front.yaml
`;

const OPTIONS = {
  reason: { type: 'string' },
  config: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

export async function ledgerCommand(args: readonly string[], io: Io): Promise<number> {
  const { values, positionals } = parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const [what, folder, ...more] = positionals;
  if (more.length > 0 || (folder !== undefined && what !== 'backup'))
    throw new As4OnceError('USAGE', 'too many arguments');
  const json = values.json === true;
  switch (what ?? '') {
    case 'status':
      return await withEvents(configured(values.config, io), (ledger, config, warnings) =>
        status(ledger, config, warnings, json, io),
      );
    case 'accept': {
      const { who, reason } = decision('release', values.reason, systemClock.now());
      return await withEvents(configured(values.config, io), async (ledger) => {
        const { accepted } = await ledger.accept({ who, reason });
        io.out(`accepted by ${who}: servers follow within seconds (${accepted?.id ?? ''})\n`);
        return EXIT.ok;
      });
    }
    case 'backup': {
      if (folder === undefined)
        throw new As4OnceError('USAGE', 'ledger backup needs a folder: as4-once ledger backup DIR');
      return await withEvents(configured(values.config, io), async (ledger) => {
        const backup = await backUp(ledger, folder);
        const bytes = backup.files.reduce((sum, file) => sum + file.bytes, 0);
        io.out(
          json
            ? `${JSON.stringify(backup, undefined, 2)}\n`
            : `${folder}: ${formatSize(bytes)}, ledger ${backup.ledger.id} after ${backup.ledger.settles} settles\n`,
        );
        return EXIT.ok;
      });
    }
    case 'upgrade':
      return await withEvents(configured(values.config, io), async (ledger) => {
        const before = await ledger.meta();
        const after = await ledger.upgrade();
        io.out(
          before.format === after.format
            ? `the ledger is written in format ${after.format} already, the newest of this release\n`
            : `format ${before.format} → ${after.format}: releases before this one cannot read new records\n`,
        );
        return EXIT.ok;
      });
    default:
      throw new As4OnceError('USAGE', 'ledger needs one of status, accept, backup, upgrade');
  }
}

type Warnings = readonly { readonly code: string; readonly text: string }[];

/** Opens the ledger with an ear for what its engine warns about. */
async function withEvents(
  config: Config,
  work: (ledger: Ledger, config: Config, warnings: Warnings) => Promise<number>,
): Promise<number> {
  const events = new Events();
  const warnings: { code: string; text: string }[] = [];
  events.on('storeWarning', (warning) => warnings.push(warning));
  const ledger = await openLedger(config, events, true);
  try {
    return await work(ledger, config, warnings);
  } finally {
    await ledger.close();
  }
}

async function status(ledger: Ledger, config: Config, warnings: Warnings, json: boolean, io: Io): Promise<number> {
  const [meta, stats, ping] = [await ledger.meta(), await ledger.stats(), await ledger.ping()];
  const now = systemClock.now();
  const nodes = [...seenIn(config.state)].map(([node, seen]) => ({ node, behind: judge(seen, meta, now).behind }));
  const behind = nodes.filter((one) => one.behind !== undefined);
  const shown = {
    engine: ledger.name,
    ...meta,
    ...stats,
    pingMs: ping.ms,
    warnings,
    nodes: nodes.map(({ node, behind: found }) => ({
      node,
      ...(found === undefined ? { inOrder: true } : { inOrder: false, reason: found.reason, since: iso(found.since) }),
    })),
  };
  io.out(json ? `${JSON.stringify(shown, undefined, 2)}\n` : text(ledger.name, meta, stats, ping.ms, warnings, nodes));
  return behind.length > 0 ? EXIT.no : EXIT.ok;
}

function text(
  engine: string,
  meta: LedgerMeta,
  stats: LedgerStats,
  ms: number,
  warnings: Warnings,
  nodes: readonly { node: string; behind: ReturnType<typeof judge>['behind'] }[],
): string {
  const upgrade =
    meta.format === meta.newestFormat ? '' : ` (this release can write ${meta.newestFormat}: as4-once ledger upgrade)`;
  const most = stats.maxBytes === undefined ? '' : ` of at most ${formatSize(stats.maxBytes)}`;
  const { accepted } = meta;
  return [
    ['engine', `${engine}, ${ms.toFixed(1)} ms`],
    ['ledger', `${meta.id}, since ${iso(meta.created)}`],
    ['settles', meta.settles.toLocaleString('en')],
    ['records', `${stats.records.toLocaleString('en')}, ${formatSize(stats.bytes)}${most}`],
    ['format', `${meta.format}${upgrade}`],
    ...(accepted === undefined ? [] : [['accepted', `${iso(accepted.when)} by ${accepted.who}: ${accepted.reason}`]]),
    ...nodes.map(({ node, behind }) => [
      'node',
      behind === undefined ? `${node}: in order` : `${node}: ${behind.reason}; last in order ${iso(behind.since)}`,
    ]),
    ...warnings.map(({ code, text: what }) => ['warning', `${code} ${what}`]),
  ]
    .map(([name = '', value = '']) => `${name.padEnd(10)}${printable(value)}\n`)
    .join('');
}

const iso = (ms: number): string => new Date(ms).toISOString();
