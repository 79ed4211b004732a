import { describe, expect, it } from 'vitest';
import { simulatedClock } from './simulated-clock.js';

describe('the simulated clock', () => {
  it('wakes sleepers in the order of their times, and those who fall asleep meanwhile', async () => {
    const clock = simulatedClock(1_000);
    const woken: string[] = [];
    const nap = async (name: string, ...naps: number[]): Promise<void> => {
      for (const ms of naps) {
        await clock.sleep(ms);
        woken.push(`${name}@${clock.monotonic()}`);
      }
    };
    const all = [nap('a', 30), nap('b', 10, 10, 100), nap('c', 30)];
    expect(clock.sleeping).toBe(3);
    await clock.advance(29);
    expect(woken).toEqual(['b@10', 'b@20']);
    await clock.advance(1);
    expect(woken.slice(2)).toEqual(['a@30', 'c@30']);
    expect(clock.now()).toBe(1_030);
    await clock.advance(1_000);
    expect(woken.at(-1)).toBe('b@120');
    await Promise.all(all);
  });

  it('lets go of an aborted sleeper and never rejects', async () => {
    const clock = simulatedClock();
    const leave = new AbortController();
    const nap = clock.sleep(1_000, leave.signal);
    await clock.whenSleeping();
    leave.abort();
    await nap;
    await clock.sleep(5, leave.signal);
    expect(clock.sleeping).toBe(0);
  });

  it('gives the same ids and numbers on every run, and a wall clock that can be set alone', () => {
    const [one, other] = [simulatedClock(), simulatedClock()];
    expect([one.id(), one.id(), one.random()]).toEqual([other.id(), other.id(), other.random()]);
    one.setWall(5);
    expect([one.now(), one.monotonic()]).toEqual([5, 0]);
  });
});
