import { describe, expect, it } from 'vitest';
import { accessPoint, type AccessPointName } from '../../src/delivery/access-points.js';
import { judge, judgeByStatus, type Answered, type Sent, type UpstreamAnswer, type Verdict } from '../../src/delivery/outcome.js';
import { readEnvelope } from '../../src/ebms/envelope.js';
import { fingerprintFromReceipt } from '../../src/ebms/fingerprint.js';
import { LIMITS } from '../../src/limits.js';
import { compose, ebmsError, receipt, userMessageReply, type ErrorOptions, type SignalOptions } from '../support/scripted-answers.js';
import { signedRequest } from './request.js';

const DIGEST = { uri: 'cid:p@test', digestMethod: 'http://www.w3.org/2001/04/xmlenc#sha256', digestValue: 'q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJA=' };
const REQUEST = signedRequest('m-1@test', [DIGEST]);
const FINGERPRINT = fingerprintFromReceipt([DIGEST]) ?? '';

interface Case {
  readonly before?: Partial<Sent['before']>;
  readonly rule?: Partial<Sent['rule']>;
  readonly at?: AccessPointName;
  readonly fingerprint?: string;
}

function sent({ before, rule, at = 'phase4', fingerprint = FINGERPRINT }: Case = {}): Sent {
  return {
    messageId: 'm-1@test',
    fingerprint,
    before: { uncertain: false, rejected: false, ...before },
    rule: { uncertain: 'auto', upstreamDuplicate: 'pass', replyPattern: 'response', ...rule },
    accessPoint: accessPoint(at),
  };
}

function answer(status: number, body = '', more: Partial<Answered> = {}): UpstreamAnswer {
  return { kind: 'answer', status, contentType: 'text/plain', body: Buffer.from(body), tooLarge: false, ...more };
}

function signals(step: ReturnType<typeof receipt>): UpstreamAnswer {
  const { status, body, headers } = compose(step, REQUEST);
  return { kind: 'answer', status, contentType: headers['Content-Type'], body, envelope: readEnvelope(body, LIMITS), tooLarge: false };
}

const receiptJudged = (options: SignalOptions, given: Case = {}): Verdict => judge(signals(receipt(options)), sent(given));
const errorJudged = (error: ErrorOptions, given: Case = {}, options: SignalOptions = {}): Verdict => judge(signals(ebmsError(error, options)), sent(given));

describe('Receipt with our RefToMessageId', () => {
  it('is accepted when its cid: digests are ours, and its id is kept', () => {
    expect(receiptJudged({ messageId: 'r-1@ap' })).toEqual({ outcome: 'accepted', reason: 'receipt', send: 'answer', hold: false, counts: true, receiptId: 'r-1@ap' });
  });

  it.each([200, 202, 400, 403, 500, 503, 429])('is accepted whatever the status: %i', (status) => {
    expect(receiptJudged({ status })).toMatchObject({ outcome: 'accepted', send: 'answer' });
  });

  it('is accepted without NonRepudiationInformation, and with one that names no payload', () => {
    expect(receiptJudged({ digests: 'none' })).toMatchObject({ outcome: 'accepted' });
    expect(receiptJudged({ digests: 'withoutCid' })).toMatchObject({ outcome: 'accepted' });
  });

  it('is accepted for a message whose payloads were not signed: there is nothing to compare', () => {
    expect(receiptJudged({ digests: 'other' }, { fingerprint: 'plain:abc' })).toMatchObject({ outcome: 'accepted' });
  });

  it('is accepted where the message also had a signed Body: only cid: digests are compared', () => {
    expect(receiptJudged({}, { fingerprint: `${FINGERPRINT}.bodyhash` })).toMatchObject({ outcome: 'accepted' });
  });

  it('is accepted beside a warning (some networks report a repetition that way)', () => {
    expect(receiptJudged({ error: { severity: 'warning', code: 'SVEV:0201' } })).toMatchObject({ outcome: 'accepted' });
  });

  it('with other cid: digests is uncertain and flagged, never settled', () => {
    expect(receiptJudged({ digests: 'other' })).toMatchObject({ outcome: 'uncertain', reason: 'otherDigests', send: 'answer', alert: 'otherDigests' });
  });

  it('together with a failure Error is uncertain', () => {
    expect(receiptJudged({ error: {} })).toMatchObject({ outcome: 'uncertain', reason: 'receiptWithError', send: 'answer' });
    expect(receiptJudged({ error: { refToInError: 'm-2@test' }, refTo: '' })).toMatchObject({ outcome: 'uncertain' });
  });
});

