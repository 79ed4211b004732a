import { createHash, randomBytes } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.js';
import { createSpool } from '../../src/delivery/spool.js';
import type { Upstream } from '../../src/delivery/port.js';
import { after, early, hang, plain, raw, receipt, serialize } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { simulatedClock } from '../support/simulated-clock.js';
import { tempDir } from '../support/temp-dir.js';
import { attempted, bodyOf, headerOf, stored, streamed, upstreamTo, type UpstreamChoices } from './attempt.js';

let server: ScriptedUpstream;
let upstream: Upstream;
const to = (choices: UpstreamChoices = {}): Upstream => (upstream = upstreamTo(server.url, choices));
beforeEach(async () => {
  server = await startUpstream(receipt());
});
afterEach(async () => {
  await upstream.close();
  await server.close();
});

describe('the request', () => {
  it.each<[string, (bytes: Uint8Array) => ReturnType<typeof stored>]>([['memory', stored], ['a file', streamed]])('arrives byte for byte with Content-Length, from %s', async (_name, keep) => {
    const bytes = randomBytes(150_000);
    await to().attempt(attempted({ body: keep(bytes) }));
    const arrived = await server.arrived(1);
    expect(arrived.body.equals(bytes)).toBe(true);
    expect(arrived.header('content-length')).toBe('150000');
    expect(arrived.header('transfer-encoding')).toBeUndefined();
    expect(arrived).toMatchObject({ method: 'POST', target: '/as4', complete: true });
  });

  it('carries the sender\'s fields, our marks, and nothing of the hops', async () => {
    const headers = [
      ['Host', 'front.example'], ['content-TYPE', 'multipart/related; boundary="x y"'], ['Expect', '100-continue'], ['Transfer-Encoding', 'chunked'], ['Connection', 'close, X-Hop'],
      ['X-Hop', '1'], ['Accept-Encoding', 'gzip, br'], ['As4-Once-Copy', 'first'], ['As4-Once-First', 'spoofed'], ['X-Forwarded-For', '10.0.0.1'], ['Message-Id', '<1@x>'],
    ] as const;
    await to().attempt(attempted({ headers, mark: 'late', firstId: 'é@x', target: '/sub?q=1' }));
    const arrived = await server.arrived(1);
    const got = Object.fromEntries(arrived.headers.map(([name, value]) => [name.toLowerCase(), value]));
    expect(got).toEqual({
      host: `127.0.0.1:${server.port}`, connection: 'keep-alive', 'content-type': 'multipart/related; boundary="x y"', 'message-id': '<1@x>', 'accept-encoding': 'identity',
      'x-forwarded-for': '10.0.0.1, 192.0.2.7', 'content-length': '4', 'as4-once-copy': 'late', 'as4-once-first': '%C3%A9%40x',
    });
    expect(arrived.headers.map(([name]) => name)).toContain('content-TYPE');
    expect(arrived.target).toBe('/as4/sub?q=1');
  });

  it('keeps the sender\'s Host with preserveHost, and is unmarked where nothing is to be marked', async () => {
    await to({ preserveHost: true }).attempt(attempted({ mark: undefined }));
    const arrived = await server.arrived(1);
    expect(arrived.header('host')).toBe('front.example');
    expect(arrived.header('as4-once-copy')).toBeUndefined();
  });

  it('of 100 MB from the spool arrives identical', async () => {
    const folder = tempDir('spool');
    const spool = createSpool({ limits: { memoryPerBody: 262_144, spoolMemory: 67_108_864, spoolDisk: 8_589_934_592 }, directory: folder.path, clock: systemClock });
    const sink = spool.open();
    const went = createHash('sha256');
    const block = randomBytes(65_536);
    for (let i = 0; i < 1_600; i += 1) {
      const chunk = Buffer.from(block);
      chunk.writeUInt32BE(i);
      went.update(chunk);
      await sink.write(chunk);
    }
    const body = await sink.finish();
    expect(await to().attempt(attempted({ body }))).toMatchObject({ outcome: 'uncertain', reason: 'otherMessage' });
    const arrived = await server.arrived(1);
    expect(arrived.body.byteLength).toBe(104_857_600);
    expect(createHash('sha256').update(arrived.body).digest('hex')).toBe(went.digest('hex'));
    await body.dispose();
    expect(spool.counters.diskBytes).toBe(0);
    folder.remove();
  });

  it('without a body goes with Content-Length: 0', async () => {
    await to().attempt(attempted({ body: stored(new Uint8Array()) }));
    expect((await server.arrived(1)).header('content-length')).toBe('0');
  });
});

