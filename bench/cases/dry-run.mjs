import { join } from 'node:path';
import { timed } from '../measure/child.mjs';
import { BASELINES, openLab } from '../measure/lab.mjs';
import { writeSheet } from '../measure/sheet.mjs';

/** The whole command, reports included, against a script that only reads, checks and writes down the bad rows. */
export default {
  name: 'dry-run',
  title: 'dry run: file → mapped → validated, 25 columns, 10% bad rows',
  baseline: 'csv-parse + zod script with the same rules',
  async open({ folder, quick }) {
    const rows = quick ? 5_000 : 100_000;
    const sheet = join(folder, 'assets.csv');
    await writeSheet(sheet, rows, (row) => (row % 10 === 3 ? { bad: true } : undefined));
    const bad = Math.floor((rows + 6) / 10);
    const lab = await openLab(folder);
    const job = lab.job('assets', 'import', { brakes: { max_invalid: '50%' } });
    const figure = ({ seconds, peak }, found) => {
      if (found !== bad) throw new Error(`${found} bad rows were found instead of ${bad}`);
      return { value: rows / seconds, unit: 'rows/s', seconds, peak };
    };
    return {
      variants: [
        {
          what: `${rows.toLocaleString('en-US')} rows, the whole command`,
          goal: { least: 1.2 },
          ours: async () => {
            const done = await lab.ours(['import', sheet, '--job', job, '--dry-run'], { codes: [3] });
            return figure(done, done.summary.rows.invalid);
          },
          baseline: async () => {
            const done = await timed([join(BASELINES, 'script.mjs'), 'check', sheet]);
            return figure(done, JSON.parse(done.out).bad);
          },
        },
      ],
      close: () => lab.close(),
    };
  },
};
