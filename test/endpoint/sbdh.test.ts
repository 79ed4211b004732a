import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { honest, serveEndpoint, signedByUs, type Changes, type Served } from './served.js';

/** What a Standard Business Document calls itself, as a second key beside the MessageId. */

let served: Served;
afterEach(async () => {
  await served.close();
});
const open = async (sbdh: 'flag' | 'suppress' | 'off', more: Changes = {}): Promise<void> => {
  served = await serveEndpoint({ defaults: { sbdh, resend: 'off' }, ...more });
};
const delivered = (): Record<string, unknown>[] => (existsSync(served.deliveries)
  ? readdirSync(served.deliveries).map((name) => JSON.parse(readFileSync(join(served.deliveries, name, 'message.json'), 'utf8')) as Record<string, unknown>) : []);

const sbd = (instance: string, document = '<Invoice xmlns="urn:x"/>', header = ''): string => `<?xml version="1.0"?>
<StandardBusinessDocument xmlns="http://www.unece.org/cefact/namespaces/StandardBusinessDocumentHeader"><StandardBusinessDocumentHeader>
<HeaderVersion>1.0</HeaderVersion><Sender><Identifier Authority="iso6523-actorid-upis">9915:c1</Identifier></Sender>
<Receiver><Identifier Authority="iso6523-actorid-upis">9915:c4</Identifier></Receiver><DocumentIdentification><Standard>urn:x</Standard>
<TypeVersion>2.1</TypeVersion><InstanceIdentifier>${instance}</InstanceIdentifier>${header}<Type>Invoice</Type>
<CreationDateAndTime>2026-11-30T00:00:00Z</CreationDateAndTime></DocumentIdentification></StandardBusinessDocumentHeader>${document}</StandardBusinessDocument>`;

describe('sbdh: suppress', () => {
  it('a new MessageId with a document that was delivered: a Receipt of its own, no delivery', async () => {
    await open('suppress');
    const payloads = [sbd('one')];
    const [first, second] = [honest({ payloads }), honest({ payloads })];
    const answers = [await served.post(first), await served.post(second)];
    expect(answers.map((a) => a.receipt?.refToMessageId)).toEqual([first.messageId, second.messageId]);
    answers.forEach(signedByUs);
    expect(delivered()).toMatchObject([{ messageId: first.messageId, documents: [{ kind: 'sbdh', reference: 'one' }] }]);
    // and its own copies are replays
    expect((await served.post(second)).body).toEqual(answers[1]?.body);
  });

  it('other content under the same InstanceIdentifier is delivered, marked as a resend', async () => {
    await open('suppress');
    const first = honest({ payloads: [sbd('one')] });
    await served.post(first);
    const other = honest({ payloads: [sbd('one', '<Invoice xmlns="urn:y"/>')] });
    expect((await served.post(other)).what).toBe('receipt');
    expect(delivered().find((one) => one['messageId'] === other.messageId)).toMatchObject({ mark: 'resend', firstId: first.messageId });
  });

  it('ten new MessageIds at once are one delivery and ten Receipts', async () => {
    await open('suppress');
    const messages = Array.from({ length: 10 }, () => honest({ payloads: [sbd('race')] }));
    const answers = await Promise.all(messages.map((message) => served.post(message)));
    expect(answers.map((a) => a.receipt?.refToMessageId)).toEqual(messages.map((m) => m.messageId));
    expect(delivered()).toHaveLength(1);
  });
});

