import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { itWith, privateRedis } from '../support/servers.js';
import { until } from '../support/until.js';
import { ASSETS, assetSheet, type Crew, openCrew } from '../support/worker.js';
import { open } from '../worker/store/opened.js';
import { itMoves, openWallClock, type WallClock } from './wall-clock.js';

let crew: Crew | undefined;
let clock: WallClock | undefined;
afterEach(async () => {
  await crew?.close();
  await clock?.close();
  [crew, clock] = [undefined, undefined];
});

describe.skipIf((await itWith('redis')) !== it)('a nightly job', () => {
  itMoves(
    'runs once a local date, however the clock of its machine is put forward and back (42, 43)',
    async () => {
      const wall = await openWallClock();
      clock = wall;
      const redis = await privateRedis();
      const schedule = { cron: '0 2 * * *', timezone: 'UTC', file: 'nightly.csv' };
      const opened = await openCrew({
        server: { url: redis.url, home: '', stop: () => redis.stop() },
        env: { ...wall.env },
        jobs: { nightly: JSON.stringify({ ...JSON.parse(ASSETS), schedule }) },
      });
      crew = opened;
      await writeFile(join(opened.dir, 'nightly.csv'), assetSheet(3));
      const store = await open(opened.server);
      try {
        const queue = store.queue('rowferry');
        /** Starts the worker at a moment, and answers the nights that have been run by the time it has looked. */
        const nightsAt = async (moment: string, expected: number) => {
          wall.setTo(new Date(moment));
          const worker = await opened.worker('one');
          const looked = { withinMs: 120_000, what: `the look at ${moment}` };
          await until(() => store.leased('schedules'), looked);
          await until(async () => (await queue.getCompletedCount()) >= expected, looked);
          await worker.terminate();
          const jobs = await queue.getJobs();
          return jobs.map(({ id = '' }) => id).sort();
        };
        expect(await nightsAt('2026-03-10T01:30:00Z', 0)).toEqual([]);
        const first = 'night.nightly.2026-03-10T0200';
        expect(await nightsAt('2026-03-10T02:10:00Z', 1)).toEqual([first]);
        expect(await nightsAt('2026-03-10T01:40:00Z', 1)).toEqual([first]);
        expect(await nightsAt('2026-03-10T02:20:00Z', 1)).toEqual([first]);
        expect(await nightsAt('2026-03-11T02:10:00Z', 2)).toEqual([first, 'night.nightly.2026-03-11T0200']);
        expect(opened.sandbox.commits).toHaveLength(3);
      } finally {
        await store.close();
      }
    },
    600_000,
  );
});
