import type { Contract } from './index.js';
import { sampleAttempt, sampleClaim, sampleKey } from './sample.js';

/** G10, G11, G13: find, list, iterate, watch, stats, meta. */
export function readingContract({ runner: { describe, it, expect }, on }: Contract): void {
  describe('reading', () => {
    it('finds a record, all of a reference, and nothing', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('found', 'one'), 'a');
      await ledger.claim(claim);
      await ledger.claim({ ...claim, key: sampleKey('found', 'two') });
      await ledger.claim({ ...claim, key: sampleKey('other', 'one') });
      expect((await ledger.find(claim.key))?.record.reference).toBe(claim.reference);
      expect((await ledger.find(claim.key))?.record.facts).toEqual(claim.facts);
      expect(await ledger.find(sampleKey('nothing'))).toBe(undefined);
      const keys: string[] = [];
      for await (const record of ledger.findReference(claim.key.split(':')[0] ?? '')) keys.push(record.key);
      expect(keys.toSorted()).toEqual([claim.key, sampleKey('found', 'two')].toSorted());
    }));

    it('lists what is held, uncertain and in flight, judging time itself', on(async ({ ledger, pass }) => {
      const make = (name: string, change = {}): ReturnType<typeof sampleClaim> => sampleClaim(sampleKey(name), 'a', change);
      const [held, uncertain, lapsed, live, done, rejected] = [
        make('held'), make('uncertain'), make('lapsed', { leaseMs: 100 }), make('live'), make('done'), make('rejected'),
      ] as const;
      for (const claim of [held, uncertain, lapsed, live, done, rejected]) await ledger.claim(claim);
      await ledger.release(sampleAttempt(held).release('uncertain', { hold: true }));
      await ledger.release(sampleAttempt(uncertain).release('uncertain'));
      await ledger.settle(sampleAttempt(done).settle('one'));
      await ledger.release(sampleAttempt(rejected).release('rejected'));
      await pass(150);
      const keys = async (what: 'held' | 'uncertain' | 'inFlight'): Promise<string[]> =>
        (await ledger.list(what)).map(({ key }) => key).toSorted();
      expect(await keys('held')).toEqual([held.key]);
      expect(await keys('uncertain')).toEqual([uncertain.key, lapsed.key].toSorted());
      expect(await keys('inFlight')).toEqual([live.key]);
      expect((await ledger.list('uncertain', 1)).length).toBe(1);
      await ledger.settle(sampleAttempt(held).settle('late'));
      expect(await keys('held')).toEqual([]);
    }));

    it('iterates over every record, and goes on from a cursor', on(async ({ ledger }) => {
      const keys = Array.from({ length: 60 }, (_, i) => sampleKey(`message ${i}`));
      await Promise.all(keys.map((key, i) => ledger.claim(sampleClaim(key, `t${i}`))));
      const seen = new Set<string>();
      let cursor: string | undefined;
      let first = 0;
      for await (const entry of ledger.iterate()) {
        seen.add(entry.record.key);
        cursor = entry.cursor;
        first += 1;
        if (first === 20) break;
      }
      for await (const { record } of ledger.iterate(cursor)) seen.add(record.key);
      expect([...seen].toSorted()).toEqual(keys.toSorted());
    }));

    it('wakes who waits for the key, and nobody who stopped waiting', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('watched'), 'a');
      await ledger.claim(claim);
      let stopped = 0;
      const stop = ledger.watch(claim.key, () => {
        stopped += 1;
      });
      const woken = new Promise<void>((resolve) => ledger.watch(claim.key, resolve));
      stop();
      await ledger.settle(sampleAttempt(claim).settle('one'));
      await woken;
      expect(stopped).toBe(0);
      expect((await ledger.find(claim.key))?.record.state).toBe('settled');
    }));

    it('shows one client what another wrote', on(async ({ ledger, second }) => {
      const other = second ?? ledger;
      const claim = sampleClaim(sampleKey('shared'), 'a');
      await ledger.claim(claim);
      expect((await other.find(claim.key))?.record.token).toBe('a');
      expect((await other.settle(sampleAttempt(claim).settle('one'))).kind).toBe('ok');
      expect((await ledger.claim({ ...claim, token: 'b' })).kind).toBe('settled');
      expect((await other.meta()).id).toBe((await ledger.meta()).id);
    }));

    it('counts its records and answers a ping', on(async ({ ledger }) => {
      await Promise.all(Array.from({ length: 10 }, (_, i) => ledger.claim(sampleClaim(sampleKey(`n${i}`), `t${i}`))));
      expect((await ledger.stats()).records >= 10).toBe(true);
      expect((await ledger.ping()).ms >= 0).toBe(true);
    }));
  });
}
