import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/port.js';
import { compose, ebmsError, hang, plain, receipt, reset, userMessageReply, type SignalOptions } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream, type Step } from '../support/scripted-upstream.js';
import { startEngine, type Engine } from './engines.js';
import { startFront, stopFronts, type Front, type LogLine } from './front-process.js';
import { freshId, message, post } from './messages.js';

/**
 * Every row of the outcome table (design: outcome of a delivery) through the whole front, on real sockets: what the
 * sender gets, what the ledger holds, and what the next copy of the message gets.
 */
interface Row {
  readonly name: string;
  /** Which access point stands behind: phase4 forgets at a restart, holodeck does not, other recognises nothing. */
  readonly at?: 'phase4' | 'holodeck' | 'other';
  /** Whose policy. */
  readonly from?: 'HOLD' | 'REDELIVER' | 'HOLD-KNOWN';
  /** What the access point did with the copies before. */
  readonly before?: readonly Step[];
  /** What it does with this one; `refuses`: nobody listens. */
  readonly does: Step | 'refuses';
  /** `those bytes`: the access point's own status, Content-Type and body; otherwise a refusal in text. */
  readonly sender: 'those bytes' | readonly [status: number, code: string];
  readonly outcome: 'accepted' | 'rejected' | 'uncertain';
  readonly reason: string;
  readonly event?: string;
  /** What the next copy meets, the access point being in order again. */
  readonly next: 'replay' | 'first' | 'redelivery' | 'held';
}

const ONE: SignalOptions = { messageId: 'one@ap.test' };
const DUPLICATE = ebmsError({ code: 'EBMS:4001' }, ONE);
const DUPLICATE_IN_WORDS = ebmsError({ code: 'EBMS:0004', detail: 'Found a duplicate MessageId' }, ONE);
const FAILS = ebmsError({}, ONE);
const PAGE = plain(200, 'text/html', '<h1>It works</h1>');
const FOREIGN = { ...ONE, refTo: 'another@front.test' };
const HUGE = plain(200, 'application/soap+xml', 'x'.repeat(200_000));

const ACCEPTED = { sender: 'those bytes', outcome: 'accepted', reason: 'receipt', next: 'replay' } as const;
const REJECTED = { sender: 'those bytes', outcome: 'rejected', reason: 'error', next: 'first' } as const;
const UNSAID = { sender: 'those bytes', outcome: 'uncertain', reason: 'noSignal', next: 'redelivery' } as const;

