import type { Config } from './config.js';
import type { Problem } from './problem.js';
import type { Address } from './values.js';

const LOCAL: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '::1', '0.0.0.0', '::']);

/** Listeners that are missing, taken twice, open to everybody, or that an upstream leads back to. */
export function listenerProblems(config: Config): readonly Problem[] {
  const { listen, admin, routes } = config;
  const problems: Problem[] = [];
  if (listen === undefined) {
    if (routes.length > 0) problems.push({ level: 'error', code: 'LISTEN_MISSING', at: ['listen'], text: 'is missing: where do messages arrive? For example 127.0.0.1:8080' });
    return problems;
  }
  if (admin !== undefined && listen.port !== 0 && same(listen, admin.listen)) {
    problems.push({ level: 'error', code: 'LISTEN_TWICE', at: ['admin', 'listen'], text: 'is the address of the traffic listener; take another port' });
  }
  if (admin !== undefined && !isLoopback(admin.listen.host) && admin.token === undefined && admin.tls?.clientAuth !== 'require') {
    problems.push({ level: 'warning', code: 'ADMIN_OPEN', at: ['admin', 'listen'], text: 'is reachable from outside without a token: give admin.tokenFile, or listen on 127.0.0.1' });
  }
  for (const route of routes) {
    if (route.upstream === undefined || !URL.canParse(route.upstream.url)) continue;
    const url = new URL(route.upstream.url);
    const port = Number(url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : url.port);
    if (listen.port !== 0 && port === listen.port && local(url.hostname, listen.host)) {
      problems.push({ level: 'error', code: 'UPSTREAM_LOOP', at: [...route.at, 'upstream'], text: `leads back to our own listener (port ${port}); give the access point's address` });
    }
  }
  return problems;
}

function same(a: Address, b: Address): boolean {
  return a.port === b.port && (a.host === b.host || isAny(a.host) || isAny(b.host));
}

/** Only what is certainly this machine: a name may resolve to anything. */
function local(hostname: string, listening: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  if (host === listening.toLowerCase()) return true;
  return LOCAL.has(host) && (LOCAL.has(listening) || isAny(listening));
}

function isAny(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\./.test(host);
}
