import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { certificateOf, pathOf } from '../../src/security/certificate.js';
import { DerError, integerOf, oidOf, readAll, readDer, TAG, timeOf, writeDer, writeInteger, writeOid, writeTime } from '../../src/security/der.js';
import { namesWritten } from '../../src/security/distinguished-name.js';
import { certificatesIn, loadIdentity, selfSigned } from '../../src/security/keys.js';
import { corpus, certificateIn, present } from './corpus.js';

const openssl = spawnSync('openssl', ['version']).status === 0;

describe('certificates', () => {
  const one = selfSigned('POP000123', { notBefore: Date.UTC(2026, 0, 1), days: 30 });

  it('are made so that Node reads and verifies them', () => {
    const x509 = new X509Certificate(one.certificate.der);
    expect(x509.subject).toBe('CN=POP000123');
    expect(x509.verify(x509.publicKey)).toBe(true);
    expect(x509.checkPrivateKey(one.privateKey)).toBe(true);
    expect(x509.ca).toBe(false);
    expect(Date.parse(x509.validTo)).toBe(Date.UTC(2026, 0, 31));
    expect(BigInt(`0x${x509.serialNumber}`)).toBe(one.certificate.serial);
  });

  it.skipIf(!openssl)('are made so that OpenSSL accepts them (needs openssl)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'as4-once-'));
    const ca = selfSigned('Test CA', { authority: true });
    const leaf = selfSigned('leaf', { issuer: ca });
    writeFileSync(join(folder, 'ca.pem'), ca.certificate.x509.toString());
    writeFileSync(join(folder, 'leaf.pem'), leaf.certificate.x509.toString());
    const said = execFileSync('openssl', ['verify', '-x509_strict', '-CAfile', join(folder, 'ca.pem'), join(folder, 'leaf.pem')], { stdio: 'pipe' });
    expect(said.toString()).toContain('OK');
    rmSync(folder, { recursive: true });
  });

  it('are parsed once', () => {
    expect(certificateOf(one.certificate.der)).toBe(certificateOf(Uint8Array.from(one.certificate.der)));
  });

  it('tell what they may be used for', () => {
    const ca = selfSigned('ca', { authority: true });
    expect([one.certificate.authority, one.certificate.signs]).toEqual([false, true]);
    expect([ca.certificate.authority, ca.certificate.signs]).toEqual([true, false]);
  });

  it('are refused in pieces, whatever is cut or changed', () => {
    const der = Buffer.from(one.certificate.der);
    for (let at = 0; at < der.length; at += 7) {
      expect(certificateOf(der.subarray(0, at))).toBeUndefined();
      const changed = Buffer.from(der);
      changed[at] = (changed[at] ?? 0) ^ 0xff;
      const parsed = certificateOf(changed);
      if (parsed !== undefined) expect(parsed.fingerprint).not.toBe(one.certificate.fingerprint);
    }
    expect(certificateOf(new Uint8Array(20_000))).toBeUndefined();
    expect(pathOf(der)).toBeUndefined();
  });

  it('come as a PKIPath, end entity last', () => {
    const ca = selfSigned('ca', { authority: true });
    const leaf = selfSigned('leaf', { issuer: ca });
    const path = writeDer(TAG.sequence, ca.certificate.der, leaf.certificate.der);
    expect(pathOf(path)?.map((c) => c.subject.text)).toEqual(['CN=leaf', 'CN=ca']);
  });

  it('are loaded with their key, and only with theirs', () => {
    const key = Buffer.from(one.privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const pem = Buffer.from(one.certificate.x509.toString());
    expect(loadIdentity(key, pem, 'own').certificate.fingerprint).toBe(one.certificate.fingerprint);
    const der = Buffer.from(one.privateKey.export({ type: 'pkcs1', format: 'der' }));
    expect(loadIdentity(der, one.certificate.der, 'own').privateKey.equals(one.privateKey)).toBe(true);
    const locked = Buffer.from(one.privateKey.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }));
    expect(loadIdentity(locked, pem, 'own', 'x').privateKey.equals(one.privateKey)).toBe(true);
    expect(() => loadIdentity(locked, pem, 'own.pem')).toThrow(/own.pem: no private key/);
    expect(() => loadIdentity(key, selfSigned('other').certificate.der, 'own.pem')).toThrow(/not the certificate's/);
    expect(() => loadIdentity(key, Buffer.from('junk'), 'own.pem')).toThrow(/no X.509 certificate/);
    expect(() => certificatesIn(Buffer.concat([pem, pem]), 'two')).not.toThrow();
  });

  it('with another key than RSA are not taken for signing', () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const pem = Buffer.from(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    expect(() => loadIdentity(pem, one.certificate.der, 'ed')).toThrow(/not the certificate's/);
  });

  it.skipIf(!present)('of the corpus say the same to us as to Node (needs ../shared/corpus)', () => {
    for (const file of readdirSync(join(corpus, 'keys/pem')).filter((f) => f.endsWith('.crt.pem'))) {
      const ours = certificateIn(join(corpus, 'keys/pem', file));
      expect(BigInt(`0x${ours.x509.serialNumber}`)).toBe(ours.serial);
      expect(Date.parse(ours.x509.validFrom)).toBe(ours.notBefore);
      expect(Date.parse(ours.x509.validTo)).toBe(ours.notAfter);
      // Node prints one RDN a line, most significant first
      const printed = namesWritten(ours.x509.issuer.replace(/,/g, '\\,').split('\n').join(','));
      expect(printed).toContain(ours.issuer.text);
    }
  });
});

describe('DER', () => {
  it('reads what it writes', () => {
    for (const oid of ['1.2.840.113549.1.1.11', '2.5.4.3', '0.9.2342.19200300.100.1.25']) {
      expect(oidOf(readDer(writeOid(oid)))).toBe(oid);
    }
    for (const n of [0n, 127n, 128n, 255n, 256n, 2n ** 159n]) {
      const hex = n.toString(16);
      expect(integerOf(readDer(writeInteger(Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, 'hex'))))).toBe(n);
    }
    for (const ms of [Date.UTC(1999, 11, 31, 23, 59, 59), Date.UTC(2049, 0, 1), Date.UTC(2050, 5, 6)]) {
      expect(timeOf(readDer(writeTime(ms)))).toBe(ms);
    }
    const long = writeDer(TAG.octetString, new Uint8Array(70_000));
    expect(readDer(long).content.length).toBe(70_000);
  });

  it.each([
    ['a cut value', '3003'], ['an indefinite length', '30800000'], ['a length of 5 octets', '30850000000001aa'],
    ['a long tag', '1f8101'], ['nothing', ''], ['two values where one belongs', '05000500'],
  ])('refuses %s', (_what, hex) => {
    expect(() => readDer(Buffer.from(hex, 'hex'))).toThrow(DerError);
  });

  it('reads an empty list', () => {
    expect(readAll(new Uint8Array())).toEqual([]);
  });
});

describe('names as text', () => {
  const wanted = 'C=nl,O=a\\, b,CN=x y';
  it.each([
    ['CN=x y,O=a\\, b,C=NL'], ['C=NL, O="a, b", CN=X  Y'], ['CN=x y; O=a\\2c b; C=nl'], ['cn=#0c03782079,o=a\\, b,c=NL'],
  ])('%s is the same name', (written) => {
    expect(namesWritten(written)).toContain(wanted);
  });

  it('a name that cannot be read is no name', () => {
    expect(namesWritten('nonsense')).toBeUndefined();
    expect(namesWritten(`CN=${'x'.repeat(3_000)}`)).toBeUndefined();
  });
});
