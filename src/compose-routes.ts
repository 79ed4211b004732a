import type { Clock } from './clock.js';
import type { Config, RouteConfig } from './config/config.js';
import { clientTls } from './config/pem-files.js';
import { accessPoint } from './delivery/access-points.js';
import type { Upstream } from './delivery/port.js';
import { createUpstream } from './delivery/upstream.js';
import { as4Protocol } from './ebms/as4.js';
import { buildErrorSignal } from './ebms/error-signal.js';
import { edifactProtocol, sbdhProtocol, x12Protocol } from './edi/edi-protocol.js';
import { As4OnceError } from './errors.js';
import { plain, type Reply } from './exchange.js';
import type { Message } from './message.js';
import { duplicateKey, withContent, withSender } from './policy/key.js';
import { isPeppol } from './policy/peppol.js';
import type { Rule } from './policy/rule.js';
import { compileRules, selectRule, type RuleSet } from './policy/select.js';
import type { AnswerIn, Protocol } from './protocol.js';
import { referenceProtocol } from './reference/reference-protocol.js';
import type { Keys, Route, SecondKey } from './walk.js';

/** What one configuration says, put together: its routes, and the connections that belong to them. */
export interface Generation {
  readonly routes: readonly MountedRoute[];
  readonly upstreams: readonly Upstream[];
  /** Exchanges that came by this configuration and are not done. */
  active: number;
}

export interface MountedRoute {
  readonly path: string;
  readonly route: Route;
  readonly upstream: Upstream;
}

/** The longest path wins; a path covers itself and what is below it. */
export function routeAt(generation: Generation, path: string): Route | undefined {
  let best: MountedRoute | undefined;
  for (const mounted of generation.routes) {
    if (covers(mounted.path, path) && mounted.path.length > (best?.path.length ?? -1)) best = mounted;
  }
  return best?.route;
}

export function composeRoutes(config: Config, clock: Clock): Generation {
  const routes = config.routes.map((route) => frontRoute(config, route, clock));
  return { routes, upstreams: routes.map(({ upstream }) => upstream), active: 0 };
}

/** Role front: somebody else's access point behind us. */
function frontRoute(config: Config, route: RouteConfig, clock: Clock): MountedRoute {
  if (route.upstream === undefined) throw new As4OnceError('CONFIG_INVALID', `route ${route.path} has no upstream`);
  const { url, remembers, persistent, notReached, preserveHost, connections, tls } = route.upstream;
  const point = accessPoint(route.accessPoint ?? 'other', {
    ...(remembers === undefined ? {} : { remembersMs: remembers }),
    ...(persistent === undefined ? {} : { persistent }),
    ...(notReached === undefined ? {} : { notReached }),
  });
  const upstream = createUpstream({
    url, accessPoint: point, place: { mount: route.path, exact: route.protocol === 'as4' }, limits: config.limits, times: config.times, clock,
    ...(preserveHost === undefined ? {} : { preserveHost }),
    ...(connections === undefined ? {} : { connections }),
    ...(tls === undefined ? {} : { tls: clientTls(tls) }),
  });
  const rules = compileRules(route.rules);
  return {
    path: route.path,
    upstream,
    route: {
      name: route.name,
      scope: route.scope,
      protocol: protocolOf(route, rules),
      methods: new Set(route.reference?.methods ?? ['POST']),
      delivery: upstream,
      times: config.times,
      markReplay: config.mark.replay,
      remembersMs: point.remembersMs,
      persistent: point.persistent,
      shadow: rules.defaults.mode === 'shadow',
      lookEarly: 'long',
      select: (message) => selectRule(rules, message),
      keysOf: (message, rule) => keysOf(message, rule, route.scope),
      pass: (exchange, body) => upstream.pass(exchange, body),
      refuse: (error, answerIn) => refuse(error, answerIn, clock),
    },
  };
}

function protocolOf(route: RouteConfig, rules: RuleSet): Protocol {
  const checks = (message: Message): 'warn' | 'strict' => selectRule(rules, message).checks ?? 'warn';
  switch (route.protocol) {
    case 'as4': return as4Protocol;
    case 'edifact': return edifactProtocol({ checks });
    case 'x12': return x12Protocol({ checks });
    case 'sbdh': return sbdhProtocol();
    case 'reference':
      if (route.reference === undefined) throw new As4OnceError('CONFIG_INVALID', `route ${route.path} says nowhere where its reference stands`);
      return referenceProtocol(route.reference);
  }
}

/** The DuplicateKey of a message and whatever else it may be known by. */
export function keysOf(message: Message, rule: Rule, scope: string): Keys {
  return {
    key: duplicateKey(message, rule.key, scope),
    withContent: () => duplicateKey(message, withContent(rule.key), scope),
    withSender: () => duplicateKey(message, withSender(rule.key), scope),
    second: resendKey(message, rule, scope),
    ...(rule.previousKey === undefined ? {} : { previous: duplicateKey(message, rule.previousKey, scope) }),
  };
}

/**
 * The same sender with the same signed `cid:` digests inside the window is the same business message, whatever its
 * MessageId: those digests are digests of the plaintext, SBDH included.
 */
function resendKey(message: Message, rule: Rule, scope: string): readonly SecondKey[] {
  const wanted = rule.resend === 'flag' || (rule.resend === 'auto' && isPeppol(message.facts));
  if (!wanted || !message.fingerprint.startsWith('signed:')) return [];
  const pointer = { ...message, reference: message.fingerprint, type: 'resend' };
  const key = duplicateKey(pointer, 'reference+sender', scope);
  return [{ kind: 'resend', key, fingerprint: message.fingerprint, reference: message.fingerprint, policy: 'flag' }];
}

/** An unsigned ebMS Error in the request's own SOAP version; a text for whoever speaks no SOAP. */
function refuse(error: As4OnceError, answerIn: AnswerIn, clock: Clock): Reply {
  const { entry } = error;
  if (entry.ebms === undefined || answerIn.soap === undefined) return plain(entry.status, `${error.code}: ${error.detail}\n`);
  const { contentType, body } = buildErrorSignal({
    soap: answerIn.soap,
    entry,
    detail: error.detail,
    messageId: `${clock.id()}@as4-once`,
    timestamp: new Date(clock.now()).toISOString(),
    ...(answerIn.messageId === undefined ? {} : { refToMessageId: answerIn.messageId }),
  });
  return { status: entry.status, headers: [['Content-Type', contentType]], body };
}

function covers(mounted: string, path: string): boolean {
  if (mounted === '/' || mounted === path) return true;
  return path.startsWith(mounted.endsWith('/') ? mounted : `${mounted}/`);
}
