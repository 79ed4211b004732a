import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ROOT, runCli } from '../support/child.js';

/** A support call begins with it, and `--version` was answered with "no command". */
it.each(['--version', '-V', 'version'])('%s says which release this is, and nothing else', async (word) => {
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
  expect(await runCli([word])).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: '' });
});
