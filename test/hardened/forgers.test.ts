import { Agent } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { PEPPOL } from '../../conformance/as4/names.js';
import { duplicateKey } from '../../src/policy/key.js';
import { sampleImport } from '../../src/testing/sample.js';
import { identity, type TestMessage } from '../support/messages.js';
import { after, ebmsError, plain, receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { send } from '../support/send.js';
import { runCli } from '../support/child.js';
import { ENGINES, startEngine, type Engine } from '../front/engines.js';
import { eventually, startFront, stopFronts, type Front } from '../front/front-process.js';
import { errorCodes, freshId, gate, message, post, refersTo, signedMessage } from '../front/messages.js';
import { rawClient, type RawClient } from '../front/raw-http.js';

/**
 * Somebody knows a MessageId before the message has arrived, or has captured the message. He may cost nobody an id, never
 * gets a Receipt for what he made, and what he leaves unfinished never reaches the access point.
 */
describe.each(ENGINES.slice(0, 2))('a forger: %s', (engineName) => {
  let engine: Engine;
  let upstream: ScriptedUpstream;
  let front: Front;
  let before = 0;
  beforeAll(async () => {
    engine = await startEngine(engineName);
    upstream = await startUpstream(receipt());
    front = await startFront({
      upstream: upstream.url,
      ...engine.settings,
      limits: { memoryPerBody: '64 KiB' },
      times: { bodyIdle: '2s', wait: '20s', upstreamOutage: '0s' },
      partners: [
        { match: { from: 'FLAGGED' }, mismatch: 'deliver-flagged' },
        { match: { from: 'HOLD' }, uncertain: 'hold' },
        { match: { from: 'KNOWN' }, known: 'pass' },
        { match: { from: 'LATE' }, window: '1s', late: '1h' },
        { match: { from: 'REDELIVER' }, uncertain: 'redeliver' },
      ],
    });
  });
  afterAll(async () => {
    await stopFronts();
    await upstream.close();
    await engine.close();
  });
  beforeEach(() => {
    before = upstream.requests.length;
  });
  const arrived = () => upstream.requests.slice(before);
  /** The same id and sender, other content, and a signature by nobody who is trusted. */
  const forged = (id: string, from = 'POP000001', size = 0): TestMessage =>
    signedMessage(id, {
      from,
      signer: identity('FORGER'),
      payloads: [`<Invoice>pay ${id} to me</Invoice>${'.'.repeat(size)}`],
    });
  const genuine = (id: string, from = 'POP000001', size = 0): TestMessage =>
    signedMessage(id, { from, payloads: [`<Invoice>${id}</Invoice>${' '.repeat(size)}`] });
  const begin = async (built: TestMessage, bytes: number): Promise<RawClient> => {
    const client = await rawClient(front.port);
    client.write(
      `POST /as4 HTTP/1.1\r\nHost: front\r\nContent-Type: ${built.headers['content-type']}\r\nContent-Length: ${built.body.length}\r\n\r\n`,
    );
    client.write(built.body.subarray(0, bytes));
    return client;
  };

  it.each([
    ['small', 0],
    ['long', 400_000],
  ])(
    'a slow and a half-open forged body against the genuine copy, %s: the upstream never sees the forged one',
    async (_size, size) => {
      const id = freshId();
      const bad = forged(id, 'POP000001', size);
      const slow = await begin(bad, bad.body.length - 4);
      const half = await begin(bad, Math.floor(bad.body.length / 2));
      half.socket.end();
      const good = await post(front.url, genuine(id, 'POP000001', size));
      expect([good.status, refersTo(good.body)]).toEqual([200, id]);
      expect((await post(front.url, genuine(id, 'POP000001', size))).body.equals(good.body)).toBe(true);
      // the slow one runs into its own pace, or completes and is a mismatch: never a Receipt
      await slow.sees(/^HTTP\/1\.1 408 /);
      slow.socket.destroy();
      expect(arrived().map(({ body }) => body.includes('to me'))).toEqual([false]);
    },
  );

  it('a slow forged body that completes after the genuine copy: an Error, not the Receipt', async () => {
    const id = freshId();
    const bad = forged(id);
    const slow = await begin(bad, bad.body.length - 2);
    const good = await post(front.url, genuine(id));
    expect(refersTo(good.body)).toBe(id);
    slow.write(bad.body.subarray(bad.body.length - 2));
    expect(await slow.sees(/EBMS:0003[\s\S]*Envelope>/)).not.toContain('Receipt');
    slow.socket.destroy();
    expect(arrived()).toHaveLength(1);
  });

  it('a forged copy first, refused by the access point: the genuine one is a first copy', async () => {
    const id = freshId();
    upstream.next(ebmsError({ code: 'EBMS:0101' }));
    expect(errorCodes((await post(front.url, forged(id))).body)).toEqual(['EBMS:0101']);
    const good = await post(front.url, genuine(id));
    expect([good.status, refersTo(good.body)]).toEqual([200, id]);
    expect(arrived().map((request) => request.header('as4-once-copy'))).toEqual(['first', 'first']);
    expect(errorCodes((await post(front.url, forged(id))).body)).toEqual(['EBMS:0003']);
    expect((await post(front.url, genuine(id))).body.equals(good.body)).toBe(true);
  });

  it('a forged copy first, accepted by the access point: the genuine one never gets the Receipt for the forged content', async () => {
    const id = freshId();
    const bad = await post(front.url, forged(id));
    const refused = await post(front.url, genuine(id));
    expect([refused.status, errorCodes(refused.body), refersTo(refused.body)]).toEqual([200, ['EBMS:0003'], id]);
    await front.logged({ event: 'mismatch', messageId: id });
    expect(refused.body.equals(bad.body)).toBe(false);
    // where the partner's rule is deliver-flagged it is delivered once, and has a Receipt of its own
    const flagged = freshId();
    const forgedFirst = await post(front.url, forged(flagged, 'FLAGGED'));
    const good = await post(front.url, genuine(flagged, 'FLAGGED'));
    expect([good.status, refersTo(good.body), good.body.equals(forgedFirst.body)]).toEqual([200, flagged, false]);
    expect((await post(front.url, genuine(flagged, 'FLAGGED'))).body.equals(good.body)).toBe(true);
  });

  it('a verbatim copy of a captured message: its Receipt, which is inherent, and no second delivery', async () => {
    const id = freshId();
    const captured = genuine(id);
    const good = await post(front.url, captured);
    const copy = await post(front.url, captured);
    expect(copy.body.equals(good.body)).toBe(true);
    expect(arrived()).toHaveLength(1);
  });

  /**
   * phase4 takes a boundary within a line of the preamble for the first one (measured), and some receivers see only
   * boundary lines that end in CRLF: what we read under a fresh id was a captured message to them, delivered once more.
   */
  it.each([
    ['a boundary within a line of the preamble', (inner: string, own: string) => `x${inner}${own}`],
    ['a first boundary line that ends in LF alone', (inner: string, own: string) => own.replace(/\r\n/g, '\n') + inner],
  ])('a captured message hidden where only the access point sees it, by %s: refused', async (_how, hide) => {
    const id = freshId();
    const captured = genuine(id);
    expect((await post(front.url, captured)).status).toBe(200);
    const whole = captured.body.toString('latin1').replace(/^\r\n/, '');
    const root = /^--[\s\S]*?Envelope>\r\n/.exec(whole)![0];
    const own = root.replaceAll(id, freshId());
    const headers = { 'content-type': captured.headers['content-type']!.replace(/;\s*start="[^"]*"/, '') };
    const body = Buffer.from(hide(root, own) + whole.slice(root.length), 'latin1');
    expect(errorCodes((await post(front.url, { body, headers })).body)).toEqual(['EBMS:0007']);
    expect(arrived()).toHaveLength(1);
  });

  describe('a MessageId reused with other content, while the first one', () => {
    it('is in work: the copy waits, and is an Error when the first is settled', async () => {
      const id = freshId();
      const working = gate();
      upstream.next(after(working.opened, receipt()));
      const first = post(front.url, genuine(id));
      await upstream.arrived(before + 1);
      const other = post(front.url, forged(id));
      await front.metricIs('as4_once_waiting', 1);
      working.open();
      expect(refersTo((await first).body)).toBe(id);
      expect(errorCodes((await other).body)).toEqual(['EBMS:0003']);
      expect(arrived()).toHaveLength(1);
    });

    it('was in work and is rejected: the copy is delivered as a first one, with a Receipt for its own content', async () => {
      const id = freshId();
      const working = gate();
      upstream.next(after(working.opened, ebmsError()));
      const first = post(front.url, genuine(id));
      await upstream.arrived(before + 1);
      const other = post(front.url, forged(id));
      await front.metricIs('as4_once_waiting', 1);
      working.open();
      expect(errorCodes((await first).body)).toEqual(['EBMS:0202']);
      expect(refersTo((await other).body)).toBe(id);
      expect(errorCodes((await post(front.url, genuine(id))).body)).toEqual(['EBMS:0003']);
    });

    it('is open after an uncertain attempt: redelivered, marked, and each content is judged by its own Receipt', async () => {
      const id = freshId();
      upstream.next(plain(500, 'text/html', 'broken'));
      expect((await post(front.url, genuine(id, 'REDELIVER'))).status).toBe(502);
      const other = await post(front.url, forged(id, 'REDELIVER'));
      expect(refersTo(other.body)).toBe(id);
      expect(arrived().map((request) => request.header('as4-once-copy'))).toEqual(['first', 'redelivery']);
      expect(errorCodes((await post(front.url, genuine(id, 'REDELIVER'))).body)).toEqual(['EBMS:0003']);
    });

    it('is held: held too, whatever its content', async () => {
      const id = freshId();
      upstream.next(plain(500, 'text/html', 'broken'));
      expect((await post(front.url, genuine(id, 'HOLD'))).status).toBe(502);
      for (const built of [forged(id, 'HOLD'), genuine(id, 'HOLD')])
        expect((await post(front.url, built)).body.toString()).toMatch(/^HELD/);
      expect(arrived()).toHaveLength(1);
    });

    it('is settled: an Error that names when it was first seen, and no delivery', async () => {
      const id = freshId();
      await post(front.url, genuine(id));
      const refused = await post(front.url, forged(id));
      expect(errorCodes(refused.body)).toEqual(['EBMS:0003']);
      expect(refused.body.toString()).toMatch(/first seen \d{4}-\d\d-\d\dT/);
      expect(refused.body.toString().toLowerCase()).not.toContain('duplicate');
      expect(arrived()).toHaveLength(1);
    });

    it('was released by an operator: the next copy is delivered once, marked, whatever its content', async () => {
      const id = freshId();
      upstream.next(plain(500, 'text/html', 'broken'));
      await post(front.url, genuine(id, 'HOLD'));
      expect((await post(front.url, genuine(id, 'HOLD'))).status).toBe(503);
      expect((await runCli(['release', id, '--reason', 'not in the ERP', '--config', front.configFile])).code).toBe(0);
      const answer = await post(front.url, genuine(id, 'HOLD'));
      expect(refersTo(answer.body)).toBe(id);
      expect(arrived().map((request) => request.header('as4-once-copy'))).toEqual(['first', 'redelivery']);
      expect(errorCodes((await post(front.url, forged(id, 'HOLD'))).body)).toEqual(['EBMS:0003']);
    });
  });

  describe('a MessageId reused with other content, whose record', () => {
    it('was imported without a Receipt: it goes on marked, and has whatever the access point says of it', async () => {
      const id = freshId();
      const from = [{ value: 'KNOWN', type: PEPPOL.partyType }];
      const facts = { from, to: [] };
      const known = { protocol: 'as4', reference: id, facts, signed: true } as const;
      const key = duplicateKey(known, 'reference+sender', 'default');
      const ledger = await engine.open();
      const imported = {
        ...sampleImport(key, Date.now() - 60_000),
        reference: id,
        scope: 'default',
        sender: '',
        facts,
      };
      expect(await ledger.adopt(imported)).toBe(true);
      upstream.next(ebmsError({ code: 'EBMS:0101' }), receipt());
      expect(errorCodes((await post(front.url, forged(id, 'KNOWN'))).body)).toEqual(['EBMS:0101']);
      expect(refersTo((await post(front.url, genuine(id, 'KNOWN'))).body)).toBe(id);
      expect(arrived().map((request) => request.header('as4-once-copy'))).toEqual(['duplicate', 'duplicate']);
      expect((await ledger.find(key))?.record.state).toBe('known');
      await ledger.close();
    });

    it('is past its window and kept: it is delivered, labelled late, and from then on its own content counts', async () => {
      const id = freshId();
      const first = await post(front.url, genuine(id, 'LATE'));
      const other = await eventually(
        async () => {
          const answer = await post(front.url, forged(id, 'LATE'));
          return errorCodes(answer.body).length === 0 ? answer : undefined;
        },
        () => 'the window to end',
      );
      expect([refersTo(other.body), other.body.equals(first.body)]).toEqual([id, false]);
      expect(arrived().map((request) => request.header('as4-once-copy'))).toEqual(['first', 'late']);
      expect(errorCodes((await post(front.url, genuine(id, 'LATE'))).body)).toEqual(['EBMS:0003']);
    });
  });

  it('spoofed marks, of the sender and of the access point, go no further', async () => {
    const id = freshId();
    upstream.next(receipt({ headers: { 'As4-Once-Answer': 'replay', 'As4-Once-Anything': 'x' } }));
    const built = genuine(id);
    const answer = await send(front.url, built, {
      headers: {
        'As4-Once-Copy': 'redelivery',
        'as4-once-first': 'somebody-else',
        'AS4-ONCE-ANSWER': 'replay',
        'As4-Once-New': 'x',
      },
    });
    expect(answer.status).toBe(200);
    const ours = (headers: readonly string[]): string[] =>
      headers.filter((name) => name.toLowerCase().startsWith('as4-once-'));
    expect(ours(Object.keys(answer.headers))).toEqual([]);
    expect(ours(arrived()[0]!.headers.map(([name]) => name))).toEqual(['As4-Once-Copy']);
    expect(arrived()[0]!.header('as4-once-copy')).toBe('first');
    const copy = await post(front.url, built);
    expect(copy.headers['as4-once-answer']).toBe('replay');
  });
});

describe('a storm', () => {
  let engine: Engine;
  let upstream: ScriptedUpstream;
  afterEach(async () => {
    await stopFronts();
    await upstream.close();
    await engine.close();
  });

  it('5,000 copies of one slow id: one delivery, bounded waiting, one Receipt, and other ids go through meanwhile', async () => {
    engine = await startEngine('embedded');
    upstream = await startUpstream(receipt());
    const front = await startFront({
      upstream: upstream.url,
      ...engine.settings,
      times: { wait: '100s', answerBy: '110s' },
    });
    const id = freshId();
    const built = message(id);
    const working = gate();
    upstream.next(after(working.opened, receipt()));
    const first = post(front.url, built);
    await upstream.arrived(1);
    const waiting = Array.from({ length: 128 }, () => post(front.url, built));
    await front.metricIs('as4_once_waiting', 128);
    const agent = new Agent({ keepAlive: true, maxSockets: 32 });
    for (let wave = 0; wave < 8; wave += 1) {
      const beyond = await Promise.all(Array.from({ length: 609 }, () => post(front.url, built, { agent })));
      for (const answer of beyond) {
        expect([answer.status, answer.body.toString().split(':')[0]]).toEqual([503, 'TOO_MANY_WAITING']);
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
      }
      const other = freshId();
      expect(refersTo((await post(front.url, message(other))).body)).toBe(other);
    }
    agent.destroy();
    await front.metricIs('as4_once_waiting', 128);
    working.open();
    const receiptOfAll = (await first).body;
    const answers = await Promise.all(waiting);
    expect(answers.every(({ status, body }) => status === 200 && body.equals(receiptOfAll))).toBe(true);
    expect(upstream.requests).toHaveLength(9);
    expect(await front.metric('as4_once_exchanges_total{answer="busy",route="/",partner=""}')).toBe(8 * 609);
  }, 180_000);
});
