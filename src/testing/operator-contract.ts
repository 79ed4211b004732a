import type { Contract } from './index.js';
import { sampleAttempt, sampleClaim, sampleDecision, sampleKey, sampleReply } from './sample.js';

/** The operator's way out, and what it is refused. */
export function operatorContract({ runner: { describe, it, expect }, on }: Contract): void {
  const settle = { fingerprint: 'signed:content-a', decision: sampleDecision('settle'), force: false } as const;
  const release = { decision: sampleDecision('release'), force: false } as const;

  describe('the operator', () => {
    it('is refused while an attempt is in progress, unless forced', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('live'), 'a');
      await ledger.claim(claim);
      expect((await ledger.operatorRelease({ key: claim.key, ...release })).kind).toBe('live');
      expect((await ledger.operatorSettle({ key: claim.key, reply: sampleReply('r'), ...settle })).kind).toBe('live');
      expect((await ledger.operatorRelease({ key: claim.key, ...release, force: true })).kind).toBe('ok');
      expect((await ledger.renew(sampleAttempt(claim).held)).kind).toBe('stale');
    }));

    it('releases a held record: claimed once, marked, whatever policy says', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('released'), 'a', { uncertain: 'hold' });
      await ledger.claim(claim);
      await ledger.release(sampleAttempt(claim).release('uncertain', { hold: true }));
      expect((await ledger.operatorRelease({ key: claim.key, ...release })).kind).toBe('ok');
      expect((await ledger.operatorRelease({ key: claim.key, ...release })).kind).toBe('ok');
      const decisions = (await ledger.find(claim.key))?.record.decisions;
      expect(decisions?.map(({ what, who, reason }) => [what, who, reason])).toEqual([['release', 'operator', 'told by phone']]);
      expect((decisions?.[0]?.when ?? 0) > 0).toBe(true);
      const answer = await ledger.claim({ ...claim, token: 'b' });
      expect(answer.kind === 'claimed' && answer.mark).toBe('redelivery');
      await ledger.release(sampleAttempt({ ...claim, token: 'b' }).release('rejected'));
      expect((await ledger.claim({ ...claim, token: 'c' })).kind).toBe('held');
    }));

    it('settles a held record with the Receipt that arrived otherwise', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('by hand'), 'a', { fingerprint: 'signed:digests.body' });
      await ledger.claim(claim);
      await ledger.release(sampleAttempt(claim).release('uncertain', { hold: true }));
      const command = { key: claim.key, reply: sampleReply('by hand'), ...settle };
      expect((await ledger.operatorSettle({ ...command, fingerprint: 'signed:others' })).kind).toBe('foreign');
      expect((await ledger.operatorSettle({ ...command, fingerprint: 'signed:digests' })).kind).toBe('ok');
      expect((await ledger.operatorSettle({ ...command, fingerprint: 'signed:digests' })).kind).toBe('ok');
      const copy = await ledger.claim({ ...claim, token: 'b' });
      expect(copy.kind).toBe('settled');
      expect(copy.record.reply?.receiptId).toBe('by hand@receipt');
      expect((await ledger.operatorRelease({ key: claim.key, ...release })).kind).toBe('notAllowed');
      expect((await ledger.operatorSettle({ ...command, reply: sampleReply('other'), fingerprint: undefined })).kind).toBe('notAllowed');
    }));

    it('may act on a lapsed claim without force', on(async ({ ledger, pass }) => {
      const claim = sampleClaim(sampleKey('lapsed, released'), 'a', { leaseMs: 150, uncertain: 'hold' });
      await ledger.claim(claim);
      await pass(200);
      expect((await ledger.operatorRelease({ key: claim.key, ...release })).kind).toBe('ok');
      const answer = await ledger.claim({ ...claim, token: 'b' });
      expect(answer.kind === 'claimed' && answer.mark).toBe('redelivery');
    }));

    it('finds nothing to decide where there is no record', on(async ({ ledger }) => {
      const key = sampleKey('none');
      expect((await ledger.operatorRelease({ key, ...release })).kind).toBe('gone');
      expect((await ledger.operatorSettle({ key, reply: sampleReply('r'), ...settle })).kind).toBe('gone');
    }));

    it('forgets names and keeps what copies are recognised by', on(async ({ ledger }) => {
      const claim = sampleClaim(sampleKey('forgotten'), 'a');
      await ledger.claim(claim);
      await ledger.settle(sampleAttempt(claim).settle('one'));
      const command = { key: claim.key, decision: sampleDecision('forget') };
      expect((await ledger.forget(command)).kind).toBe('ok');
      expect((await ledger.forget(command)).kind).toBe('ok');
      const record = (await ledger.find(claim.key))?.record;
      expect([record?.reference, record?.sender, record?.facts]).toEqual(['', '', { from: [], to: [] }]);
      expect((await ledger.claim({ ...claim, token: 'b' })).kind).toBe('settled');
    }));
  });
}
