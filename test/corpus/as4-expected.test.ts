import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe as suite, expect, it } from 'vitest';
import { describe } from '../../src/ebms/describe.js';
import { LIMITS } from '../../src/limits.js';

const shared = process.env['AS4_ONCE_SHARED'] ?? join(import.meta.dirname, '../../../shared');
const corpus = join(shared, 'corpus');
const present = existsSync(join(corpus, 'expected.json'));

interface Expected {
  readonly [member: string]: unknown;
  readonly category: string;
  readonly verdict: 'parse' | 'reject' | 'lenient';
  readonly contentType?: string;
  readonly contentTypeSource?: string;
  readonly lenientValues?: Record<string, unknown>;
  readonly parts?: readonly Record<string, unknown>[];
}

/** Members of expected.json that say what a file is rather than what is read in it, or that other software measured. */
const NOT_READ = [
  'verdict',
  'category',
  'size',
  'sha256',
  'features',
  'securityCheck',
  'contentTypeSource',
  'httpHeadersInFile',
  'epilogueBytes',
  'lenientParses',
  'lenientValues',
  'partsNaive',
  'reason',
  'xmlError',
];

function readable(expected: Record<string, unknown>): Record<string, unknown> {
  const kept = Object.fromEntries(Object.entries(expected).filter(([name]) => !NOT_READ.includes(name)));
  if (Array.isArray(kept['parts'])) {
    // what lies inside a part's gzip is the endpoint's to read
    kept['parts'] = kept['parts'].map(({ gzip: _, gunzippedSize: __, gunzippedSha256: ___, ...part }) => part);
  }
  return sorted(kept);
}

function sorted(of: Record<string, unknown>): Record<string, unknown> {
  return Array.isArray(of['warnings'])
    ? { ...of, warnings: (of['warnings'] as string[]).toSorted((a, b) => (a < b ? -1 : 1)) }
    : of;
}

/** The file itself says what it is: by HTTP headers in it, or by its first boundary line. */
function tellsItsType({ contentTypeSource }: Expected): boolean {
  return contentTypeSource === 'HTTP headers in the file' || contentTypeSource?.startsWith('derived') === true;
}

const files: [string, Expected][] = present
  ? Object.entries(
      (JSON.parse(readFileSync(join(corpus, 'expected.json'), 'utf8')) as { files: Record<string, Expected> }).files,
    ).filter(([, expected]) => expected.category === 'as4')
  : [];

suite.skipIf(!present)('the AS4 corpus of other software reads as expected.json says (needs ../shared/corpus)', () => {
  it('holds every file that is expected', () => {
    expect(files).toHaveLength(90);
  });

  for (const [name, expected] of files) {
    it(`${name}: ${expected.verdict}`, () => {
      const description = describe(readFileSync(join(corpus, name)), expected.contentType, LIMITS);
      if (expected.verdict === 'parse') {
        expect(description.verdict).toBe('parse');
        expect(sorted({ ...description })).toMatchObject(readable(expected));
      } else if (expected.verdict === 'reject') {
        expect(description).toMatchObject({
          verdict: 'reject',
          reason: expect.stringMatching(/./),
          code: expect.stringMatching(/^[A-Z_]+$/),
        });
      } else if (description.verdict === 'parse') {
        expect(description).toMatchObject(expected.lenientValues!);
      } else {
        expect(description.reason).not.toBe('');
      }
    });
  }

  for (const [name, expected] of files.filter(([, of]) => tellsItsType(of))) {
    it(`${name}: the media type is found without being told`, () => {
      const description = describe(readFileSync(join(corpus, name)), undefined, LIMITS);
      if (expected.verdict === 'parse') expect(sorted({ ...description })).toMatchObject(readable(expected));
      else expect(description.verdict).toBe('reject');
    });
  }
});
