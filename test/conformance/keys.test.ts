import { createSign, createVerify, X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { integer, objectId, time } from '../../conformance/der.js';
import { makeIdentity, readIdentity } from '../../conformance/keys.js';

describe('test keys made without openssl', () => {
  const own = makeIdentity('Überprüfer', { now: new Date('2026-06-01T00:00:00Z'), days: 10 });

  test('a self-signed certificate verifies under its own key and holds its name and times', () => {
    const read = new X509Certificate(own.certificatePem);
    expect(read.verify(read.publicKey)).toBe(true);
    expect(read.subject).toBe('CN=Überprüfer');
    expect(read.issuer).toBe(read.subject);
    expect(read.checkPrivateKey(own.key)).toBe(true);
    expect(new Date(read.validFrom).toISOString()).toBe('2026-05-31T23:00:00.000Z');
    expect(new Date(read.validTo).toISOString()).toBe('2026-06-10T23:00:00.000Z');
  });

  test('a certificate of an authority chains to it', () => {
    const authority = makeIdentity('test authority');
    const leaf = makeIdentity('leaf', { issuer: authority });
    expect(leaf.certificate.checkIssued(authority.certificate)).toBe(true);
    expect(leaf.certificate.verify(authority.certificate.publicKey)).toBe(true);
    expect(authority.certificate.ca).toBe(true);
    expect(leaf.certificate.ca).toBe(false);
  });

  test('the key signs what the certificate verifies, and a foreign certificate is refused', () => {
    const again = readIdentity(own.keyPem, own.certificatePem);
    const signature = createSign('sha256').update('text').sign(again.key);
    expect(createVerify('sha256').update('text').verify(own.certificate.publicKey, signature)).toBe(true);
    expect(() => readIdentity(own.keyPem, makeIdentity('else').certificatePem)).toThrow(/does not belong/);
  });

  test('DER forms at their edges', () => {
    expect(integer(Buffer.from([0, 0, 0x80])).toString('hex')).toBe('02020080');
    expect(integer(Buffer.from([0, 0])).toString('hex')).toBe('020100');
    expect(objectId('1.2.840.113549.1.1.11').toString('hex')).toBe('06092a864886f70d01010b');
    expect(time(new Date('2049-12-31T23:59:59Z')).toString('latin1').slice(2)).toBe('491231235959Z');
    expect(time(new Date('2050-01-01T00:00:00Z')).toString('latin1').slice(2)).toBe('20500101000000Z');
  });
});
