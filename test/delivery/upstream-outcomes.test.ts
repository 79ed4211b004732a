import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AttemptResult, Upstream } from '../../src/delivery/port.js';
import { fingerprintFromReceipt } from '../../src/ebms/fingerprint.js';
import { openReply } from '../../src/receipt/stored-reply.js';
import { ebmsError, hang, inPieces, plain, raw, receipt, reset, userMessageReply, type SignalOptions } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream, type Step } from '../support/scripted-upstream.js';
import { attempted, bodyOf, headerOf, stored, upstreamTo, type AttemptChoices } from './attempt.js';
import { signedEnvelope } from './request.js';

/** The outcome table once more, row by row, over real sockets. */

const DIGEST = { uri: 'cid:p@test', digestMethod: 'http://www.w3.org/2001/04/xmlenc#sha256', digestValue: 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=' };
const FINGERPRINT = fingerprintFromReceipt([DIGEST]) ?? '';
const REQUEST = Buffer.from(signedEnvelope('m-1@test', [DIGEST]));

let server: ScriptedUpstream;
let upstream: Upstream;
beforeAll(async () => {
  server = await startUpstream(receipt());
  upstream = upstreamTo(server.url, { times: { upstreamOutage: 300 } });
});
afterAll(async () => {
  await upstream.close();
  await server.close();
});

async function after(step: Step, choices: AttemptChoices = {}): Promise<AttemptResult> {
  server.next(step);
  return await upstream.attempt(attempted({ fingerprint: FINGERPRINT, body: stored(REQUEST), ...choices }));
}

describe('accepted', () => {
  it.each<[string, SignalOptions]>([
    ['200', {}],
    ['202', { status: 202 }],
    ['500', { status: 500 }],
    ['multipart', { multipart: true }],
    ['without NRI', { digests: 'none' }],
    ['with a warning', { error: { severity: 'warning' } }],
  ])('Receipt, %s: stored and sent as it came', async (_name, options) => {
    const result = await after(receipt({ messageId: 'r-1@ap', ...options }));
    expect(result).toMatchObject({ outcome: 'accepted', reason: 'receipt', hold: false, stored: { receiptId: 'r-1@ap', status: options.status ?? 200 } });
    expect(result.code).toBeUndefined();
    const body = await bodyOf(result);
    if (result.stored === undefined) throw new Error('nothing stored');
    expect(Buffer.from(openReply(result.stored)).equals(body)).toBe(true);
    expect(body.toString()).toContain('<eb:RefToMessageId>m-1@test</eb:RefToMessageId>');
    expect(result.stored.contentType).toBe(headerOf(result, 'content-type'));
    expect(result.reply.status).toBe(options.status ?? 200);
  });

  it.each(['gzip', 'x-gzip', 'deflate', 'raw deflate', 'br'] as const)('Receipt coded %s although nobody asked: decoded once, then judged, stored and sent', async (coding) => {
    const result = await after(receipt({ coding }));
    expect(result).toMatchObject({ outcome: 'accepted' });
    expect((await bodyOf(result)).toString()).toMatch(/^<\?xml .*<\/S12:Envelope>$/);
    expect(headerOf(result, 'content-encoding')).toBeUndefined();
  });

  it('Receipt that trickles in', async () => {
    expect(await after(inPieces(7, receipt()))).toMatchObject({ outcome: 'accepted' });
  });

  it('UserMessage with our RefToMessageId', async () => {
    expect(await after(userMessageReply({ messageId: 'u-1@ap' }))).toMatchObject({ outcome: 'accepted', reason: 'twoWay', stored: { receiptId: 'u-1@ap' } });
  });

  it('keeps the further reply headers that policy names', async () => {
    const result = await after(receipt({ headers: { 'Message-ID': '<mdn@ap>', 'X-Other': '1' } }), { rule: { replyHeaders: ['message-id', 'content-type'] } });
    expect(result.stored?.headers).toEqual([['Message-ID', '<mdn@ap>']]);
    expect(headerOf(result, 'x-other')).toBe('1');
  });
});

describe('rejected', () => {
  it.each([200, 400, 500])('ebMS Error of severity failure, status %i: those bytes', async (status) => {
    const result = await after(ebmsError({ code: 'EBMS:0101' }, { status }));
    expect(result).toMatchObject({ outcome: 'rejected', reason: 'error', counts: true, reply: { status } });
    expect(result).not.toHaveProperty('stored');
    expect((await bodyOf(result)).toString()).toContain('EBMS:0101');
  });

  it.each([400, 404, 413, 429])('status %i without signal: those bytes', async (status) => {
    const result = await after(plain(status, 'text/html', '<p>no</p>', { 'Retry-After': '7' }));
    expect(result).toMatchObject({ outcome: 'rejected', reply: { status } });
    expect((await bodyOf(result)).toString()).toBe('<p>no</p>');
    expect(headerOf(result, 'retry-after')).toBe('7');
  });

  it('503 without signal: 503, with a Retry-After where it has none', async () => {
    const result = await after(plain(503, undefined, ''));
    expect(result).toMatchObject({ outcome: 'rejected', reason: 'notReached', reply: { status: 503 } });
    expect(Number(headerOf(result, 'retry-after'))).toBeGreaterThan(0);
    expect(headerOf(await after(plain(503, undefined, '', { 'Retry-After': '9' })), 'retry-after')).toBe('9');
  });

  it('"duplicate" Error at the first attempt: those bytes', async () => {
    const result = await after(ebmsError({ code: 'EBMS:4001' }));
    expect(result).toMatchObject({ outcome: 'rejected', reason: 'knownUpstream', counts: false });
    expect((await bodyOf(result)).toString()).toContain('EBMS:4001');
  });

  it.each(['EBMS:4001', 'EBMS:0004'])('"duplicate" Error %s after a rejected attempt: 503, alert', async (code) => {
    const result = await after(ebmsError({ code, detail: 'this is a duplicate' }), { before: { rejections: 1 } });
    expect(result).toMatchObject({ outcome: 'rejected', reason: 'burnt', code: 'UPSTREAM_BURNT', alert: 'burnt', reply: { status: 503 } });
    expect((await bodyOf(result)).toString()).not.toMatch(/duplicate|EBMS/i);
    expect(headerOf(result, 'retry-after')).toMatch(/^[1-9]\d*$/);
  });
});

describe('uncertain', () => {
  it('Receipt with other digests: those bytes, flagged, not stored', async () => {
    const result = await after(receipt({ digests: 'other' }));
    expect(result).toMatchObject({ outcome: 'uncertain', reason: 'otherDigests', alert: 'otherDigests', reply: { status: 200 } });
    expect(result).not.toHaveProperty('stored');
    expect((await bodyOf(result)).toString()).toContain('<eb:Receipt>');
  });

  it('Receipt together with a failure Error: those bytes', async () => {
    expect(await after(receipt({ error: {} }))).toMatchObject({ outcome: 'uncertain', reason: 'receiptWithError', reply: { status: 200 } });
  });

  it('"duplicate" Error after an uncertain attempt: held, 503', async () => {
    const result = await after(ebmsError({ code: 'EBMS:4001' }), { before: { firstUncertain: 1 }, mark: 'redelivery' });
    expect(result).toMatchObject({ outcome: 'uncertain', reason: 'duplicateAfterUncertain', hold: true, code: 'HELD', reply: { status: 503 } });
    expect((await bodyOf(result)).toString()).not.toMatch(/duplicate|EBMS/i);
  });

  it.each<[string, Step]>([
    ['Receipt', receipt({ refTo: 'm-2@test' })],
    ['Error', ebmsError({}, { refTo: 'm-2@test' })],
  ])('%s for another message: 502, loud, and the sender does not see it', async (_name, step) => {
    const result = await after(step);
    expect(result).toMatchObject({ outcome: 'uncertain', reason: 'otherMessage', code: 'UPSTREAM_WRONG', alert: 'wrongAnswer', reply: { status: 502 } });
    expect((await bodyOf(result)).toString()).not.toContain('m-2@test');
  });

  it('warning Error only: those bytes', async () => {
    expect(await after(ebmsError({ severity: 'warning' }))).toMatchObject({ outcome: 'uncertain', reason: 'warning', reply: { status: 200 } });
  });

  it.each<[string, Step, number]>([
    ['HTML', plain(200, 'text/html', '<!DOCTYPE html><p>hello'), 200],
    ['JSON', plain(200, 'application/json', '{"ok":true}'), 200],
    ['a redirect', plain(302, 'text/html', 'over there', { Location: '/x' }), 302],
    ['broken XML', plain(200, 'application/soap+xml', '<S12:Envelope'), 200],
    ['a body without a type', plain(200, undefined, 'ok'), 200],
  ])('2xx or 3xx without signal, %s: those bytes', async (_name, step, status) => {
    expect(await after(step)).toMatchObject({ outcome: 'uncertain', reason: 'noSignal', reply: { status } });
  });

  it.each([200, 202, 204])('empty %i: 502', async (status) => {
    expect(await after(plain(status, undefined, ''))).toMatchObject({ outcome: 'uncertain', reason: 'noSignal', code: 'UPSTREAM_UNCLEAR', reply: { status: 502 } });
  });

  it('empty 2xx where the Receipt comes as a callback: that answer', async () => {
    expect(await after(plain(202, undefined, ''), { rule: { replyPattern: 'callback' } })).toMatchObject({ reason: 'callback', hold: false, reply: { status: 202 } });
  });

  it.each([500, 502, 504])('status %i without signal: 502', async (status) => {
    const result = await after(plain(status, 'text/html', '<h1>stack trace</h1>'));
    expect(result).toMatchObject({ outcome: 'uncertain', reason: 'serverError', code: 'UPSTREAM_UNCLEAR', reply: { status: 502 } });
    expect((await bodyOf(result)).toString()).not.toContain('stack trace');
  });

  it.each(['accept', 'headers', 'mid-body', 'body', 'reply'] as const)('reset at %s: 502', async (phase) => {
    // an idle connection of the test before is not used, so that `accept` finds a new one
    await fresh();
    const result = await after(reset(phase), { body: stored(Buffer.alloc(300_000, 'x')) });
    expect(result).toMatchObject({ outcome: 'uncertain', reason: 'reset', code: 'UPSTREAM_UNCLEAR', reply: { status: 502 } });
    expect(result.detail).not.toBe('');
  });

  it.each(['body', 'headers'] as const)('no answer within patience (silent after %s): 504', async (phase) => {
    const patience = new AbortController();
    const before = server.requests.length;
    const attempt = after(hang(phase), { signal: patience.signal });
    await server.arrived(before + 1);
    patience.abort();
    expect(await attempt).toMatchObject({ outcome: 'uncertain', reason: 'silent', code: 'ANSWER_LATE', reply: { status: 504 } });
  });

  it('half a reply and then nothing within patience: 504', async () => {
    const patience = new AbortController();
    const before = server.requests.length;
    const attempt = after(raw('HTTP/1.1 200 OK\r\nContent-Type: text/xml\r\nContent-Length: 500\r\n\r\n<S12:Env'), { signal: patience.signal });
    await server.arrived(before + 1);
    patience.abort();
    expect(await attempt).toMatchObject({ outcome: 'uncertain', reason: 'silent', reply: { status: 504 } });
    await fresh();
  });
});

describe('a copy that nobody claimed (detect-only)', () => {
  it.each<[string, Step, number]>([
    ['500', plain(500, 'text/plain', 'own words'), 500],
    ['a "duplicate" Error', ebmsError({ code: 'EBMS:4001' }), 200],
    ['a Receipt for another message', receipt({ refTo: 'm-2@test' }), 200],
    ['an empty 202', plain(202, undefined, ''), 202],
  ])('gets the access point\'s own answer: %s', async (_name, step, status) => {
    const result = await after(step, { claimed: false, mark: 'duplicate' });
    expect(result.reply.status).toBe(status);
    expect(result.code).toBeUndefined();
  });
});

describe('protocols without signals', () => {
  it.each<[number, AttemptResult['outcome'], number]>([
    [200, 'accepted', 200],
    [404, 'rejected', 404],
    [500, 'uncertain', 500],
  ])('status %i is %s, those bytes', async (status, outcome, sent) => {
    const result = await after(plain(status, 'text/plain', 'x'), { protocol: 'reference' });
    expect(result).toMatchObject({ outcome, reason: 'status', reply: { status: sent } });
    expect(result.stored === undefined).toBe(outcome !== 'accepted');
  });
});

afterEach(() => {
  server.always(receipt());
});

/** Cuts what connections there are, so that the next attempt opens one. */
async function fresh(): Promise<void> {
  await server.stop();
  await server.start();
}