const ROWS: readonly Row[] = [
  { name: 'a Receipt', does: receipt(ONE), ...ACCEPTED },
  { name: 'a Receipt in a MIME package', does: receipt({ ...ONE, multipart: true }), ...ACCEPTED },
  { name: 'a Receipt with status 500', does: receipt({ ...ONE, status: 500 }), ...ACCEPTED },
  { name: 'a Receipt without NRI', does: receipt({ ...ONE, digests: 'none' }), ...ACCEPTED },
  { name: 'a Receipt whose NRI names no payload', does: receipt({ ...ONE, digests: 'withoutCid' }), ...ACCEPTED },
  { name: 'a UserMessage in reply (two-way)', does: userMessageReply(ONE), ...ACCEPTED, reason: 'twoWay' },

  { name: 'a Receipt for other content', does: receipt({ ...ONE, digests: 'other' }), ...UNSAID, reason: 'otherDigests', event: 'wrongAnswer' },
  { name: 'a Receipt for other content, nobody remembers', at: 'other', does: receipt({ ...ONE, digests: 'other' }), ...UNSAID, reason: 'otherDigests', event: 'held', next: 'held' },
  { name: 'a Receipt together with a failure', does: receipt({ ...ONE, error: {} }), ...UNSAID, reason: 'receiptWithError' },

  { name: 'an Error', does: FAILS, ...REJECTED },
  { name: 'an Error with status 500', does: ebmsError({}, { ...ONE, status: 500 }), ...REJECTED },
  { name: 'an Error without a reference', does: ebmsError({}, { ...ONE, refTo: '' }), ...REJECTED },

  { name: '"duplicate" after a rejected attempt', before: [FAILS], does: DUPLICATE, sender: [503, 'UPSTREAM_BURNT'], outcome: 'rejected', reason: 'burnt', event: 'burnt', next: 'first' },
  { name: '"duplicate" in words after a rejected attempt', before: [FAILS], does: DUPLICATE_IN_WORDS, sender: [503, 'UPSTREAM_BURNT'], outcome: 'rejected', reason: 'burnt', event: 'burnt', next: 'first' },
  { name: '"duplicate" after an uncertain attempt', before: [PAGE], does: DUPLICATE, sender: [503, 'HELD'], outcome: 'uncertain', reason: 'duplicateAfterUncertain', event: 'held', next: 'held' },
  { name: '"duplicate" at our first attempt', does: DUPLICATE, ...REJECTED, reason: 'knownUpstream' },
  { name: '"duplicate" again, which is no rejected attempt', before: [DUPLICATE], does: DUPLICATE, ...REJECTED, reason: 'knownUpstream' },
  { name: '"duplicate" at our first attempt, policy hold', from: 'HOLD-KNOWN', does: DUPLICATE, sender: [503, 'HELD'], outcome: 'rejected', reason: 'knownUpstream', event: 'held', next: 'held' },

  { name: 'a Receipt for another message', does: receipt(FOREIGN), sender: [502, 'UPSTREAM_WRONG'], outcome: 'uncertain', reason: 'otherMessage', event: 'wrongAnswer', next: 'redelivery' },
  { name: 'an Error for another message', does: ebmsError({}, FOREIGN), sender: [502, 'UPSTREAM_WRONG'], outcome: 'uncertain', reason: 'otherMessage', event: 'wrongAnswer', next: 'redelivery' },
  { name: 'a Receipt for another message, nobody remembers', at: 'other', does: receipt(FOREIGN), sender: [502, 'UPSTREAM_WRONG'], outcome: 'uncertain', reason: 'otherMessage', event: 'held', next: 'held' },

  { name: 'a warning only', does: ebmsError({ severity: 'warning' }, ONE), ...UNSAID, reason: 'warning' },
  { name: '200 with HTML', does: PAGE, ...UNSAID, event: 'uncertain' },
  { name: '200 with JSON', does: plain(200, 'application/json', '{"ok":true}'), ...UNSAID },
  { name: '302 with a page', does: plain(302, 'text/html', 'moved', { Location: 'http://127.0.0.1:9/' }), ...UNSAID },
  { name: '200 with HTML, nobody remembers', at: 'other', does: PAGE, ...UNSAID, next: 'held' },
  { name: '200 with HTML, policy hold', from: 'HOLD', does: PAGE, ...UNSAID, event: 'held', next: 'held' },
  { name: '200 with HTML, policy redeliver', at: 'other', from: 'REDELIVER', does: PAGE, ...UNSAID, next: 'redelivery' },
  { name: '200 with nothing', does: plain(200, undefined, ''), ...UNSAID, sender: [502, 'UPSTREAM_UNCLEAR'] },
  { name: '202 with nothing', does: plain(202, 'application/soap+xml', ''), ...UNSAID, sender: [502, 'UPSTREAM_UNCLEAR'] },
  { name: '204', does: plain(204, undefined, ''), ...UNSAID, sender: [502, 'UPSTREAM_UNCLEAR'] },

  { name: '404 with a page', does: plain(404, 'text/html', 'not here'), ...REJECTED, reason: 'clientError' },
  { name: '400 with nothing', does: plain(400, undefined, ''), ...REJECTED, reason: 'clientError' },
  { name: '429', does: plain(429, 'text/plain', 'slow down'), ...REJECTED, reason: 'notReached' },
  { name: '503', does: plain(503, 'text/html', 'maintenance'), ...REJECTED, reason: 'notReached' },
  { name: '500 with a page', does: plain(500, 'text/html', 'oops'), ...UNSAID, sender: [502, 'UPSTREAM_UNCLEAR'], reason: 'serverError' },
  { name: '502 of a proxy behind us', does: plain(502, 'text/html', 'bad gateway'), ...UNSAID, sender: [502, 'UPSTREAM_UNCLEAR'], reason: 'serverError' },

  ...(['headers', 'mid-body', 'body', 'reply'] as const).flatMap((phase): Row[] => {
    const row = { does: reset(phase), sender: [502, 'UPSTREAM_UNCLEAR'], outcome: 'uncertain', reason: 'reset' } as const;
    return [
      { name: `a reset (${phase}) of one that forgets at a restart`, ...row, next: 'held' },
      { name: `a reset (${phase}) of one that does not`, at: 'holodeck', ...row, next: 'redelivery' },
    ];
  }),
  { name: 'no answer within patience', does: hang(), sender: [504, 'ANSWER_LATE'], outcome: 'uncertain', reason: 'silent', next: 'redelivery' },
  { name: 'nobody listens', does: 'refuses', sender: [503, 'UPSTREAM_DOWN'], outcome: 'rejected', reason: 'refused', next: 'first' },
  { name: 'nobody listens after an uncertain attempt, and its memory is gone', before: [PAGE], does: 'refuses', sender: [503, 'UPSTREAM_DOWN'], outcome: 'rejected', reason: 'refused', event: 'held', next: 'held' },
  { name: 'nobody listens after an uncertain attempt, and its memory survives', at: 'holodeck', before: [PAGE], does: 'refuses', sender: [503, 'UPSTREAM_DOWN'], outcome: 'rejected', reason: 'refused', next: 'redelivery' },
  { name: 'a reply too large to be kept', does: HUGE, ...UNSAID, reason: 'replyTooLarge', event: 'replyTooLarge' },
];

