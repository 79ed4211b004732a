import { mkdirSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { after, receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { startRedis, type RedisServer, type RedisSettings } from '../support/redis-server.js';
import { tempDir } from '../support/temp-dir.js';
import type { Answer } from '../support/send.js';
import { eventually, startFront, stopFronts, type Front, type Settings } from '../front/front-process.js';
import { freshId, gate, message, post, refersTo } from '../front/messages.js';

/** What Redis can be at the worst moment, met by a front that runs: nothing is lost, doubled, or answered for another. */
describe.each(['ioredis', 'node-redis'] as const)('Redis at the worst moment, with %s', (client) => {
  const toClose: (() => unknown)[] = [];
  afterEach(async () => {
    await stopFronts();
    for (const close of toClose.splice(0).toReversed()) await close();
  });

  async function world(
    settings: Settings = {},
    redisSettings: RedisSettings = {},
  ): Promise<{ redis: RedisServer; upstream: ScriptedUpstream; front: Front }> {
    const redis = await startRedis(redisSettings);
    const upstream = await startUpstream(receipt());
    const folder = tempDir('redis-states');
    toClose.push(
      () => redis.close(),
      () => upstream.close(),
      () => folder.remove(),
    );
    const front = await startFront({
      upstream: upstream.url,
      ledger: { redis: { url: redis.url, client, commandTimeout: '1s' } },
      journal: `${folder.path}/journal`,
      state: `${folder.path}/state`,
      ...settings,
      times: { settle: '1s', ledgerOutage: '1s', ...(settings['times'] as object) },
    });
    return { redis, upstream, front };
  }
  /** A message whose answer comes when the gate opens, at the access point already. */
  async function inWork({
    upstream,
    front,
  }: {
    upstream: ScriptedUpstream;
    front: Front;
  }): Promise<{ id: string; answer: Promise<Answer>; open: () => void }> {
    const id = freshId();
    const working = gate();
    const before = upstream.requests.length;
    upstream.next(after(working.opened, receipt()));
    const answer = post(front.url, message(id));
    await upstream.arrived(before + 1);
    return { id, answer, open: working.open };
  }
  const isReplayed = async (front: Front, id: string, first: Answer): Promise<void> => {
    expect([first.status, refersTo(first.body)]).toEqual([200, id]);
    const copy = await eventually(
      async () => {
        const answer = await post(front.url, message(id));
        return answer.status === 200 ? answer : undefined;
      },
      () => 'a copy to be answered',
    );
    expect(copy.body.equals(first.body)).toBe(true);
    expect(copy.headers['as4-once-answer']).toBe('replay');
  };
  const journalIsEmpty = async (front: Front, id: string): Promise<void> => {
    await eventually(
      async () => ((await fetch(`${front.admin}/healthz/ledger`)).status === 200 ? true : undefined),
      () => 'Redis to be well again',
    );
    await front.logged({ event: 'journalClosed', messageId: id });
  };

  it('flushed amid the delivery: the Receipt makes the record anew, and copies get it', async () => {
    const all = await world();
    const { id, answer, open } = await inWork(all);
    await all.redis.command('FLUSHALL');
    open();
    await isReplayed(all.front, id, await answer);
    expect(all.upstream.requests).toHaveLength(1);
    // what was forgotten beside it is told
    await all.front.logged({ event: 'behind', behind: true });
    expect(((await (await fetch(`${all.front.admin}/healthz`)).json()) as { status: string }).status).toBe('down');
  });

  it('restarted without its data amid the delivery: the same, and a first copy from before the loss goes on marked', async () => {
    const all = await world({ times: { ledgerOutage: '20s', settle: '5s' } });
    const lost = freshId();
    await post(all.front.url, message(lost));
    const { id, answer, open } = await inWork(all);
    await all.redis.restart();
    open();
    await isReplayed(all.front, id, await answer);
    await all.front.logged({ event: 'behind', behind: true });
    expect((await post(all.front.url, message(lost))).status).toBe(200);
    expect(all.upstream.requests.map((request) => request.header('as4-once-copy'))).toEqual([
      'first',
      'first',
      'redelivery',
    ]);
    await all.front.logged({ event: 'gap', messageId: lost });
  });

  it('paused for longer than a command may take: every request is held, delivered once and answered', async () => {
    const all = await world({ times: { ledgerOutage: '20s' } });
    const ids = Array.from({ length: 6 }, freshId);
    all.redis.pause();
    const answers = ids.map((id) => post(all.front.url, message(id)));
    await eventually(
      async () => ((await fetch(`${all.front.admin}/healthz/ledger`)).status === 503 ? true : undefined),
      () => 'the front to notice',
    );
    all.redis.resume();
    for (const [n, answer] of (await Promise.all(answers)).entries())
      expect([answer.status, refersTo(answer.body)]).toEqual([200, ids[n]]);
    expect(all.upstream.requests.map((request) => request.header('as4-once-copy'))).toEqual(ids.map(() => 'first'));
  });

  it('read-only at claim and at settle: 503 for what is new, the journal for what was delivered', async () => {
    const all = await world();
    const { id, answer, open } = await inWork(all);
    await all.redis.command('REPLICAOF', '127.0.0.1', '1');
    const refused = await post(all.front.url, message(freshId()));
    expect([refused.status, refused.body.toString().split(':')[0]]).toEqual([503, 'LEDGER_DOWN']);
    open();
    const first = await answer;
    await all.front.logged({ event: 'journaled', messageId: id });
    await all.redis.command('REPLICAOF', 'NO', 'ONE');
    await journalIsEmpty(all.front, id);
    await isReplayed(all.front, id, first);
    expect(all.upstream.requests).toHaveLength(1);
  });

  it('failing to save (MISCONF) at settle: the journal keeps the Receipt, and nothing new is claimed', async () => {
    const all = await world({}, { save: '3600 1000000', 'stop-writes-on-bgsave-error': 'yes', dbfilename: 'blocked' });
    const { id, answer, open } = await inWork(all);
    const blocked = join(all.redis.dir, 'blocked');
    mkdirSync(blocked);
    const saved = async (status: string): Promise<void> => {
      await all.redis.command('BGSAVE');
      await eventually(
        async () =>
          (await all.redis.info('rdb_bgsave_in_progress')) === '0' &&
          (await all.redis.info('rdb_last_bgsave_status')) === status
            ? true
            : undefined,
        () => `the snapshot to be ${status}`,
      );
    };
    await saved('err');
    const refused = await post(all.front.url, message(freshId()));
    expect([refused.status, refused.body.toString().split(':')[0]]).toEqual([503, 'LEDGER_DOWN']);
    open();
    const first = await answer;
    await all.front.logged({ event: 'journaled', messageId: id });
    rmdirSync(blocked);
    await saved('ok');
    await journalIsEmpty(all.front, id);
    await isReplayed(all.front, id, first);
    expect(all.upstream.requests).toHaveLength(1);
  });

  it('full (OOM) at settle: the settle fits all the same, copies are replayed, and new claims are refused until there is room', async () => {
    const all = await world();
    const { id, answer, open } = await inWork(all);
    await all.redis.set('maxmemory', Math.floor(Number(await all.redis.info('used_memory')) / 2));
    open();
    await isReplayed(all.front, id, await answer);
    await eventually(
      async () => {
        const refused = await post(all.front.url, message(freshId()));
        expect(refused.status).toBe(503);
        return refused.body.toString().startsWith('LEDGER_FULL') ? true : undefined;
      },
      () => 'the ledger to be called full',
    );
    expect(all.front.log().filter((line) => line.event === 'journaled')).toEqual([]);
    expect(all.upstream.requests).toHaveLength(1);
    await all.redis.set('maxmemory', 0);
    const later = freshId();
    await eventually(
      async () => ((await post(all.front.url, message(later))).status === 200 ? true : undefined),
      () => 'new claims to be taken again',
    );
  });

  it('above 90 % of maxmemory: no new claims although it would take them, health says so, copies are replayed', async () => {
    const all = await world();
    const id = freshId();
    const first = await post(all.front.url, message(id));
    // On an empty server 5 % are less than what one more connection takes, and it would be full and not nearly full.
    await all.redis.command('SETRANGE', 'ballast', String(64 << 20), 'x');
    await all.redis.set('maxmemory', Math.floor(Number(await all.redis.info('used_memory')) / 0.95));
    const refused = await eventually(
      async () => {
        const seen = await post(all.front.url, message(freshId()));
        return seen.status === 503 ? seen : undefined;
      },
      () => 'new claims to be refused',
    );
    expect(refused.body.toString()).toMatch(/^LEDGER_FULL/);
    expect(await all.redis.command('SET', 'still', 'room')).toBe('OK');
    await isReplayed(all.front, id, first);
    const health = (await (await fetch(`${all.front.admin}/healthz`)).json()) as {
      status: string;
      warnings: { code: string }[];
    };
    expect(health.warnings.map(({ code }) => code)).toContain('STORE_NEARLY_FULL');
    expect(await all.front.metric('as4_once_store_warning{code="STORE_NEARLY_FULL"}')).toBe(1);
  });
});
