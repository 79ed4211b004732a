import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/port.js';
import { raw, receipt, reset } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream, type Step } from '../support/scripted-upstream.js';
import { send } from '../support/send.js';
import { startEngine, type Engine } from './engines.js';
import { startFront, stopFronts, type Front } from './front-process.js';
import { errorCodes, refersTo } from './messages.js';
import { replayBytes, type RawAnswer } from './raw-http.js';

const shared = process.env['AS4_ONCE_SHARED'] ?? join(import.meta.dirname, '../../../shared');
const corpus = join(shared, 'corpus');
const live = join(corpus, 'live');
const present = existsSync(join(corpus, 'expected.json')) && existsSync(join(live, 'expected.json'));

interface Expected {
  readonly category: string;
  readonly verdict: 'parse' | 'reject' | 'lenient';
  readonly contentType?: string | null;
  readonly httpHeadersInFile?: unknown;
  readonly soapVersion?: string;
  readonly messages?: readonly { readonly type: string; readonly messageId: string }[];
}

interface Recorded {
  readonly messageId: string;
  readonly response: { readonly signal: 'Receipt' | 'Error' | null; readonly errorCode: string | null; readonly status: string };
}

const read = <T>(file: string): T => (present ? JSON.parse(readFileSync(file, 'utf8')) as T : {} as T);
const files = Object.entries(read<{ files?: Record<string, Expected> }>(join(corpus, 'expected.json')).files ?? {}).filter(([, { category }]) => category === 'as4');
const recorded = read<Record<string, Recorded>>(join(live, 'expected.json'));

let engine: Engine;
let ledger: Ledger;
let upstream: ScriptedUpstream;
let front: Front;

/** Every file and family has a path and a scope of its own, so that ids that occur twice do not meet. */
const paths = new Map<string, string>();
const pathOf = (name: string): string => {
  if (!paths.has(name)) paths.set(name, `/n${paths.size}`);
  return paths.get(name)!;
};

beforeAll(async () => {
  if (!present) return;
  engine = await startEngine('embedded');
  ledger = await engine.open();
  upstream = await startUpstream(receipt());
  const routes = Array.from({ length: 160 }, (_, n) => ({ path: `/n${n}`, scope: `n${n}`, upstream: upstream.url }));
  front = await startFront({ ...engine.settings, routes, defaults: { resend: 'off' } });
});
afterAll(async () => {
  await stopFronts();
  await upstream?.close();
  await ledger?.close();
  await engine?.close();
});

const records = async (): Promise<number> => (await ledger.stats()).records;

describe.skipIf(!present)('the AS4 corpus, posted to the front (needs ../shared/corpus)', () => {
  const urlOf = (name: string): URL => new URL(pathOf(name), front.url);

  it.each(files)('%s', async (name, expected) => {
    const request = asRequest(name, expected);
    const [delivered, known] = [upstream.requests.length, await records()];
    const answer = await send(urlOf(name), request);
    const messages = expected.messages ?? [];
    const user = messages.find(({ type }) => type === 'UserMessage');
    if (expected.verdict === 'reject' || (expected.verdict === 'lenient' && answer.status >= 400)) {
      expect([400, 415]).toContain(answer.status);
      if (answer.status === 400) expect(errorCodes(answer.body)[0]).toMatch(/^EBMS:000[79]$/);
      expect([upstream.requests.length, await records()]).toEqual([delivered, known]);
      return;
    }
    expect(upstream.requests.length).toBe(delivered + 1);
    const received = upstream.requests.at(-1)!;
    expect(received.body.equals(request.body)).toBe(true);
    expect(received.header('content-type')).toBe(request.headers['content-type']);
    expect(received.header('content-length')).toBe(String(request.body.length));
    if (user === undefined && expected.verdict === 'parse') {
      // signals pass, unmarked and unclaimed, as often as they come
      expect(received.header('as4-once-copy')).toBeUndefined();
      await send(urlOf(name), request);
      expect([upstream.requests.length, await records()]).toEqual([delivered + 2, known]);
      return;
    }
    expect(answer.status).toBe(200);
    expect(received.header('as4-once-copy')).toMatch(/^(first|late)$/);
    if (user !== undefined) expect(await front.logged({ event: 'exchange', route: pathOf(name) })).toMatchObject({ messageId: user.messageId });
    const copy = await send(urlOf(name), request);
    expect([copy.status, copy.headers['as4-once-answer'], copy.body.equals(answer.body)]).toEqual([200, 'replay', true]);
    expect([upstream.requests.length, await records()]).toEqual([delivered + 1, known + 1]);
  });
});

