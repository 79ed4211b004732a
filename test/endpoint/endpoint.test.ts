import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Answer } from '../../conformance/as4/answer.js';
import { makeIdentity } from '../../conformance/keys.js';
import { lmdbLedger } from '../../src/ledger/embedded/index.js';
import { as4Message, type MessageChoices } from '../support/messages.js';
import { tempDir } from '../support/temp-dir.js';
import { honest, neighbour, receiver, sender, serveEndpoint, signedByUs, stranger, type Served } from './served.js';

/** The endpoint over real HTTP, sent to and read by the conformance suite's client, which shares no code with it. */

let served: Served;
beforeEach(async () => {
  served = await serveEndpoint();
});
afterEach(async () => {
  await served.close();
});

const delivered = (): string[] => (existsSync(served.deliveries) ? readdirSync(served.deliveries) : []);
const errorOf = (answer: Answer): string | undefined => answer.errors[0]?.code;

describe('the endpoint', () => {
  it('verifies, decrypts, delivers and signs a Receipt with the sender\'s own digests', async () => {
    for (const soap of ['1.2', '1.1'] as const) {
      const payload = `<Invoice xmlns="urn:x">${soap}</Invoice>`;
      const message = honest({ soap, payloads: [payload] });
      const answer = await served.post(message);
      expect(answer.summary).toContain('Receipt');
      expect(answer.soap).toBe(soap);
      expect(answer.receipt?.refToMessageId).toBe(message.messageId);
      expect(answer.receipt?.references?.map((r) => [r.uri, r.digest])).toEqual(message.references.map((r) => [r.uri, r.digest]));
      signedByUs(answer);
      const folder = delivered().map((name) => join(served.deliveries, name)).find((path) => readFileSync(join(path, 'payload-1.xml'), 'utf8') === payload);
      expect(JSON.parse(readFileSync(join(folder ?? '', 'message.json'), 'utf8'))).toMatchObject({
        messageId: message.messageId, mark: 'first', from: { ids: [{ value: 'POP000001' }] },
        signer: { subject: expect.stringContaining('POP000001') as string },
        payloads: [{ file: 'payload-1.xml', mimeType: 'application/xml', length: payload.length }],
      });
    }
    expect(delivered()).toHaveLength(2);
  });

  it('answers a copy with the very bytes, in whatever way the sender built it again', async () => {
    const choices: MessageChoices = { messageId: 'again@test', payloads: ['<a/>'] };
    const first = await served.post(honest(choices));
    const rebuilt = await served.post(honest(choices));
    expect(first.what).toBe('receipt');
    expect(rebuilt.body).toEqual(first.body);
    expect(delivered()).toHaveLength(1);
    expect(served.exchanges.map((e) => e.answer)).toEqual(['first', 'replay']);
  });

  it('gives a Receipt that a former key signed as it stands, after a restart with another key', async () => {
    const ledger = tempDir('endpoint-ledger');
    const choices: MessageChoices = { messageId: 'older@test', payloads: ['<a/>'] };
    await served.close();
    served = await serveEndpoint({ ledger: await lmdbLedger({ path: ledger.path }) });
    const first = await served.post(honest(choices));
    await served.close();
    const own = makeIdentity('POP000002');
    served = await serveEndpoint({ ledger: await lmdbLedger({ path: ledger.path }), own });
    const copy = await served.post(honest({ ...choices, receiver: own.certificate }));
    expect(copy.body).toEqual(first.body);
    signedByUs(copy);
    const another = await served.post(honest({ receiver: own.certificate }));
    expect(another.body.includes(own.certificate.raw.toString('base64'))).toBe(true);
    expect(copy.body.includes(own.certificate.raw.toString('base64'))).toBe(false);
    ledger.remove();
  });

  it('makes one delivery of twenty copies at once, all with the same Receipt', async () => {
    const message = honest();
    const answers = await Promise.all(Array.from({ length: 20 }, () => served.post(message)));
    expect(new Set(answers.map((a) => a.sha256)).size).toBe(1);
    expect(answers[0]?.what).toBe('receipt');
    expect(delivered()).toHaveLength(1);
  });

  it('receipts the test service and delivers nothing', async () => {
    const core = 'http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/';
    const answer = await served.post(honest({ service: `${core}service`, action: `${core}test` }));
    expect(answer.what).toBe('receipt');
    expect(delivered()).toEqual([]);
    expect(served.exchanges[0]).toMatchObject({ outcome: 'accepted', reason: 'ping' });
  });

  it('refuses other content under a settled id with an Error, never a Receipt', async () => {
    await served.post(honest({ messageId: 'id@test', payloads: ['<a/>'] }));
    const answer = await served.post(honest({ messageId: 'id@test', payloads: ['<b/>'] }));
    expect(errorOf(answer)).toBe('EBMS:0003');
    signedByUs(answer);
    expect(delivered()).toHaveLength(1);
  });

  it('frees all payloads, whatever became of the exchange', async () => {
    const big = Buffer.alloc(600_000, 'x');
    const choices: MessageChoices = { messageId: 'big@test', payloads: [big] };
    await served.post(honest(choices));
    await served.post(honest(choices));
    await served.post(honest({ ...choices, payloads: [Buffer.alloc(600_000, 'y')] }));
    await served.post(honest({ payloads: [big], signer: stranger }));
    expect((await served.once.load()).spool).toEqual({ memoryBytes: 0, diskBytes: 0 });
  });
});

