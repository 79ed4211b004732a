import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { after, ebmsError, receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { ENGINES, startEngine, type Engine } from './engines.js';
import { eventually, startFront, stopFronts, type Front } from './front-process.js';
import { freshId, gate, message, post, refersTo, signedMessage } from './messages.js';

/** Copies at the same time, over two server processes that share one ledger. */
describe.each(ENGINES)('two fronts over one ledger: %s', (engineName) => {
  let engine: Engine;
  let upstream: ScriptedUpstream;
  let fronts: readonly [Front, Front];
  beforeAll(async () => {
    engine = await startEngine(engineName);
    upstream = await startUpstream(receipt());
    const settings = { upstream: upstream.url, ...engine.settings };
    fronts = await Promise.all([startFront(settings), startFront(settings)]);
  });
  afterAll(async () => {
    await stopFronts();
    await upstream.close();
    await engine.close();
  });

  /** So many copies wait, over both processes. */
  const waiting = async (count: number): Promise<void> => {
    await eventually(async () => {
      const [a, b] = await Promise.all(fronts.map((front) => front.metric('as4_once_waiting')));
      return (a ?? 0) + (b ?? 0) === count ? true : undefined;
    }, () => `${count} copies to wait`);
  };
  const urlOf = (n: number): string => fronts[n % 2 as 0 | 1].url;

  it('200 copies at once, a third of them signed anew: one delivery, and every copy gets its bytes', async () => {
    const id = freshId();
    const before = upstream.requests.length;
    const working = gate();
    upstream.next(after(working.opened, receipt()));
    const spellings = [signedMessage(id), signedMessage(id), signedMessage(id)];
    const answers = Array.from({ length: 200 }, (_, n) => post(urlOf(n), spellings[n % 3]!));
    await waiting(199);
    working.open();
    const [first, ...rest] = await Promise.all(answers);
    expect(first!.status).toBe(200);
    expect(refersTo(first!.body)).toBe(id);
    for (const answer of rest) {
      expect(answer.status).toBe(200);
      expect(answer.headers['content-type']).toBe(first!.headers['content-type']);
      expect(answer.body.equals(first!.body)).toBe(true);
    }
    expect(upstream.requests.length).toBe(before + 1);
    const lines = await eventually(() => {
      const logged = fronts.flatMap((front) => front.log()).filter((line) => line.event === 'exchange' && line['messageId'] === id);
      return logged.length === 200 ? logged : undefined;
    }, () => '200 log lines');
    expect(lines.filter((line) => line['answer'] === 'first')).toHaveLength(1);
    expect(lines.filter((line) => line['answer'] === 'waited')).toHaveLength(199);
  });

  it('200 distinct messages in parallel: each is delivered once and gets its own Receipt, and its own again', async () => {
    const before = upstream.requests.length;
    const ids = Array.from({ length: 200 }, freshId);
    const sendAll = () => Promise.all(ids.map((id, n) => post(urlOf(n), message(id))));
    const first = await sendAll();
    expect(first.map((answer) => [answer.status, refersTo(answer.body)])).toEqual(ids.map((id) => [200, id]));
    const second = await Promise.all(ids.map((id, n) => post(urlOf(n + 1), message(id))));
    for (const [n, answer] of second.entries()) {
      expect(answer.body.equals(first[n]!.body)).toBe(true);
      expect(answer.headers['as4-once-answer']).toBe('replay');
    }
    expect(upstream.requests.length).toBe(before + 200);
    expect(new Set(first.map((answer) => answer.body.toString())).size).toBe(200);
  });

  it('the holder is refused: of those who wait, here and in the other process, exactly one claims and delivers', async () => {
    const id = freshId();
    const before = upstream.requests.length;
    const [failing, working] = [gate(), gate()];
    upstream.next(after(failing.opened, ebmsError()), after(working.opened, receipt()));
    const holder = post(urlOf(0), message(id));
    await upstream.arrived(before + 1);
    const copies = Array.from({ length: 12 }, (_, n) => post(urlOf(n), message(id)));
    await waiting(12);
    failing.open();
    expect((await holder).body.toString()).toContain('EBMS:0202');
    await upstream.arrived(before + 2);
    await waiting(11);
    expect(upstream.requests.length).toBe(before + 2);
    working.open();
    const answers = await Promise.all(copies);
    for (const answer of answers) {
      expect(answer.status).toBe(200);
      expect(answer.body.equals(answers[0]!.body)).toBe(true);
      expect(refersTo(answer.body)).toBe(id);
    }
    expect(upstream.requests.length).toBe(before + 2);
    expect(upstream.requests.at(-1)!.header('as4-once-copy')).toBe('first');
  });

  it('who waits on another process than the holder is woken by it', async () => {
    const id = freshId();
    const before = upstream.requests.length;
    const working = gate();
    upstream.next(after(working.opened, receipt()));
    const holder = post(urlOf(0), message(id));
    await upstream.arrived(before + 1);
    const elsewhere = post(urlOf(1), message(id));
    await fronts[1].metricIs('as4_once_waiting', 1);
    working.open();
    expect((await elsewhere).body.equals((await holder).body)).toBe(true);
    expect(await fronts[1].logged({ event: 'exchange', messageId: id })).toMatchObject({ answer: 'waited', status: 200 });
  });
});

describe('bounds of waiting and of answering', () => {
  let engine: Engine;
  let upstream: ScriptedUpstream;
  let front: Front;
  beforeAll(async () => {
    engine = await startEngine('embedded');
    upstream = await startUpstream(receipt());
    front = await startFront({
      upstream: upstream.url, ...engine.settings, limits: { waitersPerKey: 2, waiters: 3 }, times: { retryAfter: '4s', answerBy: '30s' },
      partners: [{ match: { from: 'IMPATIENT' }, wait: '150ms' }],
    });
  });
  afterAll(async () => {
    await stopFronts();
    await upstream.close();
    await engine.close();
  });

  it('more copies than waitersPerKey, or waiters in all, get 503 and Retry-After at once', async () => {
    const working = gate();
    upstream.next(after(working.opened, receipt()), after(working.opened, receipt()));
    const [one, other] = [freshId(), freshId()];
    const standing = [post(front.url, message(one)), post(front.url, message(other))];
    await upstream.arrived(2);
    standing.push(post(front.url, message(one)), post(front.url, message(one)));
    await front.metricIs('as4_once_waiting', 2);
    const perKey = await post(front.url, message(one));
    standing.push(post(front.url, message(other)));
    await front.metricIs('as4_once_waiting', 3);
    const inAll = await post(front.url, message(other));
    for (const refused of [perKey, inAll]) {
      expect(refused.status).toBe(503);
      expect(refused.body.toString()).toMatch(/^TOO_MANY_WAITING/);
      expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    }
    working.open();
    expect((await Promise.all(standing)).map((answer) => answer.status)).toEqual([200, 200, 200, 200, 200]);
    expect(upstream.requests).toHaveLength(2);
  });

  it('a copy that has waited as long as it may gets 503 and Retry-After, in text that no sender takes for an ebMS Error', async () => {
    const before = upstream.requests.length;
    const working = gate();
    upstream.next(after(working.opened, receipt()));
    const built = message(freshId(), { from: 'IMPATIENT' });
    const holder = post(front.url, built);
    await upstream.arrived(before + 1);
    const copy = await post(front.url, built);
    expect(copy).toMatchObject({ status: 503, headers: { 'content-type': 'text/plain; charset=utf-8' } });
    expect(copy.body.toString()).toMatch(/^IN_PROGRESS/);
    expect(Number(copy.headers['retry-after'])).toBeGreaterThanOrEqual(2);
    expect(Number(copy.headers['retry-after'])).toBeLessThanOrEqual(6);
    working.open();
    expect((await holder).status).toBe(200);
    expect((await post(front.url, built)).body.equals((await holder).body)).toBe(true);
  });

  it('an access point that answers after answerBy: its sender had 504, and the Receipt is there for the next copy', async () => {
    const late = await startFront({ upstream: upstream.url, ...engine.settings, times: { wait: '100ms', answerBy: '200ms' } });
    const before = upstream.requests.length;
    const working = gate();
    upstream.next(after(working.opened, receipt({ messageId: 'late-receipt@ap.test' })));
    const id = freshId();
    const first = await post(late.url, message(id));
    expect(first.status).toBe(504);
    expect(first.body.toString()).toMatch(/^ANSWER_LATE/);
    working.open();
    expect(await late.logged({ event: 'lateOutcome', messageId: id })).toMatchObject({ outcome: 'accepted', reason: 'receipt' });
    const copy = await post(front.url, message(id));
    expect(copy.status).toBe(200);
    expect(copy.headers['as4-once-answer']).toBe('replay');
    expect(copy.body.toString()).toContain('late-receipt@ap.test');
    expect(upstream.requests).toHaveLength(before + 1);
  });
});
