import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ROOT } from '../support/child.js';
import type { MessageChoices } from '../support/messages.js';
import { after, ebmsError, receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import type { Answer } from '../support/send.js';
import { ENGINES, startEngine, type Engine } from '../front/engines.js';
import { startFront, stopFronts, type Front } from '../front/front-process.js';
import { freshId, gate, post, refersTo, signedMessage } from '../front/messages.js';

const live = join(resolve(ROOT, process.env['AS4_ONCE_SHARED'] ?? '../shared'), 'corpus', 'live');
const recorded = existsSync(join(live, 'expected.json'));

/** The same document under a new MessageId: delivered, and whoever books it is told which message it repeats. */
describe.each(ENGINES)('resend under a new MessageId: %s', (engineName) => {
  let engine: Engine;
  let upstream: ScriptedUpstream;
  let front: Front;
  let before = 0;
  beforeAll(async () => {
    engine = await startEngine(engineName);
    upstream = await startUpstream(receipt());
    front = await startFront({ upstream: upstream.url, ...engine.settings, times: { upstreamOutage: '0s' } });
  });
  afterAll(async () => {
    await stopFronts();
    await upstream.close();
    await engine.close();
  });
  beforeEach(() => {
    before = upstream.requests.length;
  });
  const sent = (id: string, content: string): Promise<Answer> =>
    post(front.url, signedMessage(id, { payloads: [content] }));
  const marks = (): (readonly (string | undefined)[])[] =>
    upstream.requests
      .slice(before)
      .map((request) => [request.header('as4-once-copy'), request.header('as4-once-first')]);

  it('a third and a fourth time: each is told the first one, each has its own Receipt and its own copies', async () => {
    const ids = [freshId(), freshId(), freshId()] as const;
    const content = `<Invoice>${ids[0]}</Invoice>`;
    for (const id of ids) expect(refersTo((await sent(id, content)).body)).toBe(id);
    const first = encodeURIComponent(ids[0]);
    expect(marks()).toEqual([
      ['first', undefined],
      ['resend', first],
      ['resend', first],
    ]);
    for (const id of ids) {
      const copy = await sent(id, content);
      expect([copy.headers['as4-once-answer'], refersTo(copy.body)]).toEqual(['replay', id]);
    }
    expect(marks()).toHaveLength(3);
    expect(await front.logged({ event: 'exchange', messageId: ids[2] })).toMatchObject({ answer: 'resend' });
  });

  it('what was rejected was never accepted: the next id is no resend, and from then on it is the first', async () => {
    const ids = [freshId(), freshId(), freshId()] as const;
    const content = `<Invoice>${ids[0]}</Invoice>`;
    upstream.next(ebmsError());
    for (const id of ids) await sent(id, content);
    expect(marks()).toEqual([
      ['first', undefined],
      ['first', undefined],
      ['resend', encodeURIComponent(ids[1])],
    ]);
  });

  it('two ids of one content at the same time: neither waits for the other, and what came later is marked with the first', async () => {
    const ids = [freshId(), freshId(), freshId()] as const;
    const content = `<Invoice>${ids[0]}</Invoice>`;
    const working = gate();
    upstream.next(after(working.opened, receipt()), receipt());
    const slow = sent(ids[0], content);
    await upstream.arrived(before + 1);
    expect(refersTo((await sent(ids[1], content)).body)).toBe(ids[1]);
    working.open();
    expect(refersTo((await slow).body)).toBe(ids[0]);
    await sent(ids[2], content);
    const [one, two, three] = marks();
    expect([one?.[0], two?.[0], three?.[0]]).toEqual(['first', 'resend', 'resend']);
    expect(two?.[1]).toBe(encodeURIComponent(ids[0]));
    expect(ids.slice(0, 2).map(encodeURIComponent)).toContain(three?.[1]);
  });

  it.skipIf(!recorded)(
    `phase4's own rebuilt message, under another MessageId${recorded ? '' : ' (skipped: corpus/live is not beside the project)'}`,
    async () => {
      const expected = JSON.parse(readFileSync(join(live, 'expected.json'), 'utf8')) as Record<
        string,
        { contentType: string; messageId: string }
      >;
      const message = (name: string, id: string): Parameters<typeof post>[1] => {
        const { contentType, messageId } = expected[name]!;
        const body = readFileSync(join(live, name, 'request.mime'))
          .toString('latin1')
          .replaceAll(messageId, id.padEnd(messageId.length, 'x').slice(0, messageId.length));
        return { body: Buffer.from(body, 'latin1'), headers: { 'content-type': contentType } };
      };
      const [own, another] = [freshId(), freshId()];
      const first = await post(front.url, message('phase4-d-duplicate-1st', own));
      const second = await post(front.url, message('phase4-d-duplicate-2nd', another));
      expect([first.status, second.status]).toEqual([200, 200]);
      expect(marks()).toEqual([
        ['first', undefined],
        ['resend', encodeURIComponent(refersTo(first.body)!)],
      ]);
      expect(refersTo(second.body)).not.toBe(refersTo(first.body));
    },
  );
});

/** Every value of the rule. */
describe('resend: the same signed content under a new MessageId', () => {
  let engine: Engine;
  let upstream: ScriptedUpstream;
  let front: Front;
  beforeAll(async () => {
    engine = await startEngine('embedded');
    upstream = await startUpstream(receipt());
    front = await startFront({
      upstream: upstream.url,
      ...engine.settings,
      partners: (['auto', 'flag', 'off'] as const).map((resend) => ({
        match: { from: `RESEND-${resend.toUpperCase()}` },
        resend,
      })),
    });
  });
  afterAll(async () => {
    await stopFronts();
    await upstream.close();
    await engine.close();
  });
  const send = (from: string, id: string, choices: MessageChoices = {}): Promise<Answer> =>
    post(front.url, signedMessage(id, { from, payloads: [`<Invoice>${id}</Invoice>`], ...choices }));
  const twice = async (from: string, choices: MessageChoices): Promise<readonly [string, string]> => {
    const [first, second] = [freshId(), freshId()];
    const content = [`<Invoice>${first}</Invoice>`];
    expect((await send(from, first, { payloads: content, ...choices })).status).toBe(200);
    const answer = await send(from, second, { payloads: content, ...choices });
    expect([answer.status, refersTo(answer.body)]).toEqual([200, second]);
    return [first, second];
  };
  const mark = (id: string): (string | undefined)[] => {
    const request = upstream.requests.find(({ body }) => body.includes(`MessageId>${id}<`));
    return [request?.header('as4-once-copy'), request?.header('as4-once-first')];
  };
  const NOT_PEPPOL: MessageChoices = { agreement: 'urn:ours', action: 'Submit', service: 'urn:services:ours' };

  it('auto: marked where the message is Peppol (by its agreement or its action), with event, log and metric', async () => {
    const counted = await front.metric('as4_once_events_total{event="resend"}');
    for (const choices of [{}, { agreement: 'urn:ours' }, { action: 'Submit' }]) {
      const [first, second] = await twice('RESEND-AUTO', choices);
      expect(mark(second)).toEqual(['resend', encodeURIComponent(first)]);
      expect(await front.logged({ event: 'resend', messageId: second })).toMatchObject({ first });
      expect(await front.logged({ event: 'exchange', messageId: second })).toMatchObject({
        answer: 'resend',
        outcome: 'accepted',
      });
    }
    const [, plainly] = await twice('RESEND-AUTO', NOT_PEPPOL);
    expect(mark(plainly)).toEqual(['first', undefined]);
    expect(await front.metric('as4_once_events_total{event="resend"}')).toBe(counted + 3);
  });

  it('flag: marked whatever the message is; and its own copies get its own Receipt', async () => {
    const [first, second] = await twice('RESEND-FLAG', NOT_PEPPOL);
    expect(mark(second)).toEqual(['resend', encodeURIComponent(first)]);
    const copy = await send('RESEND-FLAG', second, { payloads: [`<Invoice>${first}</Invoice>`], ...NOT_PEPPOL });
    expect([copy.headers['as4-once-answer'], refersTo(copy.body)]).toEqual(['replay', second]);
  });

  it('off: an ordinary first copy', async () => {
    const [, second] = await twice('RESEND-OFF', {});
    expect(mark(second)).toEqual(['first', undefined]);
  });

  it("another sender's message of the same content is nobody's resend", async () => {
    const [first, second] = [freshId(), freshId()];
    const payloads = [`<Invoice>${first}</Invoice>`];
    await send('RESEND-FLAG', first, { payloads });
    await send('RESEND-AUTO', second, { payloads });
    expect(mark(second)).toEqual(['first', undefined]);
  });
});
