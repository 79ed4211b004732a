/** Dot segments, also percent-encoded, and backslashes, which some servers take for slashes. */
const CLIMBS = /(?:^|[/\\])(?:\.|%2e){1,2}(?=[/\\?#]|$)|\\/i;

/**
 * Path and query to ask the upstream for: the target below our mount point, appended to the path of the upstream's URL.
 * It cannot leave that path, so a front before `/as4` opens no way to the rest of that server. An absolute-form target
 * (RFC 9112 3.2.2) counts with its path only.
 */
export function targetBelow(upstream: URL, target: string): string {
  const { path, query } = split(target);
  const base = upstream.pathname.replace(/\/+$/, '');
  const joined = path === '' || path === '/' ? upstream.pathname : `${base}${path}`;
  const terms = [upstream.search, query].map((part) => part.slice(1)).filter((part) => part !== '');
  return terms.length === 0 ? joined : `${joined}?${terms.join('&')}`;
}

function split(target: string): { path: string; query: string } {
  const inOrigin = target.startsWith('/') ? target : target.startsWith('?') || target === '' ? `/${target}` : originForm(target);
  const bare = inOrigin.split('#', 1)[0] ?? '/';
  const at = bare.indexOf('?');
  const path = at < 0 ? bare : bare.slice(0, at);
  const query = at < 0 ? '' : bare.slice(at);
  return { path: CLIMBS.test(path) ? new URL(path.replace(/^\/+/, '/'), 'http://upstream').pathname : path, query };
}

function originForm(target: string): string {
  if (!URL.canParse(target)) return '/';
  const { pathname, search } = new URL(target);
  return `${pathname}${search}`;
}
