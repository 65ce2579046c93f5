import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expectRecords, openLab } from '../measure/lab.mjs';
import { openQueue } from '../measure/queue.mjs';
import { writeSheet } from '../measure/sheet.mjs';

/** Seconds as both summaries state them: the worker is up before, and the command's start is no part of the run. Needs redis-server. */
export default {
  name: 'queue-overhead',
  title: 'import through the queue, 0 ms service: seconds',
  baseline: 'the in-process runner',
  async open({ folder, quick }) {
    const rows = quick ? 2_000 : 30_000;
    const sheet = join(folder, 'assets.csv');
    await writeSheet(sheet, rows);
    const lab = await openLab(folder);
    const job = lab.job('assets');
    const cwd = join(folder, 'worker');
    mkdirSync(cwd);
    const queue = await openQueue(cwd, { ...lab.environment(cwd), ROWFERRY_CONCURRENCY: '32' }).catch(async (error) => {
      await lab.close();
      throw error;
    });
    const figure = async (argv, options) => {
      await lab.reset();
      const { summary } = await lab.ours(argv, options);
      await expectRecords(lab, rows);
      return { value: summary.seconds, unit: 's' };
    };
    return {
      variants: [
        {
          what: `${rows.toLocaleString('en-US')} rows`,
          goal: { most: 1.05 },
          ours: () =>
            figure(['enqueue', 'import', '--job', job, '--file', sheet, '--wait', '--force'], {
              home: 'worker',
              env: { ROWFERRY_QUEUE_URL: queue.url },
            }),
          baseline: () => figure(['import', sheet, '--job', job, '--concurrency', '32']),
          ratio: (ours, baseline) => ours.value / baseline.value,
        },
      ],
      async close() {
        await queue.close();
        await lab.close();
      },
    };
  },
};
