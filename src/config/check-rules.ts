import { ACCESS_POINTS } from '../delivery/access-points.js';
import { formatDuration } from '../policy/duration.js';
import type { Rule } from '../policy/rule.js';
import type { RuleChanges, RuleSet } from '../policy/select.js';
import { ties } from '../policy/ties.js';
import type { Config, RouteConfig, WatchConfig } from './config.js';
import { error, pathText, warning, type Path, type Problem } from './problem.js';
import type { NamedPartner } from './rules.js';

/** One route or folder with its compiled rules and the partners they came from, in one order. */
export interface Ruled {
  readonly route: RouteConfig | WatchConfig;
  readonly rules: RuleSet;
  readonly partners: readonly NamedPartner[];
}

/** Partner rules that tie, and combinations inside a rule. */
export function ruleProblems(config: Config, { route, rules, partners }: Ruled): readonly Problem[] {
  const problems: Problem[] = [...tied(partners), ...namesTwice(partners)];
  problems.push(...oneRule(config, route, rules.defaults, ['defaults'], undefined));
  for (const [i, partner] of partners.entries()) {
    const rule = rules.partners[i];
    if (rule !== undefined) problems.push(...oneRule(config, route, rule, partner.at, partner.changes));
  }
  return problems;
}

function tied(partners: readonly NamedPartner[]): readonly Problem[] {
  return ties(partners.map((partner) => partner.match)).flatMap(([a, b]): Problem[] => {
    const [first, second] = [partners[a], partners[b]];
    if (first === undefined || second === undefined) return [];
    return [error('PARTNER_TIE', [...second.at, 'match'],
      `ties with ${pathText(first.at)} (${first.name}): one message can match both and neither is more specific; `
      + 'add a criterion to one of them')];
  });
}

function namesTwice(partners: readonly NamedPartner[]): readonly Problem[] {
  const first = new Map<string, NamedPartner>();
  return partners.flatMap((partner): Problem[] => {
    const other = first.get(partner.name);
    first.set(partner.name, other ?? partner);
    if (other === undefined) return [];
    return [error('NAME_TWICE', [...partner.at, 'name'], `${pathText(other.at)} has the name ${partner.name} too`)];
  });
}

/** Whatever a partner leaves out is said of the level it came from, so it is only asked about what it changes. */
function oneRule(
  config: Config, route: RouteConfig | WatchConfig, rule: Rule, at: Path, changes: RuleChanges | undefined,
): readonly Problem[] {
  const changed = (...names: (keyof RuleChanges)[]): boolean =>
    changes === undefined || names.some((name) => changes[name] !== undefined);
  const found: Problem[] = [];
  const add = (make: typeof error, code: string, field: keyof RuleChanges, text: string): void => {
    found.push(make(code, [...at, field], text));
  };
  if (changed('replyPattern', 'mode') && rule.replyPattern === 'callback' && rule.mode === 'eliminate') {
    add(error, 'CALLBACK_ELIMINATE', 'replyPattern',
      'callback needs mode: detect-only: a Receipt that comes later by callback cannot be replayed in the response');
  }
  const endpoint = config.role === 'endpoint' && route.protocol === 'as4';
  if (changed('mode') && endpoint && rule.mode === 'shadow') {
    add(error, 'SHADOW_ENDPOINT', 'mode',
      'shadow looks on while somebody else decides, and behind role endpoint there is nobody else');
  }
  if (changed('replyPattern') && endpoint && rule.replyPattern === 'callback') {
    add(error, 'CALLBACK_ENDPOINT', 'replyPattern', 'role endpoint answers in the response');
  }
  if (changed('payloadKeys') && !endpoint && (rule.payloadKeys ?? []).length > 0) {
    add(warning, 'PAYLOAD_KEYS_UNUSED', 'payloadKeys', 'only role endpoint reads payloads; leave it out');
  }
  if (changed('otherSender', 'key') && rule.otherSender === 'deliver' && rule.key.includes('+sender')) {
    add(warning, 'OTHER_SENDER_UNUSED', 'otherSender',
      `has no effect with key: ${rule.key}, which keeps senders apart; it is for key: reference`);
  }
  if (changed('window') && rule.window < 2 * config.times.patience) {
    add(warning, 'WINDOW_SHORT', 'window',
      `should be at least twice times.patience (${formatDuration(config.times.patience)}): `
      + 'a late answer may come when the message is forgotten');
  }
  if (changed('previousKey', 'key') && rule.previousKey === rule.key) {
    add(warning, 'PREVIOUS_KEY_SAME', 'previousKey',
      'is the key itself; leave it out');
  }
  if (changed('key') && rule.key.includes('+datetime') && route.protocol !== 'edifact' && route.protocol !== 'x12') {
    add(error, 'KEY_DATETIME', 'key',
      `+datetime is for EDIFACT and X12: a retry of protocol ${route.protocol} may carry a new time`);
  }
  if (changed('key') && rule.key.includes('+content')) {
    add(warning, 'KEY_CONTENT', 'key',
      'with the content in the key a reused reference is never a mismatch: altered content is delivered');
  }
  if (changed('verify') && rule.verify === 'signature' && config.security?.trust === undefined) {
    add(error, 'VERIFY_WITHOUT_TRUST', 'verify',
      'needs security.trust: the PEM file of the authorities whose certificates are trusted');
  }
  if (changed('uncertain') && rule.uncertain === 'redeliver' && forgets(route)) {
    add(warning, 'REDELIVER_BLIND', 'uncertain',
      'redeliver, before an access point that does not recognise a second copy itself, may deliver twice; '
      + 'auto holds such a message');
  }
  return found;
}

function forgets(route: RouteConfig | WatchConfig): boolean {
  if (!('path' in route) || route.accessPoint === undefined) return false;
  return (route.upstream?.remembers ?? ACCESS_POINTS[route.accessPoint].remembersMs) === 0;
}
