import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Party, ProtocolName } from '../../src/message.js';
import { duplicateKey, needsContent, partiesText, referencePrefix, withContent, withSender, type Keyed } from '../../src/policy/key.js';
import type { Granularity } from '../../src/policy/rule.js';

const party = (value: string, type?: string): Party => (type === undefined ? { value } : { value, type });

function message(change: Partial<Keyed> & { from?: readonly Party[]; to?: readonly Party[] } = {}): Keyed {
  const { from = [party('POP000123')], to = [party('POP000456')], ...rest } = change;
  return { protocol: 'as4', reference: 'm1@example.org', signed: true, fingerprint: 'signed:aa', facts: { from, to }, ...rest };
}

/** Short strings of the characters that a careless joining of parts would trip over. */
const tricky = fc.string({ unit: fc.constantFrom(':', '|', ',', '(', ')', '"', 's', 'w', '1', '2', '\u0000', 'é', '\ud800', '\ufffd'), maxLength: 4 });
const parties = fc.array(fc.record({ value: tricky, type: fc.option(tricky, { nil: undefined }) }), { maxLength: 3 })
  .map((list) => list.map(({ value, type }) => party(value, type)));
const protocol = fc.constantFrom<ProtocolName>('as4', 'edifact', 'x12', 'sbdh', 'reference');
const granularity = fc.constantFrom<Granularity>(
  'reference', 'reference+sender', 'reference+sender+recipient', 'reference+content', 'reference+sender+content',
  'reference+sender+recipient+content', 'reference+datetime', 'reference+sender+recipient+content+datetime');
const keyed = fc.record({
  protocol, reference: tricky, fingerprint: tricky, from: parties, to: parties, scope: tricky, granularity,
  type: fc.option(tricky, { nil: undefined }), datetime: fc.option(tricky, { nil: undefined }), test: fc.option(tricky, { nil: undefined }),
});
type Drawn = typeof keyed extends fc.Arbitrary<infer T> ? T : never;

function keyOf(drawn: Drawn): string {
  const { type, datetime, test, scope, granularity: g, ...rest } = drawn;
  const extra = { ...(datetime === undefined ? {} : { datetime }), ...(test === undefined ? {} : { test }) };
  return duplicateKey(message({ ...rest, extra, ...(type === undefined ? {} : { type }) }), g, scope);
}

/** What the key has to tell apart, written down in a way that needs no separators. */
function identity(drawn: Drawn): string {
  const { protocol: p, scope, reference, type, from, to, fingerprint, datetime, test, granularity: g } = drawn;
  const sorted = (list: readonly Party[]): unknown => list.map((x) => [x.type ?? '', x.value]).sort((a, b) => {
    const [x, y] = [JSON.stringify(a), JSON.stringify(b)];
    return x < y ? -1 : x > y ? 1 : 0;
  });
  return JSON.stringify([
    p, scope, reference, type ?? null, test ?? null, g.split('+').sort(),
    g.includes('+sender') ? sorted(from) : null, g.includes('+recipient') ? sorted(to) : null,
    g.includes('+content') ? fingerprint : null, g.includes('+datetime') ? (datetime ?? '') : null,
  ]);
}

