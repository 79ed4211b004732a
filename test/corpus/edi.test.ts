import { readFileSync } from 'node:fs';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeEdi } from '../../src/edi/describe.js';

const shared = resolve(process.env['AS4_ONCE_SHARED'] ?? '../shared');
const corpus = resolve(shared, 'corpus');
const here = existsSync(resolve(corpus, 'expected.json'));

type Entry = Record<string, unknown> & { readonly category: string; readonly verdict: 'parse' | 'reject' | 'lenient' };

/** What describes the file to people, and what a careless reader would have taken from it, is no expectation. */
function expectedOf(entry: Entry): Record<string, unknown> {
  const { features, naiveRead, verdict, reason, ...values } = entry;
  return values;
}

const files: [string, Entry][] = here
  ? Object.entries((JSON.parse(readFileSync(resolve(corpus, 'expected.json'), 'utf8')) as { files: Record<string, Entry> }).files)
    .filter(([, entry]) => ['edifact', 'x12', 'sbdh'].includes(entry.category))
  : [];

describe.skipIf(!here)('the EDI and SBDH corpus (skipped where AS4_ONCE_SHARED or ../shared holds no corpus)', () => {
  it('has files of each category', () => {
    expect(new Set(files.map(([, entry]) => entry.category))).toEqual(new Set(['edifact', 'x12', 'sbdh']));
  });

  it.each(files)('%s', (name, entry) => {
    const found = describeEdi(readFileSync(resolve(corpus, name)));
    if (entry.verdict === 'parse') expect(found).toMatchObject({ ...expectedOf(entry), verdict: 'parse' });
    if (entry.verdict === 'reject') expect(found).toMatchObject({ verdict: 'reject', reason: expect.stringMatching(/\w/) });
    if (entry.verdict === 'lenient' && found.verdict === 'parse') expect(found).toMatchObject(expectedOf(entry));
    if (entry.verdict === 'parse') expect(found['warnings']).toEqual(entry['warnings']);
    if (found.verdict === 'reject') expect(Object.keys(found)).not.toContain('interchanges');
  });
});
