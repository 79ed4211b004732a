import { CRITERIA, valuesOf, wanted, type Criterion, type Match, type Matchable } from './match.js';
import type { Rule } from './rule.js';

/** The values of a rule, without the names that selection gives it. */
export type RuleValues = Omit<Rule, 'name' | 'partner'>;

/** What a partner changes; whatever it leaves out stays as the defaults say. */
export type RuleChanges = { readonly [K in keyof RuleValues]?: RuleValues[K] | undefined };

export interface PartnerRule {
  readonly name: string;
  readonly match: Match;
  readonly rule: RuleChanges;
}

/** What the configuration says for one route: complete defaults, and partners in the order of the file. */
export interface RouteRules {
  readonly defaults: RuleValues;
  readonly partners: readonly PartnerRule[];
}

/** Compiled rules of one route. Made once, shared by all exchanges that came by this configuration. */
export interface RuleSet {
  readonly defaults: Rule;
  /** In the order of the file. */
  readonly partners: readonly Rule[];
  readonly index: Index;
}

interface Candidate {
  readonly rule: Rule;
  /** Position in the file: decides where a message with several PartyIds fits two rules of one specificity. */
  readonly order: number;
  readonly criteria: readonly { readonly criterion: Criterion; readonly values: ReadonlySet<string> }[];
}

/** Each rule stands under the values of one of its criteria: the one that fewest other rules share. */
type Index = ReadonlyMap<Criterion, ReadonlyMap<string, readonly Candidate[]>>;

/** Merges every partner's changes into the defaults, once, and indexes the result. All rules are frozen. */
export function compileRules({ defaults, partners }: RouteRules): RuleSet {
  const candidates = partners.map((partner, order): Candidate => ({
    rule: merged(defaults, partner),
    order,
    criteria: CRITERIA.flatMap((criterion) => {
      const values = partner.match[criterion];
      return values === undefined ? [] : [{ criterion, values: new Set(values.map((v) => wanted(criterion, v))) }];
    }),
  }));
  return Object.freeze({
    defaults: Object.freeze({ ...defaults, name: 'defaults' }),
    partners: Object.freeze(candidates.map((candidate) => candidate.rule)),
    index: indexed(candidates),
  });
}

/**
 * The rule for a message: of all partner rules whose criteria all fit, the one with most criteria; the defaults where
 * none fits. Two rules of one specificity that fit the same message are refused with the configuration (ties.ts);
 * what remains, a message whose several PartyIds belong to different partners, is decided by the order of the file.
 */
export function selectRule(ruleSet: RuleSet, message: Matchable): Rule {
  let best: Candidate | undefined;
  for (const [criterion, byValue] of ruleSet.index) {
    for (const value of valuesOf(message, criterion)) {
      for (const candidate of byValue.get(value) ?? []) {
        if (before(candidate, best) && fits(candidate, message)) best = candidate;
      }
    }
  }
  return best?.rule ?? ruleSet.defaults;
}

function merged(defaults: RuleValues, partner: PartnerRule): Rule {
  const changes = Object.fromEntries(Object.entries(partner.rule).filter(([, value]) => value !== undefined));
  return Object.freeze({ ...defaults, ...changes, name: partner.name, partner: partner.name });
}

function before(candidate: Candidate, best: Candidate | undefined): boolean {
  if (best === undefined) return true;
  const more = candidate.criteria.length - best.criteria.length;
  return more > 0 || (more === 0 && candidate.order < best.order);
}

function fits(candidate: Candidate, message: Matchable): boolean {
  return candidate.criteria.every(({ criterion, values }) => valuesOf(message, criterion).some((v) => values.has(v)));
}

function indexed(candidates: readonly Candidate[]): Index {
  const shared = new Map<Criterion, Map<string, number>>();
  for (const { criteria } of candidates) {
    for (const { criterion, values } of criteria) {
      const counts = at(shared, criterion, () => new Map<string, number>());
      for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
    }
  }
  const index = new Map<Criterion, Map<string, Candidate[]>>();
  for (const candidate of candidates) {
    const crowd = candidate.criteria.map(({ criterion, values }) => {
      let others = 0;
      for (const value of values) others += (shared.get(criterion)?.get(value) ?? 1) - 1;
      return { criterion, values, others };
    });
    crowd.sort((a, b) => a.others - b.others);
    const [chosen] = crowd;
    if (chosen === undefined) throw new TypeError(`partner ${candidate.rule.name} has no criterion`);
    const byValue = at(index, chosen.criterion, () => new Map<string, Candidate[]>());
    for (const value of chosen.values) at(byValue, value, () => []).push(candidate);
  }
  return index;
}

function at<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}

