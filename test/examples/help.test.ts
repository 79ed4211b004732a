import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, runCli } from '../support/child.js';

// The other half of `claim` could not be found: the help of settle and release spoke of Receipts and held messages only.
describe.skipIf(!existsSync(join(ROOT, 'dist/src/cli/main.js')))('the help of settle and release (skipped where nothing is built: node scripts/prepare.mjs)', () => {
  it.each([['settle', 'Receipt'], ['release', 'held']])('%s names --token, and tells more of it with --token T --help', async (command, other) => {
    const plain = await runCli([command, '--help']);
    expect(plain.stdout).toContain('--token');
    expect(plain.stdout).toContain(other);
    const ofToken = await runCli([command, '--token', 'T', '--help']);
    expect([ofToken.code, ofToken.stdout]).toEqual([0, expect.stringContaining(`as4-once ${command} --token`)]);
  });
});