describe('a document whose first delivery has no certain outcome', () => {
  /** An application that takes what it gets, unless it is told what to do with the first. */
  const application = async (policy: 'flag' | 'suppress', first: (res: ServerResponse) => void, more: Changes = {}): Promise<{ heads: IncomingHttpHeaders[]; close(): void }> => {
    const heads: IncomingHttpHeaders[] = [];
    const server = createServer((request, response) => {
      heads.push(request.headers);
      const one = heads.length === 1;
      request.resume().once('end', () => (one ? first(response) : response.writeHead(200).end()));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const http = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
    await open(policy, { endpoint: { backend: { http } }, ...more });
    return { heads, close: () => { server.closeAllConnections(); server.close(); } };
  };
  const cut = (response: ServerResponse): void => void response.destroy();

  it.each(['flag', 'suppress'] as const)('%s: the next MessageId is delivered marked, with the first one\'s id; it went out as a first once', async (policy) => {
    const { heads, close } = await application(policy, cut);
    const [first, second, third] = [honest({ payloads: [sbd('q')] }), honest({ payloads: [sbd('q')] }), honest({ payloads: [sbd('q')] })];
    expect((await served.post(first)).status).toBe(503);
    expect((await served.post(second)).receipt?.refToMessageId).toBe(second.messageId);
    expect(heads.map((h) => h['as4-once-copy'])).toEqual(['first', 'resend']);
    expect(decodeURIComponent(String(heads[1]?.['as4-once-first']))).toBe(first.messageId);
    expect((await served.post(third)).receipt?.refToMessageId).toBe(third.messageId);
    expect(heads).toHaveLength(policy === 'suppress' ? 2 : 3);
    close();
  });

  it('suppress, uncertain: hold: it waits for an operator, who is told which message to look at', async () => {
    const { heads, close } = await application('suppress', cut, { defaults: { sbdh: 'suppress', resend: 'off', uncertain: 'hold' } });
    const [first, second] = [honest({ payloads: [sbd('q')] }), honest({ payloads: [sbd('q')] })];
    await served.post(first);
    const answer = await served.post(second);
    expect([answer.status, heads.length]).toEqual([503, 1]);
    expect(served.exchanges.at(-1)).toMatchObject({ answer: 'held', code: 'HELD', detail: `the same content came as ${first.messageId}, whose outcome nobody knows` });
    close();
  });

  it('flag, while the first is in work: marked too', async () => {
    const waiting: ServerResponse[] = [];
    const { heads, close } = await application('flag', (response) => void waiting.push(response));
    const [first, second] = [honest({ payloads: [sbd('q')] }), honest({ payloads: [sbd('q')] })];
    const answered = served.post(first);
    await expect.poll(() => waiting.length).toBe(1);
    expect((await served.post(second)).what).toBe('receipt');
    waiting[0]?.writeHead(200).end();
    expect((await answered).what).toBe('receipt');
    expect(heads.map((h) => h['as4-once-copy'])).toEqual(['first', 'resend']);
    close();
  });
});

describe('sbdh: flag and off', () => {
  it('flag delivers it again, marked with the first MessageId', async () => {
    await open('flag');
    const [first, second] = [honest({ payloads: [sbd('one')] }), honest({ payloads: [sbd('one')] })];
    await served.post(first);
    await served.post(second);
    expect(delivered().find((one) => one['messageId'] === second.messageId)).toMatchObject({ mark: 'resend', firstId: first.messageId });
  });

  it('off looks at no header at all', async () => {
    await open('off');
    const payloads = [sbd('one', '', '<InstanceIdentifier>two</InstanceIdentifier>')];
    await served.post(honest({ payloads }));
    await served.post(honest({ payloads }));
    expect(delivered().map((one) => one['mark'])).toEqual(['first', 'first']);
  });

  it('a header inside the document\'s own root counts as one before it', async () => {
    // GS1 XML 3 has it there; two MessageIds with the same document were two first copies
    await open('suppress');
    const own = (instance: string): string => sbd(instance, '').replace('<StandardBusinessDocument xmlns', '<m:message xmlns:m="urn:gs1:item" xmlns').replace('</StandardBusinessDocument>', '</m:message>');
    await served.post(honest({ payloads: [own('one')] }));
    await served.post(honest({ payloads: [own('one')] }));
    expect(delivered()).toMatchObject([{ documents: [{ kind: 'sbdh', reference: 'one' }] }]);
  });

  it('a partner may have its own', async () => {
    await open('flag', { defaults: { sbdh: 'flag', resend: 'off' }, partners: [{ match: { from: ['POP000001'] }, sbdh: 'suppress' }] });
    await served.post(honest({ payloads: [sbd('one')] }));
    await served.post(honest({ payloads: [sbd('one')] }));
    expect(delivered()).toHaveLength(1);
  });
});

describe('what the header is', () => {
  it('an ambiguous one is refused, whoever is meant', async () => {
    await open('flag');
    const answer = await served.post(honest({ payloads: [sbd('one', undefined, '<InstanceIdentifier>two</InstanceIdentifier>')] }));
    expect(answer.errors[0]?.code).toBe('EBMS:0003');
    expect(delivered()).toEqual([]);
  });

  it('what is no Standard Business Document has none, XML or not', async () => {
    await open('suppress');
    for (const payload of ['<Invoice xmlns="urn:x">', Buffer.from([0, 255, 1]), Buffer.from('%PDF-1.7'), Buffer.alloc(0)]) {
      expect((await served.post(honest({ payloads: [payload] }))).what).toBe('receipt');
    }
    expect(delivered()).toHaveLength(4);
  });
});
