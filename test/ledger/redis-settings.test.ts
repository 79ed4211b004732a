import { Cluster, Redis } from 'ioredis';
import { createClient, createCluster } from 'redis';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { Events } from '../../src/events.js';
import { oldVersion } from '../../src/ledger/redis/inspect.js';
import { redisLedger, type RedisLedger, type RedisLedgerOptions } from '../../src/ledger/redis/index.js';
import { sampleAttempt, sampleClaim, sampleKey } from '../../src/testing/index.js';
import { freePort } from '../support/free-port.js';
import { startRedisCluster } from '../support/redis-cluster.js';
import { startRedis, type RedisServer, type RedisSettings } from '../support/redis-server.js';
import { startRedisSentinels } from '../support/redis-sentinel.js';

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

/** Every kind of command once; the ledger behind it is the one that was meant. */
async function walkThrough(ledger: RedisLedger, name: string): Promise<void> {
  const claim = sampleClaim(sampleKey(name), 'a');
  expect((await ledger.claim(claim)).kind).toBe('claimed');
  expect((await ledger.claim({ ...claim, token: 'b' })).kind).toBe('inFlight');
  expect((await ledger.list('inFlight')).map(({ key }) => key)).toEqual([claim.key]);
  const woken = new Promise<void>((resolve) => ledger.watch(claim.key, resolve));
  expect((await ledger.settle(sampleAttempt(claim).settle('one'))).kind).toBe('ok');
  await woken;
  expect((await ledger.claim({ ...claim, token: 'c' })).record.reply).toEqual(sampleAttempt(claim).settle('one').reply);
  const keys: string[] = [];
  for await (const { record } of ledger.iterate()) keys.push(record.key);
  expect([...new Set(keys)]).toEqual([claim.key]);
  const found: string[] = [];
  for await (const record of ledger.findReference(claim.key.split(':')[0] ?? '')) found.push(record.key);
  expect(found).toEqual([claim.key]);
  expect((await ledger.stats()).records).toBe(1);
  expect((await ledger.meta()).settles).toBe(1);
}

/** A node of the cluster that follows `master`. */
async function replicaOf(master: RedisServer): Promise<RedisServer> {
  const bus = await freePort();
  const replica = await server({ 'cluster-enabled': 'yes', 'cluster-port': bus, 'cluster-node-timeout': 60_000, 'cluster-announce-ip': '127.0.0.1' });
  const self = String(await master.command('CLUSTER', 'NODES')).split('\n').find((line) => line.includes('myself')) ?? '';
  const [id = '', address = ''] = self.split(' ');
  await replica.command('CLUSTER', 'MEET', '127.0.0.1', master.port, address.match(/@(\d+)/)?.[1] ?? '');
  while (await replica.command('CLUSTER', 'REPLICATE', id).then(() => false, () => true)) await new Promise((resolve) => setTimeout(resolve, 50));
  while (!(await master.info('slave0') ?? '').includes('state=online')) await new Promise((resolve) => setTimeout(resolve, 50));
  const slots = async (): Promise<string> => JSON.stringify(await master.command('CLUSTER', 'SLOTS'));
  while (!(await slots()).includes(String(replica.port))) await new Promise((resolve) => setTimeout(resolve, 50));
  return replica;
}

describe('a client handed in', () => {
  it('of ioredis works with its key prefix, and stays open', async () => {
    const redis = await server();
    const client = new Redis(redis.url, { keyPrefix: 'theirs[1]:' });
    undo.push(() => client.disconnect());
    const ledger = await redisLedger({ client });
    await walkThrough(ledger, 'ioredis with prefix');
    await ledger.close();
    expect(await client.ping()).toBe('PONG');
    expect((await redis.command('KEYS', 'theirs*') as string[]).length).toBe((await redis.command('KEYS', '*') as string[]).length);
  });

  it('of node-redis works with its key prefix, and stays open', async () => {
    const redis = await server();
    const client = createClient({ url: redis.url, keyPrefix: 'theirs*:' });
    client.on('error', () => undefined);
    await client.connect();
    undo.push(() => client.destroy());
    const ledger = await redisLedger({ client });
    await walkThrough(ledger, 'node-redis with prefix');
    await ledger.close();
    expect(await client.ping()).toBe('PONG');
    expect((await redis.command('KEYS', 'theirs*') as string[]).length).toBe((await redis.command('KEYS', '*') as string[]).length);
  });

  it('that reads from replicas is not let do so', async () => {
    // `scaleReads: slave` sends reading commands to a replica, which may lack the record still: a duplicate would be new.
    // Here the replica stands still, so whatever is sent to it never comes back.
    const cluster = await startRedisCluster();
    undo.push(() => cluster.close());
    const [first] = cluster.nodes as [RedisServer, ...RedisServer[]];
    const replica = await replicaOf(first);
    const keysOfFirst = async (): Promise<string[]> => {
      const [[from, to]] = await first.command('CLUSTER', 'SLOTS').then((slots) => (slots as [number, number, unknown[]][])
        .filter(([, , node]) => node[1] === first.port)) as [[number, number]];
      const names = Array.from({ length: 200 }, (_, i) => `scaled ${i}`);
      const found: string[] = [];
      for (const name of names) {
        const slot = Number(await first.command('CLUSTER', 'KEYSLOT', `{${sampleKey(name).slice(0, 2)}}`));
        if (slot >= from && slot <= to) found.push(name);
      }
      return found.slice(0, 5);
    };
    const ioredis = new Cluster([{ host: '127.0.0.1', port: first.port }], { scaleReads: 'slave', keyPrefix: 'scaled:' });
    undo.push(() => ioredis.disconnect());
    await new Promise((resolve) => ioredis.once('ready', resolve));
    const nodeRedis = createCluster({ rootNodes: [{ url: first.url }], useReplicas: true, keyPrefix: 'replicas:' });
    nodeRedis.on('error', () => undefined);
    await nodeRedis.connect();
    undo.push(() => nodeRedis.destroy());
    const names = await keysOfFirst();
    replica.pause();
    for (const client of [ioredis, nodeRedis]) {
      const ledger = await redisLedger({ client, clientLibrary: client === ioredis ? 'ioredis' : 'node-redis' });
      for (const name of names) {
        const claim = sampleClaim(sampleKey(name), 'a');
        await ledger.claim(claim);
        expect((await ledger.find(claim.key))?.record.token).toBe('a');
        expect((await ledger.settle(sampleAttempt(claim).settle('one'))).kind).toBe('ok');
        expect((await ledger.claim({ ...claim, token: 'b' })).kind).toBe('settled');
      }
      const seen = new Set<string>();
      for await (const { record } of ledger.iterate()) seen.add(record.key);
      expect(seen.size).toBe(names.length);
      expect(names.length).toBe(5);
      await ledger.close();
    }
  });

  it('of neither library is refused with a sentence', async () => {
    await expect(redisLedger({ client: { get: () => undefined } })).rejects.toThrow('clientLibrary');
  });
});

