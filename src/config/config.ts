import { join } from 'node:path';
import type { AccessPointName } from '../delivery/access-points.js';
import type { Limits, Times } from '../limits.js';
import type { ProtocolName } from '../message.js';
import type { RouteRules } from '../policy/select.js';
import { limitsOf, timesOf } from './bounds-schema.js';
import type { BackendInput, EndpointInput } from './endpoint-schema.js';
import { ledgerOf, type LedgerConfig } from './ledger-schema.js';
import type { ExtractionInput, RouteInput, UpstreamInput } from './route-schema.js';
import { namedPartners, rulesOf, type NamedPartner } from './rules.js';
import type { ConfigInput } from './schema.js';
import type { SecurityInput, TlsInput } from './security-schema.js';
import { FilePath, present, type Address } from './values.js';
import type { WatchInput } from './watch-schema.js';

/** The configuration in force: every default filled in, ms and bytes, absolute paths, frozen. */
export interface Config {
  readonly role: 'front' | 'endpoint';
  readonly listen?: Address;
  readonly tls?: TlsInput;
  /** As Express takes it. */
  readonly trustProxy: boolean | number | readonly string[];
  readonly healthPath?: string;
  readonly node?: string;
  readonly routes: readonly RouteConfig[];
  readonly watch: readonly WatchConfig[];
  readonly ledger: LedgerConfig;
  readonly limits: Limits;
  readonly times: Times;
  readonly endpoint?: EndpointInput;
  readonly security?: SecurityInput;
  readonly admin?: AdminConfig;
  readonly log: LogConfig;
  readonly journal: string;
  readonly spool: string;
  readonly state: string;
  readonly mark: { readonly replay: boolean };
}

export interface AdminConfig {
  readonly listen: Address;
  readonly token?: string;
  readonly tls?: TlsInput;
  readonly dashboard: boolean;
}

export interface LogConfig {
  readonly level: 'debug' | 'info' | 'warn' | 'error' | 'silent';
  /** Absent: standard output. */
  readonly file?: string;
  readonly pretty: boolean;
}

export interface RouteConfig {
  readonly name: string;
  readonly path: string;
  readonly protocol: ProtocolName;
  readonly scope: string;
  readonly upstream?: UpstreamInput;
  readonly accessPoint?: AccessPointName;
  readonly backend?: BackendInput;
  /** Protocol reference: where its values stand in a request. */
  readonly reference?: ReferenceRule;
  readonly rules: RouteRules;
  /** What differs from the file's `security`, by the partner's name. */
  readonly partnerSecurity: Readonly<Record<string, SecurityInput>>;
  /** Where it stands in the file; empty for the one that `upstream` at the top makes. */
  readonly at: readonly (string | number)[];
}

export interface ReferenceRule {
  readonly reference: ExtractionInput;
  readonly type?: ExtractionInput;
  readonly from?: ExtractionInput;
  readonly to?: ExtractionInput;
  readonly methods: readonly string[];
  readonly noReference: 'forward' | 'refuse';
}

export interface WatchConfig {
  readonly name: string;
  readonly protocol: 'edifact' | 'x12' | 'sbdh';
  readonly scope: string;
  readonly folders: {
    readonly in: string; readonly work: string; readonly out: string; readonly duplicates: string;
    readonly refused: string; readonly quarantine: string; readonly acks?: string; readonly ackOut?: string;
  };
  readonly ignore: readonly string[];
  readonly trigger?: string;
  /** ms */
  readonly stable: number;
  readonly poll: number;
  readonly rules: RouteRules;
}

/** A Config, and where its partners stand in the file, for problems that only show when all is put together. */
export interface Assembled {
  readonly config: Config;
  /** Of each route, then of each folder. */
  readonly partners: readonly (readonly NamedPartner[])[];
}

