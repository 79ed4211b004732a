import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { redisLedger } from '../../src/ledger/redis/index.js';
import { sampleClaim, sampleKey } from '../../src/testing/index.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';

let server: RedisServer;
beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.close());

/** As an operator rotates it: the new password is let in, handed out, and the old one taken away. */
const letIn = (user: string, password: string): Promise<unknown> => server.command('ACL', 'SETUSER', user, 'on', `>${password}`, '~*', '&*', '+@all');
const takeAway = (user: string, password: string): Promise<unknown> => server.command('ACL', 'SETUSER', user, `<${password}`);

describe.each(['ioredis', 'node-redis'] as const)('the password of Redis is replaced (%s)', (client) => {
  it('while claims go on: none is lost, and the old password is needed no more', async () => {
    const user = `rotating-${client}`;
    await letIn(user, 'old-canary');
    const options = { url: server.url, client, username: user, prefix: `${client}:` };
    const ledger = await redisLedger({ ...options, password: 'old-canary' });
    let going = true;
    let claims = 0;
    ledger.watch(sampleKey('watched'), () => undefined); // a connection of its own, which goes over too
    const claiming = (async () => {
      while (going) {
        claims += 1;
        const answer = await ledger.claim(sampleClaim(sampleKey(`${client} ${claims}`), `t${claims}`));
        if (answer.kind !== 'claimed') throw new Error(answer.kind);
      }
    })();
    await vi.waitFor(() => expect(claims).toBeGreaterThan(5), { timeout: 20_000 });

    // not let in yet: nothing changes, and it says so
    await expect(ledger.renewSecrets({ ...options, password: 'new-canary' })).rejects.toThrow();
    await letIn(user, 'new-canary');
    expect(await ledger.renewSecrets({ ...options, password: 'new-canary' })).toBe('renewed');
    expect(await ledger.renewSecrets({ ...options, password: 'new-canary' })).toBe('same');
    await takeAway(user, 'old-canary');
    const before = claims;
    await vi.waitFor(() => expect(claims).toBeGreaterThan(before + 5), { timeout: 20_000 });
    going = false;
    await claiming;

    // every connection has to come back with the new one
    await server.command('CLIENT', 'KILL', 'USER', user);
    await vi.waitFor(() => ledger.ping(), { timeout: 20_000 });
    expect(await ledger.claim(sampleClaim(sampleKey(`${client} after`), 'after'))).toMatchObject({ kind: 'claimed' });
    await ledger.close();
  });

  it('is no reason to go to another store', async () => {
    await letIn('placed', 'one');
    const options = { url: server.url, client, username: 'placed', password: 'one' };
    const ledger = await redisLedger(options);
    expect(await ledger.renewSecrets({ ...options, url: 'redis://127.0.0.1:1' })).toBe('elsewhere');
    expect(await ledger.renewSecrets({ ...options, prefix: 'other:' })).toBe('elsewhere');
    await ledger.ping();
    await ledger.close();
  });

  it('a password that stands in the URL counts too', async () => {
    const user = `url-${client}`;
    await letIn(user, 'old-canary');
    const url = (password: string): string => `redis://${user}:${password}@${server.host}:${server.port}`;
    const ledger = await redisLedger({ url: url('old-canary'), client });
    await letIn(user, 'new-canary');
    expect(await ledger.renewSecrets({ url: url('new-canary'), client })).toBe('renewed');
    await takeAway(user, 'old-canary');
    await server.command('CLIENT', 'KILL', 'USER', user);
    await vi.waitFor(() => ledger.ping(), { timeout: 20_000 });
    await ledger.close();
  });
});
