import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Upstream } from '../../src/delivery/port.js';
import type { Exchange } from '../../src/exchange.js';
import { plain, receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { bodyOf, stored, streamed, upstreamTo, type UpstreamChoices } from './attempt.js';

let server: ScriptedUpstream;
let upstream: Upstream;
const to = (choices: UpstreamChoices = {}): Upstream => (upstream = upstreamTo(server.url, choices));
beforeEach(async () => {
  server = await startUpstream(receipt());
});
afterEach(async () => {
  await upstream.close();
  await server.close();
});

describe('pass', () => {
  const exchange = (method: string, more: Partial<Exchange> = {}): Exchange => ({ method, target: '/x?q=1', headers: [], peer: '192.0.2.7', body: chunks(), ...more });
  async function* chunks(...parts: string[]): AsyncGenerator<Uint8Array> {
    for (const part of parts) yield Buffer.from(part);
  }

  it.each(['GET', 'OPTIONS', 'DELETE'])('hands %s through with its reply, unmarked', async (method) => {
    server.next(plain(200, 'text/html', '<p>status', { 'X-Own': '1', 'Content-Encoding': 'x' }));
    const reply = await to().pass(exchange(method, { headers: [['As4-Once-Copy', 'first'], ['Accept', '*/*']] }));
    expect(reply.status).toBe(200);
    expect((await bodyOf({ reply })).toString()).toBe('<p>status');
    expect(reply.headers).toEqual([['Content-Type', 'text/html'], ['X-Own', '1'], ['Content-Encoding', 'x']]);
    const arrived = await server.arrived(1);
    expect(arrived).toMatchObject({ method, target: '/as4/x?q=1' });
    expect(arrived.header('as4-once-copy')).toBeUndefined();
    expect(arrived.header('content-length')).toBeUndefined();
  });

  it('hands HEAD through', async () => {
    const reply = await to().pass(exchange('HEAD'));
    expect(reply.status).toBe(200);
    expect((await bodyOf({ reply })).byteLength).toBe(0);
  });

  it('streams a body that is chunked or has a length', async () => {
    to();
    await bodyOf({ reply: await upstream.pass(exchange('PUT', { headers: [['Transfer-Encoding', 'chunked']], body: chunks('ab', 'cd') })) });
    await bodyOf({ reply: await upstream.pass(exchange('PUT', { headers: [['Content-Length', '4']], length: 4, body: chunks('ef', 'gh') })) });
    expect(server.requests.map(({ body }) => body.toString())).toEqual(['abcd', 'efgh']);
    expect(server.requests[1]?.header('content-length')).toBe('4');
  });

  it('hands a signal on that was read already', async () => {
    const reply = await to().pass(exchange('POST'), streamed(Buffer.from('<signal/>')));
    expect(reply.status).toBe(200);
    expect((await server.arrived(1)).body.toString()).toBe('<signal/>');
  });

  it('answers in plain text where there is no answer', async () => {
    to({ times: { upstreamOutage: 50 } });
    server.next({ at: 'body', act: (_request, socket) => void socket.resetAndDestroy() });
    expect((await upstream.pass(exchange('GET'))).status).toBe(502);
    await server.stop();
    expect(await upstream.pass(exchange('GET'))).toMatchObject({ status: 503 });
    expect(await upstream.pass(exchange('POST'), stored(Buffer.from('x')))).toMatchObject({ status: 503 });
  });

  it('a sender that breaks off its streamed body ends the request', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('ab');
      throw new Error('the client is gone');
    }
    const reply = await to().pass(exchange('PUT', { headers: [['Content-Length', '4']], length: 4, body: broken() }));
    expect(reply.status).toBe(502);
  });
});

describe('probe', () => {
  it('tells whether the access point takes connections, and asks it nothing', async () => {
    to();
    expect(await upstream.probe()).toMatchObject({ reachable: true });
    expect(server.requests).toHaveLength(0);
    await server.stop();
    expect(await upstream.probe()).toMatchObject({ reachable: false, detail: expect.stringContaining('ECONNREFUSED') as string });
  });
});
