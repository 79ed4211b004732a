import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { As4OnceError } from '../../src/errors.js';
import { Events, type EventMap } from '../../src/events.js';
import type { LedgerMeta } from '../../src/ledger/port.js';
import type { Message } from '../../src/message.js';
import { Sentinel, judge, seenIn } from '../../src/operate/sentinel.js';
import { simulatedClock } from '../support/simulated-clock.js';
import { tempDir, type TempDir } from '../support/temp-dir.js';

const meta = (change: Partial<LedgerMeta> = {}): LedgerMeta =>
  ({ id: 'ledger-1', created: 0, settles: 10, now: 0, format: '1', newestFormat: '1', ...change });
const accepted = (id: string) => ({ accepted: { id, when: 1, who: 'anna', reason: 'restored' } });

describe('what a node knows of the ledger', () => {
  it('a first look believes what it sees', () => {
    expect(judge(undefined, meta(), 5)).toEqual({ ledger: 'ledger-1', settles: 10, at: 5, accepted: [] });
  });

  it('more settles are more; fewer, or another ledger, are a loss that stays said', () => {
    const seen = judge(undefined, meta(), 5);
    expect(judge(seen, meta({ settles: 12 }), 6)).toEqual({ ledger: 'ledger-1', settles: 12, at: 6, accepted: [] });
    const lost = judge(seen, meta({ settles: 7 }), 6);
    expect(lost.behind).toEqual({ noticed: 6, since: 5, reason: 'the ledger has 3 settles fewer than it had' });
    expect(judge(seen, meta({ id: 'ledger-2', settles: 99 }), 6).behind?.reason).toContain('another one (ledger-2)');
    // traffic goes on, and the counter passes what it was: the loss is no smaller for that
    expect(judge(lost, meta({ settles: 500 }), 9).behind).toEqual(lost.behind);
  });

  it('an acceptance counts once: a copy that is restored later brings an old one along', () => {
    const seen = judge(undefined, meta(), 5);
    const lost = judge(seen, meta({ settles: 7 }), 6);
    const over = judge(lost, meta({ settles: 8, ...accepted('a1') }), 7);
    expect(over).toEqual({ ledger: 'ledger-1', settles: 8, at: 7, accepted: ['a1'] });
    const again = judge(over, meta({ settles: 3, ...accepted('a1') }), 8);
    expect(again.behind?.reason).toContain('5 settles fewer');
    expect(judge(again, meta({ settles: 3, ...accepted('a2') }), 9).behind).toBeUndefined();
  });

  it('an acceptance made while all was well excuses nothing later', () => {
    const seen = judge(judge(undefined, meta(), 5), meta(accepted('a1')), 6);
    expect(judge(seen, meta({ settles: 3, ...accepted('a1') }), 7).behind).toBeDefined();
  });
});

describe('the sentinel of a server', () => {
  let folder: TempDir;
  let current: LedgerMeta | Error;
  const clock = simulatedClock();
  const told: EventMap['behind'][] = [];
  const faults: EventMap['fault'][] = [];
  const events = new Events();
  events.on('behind', (event) => told.push(event));
  events.on('fault', (event) => faults.push(event));
  const sentinel = (strict = false): Sentinel => new Sentinel({
    ledger: {
      meta: async () => {
        if (current instanceof Error) throw current;
        return current;
      },
    },
    folder: folder.path, node: 'gateway/1', clock, events, strict,
  });
  const message = (timestamp?: number): Message => ({
    protocol: 'as4', reference: 'm', signed: true, fingerprint: 'signed:x', facts: { from: [], to: [], ...(timestamp === undefined ? {} : { timestamp }) },
  });

  beforeEach(() => {
    folder = tempDir('sentinel');
    current = meta();
    told.length = 0;
    faults.length = 0;
  });
  afterEach(() => folder.remove());

  it('remembers over a restart, and names its node', async () => {
    await sentinel().look();
    expect(seenIn(folder.path).get('gateway/1')).toMatchObject({ ledger: 'ledger-1', settles: 10 });
    current = meta({ settles: 4 });
    const restarted = sentinel();
    expect(restarted.behind).toBeUndefined();
    await restarted.look();
    expect(restarted.behind?.reason).toContain('6 settles fewer');
    expect(told).toHaveLength(1);
    // and so does the next one, without another look
    expect(sentinel().behind?.reason).toContain('6 settles fewer');
  });

  it('marks what the sender made before the loss was noticed, and what says nothing of its age', async () => {
    const watching = sentinel();
    await watching.look();
    expect(watching.fromGap(message())).toBe(false);
    current = meta({ settles: 4 });
    await watching.look();
    const noticed = clock.now();
    expect(watching.fromGap(message(noticed - 3_600_000))).toBe(true);
    expect(watching.fromGap(message())).toBe(true);
    expect(watching.fromGap(message(noticed + 3_600_000))).toBe(false);
    watching.mayDecide();
  });

  it('strict: decides nothing until the acceptance', async () => {
    const watching = sentinel(true);
    await watching.look();
    current = meta({ settles: 4 });
    await watching.look();
    expect(() => watching.mayDecide()).toThrow(/LEDGER_BEHIND/);
    current = meta({ settles: 4, ...accepted('a1') });
    await watching.look();
    watching.mayDecide();
    expect(told.map(({ behind }) => behind)).toEqual([true, false]);
  });

  it('after the ledger was out of reach nothing is decided before it was looked at: it may be another one by then', async () => {
    const watching = sentinel();
    await watching.look();
    current = new As4OnceError('LEDGER_DOWN', 'connection lost');
    await watching.look();
    expect(() => watching.mayDecide()).toThrow(/LEDGER_DOWN/);
    current = meta({ id: 'ledger-2', settles: 0 });
    await watching.look();
    watching.mayDecide();
    expect(watching.behind?.reason).toContain('another one');
  });

  it('a state file that cannot be read says nothing', async () => {
    writeFileSync(join(folder.path, 'ledger-gateway%2F1.json'), '{"ledger":');
    const watching = sentinel();
    await watching.look();
    expect(watching.behind).toBeUndefined();
    expect(seenIn(folder.path).get('gateway/1')).toMatchObject({ settles: 10 });
  });

  it('a state folder that cannot be written is told once, and stops nothing', async () => {
    writeFileSync(join(folder.path, 'file'), '');
    const watching = new Sentinel({ ledger: { meta: async () => meta() }, folder: join(folder.path, 'file'), node: 'n', clock, events, strict: false });
    await watching.look();
    await watching.look();
    watching.mayDecide();
    expect(faults).toHaveLength(1);
    expect(faults[0]?.detail).toContain('state folder');
  });
});
