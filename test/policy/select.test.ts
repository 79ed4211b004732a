import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { builtInRule } from '../../src/config/rules.js';
import type { Facts } from '../../src/message.js';
import { CRITERIA, DEFAULT_MPC, type Match, type Matchable } from '../../src/policy/match.js';
import { compileRules, selectRule, type PartnerRule } from '../../src/policy/select.js';
import { ties } from '../../src/policy/ties.js';

const DAY = 86_400_000;
const defaults = builtInRule('as4', 25_000);
const partner = (name: string, match: Match, window = DAY): PartnerRule => ({ name, match, rule: { window } });
const message = (facts: Partial<Facts> = {}): Matchable =>
  ({ protocol: 'as4', facts: { from: [{ value: 'A' }], to: [{ value: 'B' }], ...facts } });
const chosen = (partners: readonly PartnerRule[], facts?: Partial<Facts>): string =>
  selectRule(compileRules({ defaults, partners }), message(facts)).name;

describe('the rule of a message', () => {
  it('is the defaults where no partner fits', () => {
    const rule = selectRule(compileRules({ defaults, partners: [partner('x', { from: ['X'] })] }), message());
    expect(rule).toEqual({ ...defaults, name: 'defaults' });
    expect(rule.partner).toBeUndefined();
  });

  it('is the partner that fits, with the defaults where it says nothing', () => {
    const rule = selectRule(compileRules({ defaults, partners: [partner('a', { from: ['A'] }, 7 * DAY)] }), message());
    expect(rule).toEqual({ ...defaults, name: 'a', partner: 'a', window: 7 * DAY });
    expect(Object.isFrozen(rule)).toBe(true);
  });

  it('is the one with most criteria', () => {
    const list = [partner('one', { from: ['A'] }), partner('three', { from: ['A'], to: ['B'], action: ['x'] }), partner('two', { from: ['A'], to: ['B'] })];
    expect(chosen(list)).toBe('two');
    expect(chosen(list, { action: 'x' })).toBe('three');
    expect(chosen(list, { to: [{ value: 'C' }] })).toBe('one');
  });

  it('fits any value of a list, and any of several PartyIds', () => {
    const list = [partner('list', { from: ['X', 'A'] })];
    expect(chosen(list)).toBe('list');
    expect(chosen(list, { from: [{ value: 'Z' }, { value: 'X' }] })).toBe('list');
    expect(chosen(list, { from: [] })).toBe('defaults');
  });

  it('lets the order of the file decide where several PartyIds belong to different partners', () => {
    const list = [partner('second id', { from: ['Z'] }), partner('first id', { from: ['A'] })];
    expect(chosen(list, { from: [{ value: 'A' }, { value: 'Z' }] })).toBe('second id');
  });

  it('compares exactly, but participant identifiers without regard to case (Peppol)', () => {
    expect(chosen([partner('p', { from: ['a'] })])).toBe('defaults');
    expect(chosen([partner('p', { action: ['Do'] })], { action: 'do' })).toBe('defaults');
    expect(chosen([partner('p', { c1: ['0088:ABC'] })], { c1: '0088:abc' })).toBe('p');
    expect(chosen([partner('p', { c4: ['0088:abc'] })], { c4: '0088:ABC' })).toBe('p');
  });

  it('knows a Peppol document type with and without its scheme', () => {
    const action = 'busdox-docid-qns::urn:x::Invoice##y::2.1';
    expect(chosen([partner('p', { documentType: ['urn:x::Invoice##y::2.1'] })], { action })).toBe('p');
    expect(chosen([partner('p', { documentType: [action] })], { action })).toBe('p');
    expect(chosen([partner('p', { documentType: ['urn:x::Invoice##y::2.1'] })], { action: 'urn:x::Invoice##y::2.1' })).toBe('defaults');
  });

  it('takes a message without mpc for one of the default MPC', () => {
    expect(chosen([partner('p', { mpc: [DEFAULT_MPC] })])).toBe('p');
    expect(chosen([partner('p', { mpc: [DEFAULT_MPC] })], { mpc: 'urn:other' })).toBe('defaults');
  });

  it.each([['service', 's'], ['action', 'x'], ['agreement', 'urn:a'], ['mpc', 'urn:m']] as const)('is matched on %s', (name, value) => {
    expect(chosen([partner('p', { [name]: [value] })], { [name]: value })).toBe('p');
    expect(chosen([partner('p', { [name]: [value] })], { [name]: `${value} ` })).toBe('defaults');
  });

  it('agrees with looking at every rule in turn', () => {
    const value = fc.constantFrom('A', 'B', 'C');
    const match = fc.record({ from: fc.array(value, { minLength: 1, maxLength: 2 }), to: fc.array(value, { minLength: 1 }), service: fc.array(value, { minLength: 1 }), c1: fc.array(value, { minLength: 1 }) }, { requiredKeys: [] })
      .filter((m) => Object.keys(m).length > 0);
    const facts = fc.record({ from: fc.array(value.map((v) => ({ value: v })), { maxLength: 2 }), to: fc.array(value.map((v) => ({ value: v })), { maxLength: 1 }), service: value, c1: value });
    fc.assert(fc.property(fc.array(match, { maxLength: 12 }), facts, (matches, f) => {
      const list = matches.map((m, i) => partner(String(i), m));
      const fits = (m: Match): boolean => CRITERIA.every((c) => {
        const wanted = m[c];
        const given = c === 'from' || c === 'to' ? f[c].map((p) => p.value) : c === 'service' ? [f.service] : c === 'c1' ? [f.c1] : [];
        return wanted === undefined || given.some((v) => wanted.includes(v));
      });
      const best = list.filter((p) => fits(p.match)).sort((a, b) => Object.keys(b.match).length - Object.keys(a.match).length)[0];
      expect(chosen(list, f)).toBe(best?.name ?? 'defaults');
    }), { numRuns: 500 });
  });

  it('finds one of ten thousand partners without looking at them all, whichever criterion tells them apart', () => {
    const list = Array.from({ length: 10_000 }, (_, i) => partner(String(i), { agreement: ['same'], c4: [`0088:${i}`] }));
    const set = compileRules({ defaults, partners: list });
    const crowd = [...(set.index.values())].flatMap((byValue) => [...byValue.values()]).map((rules) => rules.length);
    expect(Math.max(...crowd)).toBe(1);
    expect(selectRule(set, message({ agreement: 'same', c4: '0088:7777' })).name).toBe('7777');
  });
});

