import { describe, expect, it } from 'vitest';
import { idempotencyField, idempotencyKey } from '../../src/delivery/idempotency-key.js';
import { requestHeaders } from '../../src/delivery/headers.js';

const record = { key: 'a:b', fingerprint: 'plain:x', born: 1_000, rejections: 0 };

describe('Idempotency-Key on the way out', () => {
  it('is the same for every attempt of one claim, whatever else changes', () => {
    expect(idempotencyKey({ ...record })).toBe(idempotencyKey(record));
  });
  it.each([
    ['after a certain rejection', { rejections: 1 }],
    ['in a new window', { born: 2_000 }],
    ['for other content', { fingerprint: 'plain:y' }],
    ['for another message', { key: 'a:c' }],
  ])('is another one %s', (_when, change) => {
    expect(idempotencyKey({ ...record, ...change })).not.toBe(idempotencyKey(record));
  });
  it('is a structured-field string and takes the place of the sender\'s own', () => {
    const idempotency = idempotencyField(record);
    expect(idempotency).toMatch(/^"[0-9a-f]{64}"$/);
    const headers = requestHeaders({ headers: [['idempotency-key', '"theirs"']], length: 1, peer: '127.0.0.1', host: 'x', idempotency });
    expect(headers.filter(([name]) => name.toLowerCase() === 'idempotency-key')).toEqual([['Idempotency-Key', idempotency]]);
  });
});
