import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PEPPOL } from '../../conformance/as4/names.js';
import type { Ledger } from '../../src/ledger/port.js';
import { duplicateKey } from '../../src/policy/key.js';
import { sampleImport } from '../../src/testing/sample.js';
import { runCli } from '../support/child.js';
import { as4Message, type MessageChoices } from '../support/messages.js';
import { after, ebmsError, plain, receipt, reset } from '../support/scripted-answers.js';
import { startUpstream, type Received, type ScriptedUpstream } from '../support/scripted-upstream.js';
import type { Answer } from '../support/send.js';
import { startEngine, type Engine } from '../front/engines.js';
import { eventually, startFront, stopFronts, type Front } from '../front/front-process.js';
import { errorCodes, freshId, gate, post, refersTo, signedMessage } from '../front/messages.js';

/** Every value of every field that a partner rule may say, through a real front: each partner is one rule. */
const PARTNERS = [
  { match: { from: ['REF-A', 'REF-B'] }, key: 'reference' },
  { match: { from: ['OTHER-A', 'OTHER-B'] }, key: 'reference', otherSender: 'deliver' },
  { match: { from: ['SENDER-A', 'SENDER-B'] }, key: 'reference+sender' },
  { match: { from: 'RECIPIENT' }, key: 'reference+sender+recipient' },
  { match: { from: ['CONTENT-A', 'CONTENT-B'] }, key: 'reference+content' },
  { match: { from: 'SENDER-CONTENT' }, key: 'reference+sender+content' },
  { match: { from: 'RECIPIENT-CONTENT' }, key: 'reference+sender+recipient+content' },
  { match: { from: 'ELIMINATE' }, mode: 'eliminate' },
  { match: { from: 'DETECT' }, mode: 'detect-only' },
  { match: { from: 'SHADOW' }, mode: 'shadow' },
  { match: { from: 'REFUSE' }, mismatch: 'refuse' },
  { match: { from: 'REPLAY' }, mismatch: 'replay' },
  { match: { from: 'FLAGGED' }, mismatch: 'deliver-flagged' },
  { match: { from: 'AUTO' }, uncertain: 'auto' },
  { match: { from: 'REDELIVER' }, uncertain: 'redeliver' },
  { match: { from: 'HOLD' }, uncertain: 'hold' },
  { match: { from: 'DUPLICATE-PASS' }, upstreamDuplicate: 'pass' },
  { match: { from: 'DUPLICATE-HOLD' }, upstreamDuplicate: 'hold' },
  { match: { from: 'BUNDLE-REFUSE' }, bundle: 'refuse' },
  { match: { from: 'BUNDLE-FORWARD' }, bundle: 'forward' },
  { match: { from: 'UNSIGNED-ACCEPT' }, unsigned: 'accept' },
  { match: { from: 'UNSIGNED-REFUSE' }, unsigned: 'refuse' },
  { match: { from: 'KNOWN-PASS' }, known: 'pass' },
  { match: { from: 'KNOWN-HOLD' }, known: 'hold' },
  { match: { from: 'RESPONSE' }, replyPattern: 'response' },
  { match: { from: 'CALLBACK' }, replyPattern: 'callback', mode: 'detect-only' },
] as const;

let engine: Engine;
let ledger: Ledger;
let upstream: ScriptedUpstream;
let front: Front;
beforeAll(async () => {
  engine = await startEngine('embedded');
  upstream = await startUpstream(receipt());
  front = await startFront({
    upstream: upstream.url,
    ...engine.settings,
    times: { upstreamOutage: '0s' },
    partners: PARTNERS,
  });
  ledger = await engine.open();
});
afterAll(async () => {
  await stopFronts();
  await ledger.close();
  await upstream.close();
  await engine.close();
});

const send = (from: string, id: string, choices: MessageChoices = {}): Promise<Answer> =>
  post(front.url, signedMessage(id, { from, ...choices }));
