import { describe, expect, it } from 'vitest';
import { proveReceipts } from '../../src/receipt/self-test.js';
import { selfSigned } from '../../src/security/keys.js';

const DAY = 86_400_000;
const start = Date.UTC(2026, 0, 1);

describe('the self-test at start', () => {
  it('passes with a key that can sign', async () => {
    await expect(proveReceipts(selfSigned('own', { notBefore: start, days: 10 }), start + DAY)).resolves.toBeUndefined();
  });

  it('says what is wrong with the certificate', async () => {
    const own = selfSigned('own', { notBefore: start, days: 10 });
    await expect(proveReceipts(own, start + 11 * DAY)).rejects.toThrow(/CONFIG_INVALID.*expired/);
    const other = selfSigned('own', { notBefore: start, days: 10 });
    await expect(proveReceipts({ ...own, certificate: other.certificate }, start + DAY)).rejects.toThrow(/CONFIG_INVALID.*not by the key/);
    const authority = selfSigned('own', { notBefore: start, days: 10, authority: true });
    await expect(proveReceipts(authority, start + DAY)).rejects.toThrow(/may not sign messages/);
  });
});
