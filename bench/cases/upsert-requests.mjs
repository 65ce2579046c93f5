import { join } from 'node:path';
import { openLab } from '../measure/lab.mjs';
import { writeBodies, writeSheet } from '../measure/sheet.mjs';

const PAGE = 25;

/** Counted by the service. The cheapest plan: the whole list, or a probe of all keys and a filter for each, then one write per changed row. */
export default {
  name: 'upsert-requests',
  title: 'upsert with 1% changed: requests',
  baseline: 'cheapest plan: min(list, probe + filters) + one write per changed row',
  counts: true,
  async open({ folder, quick }) {
    const [rows, records] = quick ? [500, 2_000] : [5_000, 20_000];
    const changed = rows / 100;
    const [sheet, bodies] = [join(folder, 'assets.csv'), join(folder, 'bodies.ndjson')];
    await writeSheet(sheet, rows, (row) => (row % 100 === 0 ? { change: 1 } : undefined));
    await writeBodies(bodies, records);
    const lab = await openLab(folder);
    const job = lab.job('assets');
    const reads = Math.min(Math.ceil(records / PAGE), Math.ceil(rows / PAGE) + rows);
    return {
      variants: [
        {
          what: `${rows.toLocaleString('en-US')} rows, ${records.toLocaleString('en-US')} records`,
          goal: { most: 1.05 },
          ours: async () => {
            await lab.reset();
            await lab.seed(bodies);
            const { summary } = await lab.ours(['import', sheet, '--job', job]);
            if (summary.rows.updated !== changed)
              throw new Error(`${summary.rows.updated} rows were updated instead of ${changed}`);
            const counts = await lab.counts();
            return { value: counts.reads + counts.writes, unit: 'requests', ...counts };
          },
          baseline: async () => ({ value: reads + changed, unit: 'requests' }),
          ratio: (ours, cheapest) => ours.value / cheapest.value,
        },
      ],
      close: () => lab.close(),
    };
  },
};
