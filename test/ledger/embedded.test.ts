import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Events } from '../../src/events.js';
import { refusedFileSystem } from '../../src/ledger/embedded/file-system.js';
import { lmdbLedger, type LmdbOptions } from '../../src/ledger/embedded/index.js';
import { LedgerClock } from '../../src/ledger/embedded/ledger-clock.js';
import { Store as LmdbStore, type Store } from '../../src/ledger/embedded/store.js';
import { asLedgerError, writeWithin } from '../../src/ledger/embedded/writes.js';
import type { Ledger } from '../../src/ledger/port.js';
import { sampleAttempt, sampleClaim, sampleKey, sampleReply } from '../../src/testing/index.js';
import { simulatedClock } from '../support/simulated-clock.js';
import { tempDir } from '../support/temp-dir.js';
import { startLedgerProcess, type LedgerProcess } from './ledger-process.js';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

function folder(): string {
  const made = tempDir('lmdb');
  undo.push(() => made.remove());
  return made.path;
}

async function opened(options: LmdbOptions): Promise<Ledger> {
  const ledger = await lmdbLedger(options);
  undo.push(() => ledger.close());
  return ledger;
}

async function started(path: string, commandTimeout?: number): Promise<LedgerProcess> {
  const child = await startLedgerProcess({ engine: 'embedded', options: { path, ...(commandTimeout === undefined ? {} : { commandTimeout }) } });
  undo.push(() => child.close());
  return child;
}

