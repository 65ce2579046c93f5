import { scriptResult } from '../measure/scripts.mjs';

export default {
  name: 'csv-read',
  title: 'CSV → rows, 25 columns',
  baseline: 'csv-parse, objects (the fastest of its three forms)',
  async open({ quick }) {
    const rows = quick ? 20_000 : 100_000;
    const { results } = await scriptResult('read-csv.mjs', ['--json', ...(quick ? ['--quick'] : [])], {
      BENCH_ROWS: String(rows),
    });
    return {
      command: `BENCH_ROWS=${rows} node bench/read-csv.mjs${quick ? ' --quick' : ''}`,
      results: results.map(({ table, rows, readers }) => {
        const ours = readers.find(({ name }) => name === 'openSource');
        const theirs = readers.filter(({ name }) => name.startsWith('csv-parse'));
        const best = theirs.reduce((a, b) => (b.rate > a.rate ? b : a));
        return {
          what: `${table}, ${rows.toLocaleString('en-US')} rows`,
          goal: { least: 3.7 },
          ours: { value: ours.rate, unit: 'rows/s', peak: ours.peak },
          baseline: { value: best.rate, unit: 'rows/s', peak: best.peak },
          ratio: ours.ratio,
          note: `by CPU time ${ours.cpuRatio}; ${ours.peak} MB`,
        };
      }),
    };
  },
};
