import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { As4OnceError, type ReceivedMessage } from '../../src/index.js';
import { headerOf } from '../../conformance/as4/answer.js';
import { gate } from '../front/messages.js';
import { honest, serveEndpoint, signedByUs, type Served } from './served.js';

let served: Served;
afterEach(async () => {
  await served.close();
});

interface Posted {
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

describe('backend http', () => {
  let server: Server;
  let posted: Posted[];
  /** What is answered next: a status, or nothing and the connection is cut. */
  let answers: (number | 'cut' | { readonly trickle: number; closed(): void })[];
  beforeEach(async () => {
    posted = [];
    answers = [];
    server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        posted.push({ headers: request.headers, body: Buffer.concat(chunks) });
        const answer = answers.shift() ?? 200;
        if (answer === 'cut') request.socket.destroy();
        else if (typeof answer === 'object') {
          response.writeHead(answer.trickle).write('said the backend');
          const more = setInterval(() => response.write(' '), 200);
          response.once('close', () => {
            clearInterval(more);
            answer.closed();
          });
        } else response.writeHead(answer).end('said the backend');
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    served = await serveEndpoint({ endpoint: { profile: 'edelivery', backend: { http: { url: `http://127.0.0.1:${port}/in?box=1`, token: 's3cret' } } } });
  });
  afterEach(async () => {
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
  });
  const keys = (): unknown[] => posted.map(({ headers }) => headers['idempotency-key']);

  it('posts the payload with what the header said, and 2xx accepts it', async () => {
    const message = honest({ messageId: 'a b/ü@test', payloads: ['<a/>'] });
    expect((await served.post(message)).what).toBe('receipt');
    expect(posted).toHaveLength(1);
    expect(posted[0]?.body.toString()).toBe('<a/>');
    expect(posted[0]?.headers).toMatchObject({
      'content-type': 'application/xml', 'content-length': '4', authorization: 'Bearer s3cret', 'as4-message-id': 'a%20b%2F%C3%BC%40test',
      'as4-from': 'POP000001', 'as4-once-copy': 'first', 'idempotency-key': expect.stringMatching(/^"[0-9a-f]{64}"$/) as string,
    });
  });

  it('several payloads are one multipart/mixed', async () => {
    const binary = Buffer.from([0, 13, 10, 255]);
    expect((await served.post(honest({ payloads: ['<a/>', binary] }))).what).toBe('receipt');
    expect(posted[0]?.headers['content-type']).toMatch(/^multipart\/mixed; boundary="/);
    expect(posted[0]?.body.includes('<a/>')).toBe(true);
    expect(posted[0]?.body.includes(Buffer.concat([Buffer.from('\r\n\r\n'), binary, Buffer.from('\r\n--')]))).toBe(true);
  });

  it('4xx rejects: a signed EBMS:0202, and the next copy is a new request with a new key', async () => {
    answers = [422];
    const message = honest();
    const refused = await served.post(message);
    expect(refused.errors[0]?.code).toBe('EBMS:0202');
    signedByUs(refused);
    expect(served.exchanges[0]).toMatchObject({ outcome: 'rejected', code: 'DELIVERY_FAILED', detail: 'status 422: said the backend' });
    expect((await served.post(message)).what).toBe('receipt');
    expect(new Set(keys()).size).toBe(2);
  });

  it('5xx or a cut connection leaves it open: 503, and every further attempt has the same key', async () => {
    answers = [422, 500, 'cut', 409];
    const message = honest();
    await served.post(message);
    for (let i = 0; i < 3; i++) {
      const answer = await served.post(message);
      expect([answer.what, answer.status, headerOf(answer, 'retry-after')]).toEqual(['other', 503, expect.any(String)]);
    }
    expect((await served.post(message)).what).toBe('receipt');
    expect(new Set(keys().slice(1)).size).toBe(1);
    expect(keys()[0]).not.toBe(keys()[1]);
    expect(posted.map(({ headers }) => headers['as4-once-copy'])).toEqual(['first', 'first', 'redelivery', 'redelivery', 'redelivery']);
  });

  // A backend answered 200 and went on writing a byte now and then. Its message stayed claimed until 300 bytes had come, or
  // times.patience was over: the sender got 504, and a crash meanwhile would have made a delivery uncertain that was none.
  it.each([
    [200, { what: 'receipt' }, { outcome: 'accepted' }],
    [422, { what: 'error' }, { outcome: 'rejected', detail: 'status 422: said the backend' }],
  ])('the status decides, however long the body goes on (%i)', async (status, told, logged) => {
    const left = gate();
    answers = [{ trickle: status, closed: left.open }];
    expect(await served.post(honest())).toMatchObject(told);
    expect(served.exchanges[0]).toMatchObject(logged);
    // it is not listened to for ever either
    await left.opened;
  });

  it('a backend that is not there, or has no time, gets it again as a first delivery', async () => {
    answers = [429];
    const message = honest();
    const busy = await served.post(message);
    expect([busy.status, busy.what]).toEqual([503, 'other']);
    expect((await served.post(message)).what).toBe('receipt');
    expect(posted.map(({ headers }) => headers['as4-once-copy'])).toEqual(['first', 'first']);
    // a server may keep its refusal under the old key
    expect(new Set(keys()).size).toBe(2);
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    const away = honest();
    expect((await served.post(away)).status).toBe(503);
    expect(served.exchanges.at(-1)).toMatchObject({ code: 'UPSTREAM_DOWN', outcome: 'rejected' });
  });
});

describe('backend handler', () => {
  it('gets the message with its payloads; a throw of DELIVERY_FAILED is a refusal, any other is held', async () => {
    const received: ReceivedMessage[] = [];
    const texts: string[] = [];
    let fail: Error | undefined;
    served = await serveEndpoint({}, async (message) => {
      received.push(message);
      texts.push((await message.payloads[0]?.bytes())?.toString() ?? '');
      if (fail !== undefined) throw fail;
    });
    expect((await served.post(honest({ payloads: ['<a/>'] }))).what).toBe('receipt');
    expect(texts).toEqual(['<a/>']);
    expect(received[0]).toMatchObject({ mark: 'first', payloads: [{ mimeType: 'application/xml', length: 4 }] });

    const refused = honest();
    fail = new As4OnceError('DELIVERY_FAILED', 'not for us');
    expect((await served.post(refused)).errors[0]?.code).toBe('EBMS:0202');
    fail = undefined;
    expect((await served.post(refused)).what).toBe('receipt');

    const unclear = honest();
    fail = new Error('the database went away');
    expect((await served.post(unclear)).status).toBe(503);
    fail = undefined;
    expect((await served.post(unclear)).status).toBe(503);
    expect(served.exchanges.at(-1)).toMatchObject({ answer: 'held' });
    expect(received).toHaveLength(4);
  });

  it('is told when patience is over, and need not listen', async () => {
    let aborted = false;
    served = await serveEndpoint({ times: { patience: '300ms', answerBy: '10s' } }, async (_message, { signal }) => {
      signal.addEventListener('abort', () => (aborted = true));
      await new Promise(() => undefined);
    });
    expect((await served.post(honest())).status).toBe(503);
    expect(aborted).toBe(true);
    expect(served.exchanges[0]).toMatchObject({ outcome: 'uncertain', detail: 'times.patience was over' });
  });
});

describe('backend directory', () => {
  it('a folder that takes nothing is a backend that is away, and leaves nothing behind', async () => {
    served = await serveEndpoint({ defaults: { resend: 'off' } });
    writeFileSync(served.deliveries, 'a file where the folder should be');
    const message = honest();
    expect((await served.post(message)).status).toBe(503);
    expect(served.exchanges[0]).toMatchObject({ code: 'UPSTREAM_DOWN', outcome: 'rejected' });
    for await (const { record } of served.once.ledger.iterate()) expect(record).toMatchObject({ state: 'open', rejections: 0 });
  });

  it('each message is one folder under a name that says nothing, and nothing unfinished stays', async () => {
    served = await serveEndpoint({ endpoint: { profile: 'edelivery' } });
    expect((await served.post(honest({ payloads: ['<a/>', Buffer.from([1])] }))).what).toBe('receipt');
    const [name, ...others] = readdirSync(served.deliveries);
    expect(others).toEqual([]);
    expect(name).toMatch(/^[0-9a-f]{32}$/);
    expect(readdirSync(join(served.deliveries, name ?? ''))).toEqual(['message.json', 'payload-1.xml', 'payload-2.bin']);
  });
});
