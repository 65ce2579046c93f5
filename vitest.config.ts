import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    testTimeout: 30_000,
    hookTimeout: 60_000,
    pool: 'forks',
    // Most suites wait for a service or a process now and then: one more worker than there are cores keeps them busy.
    maxWorkers: availableParallelism() + 1,
    reporters: ['default'],
  },
});