describe('connections', () => {
  it('are used again (undici waits a turn before it does, so two may take turns)', async () => {
    to();
    for (let i = 0; i < 10; i += 1) await upstream.attempt(attempted());
    expect(server.connections).toBeLessThanOrEqual(2);
    expect(server.requests).toHaveLength(10);
  });

  it('carry one request at a time: what is slow holds up nothing else', async () => {
    to();
    let open: () => void = () => undefined;
    server.next(after(new Promise<void>((resolve) => (open = resolve)), receipt()));
    const slow = upstream.attempt(attempted());
    const { connection } = await server.arrived(1);
    for (let i = 0; i < 5; i += 1) await upstream.attempt(attempted());
    expect(server.requests.filter((request) => request.connection === connection)).toHaveLength(1);
    open();
    await slow;
  });

  it('that the access point closed while they were idle cost no attempt', async () => {
    to();
    server.next(plain(404, 'text/plain', 'x'));
    await upstream.attempt(attempted());
    await server.stop();
    await server.start();
    expect(await upstream.attempt(attempted())).toMatchObject({ reason: 'otherMessage' });
  });

  it('beyond their number wait, unsent, and are served in the end', async () => {
    to({ connections: 2 });
    let open: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    server.always(after(gate, receipt()));
    const attempts = Array.from({ length: 9 }, () => upstream.attempt(attempted()));
    await server.arrived(2);
    expect(server.requests).toHaveLength(2);
    open();
    expect((await Promise.all(attempts)).map(({ reason }) => reason)).toEqual(Array.from({ length: 9 }, () => 'otherMessage'));
    expect(server.connections).toBe(2);
  });

  it('that wait for a free one when patience ends were never sent: rejected', async () => {
    to({ connections: 1 });
    server.always(hang());
    const first = new AbortController();
    const second = new AbortController();
    const busy = upstream.attempt(attempted({ signal: first.signal }));
    await server.arrived(1);
    const waiting = upstream.attempt(attempted({ signal: second.signal }));
    second.abort();
    expect(await waiting).toMatchObject({ outcome: 'rejected', reason: 'refused', counts: false, code: 'UPSTREAM_DOWN' });
    server.always(receipt());
    first.abort();
    expect(await busy).toMatchObject({ outcome: 'uncertain', reason: 'silent' });
    expect(await upstream.attempt(attempted())).toMatchObject({ reason: 'otherMessage' });
    expect(server.requests).toHaveLength(2);
  });

  it('end with close: what was in flight is uncertain, what comes later is refused', async () => {
    to();
    server.always(hang());
    const busy = upstream.attempt(attempted());
    await server.arrived(1);
    await upstream.close();
    // it was we who left: nothing says that the access point broke
    expect(await busy).toMatchObject({ outcome: 'uncertain', reason: 'silent' });
    expect(await upstream.attempt(attempted())).toMatchObject({ outcome: 'rejected', reason: 'refused' });
  });
});

describe('a refused connection', () => {
  it('is tried again from the stored body until the access point is up', async () => {
    const clock = simulatedClock();
    to({ clock });
    await server.stop();
    const bytes = randomBytes(100_000);
    const attempt = upstream.attempt(attempted({ body: streamed(bytes) }));
    for (let i = 0; i < 5; i += 1) {
      await clock.whenSleeping();
      await clock.advance(1_000);
    }
    await clock.whenSleeping();
    await server.start();
    await clock.advance(1_000);
    expect(await attempt).toMatchObject({ reason: 'otherMessage' });
    expect(server.requests).toHaveLength(1);
    expect(server.requests[0]?.body.equals(bytes)).toBe(true);
  });

  it('until upstreamOutage is over: rejected, 503 with a text body, and nothing was sent', async () => {
    const clock = simulatedClock();
    to({ clock });
    await server.stop();
    const attempt = upstream.attempt(attempted());
    let waited = 0;
    for (;;) {
      const over = await Promise.race([clock.whenSleeping().then(() => false), attempt.then(() => true)]);
      if (over) break;
      await clock.advance(500);
      waited += 500;
    }
    const result = await attempt;
    expect(result).toMatchObject({ outcome: 'rejected', reason: 'refused', code: 'UPSTREAM_DOWN', counts: false, reply: { status: 503 } });
    expect(result.detail).toContain('ECONNREFUSED');
    expect((await bodyOf(result)).toString()).toMatch(/^UPSTREAM_DOWN/);
    expect(headerOf(result, 'content-type')).toMatch(/^text\/plain/);
    expect(headerOf(result, 'retry-after')).toMatch(/^[1-9]\d*$/);
    expect(waited).toBeGreaterThan(18_000);
    expect(waited).toBeLessThan(25_000);
  });

  it('is given up when patience is over first', async () => {
    const clock = simulatedClock();
    to({ clock });
    await server.stop();
    const patience = new AbortController();
    const attempt = upstream.attempt(attempted({ signal: patience.signal }));
    await clock.whenSleeping();
    patience.abort();
    expect(await attempt).toMatchObject({ outcome: 'rejected', reason: 'refused' });
  });

  it('of many at once strands none of those that wait for a connection', async () => {
    to({ connections: 3, times: { upstreamOutage: 500 } });
    await server.stop();
    const results = await Promise.all(Array.from({ length: 100 }, () => upstream.attempt(attempted())));
    expect(new Set(results.map(({ reason }) => reason))).toEqual(new Set(['refused']));
    await server.start();
    expect(await upstream.attempt(attempted())).toMatchObject({ reason: 'otherMessage' });
  });

  it('also when the name is unknown', async () => {
    upstream = upstreamTo('http://no-such-host.invalid/as4', { times: { upstreamOutage: 50 } });
    expect(await upstream.attempt(attempted())).toMatchObject({ outcome: 'rejected', reason: 'refused' });
  });

  it('also when TLS fails, here because the other side speaks none', async () => {
    upstream = upstreamTo(`https://127.0.0.1:${server.port}/as4`, { times: { upstreamOutage: 50 } });
    expect(await upstream.attempt(attempted())).toMatchObject({ outcome: 'rejected', reason: 'refused' });
  });
});

