import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import express from 'express';
import { afterEach, describe, expect, it } from 'vitest';
import { httpHandler, type Handler } from '../../src/http/handler.js';
import { peerReader } from '../../src/http/peer.js';
import { World, accepted } from '../walk/world.js';

/** The door over real sockets, with the walk of test/walk behind it. */
const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

async function serve(world: World, wrap: (handler: Handler) => (request: IncomingMessage, response: never) => void = (h) => h): Promise<number> {
  const route = world.route();
  const handler = httpHandler({
    walk: world.walk,
    pace: { idleMs: 20_000, minRate: 1024 },
    peer: peerReader(false),
    route: (path) => (path.startsWith('/as4') || path === '/' ? route : undefined),
    enter: () => () => undefined,
  });
  const server = createServer(wrap(handler) as never);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function raw(port: number, text: string): Promise<Socket & { seen: () => string }> {
  const socket = connect(port, '127.0.0.1');
  let seen = '';
  socket.on('data', (data) => (seen += data.toString('latin1')));
  socket.on('error', () => undefined);
  open.push(() => socket.destroy());
  await once(socket, 'connect');
  socket.write(text);
  return Object.assign(socket, { seen: () => seen });
}

async function seen(socket: { seen: () => string }, what: RegExp): Promise<string> {
  for (let i = 0; i < 2_000; i += 1) {
    if (what.test(socket.seen())) return socket.seen();
    await new Promise((resolve) => setImmediate(resolve));
    if (i % 20 === 19) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error(`never saw ${what}: ${socket.seen()}`);
}

describe('the HTTP door', () => {
  it('answers a POST and its copy with the same bytes', async () => {
    const port = await serve(new World());
    const first = await fetch(`http://127.0.0.1:${port}/as4`, { method: 'POST', body: 'm1|A|x' });
    const second = await fetch(`http://127.0.0.1:${port}/as4`, { method: 'POST', body: 'm1|A|x' });
    expect(await first.text()).toBe(await second.text());
    expect(second.headers.get('as4-once-answer')).toBe('replay');
  });

  it('takes chunked bodies and Expect: 100-continue', async () => {
    const port = await serve(new World());
    const request = httpRequest({ port, host: '127.0.0.1', method: 'POST', path: '/as4', headers: { Expect: '100-continue' } });
    open.push(() => request.destroy());
    request.flushHeaders();
    await once(request, 'continue');
    request.write('m1|A');
    request.end('|x');
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(200);
    response.resume();
  });

  it('refuses a body that a parser of the host app has consumed, clearly, and claims nothing', async () => {
    const world = new World();
    const app = express();
    app.use(express.text({ type: () => true }));
    const port = await serve(world, (handler) => app.use(handler) as never);
    const reply = await fetch(`http://127.0.0.1:${port}/as4`, { method: 'POST', body: 'm1|A|x' });
    expect(reply.status).toBe(500);
    expect(await reply.text()).toMatch(/^BODY_CONSUMED/);
    expect((await world.ledger.stats()).records).toBe(0);
  });

  it('leaves other paths to the host app', async () => {
    const app = express();
    const port = await serve(new World(), (handler) => {
      app.use(handler);
      app.get('/other', (_request, response) => void response.send('host'));
      return app as never;
    });
    expect(await (await fetch(`http://127.0.0.1:${port}/other`)).text()).toBe('host');
  });

  it('a refusal before the body has ended keeps the connection and reads the rest, so that the sender sees the answer', async () => {
    // Closing early makes Apache HttpClient report a broken pipe and retry (measured): the answer must survive.
    const port = await serve(new World({ maxBody: 4 << 20, drain: 16 << 20 }));
    const total = (4 << 20) + 1;
    const socket = await raw(port, `POST /as4 HTTP/1.1\r\nHost: x\r\nContent-Length: ${total}\r\n\r\n`);
    expect(await seen(socket, /\r\n\r\n/)).toMatch(/^HTTP\/1\.1 413 /);
    const block = Buffer.alloc(1 << 20);
    for (let sent = 0; sent < total; sent += block.length) {
      if (!socket.write(block.subarray(0, Math.min(block.length, total - sent)))) await once(socket, 'drain');
    }
    socket.write('POST /as4 HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nm1|A|x');
    expect(await seen(socket, /Receipt 1 for m1/)).toContain('HTTP/1.1 200');
  });

  it.each([
    ['two equal lengths', 'Content-Length: 6\r\nContent-Length: 6\r\n\r\nm1|A|x'],
    ['two lengths', 'Content-Length: 6\r\nContent-Length: 7\r\n\r\nm1|A|x'],
    ['length with chunked', 'Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nm1|A|x\r\n0\r\n\r\n'],
    ['chunked hidden by a tab', 'Content-Length: 6\r\nTransfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n'],
    ['an unknown transfer coding', 'Transfer-Encoding: xchunked\r\n\r\n6\r\nm1|A|x\r\n0\r\n\r\n'],
    ['a list in one length', 'Content-Length: 6, 6\r\n\r\nm1|A|x'],
    ['a space before the colon', 'Content-Length : 6\r\n\r\nm1|A|x'],
  ])('request smuggling: %s is refused and nothing is delivered', async (_name, rest) => {
    const world = new World();
    const port = await serve(world);
    const socket = await raw(port, `POST /as4 HTTP/1.1\r\nHost: x\r\n${rest}`);
    await seen(socket, /HTTP\/1\.1 4\d\d/);
    expect(world.delivered).toHaveLength(0);
    expect((await world.ledger.stats()).records).toBe(0);
  });

  it('a client that leaves in the middle of its body costs nothing: no claim, no delivery', async () => {
    const world = new World();
    const port = await serve(world);
    const socket = await raw(port, 'POST /as4 HTTP/1.1\r\nHost: x\r\nContent-Length: 60\r\n\r\nm1|A|');
    await settle();
    socket.destroy();
    for (let i = 0; i < 2_000 && world.lastExchange() === undefined; i += 1) await settle();
    expect(world.lastExchange()).toMatchObject({ answer: 'refused', code: 'BODY_INCOMPLETE' });
    expect(world.delivered).toHaveLength(0);
    expect((await world.ledger.stats()).records).toBe(0);
  });

  it('a client that hangs up after its body changes nothing: the message is delivered and the next copy gets its Receipt', async () => {
    const world = new World();
    let go = (): void => undefined;
    const gate = new Promise<void>((resolve) => (go = resolve));
    world.upstream = async (attempted, nth) => {
      await gate;
      return accepted(attempted.message.reference, nth);
    };
    const port = await serve(world);
    const socket = await raw(port, 'POST /as4 HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nm1|A|x');
    for (let i = 0; i < 2_000 && world.delivered.length === 0; i += 1) await settle();
    socket.destroy();
    go();
    const again = await fetch(`http://127.0.0.1:${port}/as4`, { method: 'POST', body: 'm1|A|x' });
    expect(await again.text()).toBe('Receipt 1 for m1');
    expect(world.delivered).toHaveLength(1);
  });

  it('slow-loris: a body that trickles below minRate is answered 408; nothing is claimed', async () => {
    const world = new World();
    const port = await serve(world);
    const socket = await raw(port, 'POST /as4 HTTP/1.1\r\nHost: x\r\nContent-Length: 60\r\n\r\nm1|');
    await world.clock.whenSleeping();
    await settle();
    socket.write('A');
    await settle();
    await world.clock.advance(20_001);
    expect(await seen(socket, /\r\n\r\n/)).toMatch(/^HTTP\/1\.1 408 /);
    expect((await world.ledger.stats()).records).toBe(0);
  });
});

describe('peerReader', () => {
  const from = (remoteAddress: string, forwarded?: string): IncomingMessage =>
    ({ socket: { remoteAddress }, headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

  it('believes nobody by default', () => {
    expect(peerReader(false)(from('10.0.0.1', '192.0.2.1'))).toBe('10.0.0.1');
  });
  it('takes the nearest address that no trusted proxy wrote', () => {
    const read = peerReader(['10.0.0.0/8', '::1']);
    expect(read(from('10.0.0.1', '203.0.113.9, 192.0.2.1, 10.9.9.9'))).toBe('192.0.2.1');
    expect(read(from('198.51.100.1', '192.0.2.1'))).toBe('198.51.100.1');
    expect(read(from('::ffff:10.0.0.1', 'garbage'))).toBe('10.0.0.1');
  });
  it('counts hops', () => {
    expect(peerReader(1)(from('10.0.0.1', '203.0.113.9, 192.0.2.1'))).toBe('192.0.2.1');
  });
});

async function settle(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 1));
}
