import type { Contract } from './index.js';
import { sampleAttempt, sampleClaim, sampleImport, sampleKey } from './sample.js';

/** Import and restore: what was accepted elsewhere, and records that come back from a copy. */
export function adoptContract({ runner: { describe, it, expect }, on }: Contract): void {
  describe('import', () => {
    it('knows what was accepted elsewhere, and holds it where policy says so', on(async ({ ledger, pass }) => {
      const passed = sampleClaim(sampleKey('known'), 'a');
      const other = sampleClaim(sampleKey('known, held'), 'a', { known: 'hold' });
      await ledger.claim(sampleClaim(sampleKey('clock'), 'a'));
      const now = (await ledger.find(sampleKey('clock')))?.now ?? 0;
      expect(await ledger.adopt(sampleImport(passed.key, now))).toBe(true);
      expect(await ledger.adopt(sampleImport(other.key, now))).toBe(true);
      await pass(1);
      expect((await ledger.claim(passed)).kind).toBe('known');
      expect((await ledger.find(passed.key))?.record.state).toBe('known');
      expect((await ledger.claim(other)).kind).toBe('held');
      expect((await ledger.find(other.key))?.record.state).toBe('held');
    }));

    it('imports a Receipt, which is then replayed, and never overwrites', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('imported'), 'a');
      await ledger.claim(sampleClaim(sampleKey('clock'), 'a'));
      const now = (await ledger.find(sampleKey('clock')))?.now ?? 0;
      expect(await ledger.adopt(sampleImport(claim.key, now - 1_000, 'theirs'))).toBe(true);
      expect(await ledger.adopt(sampleImport(claim.key, now, 'other'))).toBe(false);
      const answer = await ledger.claim(claim);
      expect(answer.kind).toBe('settled');
      expect(answer.record.reply?.receiptId).toBe('theirs@receipt');
      expect(await ledger.adopt(sampleImport(sampleKey('old'), now - claim.windowMs - 1))).toBe(false);
    }));

    it('takes many at once as it takes each: what stands stays, and of two of one key the first counts', on(async ({ ledger }) => {
      const standing = sampleClaim(sampleKey('standing'), 'a');
      await ledger.claim(standing);
      const { now = 0 } = (await ledger.find(standing.key)) ?? {};
      const { settles } = await ledger.meta();
      const records = [
        sampleImport(standing.key, now - 1_000, 'late'),
        sampleImport(sampleKey('many'), now - 1_000, 'first'),
        sampleImport(sampleKey('many'), now - 1_000, 'second'),
        sampleImport(sampleKey('past'), now - standing.windowMs - 1),
        ...Array.from({ length: 200 }, (_, i) => sampleImport(sampleKey(`many ${i}`), now - 1_000)),
      ];
      expect(await ledger.adoptAll(records)).toEqual([false, true, false, false, ...Array.from({ length: 200 }, () => true)]);
      expect((await ledger.find(standing.key))?.record.state).toBe('claimed');
      expect((await ledger.find(sampleKey('many')))?.record.reply?.receiptId).toBe('first@receipt');
      expect((await ledger.find(sampleKey('many 199')))?.record.state).toBe('known');
      expect((await ledger.meta()).settles).toBe(settles + 1);
      expect(await ledger.adoptAll(records)).toEqual(records.map(() => false));
      expect(await ledger.adoptAll([])).toEqual([]);
    }));
  });

  describe('restore', () => {
    it(
      'brings back what waits for somebody, and lets nobody hold a claim that was in progress',
      on(async ({ ledger }) => {
        const now = (await ledger.meta()).now;
        const [held, claimed, open] = ['held', 'claimed', 'open'].map((name) => sampleKey(name)) as [
          string,
          string,
          string,
        ];
        const base = sampleImport(held, now - 1_000);
        const attempt = { token: 'old', fingerprint: 'signed:content-a', began: now - 900, node: 'gone' };
        const uncertain = { ...attempt, ended: now - 800, outcome: 'uncertain' as const, reason: 'reset' };
        expect(
          await ledger.adopt({ ...base, state: 'held', attempts: [uncertain], firstUncertain: attempt.began }),
        ).toBe(true);
        expect(
          await ledger.adopt({
            ...base,
            key: open,
            state: 'open',
            attempts: [uncertain],
            firstUncertain: attempt.began,
          }),
        ).toBe(true);
        const owner = { node: 'gone', pid: 1, started: '1', boot: '', pidNamespace: '' };
        expect(
          await ledger.adopt({
            ...base,
            key: claimed,
            state: 'claimed',
            token: 'old',
            leaseUntil: now + 86_400_000,
            lease: 86_400_000,
            owner,
            attempts: [attempt],
          }),
        ).toBe(true);
        expect((await ledger.list('held')).map(({ key }) => key)).toEqual([held]);
        expect((await ledger.list('uncertain')).map(({ key }) => key).toSorted()).toEqual([claimed, open].toSorted());
        expect((await ledger.claim(sampleClaim(claimed, 'new'))).kind).toBe('held');
        expect((await ledger.claim(sampleClaim(held, 'new'))).kind).toBe('held');
        const redelivered = await ledger.claim(sampleClaim(open, 'new', { uncertain: 'redeliver' }));
        expect(redelivered.kind === 'claimed' && redelivered.mark).toBe('redelivery');
        expect((await ledger.settle(sampleAttempt(sampleClaim(claimed, 'old')).settle('late'))).kind).toBe('ok');
      }),
    );
  });
}
