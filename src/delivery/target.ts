/** Slashes as some server may read them: backslashes and encoded ones too. */
const SLASH = /[/\\]|%2f|%5c/i;
/** Dot segments, encoded ones and those with a path parameter (`/..;x/`, which servlet containers take for `/../`). */
const CLIMBS = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?=[/\\;]|%2f|%5c|$)|\\/i;

export interface Place {
  /** Path of our route; it stands for the upstream's URL. Default `/`. */
  readonly mount?: string;
  /** The URL is the one address messages go to (AS4): whatever the sender was told, nothing is appended to it. */
  readonly exact?: boolean;
}

/**
 * Path and query to ask the upstream for. A URL without a path takes the request's path as it is. A URL with one stands
 * for our route: what follows the route's path is appended, unless the URL is exact or the request names the upstream's
 * path itself already (a sender told /as4, before an access point at /as4). It cannot leave the URL's path, so a front
 * before `/as4` opens no way to the rest of that server. An absolute-form target (RFC 9112 3.2.2) counts with its path only.
 */
export function targetBelow(upstream: URL, target: string, { mount = '/', exact = false }: Place = {}): string {
  const { path, query } = split(target);
  const terms = [upstream.search, query].map((part) => part.slice(1)).filter((part) => part !== '');
  const joined = pathBelow(upstream.pathname, path, mount, exact);
  return terms.length === 0 ? joined : `${joined}?${terms.join('&')}`;
}

function pathBelow(upstream: string, path: string, mount: string, exact: boolean): string {
  const base = upstream.replace(/\/+$/, '');
  if (base === '') return path;
  if (path === base || path.startsWith(`${base}/`)) return path;
  if (exact) return upstream;
  const root = mount.replace(/\/+$/, '');
  const below = root !== '' && (path === root || path.startsWith(`${root}/`)) ? path.slice(root.length) : path;
  return below === '' || below === '/' ? upstream : `${base}${below}`;
}

function split(target: string): { path: string; query: string } {
  const inOrigin = target.startsWith('/') ? target : target.startsWith('?') || target === '' ? `/${target}` : originForm(target);
  const bare = inOrigin.split('#', 1)[0] ?? '/';
  const at = bare.indexOf('?');
  const path = at < 0 ? bare : bare.slice(0, at);
  const query = at < 0 ? '' : bare.slice(at);
  return { path: CLIMBS.test(path) ? resolved(path) : path, query };
}

function resolved(path: string): string {
  const kept: string[] = [];
  for (const segment of path.split(SLASH).slice(1)) {
    const name = (segment.split(';', 1)[0] ?? '').replace(/%2e/gi, '.');
    if (name === '..') kept.pop();
    else if (name !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}`;
}

function originForm(target: string): string {
  if (!URL.canParse(target)) return '/';
  const { pathname, search } = new URL(target);
  return pathname.startsWith('/') ? `${pathname}${search}` : '/';
}
