import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Certificate } from '../../src/security/certificate.js';
import { revocationListIn, selfSigned, type Identity } from '../../src/security/keys.js';
import { checkTrust, type Trust } from '../../src/security/trust.js';
import { revocationList as crl } from './revocation-list.js';

const DAY = 86_400_000;
const start = Date.UTC(2026, 0, 1);
const now = start + 10 * DAY;
const valid = { notBefore: start, days: 100 };

const root = selfSigned('Root', { ...valid, authority: true });
const issuing = selfSigned('Issuing', { ...valid, authority: true, issuer: root });
const leaf = selfSigned('POP000001', { ...valid, issuer: issuing });

function reason(certificate: Certificate, trust: Trust, offered: readonly Certificate[] = [], at = now): string {
  const answer = checkTrust(certificate, offered, trust, at);
  return answer.ok ? answer.path.map((c) => c.subject.commonName).join(' < ') : answer.reason;
}

describe('the path to an anchor', () => {
  it('leads over configured or offered intermediates, or is the certificate itself', () => {
    expect(reason(leaf.certificate, { anchors: [root.certificate], intermediates: [issuing.certificate] })).toBe('POP000001 < Issuing < Root');
    expect(reason(leaf.certificate, { anchors: [root.certificate] }, [issuing.certificate])).toBe('POP000001 < Issuing < Root');
    expect(reason(leaf.certificate, { anchors: [issuing.certificate] })).toBe('POP000001 < Issuing');
    expect(reason(leaf.certificate, { anchors: [leaf.certificate] })).toBe('POP000001');
  });

  it('is missing where nothing leads to an anchor, whatever is offered', () => {
    expect(reason(leaf.certificate, { anchors: [root.certificate] })).toBe('untrusted');
    expect(reason(leaf.certificate, { anchors: [] }, [issuing.certificate, root.certificate])).toBe('untrusted');
    const impostor = selfSigned('Issuing', { ...valid, authority: true });
    const forged = selfSigned('POP000001', { ...valid, issuer: impostor });
    expect(reason(forged.certificate, { anchors: [issuing.certificate] }, [impostor.certificate])).toBe('untrusted');
  });

  it('never leads over a certificate that is no authority', () => {
    const child = selfSigned('POP000002', { ...valid, issuer: leaf });
    expect(reason(child.certificate, { anchors: [issuing.certificate], intermediates: [leaf.certificate] })).toBe('untrusted');
    expect(reason(child.certificate, { anchors: [leaf.certificate] })).toBe('untrusted');
  });

  it('has a bound, even among authorities that all have one name', () => {
    const many = Array.from({ length: 8 }, () => selfSigned('Same', { ...valid, bits: 1_024, authority: true }));
    let below = many[0] as Identity;
    const chain: Identity[] = [below];
    for (let i = 0; i < 8; i++) chain.push(below = selfSigned('Same', { ...valid, bits: 1_024, authority: true, issuer: below }));
    const anchors = many.slice(1).map((m) => m.certificate);
    expect(reason(below.certificate, { anchors, intermediates: chain.map((c) => c.certificate) })).toBe('untrusted');
  });

  it('holds at a time: every certificate of it', () => {
    const trust = { anchors: [root.certificate], intermediates: [issuing.certificate] };
    expect(reason(leaf.certificate, trust, [], start - 1)).toBe('notYetValid');
    expect(reason(leaf.certificate, trust, [], start + 101 * DAY)).toBe('expired');
    const longer = selfSigned('POP000003', { notBefore: start, days: 200, issuer: issuing });
    expect(reason(longer.certificate, trust, [], start + 150 * DAY)).toBe('expired');
  });
});

