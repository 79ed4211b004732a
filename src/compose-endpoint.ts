import type { Clock } from './clock.js';
import { keysOf } from './compose-keys.js';
import type { Config, RouteConfig } from './config/config.js';
import { clientTls } from './config/pem-files.js';
import { endpointKeys, securityOf } from './config/security-files.js';
import { directoryBackend } from './delivery/backend-directory.js';
import { handlerBackend, type MessageHandler } from './delivery/backend-handler.js';
import { httpBackend } from './delivery/backend-http.js';
import type { Backend } from './endpoint/backend.js';
import { contentBody } from './endpoint/content-body.js';
import { endpointDelivery, signedRefusal } from './endpoint/endpoint-delivery.js';
import { endpointProtocol } from './endpoint/endpoint-protocol.js';
import type { Agreed } from './endpoint/pmode.js';
import { As4OnceError } from './errors.js';
import { plain } from './exchange.js';
import { compileRules, selectRule, type RuleSet } from './policy/select.js';
import { proveReceipts } from './receipt/self-test.js';
import type { SecurityPMode } from './security/open-message.js';
import type { Route, Spool } from './walk.js';

export interface EndpointParts {
  readonly clock: Clock;
  readonly spool: Spool;
  /** In place of the configuration's backend. */
  readonly handler?: MessageHandler;
}

export interface EndpointRoute {
  readonly path: string;
  readonly route: Route;
  readonly upstream: { close(): Promise<void> };
}

const GIB = 1024 ** 3;
/** A repetition to an idempotent backend does no harm however late it comes, ms. */
const FOR_EVER = 100 * 365 * 86_400_000;

/** Role endpoint: our own access point, and the application behind it. */
export function endpointRoute(config: Config, route: RouteConfig, parts: EndpointParts): EndpointRoute {
  const { clock, spool } = parts;
  const { endpoint } = config;
  const keys = endpointKeys(config);
  if (endpoint === undefined || keys === undefined) throw new As4OnceError('CONFIG_INVALID', 'role endpoint needs endpoint.keys');
  const rules = compileRules(route.rules);
  const backend = backendOf(route, parts);
  const identity = keys.signing;
  const proven = proveReceipts(identity, clock.now()).catch((error: unknown) => {
    throw new As4OnceError('SIGNER_UNFIT', error instanceof As4OnceError ? error.detail : String(error), { cause: error });
  });
  // every message asks; that nobody asked yet must not end the process
  proven.catch(() => undefined);
  const delivery = endpointDelivery({ backend, identity, clock });
  return {
    path: route.path,
    upstream: backend,
    route: {
      name: route.name,
      scope: route.scope,
      protocol: endpointProtocol({
        agreed: agreedOf(config, route, rules),
        keys: keys.decrypting,
        proven,
        openPayload: () => spool.open(),
        now: () => clock.now(),
        maxPayload: endpoint.maxPayload ?? GIB,
        business: [rules.defaults, ...rules.partners].some(({ payloadKeys = [] }) => payloadKeys.some((kind) => kind !== 'sbdh')),
      }),
      methods: new Set(['POST']),
      delivery,
      times: config.times,
      markReplay: config.mark.replay,
      remembersMs: backend.idempotent ? FOR_EVER : 0,
      // what cannot be read or believed is never delivered, whatever is only being watched
      shadow: false,
      lookEarly: 'always',
      select: (message) => selectRule(rules, message),
      keysOf: (message, rule) => keysOf(message, rule, route.scope),
      // a Receipt or an Error that nobody here waits for: AS4 answers signals with nothing
      pass: async ({ method }) => (method === 'POST'
        ? { status: 202, headers: [], body: new Uint8Array() }
        : plain(405, 'AS4 messages are posted.\n', [['Allow', 'POST']])),
      refuse: (error, answerIn) => signedRefusal({ identity, clock }, error, answerIn),
      bodyFrom: contentBody,
    },
  };
}

function agreedOf({ endpoint, security = {} }: Config, route: RouteConfig, rules: RuleSet): Agreed {
  const profile = endpoint?.profile ?? 'custom';
  const everybody = securityOf(profile, 'defaults', security);
  const partners = new Map<string | undefined, SecurityPMode>(Object.entries(route.partnerSecurity).map(([name, own]) =>
    [name, securityOf(profile, name, { ...security, ...own })]));
  const { partyId, receivers, onlyPartners = false } = endpoint ?? {};
  return {
    profile, onlyPartners,
    ...(partyId === undefined ? {} : { partyIds: partyId }),
    ...(receivers === undefined ? {} : { receivers }),
    select: (message) => selectRule(rules, message),
    security: (partner) => partners.get(partner) ?? everybody,
  };
}

function backendOf({ backend, path }: RouteConfig, { clock, handler }: EndpointParts): Backend {
  if (handler !== undefined) return handlerBackend(handler);
  if (backend?.directory !== undefined) return directoryBackend({ directory: backend.directory, clock });
  if (backend?.http === undefined) throw new As4OnceError('CONFIG_INVALID', `route ${path} has no backend`);
  const { url, token, timeout, tls } = backend.http;
  return httpBackend({
    url, clock,
    ...(token === undefined ? {} : { token }),
    ...(timeout === undefined ? {} : { timeoutMs: timeout }),
    ...(tls === undefined ? {} : { tls: clientTls(tls) }),
  });
}
