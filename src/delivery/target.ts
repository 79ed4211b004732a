/** Slashes as some server may read them: backslashes and encoded ones too. */
const SLASH = /[/\\]|%2f|%5c/i;
/** Dot segments, encoded ones and those with a path parameter (`/..;x/`, which servlet containers take for `/../`). */
const CLIMBS = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){1,2}(?=[/\\;]|%2f|%5c|$)|\\/i;

/**
 * Path and query to ask the upstream for: the target below our mount point, appended to the path of the upstream's URL.
 * It cannot leave that path, so a front before `/as4` opens no way to the rest of that server. An absolute-form target
 * (RFC 9112 3.2.2) counts with its path only.
 */
export function targetBelow(upstream: URL, target: string): string {
  const { path, query } = split(target);
  const base = upstream.pathname.replace(/\/+$/, '');
  const joined = path === '/' ? upstream.pathname : `${base}${path}`;
  const terms = [upstream.search, query].map((part) => part.slice(1)).filter((part) => part !== '');
  return terms.length === 0 ? joined : `${joined}?${terms.join('&')}`;
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