describe('the embedded ledger across processes', () => {
  it('grants each of many keys to one of two processes', async () => {
    const path = folder();
    const [a, b] = [await started(path), await started(path)];
    const keys = Array.from({ length: 300 }, (_, i) => sampleKey(`key ${i}`));
    const claim = (process: LedgerProcess, name: string) => Promise.all(keys.map((key) => process.ledger.claim(sampleClaim(key, `${name} ${key}`))));
    const [fromA, fromB] = await Promise.all([claim(a, 'a'), claim(b, 'b')]);
    for (const [i] of keys.entries()) {
      expect(new Set([fromA[i]?.kind, fromB[i]?.kind])).toEqual(new Set(['claimed', 'inFlight']));
      expect(fromA[i]?.record.token).toBe(fromB[i]?.record.token);
    }
  });

  it('lets a claim lapse at once whose process was killed, and keeps what that process had written', async () => {
    const path = folder();
    const ledger = await opened({ path });
    const child = await started(path);
    const claim = sampleClaim(sampleKey('killed'), 'a', { uncertain: 'redeliver' });
    const done = sampleClaim(sampleKey('done'), 'a');
    await child.ledger.claim(claim);
    await child.ledger.claim(done);
    await child.ledger.settle(sampleAttempt(done).settle('one'));
    expect((await ledger.claim({ ...claim, token: 'b' })).kind).toBe('inFlight');
    await child.kill();
    const answer = await ledger.claim({ ...claim, token: 'c' });
    expect(answer.kind === 'claimed' && answer.mark).toBe('redelivery');
    expect(answer.record.attempts[0]?.reason).toBe('owner died');
    expect((await ledger.claim({ ...done, token: 'b' })).record.reply?.receiptId).toBe('one@receipt');
  });

  it('keeps every claim that was answered before a SIGKILL amid many', async () => {
    const path = folder();
    const child = await started(path);
    const granted: string[] = [];
    const keys = Array.from({ length: 2_000 }, (_, i) => sampleKey(`storm ${i}`));
    const all = keys.map((key) => child.ledger.claim(sampleClaim(key, key)).then(({ record }) => granted.push(record.key), () => undefined));
    await Promise.race(all.slice(200));
    await child.kill();
    await Promise.all(all);
    const ledger = await opened({ path });
    for (const key of granted) expect((await ledger.find(key))?.record.token).toBe(key);
    expect(granted.length).toBeGreaterThan(0);
  });

  it('does not take over from a process that only stands still', async () => {
    const path = folder();
    const ledger = await opened({ path });
    const child = await started(path);
    const claim = sampleClaim(sampleKey('stopped'), 'a');
    await child.ledger.claim(claim);
    child.pause();
    expect((await ledger.claim({ ...claim, token: 'b' })).kind).toBe('inFlight');
    child.resume();
    expect((await child.ledger.settle(sampleAttempt(claim).settle('one'))).kind).toBe('ok');
  });

  it('is down, not stuck, while another process stands still with the lock, and goes on when that one is killed', async () => {
    // SIGSTOP at the wrong moment leaves LMDB's lock with a process that does nothing. A write that was given up meanwhile
    // must not happen later behind the back of whoever was told that it did not.
    const path = folder();
    const ledger = await opened({ path, commandTimeout: 400 });
    const done = sampleClaim(sampleKey('done'), 'a');
    await ledger.claim(done);
    await ledger.settle(sampleAttempt(done).settle('one'));
    const store = new URL('../../dist/src/ledger/embedded/store.js', import.meta.url).href;
    const child = spawn(process.execPath, ['--input-type=module', '-e', `
      import { writeSync } from 'node:fs';
      import { Store } from ${JSON.stringify(store)};
      await new Store(${JSON.stringify(path)}).write(() => { writeSync(1, 'holding'); for (;;); });
    `], { stdio: ['ignore', 'pipe', 'inherit'] });
    undo.push(() => child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    child.kill('SIGSTOP');
    const claim = sampleClaim(sampleKey('blocked'), 'a');
    await expect(ledger.claim(claim)).rejects.toThrow('LEDGER_DOWN');
    expect((await ledger.claim({ ...done, token: 'b' })).kind).toBe('settled');
    expect(await ledger.find(claim.key)).toBe(undefined);
    child.kill('SIGKILL');
    await once(child, 'exit');
    const answer = await ledger.claim({ ...claim, token: 'b' }).catch(() => ledger.claim({ ...claim, token: 'b' }));
    expect(answer.record.token).toBe('b');
    expect(answer.record.copies).toBe(0);
  });

  it('wakes who waits in another process', async () => {
    const path = folder();
    const ledger = await opened({ path });
    const child = await started(path);
    const claim = sampleClaim(sampleKey('woken'), 'a');
    await ledger.claim(claim);
    const { woken } = await child.watched(claim.key);
    await ledger.settle(sampleAttempt(claim).settle('one'));
    await woken;
    expect((await child.ledger.find(claim.key))?.record.state).toBe('settled');
  });

  it('is the same ledger after a restart: id, settles, records and clock', async () => {
    const path = folder();
    const clock = simulatedClock();
    const first = await lmdbLedger({ path, clock });
    const claim = sampleClaim(sampleKey('kept'), 'a');
    await first.claim(claim);
    await first.claim({ ...claim, token: 'b' });
    await first.settle(sampleAttempt(claim).settle('one'));
    const before = await first.meta();
    await first.close();
    // the machine's clock was set back by an hour while nobody ran
    const second = await opened({ path, clock: simulatedClock(clock.now() - 3_600_000) });
    expect(await second.meta()).toEqual(before);
    const found = await second.find(claim.key);
    expect(found?.record.copies).toBe(1);
    expect(found?.now).toBeGreaterThanOrEqual(clock.now() - 1_000);
  });
});

describe('law 8 on the embedded ledger', () => {
  it('waits one lease after the machine stood still, so that living owners come to renew', async () => {
    const clock = simulatedClock();
    const path = folder();
    const ledger = await opened({ path, clock });
    const claim = sampleClaim(sampleKey('slept'), 'a', { leaseMs: 20_000, uncertain: 'redeliver' });
    await clock.advance(60_000);
    await ledger.claim(claim);
    clock.setWall(clock.now() + 3_600_000);
    expect((await ledger.claim({ ...claim, token: 'b' })).kind).toBe('inFlight');
    await clock.advance(20_000);
    expect((await ledger.claim({ ...claim, token: 'c' })).kind).toBe('claimed');
  });

  it('judges at once for an operator\'s command: the machine has been up long enough', async () => {
    const clock = simulatedClock();
    const path = folder();
    const ledger = await opened({ path, clock });
    await ledger.claim(sampleClaim(sampleKey('lapsed'), 'a', { leaseMs: 1_000 }));
    clock.setWall(clock.now() + 3_000);
    const command = { key: sampleKey('lapsed'), decision: { what: 'release' as const, who: 'o', when: 0, reason: 'r' }, force: false };
    expect((await (await opened({ path, clock })).operatorRelease(command)).kind).toBe('live');
    expect((await (await opened({ path, clock, oneShot: true })).operatorRelease(command)).kind).toBe('ok');
  });
});

describe('the embedded ledger\'s clock', () => {
  it('neither runs backwards nor stands still when the wall clock is set back', async () => {
    const clock = simulatedClock(10_000_000);
    const time = new LedgerClock(clock, () => undefined);
    clock.setWall(4_000_000);
    const after = time.now();
    expect(after).toBe(10_000_000);
    await clock.advance(5_000);
    expect(time.now()).toBe(10_005_000);
    expect(time.now(20_000_000)).toBe(20_000_000);
    await clock.advance(1_000);
    expect(time.now()).toBe(20_001_000);
  });
});

describe('room for the embedded ledger', () => {
  it('listens to the reason of a write that fails after it was given up', async () => {
    // A commit failed on a full disk after its command had timed out: nobody held LMDB's own reason, and Node ended the process.
    let fail: (error: Error) => void = () => undefined;
    const store = { write: () => new Promise((_, reject) => (fail = reject)) } as unknown as Store;
    await expect(writeWithin(store, 1, () => undefined)).rejects.toThrow('LEDGER_DOWN');
    const unheard: unknown[] = [];
    const hear = (error: unknown): void => void unheard.push(error);
    process.on('unhandledRejection', hear);
    const failed = Object.assign(new Error('Commit failed'), { commitError: Promise.reject(new Error('No space left on device')) });
    fail(failed);
    await new Promise((resolve) => setTimeout(resolve, 20));
    process.off('unhandledRejection', hear);
    expect(unheard).toEqual([]);
    expect((await asLedgerError(failed)).message).toContain('LEDGER_FULL');
  });

  it('runs out at maxBytes: no new claims, but settles and replays go on', async () => {
    const clock = simulatedClock();
    const ledger = await opened({ path: folder(), clock, maxBytes: 120_000 });
    const claims = Array.from({ length: 300 }, (_, i) => sampleClaim(sampleKey(`n ${i}`), 'a'));
    let refused = 0;
    for (const claim of claims) {
      await clock.advance(1_001);
      await ledger.claim(claim).catch((error: Error) => {
        expect(error.message).toContain('LEDGER_FULL');
        refused += 1;
      });
    }
    expect(refused).toBeGreaterThan(100);
    const [first] = claims;
    if (first === undefined) throw new Error('no claim');
    expect((await ledger.settle(sampleAttempt(first).settle('one'))).kind).toBe('ok');
    expect((await ledger.claim({ ...first, token: 'b' })).kind).toBe('settled');
  });

  const mounted = mountSmall();
  it.skipIf(mounted === undefined)('runs out with its disk: 503, nothing half-written, and settles still fit (needs a mount of its own)', async () => {
    const path = join(mounted ?? '', 'ledger');
    const clock = simulatedClock();
    const ledger = await opened({ path, clock, commandTimeout: 30_000 });
    const settled: string[] = [];
    let full: unknown;
    const last: ReturnType<typeof sampleClaim>[] = [];
    for (let i = 0; full === undefined && i < 60_000; i += 50) {
      await clock.advance(1_001);
      await Promise.all(Array.from({ length: 50 }, async (_, n) => {
        const claim = sampleClaim(sampleKey(`disk ${i + n}`), 'a', { reference: 'x'.repeat(2_000) });
        try {
          await ledger.claim(claim);
          last.push(claim);
          settled.push(claim.key);
        } catch (error) {
          full = error;
        }
      }));
    }
    expect(String(full)).toContain('LEDGER_FULL');
    for (const claim of last.slice(-50)) expect((await ledger.settle(sampleAttempt(claim).settle('one'))).kind).toBe('ok');
    // and once the rest of the disk is taken by somebody else, a settle says so instead of lying
    mkdirSync(join(mounted ?? '', 'other'));
    try {
      for (let i = 0; ; i += 1) writeFileSync(join(mounted ?? '', 'other', String(i)), Buffer.alloc(65_536));
    } catch {
      // full to the last block
    }
    const large = { ...sampleReply('large'), deflated: new Uint8Array(20_000).fill(7) };
    const results = await Promise.allSettled(last.slice(0, 300).map((claim) => ledger.settle({ ...sampleAttempt(claim).settle('one'), reply: large })));
    const refusals = results.filter(({ status }) => status === 'rejected');
    expect(refusals.length).toBeGreaterThan(0);
    for (const refusal of refusals) expect(String((refusal as PromiseRejectedResult).reason)).toContain('LEDGER_FULL');
    for (const key of settled) expect((await ledger.find(key))?.record.key).toBe(key);
  });

  it('reports a write that is refused at once, and leaves no timer behind to end the process later', async () => {
    // A write after the close was thrown, not rejected: the timer of its time limit went off with nobody listening.
    const store = new LmdbStore(folder());
    await store.close();
    const unheard: unknown[] = [];
    const hear = (error: unknown): void => void unheard.push(error);
    process.on('unhandledRejection', hear);
    await expect(writeWithin(store, 10, () => undefined)).rejects.toThrow('LEDGER_DOWN');
    await new Promise((resolve) => setTimeout(resolve, 50));
    process.off('unhandledRejection', hear);
    expect(unheard).toEqual([]);
  });

  it('is swept: what may be forgotten goes, in small steps, and nothing else', async () => {
    const clock = simulatedClock();
    const ledger = await opened({ path: folder(), clock });
    const keys = Array.from({ length: 1_200 }, (_, i) => sampleKey(`old ${i}`));
    await Promise.all(keys.map((key) => ledger.claim(sampleClaim(key, 'a', { windowMs: 1_000, leaseMs: 1_000, patienceMs: 1_000 }))));
    await ledger.claim(sampleClaim(sampleKey('stays'), 'a'));
    await clock.advance(10_000);
    expect((await ledger.stats()).records).toBeGreaterThan(1_000);
    while ((await ledger.stats()).records > 1) await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await ledger.find(sampleKey('stays')))?.record.key).toBe(sampleKey('stays'));
    expect((await ledger.list('inFlight')).length).toBe(1);
  });
});

