import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redisLedger } from '../../src/ledger/redis/index.js';
import { describeLedger } from '../../src/testing/index.js';
import { startRedisCluster, type RedisCluster } from '../support/redis-cluster.js';

let cluster: RedisCluster;
beforeAll(async () => {
  cluster = await startRedisCluster();
});
afterAll(() => cluster.close());

let made = 0;
for (const client of ['ioredis', 'node-redis'] as const) {
  describeLedger({ describe, it, expect }, `redis cluster with ${client}`, async () => {
    await Promise.all(cluster.nodes.map((node) => node.command('FLUSHALL')));
    made += 1;
    const options = { cluster: { nodes: cluster.nodes.map(({ port }) => `127.0.0.1:${port}`) }, client, prefix: `t${made}:` };
    const [ledger, second] = [await redisLedger(options), await redisLedger(options)];
    return {
      ledger, second,
      pass: (ms) => new Promise((resolve) => setTimeout(resolve, ms + 50)),
      dispose: async () => {
        await second.close();
        await ledger.close();
      },
    };
  }, { movableClock: false });
}
