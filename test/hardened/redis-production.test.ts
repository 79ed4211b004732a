import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createSentinel } from 'redis';
import { afterEach, describe, expect, it } from 'vitest';
import { makeIdentity } from '../../conformance/keys.js';
import { redisLedger, type RedisLedgerOptions } from '../../src/ledger/redis/index.js';
import { sampleAttempt, sampleClaim, sampleKey, samplePoint } from '../../src/testing/sample.js';
import { ROOT } from '../support/child.js';
import { freePort } from '../support/free-port.js';
import { receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { startRedisCluster } from '../support/redis-cluster.js';
import { startRedisSentinels } from '../support/redis-sentinel.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { tempDir } from '../support/temp-dir.js';
import { startFront, stopFronts, type Front, type Settings } from '../front/front-process.js';
import { freshId, message, post, refersTo } from '../front/messages.js';

const toClose: (() => unknown)[] = [];
afterEach(async () => {
  await stopFronts();
  for (const close of toClose.splice(0).toReversed()) await close();
});
const CLIENTS = ['ioredis', 'node-redis'] as const;

async function front(redis: Settings, more: Settings = {}): Promise<{ upstream: ScriptedUpstream; front: Front }> {
  const upstream = await startUpstream(receipt());
  const folder = tempDir('redis-production');
  toClose.push(
    () => upstream.close(),
    () => folder.remove(),
  );
  const started = await startFront({
    upstream: upstream.url,
    ledger: { redis },
    journal: `${folder.path}/journal`,
    state: `${folder.path}/state`,
    ...more,
  });
  return { upstream, front: started };
}

/** A message and its copy, as everybody needs them. */
async function worksThrough({ upstream, front: { url } }: { upstream: ScriptedUpstream; front: Front }): Promise<void> {
  const id = freshId();
  const first = await post(url, message(id));
  expect([first.status, refersTo(first.body)]).toEqual([200, id]);
  const copy = await post(url, message(id));
  expect([copy.headers['as4-once-answer'], copy.body.equals(first.body)]).toEqual(['replay', true]);
  expect(upstream.requests.filter(({ body }) => body.includes(id))).toHaveLength(1);
}

/**
 * With node-redis and waitReplicas no claim was ever granted: its Sentinel client leases a connection of its pool for each
 * command that begins before the first one has got any, and never gives those back, so that after the burst at start
 * nothing was left for a claim and its WAIT.
 */
describe('Sentinel', () => {
  // both clients at once, each with servers of its own: most of it is waiting
  it('the master is gone for 15 seconds under load: every request is held, answered and delivered once, with either client', async () => {
    await Promise.all(CLIENTS.map(overTheFailover));
  }, 180_000);

  async function overTheFailover(client: (typeof CLIENTS)[number]): Promise<void> {
    const sentinels = await startRedisSentinels();
    toClose.push(() => sentinels.close());
    // the failover begins only after twelve seconds
    for (const sentinel of sentinels.sentinels)
      await sentinel.command('SENTINEL', 'SET', sentinels.name, 'down-after-milliseconds', 12_000);
    const nodes = sentinels.sentinels.map(({ port }) => `127.0.0.1:${port}`);
    const all = await front(
      { sentinel: { name: sentinels.name, nodes }, client, waitReplicas: 1, commandTimeout: '1s' },
      // on a machine that is busy a failover takes longer than its own times say
      { times: { ledgerOutage: '60s', settle: '60s', answerBy: '100s', wait: '50s', lease: '90s' } },
    );
    await worksThrough(all);
    const old = await sentinels.master();
    const ids = Array.from({ length: 12 }, freshId);
    const before = ids.slice(0, 4).map((id) => post(all.front.url, message(id)));
    await old.kill();
    const during = ids.slice(4).map((id) => post(all.front.url, message(id)));
    await sentinels.failedOver(old, 60_000);
    const answers = await Promise.all([...before, ...during]);
    expect(answers.map((answer) => [answer.status, refersTo(answer.body)])).toEqual(ids.map((id) => [200, id]));
    for (const id of ids) {
      const marks = all.upstream.requests
        .filter(({ body }) => body.includes(id))
        .map((request) => request.header('as4-once-copy'));
      expect(marks.filter((mark) => mark === 'first')).toHaveLength(1);
    }
    for (const [n, id] of ids.entries())
      expect(refersTo((await post(all.front.url, message(id))).body), `copy ${n}`).toBe(id);
    if (client === 'node-redis') await callersClient(sentinels.name, sentinels.sentinels);
  }
});

/** A client handed in, whose pool holds one connection, takes a burst too. */
async function callersClient(name: string, sentinels: readonly RedisServer[]): Promise<void> {
  const client = createSentinel({
    name,
    sentinelRootNodes: sentinels.map(({ port }) => ({ host: '127.0.0.1', port })),
    masterPoolSize: 1,
  });
  client.on('error', () => undefined);
  await client.connect();
  const ledger = await redisLedger({ client, waitReplicas: 1 });
  const claims = Array.from({ length: 40 }, (_, n) => sampleClaim(sampleKey(`burst ${n}`), 'a'));
  const [answers, held] = await Promise.all([
    Promise.all(claims.map((claim) => ledger.claim(claim))),
    ledger.list('held'),
  ]);
  expect([answers.every(({ kind }) => kind === 'claimed'), held]).toEqual([true, []]);
  await ledger.close();
  expect(client.isOpen).toBe(true);
  await client.destroy();
}

describe.each(CLIENTS)('Cluster, with %s', (client) => {
  it('two fronts over three masters: distinct messages spread, copies on the other front are replayed', async () => {
    const cluster = await startRedisCluster();
    toClose.push(() => cluster.close());
    const redis = { cluster: { nodes: cluster.nodes.map(({ port }) => `127.0.0.1:${port}`) }, client };
    const one = await front(redis);
    const two = await startFront({ upstream: one.upstream.url, ledger: { redis } });
    const ids = Array.from({ length: 30 }, freshId);
    const first = await Promise.all(ids.map((id) => post(one.front.url, message(id))));
    const copies = await Promise.all(ids.map((id) => post(two.url, message(id))));
    expect(first.map((answer) => refersTo(answer.body))).toEqual(ids);
    for (const [n, copy] of copies.entries()) expect(copy.body.equals(first[n]!.body)).toBe(true);
    expect(one.upstream.requests).toHaveLength(ids.length);
    for (const node of cluster.nodes) expect(Number(await node.command('DBSIZE'))).toBeGreaterThan(0);
  });
});

describe.each(CLIENTS)('waitReplicas, with %s', (client) => {
  it('without its replica nothing is claimed or delivered, and health says why', async () => {
    const redis = await startRedis({ appendonly: 'yes' });
    toClose.push(() => redis.close());
    const all = await front(
      { url: redis.url, client, waitReplicas: 1, commandTimeout: '500ms' },
      { times: { ledgerOutage: '500ms' } },
    );
    const refused = await post(all.front.url, message(freshId()));
    expect([refused.status, refused.body.toString().split(':')[0]]).toEqual([503, 'LEDGER_DOWN']);
    expect(all.upstream.requests).toHaveLength(0);
    const health = (await (await fetch(`${all.front.admin}/healthz`)).json()) as { warnings: { code: string }[] };
    expect(health.warnings.map(({ code }) => code)).toContain('STORE_REPLICAS_MISSING');
  });
});

describe('TLS', () => {
  it('to a server that wants a client certificate, with the names checked, by both clients', async () => {
    const folder = tempDir('redis-tls');
    toClose.push(() => folder.remove());
    const authority = makeIdentity('ledger authority');
    const files = (name: string): { cert: string; key: string } => {
      const made = makeIdentity(name, { issuer: authority });
      const [cert, key] = [join(folder.path, `${name}.pem`), join(folder.path, `${name}.key`)];
      writeFileSync(cert, made.certificatePem);
      writeFileSync(key, made.keyPem);
      return { cert, key };
    };
    const ca = join(folder.path, 'ca.pem');
    writeFileSync(ca, authority.certificatePem);
    const [ours, theirs] = [files('front'), files('redis.test')];
    const port = await freePort();
    const redis = await startRedis({
      'tls-port': port,
      'tls-cert-file': theirs.cert,
      'tls-key-file': theirs.key,
      'tls-ca-cert-file': ca,
      'tls-auth-clients': 'yes',
    });
    toClose.push(() => redis.close());
    const tls = { ca, certificate: ours.cert, key: ours.key, serverName: 'redis.test' };
    for (const client of CLIENTS) await worksThrough(await front({ url: `rediss://127.0.0.1:${port}`, client, tls }));
    const { front: refused, upstream } = await front(
      { url: `rediss://127.0.0.1:${port}`, tls: { ...tls, serverName: 'somebody-else' } },
      { times: { ledgerOutage: '300ms' } },
    );
    expect((await post(refused.url, message(freshId()))).status).toBe(503);
    expect(upstream.requests).toHaveLength(0);
  });
});

describe('the ACL of docs/redis.md', () => {
  const rule = /^user as4once (.*)$/m.exec(readFileSync(join(ROOT, 'docs', 'redis.md'), 'utf8'))?.[1]?.split(' ') ?? [];
  const setUser = async (redis: RedisServer, without?: string): Promise<void> => {
    const words = rule.filter((word) => word !== without).map((word) => (word === '>PASSWORD' ? '>secret' : word));
    await redis.command('ACL', 'SETUSER', 'as4once', 'reset', ...words);
  };

  it('is enough for a front with either client', async () => {
    const redis = await startRedis();
    toClose.push(() => redis.close());
    await setUser(redis);
    for (const client of CLIENTS)
      await worksThrough(await front({ url: redis.url, client, username: 'as4once', password: 'secret' }));
    await redis.command('FLUSHALL');
    expect(await everything({ url: redis.url, username: 'as4once', password: 'secret' })).toEqual([]);
  });

  it('holds nothing that is not needed', async () => {
    const needless: string[] = [];
    const commands = rule.filter((word) => word.startsWith('+'));
    expect(commands.length).toBeGreaterThan(15);
    const left = [...commands];
    // a few at a time, each with a server of its own: a command that is not allowed is noticed by waiting
    const worker = async (): Promise<void> => {
      const redis = await startRedis();
      toClose.push(() => redis.close());
      for (let command = left.pop(); command !== undefined; command = left.pop()) {
        await redis.command('FLUSHALL');
        await redis.command('SCRIPT', 'FLUSH');
        await setUser(redis, command);
        const failed = await everything({
          url: redis.url,
          username: 'as4once',
          password: 'secret',
          prefix: 'as4-once:',
          commandTimeout: 1_000,
          connectTimeout: 500,
        });
        if (failed.length === 0) needless.push(command);
      }
    };
    await Promise.all(Array.from({ length: 6 }, worker));
    expect(needless).toEqual([]);
  });
});

/** All that the ledger does, by name of what could not be done. */
async function everything(options: RedisLedgerOptions): Promise<readonly string[]> {
  const failed: string[] = [];
  const ledger = await redisLedger(options);
  const step = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    await work().catch(() => failed.push(name));
  };
  const claim = sampleClaim(sampleKey('one'), 'a');
  const other = sampleClaim(sampleKey('two'), 'a');
  let woken = (): void => undefined;
  const wake = new Promise<void>((resolve) => (woken = resolve));
  const unwatch = ledger.watch(claim.key, woken);
  const elsewhere = await redisLedger(options);
  try {
    await step('claim', () => ledger.claim(claim));
    await step('duplicate', () => ledger.claim({ ...claim, token: 'b' }));
    await step('point', () => ledger.point(samplePoint(sampleKey('pointer'), claim)));
    await step('settle elsewhere', async () => {
      // a subscription may need a moment; the poll of whoever waits would not mind
      for (let tries = 0; tries < 20; tries += 1) {
        const attempt = { ...claim, token: `wake ${tries}` };
        await elsewhere.release(sampleAttempt(attempt).release('rejected', { hold: false, counts: false }));
        await new Promise((resolve) => setTimeout(resolve, 25));
      }
      await elsewhere.settle(sampleAttempt(claim).settle('one'));
    });
    await step('wake', () =>
      Promise.race([wake, new Promise((_, reject) => setTimeout(() => reject(new Error('not woken')), 2_000))]),
    );
    await step('hold', async () => {
      await ledger.claim(other);
      await ledger.release(sampleAttempt(other).release('uncertain', { hold: true }));
    });
    await step('list', async () => expect(await ledger.list('held')).toHaveLength(1));
    await step('iterate', async () => {
      let seen = 0;
      for await (const { record } of ledger.iterate()) if (record.key !== '') seen += 1;
      expect(seen).toBe(3);
    });
    await step('stats', async () => expect((await ledger.stats()).bytes).toBeGreaterThan(0));
    await step('meta', async () => expect((await ledger.meta()).settles).toBe(1));
    await step('accept', () => ledger.accept({ who: 'test', reason: 'test' }));
    await step('note', async () => {
      await ledger.note({ shelf: 'test', entries: { a: 'x', b: 'y' }, keptMs: 3_600_000 });
      await ledger.note({ shelf: 'test', entries: { a: null }, keptMs: 3_600_000 });
      expect([...(await ledger.notes('test'))]).toEqual([['b', 'y']]);
    });
  } finally {
    unwatch();
    await elsewhere.close();
    await ledger.close();
  }
  return failed;
}
