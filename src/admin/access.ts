import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { AdminConfig } from '../config/config.js';
import { As4OnceError } from '../errors.js';

/** Who may see and do what on the admin listener. */
export type Caller =
  /** Sees health and rates, as whoever can reach /metrics does; nothing of any message or partner. */
  | { readonly kind: 'anybody' }
  /** Sees everything and may act. `name` stands in the client certificate; a token says nothing about who holds it. */
  | { readonly kind: 'operator'; readonly name?: string };

/** How one may prove to be an operator. */
export type AccessRules = Pick<AdminConfig, 'token' | 'tls'>;

/** @throws As4OnceError UNAUTHORIZED where a token is shown and it is not the one: better than silently showing less. */
export function callerOf(request: IncomingMessage, { token, tls }: AccessRules): Caller {
  const certified = tls !== undefined && (tls.clientAuth ?? 'none') !== 'none' ? certificateName(request) : undefined;
  if (certified !== undefined) return { kind: 'operator', name: certified };
  const shown = request.headers.authorization;
  if (shown === undefined) return { kind: 'anybody' };
  const [, given] = /^Bearer +(\S+) *$/i.exec(shown) ?? [];
  if (token === undefined) throw new As4OnceError('UNAUTHORIZED', 'no admin.token is configured');
  if (given === undefined || !same(given, token)) throw new As4OnceError('UNAUTHORIZED', 'this is not the token');
  return { kind: 'operator' };
}

/** The name in a client certificate that the TLS layer has verified; undefined without one. */
function certificateName({ socket }: IncomingMessage): string | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  const { subject } = socket.getPeerCertificate();
  if (subject === undefined) return undefined;
  const { CN, O } = subject as { CN?: string | string[]; O?: string | string[] };
  return [CN ?? O ?? 'unnamed certificate'].flat().join(' ');
}

/**
 * A page of another origin must not act with a client certificate that the browser adds by itself. Such a page can only
 * send what needs no preflight, which JSON does; what browsers say about the origin of a request is looked at besides.
 * @throws As4OnceError REQUEST_INVALID
 */
export function refuseForeignPages({ headers }: IncomingMessage): void {
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') throw new As4OnceError('REQUEST_INVALID', 'Content-Type must be application/json');
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') throw new As4OnceError('REQUEST_INVALID', 'the request comes from another site\'s page');
  const { origin } = headers;
  if (origin !== undefined && hostOf(origin) !== headers.host) throw new As4OnceError('REQUEST_INVALID', 'the request comes from another site\'s page');
}

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** In constant time, whatever the lengths. */
function same(a: string, b: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}
