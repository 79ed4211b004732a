import type { Clock } from './clock.js';
import { endpointRoute, type EndpointParts } from './compose-endpoint.js';
import { keysOf } from './compose-keys.js';
import { accessPointOf } from './config/access-point-of.js';
import type { Config, RouteConfig } from './config/config.js';
import { clientTls } from './config/pem-files.js';
import { securityOf } from './config/security-files.js';
import { refusalInText } from './delivery/refuse.js';
import { createUpstream } from './delivery/upstream.js';
import { as4Protocol, checkedAs4Protocol, factsOf } from './ebms/as4.js';
import { buildErrorSignal } from './ebms/error-signal.js';
import { edifactProtocol, sbdhProtocol, x12Protocol } from './edi/edi-protocol.js';
import { As4OnceError } from './errors.js';
import type { Reply } from './exchange.js';
import type { Message } from './message.js';
import { compileRules, selectRule, type RuleSet } from './policy/select.js';
import type { AnswerIn, Protocol } from './protocol.js';
import { referenceProtocol } from './reference/reference-protocol.js';
import { signatureCheck } from './security/front-check.js';
import type { SecurityPMode } from './security/open-message.js';
import type { Route } from './walk.js';

/** What one configuration says, put together: its routes, and the connections that belong to them. */
export interface Generation {
  readonly routes: readonly MountedRoute[];
  readonly upstreams: readonly MountedRoute['upstream'][];
  /** Exchanges that came by this configuration and are not done. */
  active: number;
}

export interface MountedRoute {
  readonly path: string;
  readonly route: Route;
  /** What stands behind the route: an access point, or the endpoint's backend. */
  readonly upstream: { close(): Promise<void> };
}

/** The longest path wins; a path covers itself and what is below it. */
export function routeAt(generation: Generation, path: string): Route | undefined {
  let best: MountedRoute | undefined;
  for (const mounted of generation.routes) {
    if (covers(mounted.path, path) && mounted.path.length > (best?.path.length ?? -1)) best = mounted;
  }
  return best?.route;
}

export function composeRoutes(config: Config, parts: EndpointParts): Generation {
  const routes = config.routes.map((route) => (config.role === 'endpoint' && route.protocol === 'as4'
    ? endpointRoute(config, route, parts)
    : frontRoute(config, route, parts.clock)));
  return { routes, upstreams: routes.map(({ upstream }) => upstream), active: 0 };
}

/** Role front: somebody else's access point behind us. */
function frontRoute(config: Config, route: RouteConfig, clock: Clock): MountedRoute {
  if (route.upstream === undefined) throw new As4OnceError('CONFIG_INVALID', `route ${route.path} has no upstream`);
  const { url, preserveHost, connections, tls } = route.upstream;
  const point = accessPointOf(route);
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
      protocol: protocolOf(config, route, rules, clock),
      methods: new Set(route.reference?.methods ?? ['POST']),
      delivery: upstream,
      times: config.times,
      markReplay: config.mark.replay,
      remembersMs: point.remembersMs,
      shadow: rules.defaults.mode === 'shadow',
      lookEarly: 'long',
      select: (message) => selectRule(rules, message),
      keysOf: (message, rule) => keysOf(message, rule, route.scope),
      pass: (exchange, body) => upstream.pass(exchange, body),
      refuse: (error, answerIn) => refuse(error, answerIn, clock),
    },
  };
}

function protocolOf(config: Config, route: RouteConfig, rules: RuleSet, clock: Clock): Protocol {
  const checks = (message: Message): 'warn' | 'strict' => selectRule(rules, message).checks ?? 'warn';
  switch (route.protocol) {
    case 'as4': return [rules.defaults, ...rules.partners].some(({ verify }) => verify === 'signature') ? checkedFront(config, route, rules, clock) : as4Protocol;
    case 'edifact': return edifactProtocol({ checks });
    case 'x12': return x12Protocol({ checks });
    case 'sbdh': return sbdhProtocol();
    case 'reference':
      if (route.reference === undefined) throw new As4OnceError('CONFIG_INVALID', `route ${route.path} says nowhere where its reference stands`);
      return referenceProtocol(route.reference);
  }
}

/** `verify: signature`: a header is believed only when its signer is (front-check.ts). */
function checkedFront({ security = {} }: Config, route: RouteConfig, rules: RuleSet, clock: Clock): Protocol {
  const pmodes = new Map<string | undefined, SecurityPMode>();
  for (const [name, own] of [['defaults', {}] as const, ...Object.entries(route.partnerSecurity)]) {
    const { commonName = true, ...given } = { ...security, ...own };
    pmodes.set(name, securityOf('edelivery', name, { ...given, commonName }));
  }
  return checkedAs4Protocol(signatureCheck({
    now: () => clock.now(),
    pmodeOf: (user) => {
      const rule = selectRule(rules, { protocol: 'as4', facts: factsOf(user) });
      return rule.verify === 'signature' ? (pmodes.get(rule.partner) ?? pmodes.get('defaults')) : undefined;
    },
  }));
}

/** An unsigned ebMS Error in the request's own SOAP version; a text for whoever speaks no SOAP. */
function refuse(error: As4OnceError, answerIn: AnswerIn, clock: Clock): Reply {
  const { entry } = error;
  if (entry.ebms === undefined || answerIn.soap === undefined) return refusalInText(error);
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