describe('revocation lists', () => {
  const trust = (list: Uint8Array): Trust =>
    ({ anchors: [issuing.certificate], revocation: [revocationListIn(list, 'crl')] });

  it('revoke what they name and nothing else', () => {
    expect(reason(leaf.certificate, trust(crl(issuing, [leaf.certificate.serial], now + DAY)))).toBe('revoked');
    expect(reason(leaf.certificate, trust(crl(issuing, [5n], now + DAY)))).toBe('POP000001 < Issuing');
    expect(reason(leaf.certificate, trust(crl(issuing, [], undefined)))).toBe('POP000001 < Issuing');
  });

  it('that are out of date are no proof of innocence, but still of guilt', () => {
    expect(reason(leaf.certificate, trust(crl(issuing, [], now - 1)))).toBe('revocationStale');
    expect(reason(leaf.certificate, trust(crl(issuing, [leaf.certificate.serial], now - 1)))).toBe('revoked');
  });

  it('hold for a certificate that is pinned beside its authority too', () => {
    // a partner's certificate listed beside its CA was a path by itself: no list was asked, and the revoked one believed
    const pinned = (list: Uint8Array, ...more: readonly Certificate[]): Trust =>
      ({ anchors: [leaf.certificate, ...more], revocation: [revocationListIn(list, 'crl')] });
    const revoking = crl(issuing, [leaf.certificate.serial], now + DAY);
    expect(reason(leaf.certificate, pinned(revoking, issuing.certificate))).toBe('revoked');
    expect(reason(leaf.certificate, { ...pinned(revoking), intermediates: [issuing.certificate] })).toBe('revoked');
    expect(reason(leaf.certificate, pinned(crl(issuing, [5n], now + DAY), issuing.certificate))).toBe('POP000001');
    expect(reason(leaf.certificate, pinned(crl(issuing, [], now - 1), issuing.certificate))).toBe('revocationStale');
    // the next look has to come before the list ends
    const until = now + DAY;
    expect(checkTrust(leaf.certificate, [], pinned(crl(issuing, [], until), issuing.certificate), now)).toMatchObject({ ok: true, until });
    // an authority that is pinned below its own root
    const below = { anchors: [issuing.certificate, root.certificate], revocation: [revocationListIn(crl(root, [issuing.certificate.serial], until), 'crl')] };
    expect(reason(leaf.certificate, below)).toBe('revoked');
  });

  it('do not speak for a pinned certificate that their issuer did not issue, nor where nothing proves them', () => {
    const impostor = selfSigned('Issuing', { ...valid, authority: true });
    const forged = [revocationListIn(crl(impostor, [leaf.certificate.serial], now + DAY), 'crl')];
    expect(reason(leaf.certificate, { anchors: [leaf.certificate, impostor.certificate, issuing.certificate], revocation: forged })).toBe('POP000001');
    const alone = [revocationListIn(crl(issuing, [leaf.certificate.serial], now + DAY), 'crl')];
    expect(reason(leaf.certificate, { anchors: [leaf.certificate], revocation: alone })).toBe('POP000001');
  });

  it('by somebody else are not heard', () => {
    const impostor = selfSigned('Issuing', { ...valid, authority: true });
    expect(reason(leaf.certificate, trust(crl(impostor, [leaf.certificate.serial], now + DAY)))).toBe('POP000001 < Issuing');
  });

  it('that cannot be read stop the start, with the file\'s name', () => {
    expect(() => revocationListIn(Buffer.from('junk'), 'my.crl')).toThrow(/my.crl/);
  });

  it.skipIf(spawnSync('openssl', ['version']).status !== 0)('of OpenSSL are read (needs openssl)', () => {
    const folder = mkdtempSync(join(tmpdir(), 'as4-once-'));
    const file = (name: string, content: string): string => {
      writeFileSync(join(folder, name), content);
      return join(folder, name);
    };
    const serial = leaf.certificate.x509.serialNumber;
    file('index.txt', `R\t300101000000Z\t260102000000Z,keyCompromise\t${serial}\tunknown\t/CN=POP000001\n`);
    const config = file('ca.cnf', `[ca]\ndefault_ca=x\n[x]\ndatabase=${join(folder, 'index.txt')}\ndefault_md=sha256\ndefault_crl_days=30\n`);
    const key = file('key.pem', issuing.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
    const cert = file('cert.pem', issuing.certificate.x509.toString());
    const out = join(folder, 'list.pem');
    execFileSync('openssl', ['ca', '-gencrl', '-config', config, '-keyfile', key, '-cert', cert, '-out', out], { stdio: 'pipe' });
    const list = revocationListIn(readFileSync(out), 'list.pem');
    expect(list.revoked.has(leaf.certificate.serial)).toBe(true);
    expect(list.signedBy(issuing.certificate)).toBe(true);
    expect(list.nextUpdate).toBeGreaterThan(list.thisUpdate);
    rmSync(folder, { recursive: true });
  });
});
