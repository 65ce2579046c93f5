import { execFileSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LANES, LONGEST } from './test/lanes.js';
import { QUICK } from './test/support/process.js';
import { keepTemporaryInMemory } from './test/support/temporary.js';

keepTemporaryInMemory();

/** Properties draw their values from the commit: each one draws others, and the same again when it is repeated. */
process.env['TEST_SEED'] ??= seedOf(process.cwd());
function seedOf(cwd: string): string {
  try {
    const commit = execFileSync('git', ['rev-parse', '--short=7', 'HEAD'], {
      cwd,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return String(Number.parseInt(commit.toString(), 16));
  } catch {
    // Sources without their history.
    return '1';
  }
}

const shared = {
  // They end what hangs; no test is about time, and a machine may be slow.
  testTimeout: 120_000,
  hookTimeout: 240_000,
  expect: { poll: { timeout: 30_000 } },
  pool: 'forks',
  execArgv: QUICK,
  setupFiles: 'test/support/seed.ts',
} as const;

/** Where no lane is named, those after the fast one are one: its processes serve all of it, and who waits stands beside who computes. */
const named = /--project[= ]\w/.test(process.argv.join(' '));
const after = 1 + LANES.findIndex(({ name }) => name === 'fast');
const rest = LANES.slice(after);
const lanes = named
  ? LANES
  : [
      ...LANES.slice(0, after),
      { name: 'rest', together: rest.flatMap((lane) => lane.together), alone: rest.flatMap((lane) => lane.alone) },
    ];

const projects = lanes.flatMap(({ name, together, alone }, at) => {
  const earlier = lanes.slice(0, at).flatMap((lane) => [...lane.together, ...lane.alone]);
  return [
    { test: { ...shared, name, include: [...together], exclude: earlier, isolate: false } },
    {
      test: {
        ...shared,
        name: `${name}-alone`,
        include: [...alone],
        exclude: [...earlier, ...together],
        isolate: true,
      },
    },
  ].filter(({ test }) => test.include.length > 0);
});

/**
 * Suites alone, then those that share processes, each lane in one piece, because a suite of another in between would end the
 * process; the lanes that take longest first, and in each the longest suite.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = (file: TestSpecification): number => {
      const at = projects.findIndex(({ test }) => test.name === file.project.name);
      const turn = projects[at]?.test.isolate ? 0 : projects.length - at;
      const long = LONGEST.indexOf(relative(file.project.config.root, file.moduleId));
      return turn * 1_000 + (long < 0 ? LONGEST.length : long);
    };
    return (await super.sort(files)).sort((a, b) => order(a) - order(b));
  }
}

export default defineConfig({
  test: {
    // Each lane is a project of its own, and would compile the sources anew.
    experimental: { fsModuleCache: true },
    // Many suites wait for a service or a process now and then: more workers than there are cores keep them busy.
    maxWorkers: availableParallelism() + 2,
    reporters: ['default'],
    sequence: { sequencer: LongestFirst },
    projects,
  },
});
