import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { ROOT } from '../support/child.js';
import { startProcess } from '../support/owned-process.js';
import { tempDir } from '../support/temp-dir.js';

const temp = tempDir('report');
afterAll(() => temp.remove());

const test = (status: string): object => ({ status, fullName: `a ${status} test` });
const file = (status: string, ...tests: string[]): object => ({ name: 'x.test.ts', status, message: 'broke', assertionResults: tests.map(test) });

/** The last line and the exit code for a report and the exit code of the test run. */
async function report(files: readonly object[] | undefined, status: number): Promise<{ last: string; code: number | null; said: string }> {
  mkdirSync(temp.path, { recursive: true });
  const path = join(temp.path, files === undefined ? 'missing.json' : 'report.json');
  if (files !== undefined) writeFileSync(path, JSON.stringify({ testResults: files }));
  const child = await startProcess(process.execPath, [join(ROOT, 'scripts/ci-report.mjs'), path, String(status)]);
  const { code } = await child.ended;
  return { last: child.stdout().trimEnd().split('\n').at(-1) ?? '', code, said: child.stdout() };
}

describe('the last line of .ci/run', () => {
  it('counts what passed, failed and was skipped', async () => {
    expect(await report([file('passed', 'passed', 'passed', 'skipped'), file('passed', 'todo', 'passed', 'pending')], 0))
      .toEqual({ last: '3 passed, 0 failed, 3 skipped', code: 0, said: '3 passed, 0 failed, 3 skipped\n' });
    const failing = await report([file('failed', 'passed', 'failed')], 1);
    expect(failing).toMatchObject({ last: '1 passed, 1 failed, 0 skipped', code: 1 });
    expect(failing.said).toContain('failed: x.test.ts: a failed test');
  });

  it('counts a file that could not be loaded as failed', async () => {
    expect(await report([file('passed', 'passed'), file('failed')], 1)).toMatchObject({ last: '1 passed, 1 failed, 0 skipped', code: 1 });
  });

  it('counts a run that failed outside of its tests as failed', async () => {
    expect(await report([file('passed', 'passed')], 1)).toMatchObject({ last: '1 passed, 1 failed, 0 skipped', code: 1 });
    expect(await report(undefined, 1)).toMatchObject({ last: '0 passed, 1 failed, 0 skipped', code: 1 });
  });

  it('does not take a run without tests for a success', async () => {
    expect(await report([], 0)).toMatchObject({ last: '0 passed, 0 failed, 0 skipped', code: 1 });
    expect(await report([file('skipped', 'skipped')], 0)).toMatchObject({ last: '0 passed, 0 failed, 1 skipped', code: 1 });
  });
});
