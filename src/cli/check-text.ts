import { accessPointOf } from '../config/access-point-of.js';
import type { Config, RouteConfig, WatchConfig } from '../config/config.js';
import type { Address } from '../config/values.js';
import type { Projection } from '../config/projection.js';
import { keyFacts, securityFacts, type SecurityFacts } from '../config/endpoint-facts.js';
import { redact } from '../config/redact.js';
import { formatDuration } from '../policy/duration.js';
import { CRITERIA } from '../policy/match.js';
import { compileRules, type PartnerRule, type RuleChanges, type RuleValues } from '../policy/select.js';
import { formatSize } from '../policy/size.js';
import { endpointLines, securityTexts } from './check-endpoint-text.js';

/** Beyond this many partners a person no longer reads; --json shows all. */
const SHOWN = 50;

/** Columns. */
const WIDTH = 100;

const NO_ADMIN = 'none: no health and no metrics (admin: { listen: 127.0.0.1:9464 })';

const DURATIONS: ReadonlySet<string> = new Set(['window', 'late', 'wait', 'keepHeader']);

export interface Shown {
  readonly colour: boolean;
  /** Whether certificates may be read for what stands in them. */
  readonly readFiles: boolean;
}

/** What is in force, for people. Nothing in it is secret. */
export function describeConfig(config: Config, file: string, { colour, readFiles }: Shown): string {
  const bold = (text: string): string => (colour ? `\u001b[1m${text}\u001b[22m` : text);
  const safe = redact(config) as Config;
  const { listen, admin } = safe;
  const lines = [
    `${bold(file)} is in order.`,
    '',
    `role      ${safe.role}`,
    ...(safe.role === 'endpoint' ? endpointLines(safe, keyFacts(config, readFiles)) : []),
    ...(listen === undefined ? [] : [`listen    ${hostPort(listen)}${safe.tls === undefined ? '' : ' (TLS)'}`]),
    `admin     ${admin === undefined ? NO_ADMIN : hostPort(admin.listen)}`,
    `ledger    ${ledgerText(safe)}`,
    `journal   ${safe.journal}`,
    `spool     ${safe.spool}`,
  ];
  for (const [i, route] of safe.routes.entries()) {
    const given = config.routes[i];
    const security = given !== undefined && isEndpoint(config, given) ? securityFacts(config, given, readFiles) : undefined;
    lines.push('', bold(`route ${route.path}`), ...routeLines(route), ...ruleLines(route, security));
  }
  for (const folder of safe.watch) {
    const { protocol, folders } = folder;
    lines.push('', bold(`watch ${folders.in}`), `  ${protocol}, to ${folders.out}`, ...ruleLines(folder));
  }
  return `${lines.join('\n')}\n`;
}

export function describeProjection({ ledger }: Config, { records, bytesPerRecord, bytes }: Projection): string {
  return `At that rate the ledger (${ledger.kind}) will hold about ${records.toLocaleString('en')} records of `
    + `${formatSize(bytesPerRecord)}: ${formatSize(bytes)}${ledger.kind === 'redis' ? ' of memory' : ''}.\n`;
}

function hostPort({ host, port }: Address): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

function ledgerText({ ledger }: Config): string {
  const strict = ledger.strict ? ', strict' : '';
  if (ledger.kind === 'embedded') return `embedded, ${ledger.embedded}${strict}`;
  if (ledger.kind === 'memory') return `memory${strict}`;
  const { url, sentinel, cluster, client = 'ioredis' } = ledger.redis;
  const nodes = (sentinel ?? cluster)?.nodes.join(', ') ?? '';
  const where = url ?? (sentinel === undefined ? `cluster ${nodes}` : `${sentinel.name} by ${nodes}`);
  return `redis, ${where}, ${client}${strict}`;
}

function routeLines(route: RouteConfig): readonly string[] {
  const lines = [`  ${route.protocol}, scope ${route.scope}, to ${route.upstream?.url ?? backendText(route)}`];
  if (route.accessPoint === undefined || route.upstream === undefined) return lines;
  const point = accessPointOf(route);
  const memory = point.remembersMs === 0
    ? 'recognises no second copy itself'
    : [`recognises a second copy itself for ${formatDuration(point.remembersMs)}`,
      point.persistent ? 'after its restart too' : 'until its restart'].join(', ');
  const errors = point.duplicateErrors.map(({ code, says }) => (says === undefined ? code : `${code} "${says}"`));
  return [
    ...lines,
    `  access point ${point.name}: ${memory};`,
    `    not reached: ${point.notReached.join(', ')}; calls a copy ${errors.join(', ')}`,
  ];
}

