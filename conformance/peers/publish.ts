import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { compareReports, readReport } from '../compare.js';
import { REQUIREMENTS } from '../registry.js';
import { badge } from '../report/badge.js';
import { loadExpected } from '../report/expected.js';
import type { Expectation } from '../report/expected.js';
import { withExpected } from '../report/make.js';
import { markdownReport } from '../report/markdown.js';
import type { Report } from '../report/schema.js';

const resultsOf = (project: string): string => join(project, 'conformance/results');

/** The known failures of a peer: `expected.yaml` beside its report. */
export function knownFailures(project: string, name: string): ReadonlyMap<string, Expectation> {
  const file = join(resultsOf(project), name, 'expected.yaml');
  return existsSync(file) ? loadExpected(file, new Set(REQUIREMENTS.map(({ id }) => id))) : new Map();
}

/** Writes a peer's report: JSON, Markdown and badge. */
export function publish(project: string, name: string, report: Report): void {
  const folder = join(resultsOf(project), name);
  mkdirSync(folder, { recursive: true });
  const short = shortened(withExpected(report, knownFailures(project, name)));
  writeFileSync(join(folder, 'report.json'), `${JSON.stringify(short, null, 1)}\n`);
  writeFileSync(join(folder, 'report.md'), markdownReport(short));
  writeFileSync(join(folder, 'badge.json'), `${JSON.stringify(badge(short))}\n`);
}

/** Writes a published report again, with the known failures as they are now. */
export function republish(project: string, name: string): void {
  const file = join(resultsOf(project), name, 'report.json');
  if (existsSync(file)) publish(project, name, readReport(file));
}

/** Exchanges of one requirement that are published: the first and the last ones. */
const EXCHANGES_MAX = 4;

/**
 * Ports of one run say nothing to a reader, and make every report differ from the last; a hundred equal copies say no
 * more than four, and texts are kept for the first and the last exchange of what was not met.
 */
function shortened(report: Report): Report {
  const results = report.results.map((result) => ({
    ...result,
    exchanges: firstAndLast(result.exchanges).map((exchange, index, all) => {
      if (index === 0 || index === all.length - 1) return exchange;
      const { envelope: _envelope, ...request } = exchange.request;
      const { body: _body, ...answer } = exchange.answer;
      return { ...exchange, request, answer };
    }),
  }));
  const text = JSON.stringify({ ...report, results }).replaceAll(/127\.0\.0\.1:\d{4,5}/g, '127.0.0.1:0');
  return JSON.parse(text) as Report;
}

function firstAndLast<T>(list: readonly T[]): readonly T[] {
  if (list.length <= EXCHANGES_MAX) return list;
  return [...list.slice(0, EXCHANGES_MAX / 2), ...list.slice(-EXCHANGES_MAX / 2)];
}

/** The page that puts all published reports side by side. */
export function publishTable(project: string, names: readonly string[]): void {
  const root = resultsOf(project);
  const published = names.filter((name) => existsSync(join(root, name, 'report.json')));
  const reports = published.map((name) => readReport(join(root, name, 'report.json')));
  const runs = reports.map(({ target, date, suite }, index) => {
    const link = `[${target.name}](${published[index]}/report.md)`;
    return `| ${link} | ${date.slice(0, 10)} | ${suite.version} | ${target.notes ?? ''} |`;
  });
  const head = ['| run | date | suite | how it was configured |', '|---|---|---|---|', ...runs].join('\n');
  const intro = readFileSync(join(root, 'intro.md'), 'utf8');
  writeFileSync(join(root, 'README.md'), `${intro}\n${head}\n\n${compareReports(reports, false)}`);
}
