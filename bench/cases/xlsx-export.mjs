import { scriptResult } from '../measure/scripts.mjs';

export default {
  name: 'xlsx-export',
  title: 'rows → XLSX with date and money formats',
  baseline: 'exceljs streaming with styles',
  async open({ quick }) {
    const { rows, results } = await scriptResult('xlsx-export.mjs', quick ? ['--quick'] : []);
    return {
      command: `node bench/xlsx-export.mjs${quick ? ' --quick' : ''}`,
      results: results.map(({ columns, blank, ours, exceljs, ratio }) => ({
        what: `${columns} columns, ${blank}% blank, ${rows.toLocaleString('en-US')} rows`,
        goal: { least: 3 },
        ours: { value: ours.rate, unit: 'rows/s', peak: ours.peak },
        baseline: { value: exceljs.rate, unit: 'rows/s', peak: exceljs.peak },
        ratio,
        note: `${ours.peak} MB`,
      })),
    };
  },
};
