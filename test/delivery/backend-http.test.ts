import { createServer, type Server, type Socket } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.js';
import { httpBackend } from '../../src/delivery/backend-http.js';
import type { StoredBody } from '../../src/delivery/port.js';
import type { Backend, Handed, Handover } from '../../src/endpoint/backend.js';
import { gate } from '../front/messages.js';

/** A backend that is no HTTP library but a socket, which says what it likes when it likes. */

let server: Server;
let backend: Backend;
afterEach(async () => {
  await backend.close();
  await new Promise((resolve) => server.close(resolve));
});

async function talkingTo(talk: (socket: Socket) => void): Promise<void> {
  server = createServer((socket) => {
    socket.on('error', () => undefined);
    talk(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  backend = httpBackend({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, clock: systemClock });
}

async function hand(stream: () => AsyncIterable<Uint8Array>, length: number): Promise<Handed> {
  const body: StoredBody = { length, stream, dispose: async () => undefined };
  const payload = { mimeType: 'application/xml', partType: 'application/xml', properties: [], body };
  const metadata = { messageId: 'm@test', conversationId: 'c', from: { ids: [] }, to: { ids: [] }, service: 's', action: 'a', payloads: [] };
  return await backend.hand({
    name: 'n', idempotencyKey: '"k"', again: false, payloads: [payload], metadata, facts: { from: [], to: [] }, signal: AbortSignal.timeout(20_000),
  } as unknown as Handover);
}

/** Half of it, and the rest when `rest` resolves. */
const halves = (rest: Promise<unknown>) => async function* (): AsyncGenerator<Uint8Array> {
  yield Buffer.alloc(100, 'a');
  await rest;
  yield Buffer.alloc(100, 'b');
};

describe('a backend that answers 200 before it has read the message', () => {
  // The status accepts at once, but a connection that ended then would take the rest of the message with it.
  it('has accepted it when all of it was sent', async () => {
    const answered = gate();
    let text = '';
    await talkingTo((socket) => {
      socket.on('data', (data: Buffer) => (text += data.toString('latin1')));
      socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n', () => answered.open()));
    });
    expect(await hand(halves(answered.opened), 200)).toEqual({ kind: 'accepted' });
    expect(text.endsWith('b')).toBe(true);
  });

  it('has perhaps not taken it, where the connection ends in the middle', async () => {
    await talkingTo((socket) => socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')));
    expect(await hand(halves(new Promise(() => undefined)), 200)).toMatchObject({ kind: 'uncertain' });
  });
});

// Some servers send 100 Continue without being asked. It counted as a broken reply, for ever, though 200 followed.
it.each([
  ['a 100', ['HTTP/1.1 100 Continue\r\n\r\n']],
  ['several 1xx, with fields', ['HTTP/1.1 100 Continue\r\nX-A: b\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n', 'HTTP/1.1 100 Continue\r\n\r\n']],
  ['a 100 in pieces', [...'HTTP/1.1 100 Continue\r\n\r\n']],
])('%s that nobody asked for is borne: what follows is the answer', async (_, unasked) => {
  await talkingTo((socket) => socket.once('data', () => void say(socket, [...unasked, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'])));
  expect(await hand(halves(Promise.resolve()), 200)).toEqual({ kind: 'accepted' });
});

/** Each piece in a packet of its own, as far as a sender can tell. */
async function say(socket: Socket, pieces: readonly string[]): Promise<void> {
  socket.setNoDelay(true);
  for (const piece of pieces) {
    await new Promise((resolve) => socket.write(piece, resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
}
