import { createPrivateKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeIdentity, type Identity } from '../../conformance/keys.js';
import { check } from '../../src/cli/check.js';
import { systemClock } from '../../src/clock.js';
import { runCli } from '../support/child.js';
import { identity } from '../support/messages.js';
import { asDocumented } from '../operate/documented.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';

const DAY = 86_400_000;
const own = identity('POP000002');
const partner = identity('POP000001');

let folder: TempDir;
const at = (name: string): string => join(folder.path, name);
beforeAll(() => {
  folder = tempDir('check-endpoint');
  writeFileSync(at('ca.pem'), partner.certificatePem);
});
afterAll(() => folder.remove());

const keys = (identityOf: Identity): void => {
  writeFileSync(at('own.crt'), identityOf.certificatePem);
  writeFileSync(at('own.key'), identityOf.keyPem);
};

const ENDPOINT = `role: endpoint
listen: 127.0.0.1:0
ledger: { memory: true }
security:
  trust: ca.pem
endpoint:
  profile: peppol
  backend: { directory: in }
  keys:
    - certificate: own.crt
      key: own.key
`;

async function run(text: string, ...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  writeFileSync(at('endpoint.yaml'), text);
  const result = { code: -1, out: '', err: '' };
  const io = { out: (t: string) => void (result.out += t), err: (t: string) => void (result.err += t), tty: false, env: {} };
  result.code = await check(['--config', at('endpoint.yaml'), ...args], io);
  return result;
}