describe('ebMS Error', () => {
  it.each([200, 400, 500, 503])('of severity failure is a rejection, whatever the status: %i', (status) => {
    expect(errorJudged({}, {}, { status })).toEqual({ outcome: 'rejected', reason: 'error', send: 'answer', hold: false, counts: true });
  });

  it('without any reference counts as ours', () => {
    expect(errorJudged({}, {}, { refTo: '' })).toMatchObject({ outcome: 'rejected', reason: 'error' });
  });

  it('is ours by refToMessageInError where the signal has no RefToMessageId', () => {
    expect(errorJudged({ refToInError: 'm-1@test' }, {}, { refTo: '' })).toMatchObject({ reason: 'error' });
    expect(errorJudged({ refToInError: 'm-2@test' }, {}, { refTo: '' })).toMatchObject({ reason: 'otherMessage' });
  });

  it('of severity warning alone is uncertain', () => {
    expect(errorJudged({ severity: 'warning' })).toMatchObject({ outcome: 'uncertain', reason: 'warning', send: 'answer' });
  });
});

describe.each([
  ['EBMS:4001', { code: 'EBMS:4001', detail: 'seen before' }],
  ['EBMS:0004 whose detail says duplicate', { code: 'EBMS:0004', detail: 'was already handled (this is a Duplicate)' }],
])('"duplicate" Error (%s)', (_name, error) => {
  it('after a rejected attempt: the access point burnt the id, and the sender is asked to come again', () => {
    expect(errorJudged(error, { before: { rejected: true } })).toEqual({ outcome: 'rejected', reason: 'burnt', send: 'UPSTREAM_BURNT', hold: false, counts: true, alert: 'burnt' });
  });

  it('after an uncertain attempt: held', () => {
    const held = { outcome: 'uncertain', reason: 'duplicateAfterUncertain', send: 'HELD', hold: true };
    expect(errorJudged(error, { before: { uncertain: true } })).toMatchObject(held);
    expect(errorJudged(error, { before: { uncertain: true, rejected: true } })).toMatchObject(held);
    expect(errorJudged(error, { before: { uncertain: true }, rule: { uncertain: 'redeliver' } })).toMatchObject(held);
  });

  it('at the first attempt: passed on, and no rejection that could have burnt the id', () => {
    expect(errorJudged(error)).toEqual({ outcome: 'rejected', reason: 'knownUpstream', send: 'answer', hold: false, counts: false });
  });

  it('at the first attempt with upstreamDuplicate: hold', () => {
    expect(errorJudged(error, { rule: { upstreamDuplicate: 'hold' } })).toEqual({ outcome: 'rejected', reason: 'knownUpstream', send: 'HELD', hold: true, counts: false });
  });
});

describe('what only looks like a "duplicate" Error', () => {
  it('EBMS:0004 with another detail is a plain rejection', () => {
    expect(errorJudged({ code: 'EBMS:0004', detail: 'back-end refused' }, { before: { rejected: true } })).toMatchObject({ reason: 'error', send: 'answer' });
  });
  it('another code with that word is too', () => {
    expect(errorJudged({ code: 'EBMS:0202', detail: 'duplicate key' }, { before: { uncertain: true } })).toMatchObject({ reason: 'error' });
  });
});

