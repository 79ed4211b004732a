import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readAnswer } from '../../conformance/as4/answer.js';
import { NotVerified, verifyEnvelope } from '../../conformance/as4/verify.js';
import { ResponseReader } from '../../conformance/wire/response.js';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LIVE = join(ROOT, process.env['AS4_ONCE_SHARED'] ?? '../shared', 'corpus/live');
const HERE = existsSync(LIVE);

function exchanges(): string[] {
  return HERE
    ? readdirSync(LIVE).filter(
        (name) => existsSync(join(LIVE, name, 'response.xml')) && statSync(join(LIVE, name, 'response.http')).size > 0,
      )
    : [];
}

/** What stands in the answer, by plain text search: no parser of ours has a part in it. */
function bySearch(name: string) {
  const text = readFileSync(join(LIVE, name, 'response.xml'), 'utf8');
  const first = (pattern: RegExp) => pattern.exec(text)?.[1];
  return {
    receipt: /<(?:\w+:)?Receipt[ >]/.test(text),
    refToMessageId: first(/RefToMessageId>([^<]+)</),
    error: first(/errorCode="([^"]+)"/),
    digests: [...(/[^]*?Receipt[ >]([^]*)Receipt>/.exec(text)?.[1] ?? '').matchAll(/DigestValue>([^<]+)</g)].map(
      ([, digest]) => digest,
    ),
    rsa: text.includes('xmldsig-more#rsa-sha256'),
  };
}

describe.skipIf(!HERE)('answers of real access points (skipped without ../shared/corpus/live)', () => {
  test.each(exchanges())('%s is read from the wire as what it is, and its signature verifies', (name) => {
    const reader = new ResponseReader(1_000_000);
    const response = reader.push(readFileSync(join(LIVE, name, 'response.http'))) ?? reader.end();
    if (response === undefined) throw new Error('the recorded answer is not complete');
    const answer = readAnswer({ kind: 'response', response, ms: 0 });
    const seen = bySearch(name);
    expect(answer.what === 'receipt').toBe(seen.receipt);
    expect(answer.errors[0]?.code).toBe(seen.error);
    if (!seen.receipt) return;
    expect(answer.receipt?.refToMessageId).toBe(seen.refToMessageId);
    const acknowledged = answer.receipt?.references?.map(({ digest }) => digest);
    expect(new Set(acknowledged)).toEqual(new Set(seen.digests));
    expect(acknowledged).toHaveLength(seen.digests.length);
    if (seen.rsa) expect(verifyEnvelope(answer.envelope ?? Buffer.alloc(0)).references).toHaveLength(2);
  });

  test('one changed letter of a recorded Receipt is noticed', () => {
    const envelope = readFileSync(join(LIVE, 'phase4-a-peppol-10k', 'response.xml'), 'utf8');
    expect(() => verifyEnvelope(Buffer.from(envelope.replace('cap-a-10k', 'cap-b-10k')))).toThrow(NotVerified);
  });
});
