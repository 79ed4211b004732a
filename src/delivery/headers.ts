import type { HeaderList } from '../exchange.js';
import type { Mark } from './port.js';

/** Which header fields go through the front, in either direction (RFC 9110 7.6.1, and what belongs to us). */

const HOP_BY_HOP = new Set([
  'connection', 'keep-alive', 'proxy-connection', 'proxy-authenticate', 'proxy-authorization', 'te', 'trailer',
  'transfer-encoding', 'upgrade',
]);

/** These say how the body is to be read; a `Connection: content-type` must not make us and the upstream read differently. */
const NEVER_DROPPED = new Set(['content-type', 'content-encoding']);

/** Marks of ours, in either direction: nobody else may set them. */
const OURS = 'as4-once-';

export interface RequestHeaders {
  /** The sender's fields. */
  readonly headers: HeaderList;
  /** Length of the body as stored; undefined where it is streamed through (chunked) or there is none. */
  readonly length: number | undefined;
  readonly peer: string;
  /** Host of the upstream URL; undefined keeps the sender's Host (`preserveHost`). */
  readonly host: string | undefined;
  readonly mark?: Mark | undefined;
  /** Id of the first message, for mark redelivery, late and resend. */
  readonly firstId?: string | undefined;
  /** Our own Idempotency-Key instead of whatever the sender wrote there. */
  readonly idempotency?: string | undefined;
}

/** The fields of the request to the upstream, in the order and spelling the sender chose. */
export function requestHeaders({ headers, length, peer, host, mark, firstId, idempotency }: RequestHeaders): [string, string][] {
  const dropped = new Set(['content-length', 'expect', 'accept-encoding', 'x-forwarded-for', ...(host === undefined ? [] : ['host'])]);
  if (idempotency !== undefined) dropped.add('idempotency-key');
  const out: [string, string][] = host === undefined ? [] : [['Host', host]];
  out.push(...endToEnd(headers, dropped));
  // The reply is stored in clear, and a coded one would only be decoded again.
  out.push(['Accept-Encoding', 'identity']);
  out.push(['X-Forwarded-For', forwardedFor(headers, peer)]);
  if (length !== undefined) out.push(['Content-Length', String(length)]);
  if (idempotency !== undefined) out.push(['Idempotency-Key', idempotency]);
  if (mark !== undefined) out.push(['As4-Once-Copy', mark]);
  if (firstId !== undefined) out.push(['As4-Once-First', percentEncode(firstId)]);
  return out;
}

/** The fields of the upstream's reply that go on to the sender. `decoded`: the content coding was taken off. */
export function replyHeaders(raw: HeaderList, decoded: boolean): [string, string][] {
  return endToEnd(raw, new Set(['content-length', 'date', ...(decoded ? ['content-encoding'] : [])]));
}

/** undici hands reply fields out as a flat list of names and values. */
export function pairs(flat: readonly (string | Buffer)[]): [string, string][] {
  const out: [string, string][] = [];
  for (let at = 0; at + 1 < flat.length; at += 2) out.push([latin1(flat[at]), latin1(flat[at + 1])]);
  return out;
}

/** Percent-encodes whatever is not an unreserved character (RFC 3986 2.3), so that any id fits a header field. */
export function percentEncode(text: string): string {
  let out = '';
  for (const byte of Buffer.from(text, 'utf8')) {
    const char = String.fromCharCode(byte);
    out += /[A-Za-z0-9\-._~]/.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return out;
}

function endToEnd(headers: HeaderList, dropped: ReadonlySet<string>): [string, string][] {
  const named = new Set<string>();
  for (const [name, value] of headers) {
    if (name.toLowerCase() !== 'connection') continue;
    for (const token of value.split(',')) {
      const field = token.trim().toLowerCase();
      if (!NEVER_DROPPED.has(field)) named.add(field);
    }
  }
  const out: [string, string][] = [];
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    if (HOP_BY_HOP.has(lower) || named.has(lower) || dropped.has(lower) || lower.replaceAll('_', '-').startsWith(OURS)) continue;
    out.push([name, value]);
  }
  return out;
}

/** The chain as it came, and who we had it from, unless a trusted proxy has written that already. */
function forwardedFor(headers: HeaderList, peer: string): string {
  const chain = headers
    .filter(([name]) => name.toLowerCase() === 'x-forwarded-for')
    .flatMap(([, value]) => value.split(','))
    .map((address) => address.trim())
    .filter((address) => address !== '');
  return chain.at(-1) === peer ? chain.join(', ') : [...chain, peer].join(', ');
}

function latin1(value: string | Buffer | undefined): string {
  return typeof value === 'string' ? value : (value?.toString('latin1') ?? '');
}
