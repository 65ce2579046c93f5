import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { sharedStores } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { ASSETS, assetSheet, type Crew, openCrew } from '../../support/worker.js';
import { open } from '../store/opened.js';

let crew: Crew;
afterEach(() => crew?.close());

const SLOTS = 4;

it.each(await sharedStores())(
  'a schedule runs once a slot with two workers on $name',
  async ({ start }) => {
    const schedule = { cron: '*/2 * * * * *', timezone: 'Europe/Berlin', file: 'nightly.csv' };
    crew = await openCrew({
      server: await start(),
      jobs: { nightly: JSON.stringify({ ...JSON.parse(ASSETS), schedule }) },
    });
    await writeFile(join(crew.dir, 'nightly.csv'), assetSheet(5));
    const workers = await Promise.all([crew.worker('one'), crew.worker('two')]);
    const store = await open(crew.server);
    try {
      const queue = store.queue('rowferry');
      const completed = () => queue.getCompletedCount();
      await until(async () => (await completed()) >= SLOTS, { withinMs: 60_000, what: `${SLOTS} runs` });
      // The process that decides dies: the other one takes over.
      const deciding = workers.find((worker) => /The job nightly, due at/.test(worker.err()));
      expect(deciding).toBeDefined();
      await deciding?.kill();
      const before = await completed();
      await until(async () => (await completed()) >= before + SLOTS, {
        withinMs: 60_000,
        what: `${SLOTS} runs of the other worker`,
      });
      const jobs = await queue.getJobs(['completed', 'failed']);
      expect(jobs.filter(({ failedReason }) => failedReason).map(({ failedReason }) => failedReason)).toEqual([]);
      const slots = jobs.map(({ id }) => /^night\.nightly\.(\d{4}-\d\d-\d\dT\d{4,6})$/.exec(id ?? '')?.[1]);
      expect(slots).not.toContain(undefined);
      expect(new Set(slots).size).toBe(slots.length);
      const runs = jobs.map(({ returnvalue }) => returnvalue.run);
      expect(new Set(runs).size).toBe(runs.length);
      expect(crew.sandbox.commits).toHaveLength(5);
    } finally {
      await store.close();
    }
  },
  180_000,
);
