import { writeFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startRedis, type RedisServer } from '../support/redis-server.js';
import { as4Message } from '../support/messages.js';
import { after, ebmsError, receipt } from '../support/scripted-answers.js';
import { startUpstream, type ScriptedUpstream } from '../support/scripted-upstream.js';
import { tempDir } from '../support/temp-dir.js';
import { startEngine, type Engine } from './engines.js';
import { eventually, startFront, stopFronts, writeSettings, type Front } from './front-process.js';
import { freshId, gate, message, post, refersTo, signedMessage } from './messages.js';

/** What an operator sees: the log, health, metrics; and what happens at signals. */
describe('the log, health and metrics of a front', () => {
  let engine: Engine;
  let upstream: ScriptedUpstream;
  let front: Front;
  beforeAll(async () => {
    engine = await startEngine('embedded');
    upstream = await startUpstream(receipt());
    front = await startFront({ upstream: upstream.url, node: 'node-7', ...engine.settings, partners: [{ name: 'acme', match: { from: 'ACME' } }] });
  });
  afterAll(async () => {
    await stopFronts();
    await upstream.close();
    await engine.close();
  });

  it('one line per exchange, with what an operator asks for', async () => {
    const id = freshId();
    const built = signedMessage(id, { from: 'ACME', to: 'ZENITH', c1: '9915:one', c4: '9915:four', service: 'urn:service', action: 'urn:action', conversationId: 'talk-1' });
    upstream.next(receipt({ messageId: 'the-receipt@ap.test' }));
    const answer = await post(front.url, built);
    const first = await front.logged({ event: 'exchange', messageId: id });
    expect(first).toMatchObject({
      level: 30, time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/), msg: `first "${id}"`,
      key: expect.stringMatching(/^\S+:\S+$/), protocol: 'as4', from: 'ACME', to: 'ZENITH', c1: '9915:one', c4: '9915:four',
      service: 'urn:service', action: 'urn:action', conversationId: 'talk-1', bytes: built.body.length, answer: 'first', outcome: 'accepted',
      reason: 'receipt', status: 200, attempt: 1, copies: 0, firstSeen: expect.stringMatching(/Z$/), receiptId: 'the-receipt@ap.test',
      receiptSha256: expect.stringMatching(/^[0-9a-f]{64}$/), node: 'node-7', rule: 'acme', partner: 'acme', route: '/', ms: expect.any(Number), peer: '127.0.0.1',
    });
    await post(front.url, built);
    const second = await front.logged({ event: 'exchange', messageId: id }, 2);
    expect(second).toMatchObject({
      level: 30, answer: 'replay', key: first.key, copies: 1, firstSeen: first['firstSeen'], receiptId: 'the-receipt@ap.test', receiptSha256: first['receiptSha256'],
    });
    expect(second['outcome']).toBeUndefined();
    expect(answer.body.toString()).toContain('the-receipt@ap.test');
  });

  it('a refusal carries a stable code; a duplicate is no warning, an outage of the access point is', async () => {
    await post(front.url, { body: Buffer.from('{}'), headers: { 'content-type': 'application/json' } });
    expect(await front.logged({ event: 'exchange', code: 'MEDIA_TYPE' })).toMatchObject({ level: 40, answer: 'refused', status: 415, detail: expect.stringMatching(/\w/) });
  });

  it('a message that is refused by what follows its header can be found by its id, and is no partner\'s', async () => {
    const id = freshId();
    const { body, headers } = message(id, { from: 'ACME' });
    expect((await post(front.url, { body: body.subarray(0, -20), headers })).status).toBe(400);
    const line = await front.logged({ event: 'exchange', messageId: id });
    expect(line).toMatchObject({ answer: 'refused', code: 'MIME_BROKEN', from: 'ACME' });
    expect(line).not.toHaveProperty('partner');
  });

  it('control characters of a sender are escaped, one exchange stays one line, and no payload is logged', async () => {
    const evil = `a\u009b31m\u0085\u2028\u202e\u007f&#10;{"level":60}&#9;b`;
    const messageId = freshId();
    const tamper = (xml: string): string => xml.replace(messageId, `${evil}${messageId}`).replace('9915:c1', 'c1&#10;forged line');
    const built = as4Message({ messageId, payloads: ['<Invoice>payload-canary</Invoice>'], plan: { tamper } });
    upstream.next(receipt({ refTo: `${evil}${messageId}` }));
    expect((await post(front.url, built)).status).toBe(200);
    const line = await eventually(() => front.log().find((one) => String(one['messageId']).endsWith(messageId)), () => 'the line of the evil message');
    expect(line['messageId']).toBe(`a\u009b31m\u0085\u2028\u202e\u007f\n{"level":60}\tb${messageId}`);
    expect(line['c1']).toBe('c1\nforged line');
    const printed = front.process.lines().find((one) => one.includes(messageId)) ?? '';
    expect(printed).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e]/);
    expect(front.process.stdout()).not.toContain('payload-canary');
    expect(front.process.stderr()).not.toContain('payload-canary');
  });

  it('/healthz, /readyz and /metrics stand on a listener of their own', async () => {
    const [health, ready, metrics] = await Promise.all(['/healthz', '/readyz', '/metrics'].map((path) => fetch(`${front.admin}${path}`)));
    expect([health!.status, await health!.json()]).toEqual([200, expect.objectContaining({ status: 'ok', shuttingDown: false, ledger: expect.objectContaining({ engine: 'embedded', up: true }) })]);
    expect([ready!.status, await ready!.json()]).toEqual([200, { ready: true }]);
    expect(metrics!.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    const text = await metrics!.text();
    expect(text).toMatch(/as4_once_exchanges_total\{answer="first",route="\/",partner="acme"\} \d/);
    expect(text).toMatch(/as4_once_exchange_seconds_bucket\{le="0\.005",answer="replay"\} \d/);
    expect(text).toMatch(/as4_once_codes_total\{code="MEDIA_TYPE"\} \d/);
    expect(text).toMatch(/^as4_once_ledger_up 1$/m);
  });

  it('who is no configured partner makes no label', async () => {
    for (const from of ['STRANGER-1', 'STRANGER-2']) await post(front.url, message(freshId(), { from }));
    const text = await (await fetch(`${front.admin}/metrics`)).text();
    expect(text).not.toContain('STRANGER');
  });
});

