import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { check } from '../../src/cli/check.js';
import { parseRate } from '../../src/config/projection.js';
import { As4OnceError } from '../../src/errors.js';
import { SMALLEST } from './smallest.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'as4-once-check-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

async function run(text: string, ...args: readonly string[]): Promise<{ code: number; out: string; err: string; file: string }> {
  const file = join(folder, 'as4-once.yaml');
  writeFileSync(file, text);
  const result = { code: -1, out: '', err: '', file };
  const io = { out: (t: string) => void (result.out += t), err: (t: string) => void (result.err += t), tty: false, env: { TOKEN: 'canary-5512' } };
  result.code = await check(['--config', file, ...args], io);
  return result;
}

describe('as4-once check', () => {
  it('prints what is in force for the smallest file', async () => {
    const { code, out, err } = await run(SMALLEST);
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('is in order');
    expect(out).toContain('listen    127.0.0.1:8080');
    expect(out).toContain(`embedded, ${join(folder, 'data')}`);
    expect(out).toContain('access point phase4: recognises a second copy itself for 10m, until its restart;\n    not reached: 429, 503; calls a copy EBMS:4001');
    expect(out).toContain('window 90d, late 0, key reference+sender, mode eliminate');
    expect(out).toContain('POP000123 (from POP000123): window 180d');
    expect(out).toContain('No warnings.');
    expect(out).not.toMatch(/undefined|\[object/);
    expect(out).not.toContain('\u001b');
  });

  it('prints what upstream changes of the preset', async () => {
    const { out } = await run(SMALLEST.replace(/^upstream.*$/m, 'upstream: { url: "http://127.0.0.1:8081/as4", remembers: 1h, persistent: true, notReached: [503] }'));
    expect(out).toContain('recognises a second copy itself for 1h, after its restart too;\n    not reached: 503;');
  });

  it('prints warnings, which --strict takes for a failure', async () => {
    const text = SMALLEST.replace('window: 90d', 'window: 1m');
    const lax = await run(text);
    expect(lax.code).toBe(0);
    expect(lax.out).toContain(`WINDOW_SHORT ${lax.file}:6:21 defaults.window: should be at least twice times.patience (10m)`);
    expect((await run(text, '--strict')).code).toBe(1);
    expect((await run(SMALLEST, '--strict')).code).toBe(0);
  });

  it('names every problem of a bad file, and exits 2', async () => {
    const { code, out, err, file } = await run(SMALLEST.replace('front', 'back').replace('90d', '90'));
    expect([code, out]).toEqual([2, '']);
    expect(err.split('\n')).toEqual([
      `${file}:1:7 role: must be one of front, endpoint`,
      expect.stringContaining(`${file}:6:21 defaults.window: "90" is not a duration`),
      '',
    ]);
    const json = await run(SMALLEST.replace('front', 'back'), '--json');
    expect(json.code).toBe(2);
    expect(JSON.parse(json.out)).toEqual({ file, ok: false, problems: [`${file}:1:7 role: must be one of front, endpoint`] });
  });

  it('speaks JSON, with every effective rule and no secret', async () => {
    const { code, out } = await run(`${SMALLEST}admin: { listen: 127.0.0.1:9080, token: "\${TOKEN}" }\n`, '--json', '--rate', '1000/day');
    expect(code).toBe(0);
    expect(out).not.toContain('canary-5512');
    expect(JSON.parse(out)).toMatchObject({
      ok: true,
      digest: expect.stringMatching(/^[0-9a-f]{64}$/) as unknown,
      effective: [{ name: '/', protocol: 'as4', rules: [{ name: 'defaults', window: 7_776_000_000 }, { name: 'POP000123', partner: 'POP000123', window: 15_552_000_000 }] }],
      warnings: [],
      config: { admin: { token: '***' } },
      projection: { records: 90_000 },
    });
  });

  it('projects the size of the ledger from rate and window', async () => {
    const size = async (text: string, rate: string): Promise<{ records: number; bytes: number }> =>
      (JSON.parse((await run(text, '--json', '--rate', rate)).out) as { projection: { records: number; bytes: number } }).projection;
    const base = await size(SMALLEST, '100000/day');
    expect(base.records).toBe(9_000_000);
    expect((await size(SMALLEST, '200000/day')).bytes).toBe(base.bytes * 2);
    expect((await size(SMALLEST.replace('{ window: 90d }', '{ window: 90d, late: 90d }'), '100000/day')).records).toBe(18_000_000);
    expect((await run(SMALLEST, '--rate', '100000/day')).out).toMatch(/about 9,000,000 records of .*KiB: .* GiB\./);
  });

  it('knows rates', () => {
    expect(parseRate('100000/day')).toEqual({ messages: 100_000, per: 86_400_000 });
    expect(parseRate('100,000/d')).toEqual({ messages: 100_000, per: 86_400_000 });
    expect(parseRate('2/s')).toEqual({ messages: 2, per: 1_000 });
    expect(['', '5', '5/', '/day', '5/week', '5/constructor', '-5/day'].map(parseRate)).toEqual(Array.from({ length: 7 }));
  });

  it('says of what is no YAML at all the first places, and how many more there are', async () => {
    // twenty kilobytes of noise were answered with a line of half a kilobyte for each of hundreds of places
    const noise = Array.from({ length: 200 }, (_, i) => `\t- [x${i}: "${'y'.repeat(300)}\n`).join('');
    const { code, err } = await run(noise);
    expect(code).toBe(2);
    const lines = err.trim().split('\n');
    expect(lines.length).toBeLessThanOrEqual(6);
    for (const line of lines) expect(line.length).toBeLessThan(400);
    const many = await run('a: [\n}'.repeat(50));
    expect(many.err.trim().split('\n')).toHaveLength(6);
    expect(many.err).toMatch(/and \d+ more problems; is it YAML at all\?/);
  });

  it('reads the certificates and keys that serve will need, unless it is told not to', async () => {
    // check found such a file in order, and serve then ended with "cannot be read"
    const front = `${SMALLEST}security: { trust: ./no-such-ca.pem }\n`.replace('window: 90d }', 'window: 90d, verify: signature }');
    const missing = await run(front);
    expect([missing.code, missing.out]).toEqual([2, '']);
    expect(missing.err).toMatch(/no-such-ca\.pem cannot be read \(ENOENT\)/);
    expect((await run(front, '--no-files')).code).toBe(0);
    const endpoint = 'role: endpoint\nlisten: 127.0.0.1:0\nledger: { embedded: ./data }\nendpoint:\n  profile: edelivery\n'
      + '  backend: { directory: ./in }\n  keys: [{ certificate: ./ap.crt.pem, key: ./ap.key.pem }]\nsecurity: { trust: ./ca.pem }\n';
    expect(await run(endpoint)).toMatchObject({ code: 2, err: expect.stringMatching(/ap\.\w+\.pem cannot be read/) });
  });

  it('refuses a wrong command line', async () => {
    const io = { out: () => undefined, err: () => undefined, tty: false, env: {} };
    await expect(check([], io)).rejects.toThrow(As4OnceError);
    await expect(check(['--config', 'x', '--rate', 'many'], io)).rejects.toThrow(/--rate many is not a rate/);
    await expect(check(['--confg', 'x'], io)).rejects.toThrow(/confg/);
  });

  it('colours only for people, and never with NO_COLOR', async () => {
    writeFileSync(join(folder, 'c.yaml'), SMALLEST);
    const seen = async (tty: boolean, env: Record<string, string>): Promise<string> => {
      let out = '';
      await check(['--config', join(folder, 'c.yaml')], { out: (t) => void (out += t), err: () => undefined, tty, env });
      return out;
    };
    expect(await seen(true, {})).toContain('\u001b[1m');
    expect(await seen(true, { NO_COLOR: '1' })).not.toContain('\u001b');
  });

  it('shows the first of many partners, and how many more', async () => {
    const many = Array.from({ length: 60 }, (_, i) => `  - { match: { from: "P${i}" }, window: 1d }\n`).join('');
    expect((await run(SMALLEST + many)).out).toContain('… and 11 partners more (--json shows all)');
  });
});