describe('a reply', () => {
  it('over maxReply is passed on whole, streamed, and uncertain', async () => {
    const huge = randomBytes(3_000_000);
    server.next(plain(200, 'application/octet-stream', huge));
    const result = await to({ limits: { maxReply: 100_000 } }).attempt(attempted());
    expect(result).toMatchObject({ outcome: 'uncertain', reason: 'replyTooLarge', alert: 'replyTooLarge', reply: { status: 200 } });
    expect(result.reply.body).not.toBeInstanceOf(Uint8Array);
    expect((await bodyOf(result)).equals(huge)).toBe(true);
    expect(await upstream.attempt(attempted())).toMatchObject({ reason: 'otherMessage' });
  });

  it('of exactly maxReply is kept', async () => {
    server.next(plain(200, 'text/plain', Buffer.alloc(1_000, 'x')));
    expect(await to({ limits: { maxReply: 1_000 } }).attempt(attempted())).toMatchObject({ reason: 'noSignal' });
  });

  it('over maxReply that nobody reads gives its connection back when patience ends', async () => {
    const clock = simulatedClock();
    server.always(plain(200, 'text/plain', Buffer.alloc(3_000_000)));
    to({ limits: { maxReply: 1_000 }, connections: 1, clock });
    await upstream.attempt(attempted());
    const next = upstream.attempt(attempted());
    await clock.whenSleeping();
    await clock.advance(600_000);
    expect(await next).toMatchObject({ reason: 'replyTooLarge' });
  });

  it('that inflates beyond maxReply is not inflated: uncertain, passed on as it came', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000));
    server.next(plain(200, 'text/xml', bomb, { 'Content-Encoding': 'gzip' }));
    const result = await to().attempt(attempted());
    expect(result).toMatchObject({ outcome: 'uncertain', reason: 'replyTooLarge' });
    expect((await bodyOf(result)).equals(bomb)).toBe(true);
    expect(headerOf(result, 'content-encoding')).toBe('gzip');
  });

  // The timer that ends an unread reply was also set for one that was read whole, and kept the process up for ten minutes.
  it('that inflates beyond maxReply leaves no timer behind', async () => {
    const clock = simulatedClock();
    server.next(plain(200, 'text/xml', gzipSync(Buffer.alloc(50_000_000)), { 'Content-Encoding': 'gzip' }));
    expect(await to({ clock }).attempt(attempted())).toMatchObject({ reason: 'replyTooLarge' });
    expect(clock.sleeping).toBe(0);
  });

  it('over maxReply that is read to its end leaves no timer behind', async () => {
    const clock = simulatedClock();
    server.next(plain(200, 'text/plain', Buffer.alloc(3_000_000)));
    const result = await to({ clock, limits: { maxReply: 1_000 } }).attempt(attempted());
    expect(clock.sleeping).toBe(1);
    await bodyOf(result);
    await new Promise((resolve) => void setImmediate(resolve));
    expect(clock.sleeping).toBe(0);
  });

  it.each([['zstd', 'xx'], ['gzip', 'no gzip at all'], ['gzip, gzip', 'xx'], ['__proto__', 'x']])('coded %s that cannot be taken off is passed on as it came', async (coding, body) => {
    server.next(plain(200, 'text/xml', body, { 'Content-Encoding': coding }));
    const result = await to().attempt(attempted());
    expect(result).toMatchObject({ outcome: 'uncertain', reason: 'noSignal', reply: { status: 200 } });
    expect(headerOf(result, 'content-encoding')).toBe(coding);
    expect((await bodyOf(result)).toString()).toBe(body);
  });

  it('that comes before the request was read is heard', async () => {
    server.next(early(plain(413, 'text/plain', 'too much'), 'headers'));
    const result = await to().attempt(attempted({ body: streamed(Buffer.alloc(5_000_000)) }));
    expect(result).toMatchObject({ outcome: 'rejected', reason: 'clientError', reply: { status: 413 } });
  });

  it('header that is endless is not read for ever', async () => {
    server.next(raw(`HTTP/1.1 200 OK\r\n${'X-A: b\r\n'.repeat(10_000)}`));
    expect(await to().attempt(attempted())).toMatchObject({ outcome: 'uncertain', reason: 'reset' });
  });
});