describe('ties', () => {
  it.each<[string, Match, Match]>([
    ['the same value', { from: ['A'] }, { from: ['A'] }],
    ['lists with a value in common', { from: ['A', 'B'] }, { from: ['B', 'C'] }],
    ['different criteria, one each', { from: ['A'] }, { to: ['B'] }],
    ['a criterion in common and one apart', { from: ['A'], to: ['B'] }, { from: ['A'], action: ['x'] }],
    ['participant identifiers that differ in case', { c1: ['0088:a'] }, { c1: ['0088:A'] }],
  ])('are found: %s', (_, a, b) => expect(ties([a, b])).toEqual([[0, 1]]));

  it.each<[string, Match, Match]>([
    ['different values', { from: ['A'] }, { from: ['B'] }],
    ['another number of criteria', { from: ['A'] }, { from: ['A'], to: ['B'] }],
    ['one criterion apart', { from: ['A'], to: ['B'] }, { from: ['A'], to: ['C'] }],
  ])('are not seen where there are none: %s', (_, a, b) => expect(ties([a, b])).toEqual([]));

  it('are settled by a rule with more criteria that stands for exactly what two others share', () => {
    expect(ties([{ from: ['A'] }, { to: ['B'] }, { from: ['A'], to: ['B'] }])).toEqual([]);
    expect(ties([{ from: ['A'] }, { to: ['B'] }, { from: ['A'], to: ['C'] }])).toEqual([[0, 1]]);
    expect(ties([{ from: ['A'] }, { to: ['B', 'C'] }, { from: ['A'], to: ['B'] }])).toEqual([[0, 1]]);
  });

  it('cannot happen to a message with one PartyId once none is found', () => {
    const value = fc.constantFrom('A', 'B');
    const list = fc.array(value, { minLength: 1, maxLength: 2 });
    const match = fc.record({ from: list, to: list, service: list }, { requiredKeys: [] }).filter((m) => Object.keys(m).length > 0);
    fc.assert(fc.property(fc.array(match, { maxLength: 5 }), value, value, value, (matches, from, to, service) => {
      const fitting = matches.filter((m) => (m.from?.includes(from) ?? true) && (m.to?.includes(to) ?? true) && (m.service?.includes(service) ?? true));
      const most = Math.max(0, ...fitting.map((m) => Object.keys(m).length));
      const best = fitting.filter((m) => Object.keys(m).length === most);
      if (best.length > 1) expect(ties(matches).length).toBeGreaterThan(0);
    }), { numRuns: 1_000 });
  });

  it('are counted no further than anybody reads, and ten thousand partners are no burden', () => {
    expect(ties(Array.from({ length: 10_000 }, () => ({ from: ['A'] }))).length).toBe(20);
    expect(ties(Array.from({ length: 10_000 }, (_, i) => ({ from: ['A'], c4: [String(i)] })))).toEqual([]);
  });
});
