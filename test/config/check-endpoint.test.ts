import { createPrivateKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeIdentity, type Identity } from '../../conformance/keys.js';
import { check } from '../../src/cli/check.js';
import { systemClock } from '../../src/clock.js';
import { runCli } from '../support/child.js';
import { identity } from '../support/messages.js';
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
});