const other = (id: string): MessageChoices => ({ payloads: [`<Invoice>another than ${id}</Invoice>`] });
/** What reached the access point of one id, in order. */
const arrived = (id: string): readonly Received[] => upstream.requests.filter(({ body }) => body.includes(id));
const marks = (id: string): readonly (string | undefined)[] =>
  arrived(id).map((request) => request.header('as4-once-copy'));
const exchange = (id: string, nth = 1) => front.logged({ event: 'exchange', messageId: id }, nth);
const isReplayOf = (answer: Answer, first: Answer): void => {
  expect(answer.headers['as4-once-answer']).toBe('replay');
  expect(answer.body.equals(first.body)).toBe(true);
};

describe('key', () => {
  it('reference: another sender with the same reference is a mismatch, another recipient is not', async () => {
    const id = freshId();
    const first = await send('REF-A', id);
    isReplayOf(await send('REF-A', id, { to: 'SOMEBODY' }), first);
    const refused = await send('REF-B', id);
    expect([refused.status, errorCodes(refused.body), refersTo(refused.body)]).toEqual([200, ['EBMS:0003'], id]);
    expect(refused.body.includes('Receipt')).toBe(false);
    expect(marks(id)).toEqual(['first']);
    expect(await exchange(id, 3)).toMatchObject({ answer: 'mismatch', code: 'OTHER_SENDER' });
  });

  it('reference with otherSender: deliver: the other sender is delivered once, under a key of its own', async () => {
    const id = freshId();
    const first = await send('OTHER-A', id);
    const second = await send('OTHER-B', id);
    expect(second.body.equals(first.body)).toBe(false);
    isReplayOf(await send('OTHER-B', id), second);
    isReplayOf(await send('OTHER-A', id), first);
    expect(marks(id)).toEqual(['first', 'first']);
  });

  it('reference+sender: two senders may use one reference, one sender may not, whoever receives', async () => {
    const id = freshId();
    const first = await send('SENDER-A', id);
    const second = await send('SENDER-B', id);
    isReplayOf(await send('SENDER-A', id, { to: 'SOMEBODY' }), first);
    isReplayOf(await send('SENDER-B', id), second);
    expect(arrived(id)).toHaveLength(2);
  });

  it('reference+sender+recipient: one reference for each recipient', async () => {
    const id = freshId();
    const one = await send('RECIPIENT', id, { to: 'ONE' });
    const two = await send('RECIPIENT', id, { to: 'TWO' });
    isReplayOf(await send('RECIPIENT', id, { to: 'ONE' }), one);
    isReplayOf(await send('RECIPIENT', id, { to: 'TWO' }), two);
    expect(arrived(id)).toHaveLength(2);
  });

  it.each(['CONTENT-A', 'SENDER-CONTENT', 'RECIPIENT-CONTENT'])(
    'with +content other content is another message: %s',
    async (from) => {
      const id = freshId();
      const one = await send(from, id);
      const two = await send(from, id, other(id));
      isReplayOf(await send(from, id), one);
      isReplayOf(await send(from, id, other(id)), two);
      expect(arrived(id)).toHaveLength(2);
    },
  );

  it('+datetime is for EDI: the file is refused with its line', async () => {
    const { code, stderr } = await runCli(['check', '--config', 'examples/policy/key-reference-datetime.yaml']);
    expect([code, stderr]).toEqual([0, '']);
    await expect(
      startFront({ upstream: upstream.url, ledger: { memory: true }, defaults: { key: 'reference+datetime' } }),
    ).rejects.toThrow(/front\.yaml:\d+:\d+.*KEY_DATETIME|\+datetime is for EDIFACT and X12/);
  });
});

