import { expect, test } from 'vitest';
import { REQUIREMENTS } from '../../conformance/registry.js';
import { printable, Progress } from '../../conformance/report/progress.js';
import type { Requirement } from '../../conformance/run/requirement.js';

const [first, second] = REQUIREMENTS as [Requirement, Requirement];
const result = (requirement: Requirement, verdict: 'pass' | 'fail', detail = '') => ({
  requirement, verdict, detail, level: 'must' as const, ms: 1, exchanges: [],
});

test('on a terminal one line moves and what failed stays; elsewhere only what failed is printed', () => {
  const show = (isTTY: boolean): string => {
    let text = '';
    const progress = new Progress({ isTTY, write: (more) => void (text += more) }, 2);
    progress.start(first);
    progress.end(result(first, 'pass'));
    progress.start(second);
    progress.end(result(second, 'fail', 'seen: \u001b[2J'));
    progress.finish();
    return text;
  };
  expect(show(true)).toContain(`\r\u001b[2K1/2 ${second.id}`);
  expect(show(false)).toBe(`fail     ${second.id.padEnd(18)} ${second.title}\n         seen: \\x1b[2J\n`);
  expect(show(true)).toContain('seen: \\x1b[2J');
});

test('control characters of an answer are shown, not obeyed', () => {
  expect(printable('a\r\n\u009b31m\u007f')).toBe('a\\x0d\\x0a\\x9b31m\\x7f');
});
