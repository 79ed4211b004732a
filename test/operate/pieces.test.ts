import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ACCESS_POINT_NAMES } from '../../src/delivery/access-points.js';
import { Events } from '../../src/events.js';
import { inspectConfig } from '../../src/config/load.js';
import { BypassWatch, readBypass, switchOff, switchOn } from '../../src/operate/bypass.js';
import { initTemplate } from '../../src/operate/init-template.js';
import { linesOf } from '../../src/operate/lines.js';
import { PartyTypes } from '../../src/operate/party-types.js';
import { verdict } from '../../src/operate/verdict.js';
import { zip } from '../../src/operate/zip.js';
import type { LedgerRecord } from '../../src/ledger/record.js';
import { typicalRecord } from '../../src/config/projection.js';
import { simulatedClock } from '../support/simulated-clock.js';
import { tempDir } from '../support/temp-dir.js';
import { operator, program } from './operator.js';

describe('init', () => {
  it.each(ACCESS_POINT_NAMES)('writes a file for %s that loads as it stands, with both ledgers, in shadow', (accessPoint) => {
    for (const redis of [undefined, 'redis://127.0.0.1:6379']) {
      const text = initTemplate({ schema: 'file:///s.json', accessPoint, upstream: 'http://127.0.0.1:8081/as4', listen: '127.0.0.1:8080', ...(redis === undefined ? {} : { redis }) });
      const { config } = inspectConfig({ text });
      expect(config.routes[0]).toMatchObject({ accessPoint, rules: { defaults: { mode: 'shadow' } } });
      expect(config.ledger.kind).toBe(redis === undefined ? 'embedded' : 'redis');
    }
  });

  it('names its schema for editors, and a schema that is there', async () => {
    const { stdout } = await operator('')('init', '--access-point', 'phase4');
    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(stdout) ?? [];
    expect((JSON.parse(readFileSync(new URL(schema), 'utf8')) as { title: string }).title).toBe('as4-once configuration');
  });

  it('what is commented out loads too, once the comment sign is taken away', () => {
    const text = initTemplate({ schema: 'file:///s.json', accessPoint: 'phase4', upstream: 'http://127.0.0.1:8081/as4', listen: '127.0.0.1:8080' })
      .replace(/^( *)# (remembers|persistent|notReached|strict|maxBytes|keepHeader|file|partners|  - match|    window):?/gm, (line, space: string, key: string) => line.replace(`${space}# ${key}`, `${space}${key}`))
      .replace(/^#( {3}- match)/m, ' $1').replace(/^#( {5}window)/m, ' $1');
    const { config } = inspectConfig({ text });
    expect(config.routes[0]?.upstream).toMatchObject({ remembers: 600_000, persistent: false, notReached: [429, 503] });
    expect(config.routes[0]?.rules).toMatchObject({ defaults: { keepHeader: 30 * 86_400_000 }, partners: [{ rule: { window: 180 * 86_400_000 } }] });
    expect(config.ledger).toMatchObject({ strict: true, maxBytes: 20 * 1024 ** 3 });
  });
});

describe('zip', () => {
  it('is what Python and the standard say, for empty, short, long and incompressible files', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'as4-once-zip-'));
    try {
      const noise = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 2_654_435_761) >>> 13 & 0xff));
      const files = [['empty', Buffer.alloc(0)], ['a/short.txt', Buffer.from('x')], ['a/long.txt', Buffer.alloc(200_000, 'as4-once ')], ['noise', noise], ['ü.txt', Buffer.from('ä')]] as const;
      writeFileSync(join(folder, 'made.zip'), zip(files.map(([name, bytes]) => ({ name, bytes })), new Date('2026-11-30T13:14:16Z')));
      await program('python3', ['-m', 'zipfile', '-t', 'made.zip'], folder);
      await program('python3', ['-m', 'zipfile', '-e', 'made.zip', 'out'], folder);
      for (const [name, bytes] of files) expect(readFileSync(join(folder, 'out', name)).equals(bytes)).toBe(true);
      const told = await program('python3', ['-c', 'import zipfile\nfor i in zipfile.ZipFile("made.zip").infolist(): print(i.filename, i.date_time, oct(i.external_attr >> 16), i.compress_type, i.create_system)'], folder);
      expect(told.split('\n')[2]).toBe('a/long.txt (2026, 11, 30, 13, 14, 16) 0o100644 8 3');
      expect(told.split('\n')[0]).toContain('0o100644 0 3');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('bypass', () => {
  it('ends by itself, between two looks too, and says so once', async () => {
    const folder = tempDir('bypass');
    const clock = simulatedClock();
    const events = new Events();
    const told: boolean[] = [];
    events.on('bypass', ({ on }) => told.push(on));
    const watch = new BypassWatch(folder.path, clock, events);
    const since = clock.now();
    await switchOn(folder.path, { since, until: since + 60_000, who: 'anna', reason: 'redis moves' });
    expect(watch.current).toBeUndefined();
    watch.look();
    watch.look();
    expect(watch.current).toMatchObject({ reason: 'redis moves' });
    await clock.advance(60_000);
    expect(watch.current).toBeUndefined();
    expect(readBypass(folder.path, clock.now())).toBeUndefined();
    watch.look();
    expect(told).toEqual([true, false]);
    folder.remove();
  });

  it('a server that starts meanwhile follows at once; off is off; nothing lasts longer than a day', async () => {
    const folder = tempDir('bypass');
    const clock = simulatedClock();
    const since = clock.now();
    await switchOn(folder.path, { since, until: since + 60_000, who: 'anna', reason: 'r' });
    expect(new BypassWatch(folder.path, clock, new Events()).current).toBeDefined();
    await switchOff(folder.path);
    await switchOff(folder.path);
    expect(new BypassWatch(folder.path, clock, new Events()).current).toBeUndefined();
    await expect(switchOn(folder.path, { since, until: since + 90_000_000, who: 'a', reason: 'r' })).rejects.toThrow('a day');
    writeFileSync(join(folder.path, 'bypass.json'), JSON.stringify({ since, until: since + 9e10, who: 'a', reason: 'r' }));
    expect(readBypass(folder.path, since)).toBeUndefined();
    writeFileSync(join(folder.path, 'bypass.json'), '{"until": 99999999999999');
    expect(readBypass(folder.path, since)).toBeUndefined();
    folder.remove();
  });
});

describe('a verdict', () => {
  const settled = typicalRecord(100);
  const at = settled.born;
  const told = (change: Partial<LedgerRecord>): string => {
    const { level, text } = verdict({ ...settled, ...change }, at + 60_000);
    return `${level}: ${text}`;
  };

  it('of a storm names what to compare', () => {
    expect(told({ copies: 7, lastSeen: at + 60 * 60_000 })).toMatch(/^look: 7 copies in 60 min after a Receipt: the sender does not accept it\. Compare its view of signer serial 0+/);
    expect(told({ copies: 2, lastSeen: at + 5_000 })).toMatch(/^fine: Accepted, and 2 copies answered/);
    expect(told({})).toMatch(/^fine: Accepted once/);
  });

  it('of what waits says for whom', () => {
    const attempt = { ...settled.attempts[0]!, outcome: 'uncertain' as const, reason: 'reset' };
    const { reply: _, ...bare } = settled;
    const of = (change: Partial<LedgerRecord>): string => {
      const { level, text } = verdict({ ...bare, attempts: [attempt], firstUncertain: at, ...change }, at + 60_000);
      return `${level}: ${text}`;
    };
    expect(of({ state: 'held' })).toMatch(/^act: Held: the attempt of .* at gateway-1 ended without a certain outcome \(reset\)/);
    expect(of({ state: 'open' })).toMatch(/^look: No certain outcome/);
    expect(of({ state: 'open', cleared: true })).toMatch(/^fine: Released/);
    expect(of({ state: 'claimed', leaseUntil: at + 90_000 })).toMatch(/^fine: In work for 1 min/);
    expect(of({ state: 'claimed', leaseUntil: at + 1 })).toMatch(/^look: .*has not renewed/);
    expect(of({ state: 'known', attempts: [] })).toMatch(/^fine: Accepted elsewhere/);
    const behind = { ...attempt, outcome: 'rejected' as const, reason: 'the same content came as a@b, whose outcome nobody knows' };
    const { firstUncertain: __, ...rejected } = { ...bare, firstUncertain: 0, state: 'open' as const, attempts: [behind] };
    expect(verdict(rejected, at)).toMatchObject({ level: 'look', text: expect.stringMatching(/^Not delivered: the same content came as a@b, whose outcome nobody knows\. Look at that message first/) as string });
  });
});

describe('reading an import', () => {
  it('takes lines of any length up to its bound, LF or CRLF, a last one without its end, and gzip', async () => {
    const folder = tempDir('lines');
    const path = join(folder.path, 'x');
    const long = 'y'.repeat(700_000);
    writeFileSync(path, `a\r\n\n  b \n${long}\nlast`);
    const read = async (file: string): Promise<unknown[]> => {
      const found: unknown[] = [];
      for await (const { number, text } of linesOf(file)) found.push([number, text.length > 10 ? text.length : text]);
      return found;
    };
    expect(await read(path)).toEqual([[1, 'a'], [3, 'b'], [4, 700_000], [5, 'last']]);
    await program('gzip', ['-k', 'x'], folder.path);
    expect(await read(`${path}.gz`)).toEqual([[1, 'a'], [3, 'b'], [4, 700_000], [5, 'last']]);
    writeFileSync(path, 'z'.repeat(9 * 1024 * 1024));
    await expect(read(path)).rejects.toThrow('line 1 is longer');
    await expect(read(join(folder.path, 'none'))).rejects.toThrow('ENOENT');
    writeFileSync(`${path}.gz`, readFileSync(`${path}.gz`).subarray(0, 400));
    await expect(read(`${path}.gz`)).rejects.toThrow('cannot be read');
    folder.remove();
  });

  it('finds the type of a party by command, by the ledger, by its name, in this order, and says how', () => {
    const learnt = new Map([['ACME', 'urn:learnt']]);
    const types = new PartyTypes(undefined, learnt);
    expect(types.typed({ value: 'ACME' })).toEqual({ value: 'ACME', type: 'urn:learnt' });
    expect(types.typed({ value: 'POP000123' })).toEqual({ value: 'POP000123', type: 'urn:fdc:peppol.eu:2017:identifiers:ap' });
    expect(types.typed({ value: 'other' })).toEqual({ value: 'other' });
    expect(types.typed({ value: 'ACME', type: 'urn:given' })).toEqual({ value: 'ACME', type: 'urn:given' });
    expect(types.typed({ value: 'ACME', type: '' })).toEqual({ value: 'ACME' });
    expect([...types.assumed.values()].map(({ why }) => why.slice(0, 6))).toEqual(['as the', 'as Pep', 'none k']);
    expect(new PartyTypes('urn:x', learnt).typed({ value: 'ACME' })).toEqual({ value: 'ACME', type: 'urn:x' });
  });
});
