import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Claim } from '../../src/ledger/port.js';
import type { LedgerRecord } from '../../src/ledger/record.js';
import { keptUntil, stands, transition, type CommandName, type Commands, type Moment } from '../../src/ledger/transition.js';
import { sampleAttempt, sampleClaim, sampleDecision, sampleKey } from '../../src/testing/index.js';
import { LIMITS } from '../../src/limits.js';
import { actions } from '../model/commands.js';

const key = sampleKey('one');
const T0 = 1_800_000_000_000;
const at = (now: number, change: Partial<Moment> = {}): Moment => ({ now, contactMs: 1e9, isDead: () => false, ...change });

/** A record and what was done to it, one command after another. */
class Story {
  record: LedgerRecord | undefined;
  now = T0;

  do<K extends CommandName>(name: K, command: Commands[K]['in'], change: Partial<Moment> = {}): Commands[K]['out'] {
    const step = transition(this.record, name, command, at(this.now, change));
    if (step.next !== undefined) this.record = step.next;
    return step.answer;
  }

  claim(token: string, change: Partial<Claim> = {}, moment: Partial<Moment> = {}): Commands['claim']['out'] {
    return this.do('claim', sampleClaim(key, token, change), moment);
  }
}

describe('a lapsed claim', () => {
  const lease = { leaseMs: 20_000, uncertain: 'redeliver' as const };

  it('is taken over only after one full lease of contact, the lease that lapsed', () => {
    const story = new Story();
    story.claim('a', lease);
    story.now += 20_000;
    expect(story.claim('b', { ...lease, leaseMs: 1 }, { contactMs: 19_999 }).kind).toBe('inFlight');
    expect(story.claim('c', lease, { contactMs: 20_000 }).kind).toBe('claimed');
  });

  it('needs no contact and no time where its owner is dead', () => {
    const story = new Story();
    story.claim('a', lease);
    const answer = story.claim('b', lease, { contactMs: 0, isDead: ({ node }) => node === 'node-a' });
    expect(answer.kind === 'claimed' && answer.mark).toBe('redelivery');
  });

  it('is judged for an operator by the same rule', () => {
    const story = new Story();
    story.claim('a', lease);
    story.now += 30_000;
    const command = { key, decision: sampleDecision('release'), force: false };
    expect(story.do('operatorRelease', command, { contactMs: 5_000 }).kind).toBe('live');
    expect(story.do('operatorRelease', command).kind).toBe('ok');
  });

  it('does not lapse by a clock that runs backwards', () => {
    const story = new Story();
    story.claim('a', lease);
    story.now -= 3_600_000;
    expect(story.do('renew', sampleAttempt(sampleClaim(key, 'a', lease)).held).kind).toBe('ok');
    expect(story.record?.leaseUntil).toBe(T0 + 20_000);
    expect(story.claim('b', lease).kind).toBe('inFlight');
  });
});

describe('auto', () => {
  it('redelivers while the access point remembers, counted from the earliest uncertain attempt, and holds afterwards', () => {
    const story = new Story();
    const policy = { uncertain: 'auto' as const, remembersMs: 600_000 };
    for (const token of ['a', 'b', 'c']) {
      const answer = story.claim(token, policy);
      expect(answer.kind).toBe('claimed');
      story.now += 199_000;
      story.do('release', sampleAttempt(sampleClaim(key, token)).release('uncertain'));
    }
    expect(story.record?.firstUncertain).toBe(T0);
    story.now = T0 + 600_000;
    expect(story.claim('d', policy).kind).toBe('held');
  });
});

describe('a late first copy', () => {
  it('stays late when its first attempt was rejected, and keeps what it follows', () => {
    const story = new Story();
    story.claim('a', { windowMs: 1_000, lateMs: 1e9, patienceMs: 1 });
    story.do('settle', sampleAttempt(sampleClaim(key, 'a')).settle('one'));
    story.now += 1_000;
    story.claim('b', { windowMs: 1_000, lateMs: 1e9 });
    story.do('release', sampleAttempt(sampleClaim(key, 'b')).release('rejected'));
    const again = story.claim('c', { windowMs: 1_000, lateMs: 1e9 });
    expect(again.kind === 'claimed' && again.mark).toBe('late');
    expect(again.record.follows).toEqual({ born: T0, receiptId: 'one@receipt', sha256: sampleAttempt(sampleClaim(key, 'a')).settle('one').reply.sha256 });
  });

  it('is none where nothing was accepted in the window before', () => {
    const story = new Story();
    story.claim('a', { windowMs: 1_000, openKeptMs: 1e9 });
    story.do('release', { ...sampleAttempt(sampleClaim(key, 'a')).release('rejected'), openKeptMs: 1e9 });
    story.record = { ...story.record as LedgerRecord, keptUntil: T0 + 1e9 };
    story.now += 1_000;
    const answer = story.claim('b');
    expect(answer.kind === 'claimed' && answer.mark).toBe('first');
    expect(answer.record.follows).toBe(undefined);
  });
});