describe.skipIf(!present)('recorded exchanges of phase4, Holodeck B2B and Oxalis-NG, byte for byte as they were on the wire (needs ../shared/corpus/live)', () => {
  /** The recorded bytes of one request, sent to a path of its family's own. */
  const replay = async (name: string, family: string, file = 'request.http'): Promise<RawAnswer> => {
    const bytes = readFileSync(join(live, name, file));
    const line = bytes.indexOf('\r\n');
    return await replayBytes(front.port, Buffer.concat([Buffer.from(`POST ${pathOf(family)} HTTP/1.1`), bytes.subarray(line)]));
  };
  const answers = (name: string): Step => {
    const bytes = readFileSync(join(live, name, 'response.http'));
    return bytes.byteLength === 0 ? reset('body') : raw(bytes, 'end');
  };
  const bodyOf = (name: string): Buffer => readFileSync(join(live, name, 'response.xml'));

  it.each(Object.entries(recorded))('%s: the sender gets what the access point said, and the access point the sender\'s bytes', async (name, { response, messageId }) => {
    const delivered = upstream.requests.length;
    upstream.next(answers(name));
    const answer = await replay(name, `alone ${name}`);
    expect(upstream.requests.length).toBe(delivered + 1);
    expect(upstream.requests.at(-1)!.body.equals(bodyIn(readFileSync(join(live, name, 'request.http'))))).toBe(true);
    expect(upstream.requests.at(-1)!.header('transfer-encoding')).toBeUndefined();
    if (response.signal === null) {
      expect(answer.status).toBe(502);
    } else {
      expect([answer.status, answer.body.equals(bodyOf(name))]).toEqual([200, true]);
    }
    expect(await front.logged({ event: 'exchange', route: pathOf(`alone ${name}`) })).toMatchObject({
      messageId, outcome: response.signal === 'Receipt' ? 'accepted' : response.signal === 'Error' ? 'rejected' : 'uncertain',
    });
  });

  it.each([
    ['Holodeck\'s own retry: new boundary, new Ids, new envelope digests', ['holodeck-retry-attempt1', 'holodeck-retry-attempt2'], undefined],
    ['phase4\'s HTTP retry: the same bytes', ['phase4-h-http-retry-1st', 'phase4-h-http-retry-2nd'], 'phase4-h-http-retry-2nd'],
    ['phase4\'s application: rebuilt, encrypted and stamped anew', ['phase4-d-duplicate-1st', 'phase4-d-duplicate-2nd'], 'phase4-d-duplicate-1st'],
    ['the same bytes three times', ['holodeck-sign-1payload', 'holodeck-duplicate-replay-1', 'holodeck-duplicate-replay-2'], 'holodeck-sign-1payload'],
    ['the same bytes to Oxalis, which delivered both', ['oxalis-ng-peppol-invoice', 'oxalis-ng-duplicate-replay-1'], 'oxalis-ng-peppol-invoice'],
  ] as const)('%s: one delivery, one Receipt', async (family, members, answered) => {
    const delivered = upstream.requests.length;
    upstream.next(answered === undefined ? receipt() : answers(answered));
    const [first, ...copies] = members;
    const answer = await replay(first, family);
    expect([answer.status, refersTo(answer.body)]).toEqual([200, recorded[first]!.messageId]);
    for (const name of copies) {
      const copy = await replay(name, family);
      expect([copy.status, copy.body.equals(answer.body)]).toEqual([200, true]);
      expect(copy.head).toMatch(/^as4-once-answer: replay$/im);
    }
    expect(upstream.requests.length).toBe(delivered + 1);
  });

  it('an altered payload under a known MessageId, validly signed anew: an Error, never a Receipt, and nothing goes upstream', async () => {
    const delivered = upstream.requests.length;
    upstream.next(answers('holodeck-altered-original'));
    expect((await replay('holodeck-altered-original', 'altered')).body.equals(bodyOf('holodeck-altered-original'))).toBe(true);
    const altered = await replay('holodeck-altered-payload-same-id', 'altered');
    const id = recorded['holodeck-altered-original']!.messageId;
    expect([altered.status, errorCodes(altered.body), refersTo(altered.body)]).toEqual([200, ['EBMS:0003'], id]);
    expect(altered.body.toString()).toContain('severity="failure"');
    expect(altered.body.toString()).not.toMatch(/Receipt|duplicate/i);
    expect(upstream.requests.length).toBe(delivered + 1);
    expect((await replay('holodeck-altered-original', 'altered')).body.equals(bodyOf('holodeck-altered-original'))).toBe(true);
  });

  it('poison: a corrupt copy comes first and is refused by the access point; the genuine one is delivered', async () => {
    const delivered = upstream.requests.length;
    upstream.next(answers('holodeck-poison-1-corrupt'));
    const corrupt = await replay('holodeck-poison-1-corrupt', 'poison');
    expect([corrupt.status, errorCodes(corrupt.body)]).toEqual([200, ['EBMS:0101']]);
    upstream.next(receipt());
    const good = await replay('holodeck-poison-2-good-resend', 'poison');
    expect([good.status, refersTo(good.body)]).toEqual([200, recorded['holodeck-poison-2-good-resend']!.messageId]);
    expect(upstream.requests.length).toBe(delivered + 2);
    expect((await replay('holodeck-poison-2-good-resend', 'poison')).body.equals(good.body)).toBe(true);
    const again = await replay('holodeck-poison-1-corrupt', 'poison');
    expect(again.body.equals(good.body) || errorCodes(again.body).length === 1).toBe(true);
    expect(upstream.requests.length).toBe(delivered + 2);
  });

  it('poison as Holodeck itself ends it: it burnt the id and says nothing; the sender is not told that all is well', async () => {
    upstream.next(answers('holodeck-poison-1-corrupt'), answers('holodeck-poison-2-good-resend'));
    await replay('holodeck-poison-1-corrupt', 'burnt');
    const good = await replay('holodeck-poison-2-good-resend', 'burnt');
    expect([good.status, good.body.toString()]).toEqual([502, expect.stringMatching(/^UPSTREAM_UNCLEAR/)]);
  });

  it('the first attempt failed at the backend: its Error goes to the sender, and the retry is a first message again', async () => {
    upstream.next(answers('phase4-i-delivery-failed-1st'));
    const failed = await replay('phase4-i-delivery-failed-1st', 'failed');
    expect(errorCodes(failed.body)).toEqual(['EBMS:0004']);
    const retry = await replay('phase4-i-delivery-failed-1st', 'failed');
    expect([retry.status, refersTo(retry.body)]).toEqual([200, recorded['phase4-i-delivery-failed-1st']!.messageId]);
    expect(upstream.requests.at(-1)!.header('as4-once-copy')).toBe('first');
  });

  it('a Receipt that is pushed by callback is no message of ours: it passes', async () => {
    const delivered = upstream.requests.length;
    upstream.next(answers('holodeck-async-callback'));
    const passed = await replay('holodeck-async-callback', 'callback', 'callback-request.http');
    expect(passed.status).toBe(202);
    expect(upstream.requests.length).toBe(delivered + 1);
    expect(upstream.requests.at(-1)!.header('as4-once-copy')).toBeUndefined();
    expect(upstream.requests.at(-1)!.body.equals(readFileSync(join(live, 'holodeck-async-callback', 'callback-receipt.xml')))).toBe(true);
  });

  it('sixty signed and encrypted Peppol messages at once, and all of them again: sixty deliveries, each its own Receipt', async () => {
    const folder = join(live, 'phase4-many');
    const messages = readdirSync(folder).filter((name) => name.endsWith('.mime')).map((name) => ({
      body: readFileSync(join(folder, name)),
      headers: { 'content-type': readFileSync(join(folder, name.replace('.mime', '.ct')), 'utf8').trim() },
    }));
    const delivered = upstream.requests.length;
    const sendAll = () => Promise.all(messages.map((built) => send(new URL(pathOf('many'), front.url), built)));
    const [first, second] = [await sendAll(), await sendAll()];
    expect(messages).toHaveLength(60);
    expect(first.map(({ status }) => status)).toEqual(messages.map(() => 200));
    expect(new Set(first.map(({ body }) => refersTo(body))).size).toBe(60);
    expect(second.every(({ body }, n) => body.equals(first[n]!.body))).toBe(true);
    expect(upstream.requests.length).toBe(delivered + 60);
  });
});

