import { join } from 'node:path';
import { expectRecords, openLab } from '../measure/lab.mjs';
import { writeSheet } from '../measure/sheet.mjs';

/** How cost grows: rows at 0 ms, and latency at a fixed number of rows. Workers: the case two-workers. Points of the plot; the one goal is linearity. */
export default {
  name: 'scaling',
  title: 'scaling: rows a second of an import of new rows, 32 in flight',
  baseline:
    'the smallest size that outweighs the start of the process (10,000 rows); of latencies the ideal by arithmetic',
  fullOnly: true,
  async open({ folder, full, quick }) {
    const sizes = full ? [1_000, 10_000, 100_000, 1_000_000] : quick ? [1_000, 5_000] : [1_000, 10_000];
    const latencies = full ? [0, 5, 20, 50, 100] : quick ? [20] : [0, 20, 100];
    const rows = full ? 10_000 : quick ? 1_000 : 5_000;
    const IN_FLIGHT = 32;
    const lab = await openLab(folder);
    const job = lab.job('assets');
    const count = (value) => value.toLocaleString('en-US');
    async function figure(size, latency) {
      const sheet = join(folder, `assets-${size}.csv`);
      await writeSheet(sheet, size);
      await lab.reset();
      await lab.latency(latency);
      const { seconds, peak } = await lab.ours(['import', sheet, '--job', job, '--concurrency', String(IN_FLIGHT)]);
      await expectRecords(lab, size);
      return { value: size / seconds, unit: 'rows/s', seconds, peak };
    }
    const reference = sizes[1];
    return {
      once: true,
      variants: [
        ...sizes.map((size) => ({
          what: `${count(size)} rows, 0 ms`,
          ...(size > reference ? { goal: { least: 0.9 } } : {}),
          point: { series: 'rows', x: size },
          ours: () => figure(size, 0),
          baseline: () => figure(reference, 0),
        })),
        ...latencies.map((latency) => ({
          what: `${count(rows)} rows, ${latency} ms`,
          point: { series: 'latency', x: latency },
          ours: () => figure(rows, latency),
          baseline: async () => {
            const value = latency === 0 ? Number.NaN : (1000 / latency) * IN_FLIGHT;
            return { value, unit: 'rows/s' };
          },
        })),
      ],
      close: () => lab.close(),
    };
  },
};
