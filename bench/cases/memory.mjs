import { join } from 'node:path';
import { openLab } from '../measure/lab.mjs';
import { writeSheet } from '../measure/sheet.mjs';

/** Peak of the process (VmHWM) in an import of new rows. Flat: ten times the rows take no more than a tenth more. */
export default {
  name: 'memory',
  title: 'peak memory of a CSV import',
  baseline: 'the most it may take; and a tenth of the rows',
  async open({ folder, quick, full }) {
    const [few, many] = full ? [100_000, 1_000_000] : quick ? [1_000, 5_000] : [20_000, 100_000];
    const most = full ? 180 : 160;
    if (full) console.error('memory with 1,000,000 rows: some 5 minutes a round');
    const lab = await openLab(folder);
    const job = lab.job('assets');
    const peak = async (rows) => {
      const sheet = join(folder, `assets-${rows}.csv`);
      await writeSheet(sheet, rows);
      await lab.reset();
      const done = await lab.ours(['import', sheet, '--job', job, '--concurrency', '32']);
      return { value: done.peak, unit: 'MB', seconds: done.seconds };
    };
    let last;
    const count = (rows) => rows.toLocaleString('en-US');
    return {
      variants: [
        {
          what: `${count(many)} rows against ${most} MB`,
          goal: { most: 1 },
          ours: async () => (last = await peak(many)),
          baseline: async () => ({ value: most, unit: 'MB' }),
          ratio: (ours) => ours.value / most,
        },
        {
          what: `${count(many)} rows against ${count(few)}`,
          goal: { most: 1.1 },
          ours: async () => last ?? peak(many),
          baseline: () => peak(few),
          ratio: (ours, baseline) => ours.value / baseline.value,
        },
      ],
      close: () => lab.close(),
    };
  },
};
