import { backendAt } from './check-routes.js';
import type { Config } from './config.js';
import { error, warning, type Problem } from './problem.js';
import type { Address } from './values.js';

const LOCAL: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1', '0.0.0.0', '::']);

/** Listeners that are missing, taken twice, open to everybody, or that an upstream or a backend leads back to. */
export function listenerProblems(config: Config, mounted: boolean): readonly Problem[] {
  const { listen, admin, routes } = config;
  const problems: Problem[] = [];
  if (admin !== undefined && open(admin)) {
    problems.push(warning('ADMIN_OPEN', ['admin', 'listen'],
      'is reachable from outside without a token: give admin.tokenFile, or listen on 127.0.0.1'));
  }
  if (listen === undefined) {
    if (routes.length === 0 || mounted) return problems;
    const text = 'is missing: where do messages arrive? For example 127.0.0.1:8080';
    return [...problems, error('LISTEN_MISSING', ['listen'], text)];
  }
  if (listen.port === 0) return problems;
  if (admin !== undefined && same(listen, admin.listen)) {
    problems.push(error('LISTEN_TWICE', ['admin', 'listen'], 'is the traffic listener\'s address; take another port'));
  }
  const back = `leads back to our own listener (port ${listen.port})`;
  for (const { at, upstream, backend } of routes) {
    if (upstream !== undefined && leadsTo(listen, upstream.url)) {
      problems.push(error('UPSTREAM_LOOP', [...at, 'upstream'], `${back}; give the access point's address`));
    }
    if (backend?.http !== undefined && leadsTo(listen, backend.http.url)) {
      problems.push(error('BACKEND_LOOP', [...backendAt(at), 'http'], `${back}; give the application's address`));
    }
  }
  return problems;
}

function open({ listen, token, tls }: NonNullable<Config['admin']>): boolean {
  return !isLoopback(listen.host) && token === undefined && tls?.clientAuth !== 'require';
}

function same(a: Address, b: Address): boolean {
  return a.port === b.port && (a.host === b.host || isAny(a.host) || isAny(b.host));
}

/** Only what is certainly this machine: a name may resolve to anything. */
function leadsTo(listen: Address, upstream: string): boolean {
  if (!URL.canParse(upstream)) return false;
  const { hostname, port, protocol } = new URL(upstream);
  if (Number(port === '' ? (protocol === 'https:' ? 443 : 80) : port) !== listen.port) return false;
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  return host === listen.host.toLowerCase() || (LOCAL.has(host) && LOCAL.has(listen.host));
}

function isAny(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || host.startsWith('127.');
}