describe('mode', () => {
  it('eliminate: a copy never goes on', async () => {
    const id = freshId();
    const first = await send('ELIMINATE', id);
    isReplayOf(await send('ELIMINATE', id), first);
    expect(marks(id)).toEqual(['first']);
  });

  it("detect-only: a copy goes on at once, marked, and gets the access point's own answer; the first Receipt stays", async () => {
    const id = freshId();
    const working = gate();
    const before = upstream.requests.length;
    upstream.next(after(working.opened, receipt({ messageId: `first-${id}` })), ebmsError({ code: 'EBMS:0004' }));
    const first = send('DETECT', id);
    await upstream.arrived(before + 1);
    const inFlight = await send('DETECT', id);
    expect(errorCodes(inFlight.body)).toEqual(['EBMS:0004']);
    working.open();
    expect((await first).body.toString()).toContain(`first-${id}`);
    const settled = await send('DETECT', id, other(id));
    expect(refersTo(settled.body)).toBe(id);
    expect(settled.headers['as4-once-answer']).toBeUndefined();
    expect(marks(id)).toEqual(['first', 'duplicate', 'duplicate']);
    expect(await front.logged({ event: 'shadow', messageId: id }, 1)).toMatchObject({ would: 'inFlight' });
    expect(await front.logged({ event: 'shadow', messageId: id }, 2)).toMatchObject({ would: 'mismatch' });
    // copies are counted in the answer's own step and written a moment later
    await eventually(
      async () => ((await recordsOf(id))[0]?.copies === 2 ? true : undefined),
      () => 'two copies to be counted',
    );
    expect((await recordsOf(id))[0]).toMatchObject({ state: 'settled', reply: { receiptId: `first-${id}` } });
  });

  it("shadow: everything goes on unmarked with the access point's own answer, and the log says what eliminate would have done", async () => {
    const id = freshId();
    upstream.next(
      plain(500, 'text/html', 'broken'),
      ebmsError({ code: 'EBMS:4001' }),
      receipt({ messageId: `proof-${id}` }),
    );
    const first = await send('SHADOW', id);
    const duplicate = await send('SHADOW', id);
    const accepted = await send('SHADOW', id);
    const copy = await send('SHADOW', id);
    const mismatch = await send('SHADOW', id, other(id));
    expect([first.status, first.body.toString()]).toEqual([500, 'broken']);
    expect(errorCodes(duplicate.body)).toEqual(['EBMS:4001']);
    for (const answer of [accepted, copy, mismatch]) {
      expect([answer.status, refersTo(answer.body), answer.headers['as4-once-answer']]).toEqual([200, id, undefined]);
    }
    expect(marks(id)).toEqual([undefined, undefined, undefined, undefined, undefined]);
    await exchange(id, 5);
    const lines = front.log().filter((line) => line.event === 'exchange' && line['messageId'] === id);
    expect(lines.map((line) => line['mode'])).toEqual(['shadow', 'shadow', 'shadow', 'shadow', 'shadow']);
    expect(lines.map((line) => line['would'])).toEqual([undefined, undefined, 'held', 'settled', 'mismatch']);
    expect((await recordsOf(id))[0]).toMatchObject({ state: 'settled', reply: { receiptId: `proof-${id}` } });
  });
});

describe('mismatch', () => {
  it('refuse: an Error, never a Receipt, and nothing goes on', async () => {
    const id = freshId();
    await send('REFUSE', id);
    const refused = await send('REFUSE', id, other(id));
    expect([errorCodes(refused.body), refersTo(refused.body)]).toEqual([['EBMS:0003'], id]);
    expect(arrived(id)).toHaveLength(1);
  });

  it("replay: the first message's Receipt, with its digests", async () => {
    const id = freshId();
    const first = await send('REPLAY', id);
    isReplayOf(await send('REPLAY', id, other(id)), first);
    expect(arrived(id)).toHaveLength(1);
    await front.logged({ event: 'mismatch', messageId: id });
  });

  it('deliver-flagged: it goes on once, under a key of its own, and each content keeps its Receipt', async () => {
    const id = freshId();
    const first = await send('FLAGGED', id);
    const flagged = await send('FLAGGED', id, other(id));
    expect(flagged.body.equals(first.body)).toBe(false);
    isReplayOf(await send('FLAGGED', id, other(id)), flagged);
    isReplayOf(await send('FLAGGED', id), first);
    expect(arrived(id)).toHaveLength(2);
  });
});