describe('the outcome of a delivery, through the whole front', () => {
  let engine: Engine;
  let ledger: Ledger;
  let upstream: ScriptedUpstream;
  let front: Front;
  beforeAll(async () => {
    engine = await startEngine('embedded');
    ledger = await engine.open();
    upstream = await startUpstream(receipt());
    const route = (accessPoint: string) => ({ path: `/${accessPoint}`, upstream: upstream.url, accessPoint });
    front = await startFront({
      ...engine.settings,
      routes: [route('phase4'), route('holodeck'), route('other')],
      times: { upstreamOutage: '150ms', patience: '1500ms', answerBy: '20s' },
      limits: { maxReply: '100 KiB' },
      partners: [
        { match: { from: 'HOLD' }, uncertain: 'hold' },
        { match: { from: 'REDELIVER' }, uncertain: 'redeliver' },
        { match: { from: 'HOLD-KNOWN' }, upstreamDuplicate: 'hold' },
        { match: { from: 'CALLBACK' }, mode: 'detect-only', replyPattern: 'callback' },
      ],
    });
  });
  afterAll(async () => {
    await stopFronts();
    await upstream.close();
    await ledger.close();
    await engine.close();
  });

  it.each(ROWS)('$name: $outcome ($reason); the next copy: $next', async (row) => {
    const id = freshId();
    const url = new URL(`/${row.at ?? 'phase4'}`, front.url).href;
    const copy = () => post(url, message(id, row.from === undefined ? {} : { from: row.from }));
    for (const step of row.before ?? []) {
      upstream.next(step);
      await copy();
    }
    const earlier = upstream.requests.length;
    if (row.does === 'refuses') await upstream.stop();
    else upstream.next(row.does);
    const answer = await copy();
    if (row.does === 'refuses') await upstream.start();

    if (row.sender === 'those bytes') {
      const own = compose(row.does as Step, upstream.requests.at(-1)!);
      expect(answer.status).toBe(own.status);
      expect(answer.headers['content-type']).toBe(own.headers['Content-Type']);
      expect(answer.body.equals(own.body)).toBe(true);
    } else {
      expect([answer.status, answer.body.toString().split(':')[0]]).toEqual(row.sender);
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
    }
    if (answer.status === 503) expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.headers['as4-once-answer']).toBeUndefined();
    expect(upstream.requests.length).toBe(earlier + (row.does === 'refuses' ? 0 : 1));

    const line = await front.logged({ event: 'exchange', messageId: id }, (row.before?.length ?? 0) + 1);
    expect(line).toMatchObject({ outcome: row.outcome, reason: row.reason, status: answer.status });
    if (row.event !== undefined) expect(await front.logged({ event: row.event, messageId: id })).toMatchObject({ key: line.key });
    await holds(row, line);

    const next = await copy();
    if (row.next === 'held') {
      expect([next.status, next.body.toString().split(':')[0]]).toEqual([503, 'HELD']);
      expect(upstream.requests.length).toBe(earlier + (row.does === 'refuses' ? 0 : 1));
    } else if (row.next === 'replay') {
      expect([next.status, next.headers['content-type'], next.headers['as4-once-answer']]).toEqual([answer.status, answer.headers['content-type'], 'replay']);
      expect(next.body.equals(answer.body)).toBe(true);
      expect(upstream.requests.length).toBe(earlier + 1);
    } else {
      expect(next.status).toBe(200);
      expect(upstream.requests.at(-1)!.header('as4-once-copy')).toBe(row.next);
      expect((await copy()).body.equals(next.body)).toBe(true);
    }
  });

  async function holds(row: Row, line: LogLine): Promise<void> {
    const record = (await ledger.find(line.key!))?.record;
    const heldAtOnce = row.next === 'held';
    expect(record?.state).toBe(row.outcome === 'accepted' ? 'settled' : heldAtOnce ? 'held' : 'open');
    expect(record?.attempts.at(-1)).toMatchObject({ outcome: row.outcome, ...(row.outcome === 'accepted' ? {} : { reason: row.reason }) });
    expect(record?.reply === undefined).toBe(row.outcome !== 'accepted');
  }

  it.each(['phase4', 'other'])('callback (%s): an empty 2xx is not judged; each copy is forwarded, marked, and nothing waits for an operator', async (at) => {
    const id = freshId();
    const earlier = upstream.requests.length;
    const url = new URL(`/${at}`, front.url).href;
    const marks: unknown[] = [];
    for (let nth = 0; nth < 3; nth += 1) {
      upstream.next(plain(202, undefined, ''));
      const answer = await post(url, message(id, { from: 'CALLBACK' }));
      expect([answer.status, answer.body.length]).toEqual([202, 0]);
      marks.push(upstream.requests.at(-1)!.header('as4-once-copy'));
    }
    expect(upstream.requests.length).toBe(earlier + 3);
    expect(marks).toEqual(['first', expect.stringMatching(/^(redelivery|duplicate)$/), expect.stringMatching(/^(redelivery|duplicate)$/)]);
    const { key } = await front.logged({ event: 'exchange', messageId: id }, 3);
    expect((await ledger.find(key!))?.record.state).not.toBe('held');
    expect(front.log().filter((line) => line.key === key && line.event !== 'exchange').map((line) => line.event)).not.toContain('held');
  });

  it('a coded reply is decoded once, before it is judged and stored: first copy and replay get the same bytes', async () => {
    for (const coding of ['gzip', 'deflate', 'br'] as const) {
      const id = freshId();
      upstream.next(receipt({ messageId: `coded-${id}`, coding }));
      const url = new URL('/phase4', front.url).href;
      const first = await post(url, message(id));
      expect(first.headers['content-encoding']).toBeUndefined();
      expect(first.body.toString()).toContain(`coded-${id}`);
      expect((await post(url, message(id))).body.equals(first.body)).toBe(true);
      expect(upstream.requests.at(-1)!.header('accept-encoding')).toBe('identity');
    }
  });
});
