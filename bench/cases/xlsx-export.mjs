import { scriptResult } from '../measure/scripts.mjs';

/** What was reached, by columns: it must not fall. */
const GOALS = { 25: 7, 90: 9.4 };

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
        goal: { least: GOALS[columns] },
        ours: { value: ours.rate, unit: 'rows/s', peak: ours.peak },
        baseline: { value: exceljs.rate, unit: 'rows/s', peak: exceljs.peak },
        ratio,
        note: `${ours.peak} MB`,
      })),
    };
  },
};
