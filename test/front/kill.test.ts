import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/port.js';
import { faultProxy } from '../support/fault-proxy.js';
import { after, hang, receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import type { Answer } from '../support/send.js';
import { ENGINES, startEngine, type Engine } from './engines.js';
import { eventually, startFront, startFrontFrom, stopFronts, type Front } from './front-process.js';
import { freshId, gate, message, post, refersTo } from './messages.js';

/**
 * SIGKILL at every step of the walk, then a restart and the sender's retry. Each step is reached by an event outside of
 * the process that dies: what its upstream, its ledger or its client has seen. Never lost; never delivered again without
 * a mark; and not at all where the access point would not recognise it.
 */
describe.each(ENGINES)('SIGKILL of the front: %s', (engineName) => {
  let engine: Engine;
  let ledger: Ledger;
  let upstream: ScriptedUpstream;
  let front: Front;
  /** Requests at the upstream before this test. */
  let before = 0;
  beforeAll(async () => {
    engine = await startEngine(engineName);
    ledger = await engine.open();
    upstream = await startUpstream(receipt());
    front = await startFront({
      upstream: upstream.url, ...engine.settings, times: { settle: '300ms', upstreamOutage: '20s' },
      // this one's access point recognises nothing, so that an uncertain attempt is an operator's matter
      partners: [{ match: { from: 'HOLDER' }, uncertain: 'hold' }],
    });
  });
  afterAll(async () => {
    await stopFronts();
    await upstream.close();
    await ledger.close();
    await engine.close();
  });
  beforeEach(() => {
    before = upstream.requests.length;
  });

  const restart = async (): Promise<void> => {
    await front.kill();
    front = await startFrontFrom(front.configFile);
  };
  /** The sender's answer, or that it saw the connection break. */
  const sent = (built: ReturnType<typeof message>): Promise<Answer | 'broken'> => post(front.url, built).catch(() => 'broken' as const);
  const stateOf = async (id: string): Promise<string | undefined> => {
    for await (const { record } of ledger.iterate()) if (record.reference === id) return record.state;
    return undefined;
  };
  const inState = (id: string, state: string): Promise<true> =>
    eventually(async () => ((await stateOf(id)) === state ? true : undefined), () => `${id} to be ${state}`);
  const delivered = (): number => upstream.requests.length - before;
  const copyMark = (nth: number): string | undefined => upstream.requests[before + nth]?.header('as4-once-copy');

  it('before the claim: the retry is a first message', async () => {
    const id = freshId();
    const { body, headers } = message(id);
    const socket = connect(front.port, '127.0.0.1').on('error', () => undefined);
    socket.write(`POST /as4 HTTP/1.1\r\nHost: front\r\nContent-Type: ${headers['content-type']}\r\nContent-Length: ${body.length}\r\n\r\n`);
    socket.write(body.subarray(0, body.length - 1));
    await eventually(async () => ((await front.metric('as4_once_spool_memory_bytes')) === body.length - 1 ? true : undefined), () => 'the body to arrive but for its last byte');
    await restart();
    expect(await stateOf(id)).toBeUndefined();
    expect(delivered()).toBe(0);
    const retry = await post(front.url, message(id));
    expect([retry.status, refersTo(retry.body), copyMark(0)]).toEqual([200, id, 'first']);
    expect(delivered()).toBe(1);
  });

  it('after the claim, before anything went upstream: the retry goes there marked, once', async () => {
    const id = freshId();
    await upstream.stop();
    const first = sent(message(id));
    await inState(id, 'claimed');
    await restart();
    expect(await first).toBe('broken');
    await upstream.start();
    const retry = await post(front.url, message(id));
    expect([retry.status, refersTo(retry.body), copyMark(0)]).toEqual([200, id, 'redelivery']);
    expect(delivered()).toBe(1);
    expect((await post(front.url, message(id))).body.equals(retry.body)).toBe(true);
    expect(delivered()).toBe(1);
  });

  it('while the access point works: the retry is a marked redelivery, its Receipt the only one', async () => {
    const id = freshId();
    upstream.next(hang());
    const first = sent(message(id));
    await upstream.arrived(before + 1);
    await restart();
    expect(await first).toBe('broken');
    const retry = await post(front.url, message(id));
    expect([retry.status, refersTo(retry.body), copyMark(1)]).toEqual([200, id, 'redelivery']);
    expect(upstream.requests[before + 1]!.header('as4-once-first')).toBe(encodeURIComponent(id));
    expect((await post(front.url, message(id))).body.equals(retry.body)).toBe(true);
    expect(delivered()).toBe(2);
  });

  it('the same where policy says hold: nothing goes upstream again, the sender is asked to come again', async () => {
    const id = freshId();
    const built = message(id, { from: 'HOLDER' });
    upstream.next(hang());
    const first = sent(built);
    await upstream.arrived(before + 1);
    await restart();
    expect(await first).toBe('broken');
    const retry = await post(front.url, built);
    expect(retry).toMatchObject({ status: 503, headers: { 'retry-after': expect.stringMatching(/^\d+$/) } });
    expect(retry.body.toString()).toMatch(/^HELD/);
    expect(await stateOf(id)).toBe('held');
    expect(delivered()).toBe(1);
  });

  it('after the access point answered, before its answer was settled: a marked redelivery', async () => {
    const id = freshId();
    const working = gate();
    upstream.next(after(working.opened, receipt()));
    const first = sent(message(id));
    await upstream.arrived(before + 1);
    // stopped dead: the Receipt reaches the machine and never the program
    front.process.pause();
    working.open();
    await restart();
    expect(await first).toBe('broken');
    const retry = await post(front.url, message(id));
    expect([retry.status, refersTo(retry.body), copyMark(1)]).toEqual([200, id, 'redelivery']);
    expect(delivered()).toBe(2);
  });

  it('after settle, before or while the answer left: the retry gets the very Receipt that was stored', async () => {
    const id = freshId();
    upstream.next(receipt({ messageId: `only-${id}` }));
    const first = sent(message(id));
    await inState(id, 'settled');
    await restart();
    const retry = await post(front.url, message(id));
    expect(retry.status).toBe(200);
    expect(retry.headers['as4-once-answer']).toBe('replay');
    expect(retry.body.toString()).toContain(`only-${id}`);
    const answer = await first;
    if (answer !== 'broken') expect(answer.body.equals(retry.body)).toBe(true);
    expect(delivered()).toBe(1);
  });
});

/** Replies whose settle could not be confirmed lie in the journal (law 2); only a ledger on the network can be lost like that. */
describe.each(ENGINES.slice(1))('SIGKILL while the journal is drained: %s', (engineName) => {
  let engine: Engine;
  let upstream: ScriptedUpstream;
  afterEach(async () => {
    await stopFronts();
    await upstream.close();
    await engine.close();
  });

  it('the reply that was sent is the one that every later copy gets', async () => {
    engine = await startEngine(engineName);
    upstream = await startUpstream(receipt());
    const proxy = await faultProxy({ port: engine.redis!.port });
    const settings = { upstream: upstream.url, ...engine.through(proxy.port), times: { settle: '200ms', ledgerOutage: '10s' } };
    const id = freshId();
    let front = await startFront(settings);
    const working = gate();
    upstream.next(after(working.opened, receipt()));
    const first = post(front.url, message(id));
    await upstream.arrived(1);
    proxy.refuse();
    proxy.cut();
    working.open();
    const answer = await first;
    expect([answer.status, refersTo(answer.body)]).toEqual([200, id]);
    await front.logged({ event: 'journaled', messageId: id });
    await front.kill();

    // the settle of the journal is executed and its reply never comes: killed right there
    proxy.heal();
    const eaten = proxy.eatReply({ pattern: id });
    const starting = startFrontFrom(front.configFile).catch(() => undefined);
    await eaten;
    proxy.refuse();
    await (await starting)?.kill();

    proxy.heal();
    front = await startFrontFrom(front.configFile);
    await front.logged({ event: 'journalClosed', messageId: id });
    const copy = await post(front.url, message(id));
    expect(copy.body.equals(answer.body)).toBe(true);
    expect(copy.headers['as4-once-answer']).toBe('replay');
    expect(upstream.requests).toHaveLength(1);
    await proxy.close();
  });
});
