import { afterEach, describe, expect, it } from 'vitest';
import { startRedisCluster } from './redis-cluster.js';
import { startRedisSentinels } from './redis-sentinel.js';
import { startRedis } from './redis-server.js';

const toClose: { close(): Promise<void> }[] = [];
const keep = <T extends { close(): Promise<void> }>(one: T): T => {
  toClose.push(one);
  return one;
};
afterEach(async () => {
  await Promise.all(toClose.splice(0).map((one) => one.close()));
});

describe('the Redis servers that tests start', () => {
  it('start with the given settings, speak, and are gone after close', async () => {
    const redis = keep(await startRedis({ maxmemory: '64mb', requirepass: 'secret' }));
    expect(await redis.command('SET', 'k', 'v')).toBe('OK');
    expect(await redis.command('MGET', 'k', 'nothing')).toEqual(['v', null]);
    expect(await redis.info('maxmemory')).toBe(String(64 * 1024 * 1024));
    await expect(redis.command('NOSUCH')).rejects.toThrow(/unknown command/);
    await redis.close();
    await expect(redis.command('PING')).rejects.toThrow(/ECONNREFUSED/);
  });

  it('keep their data over a restart with the append-only file, even after SIGKILL', async () => {
    const redis = keep(await startRedis({ appendonly: 'yes', appendfsync: 'always' }));
    await redis.command('SET', 'k', 'v');
    const { pid, port } = redis;
    await redis.kill();
    await redis.restart();
    expect(redis.pid).not.toBe(pid);
    expect(redis.port).toBe(port);
    expect(await redis.command('GET', 'k')).toBe('v');
  });

  it('hang while paused and go on after', async () => {
    const redis = keep(await startRedis());
    redis.pause();
    const waiting = redis.command('PING').then((reply) => reply, () => 'gave up');
    redis.resume();
    expect(['PONG', 'gave up']).toContain(await waiting);
    expect(await redis.command('PING')).toBe('PONG');
  });

  it('say why they could not be started', async () => {
    await expect(startRedis({ 'no-such-setting': 1 })).rejects.toThrow(/no-such-setting/);
  });

  it('form a cluster of three', async () => {
    const cluster = keep(await startRedisCluster());
    const replies = await Promise.all(cluster.nodes.map((node) => node.command('SET', 'a', '1').catch((error: Error) => error.message)));
    expect(replies.filter((reply) => reply === 'OK')).toHaveLength(1);
    expect(replies.filter((reply) => String(reply).startsWith('MOVED'))).toHaveLength(2);
  });

  it('fail over when the Sentinels lose the master', async () => {
    const group = keep(await startRedisSentinels());
    const first = await group.master();
    await first.kill();
    const next = await group.failedOver(first);
    expect(next).not.toBe(first);
    expect(await next.command('SET', 'k', 'v')).toBe('OK');
  });
});
