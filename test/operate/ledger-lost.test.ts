import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually, startFront, stopFronts, type Front, type Settings } from '../front/front-process.js';
import { freshId, message, post, refersTo } from '../front/messages.js';
import { receipt } from '../support/scripted-answers.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';
import { json, operator } from './operator.js';

/** The ledger gone, or gone back in time, under running servers. */
describe('without the ledger', () => {
  let redis: RedisServer;
  let upstream: ScriptedUpstream;
  let folder: TempDir;
  let settings: Settings;
  beforeAll(async () => {
    upstream = await startUpstream(receipt());
  });
  afterAll(() => upstream.close());
  beforeEach(async () => {
    redis = await startRedis();
    folder = tempDir('lost');
    const { path } = folder;
    settings = {
      upstream: upstream.url, ledger: { redis: redis.url }, journal: `${path}/journal`, spool: `${path}/spool`, state: `${path}/state`,
      times: { ledgerOutage: '300ms', retryAfter: '1s' },
    };
  });
  afterEach(async () => {
    await stopFronts();
    await redis.close();
    folder.remove();
  });

  const copyOf = (): string | undefined => upstream.requests.at(-1)?.header('as4-once-copy');
  const healthy = async (front: Front): Promise<string> => (await (await fetch(`${front.admin}/healthz`)).json() as { status: string }).status;

  it('bypass: messages go on unclaimed and marked, the log names them, and it ends by itself; then they are imported', async () => {
    const fronts = await Promise.all([startFront(settings), startFront(settings)]);
    const [front] = fronts;
    const cli = operator(front.configFile);
    const before = freshId();
    await post(front.url, message(before));
    await redis.stop();
    const refused = await post(front.url, message(freshId()));
    expect([refused.status, refused.headers['content-type']]).toEqual([503, 'text/plain; charset=utf-8']);

    expect((await cli('bypass', 'on', '--for', '30m')).code).toBe(2);
    expect((await cli('bypass', 'on', '--for', '3d', '--reason', 'moved')).code).toBe(2);
    expect(await cli('bypass', 'on', '--for', '30m', '--reason', 'redis is being moved')).toMatchObject({ code: 0, stderr: '' });
    for (const one of fronts) await one.logged({ event: 'bypass', on: true, reason: 'redis is being moved' });
    const [during, copied] = [freshId(), freshId()];
    for (const [i, id] of [during, copied, copied, before].entries()) {
      const answer = await post(fronts[i % 2]!.url, message(id));
      expect([answer.status, refersTo(answer.body), copyOf()]).toEqual([200, id, 'bypass']);
    }
    expect(await front.logged({ event: 'exchange', messageId: during })).toMatchObject({ answer: 'forwarded', mode: 'bypass', outcome: 'accepted' });
    expect((await cli('bypass', 'status')).code).toBe(0);

    await redis.restart();
    // it ends by itself: no longer than asked for
    expect(await cli('bypass', 'on', '--for', '1s', '--reason', 'the rest')).toMatchObject({ code: 0 });
    for (const one of fronts) await one.logged({ event: 'bypass', on: false });
    expect((await cli('bypass', 'status')).code).toBe(1);

    await front.metricIs('as4_once_ledger_up', 1);
    writeFileSync(join(folder.path, 'both.log'), fronts.map((one) => one.process.stdout()).join(''));
    const imported = await json<Record<string, number>>(cli('import', join(folder.path, 'both.log'), '--write', '--json'));
    expect(imported).toMatchObject({ fresh: 3, bad: 0 });
    await post(front.url, message(during));
    expect(await front.logged({ event: 'exchange', messageId: during }, 2)).toMatchObject({ answer: 'forwarded' });
    expect(copyOf()).toBe('duplicate');
    await stopOrderly(fronts);
    const { summary } = await json<{ summary: { answers: Record<string, number>; arrived: number; unanswered: number }[] }>(cli('report', '--json'));
    expect(summary[0]).toMatchObject({ arrived: 7, unanswered: 0, answers: { bypassed: 4, unavailable: 1, first: 1, forwarded: 1 } });
  });

  const stopOrderly = async (fronts: readonly Front[]): Promise<void> => void await Promise.all(fronts.map((front) => front.stop()));

  it('a ledger that was flushed: red, first copies that may be older go on marked, until an operator accepts it', async () => {
    const fronts = await Promise.all([startFront({ ...settings, node: 'a' }), startFront({ ...settings, node: 'b' })]);
    const [front] = fronts;
    const cli = operator(front.configFile);
    const delivered = freshId();
    await post(front.url, message(delivered));
    await seen(cli, 1);
    await redis.command('FLUSHALL');
    for (const one of fronts) {
      await one.logged({ event: 'behind', behind: true });
      expect(await healthy(one)).toBe('down');
    }
    // a retry of what was delivered before the loss: it cannot be known, so it goes on, marked
    await post(front.url, message(delivered));
    expect(copyOf()).toBe('redelivery');
    expect(await front.logged({ event: 'gap', messageId: delivered })).toBeDefined();
    // its copy is one again
    expect((await post(fronts[1].url, message(delivered))).headers['as4-once-answer']).toBe('replay');
    // made after the loss was noticed: certainly new
    await post(front.url, message(freshId(), { timestamp: new Date(Date.now() + 3_600_000).toISOString() }));
    expect(copyOf()).toBe('first');
    const status = await json<{ nodes: { node: string; inOrder: boolean }[] }>(cli('ledger', 'status', '--json'), 1);
    expect(status.nodes.map(({ inOrder }) => inOrder)).toEqual([false, false]);
    expect((await cli('doctor', '--config', front.configFile)).code).toBe(1);

    expect((await cli('ledger', 'accept', '--reason', 'flushed by mistake')).code).toBe(0);
    for (const one of fronts) await one.logged({ event: 'behind', behind: false });
    const next = freshId();
    await post(front.url, message(next));
    expect(copyOf()).toBe('first');
    expect((await cli('ledger', 'status')).code).toBe(0);
  });

  it('strict: nothing is decided with a ledger that forgot, over a restart of the server too', async () => {
    const strict = { ...settings, ledger: { redis: redis.url, strict: true } };
    await redis.set('appendonly', 'yes');
    await redis.set('appendfsync', 'always');
    let front = await startFront(strict);
    const cli = operator(front.configFile);
    await post(front.url, message(freshId()));
    await seen(cli, 1);
    await redis.command('FLUSHALL');
    await front.logged({ event: 'behind', behind: true });
    const before = upstream.requests.length;
    const id = freshId();
    const refused = await post(front.url, message(id));
    expect([refused.status, refused.body.toString()]).toEqual([503, expect.stringContaining('LEDGER_BEHIND')]);
    await front.kill();
    front = await startFront(strict);
    expect((await post(front.url, message(id))).status).toBe(503);
    expect(upstream.requests.length).toBe(before);
    expect((await cli('ledger', 'accept', '--reason', 'flushed on purpose')).code).toBe(0);
    await front.logged({ event: 'behind', behind: false });
    expect((await post(front.url, message(id))).status).toBe(200);
    expect(upstream.requests.length).toBe(before + 1);
  });

  /** Every node has written down that it saw so many settles. */
  async function seen(cli: ReturnType<typeof operator>, settles: number): Promise<void> {
    const { seenIn } = await import('../../src/operate/sentinel.js');
    const nodes = (): number[] => [...seenIn(`${folder.path}/state`).values()].map((one) => one.settles);
    await eventually(() => (nodes().length > 0 && nodes().every((n) => n === settles) ? true : undefined), () => `nodes to see ${settles} settles, not ${nodes().join(', ')}`);
    expect((await json<{ settles: number }>(cli('ledger', 'status', '--json'))).settles).toBe(settles);
  }
});
