import type { Point, PointAnswer } from '../ledger/port.js';
import type { Contract } from './index.js';
import { sampleAttempt, sampleClaim, sampleKey, samplePoint } from './sample.js';

/** Second keys: a pointer's truth is the state of its primary. */
export function secondKeyContract({ runner: { describe, it, expect }, on }: Contract): void {
  describe('a second key', () => {
    const pointer = sampleKey('digests', 'sender');
    const first = sampleClaim(sampleKey('first message'), 'a', { reference: 'first' });
    const second = sampleClaim(sampleKey('second message'), 'b', { reference: 'second' });

    it('is the first one\'s, and no hit for itself', on(async ({ ledger }) => {
      await ledger.claim(first);
      expect((await ledger.point(samplePoint(pointer, first))).kind).toBe('mine');
      expect((await ledger.point(samplePoint(pointer, first))).kind).toBe('mine');
      expect((await ledger.point(samplePoint(pointer, first, { token: 'again' }))).kind).toBe('mine');
    }));

    it('is in flight, then a hit, for another message with the same content', on(async ({ ledger }) => {
      await ledger.claim(first);
      await ledger.point(samplePoint(pointer, first));
      await ledger.claim(second);
      expect((await ledger.point(samplePoint(pointer, second))).kind).toBe('inFlight');
      await ledger.settle(sampleAttempt(first).settle('one'));
      const hit = await ledger.point(samplePoint(pointer, second));
      expect(hit.kind).toBe('hit');
      if (hit.kind === 'hit') expect(hit.primary.key).toBe(first.key);
      expect((await ledger.point(samplePoint(pointer, second, { fingerprint: 'signed:other' }))).kind).toBe('differs');
    }));

    it('goes on to the next where its primary was rejected or is gone', on(async ({ ledger }) => {
      await ledger.claim(first);
      await ledger.point(samplePoint(pointer, first));
      await ledger.release(sampleAttempt(first).release('rejected'));
      await ledger.claim(second);
      expect((await ledger.point(samplePoint(pointer, second))).kind).toBe('mine');
      await ledger.settle(sampleAttempt(second).settle('two'));
      expect((await ledger.point(samplePoint(pointer, first))).kind).toBe('hit');
      const lost = samplePoint(sampleKey('other digests'), sampleClaim(sampleKey('never claimed'), 'x'));
      expect((await ledger.point(lost)).kind).toBe('mine');
      expect((await ledger.point({ ...lost, primary: first.key })).kind).toBe('mine');
    }));

    /** The answer, and the message that it names. */
    const told = (answer: PointAnswer): string => (answer.kind === 'mine' ? 'mine' : `${answer.kind} ${answer.primary.reference}`);
    const third = sampleClaim(sampleKey('third message'), 'c', { reference: 'third' });
    const redeliver = { uncertain: 'redeliver' } as const;

    it('goes on where nobody knows what became of its primary, and says so; whatever proves it later is a hit', on(async ({ ledger }) => {
      await ledger.claim(first);
      await ledger.point(samplePoint(pointer, first));
      await ledger.release(sampleAttempt(first).release('uncertain'));
      await ledger.claim(second);
      const unclear = `unclear ${first.reference}`;
      expect(told(await ledger.point(samplePoint(pointer, second, redeliver)))).toBe(unclear);
      // the same question again, as after a lost reply
      expect(told(await ledger.point(samplePoint(pointer, second, redeliver)))).toBe(unclear);
      // one at a time
      await ledger.claim(third);
      expect(told(await ledger.point(samplePoint(pointer, third, redeliver)))).toBe(`inFlight ${second.reference}`);
      await ledger.release(sampleAttempt(second).release('rejected'));
      expect(told(await ledger.point(samplePoint(pointer, third, redeliver)))).toBe(unclear);
      await ledger.settle(sampleAttempt(first).settle('late'));
      expect(told(await ledger.point(samplePoint(pointer, third, redeliver)))).toBe(`hit ${first.reference}`);
    }));

    it('finds what was accepted of those before, whatever content came between', on(async ({ ledger }) => {
      const other = { ...redeliver, fingerprint: 'signed:content-b' };
      await ledger.claim(first);
      await ledger.point(samplePoint(pointer, first));
      await ledger.release(sampleAttempt(first).release('uncertain'));
      await ledger.claim(second);
      expect(told(await ledger.point(samplePoint(pointer, second, other)))).toBe('unclear first');
      await ledger.release(sampleAttempt(second).release('rejected'));
      await ledger.settle(sampleAttempt(first).settle('late'));
      expect(told(await ledger.point(samplePoint(pointer, third, redeliver)))).toBe('hit first');
      expect(told(await ledger.point(samplePoint(pointer, third, other)))).toBe('differs first');
    }));

    it('waits for an operator where policy says so, and only then', on(async ({ ledger }) => {
      await ledger.claim(first);
      await ledger.point(samplePoint(pointer, first));
      await ledger.release(sampleAttempt(first).release('uncertain'));
      await ledger.claim(second);
      const ask = async (change: Partial<Point>): Promise<string> => told(await ledger.point(samplePoint(pointer, second, change)));
      expect(await ask({ uncertain: 'hold' })).toBe(`held ${first.reference}`);
      expect(await ask({ uncertain: 'auto', remembersMs: 0 })).toBe(`held ${first.reference}`);
      expect(await ask({ uncertain: 'hold', waits: false })).toBe(`unclear ${first.reference}`);
      expect(await ask({ uncertain: 'auto', remembersMs: 3_600_000 })).toBe(`unclear ${first.reference}`);
    }));

    it('waits for the operator of a message that is held, whatever its own policy', on(async ({ ledger }) => {
      await ledger.claim(first);
      await ledger.point(samplePoint(pointer, first));
      await ledger.release(sampleAttempt(first).release('uncertain', { hold: true }));
      await ledger.claim(second);
      expect(told(await ledger.point(samplePoint(pointer, second, redeliver)))).toBe(`held ${first.reference}`);
      expect(told(await ledger.point(samplePoint(pointer, second, { ...redeliver, waits: false })))).toBe(`unclear ${first.reference}`);
    }));

    it('is replaced after its own settle where the other is still in work', on(async ({ ledger }) => {
      await ledger.claim(first);
      await ledger.point(samplePoint(pointer, first));
      await ledger.claim(second);
      await ledger.settle(sampleAttempt(second).settle('two'));
      expect((await ledger.point(samplePoint(pointer, second))).kind).toBe('mine');
      expect((await ledger.point(samplePoint(pointer, first))).kind).toBe('hit');
    }));

    it('goes to one of many at the same time', on(async ({ ledger, second: other }) => {
      const claims = Array.from({ length: 20 }, (_, i) => sampleClaim(sampleKey(`copy ${i}`), `t${i}`));
      await Promise.all(claims.map((claim) => ledger.claim(claim)));
      const answers = await Promise.all(claims.map((claim, i) => ((i % 2 === 0 ? ledger : other) ?? ledger).point(samplePoint(pointer, claim))));
      expect(answers.filter(({ kind }) => kind === 'mine').length).toBe(1);
      expect(answers.filter(({ kind }) => kind === 'inFlight').length).toBe(19);
    }));
  });
}
