import { scriptResult } from '../measure/scripts.mjs';

const GOALS = { shared: 6.7, inline: 6.3 };

export default {
  name: 'xlsx-read',
  title: 'XLSX → rows, 25 columns',
  baseline: 'exceljs streaming',
  async open({ quick }) {
    const { rows, results } = await scriptResult('read-xlsx.mjs', ['--json', ...(quick ? ['--quick'] : [])]);
    return {
      command: `node bench/read-xlsx.mjs${quick ? ' --quick' : ''}`,
      results: results.map(({ strings, ours, exceljs, ratio, cpuRatio, many }) => ({
        what: `${strings} strings, ${rows.toLocaleString('en-US')} rows`,
        goal: { least: GOALS[strings] },
        ours: { value: ours.rate, unit: 'rows/s', peak: ours.peak },
        baseline: { value: exceljs.rate, unit: 'rows/s', peak: exceljs.peak },
        ratio,
        note: `by CPU time ${cpuRatio}; ${ours.peak} MB, ${many.rows.toLocaleString('en-US')} rows ${many.peak} MB`,
      })),
    };
  },
};
