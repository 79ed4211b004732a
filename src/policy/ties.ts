import { CRITERIA, wanted, type Criterion, type Match } from './match.js';

/** Two partner rules of one specificity that the same message could fit: positions in the list. */
export type Tie = readonly [first: number, second: number];

interface Entry {
  readonly position: number;
  readonly values: ReadonlyMap<Criterion, ReadonlySet<string>>;
}

/**
 * Finds pairs of rules with the same number of criteria that one message could fit both, unless a rule with more
 * criteria stands for exactly that overlap. Stops at `most`: the point is to refuse the file, and ten thousand partners
 * must not cost minutes. Rules are compared only with those that share a value with them, or no criterion at all.
 */
export function ties(matches: readonly Match[], most = 20): readonly Tie[] {
  const entries = matches.map((match, position): Entry => ({ position, values: valuesByCriterion(match) }));
  const found: Tie[] = [];
  for (const level of grouped(entries, (entry) => entry.values.size)) {
    for (const [a, b] of overlaps(level)) {
      if (found.length === most) return found;
      if (!entries.some((c) => c.values.size > a.values.size && covers(c, a, b))) found.push([a.position, b.position]);
    }
  }
  return found;
}

function valuesByCriterion(match: Match): ReadonlyMap<Criterion, ReadonlySet<string>> {
  return new Map(CRITERIA.flatMap((criterion) => {
    const values = match[criterion];
    return values === undefined ? [] : [[criterion, new Set(values.map((value) => wanted(criterion, value)))] as const];
  }));
}

/** Pairs of one level whose shared criteria all have a value in common, each pair once. */
function* overlaps(level: readonly Entry[]): Generator<readonly [Entry, Entry]> {
  const shapes = grouped(level, (entry) => [...entry.values.keys()].join(' '));
  for (const [i, left] of shapes.entries()) {
    for (const right of shapes.slice(i)) yield* between(left, right, left === right);
  }
}

function* between(left: readonly Entry[], right: readonly Entry[], same: boolean): Generator<readonly [Entry, Entry]> {
  const [first] = left;
  const [second] = right;
  if (first === undefined || second === undefined) return;
  const shared = [...first.values.keys()].filter((criterion) => second.values.has(criterion));
  const key = mostDistinct(shared, right);
  const byValue = new Map<string, Entry[]>();
  for (const entry of key === undefined ? [] : right) {
    for (const value of entry.values.get(key as Criterion) ?? []) {
      const sharing = byValue.get(value);
      if (sharing === undefined) byValue.set(value, [entry]);
      else sharing.push(entry);
    }
  }
  for (const a of left) {
    const own = key === undefined ? [] : [...(a.values.get(key) ?? [])];
    const near = key === undefined ? right : new Set(own.flatMap((value) => byValue.get(value) ?? []));
    for (const b of near) {
      if (same && b.position <= a.position) continue;
      if (shared.every((criterion) => meet(a.values.get(criterion), b.values.get(criterion)))) yield [a, b];
    }
  }
}

function mostDistinct(shared: readonly Criterion[], entries: readonly Entry[]): Criterion | undefined {
  let best: { criterion: Criterion; count: number } | undefined;
  for (const criterion of shared) {
    const distinct = new Set(entries.flatMap((entry) => [...(entry.values.get(criterion) ?? [])]));
    if (best === undefined || distinct.size > best.count) best = { criterion, count: distinct.size };
  }
  return best?.criterion;
}

/** Whether every message that fits both `a` and `b` fits `c` too. */
function covers(c: Entry, a: Entry, b: Entry): boolean {
  for (const [criterion, allowed] of c.values) {
    const [x, y] = [a.values.get(criterion), b.values.get(criterion)];
    const possible = x === undefined ? y : y === undefined ? x : new Set([...x].filter((value) => y.has(value)));
    if (possible === undefined || ![...possible].every((value) => allowed.has(value))) return false;
  }
  return true;
}

function meet(a: ReadonlySet<string> | undefined, b: ReadonlySet<string> | undefined): boolean {
  return a !== undefined && b !== undefined && [...a].some((value) => b.has(value));
}

function grouped<K>(entries: readonly Entry[], by: (entry: Entry) => K): readonly (readonly Entry[])[] {
  const groups = new Map<K, Entry[]>();
  for (const entry of entries) {
    const group = groups.get(by(entry));
    if (group === undefined) groups.set(by(entry), [entry]);
    else group.push(entry);
  }
  return [...groups.values()];
}
