import { systemClock } from '../clock.js';
import { keysOf } from '../compose-keys.js';
import { memoryOf } from '../config/access-point-of.js';
import type { Config, RouteConfig, WatchConfig } from '../config/config.js';
import { builtInRule } from '../config/rules.js';
import { claimFor } from '../delivery/claim.js';
import { thisProcess } from '../ledger/owner.js';
import type { Ledger } from '../ledger/port.js';
import { transition } from '../ledger/transition.js';
import { TIMES } from '../limits.js';
import type { Message, ProtocolName } from '../message.js';
import { formatDuration } from '../policy/duration.js';
import type { Rule } from '../policy/rule.js';
import { compileRules, selectRule } from '../policy/select.js';

/** What `read --config` says a copy of this message would meet now. */
export type Foretold = 'claim' | 'redeliver' | 'late' | 'wait' | 'replay' | 'mismatch' | 'held' | 'known' | 'pass' | 'refuse';

/** By what a message is known, and for how long. */
export interface Known {
  readonly key: string;
  readonly keyParts: Readonly<Record<string, unknown>>;
  readonly fingerprint: string;
  readonly rule: string;
  readonly window: string;
  readonly windowMs: number;
  readonly now?: Foretold;
  readonly record?: object;
}

/** Where a protocol's messages arrive; without a configuration, what is built in holds. */
type Place = RouteConfig | WatchConfig;

/**
 * Key parts, rule and window of messages of one protocol, and with a ledger what would happen now: the standing record
 * is judged as a claim would judge it, by the same transition, and nothing is written.
 */
export class Foreteller {
  readonly #config: Config | undefined;
  readonly #ledger: Ledger | undefined;
  readonly #place: Place | undefined;
  readonly #protocol: ProtocolName;

  constructor(protocol: ProtocolName, config: Config | undefined, ledger: Ledger | undefined) {
    this.#protocol = protocol;
    this.#config = config;
    this.#ledger = ledger;
    const fits = (place: Place): boolean => place.protocol === protocol;
    this.#place = config?.routes.find(fits) ?? config?.watch.find(fits);
  }

  async of(message: Message, bundled = false): Promise<Known> {
    const rules = this.#place?.rules ?? { defaults: builtInRule(this.#protocol, TIMES.wait), partners: [] };
    const rule = selectRule(compileRules(rules), message);
    const scope = this.#place?.scope ?? 'default';
    const { key } = keysOf(message, rule, scope);
    const known: Known = {
      key, keyParts: keyParts(message, rule, scope), fingerprint: message.fingerprint,
      rule: rule.name, window: formatDuration(rule.window), windowMs: rule.window,
    };
    if ((bundled && rule.bundle === 'refuse') || (!message.signed && rule.unsigned === 'refuse')) return { ...known, now: 'refuse' };
    return { ...known, ...(await this.#meets(message, rule, scope, key)) };
  }

  async #meets(message: Message, rule: Rule, scope: string, key: string): Promise<Pick<Known, 'now' | 'record'>> {
    if (this.#ledger === undefined || this.#config === undefined) return {};
    const route = this.#config.routes.find((candidate) => candidate === this.#place);
    const remembersMs = route === undefined ? 0 : memoryOf(route).remembersMs;
    const found = await this.#ledger.find(key);
    const { times } = this.#config;
    const claim = claimFor({ key, message, rule, scope, times, owner: thisProcess('read'), token: systemClock.id(), take: false, remembersMs });
    const at = { now: found?.now ?? systemClock.now(), contactMs: Infinity, isDead: () => false };
    const { answer } = transition(found?.record, 'claim', claim, at);
    const now = answer.kind === 'claimed' ? GRANTED[answer.mark] : MET[answer.kind];
    if (found === undefined) return { now };
    const { state, born, copies, attempts } = found.record;
    return { now, record: { state, firstSeen: new Date(born).toISOString(), copies, attempts: attempts.length } };
  }
}

const GRANTED = { first: 'claim', redelivery: 'redeliver', late: 'late' } as const;
const MET = { inFlight: 'wait', settled: 'replay', mismatch: 'mismatch', held: 'held', known: 'known' } as const;

function keyParts({ protocol, reference, type, facts, extra = {} }: Message, rule: Rule, scope: string): Record<string, unknown> {
  const { datetime, ...others } = extra;
  return {
    granularity: rule.key, protocol, scope, reference,
    ...(type === undefined ? {} : { type }),
    ...(rule.key.includes('+sender') ? { sender: facts.from } : {}),
    ...(rule.key.includes('+recipient') ? { recipient: facts.to } : {}),
    ...(rule.key.includes('+datetime') ? { datetime } : {}),
    ...others,
  };
}