describe('signals', () => {
  let engine: Engine;
  let upstream: ScriptedUpstream;
  afterEach(async () => {
    await stopFronts();
    await upstream.close();
    await engine.close();
  });

  it('SIGTERM: nothing new is taken, what is in flight is finished and answered, then the process ends with 0', async () => {
    engine = await startEngine('embedded');
    upstream = await startUpstream(receipt());
    const front = await startFront({ upstream: upstream.url, ...engine.settings });
    const working = gate();
    upstream.next(after(working.opened, receipt()));
    const id = freshId();
    const inFlight = post(front.url, message(id));
    await upstream.arrived(1);
    const waiting = post(front.url, message(id));
    await front.metricIs('as4_once_waiting', 1);
    front.process.signal('SIGTERM');
    await eventually(async () => ((await fetch(`${front.admin}/readyz`)).status === 503 ? true : undefined), () => '/readyz to say no');
    await expect(post(front.url, message(freshId()))).rejects.toThrow();
    working.open();
    expect(refersTo((await inFlight).body)).toBe(id);
    expect((await waiting).body.equals((await inFlight).body)).toBe(true);
    expect(await front.process.ended).toEqual({ code: 0, signal: null });
    expect(upstream.requests).toHaveLength(1);
    expect(front.process.lines().filter((line) => line.includes(id))).toHaveLength(2);
    const again = await startFront({ upstream: upstream.url, ...engine.settings });
    expect((await post(again.url, message(id))).body.equals((await inFlight).body)).toBe(true);
  });

  it('SIGHUP: the new file is in force at once, what is in progress keeps its rules, and a bad file changes nothing but the log', async () => {
    engine = await startEngine('embedded');
    upstream = await startUpstream(receipt());
    const settings = { upstream: upstream.url, ...engine.settings, defaults: { mismatch: 'refuse' } };
    const front = await startFront(settings);
    const working = gate();
    upstream.next(after(working.opened, receipt()));
    const inFlight = post(front.url, message(freshId()));
    await upstream.arrived(1);

    writeSettings(front.configFile, { ...settings, defaults: { mismatch: 'replay' } });
    front.process.signal('SIGHUP');
    await front.logged({ event: 'reload', level: 30 });
    const id = freshId();
    const first = await post(front.url, signedMessage(id));
    const altered = await post(front.url, signedMessage(id, { payloads: ['<Invoice>altered</Invoice>'] }));
    expect(altered.body.equals(first.body)).toBe(true);

    writeFileSync(front.configFile, readFileSync(front.configFile, 'utf8').replace('mismatch: replay', 'mismatch: perhaps'));
    front.process.signal('SIGHUP');
    const refused = await front.logged({ event: 'reload', level: 50 });
    expect(refused['error']).toMatch(/front\.yaml.*\d+.*mismatch|mismatch/s);
    expect((await post(front.url, signedMessage(id, { payloads: ['<Invoice>altered</Invoice>'] }))).body.equals(first.body)).toBe(true);
    working.open();
    expect((await inFlight).status).toBe(200);
  });
});

describe('secrets', () => {
  it('are in no output, whatever goes wrong', async () => {
    const canary = 'canary-7f3a9c';
    const redis: RedisServer = await startRedis({ requirepass: canary });
    const upstream = await startUpstream(ebmsError());
    const folder = tempDir('secrets');
    const url = `redis://:${canary}@127.0.0.1:${redis.port}`;
    const front = await startFront({
      upstream: upstream.url, ledger: { redis: { url } }, journal: join(folder.path, 'journal'), spool: join(folder.path, 'spool'), state: join(folder.path, 'state'),
      admin: { listen: '127.0.0.1:0', token: '${TOKEN}' }, times: { ledgerOutage: '200ms', settle: '200ms' }, log: { level: 'debug' },
    }, { TOKEN: `${canary}-token` });
    await post(front.url, message(freshId()));
    await redis.stop();
    expect((await post(front.url, message(freshId()))).body.toString()).toMatch(/^LEDGER_DOWN/);
    const pages = await Promise.all(['/healthz', '/healthz/ledger', '/metrics', '/api/status'].map(async (path) => await (await fetch(`${front.admin}${path}`)).text()));
    writeFileSync(front.configFile, `${readFileSync(front.configFile, 'utf8')}\nnonsense: ${canary}\n`);
    front.process.signal('SIGHUP');
    await front.logged({ event: 'reload', level: 50 });
    await front.process.stop();
    const said = [front.process.stdout(), front.process.stderr(), ...pages].join('\n');
    expect(said).not.toContain(canary);
    await upstream.close();
    await redis.close();
    folder.remove();
  });
});
