import { afterEach, describe, expect, it } from 'vitest';
import { edifact, x12 } from '../edi/samples.js';
import { plain, reset } from '../support/scripted-answers.js';
import type { Step } from '../support/scripted-upstream.js';
import { mountRoute, type MountedRoute } from './mounted-routes.js';

/** EDIFACT and X12 through the whole front, on real sockets. */
const contrl = plain(200, 'application/edifact', "UNB+…'");
const DAY = 86_400_000;
/** With today's date in the envelope: what is older than its window is late by that alone. */
const today = (text: string): string => text.replaceAll('240229', new Date().toISOString().slice(2, 10).replaceAll('-', ''));

let mounted: MountedRoute | undefined;
const open = async (...args: Parameters<typeof mountRoute>): Promise<MountedRoute> => (mounted = await mountRoute(...args));
afterEach(async () => {
  await mounted?.close();
  mounted = undefined;
});

describe.each([
  ['edifact', edifact, (n: string) => edifact(n, { body: "UNH+1+INVOIC:D:96A:UN'UNT+2+1'" }), (n: string) => edifact(n).replace('240229:1305', '240301:0800')],
  ['x12', x12, (n: string) => x12(n).replace('PO1', 'PO2'), (n: string) => x12(n, { date: '240301', time: '0800' })],
] as const)('a route of protocol %s', (protocol, sample, otherContent, otherDate) => {
  it('delivers an interchange once, and gives every copy its acknowledgement', async () => {
    const { post, upstream } = await open({ protocol }, contrl);
    const first = await post(sample('1'));
    const copy = await post(sample('1'));
    expect([copy.status, copy.text, copy.header('content-type')]).toEqual([200, first.text, first.header('content-type')]);
    await post(sample('2'));
    expect(upstream.requests).toHaveLength(2);
  });

  // It said "first seen" only, and with status 200; the folders had the whole sentence.
  it('a storm of 20 interchanges, 12 copies of each at once: 20 deliveries, and all answers to one are equal', async () => {
    let taken = 0;
    const numbered: Step = { at: 'body', act: (request, socket) => plain(200, 'text/plain', `taken as ${taken += 1}`).act(request, socket) };
    const { post, upstream } = await open({ protocol }, numbered);
    const answers = await Promise.all(Array.from({ length: 240 }, async (_, n) => [n % 20, await post(sample(String(1 + (n % 20))))] as const));
    expect(answers.map(([, { status }]) => status)).toEqual(Array.from({ length: 240 }, () => 200));
    for (let n = 0; n < 20; n += 1) expect(new Set(answers.filter(([of]) => of === n).map(([, { text }]) => text)).size).toBe(1);
    expect(new Set(answers.map(([, { text }]) => text)).size).toBe(20);
    expect(upstream.requests).toHaveLength(20);
  });

  it('refuses a number that was used for other content, and asks whether the counter was reset', async () => {
    const { post, upstream } = await open({ protocol }, contrl);
    await post(sample('1'));
    expect(await post(otherContent('1'))).toMatchObject({
      status: 422, text: expect.stringMatching(/^MISMATCH: control number reused, first seen 2.*Z; did the partner reset its counter\?\n$/),
    });
    expect(upstream.requests).toHaveLength(1);
  });

  it('sends an Idempotency-Key: new after a certain rejection, the same once an attempt was uncertain', async () => {
    const { post, upstream } = await open({ protocol, defaults: { uncertain: 'redeliver' } }, contrl);
    upstream.next(plain(400, 'text/plain', 'no'), reset('body'));
    for (let n = 0; n < 3; n += 1) await post(sample('1'));
    const [rejected, uncertain, accepted] = upstream.requests.map((request) => request.header('idempotency-key'));
    expect(rejected).toMatch(/^"[0-9a-f]{64}"$/);
    expect(uncertain).not.toBe(rejected);
    expect(accepted).toBe(uncertain);
    expect(upstream.requests[2]?.header('as4-once-copy')).toBe('redelivery');
  });

  it('with +datetime: the same number of another minute is another interchange, of the same one a copy', async () => {
    const { post, upstream } = await open({ protocol, defaults: { key: 'reference+sender+recipient+datetime' } }, contrl);
    for (const text of [sample('1'), otherDate('1'), sample('1'), otherDate('1')]) expect((await post(text)).status).toBe(200);
    expect(upstream.requests).toHaveLength(2);
  });

  it('with +content: the same number with other content is another interchange', async () => {
    const { post, upstream } = await open({ protocol, defaults: { key: 'reference+sender+recipient+content' } }, contrl);
    for (const text of [sample('1'), otherContent('1'), sample('1')]) expect((await post(text)).status).toBe(200);
    expect(upstream.requests).toHaveLength(2);
  });

  it('detect-only: a copy goes on, marked', async () => {
    const { post, upstream, exchanges } = await open({ protocol, defaults: { mode: 'detect-only' } }, contrl);
    await post(today(sample('1')));
    await post(today(sample('1')));
    expect(upstream.requests.map((request) => request.header('as4-once-copy'))).toEqual(['first', 'duplicate']);
    expect(exchanges[1]).toMatchObject({ answer: 'forwarded', mode: 'detect-only', would: 'settled' });
  });

  it('shadow: everything goes on unmarked, and what would have become of it is told', async () => {
    const { post, upstream, shadows } = await open({ protocol, defaults: { mode: 'shadow' } }, contrl);
    for (const text of [sample('1'), sample('1'), otherContent('1'), 'no interchange']) expect((await post(text)).status).toBe(200);
    expect(upstream.requests.map((request) => request.header('as4-once-copy'))).toEqual([undefined, undefined, undefined, undefined]);
    expect(shadows.map(({ would }) => would)).toEqual(['settled', 'mismatch']);
  });

  it('late: a copy behind its window is delivered again, and called late', async () => {
    const { post, upstream, exchanges, pass } = await open({ protocol, defaults: { window: '30d', late: '60d' } }, contrl);
    await post(today(sample('1')));
    pass(31 * DAY);
    await post(today(sample('1')));
    await post(today(sample('1')));
    expect(upstream.requests.map((request) => request.header('as4-once-copy'))).toEqual(['first', 'late']);
    expect(exchanges.map(({ answer }) => answer)).toEqual(['first', 'late', 'replay']);
  });

  it('late: a first copy whose own date is older than the window is called late too', async () => {
    const { post, upstream } = await open({ protocol, defaults: { window: '30d' } }, contrl);
    await post(sample('1'));
    expect(upstream.requests[0]?.header('as4-once-copy')).toBe('late');
  });

  it('refuses counts that do not agree from a strict partner only', async () => {
    const { post, upstream } = await open({ protocol, partners: [{ match: { from: 'SENDER' }, checks: 'strict' }] }, contrl);
    const wrong = protocol === 'edifact' ? edifact('1', { unz: "UNZ+9+1'" }) : x12('1', { groups: '9' });
    expect(await post(wrong)).toMatchObject({ status: 400, text: expect.stringMatching(/^EDI_BROKEN: .*segment/) });
    expect((await post(wrong.replaceAll('SENDER', 'OTHERS'))).status).toBe(200);
    expect(upstream.requests).toHaveLength(1);
  });
});
