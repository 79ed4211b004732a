import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import { compose as composed, hang, receipt, reset } from '../support/scripted-answers.js';
import type { Received } from '../support/scripted-upstream.js';
import { identity } from '../support/messages.js';
import { operate, TOKEN, type Operated } from './operated.js';

const schemas = JSON.parse(readFileSync(new URL('../../schemas/admin-api.schema.json', import.meta.url), 'utf8')) as { $defs: Record<string, object> };

/** Held against the JSON Schema file that users get, not against the code that wrote the answer. */
function shaped(name: string, json: unknown): void {
  const result = z.fromJSONSchema(schemas.$defs[name] as never).safeParse(json);
  expect(result.error?.issues, `${name}: ${JSON.stringify(json).slice(0, 400)}`).toBeUndefined();
}

let system: Operated;
beforeAll(async () => {
  system = await operate();
});
afterAll(() => system.close());

/** Leaves a message held: its one attempt was cut, and nothing tells whether the access point took it. */
async function hold(messageId: string, more: object = {}): Promise<string> {
  system.upstream.next(reset('body'));
  expect((await system.message({ messageId, ...more })).status).toBe(502);
  const { json } = await system.ask(`/records?id=${encodeURIComponent(messageId)}`);
  expect(json.records[0].state).toBe('held');
  return json.records[0].key as string;
}

