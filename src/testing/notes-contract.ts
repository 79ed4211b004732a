import type { Contract } from './index.js';
import { sampleClaim, sampleKey } from './sample.js';

/** G13, G14: what lies beside the records. */
export function notesContract({ runner: { describe, it, expect }, capabilities, on }: Contract): void {
  const DAY = 86_400_000;

  describe('notes', () => {
    it(
      'keeps the last write of a name, and removes what is null',
      on(async ({ ledger, second }) => {
        await ledger.note({ shelf: 'tally/2026-12-01', entries: { 'a/1': 'one', 'b/1': 'two' }, keptMs: DAY });
        await ledger.note({ shelf: 'tally/2026-12-01', entries: { 'a/1': 'ONE', 'c/ü ✓': '' }, keptMs: DAY });
        await ledger.note({ shelf: 'tally/2026-12-01', entries: { 'b/1': null }, keptMs: DAY });
        const expected = { 'a/1': 'ONE', 'c/ü ✓': '' };
        expect(Object.fromEntries(await ledger.notes('tally/2026-12-01'))).toEqual(expected);
        expect(Object.fromEntries(await (second ?? ledger).notes('tally/2026-12-01'))).toEqual(expected);
      }),
    );

    it(
      'keeps shelves apart, also where one name begins with another',
      on(async ({ ledger }) => {
        await ledger.note({ shelf: 'a', entries: { x: '1' }, keptMs: DAY });
        await ledger.note({ shelf: 'a/b', entries: { x: '2' }, keptMs: DAY });
        await ledger.note({ shelf: 'ab', entries: { y: '3' }, keptMs: DAY });
        expect([...(await ledger.notes('a'))]).toEqual([['x', '1']]);
        expect([...(await ledger.notes('a/b'))]).toEqual([['x', '2']]);
        expect([...(await ledger.notes('none'))]).toEqual([]);
      }),
    );

    it(
      'are no records',
      on(async ({ ledger }) => {
        await ledger.note({ shelf: 'nodes', entries: { x: '1' }, keptMs: DAY });
        let records = 0;
        for await (const { record } of ledger.iterate()) records += record.key.length;
        expect(records).toBe(0);
        expect((await ledger.stats()).records).toBe(0);
      }),
    );

    it(
      'are forgotten as a shelf after their time, and not before',
      on(async ({ ledger, pass }) => {
        const [short, long] = capabilities.movableClock ? [DAY, 40 * DAY] : [300, 60_000];
        await ledger.note({ shelf: 'short', entries: { x: '1' }, keptMs: short });
        await ledger.note({ shelf: 'long', entries: { x: '1' }, keptMs: long });
        expect([...(await ledger.notes('short'))]).toEqual([['x', '1']]);
        await pass(short * 2);
        expect([...(await ledger.notes('short'))]).toEqual([]);
        expect([...(await ledger.notes('long'))]).toEqual([['x', '1']]);
        await ledger.note({ shelf: 'short', entries: { y: '2' }, keptMs: short });
        expect([...(await ledger.notes('short'))]).toEqual([['y', '2']]);
      }),
    );
  });

  describe('meta', () => {
    it(
      'says what time it is, and what the records are written in',
      on(async ({ ledger }) => {
        const claim = sampleClaim(sampleKey('time'), 'a');
        await ledger.claim(claim);
        const found = await ledger.find(claim.key);
        const meta = await ledger.meta();
        expect(meta.now >= (found?.record.born ?? Infinity)).toBe(true);
        expect(meta.format).toBe(meta.newestFormat);
        expect((await ledger.upgrade()).format).toBe(meta.newestFormat);
      }),
    );

    it(
      'tells everybody that an operator took the ledger as it is',
      on(async ({ ledger, second }) => {
        expect((await ledger.meta()).accepted).toBe(undefined);
        const first = await ledger.accept({ who: 'anna', reason: 'restored' });
        expect(first.accepted?.who).toBe('anna');
        expect(first.accepted?.reason).toBe('restored');
        expect((await (second ?? ledger).meta()).accepted).toEqual(first.accepted);
        const again = await (second ?? ledger).accept({ who: 'anna', reason: 'restored' });
        expect(again.accepted?.id === first.accepted?.id).toBe(false);
      }),
    );
  });
}
