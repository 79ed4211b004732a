import { defineConfig } from 'vitest/config';

/** Other people's software against ours (`npm run test:interop`): slow, and skipped where that software is missing. */
export default defineConfig({
  test: {
    include: ['test/interop/**/*.test.ts'],
    testTimeout: 600_000,
    hookTimeout: 900_000,
    teardownTimeout: 60_000,
    pool: 'forks',
    // one Java machine at a time is enough for two cores
    fileParallelism: false,
  },
});
