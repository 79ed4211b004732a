import { describe, expect, test } from 'vitest';
import { REQUIREMENTS } from '../../conformance/registry.js';
import { runSuite } from '../../conformance/run/runner.js';
import { GoodReceiver } from './receivers/good.js';
import { makeCast, stage } from './receivers/target.js';

describe('the suite against a receiver that does everything right', () => {
  test('nothing fails, warns or errs, and what is skipped is named', { timeout: 120_000 }, async () => {
    const scene = await stage((options) => new GoodReceiver(options), makeCast());
    try {
      const results = await runSuite(scene.target, { requirements: REQUIREMENTS, jobs: 4 });
      const bad = results.filter(({ verdict }) => ['fail', 'warning', 'error', 'blocked'].includes(verdict));
      expect(bad.map(({ requirement, verdict, detail }) => `${requirement.id} ${verdict}: ${detail}`)).toEqual([]);
      expect(results).toHaveLength(REQUIREMENTS.length);
      expect(results.filter(({ verdict }) => verdict === 'skipped').map(({ requirement }) => requirement.id)).toEqual(
        [],
      );
      expect(results.filter(({ verdict }) => verdict === 'pass').length).toBeGreaterThan(100);
    } finally {
      await scene.close();
    }
  });
});
