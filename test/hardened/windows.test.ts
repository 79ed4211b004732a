import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MessageChoices } from '../support/messages.js';
import { after, receipt } from '../support/scripted-answers.js';
import { startUpstream, type Received, type ScriptedUpstream } from '../support/scripted-upstream.js';
import type { Answer } from '../support/send.js';
import { startEngine, type Engine } from '../front/engines.js';
import { eventually, startFront, stopFronts, type Front } from '../front/front-process.js';
import { freshId, gate, post, signedMessage } from '../front/messages.js';

/** Policy that is a time: how long a copy waits, how long a message is remembered, and how much longer its record. */
let engine: Engine;
let upstream: ScriptedUpstream;
let front: Front;
beforeAll(async () => {
  engine = await startEngine('embedded');
  upstream = await startUpstream(receipt());
  front = await startFront({
    upstream: upstream.url,
    ...engine.settings,
    partners: [
      { match: { from: 'WAIT-0' }, wait: '0s' },
      { match: { from: 'LATE' }, window: '1s', late: '1h' },
      { match: { from: 'WINDOW' }, window: '1s' },
    ],
  });
});
afterAll(async () => {
  await stopFronts();
  await upstream.close();
  await engine.close();
});

const send = (from: string, id: string, choices: MessageChoices = {}): Promise<Answer> =>
  post(front.url, signedMessage(id, { from, ...choices }));
const arrived = (id: string): readonly Received[] => upstream.requests.filter(({ body }) => body.includes(id));
const marks = (id: string): readonly (string | undefined)[] =>
  arrived(id).map((request) => request.header('as4-once-copy'));

describe('wait, window and late', () => {
  it('wait: 0s answers a copy of what is in work at once', async () => {
    const id = freshId();
    const working = gate();
    const before = upstream.requests.length;
    upstream.next(after(working.opened, receipt()));
    const first = send('WAIT-0', id);
    await upstream.arrived(before + 1);
    expect((await send('WAIT-0', id)).body.toString()).toMatch(/^IN_PROGRESS/);
    working.open();
    expect((await first).status).toBe(200);
  });

  it.each([
    [
      'late keeps the record, so the copy is told from a first one whatever its Timestamp says',
      'LATE',
      '2099-01-01T00:00:00Z',
    ],
    ['without a record its own Timestamp tells', 'WINDOW', '2026-01-01T00:00:00Z'],
  ])('after its window a copy is delivered anew, labelled: %s', async (_why, from, timestamp) => {
    const id = freshId();
    const first = await send(from, id, { timestamp });
    const again = await eventually(
      async () => {
        const answer = await send(from, id, { timestamp });
        return answer.headers['as4-once-answer'] === undefined ? answer : undefined;
      },
      () => 'the window to end',
    );
    expect(again.body.equals(first.body)).toBe(false);
    expect(marks(id).at(-1)).toBe('late');
    if (from === 'LATE') expect(arrived(id).at(-1)!.header('as4-once-first')).toBe(encodeURIComponent(id));
    await front.logged({ event: 'late', messageId: id });
  });
});