describe('as4-once check of an endpoint', () => {
  /** check found such files in order, with no warning and exit code 0, and serve then ended with exit code 2. */
  it.each([
    ['has expired', { now: new Date(systemClock.now() - 2 * DAY), days: 1 }, /expired/],
    ['is not valid yet', { now: new Date(systemClock.now() + DAY) }, /is valid from/],
    ['is too short', { bits: 1_024 }, /1024/],
  ])('refuses, with serve, a certificate of our own that %s', async (_, options, why) => {
    keys(makeIdentity('POP000002', options));
    const { code, out, err } = await run(ENDPOINT);
    expect([code, out]).toEqual([2, '']);
    expect(err).toMatch(/endpoint\.yaml:10:20 endpoint\.keys\[0\]\.certificate: .*own\.crt: the signing certificate cannot sign Receipts/);
    expect(err).toMatch(why);
    const served = await runCli(['serve', '--config', at('endpoint.yaml')]);
    expect([served.code, served.stderr]).toEqual([2, expect.stringContaining(err.trim())]);
    expect((await run(ENDPOINT, '--no-files')).code).toBe(0);
  });

  it('names the line and the field of each file that cannot be used', async () => {
    keys(own);
    expect((await run(ENDPOINT)).code).toBe(0);
    writeFileSync(at('other.key'), makeIdentity('other').keyPem);
    writeFileSync(at('secret.key'), createPrivateKey(own.keyPem).export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'canary-right' }));
    writeFileSync(at('junk'), 'junk');
    writeFileSync(at('file'), '');
    const passphrase = (word: string): string => ENDPOINT.replace('key: own.key', `key: secret.key\n      passphrase: ${word}`);
    for (const [text, problem] of [
      [ENDPOINT.replace('own.key', 'other.key'), '11:12 endpoint.keys[0].key: F/other.key: the private key is not the certificate\'s'],
      [passphrase('canary-wrong'), '11:12 endpoint.keys[0].key: F/secret.key: no private key that can be read with this passphrase'],
      [ENDPOINT.replace('own.crt', 'junk'), '10:20 endpoint.keys[0].certificate: F/junk: no X.509 certificate (number 1)'],
      [ENDPOINT.replace(/keys:[^]*/, 'keys: { certificate: own.crt, key: gone.key }\n'), '9:38 endpoint.keys[0].key: F/gone.key cannot be read (ENOENT)'],
      [`${ENDPOINT}      use: [decrypt]\n`, '10:5 endpoint.keys: none of them signs; a Receipt needs one'],
      [ENDPOINT.replace('trust: ca.pem', 'trust: ca.pem\n  crl: [junk]'), '6:9 security.crl[0]: F/junk: no X.509 revocation list signed with SHA-2'],
      [`${ENDPOINT}partners:\n  - match: { from: A }\n    security: { certificates: junk }\n`, '14:31 partners[0].security.certificates[0]: F/junk: no X.509 certificate (number 1)'],
      [ENDPOINT.replace('directory: in', 'directory: file'), '8:25 endpoint.backend.directory: F/file is a file; give a folder'],
      [ENDPOINT.replace('directory: in', 'directory: file/in'), '8:25 endpoint.backend.directory: F/file/in cannot be a folder (ENOTDIR)'],
    ] as const) {
      expect(await run(text)).toEqual({ code: 2, out: '', err: `${at('endpoint.yaml')}:${problem.replace('F/', `${folder.path}/`)}\n` });
    }
    expect((await run(passphrase('canary-right'))).code).toBe(0);
  });

  /** It printed `unsigned accept, verify none` for a profile that demands both, and nothing of profile, keys and trust. */
  it('prints what holds: profile, keys, what is demanded of whom, and trust', async () => {
    keys(own);
    const old = identity('POP000002 old');
    writeFileSync(at('old.crt'), old.certificatePem);
    writeFileSync(at('old.key'), old.keyPem);
    const text = ENDPOINT.replace('profile: peppol', 'profile: custom\n  partyId: POP000002\n  receivers: ["0088:1", "0088:2"]')
      .replace('    - certificate: own', '    - { certificate: old.crt, key: old.key }\n    - certificate: own')
      .replace('trust: ca.pem', 'trust: [ca.pem, own.crt]\n  commonName: true')
      + 'partners:\n  - { match: { from: A }, window: 1d }\n  - { match: { from: B }, unsigned: refuse }\n'
      + '  - match: { from: C }\n    security: { trust: ca.pem, signature: optional, encryption: optional, commonName: false, allow: [sha1] }\n'
      + '  - { match: { from: D }, unsigned: refuse, security: { signature: optional } }\n';
    const day = new Date(partner.certificate.validTo).toISOString().slice(0, 10);
    const { code, out } = await run(text);
    expect(code).toBe(0);
    expect(out.replaceAll(/\n {4}/g, ' ')).toContain(`role      endpoint
profile   custom
PartyId   POP000002
for       0088:1, 0088:2
key       CN=POP000002 old, valid to ${day}: signs no longer: a later one does, decrypts
key       CN=POP000002, valid to ${day}: signs Receipts, decrypts
listen `);
    expect(out.replaceAll(/\n {4}/g, ' ')).toContain(`route /
  as4, scope default, to ${at('in')}
  security: signature required, encryption required, From is the certificate's CN, trust 2 anchors (the first ends ${day})
  defaults: window 90d, late 0, key reference+sender, mode eliminate, mismatch refuse, otherSender refuse, uncertain auto, bundle refuse, known pass, resend auto, sbdh flag, wait 25s
  A (from A): window 1d
  B (from B): as the defaults
  C (from C): signature optional, encryption optional, From is not compared with the certificate, outdated sha1 accepted, trust 1 anchor (the first ends ${day})
  D (from D): as the defaults
`);
    const unread = await run(text, '--no-files');
    expect(unread.out).toContain(`key       ${at('own.crt')} (not read): signs Receipts, decrypts`);

    const ran = await run(text, '--json');
    const json = JSON.parse(ran.out) as { effective: { rules: object[] }[] };
    asDocumented(['check', '--json'], ran.code, json);
    const everybody = { signature: 'required', encryption: 'required', party: 'commonName', allow: [], trust: { anchors: 2, revocationLists: 0 } };
    expect(json).toMatchObject({
      endpoint: {
        profile: 'custom', partyIds: ['POP000002'], receivers: ['0088:1', '0088:2'], onlyPartners: false,
        keys: [{ subject: 'CN=POP000002 old', signs: false }, { subject: 'CN=POP000002', signs: true, use: ['sign', 'decrypt'], notAfter: expect.stringContaining(day) as string }],
      },
      effective: [{
        backend: at('in'),
        security: [
          { name: 'defaults', ...everybody }, { name: 'A', ...everybody }, { name: 'B', ...everybody },
          { name: 'C', signature: 'optional', encryption: 'optional', party: 'any', allow: ['sha1'], trust: { anchors: 1 } },
          { name: 'D', ...everybody },
        ],
      }],
    });
    expect(Object.keys(json.effective[0]?.rules[0] ?? {})).not.toContain('verify');
    const bare = await run(text, '--json', '--no-files');
    asDocumented(['check', '--json'], bare.code, JSON.parse(bare.out));
  });

  it('warns of trust anchors that have ended or soon will', async () => {
    keys(own);
    writeFileSync(at('ended.pem'), makeIdentity('Old Root', { now: new Date(systemClock.now() - 2 * DAY), days: 1 }).certificatePem);
    writeFileSync(at('ends.pem'), makeIdentity('Ending Root', { days: 3 }).certificatePem);
    const { code, out } = await run(ENDPOINT.replace('ca.pem', '[ca.pem, ended.pem, ends.pem]'));
    expect(code).toBe(0);
    expect(out).toMatch(/TRUST_EXPIRED \S+:5:19 security\.trust\[1\]: \S+ended\.pem: CN=Old Root ended \d{4}-/);
    expect(out).toMatch(/TRUST_ENDS \S+:5:30 security\.trust\[2\]: \S+ends\.pem: CN=Ending Root ends \d{4}-/);
    expect(out.match(/TRUST_/g)).toHaveLength(2);
  });
});