describe('access', () => {
  it('works with an ACL user, a password and a database number', async () => {
    const redis = await server();
    await redis.command('ACL', 'SETUSER', 'ledger', 'on', '>secret', '~as4-once:*', '&as4-once:*', '+@all', '-config', '-@dangerous', '+info');
    for (const client of ['ioredis', 'node-redis'] as const) {
      const ledger = await open({ url: redis.url, client, username: 'ledger', password: 'secret', database: client === 'ioredis' ? 1 : 2 });
      await walkThrough(ledger, client);
      // CONFIG is forbidden to this user: what it would have told is said to be unknown
      expect((await ledger.inspect()).map(({ code }) => code)).toEqual(['STORE_PERSISTENCE_UNKNOWN']);
    }
  });

  it('never shows the password when it is wrong', async () => {
    const redis = await server({ requirepass: 'right' });
    const ledger = await open({ url: `redis://:canary-secret@127.0.0.1:${redis.port}`, connectTimeout: 500 });
    const error = await ledger.claim(sampleClaim(sampleKey('n'), 'a')).then(() => undefined, (reason: Error) => reason);
    expect(error?.message).toContain('LEDGER_DOWN');
    expect(JSON.stringify([error?.message, error?.stack, error?.cause])).not.toContain('canary-secret');
  });
});

/** Online is said before a replica has settled down: for its first second it acknowledges in fits and starts. */
async function following(port: number): Promise<void> {
  const probe = new Redis(port, '127.0.0.1');
  for (let inTime = 0; inTime < 50; inTime += 1) {
    // WAIT counts what this very connection wrote
    const [, reached] = await Promise.all([probe.set('warm', inTime), probe.call('WAIT', '1', '30')]);
    if (Number(reached) < 1) inTime = -1;
  }
  probe.disconnect();
}