describe('signals for another message', () => {
  const wrong = { outcome: 'uncertain', reason: 'otherMessage', send: 'UPSTREAM_WRONG', alert: 'wrongAnswer' };
  it.each<[string, UpstreamAnswer]>([
    ['Receipt', signals(receipt({ refTo: 'm-2@test' }))],
    ['Receipt that refers to nothing', signals(receipt({ refTo: '' }))],
    ['Receipt for our id in another spelling', signals(receipt({ refTo: 'M-1@test' }))],
    ['failure Error', signals(ebmsError({}, { refTo: 'm-2@test' }))],
    ['warning Error', signals(ebmsError({ severity: 'warning' }, { refTo: 'm-2@test' }))],
    ['"duplicate" Error', signals(ebmsError({ code: 'EBMS:4001' }, { refTo: 'm-2@test' }))],
    ['UserMessage', signals(userMessageReply({ refTo: 'm-2@test' }))],
    ['UserMessage that refers to nothing', signals(userMessageReply({ refTo: '' }))],
  ])('%s: uncertain, loud, 502', (_name, what) => {
    expect(judge(what, sent())).toMatchObject(wrong);
  });
});

it('a UserMessage with our RefToMessageId (two-way sync) is accepted', () => {
  expect(judge(signals(userMessageReply({ messageId: 'u-1@ap' })), sent())).toMatchObject({ outcome: 'accepted', reason: 'twoWay', receiptId: 'u-1@ap' });
});

describe('no signal', () => {
  it.each([200, 202, 301, 302])('status %i with a body: uncertain, those bytes', (status) => {
    expect(judge(answer(status, '<html/>'), sent())).toMatchObject({ outcome: 'uncertain', reason: 'noSignal', send: 'answer' });
  });
  it.each([200, 202, 204, 304])('status %i without one: uncertain, 502', (status) => {
    expect(judge(answer(status), sent())).toMatchObject({ outcome: 'uncertain', reason: 'noSignal', send: 'UPSTREAM_UNCLEAR' });
  });
  it('an envelope without any unit is no signal either', () => {
    const body = Buffer.from('<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"><s:Header/><s:Body/></s:Envelope>');
    expect(judge(answer(200, body.toString(), { envelope: readEnvelope(body, LIMITS) }), sent())).toMatchObject({ reason: 'noSignal', send: 'answer' });
  });
  it('an empty 2xx is not judged where the Receipt comes as a callback', () => {
    const rule = { replyPattern: 'callback', uncertain: 'hold' } as const;
    expect(judge(answer(202), sent({ rule }))).toMatchObject({ reason: 'callback', send: 'answer', hold: false });
  });
  it.each([400, 401, 404, 413, 429, 499])('status %i: rejected, those bytes', (status) => {
    expect(judge(answer(status, 'no'), sent())).toMatchObject({ outcome: 'rejected', reason: status === 429 ? 'notReached' : 'clientError', send: 'answer', counts: true });
  });
  it('503: rejected, as the access point was not reached', () => {
    expect(judge(answer(503), sent())).toMatchObject({ outcome: 'rejected', reason: 'notReached', send: 'answer' });
  });
  it('notReached is configurable', () => {
    const given = { ...sent(), accessPoint: accessPoint('other', { notReached: [502] }) };
    expect(judge(answer(502), given)).toMatchObject({ outcome: 'rejected', reason: 'notReached' });
    expect(judge(answer(503), given)).toMatchObject({ outcome: 'uncertain', reason: 'serverError' });
  });
  it.each([500, 501, 502, 504, 599])('status %i: uncertain, 502', (status) => {
    expect(judge(answer(status, 'oops'), sent())).toMatchObject({ outcome: 'uncertain', reason: 'serverError', send: 'UPSTREAM_UNCLEAR' });
  });
});