/** The body in recorded wire bytes, without transfer coding. */
function bodyIn(bytes: Buffer): Buffer {
  const head = bytes.indexOf('\r\n\r\n');
  let rest = bytes.subarray(head + 4);
  if (!/^transfer-encoding: *chunked/im.test(bytes.toString('latin1', 0, head))) return rest;
  const chunks: Buffer[] = [];
  for (;;) {
    const line = rest.indexOf('\r\n');
    const size = Number.parseInt(rest.toString('latin1', 0, line), 16);
    if (!(size > 0)) return Buffer.concat(chunks);
    chunks.push(rest.subarray(line + 2, line + 2 + size));
    rest = rest.subarray(line + 2 + size + 2);
  }
}

/** A stored message as the HTTP request it once was. */
function asRequest(name: string, { contentType, httpHeadersInFile, soapVersion }: Expected): { body: Buffer; headers: Record<string, string> } {
  const bytes = readFileSync(join(corpus, name));
  const head = /\r?\n\r?\n/.exec(bytes.toString('latin1'));
  const body = httpHeadersInFile === undefined || httpHeadersInFile === null || head === null ? bytes : bytes.subarray(head.index + head[0].length);
  const bare = soapVersion === '1.1' ? 'text/xml; charset=utf-8' : 'application/soap+xml; charset=utf-8';
  return { body, headers: { 'content-type': contentType ?? bare } };
}
