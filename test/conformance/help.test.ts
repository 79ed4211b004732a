import { describe, expect, it } from 'vitest';
import { runNode } from '../support/child.js';

describe('as4-once-conformance COMMAND --help', () => {
  it.each(['run', 'init', 'list', 'send', 'compare'])('%s says how it is used and ends with 0', async (command) => {
    const { code, stdout, stderr } = await runNode('dist/conformance/main.js', [command, '--help']);
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(new RegExp(`as4-once-conformance ${command}`));
  });
});
