import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { runCli } from '../support/child.js';
import { hang, receipt } from '../support/scripted-answers.js';
import { startUpstream } from '../support/scripted-upstream.js';
import { startRedis, type RedisServer, type RedisSettings } from '../support/redis-server.js';
import { tempDir } from '../support/temp-dir.js';
import { eventually, startFront, stopFronts, type Front, type Settings } from '../front/front-process.js';
import { freshId, message, post } from '../front/messages.js';

/**
 * What the store is, as the front sees it. The warnings of the start were told before anybody in the process listened, so
 * that they stood in the log and never in health; and one that had been cured stayed for ever.
 */
const toClose: (() => unknown)[] = [];
afterEach(async () => {
  await stopFronts();
  for (const close of toClose.splice(0).toReversed()) await close();
});

const TOKEN = 'store-test-token';
async function redisWith(settings: RedisSettings): Promise<RedisServer> {
  const redis = await startRedis(settings);
  toClose.push(() => redis.close());
  return redis;
}
function settingsFor(ledger: Settings, more: Settings = {}): Settings {
  const folder = tempDir('store');
  toClose.push(() => folder.remove());
  return {
    upstream: 'http://127.0.0.1:1/as4',
    ledger,
    journal: `${folder.path}/journal`,
    state: `${folder.path}/state`,
    spool: `${folder.path}/spool`,
    admin: { listen: '127.0.0.1:0', token: TOKEN },
    ...more,
  };
}
interface Shown {
  readonly status: string;
  readonly warnings: readonly { readonly code: string; readonly text: string }[];
}
const health = async (front: Front): Promise<Shown> => (await fetch(`${front.admin}/healthz`)).json() as Promise<Shown>;
const codes = async (front: Front): Promise<string[]> =>
  (await health(front)).warnings.map(({ code }) => code).toSorted();
/** The dashboard asks for the size of the store, which is a look at it: sooner than the minute that passes otherwise. */
const look = (front: Front): Promise<unknown> =>
  fetch(`${front.admin}/api/status`, { headers: { authorization: `Bearer ${TOKEN}` } });
const metricOf = (front: Front, code: string): Promise<number> =>
  front.metric(`as4_once_store_warning{code="${code}"}`);

