/**
 * Reads vitest's JSON report and ends with one line alone: `N passed, N failed, N skipped`.
 * Usage: node scripts/ci-report.mjs REPORT STATUS, where STATUS is the exit code of the test run.
 * A test file that could not be loaded, and an error outside of any test, count as one failed each; exits 0 only when
 * something passed and nothing failed.
 */
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Counts of one report; `undefined` stands for a report that was never written. */
export function countTests(report, status) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures = [];
  for (const file of report?.testResults ?? []) {
    const before = counts.failed;
    for (const test of file.assertionResults) {
      const kind = test.status === 'passed' ? 'passed' : test.status === 'failed' ? 'failed' : 'skipped';
      counts[kind] += 1;
      if (kind === 'failed') failures.push(`${file.name}: ${test.fullName}`);
    }
    if (file.status === 'failed' && counts.failed === before) {
      counts.failed += 1;
      failures.push(`${file.name}: ${file.message?.split('\n')[0] || 'could not be loaded'}`);
    }
  }
  if (status !== 0 && counts.failed === 0) {
    counts.failed = 1;
    failures.push(report === undefined ? 'the tests did not run; the lines above say why' : 'an error outside of any test; the lines above say which');
  }
  return { ...counts, failures, ok: counts.failed === 0 && counts.passed > 0 };
}

function main([path, status]) {
  let report;
  try {
    report = JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    report = undefined;
  }
  const { passed, failed, skipped, failures, ok } = countTests(report, Number(status));
  for (const failure of failures) console.log(`failed: ${failure}`);
  if (passed + failed === 0) console.log('no test ran');
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  process.exitCode = ok ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main(process.argv.slice(2));
