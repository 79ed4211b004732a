import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { faultProxy, type FaultProxy } from '../support/fault-proxy.js';
import { receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { ENGINES, startEngine, type Engine } from './engines.js';
import { eventually, startFront, stopFronts, type Front } from './front-process.js';
import { freshId, message, post, refersTo } from './messages.js';

/** The network between front and Redis: a claim that was granted and never heard of, and no Redis at all. */
describe.each(ENGINES.slice(1))('the way to the ledger breaks: %s', (engineName) => {
  let engine: Engine;
  let proxy: FaultProxy;
  let upstream: ScriptedUpstream;
  let front: Front;
  /** Gives up on the ledger soon. */
  let hasty: Front;
  let before = 0;
  beforeAll(async () => {
    engine = await startEngine(engineName);
    proxy = await faultProxy({ port: engine.redis!.port });
    upstream = await startUpstream(receipt());
    const settings = { upstream: upstream.url, ...engine.through(proxy.port) };
    [front, hasty] = await Promise.all([startFront(settings), startFront({ ...settings, times: { ledgerOutage: '300ms' } })]);
    await Promise.all([post(front.url, message(freshId())), post(hasty.url, message(freshId()))]);
  });
  afterAll(async () => {
    await stopFronts();
    await upstream.close();
    await proxy.close();
    await engine.close();
  });
  beforeEach(() => {
    before = upstream.requests.length;
  });
  afterEach(() => proxy.heal());

  it('the reply of the claim is lost, 50 times: the front recognises each claim as its own and delivers once', async () => {
    const ids = Array.from({ length: 50 }, freshId);
    let eaten = 0;
    for (let at = 0; at < ids.length; at += 2) {
      await Promise.all(ids.slice(at, at + 2).map(async (id) => {
        // the first command that names the message is the one that writes its claim
        const lost = proxy.eatReply({ pattern: id }).then(() => (eaten += 1));
        const answer = await post(front.url, message(id));
        await lost;
        expect([answer.status, refersTo(answer.body), answer.headers['as4-once-answer']]).toEqual([200, id, undefined]);
      }));
    }
    expect(eaten).toBe(50);
    const delivered = upstream.requests.slice(before);
    expect(delivered.map((request) => request.header('as4-once-copy'))).toEqual(ids.map(() => 'first'));
    expect(new Set(delivered.map((request) => /MessageId>([^<]*)</.exec(request.body.toString('latin1'))?.[1]))).toEqual(new Set(ids));
    for (const id of ids) expect(await front.logged({ event: 'exchange', messageId: id })).toMatchObject({ answer: 'first', attempt: 1, copies: 0 });
    expect(front.log().filter((line) => line.event === 'takeOver')).toEqual([]);
  });

  it('Redis is stopped: 503 after a bounded hold, nothing delivered, nothing invented; back, the retry is a first message', async () => {
    const id = freshId();
    await engine.redis!.stop();
    const [first, copy] = [await post(hasty.url, message(id)), await post(hasty.url, message(id))];
    for (const refused of [first, copy]) {
      expect(refused).toMatchObject({ status: 503, headers: { 'retry-after': expect.stringMatching(/^\d+$/), 'content-type': 'text/plain; charset=utf-8' } });
      expect(refused.body.toString()).toMatch(/^LEDGER_DOWN/);
    }
    expect(await (await fetch(`${hasty.admin}/healthz/ledger`)).json()).toMatchObject({ status: 'down', ledger: { up: false } });
    expect((await fetch(`${hasty.admin}/readyz`)).status).toBe(200);
    await engine.redis!.restart();
    const retry = await eventually(async () => {
      const answer = await post(hasty.url, message(id));
      return answer.status === 200 ? answer : undefined;
    }, () => 'the front to find Redis again');
    expect(refersTo(retry.body)).toBe(id);
    expect(upstream.requests.length).toBe(before + 1);
    expect(upstream.requests.at(-1)!.header('as4-once-copy')).toBe('first');
    await eventually(async () => ((await fetch(`${hasty.admin}/healthz/ledger`)).status === 200 ? true : undefined), () => 'health');
  });

  it('a claim was granted, its reply lost, and Redis gone for longer than the hold: nobody has seen the message, and its retry is a first one', async () => {
    const id = freshId();
    const granted = proxy.eatReply({ pattern: id }).then(() => proxy.refuse());
    expect((await post(hasty.url, message(id))).body.toString()).toMatch(/^LEDGER_DOWN/);
    await granted;
    proxy.heal();
    const retry = await post(front.url, message(id));
    expect(refersTo(retry.body)).toBe(id);
    expect(upstream.requests.length).toBe(before + 1);
    expect(upstream.requests.at(-1)!.header('as4-once-copy')).toBe('first');
  });

  it('Redis is back within the hold: the request that waited is delivered, and its sender notices nothing', async () => {
    const id = freshId();
    await engine.redis!.stop();
    const held = post(front.url, message(id));
    // whoever gives up soon has given up: the patient one is waiting by now
    expect((await post(hasty.url, message(freshId()))).status).toBe(503);
    expect(upstream.requests.length).toBe(before);
    await engine.redis!.restart();
    expect(refersTo((await held).body)).toBe(id);
    expect(upstream.requests.length).toBe(before + 1);
  });

  it('Redis is lost while the access point works: the Receipt is sent from the journal and settled when Redis is back', async () => {
    const id = freshId();
    const journaling = await startFront({ upstream: upstream.url, ...engine.through(proxy.port), times: { settle: '200ms' } });
    upstream.next({ ...receipt(), at: 'body', act: async (request, socket) => {
      proxy.refuse();
      proxy.cut();
      await receipt().act(request, socket);
    } });
    const first = await post(journaling.url, message(id));
    expect([first.status, refersTo(first.body)]).toEqual([200, id]);
    await journaling.logged({ event: 'journaled', messageId: id });
    proxy.heal();
    // health looks by itself; asking for it makes it look now
    await eventually(async () => ((await fetch(`${journaling.admin}/healthz/ledger`)).status === 200 ? true : undefined), () => 'Redis to be found again');
    await journaling.logged({ event: 'journalClosed', messageId: id });
    const copy = await post(journaling.url, message(id));
    expect(copy.body.equals(first.body)).toBe(true);
    expect(copy.headers['as4-once-answer']).toBe('replay');
    expect(upstream.requests.length).toBe(before + 1);
  });
});
