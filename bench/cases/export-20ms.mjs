import { statSync } from 'node:fs';
import { join } from 'node:path';
import { openLab } from '../measure/lab.mjs';
import { writeBodies } from '../measure/sheet.mjs';

const [PAGE, LATENCY] = [25, 20];

/** Only two readings in a row that agree show that no record is missing (src/service/lists/whole-list.ts). */
const PASSES = 2;

/**
 * The ideal needs no computer at all: every page takes 20 ms, so many at a time, and is read twice, as a list has to be
 * that may change meanwhile. Pages of a list at rest may be asked for side by side; of one that changes, one after the
 * other: the walk, an ideal of its own. Ours is from the start of the process to its end.
 */
export default {
  name: 'export-20ms',
  title: 'export, 20 ms per page',
  baseline: '2 readings × pages × 20 ms / pages at a time (arithmetic)',
  async open({ folder, quick }) {
    const records = quick ? 5_000 : 100_000;
    const bodies = join(folder, 'bodies.ndjson');
    await writeBodies(bodies, records);
    const lab = await openLab(folder, LATENCY);
    await lab.seed(bodies);
    let files = 0;
    const walk = (PASSES * Math.ceil(records / PAGE) * LATENCY) / 1000;
    const variant = (parallel) => ({
      note: `one page after the other ${walk} s`,
      what: `${records.toLocaleString('en-US')} records to CSV, ${parallel} at a time`,
      goal: { least: 0.9 },
      ours: async () => {
        const file = join(folder, `export-${++files}.csv`);
        const argv = ['export', 'asset', '-o', file, '--concurrency', String(parallel)];
        const { seconds, peak, summary } = await lab.ours(argv);
        if (statSync(file).size < records * 100) throw new Error(`the export is too small: ${summary.status}`);
        return { value: records / seconds, unit: 'records/s', seconds, peak, requests: summary.requests?.total };
      },
      baseline: async () => {
        const seconds = walk / parallel;
        return { value: records / seconds, unit: 'records/s', seconds };
      },
    });
    return { variants: [variant(16), variant(32)], close: () => lab.close() };
  },
};
