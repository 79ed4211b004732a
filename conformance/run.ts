import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { EXIT, Usage } from './exit.js';
import type { Output } from './exit.js';
import type { ProfileName } from './profile.js';
import { REQUIREMENTS } from './registry.js';
import { badge } from './report/badge.js';
import { loadExpected } from './report/expected.js';
import { htmlReport } from './report/html.js';
import { junitReport } from './report/junit.js';
import { holds, makeReport } from './report/make.js';
import { markdownReport } from './report/markdown.js';
import { printable, Progress } from './report/progress.js';
import type { Report } from './report/schema.js';
import { VERDICTS } from './run/requirement.js';
import { runSuite } from './run/runner.js';
import { selectRequirements } from './select.js';
import { loadTarget } from './target/load.js';

export const RUN_USAGE = `as4-once-conformance run --target target.yaml [options]
  Judges the access point that the target file describes. (init writes a target file.)

  --only ID,…       requirements by id or by the start of one: as4/3.2/1, as4/3.2
  --profile NAME    another profile than the target file's
  --strict          a warning fails, too
  --jobs N          requirements side by side (4)
  --expected FILE   known failures with a reason; one that passes fails the run
  --out DIR         writes report.json, report.md, report.html, junit.xml, badge.json
  --json            prints the JSON report instead of progress and summary
`;

const OPTIONS = {
  target: { type: 'string' },
  only: { type: 'string' },
  profile: { type: 'string' },
  strict: { type: 'boolean' },
  jobs: { type: 'string' },
  expected: { type: 'string' },
  out: { type: 'string' },
  json: { type: 'boolean' },
} as const;

const SILENT: Output = { write: () => undefined };

/** The `run` command. Exit code 1 when a requirement failed or erred, or a known failure passed. */
export async function runCommandLine(args: string[], out: Output): Promise<number> {
  const { values } = parseArgs({ args, options: OPTIONS });
  if (values.target === undefined) throw new Usage('--target is needed', RUN_USAGE);
  const jobs = Number(values.jobs ?? '4');
  if (!Number.isInteger(jobs) || jobs < 1 || jobs > 64)
    throw new Usage('--jobs is a whole number from 1 to 64', RUN_USAGE);
  const requirements = selectRequirements(REQUIREMENTS, values.only, values.profile);
  const target = loadTarget(values.target, { profile: values.profile as ProfileName | undefined });
  const expected =
    values.expected === undefined
      ? new Map()
      : loadExpected(values.expected, new Set(REQUIREMENTS.map(({ id }) => id)));
  const strict = values.strict === true;
  const progress = new Progress(values.json === true ? SILENT : out, requirements.length);
  const startedAt = new Date();
  const began = performance.now();
  const results = await runSuite(target, {
    requirements,
    jobs,
    onStart: (requirement) => progress.start(requirement),
    onResult: (result) => progress.end(result),
  });
  progress.finish();
  const report = makeReport(target, results, { strict, startedAt, durationMs: performance.now() - began, expected });
  if (values.out !== undefined) writeReports(values.out, report);
  if (values.json === true) out.write(`${JSON.stringify(report, null, 2)}\n`);
  else summary(out, report);
  return report.ok ? EXIT.ok : EXIT.failed;
}

/** Writes every form of a report into a folder. */
export function writeReports(folder: string, report: Report): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'report.json'), `${JSON.stringify(report, null, 1)}\n`);
  writeFileSync(join(folder, 'report.md'), markdownReport(report));
  writeFileSync(join(folder, 'report.html'), htmlReport(report));
  writeFileSync(join(folder, 'junit.xml'), junitReport(report));
  writeFileSync(join(folder, 'badge.json'), `${JSON.stringify(badge(report))}\n`);
}

function summary(out: Output, report: Report): void {
  const { target } = report;
  out.write(`\n${printable(target.name)}${target.version === null ? '' : ` ${printable(target.version)}`}: `);
  const counted = VERDICTS.filter((verdict) => report.totals[verdict] > 0);
  out.write(counted.map((verdict) => `${report.totals[verdict]} ${verdict}`).join(', '));
  out.write(` in ${(report.durationMs / 1_000).toFixed(1)} s\n`);
  for (const result of report.results) {
    if (result.verdict === 'observed')
      out.write(`observed ${result.id.padEnd(18)} ${result.title}: ${printable(result.detail)}\n`);
    if (result.verdict === 'blocked') out.write(`blocked  ${result.id.padEnd(18)} ${result.detail}\n`);
  }
  const skipped = report.results.filter(({ verdict }) => verdict === 'skipped');
  if (skipped.length > 0) out.write(`skipped  ${skipped.map(({ id }) => id).join(' ')}\n`);
  for (const result of report.results)
    if (result.unexpected !== undefined)
      out.write(`unexpected ${result.id}: ${result.verdict}, ${printable(result.unexpected)}\n`);
  const bad = report.results.filter((result) => !holds(result, report.strict));
  out.write(
    report.ok
      ? 'result: meets what is asked of it\n'
      : `result: ${bad.length} not met: ${bad.map(({ id }) => id).join(' ')}\n`,
  );
}
