import { hash } from 'node:crypto';
import type { LedgerRecord } from '../ledger/record.js';

/**
 * What makes a delivery over HTTP repeatable without harm (draft-ietf-httpapi-idempotency-key-header): the same key for
 * every attempt of which one may have been taken, another one after a certain rejection, since a server may keep the
 * refusal under the old key, and another one in a new window. `rejections` stops counting at the first uncertain attempt,
 * so from then on the key never changes.
 */
export function idempotencyKey(record: Pick<LedgerRecord, 'key' | 'fingerprint' | 'born' | 'rejections'>): string {
  const parts = [record.key, record.fingerprint, String(record.born), String(record.rejections)];
  return hash('sha256', JSON.stringify(parts), 'hex');
}

/** As a header value: a structured-field string (RFC 8941 3.3.3). */
export function idempotencyField(record: Parameters<typeof idempotencyKey>[0]): string {
  return `"${idempotencyKey(record)}"`;
}
