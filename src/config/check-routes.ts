import type { Config, RouteConfig } from './config.js';
import type { Path, Problem } from './problem.js';

/** Whether every route has what its role and protocol need. Routes of `upstream:` at the top stand at the top. */
export function routeProblems(config: Config, handler: boolean): readonly Problem[] {
  const problems: Problem[] = [];
  const add = (code: string, at: Path, text: string, level: 'error' | 'warning' = 'error'): void => {
    problems.push({ level, code, at, text });
  };
  if (config.routes.length === 0 && config.watch.length === 0) {
    if (config.role === 'front') add('UPSTREAM_MISSING', ['upstream'], 'is missing: where are messages delivered? Give upstream, routes or watch');
    else if (!handler) add('BACKEND_MISSING', ['endpoint', 'backend'], 'is missing: give a directory or http');
  }
  if (config.role === 'endpoint') endpointProblems(config, add);
  const paths = new Set<string>();
  const names = new Set<string>();
  for (const route of config.routes) {
    const { at } = route;
    if (paths.has(route.path)) add('PATH_TWICE', [...at, 'path'], `another route has the path ${route.path}`);
    paths.add(route.path);
    if (names.has(route.name)) add('NAME_TWICE', [...at, 'name'], `another route has the name ${route.name}`);
    names.add(route.name);
    oneRoute(config, route, handler, add);
  }
  for (const [i, folder] of config.watch.entries()) {
    if (names.has(folder.name)) add('NAME_TWICE', ['watch', i, 'name'], `another route or folder has the name ${folder.name}`);
    names.add(folder.name);
    const used = Object.values(folder.folders);
    if (new Set(used).size < used.length) add('FOLDER_TWICE', ['watch', i], 'two of its folders are the same');
  }
  return problems;
}

type Add = (code: string, at: Path, text: string, level?: 'error' | 'warning') => void;

function oneRoute(config: Config, route: RouteConfig, handler: boolean, add: Add): void {
  const { at, protocol } = route;
  const ownEndpoint = config.role === 'endpoint' && protocol === 'as4';
  if (ownEndpoint) {
    if (route.upstream !== undefined) add('UPSTREAM_UNUSED', [...at, 'upstream'], 'role endpoint delivers to a backend; leave upstream out', 'warning');
    if (route.backend === undefined && !handler) add('BACKEND_MISSING', [...at, 'backend'], 'is missing: give a directory or http');
  } else {
    if (route.upstream === undefined) add('UPSTREAM_MISSING', [...at, 'upstream'], 'is missing: where are its messages delivered?');
    if (route.backend !== undefined) add('BACKEND_UNUSED', [...at, 'backend'], 'only role endpoint has a backend; leave it out', 'warning');
  }
  if (config.role === 'front' && protocol === 'as4' && route.accessPoint === undefined) {
    add('ACCESS_POINT_MISSING', [...at, 'accessPoint'], 'is missing: phase4, phoss-ap, holodeck, domibus, oxalis or other; it tells how long the access point remembers a message itself');
  }
  if (protocol === 'reference' && route.reference === undefined) {
    add('REFERENCE_MISSING', [...at, 'reference'], 'is missing: where does the reference stand? For example { header: Idempotency-Key }');
  }
  if (protocol !== 'reference' && route.reference !== undefined) {
    add('REFERENCE_UNUSED', [...at, 'reference'], `only protocol reference needs it; ${protocol} names its messages itself`, 'warning');
  }
}

function endpointProblems({ endpoint, security }: Config, add: Add): void {
  if (endpoint === undefined) {
    add('ENDPOINT_MISSING', ['endpoint'], 'is missing: role endpoint needs profile and keys');
    return;
  }
  if (endpoint.keys === undefined) add('KEYS_MISSING', ['endpoint', 'keys'], 'is missing: certificate and key that sign Receipts');
  if (security?.trust === undefined) {
    add('TRUST_MISSING', ['security', 'trust'], 'is missing: the PEM file of the authorities whose certificates are trusted');
  }
}
