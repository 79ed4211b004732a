import { ACCESS_POINT_NAMES } from '../delivery/access-points.js';
import type { Config, RouteConfig } from './config.js';
import { error, warning, type Path, type Problem } from './problem.js';

/** Whether every route has what its role and protocol need. The route that `upstream:` makes stands at the top. */
export function routeProblems(config: Config, handler: boolean): readonly Problem[] {
  const problems: Problem[] = [];
  if (config.routes.length === 0 && config.watch.length === 0) {
    const text = 'is missing: where are messages delivered? Give upstream, routes or watch';
    problems.push(error('UPSTREAM_MISSING', ['upstream'], text));
  }
  if (config.role === 'endpoint') problems.push(...endpointProblems(config));
  const paths = new Set<string>();
  const names = new Set<string>();
  for (const route of config.routes) {
    const { at, path, name } = route;
    if (paths.has(path)) problems.push(error('PATH_TWICE', [...at, 'path'], `another route has the path ${path}`));
    if (names.has(name)) problems.push(error('NAME_TWICE', [...at, 'name'], `another route has the name ${name}`));
    paths.add(path);
    names.add(name);
    problems.push(...deliveryProblems(config, route, handler), ...protocolProblems(config, route));
  }
  for (const [i, { name, folders }] of config.watch.entries()) {
    if (names.has(name)) problems.push(error('NAME_TWICE', ['watch', i, 'name'], `another one has the name ${name}`));
    names.add(name);
    const used = Object.values(folders);
    if (new Set(used).size === used.length) continue;
    problems.push(error('FOLDER_TWICE', ['watch', i], 'two of its folders are the same'));
  }
  return problems;
}

function deliveryProblems({ role }: Config, route: RouteConfig, handler: boolean): readonly Problem[] {
  const { at, protocol, upstream, backend } = route;
  const problems: Problem[] = [];
  if (role === 'endpoint' && protocol === 'as4') {
    if (upstream !== undefined) {
      const text = 'role endpoint delivers to a backend; leave upstream out';
      problems.push(warning('UPSTREAM_UNUSED', [...at, 'upstream'], text));
    }
    if (backend === undefined && !handler) {
      problems.push(error('BACKEND_MISSING', backendAt(at), 'is missing: give a directory or http'));
    }
    return problems;
  }
  if (upstream === undefined) {
    problems.push(error('UPSTREAM_MISSING', [...at, 'upstream'], 'is missing: where are its messages delivered?'));
  }
  if (backend !== undefined) {
    problems.push(warning('BACKEND_UNUSED', [...at, 'backend'], 'only role endpoint has a backend; leave it out'));
  }
  return problems;
}

/** The route that stands at the top has its backend under `endpoint`. */
export function backendAt(route: Path): Path {
  return route.length === 0 ? ['endpoint', 'backend'] : [...route, 'backend'];
}

function protocolProblems({ role }: Config, { at, protocol, accessPoint, reference }: RouteConfig): readonly Problem[] {
  if (role === 'front' && protocol === 'as4' && accessPoint === undefined) {
    return [error('ACCESS_POINT_MISSING', [...at, 'accessPoint'],
      `is missing: ${ACCESS_POINT_NAMES.join(', ')}; it tells how long the access point remembers a message itself`)];
  }
  if (protocol === 'reference' && reference === undefined) {
    return [error('REFERENCE_MISSING', [...at, 'reference'],
      'is missing: where does the reference stand? For example { header: Idempotency-Key }')];
  }
  if (protocol === 'reference' || reference === undefined) return [];
  return [warning('REFERENCE_UNUSED', [...at, 'reference'],
    `only protocol reference needs it; ${protocol} names its messages itself`)];
}

function endpointProblems({ endpoint, security }: Config): readonly Problem[] {
  if (endpoint === undefined) {
    return [error('ENDPOINT_MISSING', ['endpoint'], 'is missing: role endpoint needs profile and keys')];
  }
  const problems: Problem[] = [];
  if (endpoint.keys === undefined) {
    problems.push(error('KEYS_MISSING', ['endpoint', 'keys'], 'is missing: certificate and key that sign Receipts'));
  }
  if (security?.trust === undefined) {
    problems.push(error('TRUST_MISSING', ['security', 'trust'],
      'is missing: the PEM file of the authorities whose certificates are trusted'));
  }
  return problems;
}
