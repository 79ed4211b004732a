import { VERDICTS, VERDICT_MEANING } from '../run/requirement.js';
import type { Report, ReportResult } from './schema.js';

/**
 * A report to be read in a repository: summary, then everything that was not met, then everything else in one table.
 */
export function markdownReport(report: Report): string {
  const { target } = report;
  const lines = [
    `# ${cell(target.name)}${target.version === null ? '' : ` ${cell(target.version)}`}`,
    '',
    `as4-once-conformance ${report.suite.version}, ${report.date.slice(0, 10)}, profile ${target.profile}, ` +
    `${report.suite.requirements} requirements in ${Math.round(report.durationMs / 1_000)} s.`,
    ...(target.notes === null ? [] : ['', cell(target.notes)]),
    '',
    `Claims: ${
      Object.keys(target.claims).length === 0
        ? 'none'
        : Object.entries(target.claims)
            .map(([name, value]) => `\`${name}: ${value}\``)
            .join(', ')
    }.`,
    '',
    '| verdict | count | meaning |',
    '|---|---|---|',
    ...VERDICTS.map((verdict) => `| ${verdict} | ${report.totals[verdict] ?? 0} | ${VERDICT_MEANING[verdict]} |`),
  ];
  const unmet = report.results.filter(
    ({ verdict, unexpected }) => ['fail', 'warning', 'error'].includes(verdict) || unexpected !== undefined,
  );
  if (unmet.length > 0) lines.push('', '## Not met', ...unmet.flatMap(unmetSection));
  lines.push('', '## All requirements', '', '| id | level | requirement | verdict | seen |', '|---|---|---|---|---|');
  lines.push(
    ...report.results.map(
      (result) =>
        `| ${result.id} | ${result.judgedAs} | ${cell(result.title)} | ${result.verdict} | ` +
        `${cell(result.detail.slice(0, 160))} |`,
    ),
  );
  return `${lines.join('\n')}\n`;
}

function unmetSection(result: ReportResult): string[] {
  const last = result.exchanges.at(-1);
  return [
    '',
    `### ${result.id} ${cell(result.title)}`,
    '',
    `- ${result.verdict} (${result.judgedAs}): ${cell(result.detail)}`,
    `- source: ${cell(result.document)}, ${cell(result.section)}: ${cell(result.says)}`,
    `- sent: ${cell(result.sends)}`,
    `- expected: ${cell(result.expects)}`,
    ...(last === undefined ? [] : [`- last answer: ${cell(last.answer.summary)}`]),
    ...(result.known === undefined ? [] : [`- known: ${cell(result.known)}`]),
    ...(result.unexpected === undefined ? [] : [`- unexpected: ${cell(result.unexpected)}`]),
  ];
}

/** Text of a target stays text in Markdown. */
export function cell(value: string): string {
  return value.replace(/[\r\n]+/g, ' ').replace(/[\\`*_{}[\]<>|#]/g, (sign) => `\\${sign}`);
}