describe('uncertain', () => {
  it('auto: redelivered while the access point itself remembers, and held where it may have restarted', async () => {
    const [known, lost] = [freshId(), freshId()];
    upstream.next(plain(500, 'text/html', 'broken'), receipt(), reset('body'));
    expect((await send('AUTO', known)).status).toBe(502);
    expect((await send('AUTO', known)).status).toBe(200);
    expect(marks(known)).toEqual(['first', 'redelivery']);
    expect((await send('AUTO', lost)).status).toBe(502);
    const held = await send('AUTO', lost);
    expect([held.status, held.body.toString().split(':')[0]]).toEqual([503, 'HELD']);
    expect(marks(lost)).toEqual(['first']);
  });

  it('redeliver: always marked, never held', async () => {
    const id = freshId();
    upstream.next(reset('body'), reset('body'), receipt());
    for (const status of [502, 502, 200]) expect((await send('REDELIVER', id)).status).toBe(status);
    expect(marks(id)).toEqual(['first', 'redelivery', 'redelivery']);
    expect(arrived(id)[2]!.header('as4-once-first')).toBe(encodeURIComponent(id));
  });

  it('hold: nothing more goes on until an operator decides', async () => {
    const id = freshId();
    upstream.next(plain(500, 'text/html', 'broken'));
    expect((await send('HOLD', id)).status).toBe(502);
    const held = await send('HOLD', id);
    expect([held.status, held.body.toString().split(':')[0]]).toEqual([503, 'HELD']);
    expect(arrived(id)).toHaveLength(1);
  });
});

describe('upstreamDuplicate', () => {
  it('pass: what the access point says of our first attempt goes to the sender; the next copy is asked about again', async () => {
    const id = freshId();
    upstream.next(ebmsError({ code: 'EBMS:4001' }));
    expect(errorCodes((await send('DUPLICATE-PASS', id)).body)).toEqual(['EBMS:4001']);
    expect((await send('DUPLICATE-PASS', id)).status).toBe(200);
    expect(marks(id)).toEqual(['first', 'first']);
  });

  it('hold: it waits for an operator, since it may have been delivered before we stood here', async () => {
    const id = freshId();
    upstream.next(ebmsError({ code: 'EBMS:0004', detail: 'was already handled (this is a DUPLICATE)' }));
    const held = await send('DUPLICATE-HOLD', id);
    expect([held.status, held.body.toString().split(':')[0]]).toEqual([503, 'HELD']);
    expect((await send('DUPLICATE-HOLD', id)).status).toBe(503);
    expect(arrived(id)).toHaveLength(1);
  });
});

