import { lastJson } from '../measure/scripts.mjs';

const PROGRAM = `import('vite').then((vite) => vite.runnerImport('./test/worker/e2e/bench.ts'))`;
/** At which a worker waits rather than works: so more of them can be told apart on few cores. */
const SLOW_MS = 100;
/** By workers. */
const GOALS = { 2: 1.9, 3: 2.8, 4: 3.7 };

/** Needs redis-server. Service, queue and all workers share the cores of this machine. */
export default {
  name: 'two-workers',
  title: 'several workers on one queue',
  baseline: 'one worker',
  async open({ quick, rounds }) {
    const two = { rows: quick ? 4_000 : 20_000, rounds, workers: [1, 2], latency: 20 };
    // Many enough that start and end, which one worker does alone, do not outweigh what they share.
    const four = { rows: quick ? 2_000 : 8_000, rounds: 1, workers: [1, 2, 3, 4], latency: SLOW_MS };
    const [fast, slow] = [await linesOf(two), await linesOf(four)];
    return {
      command: `${commandOf(two)}; ${commandOf(four)}`,
      results: [...fast, ...slow].map((line) => ({ ...line, goal: { least: GOALS[line.point.x] } })),
    };
  },
};

const envOf = ({ rows, rounds, workers, latency }) => ({
  BENCH_ROWS: String(rows),
  BENCH_ROUNDS: String(rounds),
  BENCH_WORKERS: workers.join(','),
  BENCH_LATENCY: String(latency),
});

const commandOf = (how) =>
  `${Object.entries(envOf(how))
    .map((pair) => pair.join('='))
    .join(' ')} node -e "${PROGRAM}"`;

/** Each number of workers beyond one, held against one in the same round. */
async function linesOf(how) {
  const { seconds } = await lastJson(process.execPath, ['-e', PROGRAM], envOf(how));
  const rates = (taken) => ({ value: how.rows / taken, unit: 'rows/s', seconds: taken });
  return how.workers.slice(1).map((workers) => ({
    what: `${workers} workers, ${how.latency} ms service, ${how.rows.toLocaleString('en-US')} rows`,
    point: { series: `workers, ${how.latency} ms`, x: workers },
    rounds: seconds[workers].map((taken, round) => {
      const one = seconds[1][round];
      return { ours: rates(taken), baseline: rates(one), ratio: one / taken };
    }),
  }));
}
