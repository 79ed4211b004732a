// Fifty claims whose replies a proxy had eaten, five at a time over one connection to Redis: one message in five was
// answered 503 at once. Its claim had been granted, then the connection broke (for another message's sake) while its
// second key was asked for. That question was not held and repeated as the claim is; and the claim was given back with
// one try only, so that while Redis was away it stood until it lapsed, counted as an uncertain attempt, and was held or
// delivered marked although nobody had seen the message. The same happened to a claim that was granted and never heard of.
import { describe, expect, it } from 'vitest';
import { As4OnceError } from '../../src/errors.js';
import type { Ledger } from '../../src/ledger/port.js';
import { TIMES } from '../../src/limits.js';
import { receive } from '../../src/receive.js';
import type { SecondKey } from '../../src/walk.js';
import { exchangeOf, World } from '../walk/world.js';

const SECOND: SecondKey = { kind: 'resend', key: 'second:key', fingerprint: 'signed:a', reference: 'signed:a', policy: 'flag' };

/** The world's ledger, executing every command and losing the reply of those named, until told otherwise. */
function deaf(world: World, ...lost: (keyof Ledger)[]): { hearsAgain(): void } {
  const real = world.ledger;
  const names = new Set<string>(lost);
  world.ledger = Object.fromEntries(Object.entries(real).map(([name, method]) => [name, async (...args: unknown[]) => {
    const answer = await (method as (...given: unknown[]) => Promise<unknown>)(...args);
    if (names.has(name)) throw new As4OnceError('LEDGER_DOWN', 'the reply was lost');
    return answer;
  }])) as unknown as Ledger;
  world.ledger.watch = real.watch;
  return { hearsAgain: () => names.clear() };
}

const send = (world: World) => {
  const route = world.route();
  return receive(exchangeOf('m1|A|invoice'), { ...route, keysOf: (...given) => ({ ...route.keysOf(...given), second: [SECOND] }) }, world.walk);
};

describe('the ledger is away between the claim and the delivery', () => {
  it('the second key is asked for again, and the message is delivered as a first one', async () => {
    const world = new World();
    const ledger = deaf(world, 'point');
    const answer = send(world);
    await world.clock.whenSleeping(2);
    await world.clock.advance(1_000);
    expect(world.delivered).toHaveLength(0);
    ledger.hearsAgain();
    await world.clock.advance(1_000);
    expect(await answer).toMatchObject({ status: 200 });
    expect(world.delivered).toMatchObject([{ id: 'm1', mark: 'first' }]);
  });

  it('away for longer than the hold: 503, and the claim is given back for certain', async () => {
    const world = new World();
    const ledger = deaf(world, 'point', 'release');
    const refused = send(world);
    await world.clock.whenSleeping(2);
    await world.clock.advance(TIMES.ledgerOutage + 1_000);
    ledger.hearsAgain();
    await world.clock.advance(TIMES.settle);
    expect(await refused).toMatchObject({ status: 503 });
    expect(world.lastExchange()).toMatchObject({ answer: 'unavailable', code: 'LEDGER_DOWN' });
    expect(await send(world)).toMatchObject({ status: 200 });
    expect(world.delivered).toMatchObject([{ id: 'm1', mark: 'first' }]);
  });

  it('a claim that was granted and never heard of is given back as soon as the ledger is there', async () => {
    const world = new World();
    const ledger = deaf(world, 'claim', 'release');
    const refused = send(world);
    await world.clock.whenSleeping();
    await world.clock.advance(TIMES.ledgerOutage + 1_000);
    expect(await refused).toMatchObject({ status: 503 });
    ledger.hearsAgain();
    await world.clock.advance(2 * TIMES.poll);
    expect(await send(world)).toMatchObject({ status: 200 });
    expect(world.delivered).toMatchObject([{ id: 'm1', mark: 'first' }]);
  });
});
