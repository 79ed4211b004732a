import express, { type Request } from 'express';
import supertest from 'supertest';
import { describe, expect, it } from 'vitest';
import { onceMiddleware } from '../../src/http/once-middleware.js';
import { memoryLedger } from '../../src/ledger/memory.js';
import type { Ledger } from '../../src/ledger/port.js';

/** A JSON API whose route answers as the body says. */
function api(ledger: Ledger = memoryLedger()): { runs: () => number; post: (id: string | undefined, body?: object) => supertest.Test; finish: () => void } {
  let runs = 0;
  let finish: () => void = () => undefined;
  const app = express();
  const once = onceMiddleware<Request>(ledger, {
    message: (request) => {
      const reference = request.get('Idempotency-Key');
      return reference === undefined ? undefined : { reference, content: JSON.stringify(request.body) };
    },
  });
  app.post('/orders', express.json({ limit: '3mb' }), once, async (request, response) => {
    runs += 1;
    const { status = 201, wait = false, large = 0 } = request.body as { status?: number; wait?: boolean; large?: number };
    if (wait) await new Promise<void>((resolve) => { finish = resolve; });
    if (large > 0) response.status(status).write('x'.repeat(large));
    if (large > 0) response.end('end');
    else response.status(status).set('Location', `/orders/${runs}`).json({ runs });
  });
  const post = (id: string | undefined, body: object = {}): supertest.Test => {
    const test = supertest(app).post('/orders').send(body);
    return id === undefined ? test : test.set('Idempotency-Key', id);
  };
  return { runs: () => runs, post, finish: () => finish() };
}

describe('once as a middleware of Express', () => {
  it('runs a route once and gives its answer to every copy', async () => {
    const { post, runs } = api();
    const first = await post('1');
    expect([first.status, first.body, first.headers['location'], first.headers['as4-once-answer']]).toEqual([201, { runs: 1 }, '/orders/1', undefined]);
    const copy = await post('1');
    expect([copy.status, copy.text, copy.type, copy.headers['as4-once-answer']]).toEqual([201, first.text, first.type, 'replay']);
    expect((await post('2')).body).toEqual({ runs: 2 });
    expect((await post('1', { other: true })).status).toBe(422);
    expect(runs()).toBe(2);
  });

  it('lets a request without a reference through', async () => {
    const { post } = api();
    expect([(await post(undefined)).body, (await post(undefined)).body]).toEqual([{ runs: 1 }, { runs: 2 }]);
  });

  it('tries again what was refused, and holds what nobody knows', async () => {
    const { post, runs } = api();
    expect((await post('1', { status: 400 })).status).toBe(400);
    expect((await post('1')).status).toBe(201);
    expect((await post('2', { status: 500 })).status).toBe(500);
    const held = await post('2', { status: 500 });
    expect([held.status, held.body]).toEqual([503, { status: 503, code: 'HELD' }]);
    expect(runs()).toBe(3);
  });

  it('answers 409 while the first copy is in progress', async () => {
    const { post, finish, runs } = api();
    const first = post('1', { wait: true }).then((response) => response);
    while (runs() === 0) await new Promise((resolve) => { setImmediate(resolve); });
    expect((await post('1', { wait: true })).status).toBe(409);
    finish();
    expect((await first).status).toBe(201);
    expect((await post('1', { wait: true })).headers['as4-once-answer']).toBe('replay');
  });

  it('sends an answer that is too large to be kept, and does not pretend to have it', async () => {
    const { post } = api();
    const large = 2 * 1024 * 1024;
    const first = await post('1', { large }).buffer(true);
    expect([first.status, first.text === undefined ? (first.body as Buffer).length : first.text.length]).toEqual([201, large + 3]);
    expect((await post('1', { large })).status).toBe(503);
  });

  it('runs nothing without its ledger', async () => {
    const ledger = memoryLedger();
    await ledger.close();
    const { post, runs } = api(ledger);
    expect([(await post('1')).status, runs()]).toEqual([503, 0]);
  });
});
