import { parseArgs } from 'node:util';
import { systemClock } from '../clock.js';
import { As4OnceError } from '../errors.js';
import { readTallies } from '../operate/read-tallies.js';
import { ANSWERS, csv, hourLines, shadowLines, summaryLines, type Line, type ShadowLine } from '../operate/report.js';
import { table } from '../operate/table.js';
import type { Tally } from '../operate/tally.js';
import { EXIT, type Io } from './io.js';
import { momentOf } from './moment.js';
import { configured, withLedger } from './records.js';
import { printable } from './show-record.js';

const HELP = `as4-once report: how messages were answered, from counters that are kept in the ledger for 400 days

Usage: as4-once report [--from T] [--to T] [--csv | --json] [--config FILE]
       as4-once report --shadow [--from T] [--to T] [--json] [--config FILE]

--shadow   what mode eliminate would have done with what came under mode shadow, per partner
--from T   2026-12-01, 2026-12-01T13:00Z, or how long ago (14d, the default)
--to T     the same; up to there, not included. Default: now
--csv      one line for each hour and partner, and one for each hour altogether (partner *)

Hours are UTC; a message counts in the hour in which it arrived. In every line arrived is the sum of the answers and of
unanswered (still in work, or its process was killed). Running servers write their counters every ten seconds.

Exit codes: 0 done · 2 wrong command line or configuration · 75 the ledger cannot be reached

Example: as4-once report --shadow --from 14d --config front.yaml
`;

export async function report(args: readonly string[], io: Io): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      shadow: { type: 'boolean' },
      from: { type: 'string' },
      to: { type: 'string' },
      csv: { type: 'boolean' },
      json: { type: 'boolean' },
      config: { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) {
    io.out(HELP);
    return EXIT.ok;
  }
  if (values.csv === true && (values.json === true || values.shadow === true))
    throw new As4OnceError('USAGE', '--csv goes with neither --json nor --shadow');
  const now = systemClock.now();
  const from = momentOf('--from', values.from ?? '14d', now);
  const to = values.to === undefined ? now + 1 : momentOf('--to', values.to, now);
  if (!(from < to)) throw new As4OnceError('USAGE', '--from must be before --to');
  const config = configured(values.config, io);
  const tallies = await withLedger(config, (ledger) => readTallies(ledger, from, to));
  const span = `${iso(from)} to ${iso(Math.min(to, now))}`;
  if (values.csv === true) io.out(csv(hourLines(tallies)));
  else if (values.json === true) io.out(`${JSON.stringify(asJson(tallies, values.shadow === true, from, to), undefined, 2)}\n`);
  else
    io.out(values.shadow === true ? shadowText(shadowLines(tallies), span) : summaryText(summaryLines(tallies), span));
  return EXIT.ok;
}

function asJson(tallies: readonly Tally[], shadow: boolean, from: number, to: number): object {
  const span = { from: iso(from), to: iso(to) };
  if (shadow) return { ...span, shadow: shadowLines(tallies) };
  return { ...span, summary: summaryLines(tallies), hours: hourLines(tallies).map(dated) };
}

const SHADOW_HEAD = [
  'partner',
  'messages',
  'first copies',
  'duplicates',
  'mismatches',
  'resends',
  'late',
  'uncertain',
  'refusals',
  'unknown',
];

function shadowText(lines: readonly ShadowLine[], span: string): string {
  const [all] = lines;
  if (all === undefined || all.messages === 0) return `Nothing came under mode: shadow, ${span}.\n`;
  const rows = lines.map((l) => [
    named(l.partner),
    l.messages,
    l.first,
    l.duplicates,
    l.mismatches,
    l.resends,
    l.late,
    l.uncertain,
    l.refusals,
    l.unknown,
  ]);
  return `Mode shadow, ${span}: what mode eliminate would have done\n\n${table(SHADOW_HEAD, rows)}
${all.duplicates.toLocaleString('en')} copies would have been answered with the first Receipt instead of going on.
Mismatches (an id with other content) and refusals would have been refused: look at them in the log before you switch.
`;
}

function summaryText(lines: readonly Line[], span: string): string {
  const [all] = lines;
  if (all === undefined || all.arrived === 0) return `No messages, ${span}.\n`;
  const used = ANSWERS.filter((name) => all.answers[name] > 0);
  const rows = lines.map((l) => [named(l.partner), l.arrived, ...used.map((name) => l.answers[name]), l.unanswered]);
  return `Messages, ${span}\n\n${table(['partner', 'arrived', ...used, 'unanswered'], rows)}`;
}

const named = (partner: string | undefined): string =>
  partner === undefined ? 'all' : partner === '' ? '(not configured)' : printable(partner);
const dated = ({ hour, ...line }: Line): object => ({ ...(hour === undefined ? {} : { hour: iso(hour) }), ...line });
const iso = (ms: number): string => new Date(ms).toISOString();
