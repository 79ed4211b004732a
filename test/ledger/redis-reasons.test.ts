import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redisLedger } from '../../src/ledger/redis/index.js';
import type { RedisLedgerOptions } from '../../src/ledger/redis/index.js';
import { eventually } from '../front/front-process.js';
import { freePort } from '../support/free-port.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';

/**
 * A wrong password and a wrong port were both told as "Stream isn't writeable and enableOfflineQueue options is false", or
 * as "The client is offline": what a command learns that finds no connection, and nothing that an operator can act on.
 */
describe.each(['ioredis', 'node-redis'] as const)('why Redis cannot be reached: %s', (client) => {
  let redis: RedisServer;
  let nowhere: number;
  beforeAll(async () => {
    redis = await startRedis({ requirepass: 'right' });
    nowhere = await freePort();
  });
  afterAll(() => redis.close());
  const why = async (options: RedisLedgerOptions): Promise<string> => {
    const ledger = await redisLedger({ client, commandTimeout: 1_000, connectTimeout: 1_000, ...options });
    try {
      return await ledger.ping().then(() => 'reached', (error: Error) => error.message);
    } finally {
      await ledger.close();
    }
  };

  it('nobody listens there: the address is named', async () => {
    expect(await why({ url: `redis://127.0.0.1:${nowhere}` })).toMatch(new RegExp(`LEDGER_DOWN.*ECONNREFUSED 127\\.0\\.0\\.1:${nowhere}`));
  });

  it('a wrong password, or none: the server is quoted', async () => {
    const wrong = await why({ url: redis.url, password: 'canary-81' });
    expect(wrong).toMatch(/LEDGER_DOWN.*Redis says WRONGPASS/);
    expect(wrong).not.toContain('canary-81');
    expect(await why({ url: redis.url })).toMatch(/LEDGER_DOWN.*Redis says NOAUTH/);
  });

  it('a cluster or Sentinels that nobody finds: which ones', async () => {
    const nodes = [`127.0.0.1:${nowhere}`];
    for (const where of [{ cluster: { nodes } }, { sentinel: { name: 'm', nodes } }]) expect(await why(where)).toContain(nodes[0]);
  });

  it('is forgotten once it is reached', async () => {
    expect(await why({ url: redis.url, password: 'right' })).toBe('reached');
    const ledger = await redisLedger({ client, url: redis.url, password: 'right', commandTimeout: 1_000 });
    await redis.kill();
    await expect(ledger.ping()).rejects.toThrow(/LEDGER_DOWN/);
    await redis.restart();
    await eventually(() => ledger.ping().then(() => true, () => undefined), () => 'the ledger to be reached again');
    redis.pause();
    await expect(ledger.ping()).rejects.toThrow(/did not answer within 1000 ms\. The ledger/);
    redis.resume();
    await ledger.close();
  });
});
