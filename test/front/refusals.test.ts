import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/port.js';
import { as4Message, type MessageChoices } from '../support/messages.js';
import { receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { send } from '../support/send.js';
import { startEngine, type Engine } from './engines.js';
import { startFront, stopFronts, type Front } from './front-process.js';
import { errorCodes, freshId, message, post, refersTo, signedMessage } from './messages.js';
import { rawClient } from './raw-http.js';

/** Bad input: a code, a status and an answer in the sender's own language; nothing recorded and nothing forwarded. */
let engine: Engine;
let ledger: Ledger;
let upstream: ScriptedUpstream;
let front: Front;
let before = { requests: 0, records: 0 };
beforeAll(async () => {
  engine = await startEngine('embedded');
  ledger = await engine.open();
  upstream = await startUpstream(receipt());
  front = await startFront({
    upstream: upstream.url, ...engine.settings,
    limits: { rootPart: '64 KiB', parts: 20, partHeaders: '4 KiB', maxBody: '300 KiB', depth: 40 },
    partners: [{ match: { from: 'MUST-SIGN' }, unsigned: 'refuse' }],
  });
});
afterAll(async () => {
  await stopFronts();
  await upstream.close();
  await ledger.close();
  await engine.close();
});
const now = async () => ({ requests: upstream.requests.length, records: (await ledger.stats()).records });
beforeEach(async () => {
  before = await now();
});

type Tamper = (envelope: string) => string;
const id = (): string => freshId();
const tampered = (tamper: Tamper, choices: MessageChoices = {}) => signedMessage(id(), { ...choices, plan: { ...choices.plan, tamper } });
const swap = (from: string | RegExp, to: string): Tamper => (xml) => {
  if (!(typeof from === 'string' ? xml.includes(from) : from.test(xml))) throw new Error(`the envelope has no ${from}`);
  return xml.replace(from, to);
};
const MESSAGE_ID = /<eb:MessageId>[^<]*<\/eb:MessageId>/;
const USER = /<eb:UserMessage>[\s\S]*<\/eb:UserMessage>/;

describe('what cannot be read', () => {
  const inXml: readonly (readonly [name: string, code: string, ebms: string, tamper: Tamper])[] = [
    ['a DOCTYPE', 'XML_FORBIDDEN', 'EBMS:0009', swap('<S12:Envelope', '<!DOCTYPE x><S12:Envelope')],
    ['a DOCTYPE with entities', 'XML_FORBIDDEN', 'EBMS:0009', swap('<S12:Envelope', '<!DOCTYPE x [<!ENTITY a "b">]><S12:Envelope')],
    ['a processing instruction in the envelope', 'XML_FORBIDDEN', 'EBMS:0009', swap('<eb:UserMessage>', '<?go away?><eb:UserMessage>')],
    ['an element that is never closed', 'XML_BROKEN', 'EBMS:0009', swap('</eb:MessageInfo>', '')],
    ['an envelope that is cut', 'XML_BROKEN', 'EBMS:0009', (xml) => xml.slice(0, -40)],
    ['an unknown entity', 'XML_BROKEN', 'EBMS:0009', swap('<eb:Role>', '<eb:Role>&what;')],
    ['an unbound prefix', 'XML_BROKEN', 'EBMS:0009', swap('<eb:Service', '<no:Service/><eb:Service')],
    ['elements deeper than the bound', 'XML_TOO_DEEP', 'EBMS:0009', swap('<S12:Body', `<S12:Body>${'<a>'.repeat(50)}${'</a>'.repeat(50)}</S12:Body><S12:Body`)],
    ['two elements of one Id', 'DUPLICATE_ID', 'EBMS:0009', (xml) => xml.replace(/(<S12:Body [^>]*wsu:Id=")[^"]*/, `$1${/Messaging [^>]*wsu:Id="([^"]*)/.exec(xml)?.[1]}`)],
    ['two UserMessages', 'HEADER_INVALID', 'EBMS:0009', (xml) => xml.replace(USER, (user) => user + user)],
    ['two eb:Messaging', 'HEADER_INVALID', 'EBMS:0009', (xml) => xml.replace(/<eb:Messaging [\s\S]*<\/eb:Messaging>/, (one) => one + one.replace(/ wsu:Id="[^"]*"/, ''))],
    ['no eb:Messaging', 'HEADER_INVALID', 'EBMS:0009', (xml) => xml.replace(/<eb:Messaging [\s\S]*<\/eb:Messaging>/, '')],
    ['an eb:Messaging with nothing in it', 'HEADER_INVALID', 'EBMS:0009', swap(USER, '')],
    ['no MessageId', 'HEADER_INVALID', 'EBMS:0009', swap(MESSAGE_ID, '')],
    ['an empty MessageId', 'MESSAGE_ID_INVALID', 'EBMS:0009', swap(MESSAGE_ID, '<eb:MessageId></eb:MessageId>')],
    ['a MessageId with an element in it', 'MESSAGE_ID_INVALID', 'EBMS:0009', swap(MESSAGE_ID, '<eb:MessageId>a<b xmlns="urn:b"/>@c</eb:MessageId>')],
    ['a MessageId of 256 bytes', 'MESSAGE_ID_INVALID', 'EBMS:0009', swap(MESSAGE_ID, `<eb:MessageId>${'é'.repeat(128)}</eb:MessageId>`)],
    ['an empty PartyId', 'PARTY_ID_INVALID', 'EBMS:0009', swap(/(<eb:PartyId [^>]*>)POP000001/, '$1')],
    ['a PartyId of 256 bytes', 'PARTY_ID_INVALID', 'EBMS:0009', swap('POP000001', 'p'.repeat(256))],
    ['a SOAP part larger than its bound', 'ROOT_TOO_LARGE', 'EBMS:0007', swap('<S12:Body', `<S12:Body><a>${'x'.repeat(70_000)}</a></S12:Body><S12:Body`)],
  ];
  it.each(inXml)('%s: %s %s', async (_name, code, ebms, tamper) => {
    const built = tampered(tamper);
    await refused(built, code, ebms, '1.2');
  });

  it.each(inXml.slice(0, 15))('in SOAP 1.1, answered in SOAP 1.1: %s', async (_name, code, ebms, tamper) => {
    await refused(tampered(tamper, { soap: '1.1' }), code, ebms, '1.1');
  });

  it('bytes that are not UTF-8', async () => {
    const built = message(id());
    const body = Buffer.from(built.body);
    body[body.indexOf('POP000001')] = 0xff;
    await refused({ ...built, body }, 'XML_BROKEN', 'EBMS:0009', '1.2');
  });

  it.each<readonly [string, NonNullable<MessageChoices['plan']>['mime'], string]>([
    ['a package that is never closed', { closed: false }, 'MIME_BROKEN'],
    ['start names another part than the first', { rootFirst: false }, 'MIME_START'],
    ['start names no part', { start: { value: '<nobody@here>' } }, 'MIME_START'],
    ['no boundary', { contentType: (value) => value.replace(/;\s*boundary="[^"]*"/, '') }, 'MIME_BROKEN'],
    ['another boundary than the body\'s', { contentType: (value) => value.replace('_Part_', '_Other_') }, 'MIME_BROKEN'],
    ['two boundaries', { contentType: (value) => `${value}; boundary="b"` }, 'MIME_BROKEN'],
    ['a quote that does not end', { contentType: (value) => `${value}; start-info="x` }, 'MIME_BROKEN'],
    ['part headers larger than their bound', { headers: (lines) => [...lines, `X-Filler: ${'x'.repeat(5_000)}`] }, 'MIME_BROKEN'],
  ])('%s', async (_name, mime, code) => {
    await refused(message(id(), { plan: { mime: mime! } }), code, 'EBMS:0007', '1.2');
  });

  it('a root part that is cut, the package closed behind it', async () => {
    const built = message(id());
    const text = built.body.toString('latin1');
    const body = Buffer.from(text.replace(/<\/eb:CollaborationInfo>[\s\S]*?<\/S12:Envelope>/, ''), 'latin1');
    await refused({ ...built, body }, 'XML_BROKEN', 'EBMS:0009', '1.2');
  });

  it('more parts than the bound', async () => {
    await refused(message(id(), { payloads: Array.from({ length: 25 }, (_, n) => `part ${n}`) }), 'TOO_MANY_PARTS', 'EBMS:0007', '1.2');
  });

  /** The answer, the log line, and that nobody will ever know. */
  async function refused(built: { body: Buffer; headers: Readonly<Record<string, string>> }, code: string, ebms: string, soap: '1.1' | '1.2'): Promise<void> {
    const lines = front.log().filter((line) => line.event === 'exchange').length;
    const answer = await post(front.url, built);
    expect([answer.status, errorCodes(answer.body)]).toEqual([400, [ebms]]);
    isErrorIn(soap, answer.headers['content-type'], answer.body);
    expect(await now()).toEqual(before);
    expect(await front.logged({ event: 'exchange' }, lines + 1)).toMatchObject({ answer: 'refused', code, status: 400 });
  }
});

describe('what can be read and is refused', () => {
  const cases = (['1.1', '1.2'] as const).map((soap) => [soap] as const);

  it.each(cases)('a UserMessage bundled with a signal, SOAP %s', async (soap) => {
    const signal = '<eb:SignalMessage><eb:MessageInfo><eb:Timestamp>2026-01-01T00:00:00Z</eb:Timestamp><eb:MessageId>s@x</eb:MessageId></eb:MessageInfo><eb:PullRequest/></eb:SignalMessage>';
    const messageId = id();
    const built = signedMessage(messageId, { soap, plan: { tamper: swap('</eb:UserMessage>', `</eb:UserMessage>${signal}`) } });
    await refusedFor(messageId, built, 'BUNDLED', 'EBMS:0008', soap);
  });

  it.each(cases)('an unsigned message of a partner who must sign, SOAP %s', async (soap) => {
    const messageId = id();
    await refusedFor(messageId, as4Message({ messageId, from: 'MUST-SIGN', soap }), 'UNSIGNED', 'EBMS:0103', soap);
  });

  it.each(cases)('the same id with other content, SOAP %s: never a Receipt, and the first one keeps its own', async (soap) => {
    const messageId = id();
    const first = await post(front.url, signedMessage(messageId, { soap }));
    before = await now();
    await refusedFor(messageId, signedMessage(messageId, { soap, payloads: ['<Invoice>altered</Invoice>'] }), 'MISMATCH', 'EBMS:0003', soap);
    expect((await post(front.url, signedMessage(messageId, { soap }))).body.equals(first.body)).toBe(true);
  });

  async function refusedFor(messageId: string, built: { body: Buffer; headers: Readonly<Record<string, string>> }, code: string, ebms: string, soap: '1.1' | '1.2'): Promise<void> {
    const answer = await post(front.url, built);
    expect([answer.status, errorCodes(answer.body), refersTo(answer.body)]).toEqual([200, [ebms], messageId]);
    isErrorIn(soap, answer.headers['content-type'], answer.body);
    expect(await now()).toEqual(before);
    expect(await front.logged({ event: 'exchange', code, status: 200, ...(code === 'MISMATCH' ? { messageId } : {}) })).toBeDefined();
  }
});

/** An ebMS Error in that SOAP version, severity failure, unsigned; and no word that a sender could take for "you did well". */
function isErrorIn(soap: '1.1' | '1.2', contentType: string | undefined, body: Buffer): void {
  const text = body.toString();
  expect(contentType).toMatch(soap === '1.2' ? /^application\/soap\+xml/ : /^text\/xml/);
  expect(text).toContain(soap === '1.2' ? 'http://www.w3.org/2003/05/soap-envelope' : 'http://schemas.xmlsoap.org/soap/envelope/');
  expect(text).toContain('severity="failure"');
  expect(text).not.toMatch(/duplicate|Signature|Receipt/i);
}

describe('what is no AS4 at all', () => {
  it.each<readonly [string, Record<string, string>, string]>([
    ['JSON', { 'content-type': 'application/json' }, '{"a":1}'],
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'a=1&b=2'],
    ['an upload', { 'content-type': 'multipart/form-data; boundary=b' }, '--b\r\n\r\nx\r\n--b--\r\n'],
    ['other XML', { 'content-type': 'application/xml' }, '<Invoice/>'],
    ['HTML', { 'content-type': 'text/html' }, '<html><body>hello</body></html>'],
    ['nothing', {}, ''],
    ['bytes without a type', {}, '\u0001\u0002\u0003'],
    ['a content coding we do not read', { 'content-type': 'application/soap+xml', 'content-encoding': 'br' }, 'x'],
  ])('%s: 415', async (_name, headers, body) => {
    const answer = await send(front.url, { body: Buffer.from(body), headers });
    expect([answer.status, answer.headers['content-type']]).toEqual([415, 'text/plain; charset=utf-8']);
    expect(answer.body.toString()).toMatch(/^(MEDIA_TYPE|CONTENT_CODING)/);
    expect(await now()).toEqual(before);
  });
});

describe('bodies without measure', () => {
  const HEAD = 'POST /as4 HTTP/1.1\r\nHost: front\r\nContent-Type: application/soap+xml\r\n';

  it.each([['announced', false], ['as it comes, chunked', true]])('too large, %s: 413, the rest is read away, and the connection goes on', async (_name, chunked) => {
    const client = await rawClient(front.port);
    const large = message(id(), { payloads: ['x'.repeat(400_000)] });
    const framing = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${large.body.length}`;
    client.write(`POST /as4 HTTP/1.1\r\nHost: front\r\nContent-Type: ${large.headers['content-type']}\r\n${framing}\r\n\r\n`);
    for (let at = 0; at < large.body.length; at += 50_000) {
      const part = large.body.subarray(at, at + 50_000);
      const framed = chunked ? Buffer.concat([Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from('\r\n')]) : part;
      if (!client.socket.write(framed)) await once(client.socket, 'drain');
    }
    if (chunked) client.write('0\r\n\r\n');
    expect(await client.sees(/BODY_TOO_LARGE.*\n/)).toMatch(/^HTTP\/1\.1 413 /);
    expect(await now()).toEqual(before);
    const { body, headers } = message(id());
    client.write(`POST /as4 HTTP/1.1\r\nHost: front\r\nContent-Type: ${headers['content-type']}\r\nContent-Length: ${body.length}\r\n\r\n`);
    client.write(body);
    expect(await client.sees(/RefToMessageId/)).toContain('HTTP/1.1 200');
    client.socket.destroy();
  });

  it.each([
    ['two equal lengths', 'Content-Length: 6\r\nContent-Length: 6\r\n\r\nabcdef'],
    ['two lengths', 'Content-Length: 6\r\nContent-Length: 7\r\n\r\nabcdef'],
    ['a list in one length', 'Content-Length: 6, 6\r\n\r\nabcdef'],
    ['a length that is no number', 'Content-Length: 0x6\r\n\r\nabcdef'],
    ['a signed length', 'Content-Length: +6\r\n\r\nabcdef'],
    ['length with chunked', 'Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n0\r\n\r\n'],
    ['chunked with length', 'Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n6\r\nabcdef\r\n0\r\n\r\n'],
    ['chunked hidden by a tab', 'Content-Length: 6\r\nTransfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n'],
    ['chunked twice', 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nabcdef\r\n0\r\n\r\n'],
    ['an unknown transfer coding', 'Transfer-Encoding: xchunked\r\n\r\n6\r\nabcdef\r\n0\r\n\r\n'],
    ['chunked under another coding', 'Transfer-Encoding: chunked, identity\r\n\r\n6\r\nabcdef\r\n0\r\n\r\n'],
    ['a space before the colon', 'Content-Length : 6\r\n\r\nabcdef'],
    ['a chunk size with a sign', 'Transfer-Encoding: chunked\r\n\r\n-6\r\nabcdef\r\n0\r\n\r\n'],
    ['a header line that begins with white space', ' Content-Length: 6\r\nX: y\r\n\r\nabcdef'],
    ['a bare line feed between header lines', 'X: y\nContent-Length: 6\r\n\r\nabcdef'],
    ['a NUL in a header', 'X: a\u0000b\r\nContent-Length: 6\r\n\r\nabcdef'],
  ])('request smuggling: %s is refused, and nothing behind it is taken for a request', async (_name, rest) => {
    const client = await rawClient(front.port);
    const { body, headers } = message(id());
    client.write(`${HEAD}${rest}`);
    client.write(`POST /as4 HTTP/1.1\r\nHost: front\r\nContent-Type: ${headers['content-type']}\r\nContent-Length: ${body.length}\r\n\r\n`);
    client.write(body);
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(client.seen()).not.toContain('RefToMessageId');
    expect(await now()).toEqual(before);
  });

  it('header fields without measure: 431', async () => {
    const client = await rawClient(front.port);
    client.write(`${HEAD}X-Filler: ${'x'.repeat(40_000)}\r\n\r\n`);
    expect(await client.sees(/\r\n\r\n/)).toMatch(/^HTTP\/1\.1 431 /);
  });
});

describe('bodies without end', () => {
  let slow: Front;
  beforeAll(async () => {
    const settings = await startEngine('embedded');
    slow = await startFront({ upstream: upstream.url, ...settings.settings, times: { headers: '1s', bodyIdle: '1500ms' }, limits: { minRate: '1 KiB' } });
  });
  const trickling: NodeJS.Timeout[] = [];
  afterEach(() => trickling.splice(0).forEach(clearInterval));

  it('slow-loris in the headers: 408', async () => {
    const client = await rawClient(slow.port);
    client.write('POST /as4 HTTP/1.1\r\nHost: front\r\n');
    trickling.push(setInterval(() => client.socket.writable && client.write('X: y\r\n'), 100));
    expect(await client.closed()).toMatch(/^HTTP\/1\.1 408 /);
  });

  it.each([['silent', ''], ['dripping', ' ']])('slow-loris in the body, %s: 408, and nothing is recorded', async (_name, drop) => {
    const { body, headers } = message(id());
    const client = await rawClient(slow.port);
    client.write(`POST /as4 HTTP/1.1\r\nHost: front\r\nContent-Type: ${headers['content-type']}\r\nContent-Length: ${body.length}\r\n\r\n`);
    client.write(body.subarray(0, 3_000));
    trickling.push(setInterval(() => client.socket.writable && drop !== '' && client.write(drop), 100));
    expect(await client.sees(/BODY_TOO_SLOW/)).toMatch(/^HTTP\/1\.1 408 /);
    expect(await now()).toEqual(before);
  });

  it('a slow sender who keeps up the least rate is heard to the end', async () => {
    const messageId = id();
    const { body, headers } = message(messageId, { payloads: ['x'.repeat(60_000)] });
    const client = await rawClient(slow.port);
    client.write(`POST /as4 HTTP/1.1\r\nHost: front\r\nContent-Type: ${headers['content-type']}\r\nContent-Length: ${body.length}\r\n\r\n`);
    // longer than bodyIdle in all, each pause shorter
    for (let at = 0; at < body.length; at += 2_000) {
      client.write(body.subarray(at, at + 2_000));
      await new Promise((resolve) => setTimeout(resolve, 60));
    }
    expect(await client.sees(/RefToMessageId/)).toContain(messageId);
    client.socket.destroy();
  });
});
