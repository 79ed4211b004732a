import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.js';
import type { As4OnceError } from '../../src/errors.js';
import { redisLedger, type RedisLedger, type RedisLedgerOptions } from '../../src/ledger/redis/index.js';
import { Keys } from '../../src/ledger/redis/keys.js';
import { sampleAttempt, sampleClaim, sampleDecision, sampleKey } from '../../src/testing/index.js';
import { faultProxy } from '../support/fault-proxy.js';
import { startRedis, type RedisServer, type RedisSettings } from '../support/redis-server.js';
import { startLedgerProcess } from './ledger-process.js';

const undo: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of undo.splice(0).toReversed()) await step();
});

async function server(settings?: RedisSettings): Promise<RedisServer> {
  const redis = await startRedis(settings);
  undo.push(() => redis.close());
  return redis;
}

async function open(options: RedisLedgerOptions): Promise<RedisLedger> {
  const ledger = await redisLedger(options);
  undo.push(() => ledger.close());
  return ledger;
}

/** The code a command fails with; 'done' where it does not. */
const codeOf = (promise: Promise<unknown>): Promise<string> => promise.then(() => 'done', (error: As4OnceError) => error.code ?? String(error));

/** Asks again until the answer is another one: the client reconnects in its own time. */
async function until<T>(ask: () => Promise<T>, holds: (value: T) => boolean): Promise<T> {
  for (;;) {
    const value = await ask();
    if (holds(value)) return value;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

for (const client of ['ioredis', 'node-redis'] as const) {
  describe(`redis with ${client}`, () => {
    it('recognises its own claim 50 times of 50 where the reply was lost', async () => {
      const redis = await server();
      const proxy = await faultProxy({ port: redis.port });
      undo.push(() => proxy.close());
      const ledger = await open({ url: `redis://127.0.0.1:${proxy.port}`, client, commandTimeout: 1_000 });
      let lost = 0;
      for (let i = 0; i < 50; i += 1) {
        const claim = sampleClaim(sampleKey(`lost ${i}`), `token ${i}`);
        const eaten = proxy.eatReply({ pattern: `token ${i}` });
        if (await codeOf(ledger.claim(claim)) === 'LEDGER_DOWN') lost += 1;
        await eaten;
        const answer = await until(() => ledger.claim(claim).catch(() => undefined), (found) => found !== undefined);
        expect(answer?.kind).toBe('claimed');
        expect(answer?.record.token).toBe(claim.token);
        expect(answer?.record.attempts.length).toBe(1);
        expect(answer?.record.copies).toBe(0);
        expect((await ledger.settle(sampleAttempt(claim).settle('one'))).kind).toBe('ok');
      }
      expect(lost).toBe(50);
    });

    it('is down while Redis is, and takes nothing over before a lease of contact is over again', async () => {
      const redis = await server({ appendonly: 'yes', appendfsync: 'always' });
      const ledger = await open({ url: redis.url, client, commandTimeout: 500 });
      const held = sampleClaim(sampleKey('held'), 'a', { leaseMs: 600, uncertain: 'redeliver' });
      await ledger.claim(held);
      await redis.stop();
      expect(await codeOf(ledger.claim({ ...held, token: 'b' }))).toBe('LEDGER_DOWN');
      expect(await codeOf(ledger.find(held.key))).toBe('LEDGER_DOWN');
      expect(await codeOf(ledger.ping())).toBe('LEDGER_DOWN');
      await redis.restart();
      const first = await until(() => ledger.claim({ ...held, token: 'c' }).catch(() => undefined), (found) => found !== undefined);
      // the lease may have lapsed by now, but its owner may live and have been cut off like us
      expect(first?.kind).toBe('inFlight');
      const taken = await until(() => ledger.claim({ ...held, token: 'd', leaseMs: 60_000 }), ({ kind }) => kind !== 'inFlight');
      expect(taken.kind).toBe('claimed');
    });

    it('does not execute a claim that hung in a standing server after its time', async () => {
      const redis = await server();
      const ledger = await open({ url: redis.url, client, commandTimeout: 300 });
      const claim = sampleClaim(sampleKey('hung'), 'a', { notAfterMs: 200, leaseMs: 1_200 });
      redis.pause();
      expect(await codeOf(ledger.claim(claim))).toBe('LEDGER_DOWN');
      await new Promise((resolve) => setTimeout(resolve, 300));
      redis.resume();
      await until(() => codeOf(ledger.ping()), (code) => code === 'done');
      expect(await ledger.find(claim.key)).toBe(undefined);
    });

    it('settles on a full server, replays from it, and takes no new claims', async () => {
      const redis = await server();
      const ledger = await open({ url: redis.url, client });
      const [held, done] = [sampleClaim(sampleKey('held'), 'a'), sampleClaim(sampleKey('done'), 'a')];
      await ledger.claim(held);
      await ledger.claim(done);
      await ledger.settle(sampleAttempt(done).settle('one'));
      await redis.set('maxmemory', Number(await redis.info('used_memory')) - 300_000);
      expect(await codeOf(ledger.claim(sampleClaim(sampleKey('new'), 'a')))).toBe('LEDGER_FULL');
      expect((await ledger.claim({ ...done, token: 'b' })).kind).toBe('settled');
      expect((await ledger.renew(sampleAttempt(held).held)).kind).toBe('ok');
      expect((await ledger.settle(sampleAttempt(held).settle('two'))).kind).toBe('ok');
      // before the server is full to the last byte, its clients stop: a settle must always fit
      await redis.set('maxmemory', Math.floor(Number(await redis.info('used_memory')) / 0.95));
      const full = await until(() => codeOf(ledger.claim(sampleClaim(sampleKey(`n${Math.random()}`), 'a'))), (code) => code !== 'done');
      expect(full).toBe('LEDGER_FULL');
      expect((await ledger.claim({ ...held, token: 'b' })).kind).toBe('settled');
      expect((await ledger.claim({ ...held, token: 'b' })).record.copies).toBe(2);
      await redis.set('maxmemory', 0);
      expect(await until(() => codeOf(ledger.claim(sampleClaim(sampleKey('room again'), 'a'))), (code) => code === 'done')).toBe('done');
    });

    it('is down where the server may not write: replica, failed snapshot, loading', async () => {
      const redis = await server({ 'save': '3600 1', 'enable-protected-configs': 'yes' });
      const ledger = await open({ url: redis.url, client, commandTimeout: 1_000 });
      const claim = sampleClaim(sampleKey('standing'), 'a');
      await ledger.claim(claim);
      const both = async (): Promise<string[]> =>
        [await codeOf(ledger.claim({ ...claim, token: 'b' })), await codeOf(ledger.settle(sampleAttempt(claim).settle('one')))];

      await redis.command('REPLICAOF', '127.0.0.1', '1');
      expect(await both()).toEqual(['LEDGER_DOWN', 'LEDGER_DOWN']);
      await redis.command('REPLICAOF', 'NO', 'ONE');

      // a folder where the snapshot should go: it fails, and Redis stops taking writes
      mkdirSync(join(redis.dir, 'blocked.rdb'));
      await redis.set('dbfilename', 'blocked.rdb');
      await redis.command('BGSAVE');
      await until(() => redis.info('rdb_last_bgsave_status'), (status) => status === 'err');
      expect(await both()).toEqual(['LEDGER_DOWN', 'LEDGER_DOWN']);
      await redis.set('dbfilename', 'dump.rdb');
      await redis.command('BGSAVE');
      await until(() => redis.info('rdb_last_bgsave_status'), (status) => status === 'ok');
      expect((await ledger.settle(sampleAttempt(claim).settle('one'))).kind).toBe('ok');

      await Promise.all(Array.from({ length: 40 }, (_, i) => ledger.claim(sampleClaim(sampleKey(`filler ${i}`), 'a'))));
      await redis.command('SAVE');
      const restarted = redis.restart({ 'key-load-delay': 50_000, 'loading-process-events-interval-bytes': 1_024 });
      const reasons = new Set<string>();
      let back = false;
      void restarted.then(() => {
        back = true;
      });
      while (!back) {
        await ledger.claim({ ...claim, token: 'c' }).catch((error: As4OnceError) => reasons.add(`${error.code} ${error.detail}`));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      await restarted;
      expect([...reasons].every((reason) => reason.startsWith('LEDGER_DOWN'))).toBe(true);
      expect(reasons.size).toBeGreaterThan(0);
      const after = await until(() => ledger.claim({ ...claim, token: 'd' }).catch(() => undefined), (found) => found !== undefined);
      expect(after?.kind).toBe('settled');
    });

    it('loads its scripts again where the server lost them', async () => {
      const redis = await server();
      const ledger = await open({ url: redis.url, client });
      const claim = sampleClaim(sampleKey('scripts'), 'a');
      await redis.command('SCRIPT', 'FLUSH');
      expect((await ledger.claim(claim)).kind).toBe('claimed');
      await redis.command('SCRIPT', 'FLUSH');
      expect((await ledger.settle(sampleAttempt(claim).settle('one'))).kind).toBe('ok');
      expect((await ledger.list('held')).length).toBe(0);
    });

    it('survives a flush amid the delivery, with another copy in work by then', async () => {
      const redis = await server();
      const ledger = await open({ url: redis.url, client });
      const claim = sampleClaim(sampleKey('flushed'), 'a');
      await ledger.claim(claim);
      await redis.command('FLUSHALL');
      const second = { ...claim, token: 'b' };
      expect((await ledger.claim(second)).kind).toBe('claimed');
      expect((await ledger.settle(sampleAttempt(claim).settle('first'))).kind).toBe('ok');
      const late = await ledger.settle(sampleAttempt(second).settle('second'));
      expect(late.kind === 'stale' && late.twoReceipts).toBe(true);
      expect((await ledger.claim({ ...claim, token: 'c' })).record.reply?.receiptId).toBe('first@receipt');
    });

    it('judges leases by the server\'s clock, whatever the machines\' clocks say', async () => {
      const redis = await server();
      const apart = (ms: number): RedisLedgerOptions => ({ url: redis.url, client, clock: { ...systemClock, now: () => systemClock.now() + ms } });
      const [early, late] = [await open(apart(0)), await open(apart(3_600_000))];
      const claim = sampleClaim(sampleKey('an hour apart'), 'a', { leaseMs: 30_000 });
      await early.claim(claim);
      expect((await late.claim({ ...claim, token: 'b' })).kind).toBe('inFlight');
      const other = sampleClaim(sampleKey('the other way'), 'a', { leaseMs: 30_000 });
      await late.claim(other);
      expect((await early.claim({ ...other, token: 'b' })).kind).toBe('inFlight');
      expect((await late.find(other.key))?.record.born).toBeLessThan(systemClock.now() + 60_000);
    });

    it('lets a killed claimer\'s claim lapse at once on its own machine', async () => {
      const redis = await server();
      const ledger = await open({ url: redis.url, client });
      const child = await startLedgerProcess({ engine: 'redis', options: { url: redis.url, client } });
      undo.push(() => child.close());
      const claim = sampleClaim(sampleKey('killed'), 'a', { uncertain: 'hold' });
      await child.ledger.claim(claim);
      expect((await ledger.claim({ ...claim, token: 'b' })).kind).toBe('inFlight');
      await child.kill();
      expect((await ledger.claim({ ...claim, token: 'c' })).kind).toBe('held');
      expect((await ledger.find(claim.key))?.record.attempts[0]?.reason).toBe('owner died');
    });

    it('wakes who waits in another process', async () => {
      const redis = await server();
      const ledger = await open({ url: redis.url, client });
      const child = await startLedgerProcess({ engine: 'redis', options: { url: redis.url, client } });
      undo.push(() => child.close());
      const claim = sampleClaim(sampleKey('woken'), 'a');
      await ledger.claim(claim);
      const { woken } = await child.watched(claim.key);
      await until(async () => Number((await redis.command('PUBSUB', 'NUMSUB', 'as4-once:wake') as unknown[])[1]), (heard) => heard > 0);
      await ledger.settle(sampleAttempt(claim).settle('one'));
      await woken;
    });

    it('reads nothing into what it cannot read: a newer record, another kind of value', async () => {
      const redis = await server();
      const ledger = await open({ url: redis.url, client });
      const { record } = new Keys('as4-once:').of(sampleKey('newer'));
      for (const value of ['A4O9000', `A4O9${'0'.repeat(71)}c\n{}\n`]) {
        await redis.command('SET', record, value);
        expect(await codeOf(ledger.claim(sampleClaim(sampleKey('newer'), 'a')))).toBe('RECORD_UNREADABLE');
        expect(await codeOf(ledger.find(sampleKey('newer')))).toBe('RECORD_UNREADABLE');
      }
      await redis.command('DEL', record);
      await redis.command('LPUSH', record, 'x');
      expect(await codeOf(ledger.claim(sampleClaim(sampleKey('newer'), 'a')))).toBe('RECORD_UNREADABLE');
    });

    it('counts copies without disturbing whoever holds the record', async () => {
      // A settle is prepared against the version its claim had; copies counted meanwhile must neither make it fail nor get lost.
      const redis = await server();
      const ledger = await open({ url: redis.url, client });
      const other = await open({ url: redis.url, client });
      const claim = sampleClaim(sampleKey('counted'), 'a');
      await ledger.claim(claim);
      for (let i = 0; i < 5; i += 1) await other.claim({ ...claim, token: `copy ${i}` });
      await ledger.settle(sampleAttempt(claim).settle('one'));
      expect((await other.find(claim.key))?.record.copies).toBe(5);
    });

    it('takes a first claim, a duplicate and a settle in one round trip each', async () => {
      const redis = await server();
      const ledger = await open({ url: redis.url, client });
      const claim = sampleClaim(sampleKey('warm'), 'a');
      await ledger.claim(claim);
      const calls = async (run: () => Promise<unknown>): Promise<number> => {
        const count = async (): Promise<number> => Number(String(await redis.command('INFO', 'commandstats')).match(/cmdstat_evalsha:calls=(\d+)/)?.[1]);
        const before = await count();
        await run();
        return await count() - before;
      };
      const next = sampleClaim(sampleKey('measured'), 'b');
      expect(await calls(() => ledger.claim(next))).toBe(1);
      expect(await calls(() => ledger.claim({ ...next, token: 'c' }))).toBe(1);
      expect(await calls(() => ledger.settle(sampleAttempt(next).settle('one')))).toBe(1);
      expect(await calls(() => ledger.claim({ ...next, token: 'd' }))).toBe(1);
    });

    it('works for an operator\'s command by how long the server has been up', async () => {
      const redis = await server();
      const ledger = await open({ url: redis.url, client });
      const claim = sampleClaim(sampleKey('lapsed'), 'a', { leaseMs: 1_000 });
      await ledger.claim(claim);
      await until(async () => (await ledger.list('uncertain')).length, (count) => count === 1);
      const command = { key: claim.key, decision: sampleDecision('release'), force: false };
      expect((await (await open({ url: redis.url, client })).operatorRelease(command)).kind).toBe('live');
      expect((await (await open({ url: redis.url, client, oneShot: true })).operatorRelease(command)).kind).toBe('ok');
    });
  });
}