describe('no answer', () => {
  it('a refused connection: rejected, 503, and the id cannot have been burnt', () => {
    expect(judge({ kind: 'refused', detail: '' }, sent())).toEqual({ outcome: 'rejected', reason: 'refused', send: 'UPSTREAM_DOWN', hold: false, counts: false });
  });
  it('a reset: uncertain, 502', () => {
    expect(judge({ kind: 'reset', detail: '' }, sent())).toMatchObject({ outcome: 'uncertain', reason: 'reset', send: 'UPSTREAM_UNCLEAR' });
  });
  it('silence: uncertain, 504', () => {
    expect(judge({ kind: 'silent', detail: '' }, sent())).toMatchObject({ outcome: 'uncertain', reason: 'silent', send: 'ANSWER_LATE' });
  });
});

it('a reply over its bound is uncertain and loud whatever it begins with', () => {
  const what = { ...signals(receipt()), tooLarge: true } as UpstreamAnswer;
  expect(judge(what, sent())).toMatchObject({ outcome: 'uncertain', reason: 'replyTooLarge', send: 'answer', alert: 'replyTooLarge' });
});

describe('policy for an uncertain attempt', () => {
  const afterReset: UpstreamAnswer = { kind: 'reset', detail: '' };
  const after500: UpstreamAnswer = answer(500);
  it.each<[AccessPointName, Sent['rule']['uncertain'], UpstreamAnswer, boolean, string]>([
    ['phase4', 'auto', after500, false, 'it remembers for a while: the ledger judges at the next claim'],
    ['phase4', 'auto', afterReset, true, 'its memory may be gone with it'],
    ['phoss-ap', 'auto', afterReset, false, 'its memory survives'],
    ['holodeck', 'auto', afterReset, false, 'its memory survives'],
    ['domibus', 'auto', after500, false, 'its memory survives'],
    ['oxalis', 'auto', after500, true, 'it remembers nothing'],
    ['other', 'auto', after500, true, 'nothing is known of it'],
    ['other', 'redeliver', afterReset, false, 'the operator chose'],
    ['holodeck', 'hold', after500, true, 'the operator chose'],
  ])('%s, uncertain: %s (%#)', (at, uncertain, what, hold, _why) => {
    expect(judge(what, sent({ at, rule: { uncertain } })).hold).toBe(hold);
  });

  it('a refused connection after an uncertain attempt holds where the access point forgets with a restart', () => {
    const refused: UpstreamAnswer = { kind: 'refused', detail: '' };
    expect(judge(refused, sent({ before: { uncertain: true } })).hold).toBe(true);
    expect(judge(refused, sent({ before: { uncertain: true }, at: 'holodeck' })).hold).toBe(false);
    expect(judge(refused, sent({ before: { uncertain: true }, rule: { uncertain: 'redeliver' } })).hold).toBe(false);
  });
});

describe('protocols without signals', () => {
  it.each<[number, readonly string[] | undefined, Verdict['outcome']]>([
    [200, undefined, 'accepted'],
    [204, undefined, 'accepted'],
    [302, undefined, 'uncertain'],
    [404, undefined, 'rejected'],
    [429, undefined, 'rejected'],
    [503, undefined, 'rejected'],
    [500, undefined, 'uncertain'],
    [200, ['204'], 'uncertain'],
    [409, ['2xx', '409'], 'accepted'],
    [203, ['200-202'], 'uncertain'],
    [202, ['200-202'], 'accepted'],
  ])('status %i with accept %j is %s', (status, accept, outcome) => {
    expect(judgeByStatus(answer(status), accept, sent())).toMatchObject({ outcome, reason: 'status', send: 'answer' });
  });
  it('no answer is judged as for AS4', () => {
    expect(judgeByStatus({ kind: 'reset', detail: '' }, undefined, sent())).toMatchObject({ outcome: 'uncertain', send: 'UPSTREAM_UNCLEAR' });
  });
});