describe('where the embedded ledger may lie', () => {
  it('refuses network and user space file systems by name', () => {
    expect([0x6969, 0x517b, 0xff534d42, -0xacb2be, 0x65735546].map(refusedFileSystem)).toEqual(['NFS', 'SMB', 'CIFS', 'CIFS', 'FUSE']);
    expect(refusedFileSystem(0xef53)).toBe(undefined);
  });

  it('warns where a restart of the machine would lose it', async () => {
    const path = join('/dev/shm', `as4-once-test-${process.pid}`);
    const warnings: string[] = [];
    const events = new Events();
    events.on('storeWarning', ({ code }) => warnings.push(code));
    try {
      await opened({ path, events });
      expect(warnings).toEqual(['STORE_IN_MEMORY']);
    } finally {
      undo.unshift(() => execFileSync('rm', ['-r', path]));
    }
  });

  it('says that it was closed instead of touching what is gone', async () => {
    const ledger = await lmdbLedger({ path: folder() });
    await ledger.close();
    await ledger.close();
    await expect(ledger.claim(sampleClaim(sampleKey('closed'), 'a'))).rejects.toThrow('LEDGER_DOWN');
    await expect(ledger.find(sampleKey('closed'))).rejects.toThrow('LEDGER_DOWN');
  });
});

/** A file system of 20 MiB of this test's own; undefined where one may not be mounted. */
function mountSmall(): string | undefined {
  const made = tempDir('small-disk');
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=20m', 'as4-once-test', made.path], { stdio: 'ignore' });
  } catch {
    made.remove();
    return undefined;
  }
  process.once('exit', () => {
    try {
      execFileSync('umount', ['-l', made.path], { stdio: 'ignore' });
    } catch {
      // gone with the test's namespace
    }
  });
  return made.path;
}
