import { readFileSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { after, ebmsError, plain, receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { tempDir } from '../support/temp-dir.js';
import { eventually, startFront, stopFronts, type Front } from '../front/front-process.js';
import { freshId, gate, message, post, refersTo, signedMessage } from '../front/messages.js';

/**
 * Two weeks in shadow must cost nobody anything. It was not so: an attempt that ended uncertain was answered 502 instead of
 * with the access point's own words, and with the ledger away a message waited for it, or got 503.
 */
describe('modes while the ledger is away', () => {
  let redis: RedisServer;
  let upstream: ScriptedUpstream;
  let front: Front;
  beforeEach(async () => {
    redis = await startRedis({ appendonly: 'yes' });
    upstream = await startUpstream(receipt());
    const folder = tempDir('modes');
    front = await startFront({
      upstream: upstream.url,
      ledger: { redis: { url: redis.url, commandTimeout: '500ms' } },
      journal: `${folder.path}/journal`,
      state: `${folder.path}/state`,
      defaults: { mode: 'shadow', key: 'reference+sender', previousKey: 'reference' },
      partners: [
        { match: { from: 'DETECT' }, mode: 'detect-only' },
        { match: { from: 'ELIMINATE' }, mode: 'eliminate' },
      ],
      times: { ledgerOutage: '600ms', settle: '600ms' },
    });
  });
  afterEach(async () => {
    await stopFronts();
    await upstream.close();
    await redis.close();
  });
  const away = async (): Promise<void> => {
    await redis.stop();
    await eventually(
      async () => ((await fetch(`${front.admin}/healthz/ledger`)).status === 503 ? true : undefined),
      () => 'the loss to be seen',
    );
  };

  it("shadow goes on, unmarked, with the access point's own answer, and says that it does not know", async () => {
    await away();
    upstream.next(plain(202, 'text/html', 'taken'), ebmsError({ code: 'EBMS:4001' }), receipt());
    const ids = [freshId(), freshId(), freshId()];
    const answers = [];
    for (const id of ids) answers.push(await post(front.url, message(id)));
    expect(answers.map(({ status }) => status)).toEqual([202, 200, 200]);
    expect([answers[0]!.body.toString(), refersTo(answers[2]!.body)]).toEqual(['taken', ids[2]]);
    for (const id of ids)
      expect(await front.logged({ event: 'exchange', messageId: id })).toMatchObject({
        mode: 'shadow',
        would: 'unknown',
        answer: 'forwarded',
      });
    expect(upstream.requests.every((request) => request.header('as4-once-copy') === undefined)).toBe(true);
  });

  it('shadow goes on with what cannot be read, and reports it', async () => {
    const broken = await post(front.url, {
      body: Buffer.from('<not-soap/>'),
      headers: { 'content-type': 'application/soap+xml' },
    });
    expect(broken.status).toBe(200);
    expect(upstream.requests).toHaveLength(1);
    expect(await front.logged({ event: 'exchange', mode: 'shadow', would: 'refuse' })).toMatchObject({
      answer: 'passed',
    });
  });

  it('shadow: the ledger is lost while the access point works, and its answer leaves all the same', async () => {
    const id = freshId();
    const working = gate();
    upstream.next(after(working.opened, receipt()));
    const answer = post(front.url, message(id));
    await upstream.arrived(1);
    await redis.kill();
    working.open();
    expect([(await answer).status, refersTo((await answer).body)]).toEqual([200, id]);
  });

  it('what shadow saw counts after the switch', async () => {
    const id = freshId();
    const first = await post(front.url, signedMessage(id));
    await redis.stop();
    await redis.restart();
    const file = front.configFile;
    writeFileSync(file, readFileSync(file, 'utf8').replace('mode: shadow', 'mode: eliminate'));
    front.process.signal('SIGHUP');
    await front.logged({ event: 'reload' });
    const copy = await eventually(
      async () => {
        const answer = await post(front.url, signedMessage(id));
        return answer.status === 200 ? answer : undefined;
      },
      () => 'Redis to be found again',
    );
    expect([copy.headers['as4-once-answer'], copy.body.equals(first.body)]).toEqual(['replay', true]);
    expect(upstream.requests).toHaveLength(1);
  });

  it('detect-only and eliminate hold, then 503: without a ledger nobody knows what is a copy', async () => {
    await away();
    for (const from of ['DETECT', 'ELIMINATE']) {
      const refused = await post(front.url, signedMessage(freshId(), { from }));
      expect([refused.status, refused.body.toString().split(':')[0]]).toEqual([503, 'LEDGER_DOWN']);
    }
    expect(upstream.requests).toHaveLength(0);
  });
});
