import { createServer, type RequestListener, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import express, { type Express } from 'express';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type * as Package from '../../src/index.js';
import type * as Embedded from '../../src/ledger/embedded/index.js';
import { built } from '../support/child.js';
import { after, receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { tempDir } from '../support/temp-dir.js';
import { freshId, gate, message, post, refersTo } from './messages.js';

/** createFront in an application of one's own: the built entry points of the package, as an import of it would find them. */
const entry = async <T>(path: string): Promise<T> => (await import(pathToFileURL(built(path)).href)) as T;

describe('createFront, mounted', () => {
  let as4once: typeof Package;
  let embedded: typeof Embedded;
  let upstream: ScriptedUpstream;
  let front: Package.Once;
  const folder = tempDir('mount');
  const open: Server[] = [];
  beforeAll(async () => {
    as4once = await entry<typeof Package>('dist/src/index.js');
    embedded = await entry<typeof Embedded>('dist/src/ledger/embedded/index.js');
    upstream = await startUpstream(receipt());
    front = as4once.createFront({
      accessPoint: 'phase4', ledger: await embedded.lmdbLedger({ path: folder.path }),
      journal: `${folder.path}/journal`, spool: `${folder.path}/spool`, state: `${folder.path}/state`, routes: [{ path: '/as4', upstream: upstream.url }],
      partners: [{ match: { from: 'POP000001' }, window: '180d' }],
    });
  });
  afterEach(() => {
    for (const server of open.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });
  afterAll(async () => {
    await front.close({ graceMs: 1_000 });
    await upstream.close();
    folder.remove();
  });

  const serve = async (app: Express | RequestListener): Promise<string> => {
    const server = createServer(app as RequestListener);
    open.push(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  it('in an Express app beside its own paths: one delivery, the same Receipt twice', async () => {
    const app = express();
    app.use(front.handler);
    app.use(express.json());
    app.post('/orders', (request, response) => void response.json({ got: request.body as unknown }));
    const url = await serve(app);
    const id = freshId();
    const earlier = upstream.requests.length;
    const first = await post(`${url}/as4`, message(id));
    const second = await post(`${url}/as4`, message(id));
    expect([first.status, refersTo(first.body), second.body.equals(first.body), second.headers['as4-once-answer']]).toEqual([200, id, true, 'replay']);
    expect(upstream.requests.length).toBe(earlier + 1);
    expect(await (await fetch(`${url}/orders`, { method: 'POST', body: '{"a":1}', headers: { 'content-type': 'application/json' } })).json()).toEqual({ got: { a: 1 } });
  });

  it('as a listener of plain node:http', async () => {
    const url = await serve(((request, response) => front.handler(request, response)) satisfies RequestListener);
    const id = freshId();
    expect(refersTo((await post(`${url}/as4`, message(id))).body)).toBe(id);
    expect((await fetch(`${url}/elsewhere`, { method: 'POST', body: 'x' })).status).toBe(404);
  });

  it.each([
    ['express.raw', express.raw({ type: () => true })],
    ['express.text', express.text({ type: () => true })],
    ['express.json and urlencoded of everything', express.json({ type: () => true })],
  ])('behind a body parser (%s): a clear error, nothing claimed, nothing forwarded', async (_name, parser) => {
    const app = express();
    app.use(parser);
    app.use(front.handler);
    // a parser that chokes on it answers by itself; ours must not be reached with half a body
    app.use(((error, _request, response, _next) => void response.status(500).send(`BODY_CONSUMED by the parser: ${String(error)}`)) as express.ErrorRequestHandler);
    const url = await serve(app);
    const before = [upstream.requests.length, (await front.ledger.stats()).records];
    const answer = await post(`${url}/as4`, message(freshId()));
    expect([answer.status, answer.body.toString()]).toEqual([500, expect.stringMatching(/^BODY_CONSUMED/)]);
    expect([upstream.requests.length, (await front.ledger.stats()).records]).toEqual(before);
  });

  it('events and health are the application\'s to look at', async () => {
    const url = await serve(((request, response) => front.handler(request, response)) satisfies RequestListener);
    const seen: string[] = [];
    const stop = front.events.on('exchange', ({ messageId = '', answer }) => void seen.push(`${answer} ${messageId}`));
    const id = freshId();
    await post(`${url}/as4`, message(id));
    await post(`${url}/as4`, message(id));
    stop();
    await post(`${url}/as4`, message(id));
    expect(seen).toEqual([`first ${id}`, `replay ${id}`]);
    expect(await front.health()).toMatchObject({ status: 'ok', ledger: { engine: 'embedded', up: true } });
  });

  it('a wrong option is refused by name', () => {
    const ledger = front.ledger;
    expect(() => as4once.createFront({ upstream: 'not a url', accessPoint: 'phase4', ledger })).toThrow(/CONFIG_INVALID[\s\S]*upstream/);
    expect(() => as4once.createFront({ upstream: upstream.url, accessPoint: 'phase5' as 'phase4', ledger })).toThrow(/accessPoint/);
  });

  it('below a path of the application; and close waits for what is in flight, and refuses what is new', async () => {
    const own = as4once.createFront({
      upstream: upstream.url, accessPoint: 'phase4', ledger: as4once.memoryLedger(),
      journal: `${folder.path}/journal2`, spool: `${folder.path}/spool2`, state: `${folder.path}/state2`,
    });
    const url = `${await serve(express().use('/in', own.handler))}/in`;
    const working = gate();
    const earlier = upstream.requests.length;
    upstream.next(after(working.opened, receipt()));
    const id = freshId();
    const inFlight = post(url, message(id));
    await upstream.arrived(earlier + 1);
    const closing = own.close();
    const late = await post(url, message(freshId()));
    expect([late.status, late.headers['retry-after']]).toEqual([503, '1']);
    working.open();
    expect(refersTo((await inFlight).body)).toBe(id);
    await closing;
  });
});
