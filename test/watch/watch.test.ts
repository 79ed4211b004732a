import { chmodSync, existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { As4OnceError } from '../../src/errors.js';
import { edifact, sbd, x12 } from '../edi/samples.js';
import { simulatedClock } from '../support/simulated-clock.js';
import { drop, type Drop } from './fixture.js';

let folders: Drop;
beforeEach(() => {
  folders = drop();
});
afterEach(() => folders.remove());

const use = (options: Parameters<typeof drop>[0]): Drop => {
  folders.remove();
  folders = drop(options);
  return folders;
};
const answers = (): (string | undefined)[] => (folders.seen.exchange ?? []).map(({ answer }) => answer);

describe('a watched folder', () => {
  it('passes a first copy on with name, bytes, time and mode, and puts a repetition aside', async () => {
    const { put, pass, names, path, text } = folders;
    put('in', 'orders.edi', `${edifact('1')}\r\n`);
    chmodSync(path('in', 'orders.edi'), 0o640);
    const before = statSync(path('in', 'orders.edi'));
    await pass();
    expect([names('in'), names('work'), names('out')]).toEqual([[], [], ['orders.edi']]);
    expect(text('out', 'orders.edi')).toBe(`${edifact('1')}\r\n`);
    const { mtimeMs, mode } = statSync(path('out', 'orders.edi'));
    expect({ mtimeMs, mode }).toEqual({ mtimeMs: before.mtimeMs, mode: before.mode });

    put('in', 'again.edi', edifact('1'));
    await pass();
    expect([names('out'), names('duplicates')]).toEqual([['orders.edi'], ['again.edi']]);
    expect(answers()).toEqual(['first', 'replay']);
    expect(folders.seen.exchange?.[1]).toMatchObject({ messageId: '1', from: 'SENDER', to: 'RECEIVER', peer: 'again.edi', copies: 1, action: 'ORDERS', bytes: edifact('1').length });
  });

  it('never overwrites a file', async () => {
    const { put, pass, names, text } = folders;
    put('out', 'a.edi', 'what the consumer has not taken yet');
    put('in', 'a.edi', edifact('1'));
    await pass();
    put('in', 'a.edi', edifact('2'));
    await pass();
    for (let copy = 0; copy < 2; copy += 1) {
      put('in', 'a.edi', edifact('1'));
      await pass();
    }
    expect(names('out')).toEqual(['a.edi', 'a~2.edi', 'a~3.edi']);
    expect([text('out', 'a.edi'), text('out', 'a~3.edi')]).toEqual(['what the consumer has not taken yet', edifact('2')]);
    expect(names('duplicates')).toEqual(['a.edi', 'a~2.edi']);
    expect(folders.seen.exchange?.[0]?.detail).toBe('out/a~2.edi');
  });

  it('puts what cannot be read aside, with the place, and records nothing', async () => {
    const { put, pass, names, json, ledger } = folders;
    put('in', 'cut.edi', edifact('1').slice(0, -5));
    await pass();
    expect(names('refused')).toEqual(['cut.edi', 'cut.edi.reason.json']);
    expect(json('refused', 'cut.edi.reason.json')).toMatchObject({ code: 'EDI_BROKEN', segment: 5, tag: 'UNZ', offset: edifact('1').length - 5 });
    expect((await ledger.stats()).records).toBe(0);
    expect(folders.seen.exchange).toMatchObject([{ answer: 'refused', code: 'EDI_BROKEN', peer: 'cut.edi' }]);
  });

  it('refuses counts that do not agree only where the partner is strict', async () => {
    const { put, pass, names } = use({ more: ', partners: [{ match: { from: STRICT }, checks: strict }]' });
    const wrong = edifact('1', { unz: "UNZ+7+1'" });
    put('in', 'a.edi', wrong);
    put('in', 'b.edi', wrong.replace('SENDER', 'STRICT'));
    await pass();
    expect([names('out'), names('refused')]).toEqual([['a.edi'], ['b.edi', 'b.edi.reason.json']]);
  });

  it('puts a reused number into quarantine, and says since when it is used', async () => {
    const { put, pass, names, json, text } = folders;
    put('in', 'a.edi', edifact('1'));
    put('in', 'b.edi', edifact('1', { body: "UNH+1+INVOIC:D:96A:UN'UNT+2+1'" }));
    await pass();
    expect([names('out'), names('quarantine')]).toEqual([['a.edi'], ['b.edi', 'b.edi.reason.json']]);
    expect(json('quarantine', 'b.edi.reason.json')).toMatchObject({ messages: [{ reference: '1', code: 'MISMATCH', why: expect.stringMatching(/^control number reused, first seen 20.*; did the partner reset its counter\?$/) }] });
    expect(folders.seen.mismatch).toHaveLength(1);
    expect(text('out', 'a.edi')).toBe(edifact('1'));
  });

  it.each<[string, string[], string[], string[]]>([
    ['mismatch: replay', ['a.edi'], ['b.edi', 'c.edi'], []],
    ['mismatch: deliver-flagged', ['a.edi', 'b.edi'], ['c.edi'], []],
    ['key: reference+sender+content', ['a.edi', 'b.edi'], ['c.edi'], []],
    ['mode: detect-only', ['a.edi', 'b.edi', 'c.edi'], [], []],
    ['mode: shadow', ['a.edi', 'b.edi', 'c.edi'], [], []],
  ])('obeys %s', async (rule, out, duplicates, quarantine) => {
    const { put, pass, names } = use({ rule });
    put('in', 'a.edi', edifact('1'));
    put('in', 'b.edi', edifact('1', { body: "UNH+1+INVOIC:D:96A:UN'UNT+2+1'" }));
    put('in', 'c.edi', edifact('1', { body: "UNH+1+INVOIC:D:96A:UN'UNT+2+1'" }));
    await pass();
    expect([names('out'), names('duplicates').filter((name) => !name.endsWith('.json')), names('quarantine')]).toEqual([out, duplicates, quarantine]);
  });

  it('keeps another sender with the same number apart, and under key: reference in quarantine', async () => {
    const other = edifact('1').replace('SENDER', 'OTHER');
    folders.put('in', 'a.edi', edifact('1'));
    folders.put('in', 'b.edi', other);
    await folders.pass();
    expect(folders.names('out')).toEqual(['a.edi', 'b.edi']);
    const { put, pass, names, json } = use({ rule: 'key: reference' });
    put('in', 'a.edi', edifact('1'));
    put('in', 'b.edi', other);
    await pass();
    expect(names('out')).toEqual(['a.edi']);
    expect(json('quarantine', 'b.edi.reason.json')).toMatchObject({ messages: [{ code: 'OTHER_SENDER' }] });
  });

  it('tells a repetition inside the window from a new message behind it', async () => {
    const clock = simulatedClock();
    const { put, pass, names } = use({ rule: 'window: 10d, late: 10d', clock });
    put('in', 'a.edi', edifact('1'));
    await pass();
    await clock.advance(9 * 86_400_000);
    put('in', 'b.edi', edifact('1'));
    await pass();
    await clock.advance(2 * 86_400_000);
    put('in', 'c.edi', edifact('1'));
    await pass();
    expect([names('out'), names('duplicates')]).toEqual([['a.edi', 'c.edi'], ['b.edi']]);
    expect(answers()).toEqual(['first', 'replay', 'late']);
    expect(folders.seen.late).toHaveLength(1);
  });

  it('takes X12 and SBDH files as well', async () => {
    const one = use({ protocol: 'x12' });
    for (const name of ['a.x12', 'b.x12']) one.put('in', name, x12('1'));
    await one.pass();
    expect([one.names('out'), one.names('duplicates')]).toEqual([['a.x12'], ['b.x12']]);
    const two = use({ protocol: 'sbdh' });
    for (const name of ['a.xml', 'b.xml']) two.put('in', name, sbd());
    two.put('in', 'c.xml', '<Invoice/>');
    await two.pass();
    expect([two.names('out'), two.names('duplicates'), two.names('refused')]).toEqual([['a.xml'], ['b.xml'], ['c.xml', 'c.xml.reason.json']]);
  });

  it('waits for a ledger that cannot be reached, and loses and invents nothing', async () => {
    const { put, pass, names, ledger } = folders;
    put('in', 'a.edi', edifact('1'));
    put('in', 'b.edi', edifact('1'));
    const dead = { ...ledger, claim: () => Promise.reject(new As4OnceError('LEDGER_DOWN', 'test')) };
    await expect(pass({ ledger: dead })).rejects.toMatchObject({ code: 'LEDGER_DOWN' });
    expect([names('out'), names('in')]).toEqual([[], ['b.edi']]);
    await pass();
    expect([names('in'), names('work'), names('out'), names('duplicates')]).toEqual([[], [], ['a.edi'], ['b.edi']]);
  });

  it('is not held up by a file that it may not read', async () => {
    const { put, pass, names } = folders;
    put('in', 'a.edi', edifact('1'));
    put('in', 'b.edi', edifact('2'));
    const failing = { ...folders.ledger, claim: (command: Parameters<Drop['ledger']['claim']>[0]) => (command.reference === '1' ? Promise.reject(new Error('boom')) : folders.ledger.claim(command)) };
    await pass({ ledger: failing });
    expect([names('out'), names('work').length]).toEqual([['b.edi'], 1]);
    expect(folders.seen.fault).toMatchObject([{ code: 'INTERNAL', detail: expect.stringContaining('a.edi: boom') }]);
    await pass();
    expect(names('out')).toEqual(['a.edi', 'b.edi']);
  });

  it('gives each message its own answer where 30 watchers share the folder', async () => {
    const { put, names, watch, seen } = folders;
    for (let n = 0; n < 60; n += 1) put('in', `f${n}.edi`, edifact(`${n % 20}`));
    const watchers = await Promise.all(Array.from({ length: 30 }, () => watch()));
    await Promise.all(watchers.map((one) => one.pass(true)));
    // a file that met its twin in work is tried again
    for (let round = 0; names('work').length > 0 && round < 20; round += 1) await Promise.all(watchers.map((one) => one.pass(true)));
    expect([names('in'), names('work'), names('out').length, names('duplicates').length]).toEqual([[], [], 20, 40]);
    expect(seen.fault).toBeUndefined();
  });
});

describe('a file that is still being written', () => {
  it('is known by its name, or by its size and time', async () => {
    const clock = simulatedClock();
    const { put, watch, names, path } = use({ clock, stable: '30s' });
    put('in', 'a.part', edifact('1'));
    put('in', '.b.edi', edifact('2'));
    put('in', 'c.edi', edifact('3').slice(0, 50));
    const one = await watch();
    await one.pass(false);
    await clock.advance(29_000);
    writeFileSync(path('in', 'c.edi'), edifact('3'));
    await one.pass(false);
    await clock.advance(29_000);
    await one.pass(false);
    expect(names('out')).toEqual([]);
    await clock.advance(1_000);
    await one.pass(false);
    expect(names('out')).toEqual(['c.edi']);
    expect(readdirSync(path('in', '')).sort()).toEqual(['.b.edi', 'a.part']);
  });

  it('is known by a trigger, which goes with the file', async () => {
    const { put, pass, names } = use({ more: ", trigger: '*.done'" });
    for (const name of ['a.edi', 'b.edi', 'c.edi', 'a.edi.done', 'b.done']) put('in', name, name.endsWith('done') ? '' : edifact(name));
    await pass();
    expect([names('out'), names('in')]).toEqual([['a.edi', 'b.edi'], ['c.edi']]);
  });
});

describe('the folders', () => {
  it('are proven to lie on one file system before anything is taken', async () => {
    const elsewhere = '/dev/shm';
    if (!existsSync(elsewhere) || statSync(elsewhere).dev === statSync(folders.root).dev) return;
    await expect(folders.watch({ config: { ...folders.config, folders: { ...folders.config.folders, out: elsewhere } } })).rejects.toMatchObject({ code: 'CONFIG_INVALID', detail: expect.stringContaining('another file system') });
  });

  it('need a way out for acknowledgements', async () => {
    const { ackOut: _, ...others } = folders.config.folders;
    await expect(folders.watch({ config: { ...folders.config, folders: others } })).rejects.toMatchObject({ code: 'CONFIG_INVALID' });
  });
});
