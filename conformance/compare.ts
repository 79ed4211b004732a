import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { EXIT, Usage } from './exit.js';
import type { Output } from './exit.js';
import { cell } from './report/markdown.js';
import { reportSchema } from './report/schema.js';
import type { Report } from './report/schema.js';

export const COMPARE_USAGE = `as4-once-conformance compare A.json B.json … [--differences]
  Prints reports side by side as a Markdown table; --differences: only the rows in which they differ.
`;

/** The `compare` command. */
export async function compareCommand(args: string[], out: Output): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    options: { differences: { type: 'boolean' } },
    allowPositionals: true,
  });
  if (positionals.length < 2) throw new Usage('at least two reports are needed', COMPARE_USAGE);
  out.write(compareReports(positionals.map(readReport), values.differences === true));
  return EXIT.ok;
}

export function readReport(path: string): Report {
  let data: unknown;
  try {
    data = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Usage(`${path}: ${(error as Error).message}`);
  }
  const parsed = reportSchema.safeParse(data);
  if (!parsed.success)
    throw new Usage(
      `${path}: no report of this suite (${parsed.error.issues[0]?.path.join('.')}: ` +
      `${parsed.error.issues[0]?.message})`,
    );
  return parsed.data;
}

/** Rows are requirements, columns are reports; what was seen stands beside an observation. */
export function compareReports(reports: readonly Report[], differencesOnly: boolean): string {
  const ids = [...new Set(reports.flatMap(({ results }) => results.map(({ id }) => id)))];
  const find = (report: Report, id: string) => report.results.find((result) => result.id === id);
  const rows = ids.map((id) => {
    const found = reports.map((report) => find(report, id));
    const title = found.find((result) => result !== undefined)?.title ?? '';
    const verdicts = found.map((result) => result?.verdict ?? '–');
    return {
      line: `| ${id} | ${cell(title)} | ${found.map((result) => mark(result)).join(' | ')} |`,
      same: new Set(verdicts).size === 1,
    };
  });
  const names = reports.map(({ target }) =>
    cell(`${target.name}${target.version === null ? '' : ` ${target.version}`}`),
  );
  const totals = reports.map(
    ({ totals: t }) =>
      `${t.pass} pass, ${t.fail} fail, ${t.warning} warning, ${t.observed} observed, ${t.skipped + t.blocked} not ` +
      `judged${t.error > 0 ? `, ${t.error} error` : ''}`,
  );
  return [
    `| id | requirement | ${names.join(' | ')} |`,
    `|---|---|${names.map(() => '---').join('|')}|`,
    `| | all | ${totals.join(' | ')} |`,
    ...rows.filter(({ same }) => !differencesOnly || !same).map(({ line }) => line),
    '',
  ].join('\n');
}

function mark(result: Report['results'][number] | undefined): string {
  if (result === undefined) return '–';
  if (result.verdict === 'pass') return 'pass';
  const told = ['observed', 'fail', 'warning'].includes(result.verdict);
  const seen = told ? `: ${cell(result.detail.slice(0, 90))}` : '';
  const known = result.known === undefined ? '' : ' (known)';
  return `**${result.verdict}**${known}${seen}`;
}
