import type { ProtocolName } from '../message.js';
import { CRITERIA, type Match } from '../policy/match.js';
import type { Granularity } from '../policy/rule.js';
import type { PartnerRule, RuleChanges, RouteRules, RuleValues } from '../policy/select.js';
import type { PartnerInput, RuleInput } from './rule-schema.js';
import type { SecurityInput } from './security-schema.js';
import { present } from './values.js';

const DAY = 86_400_000;

/** Whether senders of this protocol make their references unique for themselves, or only for each recipient. */
const KEYS: Readonly<Record<ProtocolName, Granularity>> = {
  as4: 'reference+sender',
  edifact: 'reference+sender+recipient',
  x12: 'reference+sender+recipient',
  sbdh: 'reference+sender',
  reference: 'reference+sender',
};

/** What holds where the file says nothing. */
export function builtInRule(protocol: ProtocolName, wait: number): RuleValues {
  return {
    window: 90 * DAY,
    late: 0,
    key: KEYS[protocol],
    mode: 'eliminate',
    mismatch: 'refuse',
    otherSender: 'refuse',
    uncertain: 'auto',
    upstreamDuplicate: 'pass',
    bundle: 'refuse',
    unsigned: 'accept',
    known: 'pass',
    replyPattern: 'response',
    resend: 'auto',
    sbdh: 'flag',
    verify: 'none',
    wait,
    inFlight: 503,
    replyHeaders: [],
    ...(protocol === 'reference' ? { accept: ['2xx'] } : {}),
  };
}

/** A partner of the configuration, its name found, with where it stands in the file. */
export interface NamedPartner {
  readonly name: string;
  readonly match: Match;
  readonly changes: RuleChanges;
  readonly security: SecurityInput | undefined;
  readonly at: readonly (string | number)[];
}

/** The levels of a rule, widest first: built in, the file's defaults, the route's, the partner's. */
export function rulesOf(
  protocol: ProtocolName, wait: number, levels: readonly (RuleInput | undefined)[], partners: readonly NamedPartner[],
): RouteRules {
  const defaults = levels.reduce<RuleValues>(
    (wider, level) => ({ ...wider, ...present(changesOf(level ?? {})) }), builtInRule(protocol, wait));
  const named = partners.map(({ name, match, changes }): PartnerRule => ({ name, match, rule: changes }));
  return { defaults, partners: named };
}

/** Names every partner: its own name, or what it is matched on; a name that is taken gets a number. */
export function namedPartners(
  list: readonly PartnerInput[] | undefined, at: readonly (string | number)[], taken: Set<string>,
): readonly NamedPartner[] {
  return (list ?? []).map((partner, i) => {
    const { name: given, match, security, ...rule } = partner;
    const name = given ?? free(describe(match), taken);
    taken.add(name);
    return { name, match, changes: changesOf(rule), security, at: [...at, i] };
  });
}

function changesOf({ window, inFlight, ...rest }: RuleInput): RuleChanges {
  return {
    ...rest,
    ...(window === undefined ? {} : { window: window.ms }),
    ...(inFlight === undefined ? {} : { inFlight: inFlight === 409 ? 409 : 503 }),
  };
}

function describe(match: Match): string {
  const given = CRITERIA.flatMap((criterion) => {
    const values = match[criterion];
    const [first = '', ...more] = values ?? [];
    return values === undefined ? [] : [{ criterion, text: more.length > 0 ? `${first},…` : first }];
  });
  const [only] = given;
  return given.length === 1 && only !== undefined ? only.text : given.map((g) => `${g.criterion}=${g.text}`).join(' ');
}

function free(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  let n = 2;
  while (taken.has(`${name} (${n})`)) n += 1;
  return `${name} (${n})`;
}
