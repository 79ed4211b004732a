import { describe, expect, it } from 'vitest';
import { As4OnceError } from '../../src/errors.js';
import { TIMES } from '../../src/limits.js';
import { memoryLedger } from '../../src/ledger/memory.js';
import type { Ledger } from '../../src/ledger/port.js';
import { RULE, World, accepted, failed } from './world.js';

/** One test per arrow of the drawing in ARCHITECTURE.md. */
describe('the walk', () => {
  it('claimed: delivers the first copy, marked first, and answers with the upstream\'s own bytes', async () => {
    const world = new World();
    const reply = await world.send('m1');
    expect(reply.text).toBe('Receipt 1 for m1');
    expect(world.delivered).toEqual([{ id: 'm1', mark: 'first', body: 'm1|A|invoice' }]);
    expect(world.lastExchange()).toMatchObject({ answer: 'first', status: 200, messageId: 'm1', from: 'A', outcome: 'accepted', receiptId: 'r1' });
  });

  it('settled: replays the stored reply, byte for byte, and delivers nothing', async () => {
    const world = new World();
    await world.send('m1');
    const copy = await world.send('m1');
    expect(copy).toMatchObject({ status: 200, text: 'Receipt 1 for m1' });
    expect(copy.headers).toContainEqual(['As4-Once-Answer', 'replay']);
    expect(copy.headers).toContainEqual(['Cache-Control', 'no-transform']);
    expect(world.delivered).toHaveLength(1);
    expect(world.lastExchange()).toMatchObject({ answer: 'replay', copies: 1 });
  });

  it('in flight: a copy waits and gets the very same bytes', async () => {
    const world = new World();
    const gate = gated();
    world.upstream = async (attempted, nth) => {
      await gate.promise;
      return accepted(attempted.message.reference, nth);
    };
    const first = world.send('m1');
    await until(() => world.delivered.length === 1);
    const second = world.send('m1');
    await until(() => world.walk.waiting.count === 1);
    gate.resolve();
    expect((await second).text).toBe((await first).text);
    expect(world.delivered).toHaveLength(1);
    expect(world.seen.map(({ event }) => (event as { answer?: string }).answer)).toContain('waited');
  });

  it('in flight too long: 503 with Retry-After and a body that is no ebMS Error', async () => {
    const world = new World();
    world.upstream = () => new Promise(() => undefined);
    void world.send('m1');
    await until(() => world.delivered.length === 1);
    const second = world.send('m1');
    await until(() => world.walk.waiting.count === 1);
    await world.clock.advance(RULE.wait + 1);
    const reply = await second;
    expect(reply.status).toBe(503);
    expect(reply.headers.map(([name]) => name)).toContain('Retry-After');
    expect(reply.text).toMatch(/^IN_PROGRESS/);
  });

  it('released after a certain rejection: exactly one of those who wait claims, the others go on waiting', async () => {
    const world = new World();
    const gate = gated();
    world.upstream = async (attempted, nth) => {
      if (nth === 1) {
        await gate.promise;
        return failed('rejected');
      }
      return accepted(attempted.message.reference, nth);
    };
    const copies = [world.send('m1')];
    await until(() => world.delivered.length === 1);
    copies.push(...Array.from({ length: 5 }, () => world.send('m1')));
    await until(() => world.walk.waiting.count === 5);
    gate.resolve();
    const [first, ...others] = await Promise.all(copies);
    expect(first?.text).toBe('upstream rejected');
    expect(new Set(others.map((reply) => reply.text))).toEqual(new Set(['Receipt 2 for m1']));
    expect(world.delivered).toHaveLength(2);
  });

  it('mismatch: other content under an accepted id is refused and told from a retry', async () => {
    const world = new World();
    await world.send('m1');
    const reply = await world.send('m1', 'other');
    expect(reply.text).toMatch(/^MISMATCH: first seen /);
    expect(world.names()).toContain('mismatch');
    expect(world.delivered).toHaveLength(1);
  });

  it('mismatch: replay answers with the original\'s Receipt', async () => {
    const world = new World();
    world.rule = { ...RULE, mismatch: 'replay' };
    await world.send('m1');
    expect((await world.send('m1', 'other')).text).toBe('Receipt 1 for m1');
  });

  it('mismatch: deliver-flagged delivers other content once, under its own key', async () => {
    const world = new World();
    world.rule = { ...RULE, mismatch: 'deliver-flagged' };
    await world.send('m1');
    expect((await world.send('m1', 'other')).text).toBe('Receipt 2 for m1');
    expect((await world.send('m1', 'other')).text).toBe('Receipt 2 for m1');
    expect((await world.send('m1')).text).toBe('Receipt 1 for m1');
    expect(world.delivered).toHaveLength(2);
  });

  it('under key reference another sender never gets a foreign Receipt: refused, or delivered once under its own key', async () => {
    const world = new World();
    world.rule = { ...RULE, key: 'reference' };
    await world.send('m1', 'invoice', 'A');
    expect((await world.send('m1', 'invoice', 'Z')).text).toMatch(/^OTHER_SENDER/);
    world.rule = { ...RULE, key: 'reference', otherSender: 'deliver' };
    expect((await world.send('m1', 'invoice', 'Z')).text).toBe('Receipt 2 for m1');
    expect((await world.send('m1', 'invoice', 'Z')).text).toBe('Receipt 2 for m1');
    expect(world.delivered).toHaveLength(2);
  });

  it('other content while the first is in work waits; it is judged only against what was accepted', async () => {
    const world = new World();
    const gate = gated();
    world.upstream = async (attempted, nth) => {
      if (nth === 1) {
        await gate.promise;
        return failed('rejected');
      }
      return accepted(attempted.message.reference, nth);
    };
    const forged = world.send('m1', 'forged');
    await until(() => world.delivered.length === 1);
    const genuine = world.send('m1', 'invoice');
    await until(() => world.walk.waiting.count === 1);
    gate.resolve();
    expect((await forged).text).toBe('upstream rejected');
    expect((await genuine).text).toBe('Receipt 2 for m1');
  });

  it('held: 503 until an operator decides, and nothing is delivered again', async () => {
    const world = new World();
    world.upstream = async () => failed('uncertain', true);
    expect((await world.send('m1')).status).toBe(502);
    const copy = await world.send('m1');
    expect(copy.status).toBe(503);
    expect(copy.text).toMatch(/^HELD/);
    expect(world.delivered).toHaveLength(1);
    expect(world.names()).toEqual(['uncertain', 'held']);
  });

  it('uncertain: redeliver marks the second delivery', async () => {
    const world = new World();
    world.rule = { ...RULE, uncertain: 'redeliver' };
    world.upstream = async (attempted, nth) => (nth === 1 ? failed('uncertain') : accepted(attempted.message.reference, nth));
    await world.send('m1');
    expect((await world.send('m1')).text).toBe('Receipt 2 for m1');
    expect(world.delivered.map(({ mark }) => mark)).toEqual(['first', 'redelivery']);
    expect(world.delivered[1]?.firstId).toBe('m1');
  });

  it('late: a copy after its window is delivered anew, labelled', async () => {
    const world = new World();
    world.rule = { ...RULE, window: 1_000_000, late: 1_000_000 };
    await world.send('m1');
    await world.clock.advance(1_500_000);
    expect((await world.send('m1')).text).toBe('Receipt 2 for m1');
    expect(world.delivered.map(({ mark }) => mark)).toEqual(['first', 'late']);
    expect(world.names()).toContain('late');
  });

  it('an answer after answerBy still settles: the sender gets 504, the next copy the Receipt', async () => {
    const world = new World();
    const gate = gated();
    world.upstream = async (attempted, nth) => {
      await gate.promise;
      return accepted(attempted.message.reference, nth);
    };
    const first = world.send('m1');
    await until(() => world.delivered.length === 1);
    await world.clock.advance(TIMES.answerBy + 1);
    expect((await first).status).toBe(504);
    gate.resolve();
    await until(() => world.names().includes('lateOutcome'));
    expect((await world.send('m1')).text).toBe('Receipt 1 for m1');
    expect(world.delivered).toHaveLength(1);
  });

  it('the ledger down: held for ledgerOutage, then 503, and nothing is delivered', async () => {
    const world = new World();
    world.ledger = dead(world);
    const reply = world.send('m1');
    await world.clock.advance(TIMES.ledgerOutage + 1_000);
    expect(await reply).toMatchObject({ status: 503 });
    expect(world.delivered).toHaveLength(0);
    expect(world.lastExchange()).toMatchObject({ answer: 'unavailable', code: 'LEDGER_DOWN' });
  });

  it('the ledger lost after the delivery: the Receipt goes to the journal and to the sender all the same', async () => {
    const world = new World();
    world.upstream = async (attempted, nth) => {
      world.ledger = dead(world);
      return accepted(attempted.message.reference, nth);
    };
    const reply = world.send('m1');
    await until(() => world.delivered.length === 1);
    await world.clock.advance(TIMES.settle + 1_000);
    expect((await reply).text).toBe('Receipt 1 for m1');
    expect(world.journaled.map(({ key, fingerprint }) => [key.length > 0, fingerprint])).toEqual([[true, 'plain:invoice']]);
    expect(world.names()).toContain('journaled');
  });

  it('a signal passes untouched and unclaimed', async () => {
    const world = new World();
    const { receive } = await import('../../src/receive.js');
    const { exchangeOf } = await import('./world.js');
    const reply = await receive(exchangeOf('signal'), world.route(), world.walk);
    expect(Buffer.from(reply.body as Uint8Array).toString()).toBe('passed');
    expect(world.passed).toEqual(['signal']);
    expect((await world.ledger.stats()).records).toBe(0);
  });

  it('what cannot be read is refused in the protocol\'s language; nothing is recorded', async () => {
    const world = new World();
    const { receive } = await import('../../src/receive.js');
    const { exchangeOf } = await import('./world.js');
    const reply = await receive(exchangeOf('broken'), world.route(), world.walk);
    expect(reply.status).toBe(400);
    expect((await world.ledger.stats()).records).toBe(0);
  });

  it('a stored reply that does not match its digest is 503 and an alert, never a redelivery', async () => {
    const world = new World();
    await world.send('m1');
    const real = world.ledger;
    world.ledger = Object.create(real, {
      claim: {
        value: async (command: Parameters<Ledger['claim']>[0]) => {
          const answer = await real.claim(command);
          const reply = answer.record.reply;
          return reply === undefined ? answer : { ...answer, record: { ...answer.record, reply: { ...reply, sha256: '0'.repeat(64) } } };
        },
      },
    }) as Ledger;
    expect((await world.send('m1')).status).toBe(503);
    expect(world.names()).toContain('unreadable');
    expect(world.delivered).toHaveLength(1);
  });

  it('detect-only: the first copy as ever, every other one goes on at once, marked, with the upstream\'s own answer', async () => {
    const world = new World();
    world.rule = { ...RULE, mode: 'detect-only' };
    expect((await world.send('m1')).text).toBe('Receipt 1 for m1');
    expect((await world.send('m1')).text).toBe('Receipt 2 for m1');
    expect(world.delivered.map(({ mark }) => mark)).toEqual(['first', 'duplicate']);
    world.rule = RULE;
    expect((await world.send('m1')).text).toBe('Receipt 1 for m1');
  });

  it('shadow: unmarked, never waits, open on ledger loss; its records count after the switch', async () => {
    const world = new World();
    world.rule = { ...RULE, mode: 'shadow' };
    await world.send('m1');
    await world.send('m1');
    expect(world.delivered.map(({ mark }) => mark)).toEqual([undefined, undefined]);
    expect(world.seen.find(({ name }) => name === 'shadow')?.event).toMatchObject({ would: 'settled' });
    const real = world.ledger;
    world.ledger = dead(world);
    const blind = world.send('m2');
    await world.clock.advance(TIMES.ledgerOutage + 1_000);
    expect((await blind).text).toBe('Receipt 3 for m2');
    world.ledger = real;
    world.rule = RULE;
    expect((await world.send('m1')).text).toBe('Receipt 1 for m1');
  });

  it('a changed granularity with previousKey still knows what was accepted under the old key', async () => {
    const world = new World();
    world.rule = { ...RULE, key: 'reference' };
    await world.send('m1');
    world.rule = { ...RULE, key: 'reference+sender', previousKey: 'reference' };
    expect((await world.send('m1')).text).toBe('Receipt 1 for m1');
    expect(world.delivered).toHaveLength(1);
  });

  it('too many copies of one id: the rest is sent away at once', async () => {
    const world = new World();
    world.upstream = () => new Promise(() => undefined);
    void world.send('m1');
    await until(() => world.delivered.length === 1);
    const copies = Array.from({ length: 130 }, () => world.send('m1'));
    const quick = await Promise.race(copies.slice(128));
    expect(quick.status).toBe(503);
    expect(world.walk.waiting.count).toBe(128);
    await world.clock.advance(RULE.wait + 1);
    expect((await Promise.all(copies)).every(({ status }) => status === 503)).toBe(true);
  });
});

function dead(world: World): Ledger {
  const down = (): Promise<never> => Promise.reject(new As4OnceError('LEDGER_DOWN', 'stopped'));
  return Object.assign(Object.create(memoryLedger({ clock: world.clock })) as Ledger, { claim: down, settle: down, release: down, renew: down, find: down, ping: down });
}

async function until(condition: () => boolean): Promise<void> {
  for (let turn = 0; turn < 10_000; turn += 1) {
    if (condition()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('it never came to that');
}

function gated(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((done) => (resolve = done));
  return { promise, resolve };
}