describe('a store that may forget', () => {
  it('is a loud warning from the start, in the log, in health and in a metric, and only for as long as it holds', async () => {
    const redis = await redisWith({ 'maxmemory-policy': 'allkeys-lru' });
    const front = await startFront(settingsFor({ redis: redis.url }));
    expect(await health(front)).toMatchObject({ status: 'degraded' });
    expect(await codes(front)).toEqual(['STORE_EVICTS', 'STORE_NOT_PERSISTENT']);
    expect((await health(front)).warnings.find(({ code }) => code === 'STORE_EVICTS')?.text).toContain('noeviction');
    expect(await front.logged({ event: 'storeWarning', code: 'STORE_EVICTS' })).toMatchObject({ level: 40 });
    expect([await metricOf(front, 'STORE_EVICTS'), await metricOf(front, 'STORE_NOT_PERSISTENT')]).toEqual([1, 1]);
    await redis.set('maxmemory-policy', 'noeviction');
    await redis.set('appendonly', 'yes');
    await eventually(
      async () => {
        await look(front);
        return (await codes(front)).length === 0 ? true : undefined;
      },
      () => 'the warnings to end',
    );
    expect(await health(front)).toMatchObject({ status: 'ok', warnings: [] });
    expect(await metricOf(front, 'STORE_EVICTS')).toBeNaN();
  });

  it('is seen again after each loss of contact: what answers then may be another server', async () => {
    const redis = await redisWith({ appendonly: 'yes' });
    const front = await startFront(settingsFor({ redis: redis.url }));
    expect(await codes(front)).toEqual([]);
    await redis.restart({ appendonly: 'no' });
    await eventually(
      async () => ((await codes(front)).includes('STORE_NOT_PERSISTENT') ? true : undefined),
      () => 'the warning to be seen',
    );
  });

  it('is asked by INFO where CONFIG is forbidden', async () => {
    const redis = await redisWith({ appendonly: 'no', 'maxmemory-policy': 'volatile-ttl', save: '3600 1' });
    await redis.command('ACL', 'SETUSER', 'careful', 'on', '>secret', '~*', '&*', '+@all', '-config');
    const front = await startFront(settingsFor({ redis: { url: redis.url, username: 'careful', password: 'secret' } }));
    expect(await codes(front)).toEqual(['STORE_EVICTS', 'STORE_PERSISTENCE_UNKNOWN']);
  });

  /** Where INFO was forbidden the store was called well, and contact was lost at every beat: nobody ever took over. */
  it.each(['ioredis', 'node-redis'])(
    'is unknown where INFO is forbidden too, and lapsed claims lapse: %s',
    async (client) => {
      const redis = await redisWith({ appendonly: 'yes' });
      await redis.command('ACL', 'SETUSER', 'careful', 'on', '>secret', '~*', '&*', '+@all', '-config', '-info');
      const upstream = await startUpstream(receipt());
      toClose.push(() => upstream.close());
      const ledger = { redis: { url: redis.url, client, username: 'careful', password: 'secret' } };
      const times = { lease: '1500ms', wait: '20s' };
      const more = { upstream: upstream.url, times, defaults: { uncertain: 'redeliver' } };
      const one = await startFront(settingsFor(ledger, more));
      const two = await startFront(settingsFor(ledger, { ...more, node: 'b' }));
      expect(await health(one)).toMatchObject({ status: 'degraded' });
      expect(await codes(one)).toEqual(['STORE_UNKNOWN']);
      const id = freshId();
      upstream.next(hang());
      const first = post(one.url, message(id)).catch(() => undefined);
      await upstream.arrived(1);
      one.process.pause();
      expect((await post(two.url, message(id))).status).toBe(200);
      await two.logged({ event: 'takeOver', messageId: id });
      one.process.resume();
      expect(await serveOnce(settingsFor({ ...ledger, strict: true }))).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/ledger\.strict refuses .*INFO is not allowed/),
      });
      await stopFronts();
      await first;
    },
  );

  it.each<[string, RedisSettings, RegExp]>([
    [
      'evicts',
      { appendonly: 'yes', 'maxmemory-policy': 'allkeys-lfu' },
      /ledger\.strict refuses a store that may forget: .*maxmemory-policy is allkeys-lfu; set it to noeviction/,
    ],
    ['keeps nothing', {}, /ledger\.strict refuses .*set appendonly yes/],
    ['does not sync', { appendonly: 'yes', appendfsync: 'no' }, /ledger\.strict refuses .*appendfsync is no/],
  ])('with ledger.strict it is a refusal to start, in one sentence: %s', async (_what, settings, sentence) => {
    const redis = await redisWith(settings);
    const { code, stderr, stdout } = await serveOnce(settingsFor({ redis: redis.url, strict: true }));
    expect([code, stdout.includes('exchange')]).toEqual([2, false]);
    expect(stderr).toMatch(sentence);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });

  it('with ledger.strict a replica and a server that is away are refused too, and a good one is not', async () => {
    const redis = await redisWith({ appendonly: 'yes' });
    const replica = await redisWith({ appendonly: 'yes', replicaof: `127.0.0.1 ${redis.port}` });
    expect(await serveOnce(settingsFor({ redis: replica.url, strict: true }))).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('this is a replica; connect to the master'),
    });
    expect(
      await serveOnce(settingsFor({ redis: { url: 'redis://127.0.0.1:1', connectTimeout: '300ms' }, strict: true })),
    ).toMatchObject({ code: 75, stderr: expect.stringContaining('LEDGER_DOWN') });
    const upstream = await startUpstream(receipt());
    toClose.push(() => upstream.close());
    const front = await startFront(settingsFor({ redis: redis.url, strict: true }, { upstream: upstream.url }));
    expect((await post(front.url, message(freshId()))).status).toBe(200);
    expect(await health(front)).toMatchObject({ status: 'ok', warnings: [] });
  });

  it.each(['ioredis', 'node-redis'])('is refused where it is older than 7.0, strict or not: %s', async (client) => {
    const redis = await redisWith({ appendonly: 'yes' });
    const older = createServer((socket) => {
      const real = connect(redis.port, '127.0.0.1');
      socket.pipe(real);
      real.on('data', (bytes) =>
        socket.write(bytes.toString('latin1').replace(/redis_version:7/g, 'redis_version:6'), 'latin1'),
      );
      for (const [one, other] of [
        [socket, real],
        [real, socket],
      ] as const)
        one.on('error', () => undefined).on('close', () => other.destroy());
    });
    await new Promise<void>((resolve) => older.listen(0, '127.0.0.1', resolve));
    toClose.push(() => older.close());
    const { port } = older.address() as AddressInfo;
    expect(await serveOnce(settingsFor({ redis: { url: `redis://127.0.0.1:${port}`, client } }))).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/Redis 7\.0 or later is needed, and this is 6\./),
    });
  });

  it("with ledger.strict the operator's commands work all the same", async () => {
    const redis = await redisWith({});
    const file = written(settingsFor({ redis: redis.url, strict: true }));
    expect(await runCli(['list', '--held', '--config', file])).toMatchObject({ code: 0, stdout: 'none\n' });
  });
});