/** Puts the parts together. The FilePaths of `input` are resolved; `base` is the folder relative paths count from. */
export function assemble(input: ConfigInput, base: string): Assembled {
  const times = timesOf(input.times);
  const ledger = ledgerOf(input.ledger);
  const home = ledger.kind === 'embedded' ? ledger.embedded : base;
  const taken = new Set<string>();
  const everywhere = namedPartners(input.partners, ['partners'], taken);
  const lists: (readonly NamedPartner[])[] = [];
  const listOf = (level: RouteInput | WatchInput, at: readonly (string | number)[]): readonly NamedPartner[] => {
    const list = [...everywhere, ...namedPartners(level.partners, [...at, 'partners'], taken)];
    lists.push(list);
    return list;
  };
  const rulesFor = (protocol: ProtocolName, level: RouteInput | WatchInput, list: readonly NamedPartner[]) =>
    rulesOf(protocol, times.wait, [input.defaults, level.defaults], list);
  const routes = routesOf(input).map(([route, at]) => {
    const list = listOf(route, at);
    return routeOf(input, route, at, rulesFor(route.protocol ?? 'as4', route, list), list);
  });
  const watch = (input.watch ?? []).map((folder, i) =>
    watchOf(input, folder, rulesFor(folder.protocol, folder, listOf(folder, ['watch', i]))));
  const { role, trustProxy = false, admin, log, mark } = input;
  const config: Config = {
    role,
    trustProxy,
    routes,
    watch,
    ledger,
    limits: limitsOf(input.limits),
    times,
    log: { level: log?.level ?? 'info', pretty: log?.pretty ?? false, ...present({ file: log?.file }) },
    journal: input.journal ?? join(home, 'journal'),
    spool: input.spool ?? join(home, 'spool'),
    state: input.state ?? join(home, 'state'),
    mark: { replay: mark?.replay ?? true },
    ...present({
      listen: input.listen, tls: input.tls, healthPath: input.healthPath, node: input.node,
      endpoint: input.endpoint, security: input.security,
      admin: admin === undefined ? undefined : adminOf(admin),
    }),
  };
  return { config, partners: lists };
}

function adminOf({ listen, dashboard = true, token, tls }: NonNullable<ConfigInput['admin']>): AdminConfig {
  return { listen, dashboard, ...present({ token, tls }) };
}

/** The routes as written; `upstream` at the top, or an endpoint without a list, makes one more: `/`. */
function routesOf(input: ConfigInput): readonly (readonly [RouteInput, readonly (string | number)[]])[] {
  const listed = (input.routes ?? []).map((route, i) => [route, ['routes', i]] as const);
  const atTop = input.upstream !== undefined || (input.role === 'endpoint' && listed.length === 0);
  if (!atTop || listed.some(([route]) => route.path === '/')) return listed;
  return [...listed, [{ path: '/', ...present({ upstream: input.upstream, backend: input.endpoint?.backend }) }, []]];
}

function routeOf(
  input: ConfigInput, route: RouteInput, at: readonly (string | number)[],
  rules: RouteRules, partners: readonly NamedPartner[],
): RouteConfig {
  const { reference, type, from, to, methods = ['POST'], noReference = 'forward' } = route;
  const protocol = route.protocol ?? 'as4';
  return {
    name: route.name ?? route.path,
    path: route.path,
    protocol,
    scope: route.scope ?? input.scope ?? 'default',
    rules,
    partnerSecurity: present(Object.fromEntries(partners.map((partner) => [partner.name, partner.security]))),
    at,
    ...present({
      upstream: route.upstream ?? (protocol === 'as4' && input.role === 'front' ? input.upstream : undefined),
      accessPoint: route.accessPoint ?? (protocol === 'as4' ? input.accessPoint : undefined),
      backend: route.backend ?? (protocol === 'as4' ? input.endpoint?.backend : undefined),
      reference: reference && { reference, methods, noReference, ...present({ type, from, to }) },
    }),
  };
}

function watchOf(input: ConfigInput, folder: WatchInput, rules: RouteRules): WatchConfig {
  const beside = (name: string): string => join(folder.in, '..', name);
  return {
    name: folder.name ?? folder.in,
    protocol: folder.protocol,
    scope: folder.scope ?? input.scope ?? 'default',
    folders: {
      in: folder.in,
      out: folder.out,
      work: folder.work ?? beside('work'),
      duplicates: folder.duplicates ?? beside('duplicates'),
      refused: folder.refused ?? beside('refused'),
      quarantine: folder.quarantine ?? beside('quarantine'),
      ...present({ acks: folder.acks, ackOut: folder.ackOut }),
    },
    ignore: folder.ignore ?? ['*.part', '*.tmp', '*.filepart', '.*'],
    stable: folder.stable ?? 30_000,
    poll: folder.poll ?? 5_000,
    rules,
    ...present({ trigger: folder.trigger }),
  };
}

/** Replaces every FilePath by the absolute path it means. */
export function located<T>(value: T, resolve: (relative: string) => string): T {
  if (value instanceof FilePath) return resolve(value.relative) as T;
  if (Array.isArray(value)) return value.map((item: unknown) => located(item, resolve)) as T;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, located(item as unknown, resolve)])) as T;
}