describe('the admin API', () => {
  it('shows health and rates to anybody, and says what else there is to see', async () => {
    await system.message({ messageId: 'rates@test' });
    await system.message({ messageId: 'rates@test' });
    const health = await system.ask('/health', { token: null });
    shaped('health', health.json);
    expect(health.json).toMatchObject({ status: 'ok', ledger: { engine: 'memory', up: true }, can: { read: false, write: false, signIn: 'token' } });
    const rates = await system.ask('/rates', { token: null });
    shaped('rates', rates.json);
    const totals = Object.fromEntries(rates.json.answers.map(({ answer, total }: { answer: string; total: number }) => [answer, total]));
    expect(totals).toMatchObject({ first: 1, replay: 1 });
    expect((await system.ask('/health')).json.can).toMatchObject({ read: true, write: true });
  });

  it('shows an operator how this node is', async () => {
    const { status, json } = await system.ask('/status');
    expect(status).toBe(200);
    shaped('status', json);
    expect(json).toMatchObject({
      node: 'node-1', role: 'front', underWay: 0, waiting: 0, journal: 0,
      routes: [{ path: '/', protocol: 'as4', partners: 1, mode: 'eliminate', window: 90 * 86_400_000 }],
    });
    expect(json.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(json.configDigest).toMatch(/^[0-9a-f]{64}$/);
    await vi.waitFor(async () => expect((await system.ask('/status')).json.ledger.records).toBeGreaterThan(0), { timeout: 20_000 });
  });

  it('counts what is in progress while it is', async () => {
    system.upstream.next(hang());
    const before = system.upstream.requests.length;
    const sent = system.message({ messageId: 'slow@test' }).catch(() => undefined);
    await system.upstream.arrived(before + 1);
    // the ledger's part of the answer may be a few seconds old
    await vi.waitFor(async () => expect((await system.ask('/status')).json).toMatchObject({ underWay: 1, ledger: { inFlight: 1 } }), { timeout: 20_000 });
    const list = await system.ask('/list?what=inFlight');
    shaped('list', list.json);
    expect(list.json.records.map(({ messageId, state }: { messageId: string; state: string }) => [messageId, state])).toEqual([['slow@test', 'claimed']]);
    await system.upstream.stop();
    await sent;
    await system.upstream.start();
  });

  it('shows configured partners by name and everybody else as one', async () => {
    await system.message({ messageId: 'stranger@test', from: 'POP999999' });
    const { json } = await system.ask('/partners');
    shaped('partners', json);
    expect(new Set(json.partners.map(({ partner }: { partner: string | null }) => partner))).toEqual(new Set(['Acme', null]));
  });

  it('finds a message by its exact id, with its timeline, and nothing by half of it', async () => {
    await system.message({ messageId: 'find me <once>@test' });
    await system.message({ messageId: 'find me <once>@test' });
    const { json } = await system.ask(`/records?id=${encodeURIComponent('find me <once>@test')}`);
    shaped('records', json);
    expect(json.records).toHaveLength(1);
    const [record] = json.records;
    expect(record).toMatchObject({ messageId: 'find me <once>@test', state: 'settled', from: ['POP000001'], rule: 'Acme', copies: 1, receipt: { status: 200 } });
    expect(record.timeline.map(({ what }: { what: string }) => what)).toEqual(['attempt', 'accepted', 'copy']);
    expect((await system.ask('/records?id=find%20me')).json.records).toEqual([]);
    expect((await system.ask(`/records?key=${encodeURIComponent(record.key)}`)).json.records).toHaveLength(1);
    expect((await system.ask(`/records?id=${encodeURIComponent(record.messageId)}&from=POP000002`)).json.records).toEqual([]);
  });

  it('gives away no fencing token: with one, anybody could settle', async () => {
    const key = await hold('token@test');
    const token = (await system.once.ledger.find(key))?.record.attempts[0]?.token as string;
    expect(token).toMatch(/\S{8}/);
    for (const path of [`/records?key=${key}`, '/list?what=held', '/status']) expect(JSON.stringify((await system.ask(path)).json)).not.toContain(token);
  });

  it('lists what is held with the commands that resolve it, ready for a shell', async () => {
    const key = await hold('held@test');
    const { json } = await system.ask('/list?what=held');
    shaped('list', json);
    const found = json.records.find((record: { key: string }) => record.key === key);
    expect(found.resolve.map(({ act }: { act: string }) => act)).toEqual(['settle', 'release', 'show']);
    expect(found.resolve[1].command).toBe(`as4-once release --key ${key} --reason TEXT --config '/etc/as4-once/it'\\''s here.yaml'`);
    expect(found.lastReason).toBe('reset');
    expect((await system.ask('/list?what=held&limit=1')).json).toMatchObject({ more: true });
  });

  it('shows a storm and what it means', async () => {
    for (let i = 0; i < 7; i += 1) await system.message({ messageId: 'storm@test' });
    const { json } = await system.ask('/storms');
    shaped('storms', json);
    expect(json.storms).toHaveLength(1);
    expect(json.storms[0]).toMatchObject({ messageId: 'storm@test', kind: 'unaccepted', copies: 6, partner: 'Acme' });
    expect(json.storms[0].diagnosis).toMatch(/^6 copies in less than a minute, each answered with the Receipt/);
    expect(system.log().filter(({ event }) => event === 'storm')).toHaveLength(1);
  });
});

describe('an act', () => {
  it('releases a held message, and stands in the record and in the log', async () => {
    const key = await hold('release@test');
    const { status, json } = await system.ask('/release', { body: { key, reason: 'not in the ERP', who: 'Anna' } });
    expect(status).toBe(200);
    shaped('acted', json);
    expect(json.record).toMatchObject({ state: 'open', means: expect.stringContaining('Released') });
    expect(json.record.timeline.find(({ what }: { what: string }) => what === 'decision').text).toBe('release by Anna (admin API, 127.0.0.1): not in the ERP');
    expect(system.log().filter(({ event }) => event === 'operator').at(-1))
      .toMatchObject({ act: 'release', who: 'Anna', reason: 'not in the ERP', done: true, key, messageId: 'release@test', peer: '127.0.0.1' });
    expect((await system.message({ messageId: 'release@test' })).status).toBe(200);
    expect(system.upstream.requests.at(-1)?.header('As4-Once-Copy')).toBe('redelivery');
  });

  it('settles a held message with the uploaded Receipt; later copies get it byte for byte', async () => {
    const choices = { messageId: 'settle@test', signer: identity() };
    const key = await hold('settle@test', choices);
    const attempted = system.upstream.requests.at(-1) as Received;
    const { body } = composed(receipt({ messageId: 'r@ap' }), attempted);
    const { status, json } = await system.ask('/settle', { body: { key, receipt: body.toString('base64'), reason: 'in its store', who: 'Ben' } });
    expect(json.error ?? status).toBe(200);
    shaped('acted', json);
    expect(json.record).toMatchObject({ state: 'settled', receipt: { receiptId: 'r@ap', bytes: body.length } });
    const before = system.upstream.requests.length;
    const copy = await system.message(choices);
    expect(copy.body.equals(body)).toBe(true);
    expect(system.upstream.requests).toHaveLength(before);
  });

  it('is refused where the Receipt is for something else, and that stands in the log too', async () => {
    const key = await hold('foreign@test');
    const foreign = composed(receipt({ refTo: 'other@test' }), system.upstream.requests.at(-1) as Received).body;
    for (const [bytes, detail] of [[foreign, /RefToMessageId/], [Buffer.from('no XML at all'), /./]] as const) {
      const { status, json } = await system.ask('/settle', { body: { key, receipt: bytes.toString('base64'), reason: 'x', who: 'Ben' } });
      expect(status).toBeGreaterThanOrEqual(400);
      shaped('error', json);
      expect(json.error.detail).toMatch(detail);
    }
    expect(system.log().filter(({ event }) => event === 'operator').at(-1)).toMatchObject({ act: 'settle', done: false, key });
    expect((await system.ask(`/records?key=${key}`)).json.records[0].state).toBe('held');
  });

  it('needs a reason, a name, and a record in a state that allows it', async () => {
    const key = await hold('needs@test');
    const refused = async (body: object, code: string, detail: RegExp): Promise<void> => {
      const { status, json } = await system.ask('/release', { body });
      shaped('error', json);
      expect([status >= 400, json.error.code], JSON.stringify(json)).toEqual([true, code]);
      expect(json.error.detail).toMatch(detail);
    };
    await refused({ key, who: 'Anna' }, 'REQUEST_INVALID', /^reason: /);
    await refused({ key, who: 'Anna', reason: '  ' }, 'REQUEST_INVALID', /^reason: /);
    await refused({ key, reason: 'x' }, 'REQUEST_INVALID', /^who: /);
    await refused({ key, reason: 'x', who: 'Anna', more: 1 }, 'REQUEST_INVALID', /more/);
    await refused({ key: 'nothing', reason: 'x', who: 'Anna' }, 'NOT_FOUND', /./);
    await system.message({ messageId: 'settled@test' });
    const settled = (await system.ask('/records?id=settled%40test')).json.records[0].key;
    await refused({ key: settled, reason: 'x', who: 'Anna' }, 'NOT_ALLOWED', /settled/);
    expect((await system.ask(`/records?key=${key}`)).json.records[0].state).toBe('held');
  });
});

describe('an act on the node', () => {
  it('switches a bypass on and off; both end in the log, and messages go through meanwhile', async () => {
    const on = await system.ask('/bypass', { body: { on: true, for: '5m', reason: 'Redis moves', who: 'Anna' } });
    expect(on.status, JSON.stringify(on.json)).toBe(200);
    shaped('done', on.json);
    await vi.waitFor(async () => expect((await system.ask('/health')).json.warnings.map(({ code }: { code: string }) => code)).toContain('BYPASS'), { timeout: 20_000 });
    expect((await system.message({ messageId: 'bypassed@test' })).status).toBe(200);
    expect(system.upstream.requests.at(-1)?.header('As4-Once-Copy')).toBe('bypass');
    const off = await system.ask('/bypass', { body: { on: false, reason: 'done', who: 'Anna' } });
    shaped('done', off.json);
    await vi.waitFor(async () => expect((await system.ask('/health')).json.status).toBe('ok'), { timeout: 20_000 });
    expect(system.log().filter(({ event }) => event === 'operator').slice(-2).map(({ act, who, done }) => [act, who, done])).toEqual([['bypass on', 'Anna', true], ['bypass off', 'Anna', true]]);
  });

  it('refuses a bypass without an end, or with one too far away', async () => {
    for (const body of [{ on: true, reason: 'x', who: 'Anna' }, { on: true, for: '2d', reason: 'x', who: 'Anna' }, { on: true, for: 'soon', reason: 'x', who: 'Anna' }]) {
      const { status, json } = await system.ask('/bypass', { body });
      expect(status).toBeGreaterThanOrEqual(400);
      shaped('error', json);
    }
    expect((await system.ask('/health')).json.status).toBe('ok');
  });

  it('accepts the ledger as it is, in the operator\'s name', async () => {
    const { status, json } = await system.ask('/ledger/accept', { body: { reason: 'restored from Monday', who: 'Ben' } });
    expect(status).toBe(200);
    shaped('done', json);
    expect((await system.once.ledger.meta()).accepted).toMatchObject({ who: 'Ben (admin API, 127.0.0.1)', reason: 'restored from Monday' });
  });
});

describe('without the right to it', () => {
  const READING = ['/status', '/partners', '/storms', '/list?what=held', '/records?id=rates%40test', '/records?key=x'];

  it.each(READING)('%s shows nothing, to nobody without a token and nobody with a wrong one', async (path) => {
    for (const token of [null, 'wrong', `${TOKEN}x`, '']) {
      const { status, json, headers } = await system.ask(path, { token });
      expect(status).toBe(401);
      shaped('error', json);
      expect(Object.keys(json)).toEqual(['error']);
      expect(headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
  });

  it.each(['/settle', '/release', '/ledger/accept', '/bypass'])('%s does nothing', async (path) => {
    const key = await hold(`rights${path}@test`);
    for (const token of [null, 'wrong']) {
      const { status } = await system.ask(path, { token, body: { key, on: true, for: '5m', reason: 'x', who: 'Mallory', receipt: 'AAAA' } });
      expect(status).toBe(401);
    }
    expect((await system.ask(`/records?key=${key}`)).json.records[0]).toMatchObject({ state: 'held', copies: 0 });
    expect(system.log().filter(({ event }) => event === 'denied').at(-1)).toMatchObject({ path: `/api${path}`, peer: '127.0.0.1' });
  });

  it('a wrong token is told even where none is needed', async () => {
    expect((await system.ask('/health', { token: 'wrong' })).status).toBe(401);
    expect((await system.ask('/rates', { token: 'wrong' })).status).toBe(401);
  });

  it('what anybody sees names no message, no partner and no party', async () => {
    await system.message({ messageId: 'secret-id@test' });
    const open = JSON.stringify([(await system.ask('/health', { token: null })).json, (await system.ask('/rates', { token: null })).json]);
    for (const word of ['secret-id', 'Acme', 'POP000001', 'node-1', TOKEN]) expect(open).not.toContain(word);
  });

  it('a page of another site cannot act, whatever the browser adds by itself', async () => {
    const key = await hold('csrf@test');
    const body = JSON.stringify({ key, reason: 'x', who: 'page' });
    for (const headers of [{ 'content-type': 'text/plain' }, { origin: 'https://evil.example' }, { 'sec-fetch-site': 'cross-site' }, { origin: 'null' }]) {
      const { status, json } = await system.ask('/release', { body, headers });
      expect([status, json.error.code]).toEqual([400, 'REQUEST_INVALID']);
    }
    expect((await system.ask(`/records?key=${key}`)).json.records[0].state).toBe('held');
  });

  it('no answer lets another origin read it, or a cache keep it', async () => {
    const { headers } = await system.ask('/status');
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  });
});

describe('bad questions', () => {
  it.each([
    '/records', '/records?id=a&key=b', '/records?id=a&id=b', '/records?id=', '/list', '/list?what=all', '/list?what=held&limit=0', '/list?what=held&limit=1e9', '/list?what=held&x=1',
  ])('%s is refused in one sentence', async (path) => {
    const { status, json } = await system.ask(path);
    expect([status, json.error.code]).toEqual([400, 'REQUEST_INVALID']);
    shaped('error', json);
  });

  it('a body that is no JSON, or too long, is refused; an unknown path too', async () => {
    expect((await system.ask('/release', { body: '{"key":' })).status).toBe(400);
    expect((await system.ask('/settle', { body: { key: 'k', receipt: 'A'.repeat(3_000_000), reason: 'x', who: 'y' } })).status).toBe(400);
    expect((await system.ask('/nothing')).status).toBe(404);
    expect((await system.ask('/release')).status).toBe(404);
  });

  it('says it is the ledger where the ledger is down', async () => {
    const down = await operate();
    await down.once.ledger.close();
    const { status, json } = await down.ask('/list?what=held');
    expect([status, json.error.code]).toEqual([503, 'LEDGER_DOWN']);
    const health = await down.ask('/health');
    shaped('health', health.json);
    expect(health.json.status).toBe('down');
    const state = await down.ask('/status');
    shaped('status', state.json);
    expect(state.json.ledger).toBeUndefined();
    await down.close();
  });
});

it('no secret in any answer or log line', async () => {
  const all = [...(await Promise.all(['/health', '/rates', '/status', '/partners', '/storms', '/list?what=held'].map((path) => system.ask(path)))).map(({ json }) => json), system.log()];
  expect(JSON.stringify(all)).not.toContain(TOKEN);
});

describe('where nobody can be an operator', () => {
  it('no token opens anything, and the dashboard can say so', async () => {
    const open = await operate({}, { admin: { token: undefined } });
    expect((await open.ask('/health', { token: null })).json.can).toEqual({ read: false, write: false, signIn: 'none' });
    for (const token of [null, '', 'undefined', 'x']) expect((await open.ask('/status', { token })).status).toBe(401);
    await open.close();
  });
});
