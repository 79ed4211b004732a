import { afterEach, describe, expect, it } from 'vitest';
import { receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { startRedisCluster, type RedisCluster } from '../support/redis-cluster.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import type { Answer } from '../support/send.js';
import { tempDir } from '../support/temp-dir.js';
import { eventually, startFront, stopFronts, type Front, type Settings } from '../front/front-process.js';
import { freshId, message, post, refersTo } from '../front/messages.js';

/** States of a cluster, and of a server that wants its replicas, that a front meets at work. */
describe.each(['ioredis', 'node-redis'] as const)('Redis in production, with %s', (client) => {
  const toClose: (() => unknown)[] = [];
  afterEach(async () => {
    await stopFronts();
    for (const close of toClose.splice(0).toReversed()) await close();
  });

  async function started(redis: Settings, times: Settings): Promise<{ front: Front; upstream: ScriptedUpstream }> {
    const upstream = await startUpstream(receipt());
    const folder = tempDir('cluster-states');
    toClose.push(
      () => upstream.close(),
      () => folder.remove(),
    );
    const front = await startFront({
      upstream: upstream.url,
      ledger: { redis: { ...redis, client, commandTimeout: '1s' } },
      journal: `${folder.path}/journal`,
      state: `${folder.path}/state`,
      times,
    });
    return { front, upstream };
  }
  async function cluster(): Promise<RedisCluster> {
    const made = await startRedisCluster({ appendonly: 'yes', appendfsync: 'always' });
    toClose.push(() => made.close());
    return made;
  }
  const nodesOf = ({ nodes }: RedisCluster): Settings => ({
    cluster: { nodes: nodes.map(({ port }) => `127.0.0.1:${port}`) },
  });
  const again = async (front: Front, id: string): Promise<Answer> =>
    await eventually(
      async () => {
        const answer = await post(front.url, message(id));
        return answer.status === 200 ? answer : undefined;
      },
      () => `a 200 for ${id}`,
    );

  it('CLUSTERDOWN: a master is lost; 503 after the hold, nothing delivered; back, all is as it was', async () => {
    const redis = await cluster();
    const all = await started(nodesOf(redis), { ledgerOutage: '1s' });
    const ids = Array.from({ length: 12 }, freshId);
    const first = await Promise.all(ids.map((id) => post(all.front.url, message(id))));
    const [lost, ...others] = redis.nodes as [RedisServer, ...RedisServer[]];
    await lost.kill();
    for (const node of others)
      await eventually(
        async () => (String(await node.command('CLUSTER', 'INFO')).includes('cluster_state:fail') ? true : undefined),
        () => 'the cluster to be down',
      );
    const refused = await Promise.all([...ids, freshId(), freshId()].map((id) => post(all.front.url, message(id))));
    for (const answer of refused)
      expect([answer.status, answer.body.toString().split(':')[0]]).toEqual([503, 'LEDGER_DOWN']);
    expect(all.upstream.requests).toHaveLength(ids.length);
    await lost.restart();
    for (const [n, id] of ids.entries()) expect((await again(all.front, id)).body.equals(first[n]!.body)).toBe(true);
    const later = freshId();
    expect(refersTo((await again(all.front, later)).body)).toBe(later);
    expect(all.upstream.requests).toHaveLength(ids.length + 1);
  });

  it('MOVED, ASK and TRYAGAIN: the slots of a master move away under load; each message is delivered once', async () => {
    const redis = await cluster();
    const all = await started(nodesOf(redis), { ledgerOutage: '40s', settle: '40s' });
    const kept = Array.from({ length: 40 }, freshId);
    const before = await Promise.all(kept.map((id) => post(all.front.url, message(id))));
    // one slot stands half here and half there: whoever needs all of its names is asked to come again
    const [from, to, third] = redis.nodes as [RedisServer, RedisServer, RedisServer];
    const halved = await keptBy(from, all.front, kept);
    await beginToMove(halved.slot, from, to);
    await from.command('MIGRATE', '127.0.0.1', to.port, `as4-once:{${halved.bucket}}:n`, 0, 5_000);
    const halfway = post(all.front.url, message(halved.id));
    await eventually(
      async () => await from.info('errorstat_TRYAGAIN'),
      () => 'Redis to say TRYAGAIN',
    );
    const load = { on: true };
    const sent = new Map<string, Answer>();
    const senders = Promise.all(
      Array.from({ length: 4 }, async () => {
        while (load.on) {
          const id = freshId();
          sent.set(id, await post(all.front.url, message(id)));
        }
      }),
    );
    await moveSlots(from, to, third);
    load.on = false;
    await senders;
    expect((await halfway).headers['as4-once-answer']).toBe('replay');
    expect(Number(await from.command('DBSIZE'))).toBe(0);
    expect(await from.info('errorstat_MOVED')).toMatch(/^count=/);
    expect(sent.size).toBeGreaterThan(20);
    expect([...sent].filter(([id, answer]) => refersTo(answer.body) !== id)).toEqual([]);
    for (const [n, id] of kept.entries()) expect((await again(all.front, id)).body.equals(before[n]!.body)).toBe(true);
    for (const [id, answer] of sent) expect((await again(all.front, id)).body.equals(answer.body)).toBe(true);
    expect(all.upstream.requests.map((request) => request.header('as4-once-copy'))).toEqual(
      Array.from({ length: kept.length + sent.size }, () => 'first'),
    );
  }, 180_000);

  it('NOREPLICAS: a server that wants a replica and has none takes no claim, and none is invented', async () => {
    const redis = await startRedis({ appendonly: 'yes', 'min-replicas-max-lag': 10 });
    toClose.push(() => redis.close());
    const all = await started({ url: redis.url }, { ledgerOutage: '1s' });
    const id = freshId();
    const first = await post(all.front.url, message(id));
    await redis.set('min-replicas-to-write', 1);
    for (const next of [freshId(), id]) {
      const refused = await post(all.front.url, message(next));
      expect([refused.status, refused.body.toString().split(':')[0]]).toEqual([503, 'LEDGER_DOWN']);
    }
    await redis.set('min-replicas-to-write', 0);
    expect((await again(all.front, id)).body.equals(first.body)).toBe(true);
    expect(all.upstream.requests).toHaveLength(1);
  });
});

const LAST_OF_FIRST = 5_461;
const slotOf = async (node: RedisServer, bucket: string): Promise<number> =>
  Number(await node.command('CLUSTER', 'KEYSLOT', `{${bucket}}`));

/** One of the messages whose record lies with the first master. */
async function keptBy(
  node: RedisServer,
  front: Front,
  ids: readonly string[],
): Promise<{ id: string; bucket: string; slot: number }> {
  for (const id of ids) {
    const bucket = String((await front.logged({ event: 'exchange', messageId: id })).key).slice(0, 2);
    const slot = await slotOf(node, bucket);
    if (slot <= LAST_OF_FIRST) return { id, bucket, slot };
  }
  throw new Error('no record lies with the first master');
}

async function beginToMove(slot: number, from: RedisServer, to: RedisServer): Promise<void> {
  await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(await from.command('CLUSTER', 'MYID')));
  await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(await to.command('CLUSTER', 'MYID')));
}

/** As `redis-cli --cluster reshard` does it, for all slots that the ledger has names for: key by key. */
async function moveSlots(from: RedisServer, to: RedisServer, third: RedisServer): Promise<void> {
  const target = String(await to.command('CLUSTER', 'MYID'));
  const buckets = Array.from({ length: 256 }, (_, n) => n.toString(16).padStart(2, '0'));
  for (const bucket of [...buckets, 'meta']) {
    const slot = await slotOf(from, bucket);
    if (slot > LAST_OF_FIRST) continue;
    await beginToMove(slot, from, to);
    for (;;) {
      const keys = (await from.command('CLUSTER', 'GETKEYSINSLOT', slot, 1)) as string[];
      if (keys.length === 0) break;
      await from.command('MIGRATE', '127.0.0.1', to.port, '', 0, 5_000, 'KEYS', ...keys);
    }
    for (const node of [to, from, third]) await node.command('CLUSTER', 'SETSLOT', slot, 'NODE', target);
  }
}
