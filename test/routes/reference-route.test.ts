import { afterEach, describe, expect, it } from 'vitest';
import { gate } from '../front/messages.js';
import { after, plain, reset } from '../support/scripted-answers.js';
import { mountRoute, type MountedRoute } from './mounted-routes.js';

/** Protocol reference through the whole front, on real sockets. */
const BY_KEY = { protocol: 'reference', reference: { header: 'Idempotency-Key' } } as const;
const created = plain(201, 'application/json', '{"order":1}', { Location: '/orders/1' });
const key = (value: string): Record<string, string> => ({ 'Idempotency-Key': value });

let mounted: MountedRoute | undefined;
const open = async (...args: Parameters<typeof mountRoute>): Promise<MountedRoute> => (mounted = await mountRoute(...args));
afterEach(async () => {
  await mounted?.close();
  mounted = undefined;
});

describe('a route of protocol reference', () => {
  it('gives a copy the stored answer: status, body and the header fields that were asked for', async () => {
    const { post, upstream } = await open({ ...BY_KEY, defaults: { replyHeaders: ['Location'] } }, created);
    const [first, copy] = [await post('a', key('1')), await post('a', key('1'))];
    expect([first.status, first.text, first.header('location'), first.header('as4-once-answer')]).toEqual([201, '{"order":1}', '/orders/1', null]);
    expect([copy.status, copy.text, copy.header('location'), copy.header('as4-once-answer')]).toEqual([201, '{"order":1}', '/orders/1', 'replay']);
    expect(copy.header('content-type')).toBe(first.header('content-type'));
    expect(upstream.requests).toHaveLength(1);
  });

  it.each([409, 503] as const)('answers a copy of what is in work %i after the wait, with Retry-After, and the stored answer afterwards', async (inFlight) => {
    const { post, upstream } = await open({ ...BY_KEY, defaults: { inFlight, wait: '20ms' } }, created);
    const working = gate();
    upstream.next(after(working.opened, created));
    const first = post('a', key('1'));
    await upstream.arrived(1);
    const copy = await post('a', key('1'));
    expect([copy.status, copy.text]).toEqual([inFlight, 'IN_PROGRESS: try again later.\n']);
    expect(Number(copy.header('retry-after'))).toBeGreaterThan(0);
    working.open();
    expect((await first).status).toBe(201);
    expect(await post('a', key('1'))).toMatchObject({ status: 201, text: '{"order":1}' });
    expect(upstream.requests).toHaveLength(1);
  });

  it('lets what has no reference through, recorded nowhere, by default', async () => {
    const { post, upstream, exchanges } = await open(BY_KEY, created);
    for (let n = 0; n < 2; n += 1) expect((await post('a')).status).toBe(201);
    expect(upstream.requests).toHaveLength(2);
    expect(exchanges.map(({ answer }) => answer)).toEqual(['passed', 'passed']);
  });

  it('refuses what has no reference where the route says so', async () => {
    const { post, upstream } = await open({ ...BY_KEY, noReference: 'refuse' }, created);
    expect(await post('a')).toMatchObject({ status: 400, text: expect.stringMatching(/^REFERENCE_MISSING: no reference found/) });
    expect(upstream.requests).toHaveLength(0);
  });

  it('takes the statuses of accept for accepted, and no other', async () => {
    const { post, upstream } = await open({ ...BY_KEY, defaults: { accept: ['2xx', 409] } }, plain(409, 'text/plain', 'have it'));
    for (let n = 0; n < 2; n += 1) expect(await post('a', key('1'))).toMatchObject({ status: 409, text: 'have it' });
    expect(upstream.requests).toHaveLength(1);
  });

  it('tries again after a 4xx, and holds what a 5xx leaves open', async () => {
    const { post, upstream } = await open({ ...BY_KEY, defaults: { uncertain: 'hold' } }, created);
    upstream.next(plain(422, 'text/plain', 'no such customer'), plain(500, 'text/plain', 'oops'));
    expect(await post('a', key('1'))).toMatchObject({ status: 422, text: 'no such customer' });
    expect(await post('a', key('1'))).toMatchObject({ status: 500, text: 'oops' });
    expect(await post('a', key('1'))).toMatchObject({ status: 503, text: 'HELD: try again later.\n' });
    expect(upstream.requests).toHaveLength(2);
  });

  it('sends an Idempotency-Key of its own: new after a certain rejection, the same once an attempt was uncertain, new in a new window', async () => {
    const { post, upstream, pass } = await open({ ...BY_KEY, defaults: { uncertain: 'redeliver', window: '1d' } }, created);
    upstream.next(plain(400, 'text/plain', 'no'), reset('body'), plain(400, 'text/plain', 'no'));
    for (let n = 0; n < 4; n += 1) await post('a', key('1'));
    pass(2 * 86_400_000);
    await post('a', key('1'));
    const sent = upstream.requests.map((request) => request.header('idempotency-key') ?? '');
    expect(sent).toHaveLength(5);
    for (const one of sent) expect(one).toMatch(/^"[0-9a-f]{64}"$/);
    const [rejected, uncertain, after1, accepted, anew] = sent;
    expect(uncertain).not.toBe(rejected);
    expect([after1, accepted]).toEqual([uncertain, uncertain]);
    expect([rejected, uncertain]).not.toContain(anew);
  });

  // A mismatch was answered in text with the status of an ebMS Error, 200: an API's client took it for success.
  it('refuses other content under a reference that was used, with a status that nobody takes for success', async () => {
    const { post, upstream } = await open(BY_KEY, created);
    await post('a', key('1'));
    expect(await post('b', key('1'))).toMatchObject({ status: 422, text: expect.stringMatching(/^MISMATCH: first seen 2/) });
    expect(upstream.requests).toHaveLength(1);
  });

  it('keeps types and senders apart', async () => {
    const { post, upstream } = await open({ protocol: 'reference', reference: { pointer: '/no' }, type: { pointer: '/type' }, from: { query: 'shop' } }, created);
    for (const body of ['{"no":"7","type":"order"}', '{"no":"7","type":"invoice"}']) for (let n = 0; n < 2; n += 1) await post(body);
    expect(upstream.requests).toHaveLength(2);
  });
});
