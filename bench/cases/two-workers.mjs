import { lastJson } from '../measure/scripts.mjs';

/** Needs redis-server. Service, queue and both workers share the cores of this machine. */
export default {
  name: 'two-workers',
  title: 'two workers on one queue, 20 ms service',
  baseline: 'one worker',
  async open({ quick, rounds }) {
    const rows = quick ? 4_000 : 20_000;
    const program = `import('vite').then((vite) => vite.runnerImport('./test/worker/e2e/bench.ts'))`;
    const env = { BENCH_ROWS: String(rows), BENCH_ROUNDS: String(rounds) };
    const { one, two } = await lastJson(process.execPath, ['-e', program], env);
    const rates = (seconds) => ({ value: rows / seconds, unit: 'rows/s', seconds });
    return {
      command: `BENCH_ROWS=${rows} BENCH_ROUNDS=${rounds} node -e "${program}"`,
      results: [
        {
          what: `${rows.toLocaleString('en-US')} rows`,
          goal: { least: 1.9 },
          rounds: one.map((seconds, i) => ({ ours: rates(two[i]), baseline: rates(seconds), ratio: seconds / two[i] })),
        },
      ],
    };
  },
};