describe('the endpoint refuses, with a signed Error of the right code and without a claim', () => {
  const text = { payloads: ['<a/>'] };
  it.each<[string, string, () => { body: Buffer; contentType: string }]>([
    ['no signature', 'EBMS:0103', () => as4Message({ ...text, receiver: receiver.certificate })],
    ['a stranger\'s signature', 'EBMS:0101', () => honest({ ...text, signer: stranger })],
    ['a trusted neighbour who says he is somebody else', 'EBMS:0101', () => honest({ ...text, signer: neighbour })],
    ['no encryption', 'EBMS:0103', () => as4Message({ ...text, signer: sender })],
    ['encryption for somebody else', 'EBMS:0102', () => honest({ ...text, receiver: neighbour.certificate })],
    ['another agreement', 'EBMS:0010', () => honest({ ...text, agreement: 'urn:other' })],
    ['an external payload (TA08)', 'EBMS:0011', () => honest({ ...text, plan: { spelling: { shape: (x: string) => x.replace(/href="cid:[^"]*"/, 'href="http://example.org/payload"') } } })],
    ['a payload in the SOAP Body (Peppol 4.9)', 'EBMS:0010', () => honest({ ...text, plan: { spelling: { shape: (x: string) => x.replace(/ href="cid:[^"]*"/, '') } } })],
    ['no MimeType (TA26)', 'EBMS:0003', () => honest({ ...text, plan: { spelling: { shape: (x: string) => x.replace(/<eb:Property name="MimeType">[^<]*<\/eb:Property>/, '') } } })],
  ])('%s', async (_, code, build) => {
    const message = build();
    const answer = await served.post(message);
    expect(errorOf(answer)).toBe(code);
    expect(answer.errors[0]).toMatchObject({ severity: 'failure' });
    signedByUs(answer);
    expect(delivered()).toEqual([]);
    for await (const { record } of served.once.ledger.iterate()) expect(record).toBeUndefined();
  });

  it('other methods, and other media types', async () => {
    expect((await fetch(served.url)).status).toBe(405);
    expect((await fetch(served.url, { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } })).status).toBe(415);
  });
});

// A partner calls because of an Error; its line in the log had a code and a detail, and nothing to find it by.
describe('the log line of a refused message', () => {
  it('says what the header said, as not verified, and counts for no partner', async () => {
    await served.close();
    served = await serveEndpoint({ partners: [{ name: 'acme', match: { from: ['POP000001'] } }] });
    const said = { messageId: 'called@test', from: 'POP000001', to: 'POP000002', service: 'urn:s', action: 'urn:a', conversationId: 'talk' };
    for (const message of [honest({ ...said, signer: stranger }), as4Message(said), honest({ ...said, signer: neighbour })]) {
      await served.post(message);
      expect(served.exchanges.at(-1)).toMatchObject({ ...said, answer: 'refused', unverified: true });
      for (const label of ['partner', 'rule']) expect(served.exchanges.at(-1)).not.toHaveProperty(label);
    }
    // this much was proven
    await served.post(honest({ ...said, receiver: neighbour.certificate }));
    expect(served.exchanges.at(-1)).toMatchObject({ ...said, code: 'DECRYPTION_FAILED' });
    expect(served.exchanges.at(-1)).not.toHaveProperty('unverified');
    await served.post({ contentType: 'application/soap+xml', body: Buffer.from('x') });
    expect(served.exchanges.at(-1)).not.toHaveProperty('messageId');
  });
});

// What the head alone rules out was answered in plain text, and what is no XML at all in SOAP 1.1, whatever the head said.
it.each([
  ['multipart/related; type="application/soap+xml"', 'EBMS:0007', '1.2'],
  ['multipart/related; type="text/xml"', 'EBMS:0007', '1.1'],
  ['multipart/related; boundary=a; boundary=b', 'EBMS:0007', '1.2'],
  ['application/soap+xml; charset=utf-8', 'EBMS:0009', '1.2'],
  ['text/xml', 'EBMS:0009', '1.1'],
])('%s with the body x is answered %s, signed, in SOAP %s', async (contentType, code, soap) => {
  const answer = await served.post({ contentType, body: Buffer.from('x') });
  expect([answer.status, errorOf(answer), answer.soap]).toEqual([400, code, soap]);
  signedByUs(answer);
});

// Where a certificate need not name the party (`commonName: false`), whoever is trusted may sign in another's name. One of
// them who has seen a message could sign its header anew and be given the Receipt of him who sent it; nothing tested that.
describe('a trusted neighbour with the message of another, where certificates need not name the party', () => {
  it.each<[string, MessageChoices]>([
    ['signed', {}],
    ['signed and encrypted', { receiver: receiver.certificate }],
  ])('gets no Receipt for it and makes no second delivery (%s)', async (_, more) => {
    await served.close();
    served = await serveEndpoint({ endpoint: { profile: 'edelivery' }, security: { commonName: false, encryption: 'optional' }, defaults: { resend: 'off' } });
    const choices: MessageChoices = { messageId: 'seen@test', payloads: ['<a/>'], conversationId: 'c', timestamp: new Date().toISOString(), ...more };
    const first = await served.post(as4Message({ ...choices, signer: sender }));
    expect(first.what).toBe('receipt');
    const copied = await served.post(as4Message({ ...choices, signer: neighbour }));
    expect([copied.what, errorOf(copied), copied.receipt]).toEqual(['error', 'EBMS:0003', undefined]);
    expect(served.exchanges.map(({ answer }) => answer)).toEqual(['first', 'mismatch']);
    expect(delivered()).toHaveLength(1);
    expect((await served.post(as4Message({ ...choices, signer: sender }))).body).toEqual(first.body);
  });
});

describe('whom the endpoint serves', () => {
  it('another receiver is no P-Mode of ours, and a final recipient that is not served is told so', async () => {
    await served.close();
    served = await serveEndpoint({ endpoint: { partyId: 'POP000002', receivers: ['9915:C4'] } });
    expect((await served.post(honest())).what).toBe('receipt');
    expect(errorOf(await served.post(honest({ to: 'POP000009' })))).toBe('EBMS:0010');
    const other = await served.post(honest({ c4: '9915:other' }));
    expect(other.errors[0]).toMatchObject({ code: 'EBMS:0004', detail: expect.stringContaining('PEPPOL:NOT_SERVICED') as string });
    expect(delivered()).toHaveLength(1);
  });

  it('only partners, where the configuration says so', async () => {
    await served.close();
    served = await serveEndpoint({ endpoint: { onlyPartners: true }, partners: [{ match: { from: ['POP000003'] } }] });
    expect(errorOf(await served.post(honest()))).toBe('EBMS:0010');
    expect((await served.post(honest({ from: 'POP000003', signer: neighbour }))).what).toBe('receipt');
  });
});
