import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { redisLedger } from '../../src/ledger/redis/index.js';
import { describeLedger } from '../../src/testing/index.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.close());

let made = 0;
for (const client of ['ioredis', 'node-redis'] as const) {
  describeLedger({ describe, it, expect }, `redis with ${client}`, async () => {
    await server.command('FLUSHALL');
    made += 1;
    const options = { url: server.url, client, prefix: `t${made}:` };
    const [ledger, second] = [await redisLedger(options), await redisLedger(options)];
    // leases are judged by the server's clock: it is real, and so is this waiting; a lease of contact comes with it
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
