import { request as httpRequest, type IncomingMessage } from 'node:http';
import { gzipSync } from 'node:zlib';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MimeSpelling } from '../../conformance/as4/mime.js';
import type { Spelling } from '../../conformance/as4/user-message.js';
import { as4Message } from '../support/messages.js';
import { receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { send } from '../support/send.js';
import { startEngine, type Engine } from './engines.js';
import { startFront, stopFronts, type Front } from './front-process.js';
import { freshId, message, post, refersTo } from './messages.js';
import { rawClient } from './raw-http.js';

/**
 * What real senders do to a Content-Type, to MIME framing and to HTTP headers, each seen in a public report or a corpus
 * file. All of it is read, and all of it goes on byte for byte.
 */
type Oddity<T> = readonly [name: string, value: T];

const CONTENT_TYPES: readonly Oddity<(value: string) => string>[] = [
  ['as it is', (v) => v],
  ['charset on multipart itself', (v) => `${v}; charset=UTF-8`],
  ['charset in lower case and quotes', (v) => `${v}; charset="utf-8"`],
  ['no blank after a semicolon', (v) => v.replaceAll('; ', ';')],
  ['a tab after a semicolon', (v) => v.replaceAll('; ', ';\t')],
  ['four blanks after a semicolon', (v) => v.replaceAll('; ', ';    ')],
  ['a blank after boundary=', (v) => v.replace('boundary=', 'boundary= ')],
  ['blanks around every =', (v) => v.replace(/(boundary|type|start)=/g, '$1 = ')],
  ['a semicolon at the end', (v) => `${v};`],
  ['two semicolons', (v) => v.replace('; ', ';; ')],
  ['no type', (v) => v.replace(/;\s*type="[^"]*"/, '')],
  ['type twice', (v) => `${v}; type="text/xml"`],
  ['start-info', (v) => `${v}; start-info="application/soap+xml"`],
  ['no start', (v) => v.replace(/;\s*start="[^"]*"/, '')],
  ['neither start nor type', (v) => v.replace(/;\s*(start|type)="[^"]*"/g, '')],
  ['upper case', (v) => v.replace('multipart/related', 'MULTIPART/RELATED').replace('boundary=', 'BOUNDARY=').replace('type=', 'Type=')],
  ['boundary last', (v) => v.replace(/(;\s*boundary="[^"]*")(.*)/, '$2$1')],
  ['boundary first, unquoted, type behind it', (v) => v.replace(/boundary="([^"]*)"/, 'boundary=$1')],
  ['an unknown parameter', (v) => `${v}; action="urn:x"`],
];

const BOUNDARIES: readonly Oddity<string>[] = [
  ['as Java mail makes it', '----=_Part_0_1950117092.1769701143986'],
  ['as MimeKit makes it', '=-M9awlqbs/xWAPxlvpSWrAg=='],
  ['as Axis2 makes it', 'MIMEBoundary_bcb27a6f984295aa9962b01597400747543d2d4bbe3ad1c4'],
  ['as IBM makes it', '_=9506296633188159IBM9506296633188159MOKO'],
  ['as CXF makes it', 'uuid:b717ad5e-01c6-4be0-bd8f-60c4b7b9c0a5'],
  ['one character', 'b'],
  ['70 characters', 'x'.repeat(70)],
];

const PARTS: readonly Oddity<Partial<MimeSpelling>>[] = [
  ['as they are', {}],
  ['root without Content-ID', { rootContentId: undefined, start: 'none' }],
  ['no charset at the root', { charset: false }],
  ['Content-ID without brackets', { headers: (lines) => lines.map((line) => line.replace(/^(Content-ID:) <(.*)>$/, '$1 $2')) }],
  ['field names in upper case', { headers: (lines) => lines.map((line) => line.replace(/^[^:]*/, (name) => name.toUpperCase())) }],
  ['field names in lower case, no blank', { headers: (lines) => lines.map((line) => line.replace(/^([^:]*): /, (_all, name: string) => `${name.toLowerCase()}:`)) }],
  ['values on the next line', { headers: (lines) => lines.map((line) => line.replace(/^(Content-ID:) /, '$1\r\n ')) }],
  ['folded with a tab', { headers: (lines) => lines.map((line) => line.replace('; charset', ';\r\n\tcharset')) }],
  ['other order, further fields', { headers: (lines) => [...lines].reverse().concat('Content-Disposition: attachment; name="a"', 'X-Odd:') }],
  ['8bit and binary', { headers: (lines) => lines.map((line) => line.replace('binary', '8bit')) }],
  ['no transfer encoding', { headers: (lines) => lines.filter((line) => !line.startsWith('Content-Transfer')) }],
  ['a preamble', { preamble: 'This is a multi-part message in MIME format.' }],
  ['an empty line before the first boundary', { preamble: '\r\n' }],
  ['an epilogue', { epilogue: 'the end\r\n' }],
  ['blanks behind the boundary', { padding: '  ' }],
  ['line feeds alone', { lineEnd: '\n' }],
];

const ENVELOPES: readonly Oddity<Partial<Spelling>>[] = [
  ['SOAP 1.2', {}],
  ['SOAP 1.1', { soap: '1.1' }],
  ['a byte order mark', { byteOrderMark: true }],
  ['other prefixes', { soapPrefix: 'soapenv', ebPrefix: 'ns4' }],
  ['no XML declaration', { declaration: false }],
];

const FIELDS: readonly Oddity<Record<string, string>>[] = [
  ['plain', {}],
  ['MIME fields as HTTP fields', { 'Message-Id': '<1260012504.1.1769701144011@[192.168.0.96]>', 'MIME-Version': '1.0', Date: 'Thu, 29 Jan 2026 16:39:04 +0100 (CET)' }],
  ['SOAPAction', { SOAPAction: '""' }],
  ['all codings accepted', { 'Accept-Encoding': 'gzip, x-gzip, deflate' }],
  ['the connection is closed', { Connection: 'close' }],
  ['a Content-Transfer-Encoding', { 'Content-Transfer-Encoding': 'binary' }],
  ['an empty value', { 'X-Empty': '' }],
  ['latin-1', { 'X-Name': 'J\u00fcrgen' }],
  ['authorization', { Authorization: 'Basic dXNlcjpwYXNz' }],
];

const pick = <T>(list: readonly Oddity<T>[], n: number): Oddity<T> => list[n % list.length]!;

describe('two hundred odd spellings pass, byte for byte', () => {
  let engine: Engine;
  let upstream: ScriptedUpstream;
  let front: Front;
  beforeAll(async () => {
    engine = await startEngine('embedded');
    upstream = await startUpstream(receipt());
    front = await startFront({ upstream: upstream.url, ...engine.settings });
  });
  afterAll(async () => {
    await stopFronts();
    await upstream.close();
    await engine.close();
  });

  // the list lengths have no common divisor, so that 200 steps meet every pair of neighbours in many combinations
  const rows = Array.from({ length: 200 }, (_, n) => ({
    contentType: pick(CONTENT_TYPES, n), boundary: pick(BOUNDARIES, n), parts: pick(PARTS, n + Math.floor(n / 16)), envelope: pick(ENVELOPES, n + Math.floor(n / 5)), fields: pick(FIELDS, n),
  }));
  it.each(rows.map((row, n) => [n + 1, row.contentType[0], row.boundary[0], row.parts[0], row.envelope[0], row.fields[0], row] as const))(
    '%i: Content-Type %s · boundary %s · parts %s · %s · HTTP %s',
    async (_n, _type, _boundary, _parts, _envelope, _fields, { contentType, boundary, parts, envelope, fields }) => {
      const id = freshId();
      const built = as4Message({
        messageId: id, payloads: [`<Invoice>${id}</Invoice>`],
        plan: { mime: { boundary: boundary[1], ...parts[1], contentType: contentType[1] }, spelling: envelope[1] },
      });
      const earlier = upstream.requests.length;
      const first = await send(front.url, built, { headers: fields[1] });
      expect([first.status, refersTo(first.body)]).toEqual([200, id]);
      const received = upstream.requests.at(-1)!;
      expect(received.body.equals(built.body)).toBe(true);
      expect(received.header('content-type')).toBe(built.contentType);
      expect(received.header('content-length')).toBe(String(built.body.length));
      for (const [name, value] of Object.entries(fields[1])) {
        if (!['Accept-Encoding', 'Connection'].includes(name)) expect(received.header(name)).toBe(value);
      }
      const copy = await send(front.url, built, { headers: fields[1] });
      expect([copy.status, copy.headers['as4-once-answer'], copy.body.equals(first.body)]).toEqual([200, 'replay', true]);
      expect(upstream.requests.length).toBe(earlier + 1);
    },
  );

  it('Expect: 100-continue is answered and not passed on; chunked becomes a length', async () => {
    const id = freshId();
    const built = message(id);
    const outgoing = httpRequest(front.url, { method: 'POST', headers: { ...built.headers, Expect: '100-continue' } });
    outgoing.flushHeaders();
    await once(outgoing, 'continue');
    for (let at = 0; at < built.body.length; at += 1_000) outgoing.write(built.body.subarray(at, at + 1_000));
    outgoing.end();
    const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
    answer.resume();
    expect(answer.statusCode).toBe(200);
    const received = upstream.requests.at(-1)!;
    expect([received.header('expect'), received.header('transfer-encoding'), received.header('content-length')]).toEqual([undefined, undefined, String(built.body.length)]);
    expect(received.body.equals(built.body)).toBe(true);
  });

  it('Content-Encoding: gzip is undone for reading only', async () => {
    const id = freshId();
    const built = message(id);
    const coded = { body: gzipSync(built.body), headers: { ...built.headers, 'content-encoding': 'gzip' } };
    expect((await send(front.url, coded)).status).toBe(200);
    const received = upstream.requests.at(-1)!;
    expect([received.header('content-encoding'), received.body.equals(coded.body)]).toEqual(['gzip', true]);
    expect((await post(front.url, built)).headers['as4-once-answer']).toBe('replay');
  });

  it('marks of ours in an incoming request are stripped, however they are spelled', async () => {
    const id = freshId();
    const built = message(id);
    await send(front.url, built, { headers: { 'As4-Once-Copy': 'duplicate', 'AS4-ONCE-FIRST': 'x', 'as4-once-anything': 'y' } });
    const marks = upstream.requests.at(-1)!.headers.filter(([name]) => name.toLowerCase().startsWith('as4-once'));
    expect(marks).toEqual([['As4-Once-Copy', 'first']]);
  });

  it('an HTTP/1.0 request is answered', async () => {
    const id = freshId();
    const { body, headers } = message(id);
    const client = await rawClient(front.port);
    client.write(`POST /as4 HTTP/1.0\r\nContent-Type: ${headers['content-type']}\r\nContent-Length: ${body.length}\r\n\r\n`);
    client.write(body);
    expect(await client.closed()).toContain(id);
  });

  it('other methods pass, with their query, and so do signals', async () => {
    const earlier = upstream.requests.length;
    await fetch(`${front.url}?wsdl`, { method: 'GET' });
    await fetch(front.url, { method: 'HEAD' });
    await fetch(front.url, { method: 'OPTIONS' });
    expect(upstream.requests.slice(earlier).map(({ method, target }) => [method, target])).toEqual([['GET', '/as4?wsdl'], ['HEAD', '/as4'], ['OPTIONS', '/as4']]);
  });
});