describe('a smuggling-shaped reply', () => {
  const smuggled = serialize({ status: 200, headers: { 'Content-Type': 'text/plain' }, body: Buffer.from('SMUGGLED') }).toString('latin1');
  it.each([
    ['two different lengths', `HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 80\r\n\r\nok${smuggled}`],
    ['length and chunked', `HTTP/1.1 200 OK\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ['chunked that is not last', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`],
    ['a broken chunk size', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n${smuggled}`],
    ['a negative length', `HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n${smuggled}`],
    ['a bare LF in the head', `HTTP/1.1 200 OK\nContent-Length: 0\n\n${smuggled}`],
    ['a second reply behind the first', `HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok${smuggled}`],
    ['a reply behind a 204', `HTTP/1.1 204 No\r\n\r\n${smuggled}`],
    ['no HTTP at all', 'SSH-2.0-OpenSSH_9.6\r\n'],
    ['a switch of protocols', `HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n${smuggled}`],
    ['nothing but interim replies', 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n'],
    ['an interim reply without end', `HTTP/1.1 100 Continue\r\n${'X-A: b\r\n'.repeat(10_000)}`],
    ['an interim reply that ends in bare LF', `HTTP/1.1 100 Continue\n\n${smuggled}`],
  ])('(%s) is no acceptance, and the next request gets its own answer', async (_name, bytes) => {
    to({ connections: 1 });
    // the one that is read until the connection ends must end
    server.next(raw(bytes, bytes.includes('identity') ? 'end' : 'open'));
    const first = await upstream.attempt(attempted({ signal: AbortSignal.timeout(5_000) }));
    expect(first.outcome).not.toBe('accepted');
    server.next(plain(404, 'text/plain', 'own answer'));
    const second = await upstream.attempt(attempted());
    expect((await bodyOf(second)).toString()).toBe('own answer');
  });
});

// Some servers say 100 Continue unasked, and undici takes it for a broken reply: such an access point was uncertain for ever.
it('interim replies that nobody asked for are borne, also on a connection that is used again', async () => {
  to({ connections: 1 });
  for (const body of ['one', 'HTTP/1.1 100 Continue\r\n\r\n', 'three']) {
    const reply = serialize({ status: 404, headers: { 'Content-Type': 'text/plain' }, body: Buffer.from(body) }).toString('latin1');
    server.next(raw(`HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\nX: y\r\n\r\n${reply}`));
    const result = await upstream.attempt(attempted());
    expect(result).toMatchObject({ reply: { status: 404 } });
    expect((await bodyOf(result)).toString()).toBe(body);
  }
  expect(server.connections).toBeLessThanOrEqual(2);
});

// undici puts a request back in its queue when its connection ends in certain ways of its own (found by reading it).
// Whatever the access point does to the connection, one attempt must arrive once.
it('whatever happens to the connection, one attempt is sent once', async () => {
  let seen = 0;
  const odd: Server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      seen += 1;
      socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\nKeep-Alive: timeout=0\r\nContent-Length: 10\r\n\r\nhalf');
    });
  });
  await new Promise<void>((resolve) => odd.listen(0, '127.0.0.1', resolve));
  upstream = upstreamTo(`http://127.0.0.1:${(odd.address() as AddressInfo).port}/as4`);
  expect(await upstream.attempt(attempted())).toMatchObject({ outcome: 'uncertain', reason: 'reset' });
  expect(seen).toBe(1);
  await new Promise((resolve) => odd.close(resolve));
});
