import { parseArgs } from 'node:util';
import { systemClock } from '../clock.js';
import { configDigest } from '../config/redact.js';
import { readBypass } from '../operate/bypass.js';
import { readStatus, type Status } from '../operate/status.js';
import { formatSize } from '../policy/size.js';
import { EXIT, type Io } from './io.js';
import { configured, withLedger } from './records.js';
import { printable } from './show-record.js';

const HELP = `as4-once status: what all servers of the ledger are doing now

Usage: as4-once status [--config FILE] [--json]

Each server writes a report into the ledger every ten seconds: its answers of the last minute, what waits, its round trip
to the ledger, and the digest of its configuration, so that one that was forgotten at a reload shows. A server that has
said nothing for a minute without an orderly end is silent.

Exit codes: 0 nothing needs anybody · 1 something does: messages are held, a server is silent, went on with another
            configuration, bypasses the ledger, or found it behind · 2 wrong command line or configuration · 75 the ledger cannot be reached

Example: as4-once status --config front.yaml
`;

export async function status(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: { config: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  const config = configured(values.config, io);
  const now = systemClock.now();
  const digest = configDigest(config);
  const found = await withLedger(config, (ledger) => readStatus(ledger, digest, now));
  const bypass = readBypass(config.state, now);
  const needed = attention(found, bypass !== undefined);
  if (values.json === true)
    io.out(
      `${JSON.stringify({ ...found, configDigest: digest, bypass: bypass ?? null, attention: needed }, undefined, 2)}\n`,
    );
  else io.out(text(found, digest, now, needed));
  return needed.length > 0 ? EXIT.no : EXIT.ok;
}

function attention({ ledger, nodes }: Status, bypassed: boolean): readonly string[] {
  const of = (n: number, what: string): readonly string[] => (n === 0 ? [] : [`${n} ${what}`]);
  return [
    ...of(ledger.held, 'held: as4-once list --held'),
    ...of(nodes.filter(({ silent }) => silent).length, 'servers silent'),
    ...of(
      nodes.filter(({ silent, sameConfig }) => !silent && !sameConfig).length,
      'servers with another configuration than this file',
    ),
    ...of(
      nodes.filter(({ silent, behind }) => !silent && behind !== undefined).length,
      'servers say that the ledger went back in time: as4-once ledger status',
    ),
    ...(bypassed || nodes.some(({ silent, bypass }) => !silent && bypass !== undefined)
      ? ['the ledger is bypassed: as4-once bypass status']
      : []),
  ];
}

function text(
  { ledger: { engine, meta, stats, pingMs, held, uncertain, inFlight }, nodes }: Status,
  digest: string,
  now: number,
  needed: readonly string[],
): string {
  const most = stats.maxBytes === undefined ? '' : ` of at most ${formatSize(stats.maxBytes)}`;
  const lines: (readonly [string, string])[] = [
    [
      'ledger',
      `${engine} ${meta.id}, ${pingMs.toFixed(1)} ms, ${stats.records.toLocaleString('en')} records, ${formatSize(stats.bytes)}${most}`,
    ],
    ['messages', `${held} held, ${uncertain} uncertain, ${inFlight} in flight`],
    ['config', digest.slice(0, 12)],
    ...nodes.flatMap((node): (readonly [string, string])[] => {
      const { silent, sameConfig, lastMinute, waiting, underWay, journal, ledgerMs, behind, bypass } = node;
      const state = silent
        ? `silent for ${Math.round((now - node.at) / 1_000)} s`
        : `up ${Math.round((now - node.started) / 60_000)} min`;
      const rates = Object.entries(lastMinute)
        .map(([answer, count]) => `${answer} ${count}`)
        .join(', ');
      return [
        [
          'server',
          `${node.node} (pid ${node.pid}, ${node.version}, ${node.role}), ${state}, config ${node.config.slice(0, 12)}${sameConfig ? '' : ' (another one)'}`,
        ],
        [
          '',
          `last minute: ${rates === '' ? 'nothing' : rates}; ${waiting} waiting, ${underWay} under way, ${journal} in the journal${ledgerMs === undefined ? '' : `, ledger ${ledgerMs.toFixed(1)} ms`}`,
        ],
        ...(behind === undefined ? [] : [['', `behind: ${behind}`] as const]),
        ...(bypass === undefined ? [] : [['', `bypass ${bypass}`] as const]),
      ];
    }),
    ...(nodes.length === 0 ? [['servers', 'none has written a report'] as const] : []),
    ...needed.map((what) => ['look', what] as const),
  ];
  return lines.map(([name, value]) => `${name.padEnd(10)}${printable(value)}\n`).join('');
}
