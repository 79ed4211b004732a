import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Usage } from '../../conformance/exit.js';
import { initCommand } from '../../conformance/init.js';
import { makeIdentity } from '../../conformance/keys.js';
import { loadTarget } from '../../conformance/target/load.js';

describe('the target file', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'as4-once-target-'));
    const [one, two] = [makeIdentity('one'), makeIdentity('two')];
    writeFileSync(join(folder, 'one.key'), one.keyPem);
    writeFileSync(join(folder, 'one.crt'), one.certificatePem);
    writeFileSync(join(folder, 'two.crt'), two.certificatePem);
    writeFileSync(join(folder, 'junk'), 'no certificate');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const write = (text: string): string => {
    const path = join(folder, 'target.yaml');
    writeFileSync(path, text);
    return path;
  };
  const BASE = 'name: n\nurl: http://127.0.0.1:1/as4\nprofile: custom\nparties: { from: { id: a }, to: { id: b } }\n';

  test('the smallest one: nothing is declared', () => {
    const target = loadTarget(write(BASE));
    expect([...target.capabilities]).toEqual([]);
    expect(target.times.quiet).toBe(2_000);
  });

  test('what init writes can be loaded, and declares what it says', async () => {
    const path = join(folder, 'made', 'target.yaml');
    await initCommand([path, '--profile', 'peppol'], { write: () => undefined });
    const target = loadTarget(path);
    expect(target.agreement.from).toMatchObject({ id: 'POP000001', type: 'urn:fdc:peppol.eu:2017:identifiers:ap' });
    expect([...target.capabilities].toSorted()).toEqual([
      'bare',
      'compressed',
      'delivery',
      'large',
      'many-payloads',
      'other-sender',
      'ping',
      'signature-required',
      'signing',
      'uncompressed',
    ]);
    await expect(initCommand([path], { write: () => undefined })).rejects.toThrow(/there already/);
  });

  test('units, hooks, claims and a second address', () => {
    const target = loadTarget(
      write(
        `${BASE}urls: ["http://127.0.0.1:2/as4"]
delivery: { http: { listen: "127.0.0.1:0" } }
hooks: { restart: [true], storeDown: [true], storeUp: [true] }
times: { quiet: 500ms, answer: 1.5m }
accepts: { largest: 2 MiB }
claims: { window: 10s, duplicate: identical }
`.replaceAll('[true]', '["true"]'),
      ),
    );
    expect(target.times).toMatchObject({ quiet: 500, answer: 90_000 });
    expect(target.largest).toBe(2 * 1024 * 1024);
    expect([...target.capabilities].toSorted()).toEqual([
      'backend-fail',
      'backend-slow',
      'delivery',
      'large',
      'restart',
      'second-url',
      'store',
      'window',
    ]);
  });

  test('a window that nobody waits for needs a clock', () => {
    expect(loadTarget(write(`${BASE}claims: { window: 7d }\n`)).capabilities.has('window')).toBe(false);
    expect(
      loadTarget(write(`${BASE}claims: { window: 7d }\nhooks: { clock: ["true"] }\n`)).capabilities.has('window'),
    ).toBe(true);
  });

  test.each([
    ['a field that does not exist', `${BASE}surprise: 1\n`, /target\.yaml:5: surprise: /],
    ['a wrong duration', `${BASE}times:\n  quiet: 2 weeks\n`, /target\.yaml:6: times\.quiet: .*duration/],
    ['a wrong address', BASE.replace('http:', 'ftp:'), /target\.yaml:2: url: .*http/],
    ['a wrong profile', BASE.replace('custom', 'pepol'), /target\.yaml:3: profile/],
    ['a missing party', BASE.replace('to: { id: b }', 'to: {}'), /target\.yaml:4: parties\.to\.id/],
    ['broken YAML', `${BASE}keys: { sign: [\n`, /target\.yaml:\d+: /],
    ['a field twice', `${BASE}name: again\n`, /target\.yaml:5: .*unique/],
    [
      'a key that does not fit',
      `${BASE}keys:\n  sign: { key: one.key, cert: two.crt }\n`,
      /target\.yaml:6: keys\.sign: .*does not belong/,
    ],
    [
      'a file that is not there',
      `${BASE}keys:\n  sign: { key: none, cert: one.crt }\n`,
      /target\.yaml:6: keys\.sign: ENOENT/,
    ],
    [
      'a certificate that is none',
      `${BASE}keys:\n  encryptFor: junk\n`,
      /target\.yaml:6: keys\.encryptFor: junk is no certificate/,
    ],
    [
      'half a second sender',
      `${BASE}keys:\n  otherSender: { party: c, key: one.key }\n`,
      /target\.yaml:6: keys\.otherSender: key and cert/,
    ],
  ])('%s is refused with file, line and path', (_what, text, message) => {
    const path = write(text);
    expect(() => loadTarget(path)).toThrow(Usage);
    expect(() => loadTarget(path)).toThrow(message);
  });
});