describe('DuplicateKey', () => {
  it('is two hashes: lower-case hex for the reference, base64url for the rest', () => {
    expect(duplicateKey(message(), 'reference+sender', 'default')).toMatch(/^[0-9a-f]{64}:[A-Za-z0-9_-]{43}$/);
  });

  it('tells any two messages apart that its granularity tells apart, wherever separators stand', () => {
    const fields = ['protocol', 'reference', 'fingerprint', 'from', 'to', 'scope', 'granularity', 'type', 'datetime', 'test'] as const;
    fc.assert(fc.property(keyed, keyed, fc.subarray([...fields], { maxLength: 2 }), (a, other, differing) => {
      const b: Drawn = { ...a, ...Object.fromEntries(differing.map((field) => [field, other[field]])) };
      expect(keyOf(a) === keyOf(b)).toBe(identity(a) === identity(b));
      expect(keyOf(a) === keyOf(other)).toBe(identity(a) === identity(other));
    }), { numRuns: 3_000 });
  });

  it('does not move characters between neighbouring parts', () => {
    const key = (scope: string, reference: string): string => duplicateKey(message({ reference }), 'reference', scope);
    expect(key('a', 'bc')).not.toBe(key('ab', 'c'));
    const from = (...values: string[]): string => duplicateKey(message({ from: values.map((v) => party(v)) }), 'reference+sender', 's');
    expect(from('a', 'b')).not.toBe(from('ab'));
    expect(from('a"],["","b')).not.toBe(from('a', 'b'));
  });

  it('does not mind the order of PartyIds', () => {
    fc.assert(fc.property(parties, parties, fc.infiniteStream(fc.nat()), (from, to, noise) => {
      const shuffled = <T>(list: readonly T[]): T[] =>
        list.map((item) => ({ item, at: noise.next().value })).sort((x, y) => x.at - y.at).map(({ item }) => item);
      const g = 'reference+sender+recipient';
      expect(duplicateKey(message({ from: shuffled(from), to: shuffled(to) }), g, 's')).toBe(duplicateKey(message({ from, to }), g, 's'));
      expect(partiesText(shuffled(from))).toBe(partiesText(from));
    }));
  });

  it('takes a missing type and an empty one for the same, and different types for different', () => {
    const key = (type?: string): string => duplicateKey(message({ from: [party('p', type)] }), 'reference+sender', 's');
    expect(key()).toBe(key(''));
    expect(key('urn:a')).not.toBe(key('urn:b'));
  });

  it('compares references exactly: case, brackets, inner spaces', () => {
    const keys = ['a@b', 'A@b', '<a@b>', ' a@b', 'a @b', 'a@b '].map((reference) => duplicateKey(message({ reference }), 'reference', 's'));
    expect(new Set(keys).size).toBe(6);
  });

  // JSON can carry a lone surrogate; UTF-8 would fold all of them into one replacement character, and two references
  // of a webhook would have been one.
  it('keeps ill-formed references apart', () => {
    const keys = ['\ud800', '\ud801', '\udc00', '\ufffd'].map((reference) => duplicateKey(message({ protocol: 'reference', reference }), 'reference', 's'));
    expect(new Set(keys).size).toBe(4);
  });

  it('shares its first half with every record of the reference, whatever the granularity', () => {
    const prefix = referencePrefix('as4', 's', 'm1@example.org');
    for (const g of ['reference', 'reference+sender', 'reference+sender+recipient+content'] as const) {
      expect(duplicateKey(message(), g, 's').split(':')[0]).toBe(prefix);
    }
    expect(referencePrefix('as4', 's', 'm1@example.org', '')).not.toBe(prefix);
    expect(referencePrefix('x12', 's', 'm1@example.org')).not.toBe(prefix);
  });

  it('keeps test and production of EDI apart under every granularity, and date and time only with +datetime', () => {
    const key = (g: Granularity, extra: Record<string, string>): string => duplicateKey(message({ protocol: 'x12', extra }), g, 's');
    expect(key('reference', { test: 'P' })).not.toBe(key('reference', { test: 'T' }));
    expect(key('reference', { test: 'P', datetime: '1' })).toBe(key('reference', { test: 'P', datetime: '2' }));
    expect(key('reference+sender+datetime', { test: 'P', datetime: '1' })).not.toBe(key('reference+sender+datetime', { test: 'P', datetime: '2' }));
  });

  it('adds content or sender to a granularity in its own order', () => {
    expect(withContent('reference')).toBe('reference+content');
    expect(withContent('reference+sender+datetime')).toBe('reference+sender+content+datetime');
    expect(withContent('reference+content')).toBe('reference+content');
    expect(withSender('reference')).toBe('reference+sender');
    expect(withSender('reference+content')).toBe('reference+sender+content');
    expect(withSender('reference+sender+recipient')).toBe('reference+sender+recipient');
  });

  it('cannot be made of a content that is not known yet', () => {
    expect(needsContent('reference+sender+content')).toBe(true);
    expect(needsContent('reference+sender')).toBe(false);
    expect(() => duplicateKey(message({ fingerprint: undefined }), 'reference+content', 's')).toThrow(TypeError);
    expect(duplicateKey(message({ fingerprint: undefined }), 'reference', 's')).toBe(duplicateKey(message(), 'reference', 's'));
  });

  // Keys stand in ledgers for years: a change of this value forgets every message there is.
  it('is what it has always been', () => {
    expect(duplicateKey(message(), 'reference+sender', 'default')).toMatchInlineSnapshot(`"85adbde0cae52987826295c52c7bf7e5e1276ff976f9f2f15b8ea6a12714ad09:A3jDFMq84El8MwjdTVsikr88tkSwbtw2RpOxASeJMk0"`);
  });
});
