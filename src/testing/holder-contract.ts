import type { Contract } from './index.js';
import { sampleAttempt, sampleClaim, sampleDecision, sampleKey, sampleReply } from './sample.js';

/** G3, G4, G7: renew, settle, release, and what stands against them. */
export function holderContract(contract: Contract): void {
  renewContract(contract);
  settleContract(contract);
  releaseContract(contract);
}

function renewContract({ runner: { describe, it, expect }, on }: Contract): void {
  describe('renew', () => {
    it('prolongs the lease of its own claim only', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('renew'), 'a', { leaseMs: 60_000 });
      await ledger.claim(claim);
      const before = (await ledger.find(claim.key))?.record;
      const renewed = await ledger.renew({ ...sampleAttempt(claim).held, leaseMs: 3_600_000 });
      expect(renewed.kind).toBe('ok');
      if (renewed.kind === 'ok') expect((renewed.record.leaseUntil ?? 0) > (before?.leaseUntil ?? 0) + 3_000_000).toBe(true);
      expect((await ledger.renew({ ...sampleAttempt(claim).held, token: 'other' })).kind).toBe('stale');
      expect((await ledger.renew({ ...sampleAttempt(claim).held, key: sampleKey('none') })).kind).toBe('gone');
    }));
  });
}

function settleContract({ runner: { describe, it, expect }, on }: Contract): void {
  describe('settle', () => {
    it('is repeatable under its token and keeps the first bytes', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('settle'), 'a');
      await ledger.claim(claim);
      const settle = sampleAttempt(claim).settle('one');
      expect((await ledger.settle(settle)).kind).toBe('ok');
      expect((await ledger.settle(settle)).kind).toBe('ok');
      const { record } = await ledger.find(claim.key) ?? {};
      expect(record?.state).toBe('settled');
      expect(record?.leaseUntil).toBe(undefined);
      expect(record?.attempts.map(({ outcome }) => outcome)).toEqual(['accepted']);
    }));

    it('lets the first of two Receipts win and shows it to the second', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('two receipts'), 'a');
      await ledger.claim(claim);
      await ledger.settle(sampleAttempt(claim).settle('one'));
      const other = { ...sampleAttempt({ ...claim, token: 'b' }).settle('two') };
      for (const answer of [await ledger.settle(other), await ledger.settle(other)]) {
        expect(answer.kind).toBe('stale');
        if (answer.kind === 'stale') {
          expect(answer.twoReceipts).toBe(true);
          expect(answer.record.reply?.receiptId).toBe('one@receipt');
        }
      }
      expect((await ledger.find(claim.key))?.record.attempts.map(({ token }) => token)).toEqual(['a', 'b']);
    }));

    it('keeps a Receipt for other content as an accepted attempt', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('two contents'), 'a');
      await ledger.claim(claim);
      await ledger.settle(sampleAttempt(claim).settle('one'));
      const other = sampleAttempt({ ...claim, token: 'b', fingerprint: 'signed:content-b' }).settle('two');
      const answer = await ledger.settle(other);
      expect(answer.kind === 'stale' && answer.twoContents).toBe(true);
      const record = (await ledger.find(claim.key))?.record;
      expect(record?.twoContents).toBe(true);
      expect(record?.fingerprint).toBe(claim.fingerprint);
      expect(record?.attempts.at(-1)?.outcome).toBe('accepted');
    }));

    it('creates the record where it was lost amid the delivery', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('flushed'), 'a');
      const answer = await ledger.settle(sampleAttempt(claim).settle('one', { beganMsAgo: 5_000 }));
      expect(answer.kind).toBe('ok');
      const found = await ledger.find(claim.key);
      expect(found?.record.state).toBe('settled');
      expect((found?.now ?? 0) - (found?.record.born ?? 0) >= 5_000).toBe(true);
      expect((await ledger.claim({ ...claim, token: 'b' })).kind).toBe('settled');
    }));

    it('settles what another attempt holds by now: a Receipt is proof', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('late receipt'), 'a', { uncertain: 'redeliver' });
      await ledger.claim(claim);
      await ledger.release(sampleAttempt(claim).release('uncertain'));
      const second = sampleClaim(claim.key, 'b', { uncertain: 'redeliver' });
      const answer = await ledger.claim(second);
      expect(answer.kind === 'claimed' && answer.mark).toBe('redelivery');
      expect((await ledger.settle(sampleAttempt(claim).settle('first receipt'))).kind).toBe('ok');
      expect((await ledger.renew(sampleAttempt(second).held)).kind).toBe('stale');
      const stale = await ledger.settle(sampleAttempt(second).settle('second receipt'));
      expect(stale.kind).toBe('stale');
      if (stale.kind !== 'gone') expect(stale.record.reply?.receiptId).toBe('first receipt@receipt');
    }));

    it('settles from held too', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('held, then receipt'), 'a');
      await ledger.claim(claim);
      await ledger.release(sampleAttempt(claim).release('uncertain', { hold: true }));
      expect((await ledger.claim({ ...claim, token: 'b' })).kind).toBe('held');
      expect((await ledger.settle(sampleAttempt(claim).settle('late'))).kind).toBe('ok');
      expect((await ledger.claim({ ...claim, token: 'c' })).kind).toBe('settled');
    }));

    it('counts settles once', on(async ({ ledger }) => {
      const before = (await ledger.meta()).settles;
      const claim = sampleClaim(sampleKey('high water'), 'a');
      await ledger.claim(claim);
      await ledger.settle(sampleAttempt(claim).settle('one'));
      await ledger.settle(sampleAttempt(claim).settle('one'));
      await ledger.settle(sampleAttempt(sampleClaim(sampleKey('absent'), 'a')).settle('two'));
      const after = await ledger.meta();
      expect(after.settles - before).toBe(2);
      expect((await ledger.meta()).id).toBe(after.id);
    }));
  });
}