describe('a record', () => {
  it('keeps its newest attempts and decisions only', () => {
    const story = new Story();
    for (let i = 0; i < 30; i += 1) {
      story.claim(`token ${i}`);
      story.do('release', sampleAttempt(sampleClaim(key, `token ${i}`)).release('uncertain'));
      story.do('operatorRelease', { key, decision: sampleDecision('release', `time ${i}`), force: false });
    }
    expect(story.record?.attempts.length).toBe(LIMITS.attempts);
    expect(story.record?.attempts.at(-1)?.token).toBe('token 29');
    expect(story.record?.decisions?.length).toBe(16);
    expect(story.record?.decisions?.at(-1)?.reason).toBe('time 29');
  });

  it('is settled with the content that was accepted, not with what was sent last', () => {
    const story = new Story();
    story.claim('a', { uncertain: 'redeliver', fingerprint: 'signed:a', sender: 'A' });
    story.do('release', sampleAttempt(sampleClaim(key, 'a')).release('uncertain'));
    story.claim('b', { uncertain: 'redeliver', fingerprint: 'signed:b', sender: 'B' });
    const first = sampleClaim(key, 'a', { fingerprint: 'signed:a', sender: 'A' });
    expect(story.do('settle', sampleAttempt(first).settle('for a')).kind).toBe('ok');
    expect(story.claim('c', { fingerprint: 'signed:a', sender: 'A' }).kind).toBe('settled');
    expect(story.claim('d', { fingerprint: 'signed:b', sender: 'B' }).kind).toBe('mismatch');
    // and the overtaken attempt's own Receipt is kept as a second accepted content
    const second = sampleClaim(key, 'b', { fingerprint: 'signed:b', sender: 'B' });
    const stale = story.do('settle', sampleAttempt(second).settle('for b'));
    expect(stale.kind === 'stale' && stale.twoContents).toBe(true);
  });
});

describe('whatever happens in whatever order', () => {
  /** Commands for one key, with time passing between them. */
  const stories = fc.array(fc.tuple(actions, fc.constantFrom(0, 1, 1_000, 3_600_000, 90_000_000)), { maxLength: 80 });

  it('the version grows, the live are kept, doubt is never forgotten, and a Receipt stays', () => {
    fc.assert(fc.property(stories, (all) => {
      const records = new Map<string, LedgerRecord>();
      let now = T0;
      for (const [action, pause] of all) {
        now += pause;
        if (action.name === 'find' || action.name === 'point') continue;
        const of = action.command.key;
        const before = stands(records.get(of), now);
        const { next, answer } = transition(before, action.name, action.command as never, at(now)) as {
          next?: LedgerRecord; answer: { kind?: string };
        };
        if (next === undefined) continue;
        if (before !== undefined) expect(next.version).toBeGreaterThan(before.version);
        expect(keptUntil(next)).toBeGreaterThan(now);
        if (next.state === 'claimed') expect(keptUntil(next)).toBeGreaterThanOrEqual((next.leaseUntil ?? 0));
        expect(next.state === 'settled').toBe(next.reply !== undefined);
        const windowOver = action.name === 'claim' && action.command.windowMs === 0;
        const sameWindow = before !== undefined && before.born === next.born && !windowOver;
        if (sameWindow && action.name !== 'revoke' && before.firstUncertain !== undefined) expect(next.firstUncertain).toBeLessThanOrEqual(before.firstUncertain);
        if (sameWindow && before.state === 'settled' && !['revoke', 'attach'].includes(action.name)) {
          expect([next.state, next.reply, next.fingerprint]).toEqual(['settled', before.reply, before.fingerprint]);
        }
        if (answer.kind === 'claimed' && sameWindow && before.state !== 'claimed') expect(['open', 'known']).toContain(before.state);
        records.set(of, next);
      }
    }), { numRuns: 500 });
  });
});
