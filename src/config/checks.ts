import { compileRules } from '../policy/select.js';
import type { Assembled, Config } from './config.js';
import { listenerProblems } from './check-listeners.js';
import { ruleProblems } from './check-rules.js';
import { securityProblems } from './check-security.js';
import { routeProblems } from './check-routes.js';
import { error, warning, type Problem } from './problem.js';

/** What is checked beside the file itself. */
export interface CheckOptions {
  /** The embedding program brings its own backend handler, so none need stand in the file. */
  readonly handler?: boolean;
  /** It is mounted in a program's own server, so that none need listen. */
  readonly mounted?: boolean;
}

/**
 * What no single value shows: values that contradict each other (errors, the file is refused) and combinations that
 * will surprise (warnings, printed by `check` and at start).
 */
export function crossChecks(assembled: Assembled, options: CheckOptions = {}): readonly Problem[] {
  const { config, partners } = assembled;
  const routes = [...config.routes, ...config.watch].map((route, i) => ({
    route,
    rules: compileRules(route.rules),
    partners: partners[i] ?? [],
  }));
  const problems = [
    ...routeProblems(config, options.handler === true),
    ...listenerProblems(config, options.mounted === true),
    ...securityProblems(assembled),
    ...timeProblems(config),
    ...ledgerProblems(config),
    ...routes.flatMap((one) => ruleProblems(config, one)),
  ];
  return withoutRepetitions(problems);
}

/** lease < wait < answerBy < patience is what should be; only a claim that lapses before its renewal breaks a law. */
function timeProblems({ times }: Config): readonly Problem[] {
  const problems: Problem[] = [];
  if (times.renew * 2 >= times.lease) {
    problems.push(error('RENEW_SLOW', ['times', 'renew'],
      `renew (${times.renew} ms) must be less than half of lease (${times.lease} ms), or a live claim lapses; `
      + 'leave renew out'));
  }
  const order = [
    ['lease', 'wait', 'copies give up before a dead holder\'s claim lapses'],
    ['wait', 'answerBy', 'waiting copies get 504 instead of 503'],
    ['answerBy', 'patience', 'an attempt is given up before its sender is answered'],
  ] as const;
  for (const [shorter, longer, why] of order) {
    if (times[shorter] < times[longer]) continue;
    problems.push(warning('TIMES_ORDER', ['times', longer],
      `${longer} (${times[longer]} ms) should be more than ${shorter} (${times[shorter]} ms): ${why}`));
  }
  return problems;
}

function ledgerProblems({ ledger }: Config): readonly Problem[] {
  if (ledger.kind !== 'memory') return [];
  return [warning('MEMORY_LEDGER', ['ledger', 'memory'],
    'forgets everything when the process ends: for tests only; use embedded: DIR')];
}

/** A partner of the file belongs to every route; what is wrong with it is said once. */
function withoutRepetitions(problems: readonly Problem[]): readonly Problem[] {
  const seen = new Set<string>();
  return problems.filter((problem) => {
    const key = JSON.stringify([problem.code, problem.at, problem.text]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
