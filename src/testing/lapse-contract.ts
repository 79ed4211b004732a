import type { Contract } from './index.js';
import { sampleAttempt, sampleClaim, sampleKey } from './sample.js';

/** G5, G6, G12: leases and windows on the ledger's own clock. Times are short, since some engines' clocks cannot be moved. */
const LEASE = 150;
const PAST = 200;

export function lapseContract({ runner: { describe, it, expect }, capabilities, on }: Contract): void {
  describe('lease', () => {
    it('lapses, and the attempt counts as uncertain', on(async ({ ledger, pass }) => {
      const claim = sampleClaim(sampleKey('lapsed'), 'a', { leaseMs: LEASE, uncertain: 'redeliver' });
      await ledger.claim(claim);
      await pass(PAST);
      const answer = await ledger.claim({ ...claim, token: 'b' });
      expect(answer.kind).toBe('claimed');
      if (answer.kind === 'claimed') {
        expect(answer.mark).toBe('redelivery');
        expect(answer.tookOver).toBe(true);
        expect(answer.previous?.token).toBe('a');
      }
      expect(answer.record.attempts.map(({ outcome }) => outcome)).toEqual(['uncertain', undefined]);
      expect((await ledger.release(sampleAttempt(claim).release('rejected'))).kind).toBe('stale');
      expect((await ledger.renew(sampleAttempt(claim).held)).kind).toBe('stale');
    }));

    it('lapses into held where policy holds', on(async ({ ledger, pass }) => {
      const claim = sampleClaim(sampleKey('lapsed, held'), 'a', { leaseMs: LEASE, uncertain: 'hold' });
      await ledger.claim(claim);
      await pass(PAST);
      expect((await ledger.claim({ ...claim, token: 'b' })).kind).toBe('held');
      expect((await ledger.list('held')).map(({ key }) => key)).toEqual([claim.key]);
    }));

    it('is revived by its holder where nobody took it', on(async ({ ledger, pass }) => {
      const claim = sampleClaim(sampleKey('revived'), 'a', { leaseMs: LEASE, uncertain: 'redeliver' });
      await ledger.claim(claim);
      await pass(PAST);
      expect((await ledger.renew({ ...sampleAttempt(claim).held, leaseMs: 60_000 })).kind).toBe('ok');
      expect((await ledger.claim({ ...claim, token: 'b' })).kind).toBe('inFlight');
    }));

    it('is one claimer\'s, however many take over at once', on(async ({ ledger, second, pass }) => {
      const claim = sampleClaim(sampleKey('herd'), 'a', { leaseMs: LEASE, uncertain: 'redeliver' });
      await ledger.claim(claim);
      await pass(PAST);
      const answers = await Promise.all(Array.from({ length: 30 }, (_, i) =>
        ((i % 2 === 0 ? ledger : second) ?? ledger).claim({ ...claim, leaseMs: 60_000, token: `t${i}` })));
      const granted = answers.filter(({ kind }) => kind === 'claimed');
      expect(granted.length <= 1).toBe(true);
      const last = await ledger.claim({ ...claim, leaseMs: 60_000, token: 'last' });
      expect(last.kind).toBe(granted.length === 1 ? 'inFlight' : 'claimed');
    }));
  });

  describe('window', () => {
    it('ends: what stands longer is recognised and claimed anew, late', on(async ({ ledger, pass }) => {
      const claim = sampleClaim(sampleKey('late'), 'a', { windowMs: LEASE, lateMs: 3_600_000, patienceMs: 1, leaseMs: 60_000 });
      await ledger.claim(claim);
      await ledger.settle(sampleAttempt(claim).settle('one'));
      await pass(PAST);
      const answer = await ledger.claim({ ...claim, token: 'b' });
      expect(answer.kind === 'claimed' && answer.mark).toBe('late');
      expect(answer.record.follows?.receiptId).toBe('one@receipt');
      expect(answer.record.attempts.length).toBe(1);
      expect(answer.record.born > (answer.record.follows?.born ?? Infinity)).toBe(true);
    }));

    it('is judged with today\'s policy, and raised in standing records by extend', on(async ({ ledger, pass }) => {
      const claim = sampleClaim(sampleKey('raised'), 'a', { windowMs: 100, patienceMs: 1, leaseMs: 60_000 });
      await ledger.claim(claim);
      await ledger.settle(sampleAttempt(claim).settle('one'));
      expect((await ledger.extend({ key: claim.key, windowMs: 3_600_000, lateMs: 0 })).kind).toBe('ok');
      expect((await ledger.extend({ key: claim.key, windowMs: 10, lateMs: 0 })).kind).toBe('ok');
      await pass(PAST);
      const longer = await ledger.claim({ ...claim, token: 'b', windowMs: 3_600_000 });
      expect(longer.kind).toBe('settled');
      expect(longer.record.window).toBe(3_600_000);
      expect((await ledger.claim({ ...claim, token: 'c' })).kind).toBe('claimed');
    }));

    it('is over without a trace where nothing is kept', on(async ({ ledger, pass }) => {
      const claim = sampleClaim(sampleKey('over'), 'a', { windowMs: LEASE, patienceMs: 1, leaseMs: 60_000 });
      await ledger.claim(claim);
      await ledger.settle(sampleAttempt(claim).settle('one'));
      await pass(PAST);
      expect(await ledger.find(claim.key)).toBe(undefined);
      const answer = await ledger.claim({ ...claim, token: 'b' });
      expect(answer.kind === 'claimed' && answer.mark).toBe('first');
    }));

    it('does not end a record in work', on(async ({ ledger, pass }) => {
      const claim = sampleClaim(sampleKey('long work'), 'a', { windowMs: 10, leaseMs: 60_000, patienceMs: 60_000 });
      await ledger.claim(claim);
      await pass(PAST);
      expect((await ledger.claim({ ...claim, token: 'b' })).kind).toBe('inFlight');
    }));

    it('of a certain rejection is a day at most', on(async ({ ledger, pass }) => {
      const claim = sampleClaim(sampleKey('short'), 'a', { openKeptMs: LEASE });
      await ledger.claim(claim);
      await ledger.release(sampleAttempt(claim).release('rejected'));
      expect((await ledger.find(claim.key))?.record.state).toBe('open');
      await pass(PAST);
      expect(await ledger.find(claim.key)).toBe(undefined);
    }));

    if (capabilities.movableClock) {
      it('is exactly as long as it says', on(async ({ ledger, pass }) => {
        const day = 86_400_000;
        const claim = sampleClaim(sampleKey('ninety days'), 'a', { windowMs: 90 * day });
        await ledger.claim(claim);
        await ledger.settle(sampleAttempt(claim).settle('one'));
        await pass(90 * day - 1);
        expect((await ledger.claim({ ...claim, token: 'b' })).kind).toBe('settled');
        await pass(1);
        expect((await ledger.claim({ ...claim, token: 'c' })).kind).toBe('claimed');
      }));
    }
  });
}
