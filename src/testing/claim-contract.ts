import type { Contract } from './index.js';
import { sampleAttempt, sampleClaim, sampleKey } from './sample.js';

/** G1, G2: what a copy finds. */
export function claimContract({ runner: { describe, it, expect }, on }: Contract): void {
  describe('claim', () => {
    it('grants the first copy and shows every later one the standing record', on(async ({ ledger }) => {
      const key = sampleKey('first');
      const first = await ledger.claim(sampleClaim(key, 'a'));
      expect(first.kind).toBe('claimed');
      if (first.kind === 'claimed') expect(first.mark).toBe('first');
      expect(first.record.token).toBe('a');
      const second = await ledger.claim(sampleClaim(key, 'b'));
      expect(second.kind).toBe('inFlight');
      expect(second.record.token).toBe('a');
      expect(second.record.copies).toBe(1);
    }));

    it('grants one of a hundred concurrent copies', on(async ({ ledger, second }) => {
      const key = sampleKey('race');
      const claims = Array.from({ length: 100 }, (_, i) => ((i % 2 === 0 ? ledger : second) ?? ledger).claim(sampleClaim(key, `t${i}`)));
      const answers = await Promise.all(claims);
      const winners = answers.filter(({ kind }) => kind === 'claimed');
      expect(winners.length).toBe(1);
      expect(answers.every(({ record }) => record.token === winners[0]?.record.token)).toBe(true);
    }));

    it('keeps different keys apart', on(async ({ ledger }) => {
      const keys = Array.from({ length: 40 }, (_, i) => sampleKey(`message ${i}`, `sender ${i % 3}`));
      const answers = await Promise.all(keys.map((key, i) => ledger.claim(sampleClaim(key, `t${i}`))));
      expect(answers.map(({ kind }) => kind)).toEqual(keys.map(() => 'claimed'));
      expect(answers.map(({ record }) => record.key)).toEqual(keys);
    }));

    it('recognises a claimer that lost the reply of its own claim', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('own'), 'a');
      await ledger.claim(claim);
      const again = await ledger.claim(claim);
      expect(again.kind).toBe('claimed');
      if (again.kind === 'claimed') expect(again.mark).toBe('first');
      expect(again.record.copies).toBe(0);
      expect(again.record.attempts.length).toBe(1);
    }));

    it('replays a settled record, and tells other content and other senders from it', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('settled'), 'a');
      await ledger.claim(claim);
      await ledger.settle(sampleAttempt(claim).settle('one'));
      const copy = await ledger.claim({ ...claim, token: 'b' });
      expect(copy.kind).toBe('settled');
      expect(Buffer.from(copy.record.reply?.deflated ?? []).equals(Buffer.from(sampleAttempt(claim).settle('one').reply.deflated))).toBe(true);
      expect(copy.record.reply?.sha256).toBe(sampleAttempt(claim).settle('one').reply.sha256);
      expect((await ledger.claim({ ...claim, token: 'c', fingerprint: 'signed:content-b' })).kind).toBe('mismatch');
      expect((await ledger.claim({ ...claim, token: 'd', sender: 'POP000009' })).kind).toBe('mismatch');
      expect((await ledger.claim({ ...claim, token: 'e' })).record.copies).toBe(4);
    }));

    it('lets other content wait while the first is in flight: a forged copy must not refuse the genuine one', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('forged'), 'a', { fingerprint: 'signed:forged' });
      await ledger.claim(claim);
      const genuine = sampleClaim(claim.key, 'b');
      expect((await ledger.claim(genuine)).kind).toBe('inFlight');
      await ledger.release(sampleAttempt(claim).release('rejected'));
      const answer = await ledger.claim(genuine);
      expect(answer.kind).toBe('claimed');
      expect(answer.record.fingerprint).toBe(genuine.fingerprint);
      if (answer.kind === 'claimed') expect(answer.mark).toBe('first');
      expect(answer.record.rejections).toBe(1);
    }));

    it('counts a copy once, however often its exchange asks', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('counted'), 'a');
      await ledger.claim(claim);
      await ledger.claim({ ...claim, token: 'b' });
      await ledger.claim({ ...claim, token: 'b', counted: true });
      expect((await ledger.claim({ ...claim, token: 'c' })).record.copies).toBe(2);
      expect((await ledger.find(claim.key))?.record.copies).toBe(2);
    }));

    it('only looks where it is told to take nothing', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('look'), 'a', { take: false });
      expect((await ledger.claim(claim)).kind).toBe('claimed');
      expect(await ledger.find(claim.key)).toBe(undefined);
      await ledger.claim({ ...claim, take: true });
      expect((await ledger.claim({ ...claim, token: 'b' })).kind).toBe('inFlight');
      expect((await ledger.find(claim.key))?.record.copies).toBe(1);
    }));
  });
}
