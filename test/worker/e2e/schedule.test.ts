import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { sharedStores } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { ASSETS, assetSheet, type Crew, openCrew, type RunningWorker } from '../../support/worker.js';
import { open } from '../store/opened.js';
import { fallDue } from './due.js';

let crew: Crew;
afterEach(() => crew?.close());

const JOBS = ['first', 'second', 'third'];

// On Redis: nights.test.ts. What a store has to do for schedules: test/worker/schedule, on each.
it.each((await sharedStores()).filter(({ name }) => name === 'postgres'))(
  'a schedule runs once a slot with two workers on $name',
  async ({ start }) => {
    crew = await openCrew({ server: await start(), jobs: {} });
    await writeFile(join(crew.dir, 'nightly.csv'), assetSheet(5));
    const store = await open(crew.server);
    try {
      const queue = store.queue('rowferry');
      /** A slot of each job falls due, and is run. */
      const night = async (minutesAgo: number): Promise<void> => {
        const slots: string[] = [];
        for (const name of JOBS) {
          const about = {
            name,
            timezone: 'Europe/Berlin',
            content: JSON.parse(ASSETS),
            file: 'nightly.csv',
            minutesAgo,
          };
          slots.push(`night.${name}.${await fallDue(crew, store, about)}`);
        }
        const isOver = async (id: string) => ENDED.has(await queue.getJobState(id).catch(() => 'away'));
        await until(async () => (await Promise.all(slots.map(isOver))).every(Boolean), {
          what: slots.join(', '),
        });
      };
      const workers = await Promise.all([crew.worker('one'), crew.worker('two')]);
      const decides = (worker: RunningWorker) => /The job \w+, due at/.test(worker.err());
      await night(3);
      // The process that decides dies: the other one takes over.
      const deciding = workers.find(decides);
      expect(workers.filter(decides)).toEqual([deciding]);
      await deciding?.kill();
      await night(2);
      expect(workers.filter(decides)).toHaveLength(2);
      const jobs = await queue.getJobs(['completed', 'failed']);
      expect(jobs.filter(({ failedReason }) => failedReason).map(({ failedReason }) => failedReason)).toEqual([]);
      const slots = jobs.map(({ id }) => /^night\.\w+\.\d{4}-\d\d-\d\dT\d{4}$/.exec(id ?? '')?.[0]);
      expect(slots).not.toContain(undefined);
      expect(new Set(slots).size).toBe(2 * JOBS.length);
      const runs = jobs.map(({ returnvalue }) => returnvalue.run);
      expect(new Set(runs).size).toBe(2 * JOBS.length);
      expect(crew.sandbox.commits).toHaveLength(5);
    } finally {
      await store.close();
    }
  },
  180_000,
);

const ENDED = new Set(['completed', 'failed']);