const memory = '/dev/shm';
const hasMemory = ((): boolean => {
  try {
    return [0x01021994, 0x858458f6].includes(statfsSync(memory).type);
  } catch {
    return false;
  }
})();

describe.skipIf(!hasMemory)(
  `the embedded ledger in memory${hasMemory ? '' : ' (skipped: /dev/shm is no tmpfs here)'}`,
  () => {
    it('is a warning in health, and with ledger.strict a refusal', async () => {
      const path = mkdtempSync(join(memory, 'as4-once-test-'));
      toClose.push(() => rmSync(path, { recursive: true, force: true }));
      const front = await startFront(settingsFor({ embedded: path }));
      expect(await codes(front)).toEqual(['STORE_IN_MEMORY']);
      expect(await metricOf(front, 'STORE_IN_MEMORY')).toBe(1);
      const { code, stderr } = await serveOnce(settingsFor({ embedded: path, strict: true }));
      expect([code, stderr]).toEqual([2, expect.stringContaining('ledger.strict refuses a store that may forget')]);
    });
  },
);

describe('ledger.maxBytes', () => {
  it('holds for Redis too: no new claims beyond it, and health says why', async () => {
    const redis = await redisWith({ appendonly: 'yes' });
    const upstream = await startUpstream(receipt());
    toClose.push(() => upstream.close());
    const front = await startFront(settingsFor({ redis: redis.url, maxBytes: '1 KiB' }, { upstream: upstream.url }));
    expect((await post(front.url, message(freshId()))).body.toString()).toMatch(/^LEDGER_FULL/);
    expect(await codes(front)).toEqual(['STORE_NEARLY_FULL']);
    expect(upstream.requests).toHaveLength(0);
  });
});

function written(settings: Settings): string {
  const folder = tempDir('store-config');
  toClose.push(() => folder.remove());
  const file = join(folder.path, 'front.yaml');
  writeFileSync(file, stringify({ role: 'front', listen: '127.0.0.1:0', accessPoint: 'phase4', ...settings }));
  return file;
}

/** A server that is expected not to start. */
async function serveOnce(settings: Settings): Promise<{ code: number | null; stdout: string; stderr: string }> {
  return await runCli(['serve', '--config', written(settings)]);
}
