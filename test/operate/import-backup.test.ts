import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { Ledger } from '../../src/ledger/port.js';
import type { LedgerRecord } from '../../src/ledger/record.js';
import { backUp } from '../../src/operate/backup.js';
import { readTallies } from '../../src/operate/read-tallies.js';
import { tallyShelf } from '../../src/ledger/shelves.js';
import { sampleAttempt, sampleClaim, sampleKey } from '../../src/testing/sample.js';
import { built } from '../support/child.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';
import { json, operator } from './operator.js';
import { openTestLedger } from './open-test-ledger.js';

describe.each(['embedded', 'redis'] as const)('import and backup: %s', (engine) => {
  let folder: TempDir;
  let redis: RedisServer | undefined;
  let where: string;
  let configFile: string;
  const file = (name: string): string => join(folder.path, name);
  const cli = (...args: string[]) => operator(configFile)(...args);

  beforeEach(async () => {
    folder = tempDir('import');
    redis = engine === 'redis' ? await startRedis() : undefined;
    where = redis?.url ?? file('ledger');
    configFile = configured('front.yaml', where);
  });
  afterEach(async () => {
    await redis?.close();
    folder.remove();
  });

  const configured = (name: string, at: string): string => {
    const ledger = at.startsWith('redis:') ? { redis: at } : { embedded: at };
    writeFileSync(file(name), stringify({
      role: 'front', listen: '127.0.0.1:0', upstream: 'http://127.0.0.1:9/as4', accessPoint: 'phase4', ledger,
      journal: file('journal'), spool: file('spool'), state: file('state'),
    }));
    return file(name);
  };
  const recordsOf = async (ledger: Ledger): Promise<LedgerRecord[]> => {
    const all: LedgerRecord[] = [];
    for await (const { record } of ledger.iterate()) all.push(record);
    return all.sort((a, b) => (a.key < b.key ? -1 : 1));
  };
  const withOpen = async <T>(work: (ledger: Ledger) => Promise<T>, at = where): Promise<T> => {
    const ledger = await openTestLedger(at);
    try {
      return await work(ledger);
    } finally {
      await ledger.close();
    }
  };

  it('an import that was killed is finished by running it again', async () => {
    const count = 20_000;
    const firstSeen = new Date(Date.now() - 60_000).toISOString();
    writeFileSync(file('ids.jsonl'), Array.from({ length: count }, (_, i) => `${JSON.stringify({ messageId: `m${i}@example.org`, from: 'POP000123', firstSeen })}\n`).join(''));
    const child = spawn(process.execPath, [built('dist/src/cli/main.js'), 'import', file('ids.jsonl'), '--write', '--config', configFile], { stdio: 'ignore' });
    const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
    await withOpen(async (ledger) => {
      while ((await ledger.stats()).records < 500 && child.exitCode === null) await new Promise((resolve) => setImmediate(resolve));
      child.kill('SIGKILL');
      await ended;
      const { records } = await ledger.stats();
      expect(records).toBeGreaterThan(0);
      expect(records).toBeLessThan(count);
    });
    const again = await json<Record<string, number>>(cli('import', file('ids.jsonl'), '--write', '--json'));
    expect(again['fresh']! + again['standing']!).toBe(count);
    expect(again['standing']).toBeGreaterThan(0);
    const third = await json<Record<string, number>>(cli('import', file('ids.jsonl'), '--json'));
    expect(third).toMatchObject({ fresh: 0, standing: count });
  });

  it('never overwrites, and takes an uncertain attempt of a log only where no other line knows better', async () => {
    const key = (name: string): string => sampleKey(name);
    await withOpen(async (ledger) => {
      const claim = sampleClaim(key('standing'), 'a');
      await ledger.claim(claim);
      await ledger.release(sampleAttempt(claim).release('uncertain', { hold: true }));
    });
    const record = { ...(await withOpen(async (ledger) => (await ledger.find(key('standing')))!.record)), state: 'known', decisions: [] };
    const lines = [{ record }, { backup: {} }, { end: {} }, { record: { ...record, key: 5 } }];
    writeFileSync(file('x.jsonl'), lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    expect(await json<object>(cli('import', file('x.jsonl'), '--write', '--json'), 1)).toMatchObject({ fresh: 0, standing: 1, other: 2, bad: 1 });
    expect(await withOpen(async (ledger) => (await ledger.find(key('standing')))?.record.state)).toBe('held');
  });

  it('a log: accepted is known, uncertain stays uncertain, whichever line comes first; others and foreign keys are left', async () => {
    const { duplicateKey } = await import('../../src/policy/key.js');
    const keyOf = (id: string): string => duplicateKey({ protocol: 'as4', reference: id, signed: false, facts: { from: [{ value: 'P' }], to: [] } }, 'reference+sender', 'default');
    const line = (id: string, change: object): string => `${JSON.stringify({ level: 30, time: new Date(Date.now() - 10_000).toISOString(), event: 'exchange', answer: 'first', status: 200, ms: 12.5, node: 'n1', route: '/', messageId: id, key: keyOf(id), from: 'P', to: 'Q', ...change })}\n`;
    writeFileSync(file('as4.log'), [
      line('a', { outcome: 'uncertain', reason: 'reset' }), line('a', { outcome: 'accepted', answer: 'redelivery' }),
      line('b', { outcome: 'uncertain', reason: 'reset' }), line('c', { outcome: 'rejected' }), line('d', { answer: 'replay', firstSeen: new Date(Date.now() - 99_000).toISOString() }),
      line('e', { outcome: 'accepted', key: keyOf('other') }), `${JSON.stringify({ level: 30, event: 'reload' })}\n`, line('f', { event: 'lateOutcome', outcome: 'accepted', answer: undefined }),
    ].join(''));
    expect(await json<object>(cli('import', file('as4.log'), '--write', '--json'), 1)).toMatchObject({ lines: 8, fresh: 4, uncertain: 1, standing: 1, other: 2, bad: 1 });
    await withOpen(async (ledger) => {
      const state = async (id: string) => (await ledger.find(keyOf(id)))?.record;
      expect([(await state('a'))?.state, (await state('d'))?.state, (await state('f'))?.state]).toEqual(['known', 'known', 'known']);
      expect(await state('b')).toMatchObject({ state: 'open', attempts: [{ outcome: 'uncertain', reason: 'reset', node: 'n1' }] });
      expect((await ledger.list('uncertain')).map(({ reference }) => reference)).toEqual(['b']);
    });
  });

  it('a backup made under load is whole, and restores everything that stood', async () => {
    const settleAll = async (ledger: Ledger, name: string, count: number): Promise<void> => {
      await Promise.all(Array.from({ length: count }, async (_, i) => {
        const claim = sampleClaim(sampleKey(`${name} ${i}`), `t${i}`);
        await ledger.claim(claim);
        if (i % 3 > 0) await ledger.settle(sampleAttempt(claim).settle(`${name} ${i}`));
        else if (i % 2 === 0) await ledger.release(sampleAttempt(claim).release('uncertain', { hold: true }));
      }));
    };
    await withOpen(async (ledger) => {
      await settleAll(ledger, 'before', 300);
      await ledger.note({ shelf: tallyShelf(new Date().toISOString().slice(0, 10)), entries: { '00/x/y': JSON.stringify({ partner: 'P', counts: { first: 7 } }) }, keptMs: 86_400_000 });
      const standing = await recordsOf(ledger);
      const load = settleAll(ledger, 'meanwhile', 600);
      const backup = await backUp(ledger, file('backup'));
      await load;
      expect(backup).toMatchObject({ engine, kind: engine === 'redis' ? 'lines' : 'copy' });
      const restoredAt = file('restored');
      if (engine === 'redis') {
        configFile = configured('restored.yaml', restoredAt);
        expect(await json<object>(cli('import', file('backup/ledger.jsonl.gz'), '--write', '--json'))).toMatchObject({ bad: 0, standing: 0 });
      } else {
        mkdirSync(restoredAt);
        copyFileSync(file('backup/data.mdb'), join(restoredAt, 'data.mdb'));
      }
      await withOpen(async (restored) => {
        const found = new Map((await recordsOf(restored)).map((record) => [record.key, record]));
        for (const { key, state, reply, facts } of standing) {
          const record = found.get(key);
          expect(record?.reply).toEqual(reply);
          expect(record?.facts).toEqual(facts);
          expect(record?.state).toBe(state === 'claimed' && engine === 'redis' ? 'open' : state);
        }
        const day = Math.floor(Date.now() / 86_400_000) * 86_400_000;
        expect((await readTallies(restored, day, day + 86_400_000)).find(({ partner }) => partner === 'P')?.counts).toEqual({ first: 7 });
        expect((await restored.list('held')).length).toBeGreaterThanOrEqual(50);
      }, restoredAt);
    });
    const manifest = JSON.parse(readFileSync(file('backup/as4-once-backup.json'), 'utf8')) as { files: { name: string; bytes: number }[] };
    for (const { name, bytes } of manifest.files) expect(readFileSync(file(`backup/${name}`)).length).toBe(bytes);
    if (engine === 'redis') expect(gunzipSync(readFileSync(file('backup/ledger.jsonl.gz'))).toString().trim().split('\n').at(-1)).toMatch(/^\{"end":\{"records":\d+\}\}$/);
  });

  it('a backup that is killed, or cannot be written, is absent, and its leftovers go with the next one', async () => {
    await withOpen(async (ledger) => {
      for (let at = 0; at < 4_000; at += 500) {
        await Promise.all(Array.from({ length: 500 }, async (_, i) => {
          const claim = sampleClaim(sampleKey(`${at} ${i}`), 't');
          await ledger.claim(claim);
          await ledger.settle(sampleAttempt(claim).settle('x'.repeat(200)));
        }));
      }
    });
    const child = spawn(process.execPath, [built('dist/src/cli/main.js'), 'ledger', 'backup', file('backup'), '--config', configFile], { stdio: 'ignore' });
    const ended = new Promise<void>((resolve) => void child.once('exit', () => resolve()));
    const partials = (): string[] => readdirSync(folder.path).filter((name) => name.includes('.partial-'));
    while (partials().length === 0 && child.exitCode === null) await new Promise((resolve) => setImmediate(resolve));
    child.kill('SIGKILL');
    await ended;
    expect(existsSync(file('backup'))).toBe(false);
    expect(partials()).toHaveLength(1);
    expect((await cli('ledger', 'backup', file('backup'))).code).toBe(0);
    expect(partials()).toHaveLength(0);
    expect(existsSync(file('backup/as4-once-backup.json'))).toBe(true);
    writeFileSync(file('blocker'), '');
    const blocked = await cli('ledger', 'backup', file('blocker/backup'));
    expect(blocked.code).toBe(2);
    expect(blocked.stderr).toContain('cannot be used');
  });
});
