import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually, startFront, startFrontFrom, stopFronts, type Front } from '../front/front-process.js';
import { gate, refersTo } from '../front/messages.js';
import { send, type Answer } from '../support/send.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';
import { honest, keyFiles } from './served.js';

/** SIGKILL of the endpoint while it delivers, and behind it; then a restart and the sender's retry. */

let folder: TempDir;
let endpoint: Front;
afterEach(async () => {
  await stopFronts();
  folder.remove();
});

async function open(backend: (deliveries: string) => object): Promise<string> {
  folder = tempDir('endpoint-kill');
  const { certificate, key, trust } = keyFiles(folder.path);
  const deliveries = join(folder.path, 'deliveries');
  endpoint = await startFront({
    role: 'endpoint', accessPoint: undefined, security: { trust }, ledger: { embedded: join(folder.path, 'ledger') },
    endpoint: { profile: 'peppol', keys: { certificate, key }, backend: backend(deliveries) },
  });
  return deliveries;
}
const restart = async (): Promise<void> => {
  await endpoint.kill();
  endpoint = await startFrontFrom(endpoint.configFile);
};
const post = (message: ReturnType<typeof honest>): Promise<Answer | 'broken'> => send(endpoint.url, message).catch(() => 'broken' as const);
const receiptFor = (answer: Answer | 'broken'): string | undefined => (answer === 'broken' ? undefined : refersTo(answer.body));

describe('SIGKILL of the endpoint', () => {
  it('backend http, while it has the request and did not answer: repeated under the same Idempotency-Key, marked', async () => {
    const keys: unknown[] = [];
    const marks: unknown[] = [];
    const arrived = gate();
    const answering = gate();
    const server: Server = createServer((request, response) => {
      keys.push(request.headers['idempotency-key']);
      marks.push(request.headers['as4-once-copy']);
      request.resume().once('end', () => {
        arrived.open();
        void answering.opened.then(() => response.writeHead(200).end());
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await open(() => ({ http: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }));
    const message = honest();
    const first = post(message);
    await arrived.opened;
    await restart();
    expect(await first).toBe('broken');
    answering.open();
    const retry = await post(message);
    expect(receiptFor(retry)).toBe(message.messageId);
    expect(await post(message)).toMatchObject({ body: (retry as Answer).body });
    expect(new Set(keys).size).toBe(1);
    expect(marks).toEqual(['first', 'redelivery']);
    server.closeAllConnections();
    server.close();
  });

  it('backend directory, as soon as the delivery can be seen: whatever was said to the sender, it is one folder', async () => {
    const deliveries = await open((directory) => ({ directory }));
    const seen = (): string[] => (existsSync(deliveries) ? readdirSync(deliveries).filter((name) => !name.startsWith('.')) : []);
    for (let round = 1; round <= 4; round++) {
      const message = honest();
      const first = post(message);
      await eventually(() => (seen().length === round ? true : undefined), () => `delivery ${round}`);
      await restart();
      await first;
      const retry = await post(message);
      expect(receiptFor(retry)).toBe(message.messageId);
      expect(await post(message)).toMatchObject({ body: (retry as Answer).body });
      expect(seen()).toHaveLength(round);
    }
  });

  it('before the body was complete: nothing is claimed, nothing is delivered, and the retry is a first message', async () => {
    const deliveries = await open((directory) => ({ directory }));
    const message = honest({ payloads: [randomBytes(200_000)] });
    const cut = new AbortController();
    const sending = send(endpoint.url, message, { headers: { 'content-length': String(message.body.length + 100) }, signal: cut.signal }).catch(() => 'broken');
    // all but the end of it is decrypted by now, and nothing believes it
    await eventually(async () => ((await endpoint.metric('as4_once_spool_memory_bytes')) > 0 ? true : undefined), () => 'the payload');
    await restart();
    cut.abort();
    expect(await sending).toBe('broken');
    expect(existsSync(deliveries)).toBe(false);
    expect(receiptFor(await post(message))).toBe(message.messageId);
    expect((await endpoint.logged({ event: 'exchange', messageId: message.messageId }))['answer']).toBe('first');
  });
});