/** Whether our own access point takes the route's messages. */
export function isEndpoint({ role }: Config, { protocol }: RouteConfig): boolean {
  return role === 'endpoint' && protocol === 'as4';
}

export function backendText({ backend }: RouteConfig): string {
  if (backend?.directory !== undefined) return backend.directory;
  return backend?.http === undefined ? 'the application\'s handler' : backend.http.url;
}

/** The defaults in full, as far as the protocol uses them, and of each partner what differs. */
function ruleLines(route: RouteConfig | WatchConfig, security?: readonly SecurityFacts[]): readonly string[] {
  const { defaults } = compileRules(route.rules);
  const { name: _, ...values } = defaults;
  const { partners } = route.rules;
  const [everybody, ...own] = security ?? [];
  const lines = [
    ...(everybody === undefined ? [] : wrapped('  security: ', securityTexts(everybody))),
    ...wrapped('  defaults: ', valueTexts(values, route, security !== undefined)),
    ...partners.slice(0, SHOWN).flatMap((partner, i) => partnerLines(partner, route, differing(everybody, own[i]))),
  ];
  const more = partners.length - SHOWN;
  if (more > 0) lines.push(`  … and ${more.toLocaleString('en')} partners more (--json shows all)`);
  return lines;
}

/** Of a partner's security what differs from everybody's; undefined where there is none to speak of. */
function differing(everybody: SecurityFacts | undefined, own: SecurityFacts | undefined): readonly string[] | undefined {
  if (everybody === undefined || own === undefined) return undefined;
  const common = new Set(securityTexts(everybody));
  const outdated = everybody.allow.length > 0 && own.allow.length === 0 ? ['nothing outdated accepted'] : [];
  return [...securityTexts(own).filter((text) => !common.has(text)), ...outdated];
}

function partnerLines({ name, match, rule }: PartnerRule, route: RouteConfig | WatchConfig, security?: readonly string[]): readonly string[] {
  const criteria = CRITERIA.flatMap((criterion) => {
    const values = match[criterion];
    if (values === undefined) return [];
    const first = values.slice(0, 3).join(', ');
    return [`${criterion} ${first}${values.length > 3 ? `, … (${values.length})` : ''}`];
  });
  const changes = [...valueTexts(rule, route, security !== undefined), ...(security ?? [])];
  return wrapped(`  ${name} (${criteria.join('; ')}): `, changes.length === 0 ? ['as the defaults'] : changes);
}

/** Fields that only some protocols use; the others would only be noise. */
const ONLY: Readonly<Partial<Record<keyof RuleValues, readonly string[]>>> = {
  bundle: ['as4'], unsigned: ['as4'], replyPattern: ['as4'], resend: ['as4'], sbdh: ['as4'], verify: ['as4'],
  accept: ['reference'], inFlight: ['reference'],
};

/** Rules about an access point of others; what an endpoint demands is said as its security. */
export const FRONT_ONLY: ReadonlySet<string> = new Set<keyof RuleValues>(['unsigned', 'verify', 'upstreamDuplicate', 'replyPattern']);

function valueTexts(values: RuleValues | RuleChanges, { protocol }: RouteConfig | WatchConfig, endpoint: boolean): readonly string[] {
  return Object.entries(values)
    .filter(([name]) => !(endpoint && FRONT_ONLY.has(name)))
    .filter(([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0))
    .filter(([name]) => ONLY[name as keyof RuleValues]?.includes(protocol) !== false)
    .map(([name, value]) => `${name} ${valueText(name, value)}`);
}

function valueText(name: string, value: unknown): string {
  if (typeof value === 'number' && DURATIONS.has(name)) return formatDuration(value);
  return Array.isArray(value) ? value.join(' ') : String(value);
}

/** Comma separated, broken before the column at which a terminal would break it. */
function wrapped(head: string, texts: readonly string[]): readonly string[] {
  const lines = [head];
  for (const [i, text] of texts.entries()) {
    const item = i === texts.length - 1 ? text : `${text}, `;
    const line = lines.at(-1) ?? '';
    if (line.length + item.trimEnd().length > WIDTH && line.trim() !== '') lines.push(`    ${item}`);
    else lines[lines.length - 1] = line + item;
  }
  return lines.map((line) => line.trimEnd());
}
