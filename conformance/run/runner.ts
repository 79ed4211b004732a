import type { DeliveryCounter } from '../delivery/counter.js';
import type { Target } from '../target/target.js';
import { CAPABILITIES } from '../target/target.js';
import { Context } from './context.js';
import type { Exchange } from './context.js';
import { Broken, NotApplicable } from './requirement.js';
import type { Level, Requirement, Verdict } from './requirement.js';

/** The requirement before all others: a plain message gets its Receipt. */
export const BASE = 'as4/5.1.8/1';

export interface Result {
  readonly requirement: Requirement;
  readonly verdict: Verdict;
  /** Level it was judged at: a claim makes a must of an observation. */
  readonly level: Level;
  /** Why it did not pass, or what was seen. */
  readonly detail: string;
  readonly ms: number;
  readonly exchanges: readonly Exchange[];
}

export interface RunOptions {
  readonly requirements: readonly Requirement[];
  /** How many requirements run beside each other. */
  readonly jobs: number;
  /** Called as each one ends. */
  readonly onResult?: (result: Result, done: number, total: number) => void;
  readonly onStart?: (requirement: Requirement) => void;
}

/** Runs requirements against a target. Never rejects for what the target does; results come in the order asked for. */
export async function runSuite(target: Target, options: RunOptions): Promise<Result[]> {
  const counter = target.openDelivery === undefined ? undefined : await target.openDelivery();
  const results = new Map<string, Result>();
  const record = (result: Result): void => {
    results.set(result.requirement.id, result);
    options.onResult?.(result, results.size, options.requirements.length);
  };
  try {
    const left = [...options.requirements];
    while (left.length > 0) {
      const batch = nextBatch(left, results, options);
      await Promise.all(
        batch.map(async (requirement) => {
          const early = unjudged(requirement, target, results);
          if (early === undefined) options.onStart?.(requirement);
          record(early ?? (await runOne(target, counter, requirement)));
        }),
      );
    }
  } finally {
    await counter?.close();
  }
  return options.requirements.flatMap(({ id }) => results.get(id) ?? []);
}

/** Takes what may run now: one that wants to be alone, or as many others as there are jobs, dependencies first. */
function nextBatch(left: Requirement[], results: ReadonlyMap<string, Result>, options: RunOptions): Requirement[] {
  const asked = new Set(options.requirements.map(({ id }) => id));
  const free = (requirement: Requirement) => dependencies(requirement).every((id) => results.has(id) || !asked.has(id));
  const index = left.findIndex(free);
  const first = left[index];
  // a cycle is a fault of the registry, which its own test finds; running one is better than running for ever
  if (first === undefined) return left.splice(0, 1);
  left.splice(index, 1);
  if (first.alone === true) return [first];
  const batch = [first];
  for (let at = 0; at < left.length && batch.length < options.jobs;) {
    const next = left[at] as Requirement;
    if (next.alone !== true && free(next)) batch.push(...left.splice(at, 1));
    else at += 1;
  }
  return batch;
}

function dependencies(requirement: Requirement): readonly string[] {
  return requirement.id === BASE ? [] : [BASE, ...(requirement.dependsOn ?? [])];
}

function unjudged(requirement: Requirement, target: Target, results: ReadonlyMap<string, Result>): Result | undefined {
  const level = levelOf(requirement, target);
  const end = (verdict: Verdict, detail: string): Result => ({
    requirement,
    verdict,
    level,
    detail,
    ms: 0,
    exchanges: [],
  });
  if (requirement.profiles !== undefined && !requirement.profiles.includes(target.profile))
    return end('skipped', `not for profile ${target.profile}`);
  const lacking = (requirement.needs ?? []).filter((need) => !target.capabilities.has(need));
  if (lacking.length > 0)
    return end('skipped', `not declared: ${lacking.map((need) => CAPABILITIES[need]).join('; ')}`);
  for (const id of dependencies(requirement)) {
    const verdict = results.get(id)?.verdict;
    if (verdict !== undefined && ['fail', 'blocked', 'error'].includes(verdict))
      return end('blocked', `${id} was not met (${verdict})`);
  }
  return undefined;
}

function levelOf(requirement: Requirement, target: Target): Level {
  return requirement.claimed?.(target.claims) === true ? 'must' : requirement.level;
}

async function runOne(target: Target, counter: DeliveryCounter | undefined, requirement: Requirement): Promise<Result> {
  const level = levelOf(requirement, target);
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), target.times.requirement);
  const context = new Context(target, counter, limit.signal);
  const began = performance.now();
  let verdict: Verdict = level === 'observe' ? 'observed' : 'pass';
  let detail = '';
  try {
    await requirement.run(context);
    await context.quiet();
    detail = context.observations.join('; ');
  } catch (error) {
    [verdict, detail] = judge(error, level);
    const seen = context.observations.join('; ');
    // where nothing is judged, what was seen says it all; why it would not have passed is of no interest
    if (seen !== '') detail = verdict === 'observed' ? seen : `${detail} (${seen})`;
  }
  try {
    await context.restore();
  } catch (error) {
    [verdict, detail] = ['error', `the target could not be brought back to normal: ${String(error)}`];
  }
  clearTimeout(timer);
  return {
    requirement,
    verdict,
    level,
    detail,
    ms: Math.round(performance.now() - began),
    exchanges: context.exchanges,
  };
}

function judge(error: unknown, level: Level): [Verdict, string] {
  if (error instanceof Broken)
    return [level === 'must' ? 'fail' : level === 'should' ? 'warning' : 'observed', error.message];
  if (error instanceof NotApplicable) return ['skipped', error.message];
  return ['error', error instanceof Error ? error.message : String(error)];
}
