import { describe, expect, it } from 'vitest';
import { once, Uncertain } from '../src/compose-once.js';
import type { Json, OnceResult } from '../src/once.js';
import { As4OnceError } from '../src/errors.js';
import { memoryLedger } from '../src/ledger/memory.js';
import { simulatedClock } from './support/simulated-clock.js';

/** What a caller writes: the compiler knows that nothing is left out. */
function told<T extends Json | void>(result: OnceResult<T>): string {
  switch (result.kind) {
    case 'first':
      return `first ${JSON.stringify(result.reply)} ${result.mark}`;
    case 'replay':
      return `replay ${JSON.stringify(result.reply)} ${result.copies}`;
    case 'inFlight':
    case 'mismatch':
    case 'held':
      return result.kind;
    default:
      return result satisfies never;
  }
}

describe('once', () => {
  const message = { reference: 'PO-1', type: 'order', from: 'shop', content: 'two tins' };

  it('runs a handler once and gives every caller its reply', async () => {
    const ledger = memoryLedger();
    let runs = 0;
    const call = async (given = message): Promise<string> => told(await once(ledger, given, async () => ({ booked: (runs += 1) })));
    expect([await call(), await call(), await call()]).toEqual(['first {"booked":1} first', 'replay {"booked":1} 1', 'replay {"booked":1} 2']);
    expect(await call({ ...message, type: 'invoice' })).toBe('first {"booked":2} first');
    expect(await call({ ...message, from: 'other' })).toBe('first {"booked":3} first');
    expect(await call({ ...message, content: 'three tins' })).toBe('mismatch');
  });

  it('stores nothing but what was returned, nothing at all included', async () => {
    const ledger = memoryLedger();
    expect((await once(ledger, message, () => undefined)).kind).toBe('first');
    const replay = await once(ledger, message, () => undefined);
    expect(replay).toMatchObject({ kind: 'replay' });
    expect((replay as { reply: unknown }).reply).toBeUndefined();
  });

  it('lets one of a hundred concurrent callers run, and tells the others, at once or after waiting', async () => {
    const ledger = memoryLedger();
    let finish: (() => void) | undefined;
    const held = new Promise<void>((resolve) => {
      finish = resolve;
    });
    let runs = 0;
    const handler = async (): Promise<number> => {
      runs += 1;
      await held;
      return runs;
    };
    const first = once(ledger, message, handler);
    const impatient = await Promise.all(Array.from({ length: 50 }, () => once(ledger, message, handler)));
    expect(new Set(impatient.map(told))).toEqual(new Set(['inFlight']));
    const patient = Array.from({ length: 50 }, () => once(ledger, message, handler, { wait: '10s' }));
    finish?.();
    expect(told(await first)).toBe('first 1 first');
    expect((await Promise.all(patient)).every(({ kind }) => kind === 'replay')).toBe(true);
    expect(runs).toBe(1);
  });

  it('releases what a handler throws, and holds what it is not sure of', async () => {
    const ledger = memoryLedger();
    await expect(once(ledger, message, () => Promise.reject(new Error('no stock')))).rejects.toThrow('no stock');
    expect(told(await once(ledger, message, () => 'done'))).toBe('first "done" first');
    const other = { reference: '2' };
    await expect(once(ledger, other, () => Promise.reject(new Uncertain('timeout')))).rejects.toThrow(Uncertain);
    expect(told(await once(ledger, other, () => 'done'))).toBe('held');
    expect((await ledger.list('held')).map(({ reference }) => reference)).toEqual(['2']);
    await expect(once(ledger, { reference: '3' }, () => Promise.reject(new Uncertain()), { uncertain: 'redeliver' })).rejects.toThrow(Uncertain);
    expect(told(await once(ledger, { reference: '3' }, () => 'done', { uncertain: 'redeliver' }))).toBe('first "done" redelivery');
  });

  it('gives a key to pass on: new after a certain rejection, the same after an uncertain one', async () => {
    const ledger = memoryLedger();
    const keys: string[] = [];
    const attempt = async (error: Error | undefined): Promise<unknown> => once(ledger, message, ({ idempotencyKey }) => {
      keys.push(idempotencyKey);
      if (error !== undefined) throw error;
    }, { uncertain: 'redeliver' }).catch(() => undefined);
    for (const error of [new Error('no'), new Uncertain(), new Uncertain(), undefined]) await attempt(error);
    expect(keys[0]).not.toBe(keys[1]);
    expect(keys.slice(1)).toEqual([keys[1], keys[1], keys[1]]);
  });

  it('keeps its claim while a slow handler runs', async () => {
    const clock = simulatedClock();
    const ledger = memoryLedger({ clock });
    let finish: (() => void) | undefined;
    const slow = once(ledger, message, () => new Promise<string>((resolve) => {
      finish = () => resolve('slow');
    }), { clock, lease: '20s' });
    await clock.whenSleeping();
    for (let n = 0; n < 10; n += 1) await clock.advance(10_000);
    expect(told(await once(ledger, message, () => 'fast', { clock }))).toBe('inFlight');
    finish?.();
    expect(told(await slow)).toBe('first "slow" first');
  });

  it('forgets after its window', async () => {
    const clock = simulatedClock();
    const ledger = memoryLedger({ clock });
    const call = async (): Promise<string> => told(await once(ledger, message, () => 1, { clock, window: '1d' }));
    expect(await call()).toBe('first 1 first');
    await clock.advance(86_400_001);
    expect(await call()).toBe('first 1 first');
  });

  it('does nothing without its ledger, and says what was done when it is lost', async () => {
    const ledger = memoryLedger();
    let runs = 0;
    const handler = (): number => (runs += 1);
    const deaf = { ...ledger, claim: () => Promise.reject(new As4OnceError('LEDGER_DOWN')) };
    await expect(once(deaf, message, handler)).rejects.toMatchObject({ code: 'LEDGER_DOWN' });
    expect(runs).toBe(0);
    let failures = 3;
    const shaky = { ...ledger, settle: (command: Parameters<typeof ledger.settle>[0]) => ((failures -= 1) >= 0 ? Promise.reject(new As4OnceError('LEDGER_DOWN')) : ledger.settle(command)) };
    expect(told(await once(shaky, message, handler))).toBe('first 1 first');
  });

  it('takes no reference that is empty or endless', async () => {
    for (const reference of ['', 'x'.repeat(256)]) await expect(once(memoryLedger(), { reference }, () => 1)).rejects.toMatchObject({ code: 'REFERENCE_MISSING' });
  });
});