for (const client of ['ioredis', 'node-redis'] as const) {
  describe(`replicas, with ${client}`, () => {
    it('have a claim before it is granted (waitReplicas), and a claim that reached none is granted when they are back', async () => {
      const master = await server({ 'repl-diskless-sync-delay': 0 });
      const replica = await server({ replicaof: `127.0.0.1 ${master.port}` });
      while (!(await master.info('slave0') ?? '').includes('state=online')) await new Promise((resolve) => setTimeout(resolve, 20));
      await following(master.port);
      const ledger = await open({ url: master.url, client, waitReplicas: 1, commandTimeout: 600 });
      const many = Array.from({ length: 20 }, (_, i) => sampleClaim(sampleKey(`replicated ${i}`), 'a'));
      expect((await Promise.all(many.map((claim) => ledger.claim(claim)))).every(({ kind }) => kind === 'claimed')).toBe(true);
      expect(Number(await replica.command('DBSIZE'))).toBeGreaterThanOrEqual(20);

      replica.pause();
      const claim = sampleClaim(sampleKey('alone'), 'a');
      await expect(ledger.claim(claim)).rejects.toThrow('LEDGER_DOWN');
      // a repeat of the claim writes nothing new by itself; it must not pass for replicated because of that
      await expect(ledger.claim(claim)).rejects.toThrow('LEDGER_DOWN');
      replica.resume();
      const granted = await (async () => {
        for (;;) {
          const answer = await ledger.claim(claim).catch(() => undefined);
          if (answer !== undefined) return answer;
        }
      })();
      expect(granted.kind).toBe('claimed');
      expect(granted.record.attempts.length).toBe(1);
    });

    it('take over through Sentinel, and nothing that they had is lost', async () => {
      const sentinels = await startRedisSentinels();
      undo.push(() => sentinels.close());
      const nodes = sentinels.sentinels.map(({ port }) => `127.0.0.1:${port}`);
      const ledger = await open({ sentinel: { name: sentinels.name, nodes }, client, waitReplicas: 1, commandTimeout: 1_000 });
      const [held, done] = [sampleClaim(sampleKey('held'), 'a'), sampleClaim(sampleKey('done'), 'a')];
      await ledger.claim(held);
      await ledger.claim(done);
      await ledger.settle(sampleAttempt(done).settle('one'));
      const old = await sentinels.master();
      const replicas = sentinels.servers.filter((one) => one !== old);
      for (const one of replicas) while (Number(await one.command('DBSIZE')) < Number(await old.command('DBSIZE'))) await new Promise((resolve) => setTimeout(resolve, 20));
      await old.kill();
      await expect(ledger.claim({ ...held, token: 'b' })).rejects.toThrow('LEDGER_DOWN');
      await sentinels.failedOver(old);
      // Sentinel ends connections once more when it has reconfigured a server: whoever asks again, as the walk does, gets through
      const asked = async <T>(ask: () => Promise<T>): Promise<T> => {
        for (;;) {
          const answer = await ask().catch(() => undefined);
          if (answer !== undefined) return answer;
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      };
      expect((await asked(() => ledger.claim({ ...held, token: 'c' }))).kind).toBe('inFlight');
      expect((await asked(() => ledger.claim({ ...done, token: 'b' }))).kind).toBe('settled');
      expect((await asked(() => ledger.settle(sampleAttempt(held).settle('two')))).kind).toBe('ok');
    });
  });
}

describe('what endangers the store', () => {
  const codes = async (settings: RedisSettings, options: RedisLedgerOptions = {}): Promise<string[]> => {
    const redis = await server(settings);
    const events = new Events();
    const told: string[] = [];
    events.on('storeWarning', ({ code }) => told.push(code));
    const ledger = await open({ url: redis.url, events, ...options });
    expect((await ledger.inspect()).map(({ code }) => code)).toEqual(told);
    return told;
  };

  it('is told at the start, by event and on request', async () => {
    expect(await codes({ appendonly: 'yes' })).toEqual([]);
    expect(await codes({ appendonly: 'yes', appendfsync: 'no', 'maxmemory-policy': 'allkeys-lru' })).toEqual(['STORE_EVICTS', 'STORE_FSYNC_OFF']);
    expect(await codes({ save: '' })).toEqual(['STORE_NOT_PERSISTENT']);
    expect(await codes({ save: '3600 1' }, { waitReplicas: 1 })).toEqual(['STORE_NOT_PERSISTENT', 'STORE_REPLICAS_MISSING']);
    expect(await codes({ appendonly: 'yes', replicaof: '127.0.0.1 1' })).toEqual(['STORE_IS_REPLICA']);
  });

  it('is looked at again every minute, without anybody asking', async () => {
    const redis = await server({ appendonly: 'yes' });
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const told: string[] = [];
      const events = new Events();
      events.on('storeWarning', ({ code }) => told.push(code));
      const ledger = await open({ url: redis.url, events });
      await redis.set('maxmemory-policy', 'allkeys-lru');
      let seconds = 0;
      for (; told.length === 0 && seconds < 90; seconds += 1) {
        await vi.advanceTimersByTimeAsync(1_000);
        // what a beat asks is answered in order, and before this is
        await ledger.ping();
        await ledger.ping();
      }
      expect([told, seconds > 30, seconds < 70]).toEqual([['STORE_EVICTS'], true, true]);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is told of a clock that is far from this machine\'s', async () => {
    const clock = { ...(await import('../../src/clock.js')).systemClock, now: () => Date.now() - 3_600_000 };
    expect(await codes({ appendonly: 'yes' }, { clock })).toEqual(['STORE_CLOCK_SKEW']);
  });

  it('keeps a strict ledger from opening, as does a server that is not there', async () => {
    const redis = await server({ save: '' });
    await expect(redisLedger({ url: redis.url, strict: true })).rejects.toThrow(/CONFIG_INVALID.*appendonly/);
    await redis.kill();
    await expect(redisLedger({ url: redis.url, strict: true, connectTimeout: 300 })).rejects.toThrow('LEDGER_DOWN');
    const ledger = await open({ url: redis.url, connectTimeout: 300 });
    await expect(ledger.ping()).rejects.toThrow('LEDGER_DOWN');
    await redis.restart();
    while (await ledger.ping().then(() => false, () => true)) await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await ledger.claim(sampleClaim(sampleKey('back'), 'a'))).kind).toBe('claimed');
  });

  it('is a server before 7.0', () => {
    expect(['6.2.14', '7.0.15', '8.2.0'].map(oldVersion)).toEqual([true, false, false]);
  });
});
