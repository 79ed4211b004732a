// A multipart/related without a boundary was answered 400 in plain text where every other broken package gets EBMS:0007:
// what the head alone rules out was thrown before there was a reading, so nobody knew the language to answer in. For the
// same reason a route in shadow mode, which forwards whatever it would refuse, refused such requests.
import { describe, expect, it } from 'vitest';
import { as4Protocol } from '../../src/ebms/as4.js';
import { As4OnceError } from '../../src/errors.js';
import { LIMITS } from '../../src/limits.js';
import { receive } from '../../src/receive.js';
import type { AnswerIn } from '../../src/protocol.js';
import { exchangeOf, World } from '../walk/world.js';

const HEADS: readonly (readonly [contentType: string, code: string, soap: '1.1' | '1.2'])[] = [
  ['multipart/related; type="application/soap+xml"', 'MIME_BROKEN', '1.2'],
  ['multipart/related; type="text/xml"', 'MIME_BROKEN', '1.1'],
  ['multipart/related; boundary=a; boundary=b', 'MIME_BROKEN', '1.2'],
  ['multipart/mixed; boundary=a', 'MEDIA_TYPE', '1.2'],
];

describe('a request that its head alone rules out', () => {
  it.each(HEADS)('%s: refused as %s, in SOAP %s', (contentType, code, soap) => {
    const reading = as4Protocol.open({ headers: [['Content-Type', contentType]], target: '/' }, LIMITS);
    expect(reading.answerIn).toEqual({ protocol: 'as4', soap });
    expect(() => reading.push(Buffer.from('--a\r\n'))).toThrow(code);
  });

  it.each(HEADS)('%s: the walk hands the language on to the refusal', async (contentType, code, soap) => {
    const world = new World();
    const refusals: [string, AnswerIn][] = [];
    const route = world.route({ protocol: as4Protocol, refuse: (error, answerIn) => {
      refusals.push([error.code, answerIn]);
      return { status: error.entry.status, headers: [], body: Buffer.alloc(0) };
    } });
    const reply = await receive(exchangeOf('--a\r\n', [['Content-Type', contentType]]), route, world.walk);
    expect(reply.status).toBe(code === 'MEDIA_TYPE' ? 415 : 400);
    expect(refusals).toEqual(new As4OnceError(code as 'MIME_BROKEN').entry.ebms === undefined ? [] : [[code, { protocol: 'as4', soap }]]);
  });

  it.each(HEADS)('%s: forwarded in shadow mode, whatever eliminate would have said', async (contentType) => {
    const world = new World();
    world.rule = { ...world.rule, mode: 'shadow' };
    const reply = await receive(exchangeOf('--a\r\n', [['Content-Type', contentType]]), world.route({ protocol: as4Protocol }), world.walk);
    expect(reply.status).toBe(200);
    expect(world.passed).toEqual(['--a\r\n']);
  });
});
