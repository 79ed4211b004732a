import { randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { existsSync, mkdirSync, readdirSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { eventually, startFront, startFrontFrom, stopFronts, type Front } from '../front/front-process.js';
import { gate, refersTo } from '../front/messages.js';
import { startNode } from '../support/child.js';
import type { OwnedProcess } from '../support/owned-process.js';
import { send, type Answer } from '../support/send.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';
import { honest, keyFiles } from './served.js';

/** SIGKILL of the endpoint while it delivers, and behind it, with each backend; then a restart and the sender's retry. */

let folder: TempDir;
let endpoint: Front;
afterEach(async () => {
  await stopFronts();
  folder.remove();
});

async function open(backend: (deliveries: string) => object, defaults: object = {}): Promise<string> {
  folder = tempDir('endpoint-kill');
  const { certificate, key, trust } = keyFiles(folder.path);
  const deliveries = join(folder.path, 'deliveries');
  endpoint = await startFront({
    role: 'endpoint', accessPoint: undefined, defaults, security: { trust }, ledger: { embedded: join(folder.path, 'ledger') },
    endpoint: { profile: 'peppol', keys: { certificate, key }, backend: backend(deliveries) },
  });
  return deliveries;
}
const restart = async (): Promise<void> => {
  await endpoint.kill();
  endpoint = await startFrontFrom(endpoint.configFile);
};
const post = (message: ReturnType<typeof honest>): Promise<Answer | 'broken'> => send(endpoint.url, message).catch(() => 'broken' as const);
const DOCUMENT = `<StandardBusinessDocument xmlns="http://www.unece.org/cefact/namespaces/StandardBusinessDocumentHeader"><StandardBusinessDocumentHeader>
<HeaderVersion>1.0</HeaderVersion><Sender><Identifier Authority="a">1</Identifier></Sender><Receiver><Identifier Authority="a">2</Identifier></Receiver>
<DocumentIdentification><Standard>urn:x</Standard><TypeVersion>1</TypeVersion><InstanceIdentifier>one</InstanceIdentifier><Type>Invoice</Type>
<CreationDateAndTime>2026-11-30T00:00:00Z</CreationDateAndTime></DocumentIdentification></StandardBusinessDocumentHeader><a/></StandardBusinessDocument>`;
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

  it('sbdh: suppress, while the application has the document: a new MessageId for it is delivered, marked; it waited for the dead one for good once', async () => {
    const marks: unknown[] = [];
    const arrived = gate();
    const server: Server = createServer((request, response) => {
      marks.push(request.headers['as4-once-copy']);
      const first = marks.length === 1;
      request.resume().once('end', () => (first ? arrived.open() : response.writeHead(200).end()));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await open(() => ({ http: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }), { sbdh: 'suppress' });
    const [one, two, three] = [honest({ payloads: [DOCUMENT] }), honest({ payloads: [DOCUMENT] }), honest({ payloads: [DOCUMENT] })];
    const first = post(one);
    await arrived.opened;
    await restart();
    expect(await first).toBe('broken');
    expect(receiptFor(await post(two))).toBe(two.messageId);
    expect(receiptFor(await post(three))).toBe(three.messageId);
    expect(marks).toEqual(['first', 'resend']);
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

  // What was written by then stayed for ever under a name that nobody used again, so that a process that ended again and
  // again over one large message filled the disk.
  it('backend directory, while it writes: nothing of it stays beside the delivery of the retry', async () => {
    const deliveries = await open((directory) => ({ directory }));
    const parts = (): string[] => (existsSync(deliveries) ? readdirSync(deliveries).filter((name) => name.startsWith('.')) : []);
    // little on the wire, and a while to write
    const message = honest({ payloads: [Buffer.alloc(100_000_000)] });
    for (let crash = 1; crash <= 2; crash++) {
      const cut = post(message);
      await eventually(() => (parts().some((name) => name.endsWith('.part')) ? true : undefined), () => 'a delivery that is being written');
      await restart();
      expect(await cut).toBe('broken');
      expect(parts()).toHaveLength(1);
    }
    // of another message that never came again, a day ago and now, and what is no business of ours
    const others = ['a'.repeat(32), 'b'.repeat(32)].map((name) => `.${name}.${crypto.randomUUID()}.part`);
    for (const name of [...others, '.snapshot']) mkdirSync(join(deliveries, name));
    writeFileSync(join(deliveries, others[0] ?? '', 'payload-1.bin'), 'old');
    utimesSync(join(deliveries, others[0] ?? ''), new Date(0), new Date(0));
    expect(receiptFor(await post(message))).toBe(message.messageId);
    await eventually(() => (parts().length === 2 ? true : undefined), () => `two of ${parts().join(' ')}`);
    expect(new Set(parts())).toEqual(new Set([others[1], '.snapshot']));
    expect(readdirSync(deliveries)).toHaveLength(3);
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

describe('SIGKILL of an application that embeds the endpoint (backend handler)', () => {
  interface Given {
    readonly messageId: string;
    readonly mark: string;
    readonly idempotencyKey: string;
    readonly text: string;
  }
  let application: OwnedProcess;
  let url: string;
  let given: Given[];
  afterEach(async () => {
    await application.kill();
  });
  const run = async (...manner: string[]): Promise<void> => {
    application = await startNode('dist/test/endpoint/handler-endpoint-main.js', [folder.path, ...manner]);
    url = (await application.waitFor(/listens on (\S+)/))[1] ?? '';
  };
  /** Ends it, keeps what its handler was given, and starts another. */
  const replaced = async (...manner: string[]): Promise<void> => {
    await application.kill();
    given.push(...application.lines().filter((line) => line.startsWith('given ')).map((line) => JSON.parse(line.slice(6)) as Given));
    await run(...manner);
  };
  const ask = (message: ReturnType<typeof honest>): Promise<Answer | 'broken'> => send(url, message).catch(() => 'broken' as const);
  const begin = async (...manner: string[]): Promise<void> => {
    folder = tempDir('endpoint-kill');
    given = [];
    keyFiles(folder.path);
    await run(...manner);
  };

  it('while the handler has it and did not come back: held for an operator, and not given to it again', async () => {
    await begin('hold');
    const message = honest();
    const first = ask(message);
    await application.waitFor(/given /);
    await replaced('take');
    expect(await first).toBe('broken');
    for (let i = 0; i < 2; i++) expect(await ask(message)).toMatchObject({ status: 503 });
    await application.waitFor(new RegExp(JSON.stringify({ messageId: message.messageId, answer: 'held' })));
    // others are not held up, though one with the same content says whom it follows
    const other = honest();
    expect(receiptFor(await ask(other))).toBe(other.messageId);
    await replaced('take');
    expect(given.map(({ messageId, mark }) => [messageId, mark])).toEqual([[message.messageId, 'first'], [other.messageId, 'resend']]);
  });

  it('the same where policy says redeliver: given again, marked, under the same Idempotency-Key', async () => {
    await begin('hold', 'redeliver');
    const message = honest({ payloads: ['<once/>'] });
    const first = ask(message);
    await application.waitFor(/given /);
    await replaced('take', 'redeliver');
    expect(await first).toBe('broken');
    const retry = await ask(message);
    expect(receiptFor(retry)).toBe(message.messageId);
    expect(await ask(message)).toMatchObject({ body: (retry as Answer).body });
    await replaced('take');
    expect(given.map(({ mark, text }) => [mark, text])).toEqual([['first', '<once/>'], ['redelivery', '<once/>']]);
    expect(new Set(given.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1);
  });

  it('as soon as the handler has taken it: its Receipt or an operator, never a second call', async () => {
    await begin('take');
    for (let round = 1; round <= 3; round++) {
      const message = honest();
      const first = ask(message);
      await application.waitFor(new RegExp(`taken ${message.messageId}`));
      await replaced('take');
      const said = await first;
      const retry = await ask(message);
      if (retry === 'broken') throw new Error('no answer');
      expect([200, 503]).toContain(retry.status);
      // what the sender was told once stands
      if (said !== 'broken') expect(retry.body.equals(said.body)).toBe(true);
      if (retry.status === 200) expect(receiptFor(retry)).toBe(message.messageId);
    }
    await replaced('take');
    expect(new Set(given.map(({ messageId }) => messageId)).size).toBe(3);
    expect(given).toHaveLength(3);
  });

  it('behind the Receipt: the very bytes again', async () => {
    await begin('take');
    const message = honest();
    const first = await ask(message);
    await replaced('take');
    expect(receiptFor(first)).toBe(message.messageId);
    expect(await ask(message)).toMatchObject({ status: 200, body: (first as Answer).body });
    await replaced('take');
    expect(given).toHaveLength(1);
  });

  it('before the body was complete: nothing is claimed, the handler hears nothing, and the retry is a first message', async () => {
    await begin('take');
    const message = honest({ payloads: [randomBytes(200_000)] });
    const cut = new AbortController();
    const sending = send(url, message, { headers: { 'content-length': String(message.body.length + 100) }, signal: cut.signal }).catch(() => 'broken');
    await application.waitFor(/spooling/);
    await replaced('take');
    cut.abort();
    expect(await sending).toBe('broken');
    expect(given).toEqual([]);
    expect(receiptFor(await ask(message))).toBe(message.messageId);
    await application.waitFor(new RegExp(JSON.stringify({ messageId: message.messageId, answer: 'first' })));
  });
});
