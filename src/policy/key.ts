import { hash } from 'node:crypto';
import type { DuplicateKey } from '../ledger/record.js';
import type { Fingerprint, Message, Party, ProtocolName } from '../message.js';
import type { Granularity } from './rule.js';

/** A message as far as it is needed for its key; `fingerprint` only where the granularity holds the content. */
export type Keyed = Omit<Message, 'fingerprint'> & { readonly fingerprint?: Fingerprint | undefined };

type Part = string | readonly Part[];

/**
 * The DuplicateKey of a message: SHA-256 over (protocol, scope, reference and, where there is one, type) in lower-case
 * hex, then ":" and SHA-256 over the granularity's other parts in base64url. All records of one reference share the
 * first half. Sender and recipient are all PartyIds with their types, order irrelevant. What `extra` holds (EDI test
 * indicator) always counts, so that a test interchange never shadows a real one; its `datetime` counts only with
 * `+datetime`. Whatever the granularity, its parts are named in the hash: two granularities never share a key.
 */
export function duplicateKey(message: Keyed, granularity: Granularity, scope: string): DuplicateKey {
  const parts = new Set(granularity.split('+'));
  const { datetime, ...extra } = message.extra ?? {};
  const rest: Part[] = Object.entries(extra).sort(byName).map(([name, value]) => ['extra', name, value]);
  if (parts.has('sender')) rest.push(['sender', ...partyParts(message.facts.from)]);
  if (parts.has('recipient')) rest.push(['recipient', ...partyParts(message.facts.to)]);
  if (parts.has('datetime')) rest.push(['datetime', datetime ?? '']);
  if (parts.has('content')) {
    if (message.fingerprint === undefined) throw new TypeError('a key with content needs the fingerprint');
    rest.push(['content', message.fingerprint]);
  }
  const prefix = referencePrefix(message.protocol, scope, message.reference, message.type);
  return `${prefix}:${hash('sha256', encoded(rest), 'base64url')}`;
}

/** First half of the key of every record of this reference, whatever the granularity: 64 lower-case hex digits. */
export function referencePrefix(protocol: ProtocolName, scope: string, reference: string, type?: string): string {
  const parts = type === undefined ? [protocol, scope, reference] : [protocol, scope, reference, type];
  return hash('sha256', encoded(parts), 'hex');
}

/** The granularity with the content added: what `mismatch: deliver-flagged` lets through is claimed under it. */
export function withContent(granularity: Granularity): Granularity {
  return withPart(granularity, 'content');
}

/** The granularity with the sender added: what `otherSender: deliver` lets through is claimed under it. */
export function withSender(granularity: Granularity): Granularity {
  return withPart(granularity, 'sender');
}

/** Whether a key of this granularity can only be made when the body has been read to its end. */
export function needsContent(granularity: Granularity): boolean {
  return granularity.includes('+content');
}

/** The parties, order irrelevant, as one string that separates them beyond doubt: what `otherSender` compares. */
export function partiesText(parties: readonly Party[]): string {
  return JSON.stringify(partyParts(parties));
}

function withPart(granularity: Granularity, part: 'content' | 'sender'): Granularity {
  const parts = new Set(granularity.split('+')).add(part);
  const order = ['reference', 'sender', 'recipient', 'content', 'datetime'];
  return order.filter((name) => parts.has(name)).join('+') as Granularity;
}

/** A missing type and an empty one are the same: some stacks write `type=""` where others leave it out. */
function partyParts(parties: readonly Party[]): Part[] {
  return parties.map((p) => [p.type ?? '', p.value] as const).sort(([a, b], [c, d]) => compare(a, c) || compare(b, d));
}

function byName([a]: [string, string], [b]: [string, string]): number {
  return compare(a, b);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Length-prefixed tuples: no separator that a value could forge, and a list never reads as a string. UTF-8, except for
 * strings with a lone surrogate (JSON can carry one), which UTF-8 would fold into one replacement character. One string,
 * hashed in one call: feeding a hash piece by piece costs ten times as much.
 */
function encoded(part: Part): string {
  if (typeof part !== 'string') return `(${part.length}:${part.map(encoded).join('')}`;
  if (!part.isWellFormed()) return `w${part.length}:${Buffer.from(part, 'utf16le').toString('hex')}`;
  return `s${Buffer.byteLength(part)}:${part}`;
}
