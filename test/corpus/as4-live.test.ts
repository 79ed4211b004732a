import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe as suite, expect, it } from 'vitest';
import { readAnswer } from '../../src/ebms/answer.js';
import { as4Protocol } from '../../src/ebms/as4.js';
import { describe } from '../../src/ebms/describe.js';
import type { Described } from '../../src/ebms/describe.js';
import { openStoredFile } from '../../src/ebms/stored-file.js';
import { cidPart, fingerprintFromReceipt } from '../../src/ebms/fingerprint.js';
import { header } from '../../src/exchange.js';
import { LIMITS } from '../../src/limits.js';
import type { Message } from '../../src/message.js';

const shared = process.env['AS4_ONCE_SHARED'] ?? join(import.meta.dirname, '../../../shared');
const live = join(shared, 'corpus', 'live');
const present = existsSync(join(live, 'expected.json'));

interface Expected {
  readonly contentType: string;
  readonly messageId: string;
  readonly timestamp: string;
  readonly from: readonly string[];
  readonly to: readonly string[];
  readonly cidDigests: readonly string[];
  readonly signedReferences: number;
  readonly response: {
    readonly status: string;
    readonly refToMessageId: string | null;
    readonly messageId: string | null;
    readonly signal: 'Receipt' | 'Error' | null;
    readonly errorCode: string | null;
  };
}

const expected = present
  ? (JSON.parse(readFileSync(join(live, 'expected.json'), 'utf8')) as Record<string, Expected>)
  : {};

async function read(name: string): Promise<Message> {
  const reading = as4Protocol.open({ headers: [['Content-Type', expected[name]!.contentType]], target: '/' }, LIMITS);
  await reading.push(readFileSync(join(live, name, 'request.mime')));
  const result = await reading.end();
  if (result.kind !== 'message') throw new Error('no message');
  return result.message;
}

suite.skipIf(!present)('recorded exchanges of real access points (needs ../shared/corpus/live)', () => {
  for (const [name, values] of Object.entries(expected)) {
    it(`${name}: the request reads as expected, body alone and with its HTTP head`, () => {
      for (const [file, contentType] of [
        ['request.mime', values.contentType],
        ['request.http', undefined],
      ] as const) {
        const description = describe(readFileSync(join(live, name, file)), contentType, LIMITS) as Described;
        expect(description.verdict).toBe('parse');
        expect(description.messages).toHaveLength(1);
        const [message] = description.messages;
        if (message?.type !== 'UserMessage') throw new Error('no UserMessage');
        expect(message).toMatchObject({ messageId: values.messageId, timestamp: values.timestamp });
        expect(message.from!.ids.map((p) => p.value)).toEqual(values.from);
        expect(message.to!.ids.map((p) => p.value)).toEqual(values.to);
        const references = description.signatures!.flatMap((s) => s.references);
        expect(references).toHaveLength(values.signedReferences);
        expect(
          references
            .filter((r) => r.uri.startsWith('cid:'))
            .map((r) => r.digestValue)
            .sort(),
        ).toEqual([...values.cidDigests].sort());
        expect(description.fingerprint).toMatch(/^signed:[\w-]{43}(\.[\w-]{43})?$/);
      }
    });

    it(`${name}: the answer reads as expected`, async () => {
      const path = join(live, name, 'response.http');
      if (values.response.status === '') return; // the connection ended without an answer
      const { headers, body } = openStoredFile(readFileSync(path), LIMITS);
      const answer = readAnswer(headers && header(headers, 'content-type'), body, LIMITS);
      if (values.response.signal === null) {
        expect(answer).toBeUndefined();
        return;
      }
      const [signal] = answer!.signals;
      expect(signal).toMatchObject({
        messageId: values.response.messageId,
        refToMessageId: values.response.refToMessageId,
        kinds: [values.response.signal],
      });
      expect(signal!.errors[0]?.code ?? null).toBe(values.response.errorCode);
      if (values.response.signal === 'Receipt') {
        expect(fingerprintFromReceipt(signal!.receipt!.nri!)).toBe(
          values.cidDigests.length === 0 ? undefined : cidPart((await read(name)).fingerprint),
        );
      }
    });
  }

  const families: readonly (readonly [why: string, first: string, second: string, same: boolean])[] = [
    ['Holodeck signs its own retry anew', 'holodeck-retry-attempt1', 'holodeck-retry-attempt2', true],
    ['phase4 repeats its bytes', 'phase4-h-http-retry-1st', 'phase4-h-http-retry-2nd', true],
    [
      'a phase4 application rebuilds, stamps and encrypts anew',
      'phase4-d-duplicate-1st',
      'phase4-d-duplicate-2nd',
      true,
    ],
    ['the same bytes', 'holodeck-sign-1payload', 'holodeck-duplicate-replay-1', true],
    ['the same bytes', 'holodeck-duplicate-replay-1', 'holodeck-duplicate-replay-2', true],
    ['the same bytes', 'oxalis-ng-peppol-invoice', 'oxalis-ng-duplicate-replay-1', true],
    [
      'a payload altered and validly signed anew',
      'holodeck-altered-original',
      'holodeck-altered-payload-same-id',
      false,
    ],
  ];
  for (const [why, first, second, same] of families) {
    it(`${why}: ${first} and ${second} ${same ? 'have one fingerprint' : 'differ'}`, async () => {
      const [a, b] = [await read(first), await read(second)];
      expect(b.reference).toBe(a.reference);
      expect(b.facts.from).toEqual(a.facts.from);
      if (same) expect(b.fingerprint).toBe(a.fingerprint);
      else expect(b.fingerprint).not.toBe(a.fingerprint);
      expect(a.signed && b.signed).toBe(true);
    });
  }

  it('sixty distinct Peppol messages have sixty references and sixty fingerprints', async () => {
    const folder = join(live, 'phase4-many');
    const names = readdirSync(folder).filter((f) => f.endsWith('.mime'));
    const messages = await Promise.all(
      names.map(async (name) => {
        const contentType = readFileSync(join(folder, name.replace('.mime', '.ct')), 'utf8').trim();
        const reading = as4Protocol.open({ headers: [['Content-Type', contentType]], target: '/' }, LIMITS);
        await reading.push(readFileSync(join(folder, name)));
        const result = await reading.end();
        return result.kind === 'message' ? result.message : undefined;
      }),
    );
    expect(messages).toHaveLength(60);
    expect(new Set(messages.map((m) => m!.reference)).size).toBe(60);
    expect(new Set(messages.map((m) => m!.fingerprint)).size).toBe(60);
  });
});
