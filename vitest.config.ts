import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Suites that leave nothing behind in their process: one process runs many of them, and loads the sources once. */
const TOGETHER = [
  'blank-workbook',
  'cli',
  'corpus',
  'export',
  'files',
  'hostile',
  'model',
  'pipeline',
  'report',
  'resources',
  'runs',
  'sandbox',
  'service',
  'suggest',
  'trace',
].map((folder) => `test/${folder}/**/*.test.ts`);

const shared = {
  // They end what hangs; no test is about time, and a machine may be slow.
  testTimeout: 60_000,
  hookTimeout: 120_000,
  pool: 'forks',
} as const;

export default defineConfig({
  test: {
    // Most suites wait for a service or a process now and then: one more worker than there are cores keeps them busy.
    maxWorkers: availableParallelism() + 1,
    reporters: ['default'],
    projects: [
      { test: { ...shared, name: 'together', include: TOGETHER, isolate: false } },
      { test: { ...shared, name: 'alone', include: ['test/**/*.test.ts'], exclude: TOGETHER } },
    ],
  },
});