function releaseContract({ runner: { describe, it, expect }, on }: Contract): void {
  describe('release', () => {
    it('never forgets: the next copy sees what came before it', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('rejected'), 'a');
      await ledger.claim(claim);
      const release = sampleAttempt(claim).release('rejected');
      expect((await ledger.release(release)).kind).toBe('ok');
      expect((await ledger.release(release)).kind).toBe('ok');
      const next = await ledger.claim({ ...claim, token: 'b' });
      expect(next.kind === 'claimed' && next.mark).toBe('first');
      expect(next.kind === 'claimed' && next.previous?.state).toBe('open');
      expect(next.record.rejections).toBe(1);
      expect(next.record.attempts.map(({ outcome }) => outcome)).toEqual(['rejected', undefined]);
      const overtaken = await ledger.release(release);
      expect(overtaken.kind).toBe('stale');
    }));

    it('leaves an uncertain attempt to policy: redeliver, hold, auto', on(async ({ ledger }) => {
      const policies = [
        ['redeliver', 0, 'claimed'], ['hold', 1e9, 'held'], ['auto', 0, 'held'], ['auto', 1e9, 'claimed'],
      ] as const;
      for (const [uncertain, remembersMs, expected] of policies) {
        const claim = sampleClaim(sampleKey(`${uncertain} ${remembersMs}`), 'a', { uncertain, remembersMs });
        await ledger.claim(claim);
        await ledger.release(sampleAttempt(claim).release('uncertain'));
        const answer = await ledger.claim({ ...claim, token: 'b' });
        expect(answer.kind).toBe(expected);
        if (answer.kind === 'claimed') expect(answer.mark).toBe('redelivery');
        if (answer.kind === 'held') expect((await ledger.find(claim.key))?.record.state).toBe('held');
      }
    }));

    it('does not count a rejection after an uncertain attempt, nor one that does not count', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('counting'), 'a', { uncertain: 'redeliver' });
      await ledger.claim(claim);
      await ledger.release(sampleAttempt(claim).release('rejected', { counts: false }));
      const tokens = ['b', 'c', 'd'] as const;
      const outcomes = ['rejected', 'uncertain', 'rejected'] as const;
      for (const [i, token] of tokens.entries()) {
        const next = { ...claim, token };
        await ledger.claim(next);
        await ledger.release(sampleAttempt(next).release(outcomes[i] ?? 'rejected'));
      }
      expect((await ledger.find(claim.key))?.record.rejections).toBe(1);
    }));

    it('writes down the uncertain attempt of a record that was lost meanwhile', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('lost'), 'a');
      expect((await ledger.release(sampleAttempt(claim).release('uncertain'))).kind).toBe('ok');
      expect((await ledger.claim({ ...claim, token: 'b' })).kind).toBe('held');
    }));

    it('changes nothing once settled', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('settled first'), 'a');
      await ledger.claim(claim);
      await ledger.settle(sampleAttempt(claim).settle('one'));
      expect((await ledger.release(sampleAttempt(claim).release('rejected'))).kind).toBe('stale');
      expect((await ledger.find(claim.key))?.record.state).toBe('settled');
    }));
  });

  describe('attach and revoke', () => {
    it('replace the reply of a settled record, and take a settled one back', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('acknowledged'), 'a');
      await ledger.claim(claim);
      expect((await ledger.attach({ key: claim.key, reply: sampleReply('ack') })).kind).toBe('stale');
      await ledger.settle(sampleAttempt(claim).settle('accepted'));
      expect((await ledger.attach({ key: claim.key, reply: sampleReply('ack'), decision: sampleDecision('attach') })).kind).toBe('ok');
      expect((await ledger.claim({ ...claim, token: 'b' })).record.reply?.receiptId).toBe('ack@receipt');
      expect((await ledger.revoke({ key: claim.key, decision: sampleDecision('revoke') })).kind).toBe('ok');
      expect((await ledger.revoke({ key: claim.key, decision: sampleDecision('revoke') })).kind).toBe('ok');
      const corrected = await ledger.claim({ ...claim, token: 'c', fingerprint: 'signed:corrected' });
      expect(corrected.kind === 'claimed' && corrected.mark).toBe('first');
      expect(corrected.record.reply).toBe(undefined);
      expect((await ledger.revoke({ key: sampleKey('none'), decision: sampleDecision('revoke') })).kind).toBe('gone');
    }));
  });
}