describe('bundle and unsigned', () => {
  const bundled = (from: string, id: string): MessageChoices => ({
    from,
    messageId: id,
    plan: {
      tamper: (xml) =>
        xml.replace(
          /<\/((?:\w+:)?)UserMessage>/,
          (end, prefix: string) =>
            `${end}<${prefix}SignalMessage><${prefix}MessageInfo><${prefix}Timestamp>2026-11-30T12:00:00Z</${prefix}Timestamp><${prefix}MessageId>signal-${id}</${prefix}MessageId><${prefix}RefToMessageId>earlier@test</${prefix}RefToMessageId></${prefix}MessageInfo><${prefix}Receipt/></${prefix}SignalMessage>`,
        ),
    },
  });

  it('bundle: refuse, and bundle: forward', async () => {
    const [refused, forwarded] = [freshId(), freshId()];
    const answer = await post(front.url, as4Message(bundled('BUNDLE-REFUSE', refused)));
    expect(errorCodes(answer.body)).toEqual(['EBMS:0008']);
    expect(arrived(refused)).toHaveLength(0);
    expect((await post(front.url, as4Message(bundled('BUNDLE-FORWARD', forwarded)))).status).toBe(200);
    expect(marks(forwarded)).toEqual(['first']);
  });

  it('unsigned: accept, and unsigned: refuse', async () => {
    const [accepted, refused] = [freshId(), freshId()];
    expect(refersTo((await post(front.url, as4Message({ messageId: accepted, from: 'UNSIGNED-ACCEPT' }))).body)).toBe(
      accepted,
    );
    const answer = await post(front.url, as4Message({ messageId: refused, from: 'UNSIGNED-REFUSE' }));
    expect(errorCodes(answer.body)).toEqual(['EBMS:0103']);
    expect(arrived(refused)).toHaveLength(0);
    expect((await send('UNSIGNED-REFUSE', refused)).status).toBe(200);
  });
});

describe('known: a message that was imported without its Receipt', () => {
  const imported = async (from: string): Promise<string> => {
    const id = freshId();
    const party = { value: from, type: PEPPOL.partyType };
    const key = duplicateKey(
      { protocol: 'as4', reference: id, facts: { from: [party], to: [] }, signed: true },
      'reference+sender',
      'default',
    );
    const record = {
      ...sampleImport(key, Date.now() - 60_000),
      reference: id,
      scope: 'default',
      sender: '',
      facts: { from: [party], to: [] },
    };
    expect(await ledger.adopt(record)).toBe(true);
    return id;
  };

  it('pass: it goes on, marked', async () => {
    const id = await imported('KNOWN-PASS');
    expect((await send('KNOWN-PASS', id)).status).toBe(200);
    expect(marks(id)).toEqual(['duplicate']);
  });

  it('hold: it waits for an operator', async () => {
    const id = await imported('KNOWN-HOLD');
    expect((await send('KNOWN-HOLD', id)).status).toBe(503);
    expect(arrived(id)).toHaveLength(0);
  });
});

describe('replyPattern', () => {
  it('response: an empty 2xx proves nothing, and is no answer to a sender that wants its Receipt', async () => {
    const id = freshId();
    upstream.next(plain(202, undefined, ''));
    expect((await send('RESPONSE', id)).status).toBe(502);
  });

  /**
   * An empty 202 of a callback partner was noted as an uncertain attempt, so that the list of what an operator has to
   * look at filled with messages nobody can decide about, and later copies of them were held.
   */
  it("callback: each copy goes on, marked, with the access point's own answer, and no operator is asked", async () => {
    const id = freshId();
    upstream.next(plain(202, undefined, ''), plain(202, undefined, ''), plain(202, undefined, ''));
    for (let copy = 0; copy < 3; copy += 1) {
      const answer = await send('CALLBACK', id);
      expect([answer.status, answer.body.length]).toEqual([202, 0]);
    }
    expect(marks(id)).toEqual(['first', 'redelivery', 'redelivery']);
    const waiting = [...(await ledger.list('held')), ...(await ledger.list('uncertain'))];
    expect(waiting.filter(({ reference }) => reference === id)).toEqual([]);
    expect(front.log().filter((line) => line.event === 'uncertain' && line['messageId'] === id)).toEqual([]);
  });

  it('callback with eliminate is refused, with path and line', async () => {
    await expect(
      startFront({
        upstream: upstream.url,
        ledger: { memory: true },
        partners: [{ match: { from: 'X' }, replyPattern: 'callback' }],
      }),
    ).rejects.toThrow(/front\.yaml:\d+:\d+.*replyPattern.*detect-only/);
  });
});

async function recordsOf(id: string) {
  const found = [];
  for await (const { record } of ledger.iterate()) if (record.reference === id) found.push(record);
  return found;
}
