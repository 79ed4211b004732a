import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // needs Java and other people's software: npm run test:interop
    exclude: [...configDefaults.exclude, 'test/interop/**'],
    // Real servers and child processes need room, on a busy machine too; no test asserts a duration.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    teardownTimeout: 20_000,
    // Real servers, ports and signals on a machine that others use too: a build server tries a failed test again, a
    // developer's machine does not, so that what is flaky is seen and mended there.
    retry: process.env['CI'] === undefined ? 0 : 2,
    pool: 'forks',
    // A good part of its time a test waits for a server or a child process of its own: with three workers two cores were
    // busy for 85 % of the run, so it takes four to keep them at work.
    maxWorkers: 4,
    coverage: {
      provider: 'v8',
      include: ['src/**', 'conformance/**'],
      reporter: ['text-summary', 'html'],
    },
  },
});
