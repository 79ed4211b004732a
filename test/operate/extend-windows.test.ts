import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.js';
import { loadConfig } from '../../src/config/load.js';
import { As4OnceError } from '../../src/errors.js';
import { Events, type EventMap } from '../../src/events.js';
import { lmdbLedger } from '../../src/ledger/embedded/index.js';
import type { Ledger } from '../../src/ledger/port.js';
import { redisLedger } from '../../src/ledger/redis/index.js';
import { WINDOWS } from '../../src/ledger/shelves.js';
import { extendWindows } from '../../src/operate/extend-windows.js';
import { sampleAttempt, sampleClaim, sampleKey, samplePoint } from '../../src/testing/sample.js';
import { startRedis } from '../support/redis-server.js';
import { tempDir } from '../support/temp-dir.js';

const DAY = 86_400_000;
const toClose: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of toClose.splice(0).toReversed()) await close();
});

async function opened(engine: 'embedded' | 'redis'): Promise<Ledger> {
  if (engine === 'embedded') {
    const folder = tempDir('extend');
    const ledger = await lmdbLedger({ path: folder.path });
    toClose.push(
      () => folder.remove(),
      () => ledger.close(),
    );
    return ledger;
  }
  const redis = await startRedis();
  const ledger = await redisLedger({ url: redis.url });
  toClose.push(
    () => redis.close(),
    () => ledger.close(),
  );
  return ledger;
}

/** Records of one day: those of POP000001 are raised by the rules below, the others are long enough. */
async function filled(ledger: Ledger, count: number): Promise<void> {
  const claims = Array.from({ length: count }, (_, n) =>
    sampleClaim(sampleKey(`message ${n}`), 'a', {
      scope: 'default',
      windowMs: n % 2 === 0 ? DAY : 60 * DAY,
      facts: { from: [{ value: n % 2 === 0 ? 'POP000001' : 'POP000009' }], to: [] },
    }),
  );
  for (let at = 0; at < claims.length; at += 200) {
    await Promise.all(
      claims.slice(at, at + 200).map(async (claim) => {
        await ledger.claim(claim);
        await ledger.settle(sampleAttempt(claim).settle('one'));
      }),
    );
  }
  await ledger.point(samplePoint(sampleKey('pointer'), claims[0]!, { windowMs: DAY }));
}

const rules = (window: string) =>
  loadConfig({
    name: 'test',
    value: {
      role: 'front',
      listen: '127.0.0.1:0',
      upstream: 'http://127.0.0.1:1',
      accessPoint: 'phase4',
      ledger: { memory: true },
      defaults: { window: '30d' },
      partners: [{ match: { from: 'POP000001' }, window, late: '5d' }],
    },
  });

/** Nothing is waited for: how fast it may go is not what is tested here. */
const clock = { ...systemClock, sleep: async () => undefined };

describe.each(['embedded', 'redis'] as const)('raising windows: %s', (engine) => {
  it('walks the whole ledger page by page, stops when told, goes on where it was, and does nothing twice', async () => {
    const ledger = await opened(engine);
    const count = 4_400;
    await filled(ledger, count);
    const seen: EventMap['windowsRaised'][] = [];
    const events = new Events();
    events.on('windowsRaised', (event) => seen.push(event));
    let extended = 0;
    let stopAt = 1_300;
    const stop = new AbortController();
    const counting: Ledger = {
      ...ledger,
      extend: (command) => {
        extended += 1;
        if (extended === stopAt) stop.abort();
        return ledger.extend(command);
      },
    };
    const parts = { ledger: counting, clock, events, by: 'node 1' };
    await extendWindows(parts, rules('60d'), stop.signal);
    expect(extended).toBeLessThan(1_600);
    const first = extended;
    stopAt = -1;
    await extendWindows(parts, rules('60d'), new AbortController().signal);
    // what one walk had seen past its last note is looked at again, and found long enough
    expect(extended - first).toBe(count / 2 + 1 - first);
    for await (const { record } of ledger.iterate()) {
      if (record.pointer !== undefined) expect([record.window, record.late]).toEqual([60 * DAY, 0]);
      else
        expect([record.window, record.late]).toEqual([
          60 * DAY,
          record.facts.from[0]!.value === 'POP000001' ? 5 * DAY : 0,
        ]);
    }
    await extendWindows(parts, rules('60d'), new AbortController().signal);
    expect(extended).toBe(count / 2 + 1);
    expect(
      [...(await ledger.notes(WINDOWS))].map(([by, text]) => [by, (JSON.parse(text) as { left: number }).left]),
    ).toEqual([['node 1', 0]]);
    // another process is not told by this one's note: its own claims may have been made by older rules
    await extendWindows({ ...parts, by: 'node 2' }, rules('60d'), new AbortController().signal);
    expect(extended).toBe(count / 2 + 1);
    expect(seen.reduce((sum, { records }) => sum + records, 0)).toBe(count / 2 + 1 - first);
  });
});

describe('raising windows', () => {
  it('survives a ledger that is out of reach for a while', async () => {
    const ledger = await opened('embedded');
    await filled(ledger, 20);
    let failures = 0;
    const shaky: Ledger = {
      ...ledger,
      extend: async (command) => {
        failures += 1;
        if (failures <= 3) throw new As4OnceError('LEDGER_DOWN', 'a test');
        return await ledger.extend(command);
      },
    };
    await extendWindows(
      { ledger: shaky, clock, events: new Events(), by: 'n' },
      rules('90d'),
      new AbortController().signal,
    );
    for await (const { record } of ledger.iterate())
      if (record.facts.from[0]?.value === 'POP000001') expect(record.window).toBe(90 * DAY);
  });

  it('after a reload walks twice: what was claimed by the old rules behind the first walk is raised by the second', async () => {
    const ledger = await opened('embedded');
    await filled(ledger, 10);
    const late = sampleClaim(sampleKey('late'), 'a', {
      scope: 'default',
      windowMs: DAY,
      facts: { from: [{ value: 'POP000001' }], to: [] },
    });
    const sleeping = {
      ...systemClock,
      sleep: async (ms: number) => {
        if (ms === 4_711) await ledger.claim(late);
      },
    };
    await extendWindows(
      { ledger, clock: sleeping, events: new Events(), by: 'n', oldRulesMs: 4_711 },
      rules('90d'),
      new AbortController().signal,
    );
    expect((await ledger.find(late.key))?.record.window).toBe(90 * DAY);
  });

  it('a record whose parties were forgotten gets the longest window of its place, and never a shorter one than it has', async () => {
    const ledger = await opened('embedded');
    await filled(ledger, 2);
    const key = sampleKey('message 0');
    await ledger.forget({ key, decision: { what: 'forget', who: 'test', when: 0, reason: 'test' } });
    await extendWindows({ ledger, clock, events: new Events(), by: 'n' }, rules('45d'), new AbortController().signal);
    expect((await ledger.find(key))?.record.window).toBe(45 * DAY);
    expect((await ledger.find(sampleKey('message 1')))?.record.window).toBe(60 * DAY);
  });
});
