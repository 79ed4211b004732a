import { beforeAll, describe, expect, test } from 'vitest';
import { FAULTS, judge } from './receivers/faults.js';
import { makeCast } from './receivers/target.js';
import type { Cast } from './receivers/target.js';

// two files, so that two workers share the time
describe('deliberately broken receivers, second half', () => {
  let cast: Cast;
  beforeAll(() => {
    cast = makeCast();
  });

  const names = Object.keys(FAULTS).filter((_, index) => index % 2 === 1);
  test.concurrent.each(names)('%s is caught by the requirements made for it and no other', { timeout: 180_000 }, async (name) => {
    const seen = await judge(name, cast);
    expect(seen.caught).toEqual([...(FAULTS[name]?.caughtBy ?? [])].toSorted());
    expect(seen.errors).toEqual([]);
    expect(seen.blockedByOthers).toEqual([]);
  });
});
