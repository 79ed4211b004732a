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
