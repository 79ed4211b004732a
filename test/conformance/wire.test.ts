import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { Garbled, ResponseReader } from '../../conformance/wire/response.js';
import { sendRaw } from '../../conformance/wire/send.js';
import type { Dials } from '../../conformance/wire/send.js';

const servers: Server[] = [];
const sockets: Socket[] = [];
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))));
});

/** A server that is told what to do with each connection, and what it has received. */
async function serve(onConnection: (socket: Socket) => void): Promise<URL> {
  const server = createServer((socket) => {
    sockets.push(socket);
    socket.on('error', () => undefined);
    onConnection(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/as4?x=1`);
}

/** Sends `body` and returns everything the server received before the connection ended or it had answered. */
async function received(
  body: Buffer,
  dials: Dials,
): Promise<{ bytes: Buffer; answer: Awaited<ReturnType<typeof sendRaw>>; ended: string }> {
  const chunks: Buffer[] = [];
  let ended = 'open';
  let over = (): void => undefined;
  const closed = new Promise<void>((resolve) => (over = resolve));
  const url = await serve((socket) => {
    let replied = false;
    socket.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      const text = Buffer.concat(chunks).toString('latin1');
      if (dials.expect === true && !replied && text.endsWith('\r\n\r\n')) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      if (text.endsWith('THE END') || text.endsWith('0\r\n\r\n')) {
        replied = true;
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
      }
    });
    socket.on('end', () => (ended = 'fin'));
    socket.on('error', () => (ended = 'reset'));
    socket.on('close', () => over());
  });
  const answer = await sendRaw(url, { contentType: 'text/plain', body, dials, answerMs: 5_000 });
  await closed;
  return { bytes: Buffer.concat(chunks), answer, ended };
}

const BODY = Buffer.from(`${'abcdefghij'.repeat(10)}THE END`);

describe('the raw client', () => {
  test('Content-Length: head and body as they are', async () => {
    const { bytes, answer } = await received(BODY, {});
    expect(bytes.toString('latin1')).toMatch(
      /^POST \/as4\?x=1 HTTP\/1\.1\r\nHost: 127\.0\.0\.1:\d+\r\nContent-Type: text\/plain\r\nContent-Length: 107\r\n/,
    );
    expect(bytes.subarray(-BODY.length).equals(BODY)).toBe(true);
    expect(answer).toMatchObject({ kind: 'response', response: { status: 200 } });
  });

  test('chunked: the chunks put together are the body', async () => {
    const { bytes } = await received(BODY, { chunked: 7 });
    const text = bytes.toString('latin1');
    expect(text).toContain('Transfer-Encoding: chunked\r\n');
    const chunks = [
      ...text.slice(text.indexOf('\r\n\r\n') + 4).matchAll(/([0-9a-f]+)\r\n([^]*?)\r\n(?=[0-9a-f]+\r\n)/g),
    ];
    expect(chunks.map(([, , data]) => data).join('')).toBe(BODY.toString());
    expect(chunks.slice(0, -1).every(([, size]) => size === '7')).toBe(true);
  });

  test('Expect: the body waits for the 100', async () => {
    const { answer } = await received(BODY, { expect: true });
    expect(answer).toMatchObject({ kind: 'response', response: { status: 200, continued: true } });
  });

  test('gzip, raw framing, extra fields and pace', async () => {
    const { bytes } = await received(BODY, {
      rawFraming: 'Content-Length: 107\r\nContent-Length: 112\r\n',
      headers: [['X-Test', 'yes']],
      pace: { bytes: 50, everyMs: 1 },
    });
    expect(bytes.toString('latin1')).toContain(
      'Content-Length: 107\r\nContent-Length: 112\r\nUser-Agent: as4-once-conformance\r\nX-Test: yes\r\n\r\n',
    );
    const coded = received(BODY, { contentEncoding: 'gzip', cutAfter: { bytes: 10_000, how: 'end' } });
    const { bytes: zipped } = await coded;
    const at = zipped.indexOf('\r\n\r\n') + 4;
    expect(gunzipSync(zipped.subarray(at)).equals(BODY)).toBe(true);
  });

  test.each(['end', 'reset'] as const)('cut by %s: so many bytes and no more', async (how) => {
    const { bytes, answer, ended } = await received(BODY, { cutAfter: { bytes: 33, how } });
    expect(bytes.length - bytes.indexOf('\r\n\r\n') - 4).toBe(33);
    expect(answer).toMatchObject({ kind: 'none', why: 'cut' });
    expect(ended).toBe(how === 'end' ? 'fin' : 'reset');
  });

  test('leaving: the whole request is there, the answer is not read', async () => {
    const { bytes, answer } = await received(BODY, { leaveAfterMs: 0 });
    expect(bytes.subarray(-BODY.length).equals(BODY)).toBe(true);
    expect(answer).toMatchObject({ kind: 'none', why: 'left' });
  });

  test('nobody there, a closed door, garbage and silence are answers with a reason', async () => {
    const send = (url: URL, answerMs = 5_000) => sendRaw(url, { contentType: 'text/plain', body: BODY, answerMs });
    expect(await send(new URL('http://127.0.0.1:1/'))).toMatchObject({ kind: 'none', why: 'refused' });
    expect(await send(await serve((socket) => socket.on('data', () => socket.end())))).toMatchObject({
      kind: 'none',
      why: 'closed',
    });
    expect(await send(await serve((socket) => socket.on('data', () => socket.resetAndDestroy())))).toMatchObject({
      kind: 'none',
      why: 'reset',
    });
    expect(await send(await serve((socket) => socket.end('SSH-2.0-x\r\n')))).toMatchObject({
      kind: 'none',
      why: 'garbled',
    });
    expect(await send(await serve((socket) => socket.resume()), 50)).toMatchObject({ kind: 'none', why: 'timeout' });
    const half = await serve((socket) =>
      socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf')),
    );
    expect(await send(half)).toMatchObject({
      kind: 'none',
      why: 'closed',
      detail: 'the connection was closed within the answer',
    });
  });

  test('an endless answer is not kept', async () => {
    const url = await serve((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const timer = setInterval(() => socket.write(Buffer.alloc(65_536)), 1);
      socket.on('close', () => clearInterval(timer));
    });
    expect(
      await sendRaw(url, { contentType: 'text/plain', body: BODY, answerMs: 10_000, answerMax: 200_000 }),
    ).toMatchObject({ why: 'garbled' });
  });
});

describe('reading responses', () => {
  const whole = Buffer.from(
    'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n6\r\n ' +
    'world\r\n0\r\nTrailer: 1\r\n\r\n',
  );

  test('at every split the same response', () => {
    for (let at = 1; at < whole.length - 14; at += 1) {
      const reader = new ResponseReader(1_000);
      const response = reader.push(whole.subarray(0, at)) ?? reader.push(whole.subarray(at));
      expect(response, `split at ${at}`).toMatchObject({ status: 200, continued: true });
      expect(response?.body.toString()).toBe('hello world');
    }
  });

  test('a body without a length ends with the connection, and 204 has none', () => {
    const reader = new ResponseReader(1_000);
    expect(reader.push(Buffer.from('HTTP/1.0 200\r\n\r\nabc'))).toBeUndefined();
    expect(reader.end()?.body.toString()).toBe('abc');
    expect(new ResponseReader(1_000).push(Buffer.from('HTTP/1.1 204 No Content\r\n\r\n'))?.body.length).toBe(0);
  });

  test.each([
    'HTTP/2 200\r\n\r\n',
    'HTTP/1.1 200 OK\r\n: x\r\n\r\n',
    'HTTP/1.1 200 OK\r\nContent-Length: ten\r\n\r\n',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  ])('not HTTP: %j', (text) => {
    expect(() => new ResponseReader(1_000).push(Buffer.from(text))).toThrow(Garbled);
  });
});
