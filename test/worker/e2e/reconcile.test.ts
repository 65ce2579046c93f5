import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { availableStores } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { ASSETS, assetSheet, type Crew, openCrew, told } from '../../support/worker.js';
import { insertAssets } from '../jobs/bench.js';
import { open } from '../store/opened.js';
import { fallDue } from './due.js';

let crew: Crew;
afterEach(() => crew?.close());

const RECONCILE = { ...JSON.parse(ASSETS), kind: 'reconcile' };
const ROWS = 30;

it.each((await availableStores()).filter(({ name }) => name === 'redis'))(
  'reconcile jobs run by schedule and out of the drop folder on $name',
  async ({ start }) => {
    crew = await openCrew({
      server: await start(),
      jobs: { erp: JSON.stringify({ ...RECONCILE, apply: true }) },
    });
    const held = Array.from({ length: ROWS }, (_, i) => ({ name: i < 2 ? 'old' : `n${i}`, serial_number: `S${i}` }));
    insertAssets(crew.sandbox, held);
    const whole = assetSheet(ROWS);
    await place(whole);
    await crew.worker('one');
    const store = await open(crew.server);
    try {
      const queue = store.queue('rowferry');
      const nights = async () =>
        (await queue.getJobs(['completed', 'failed'])).filter(({ id }) => /^night\./.test(id ?? ''));
      const night = async (number: number) => {
        const about = { name: 'nightly', timezone: 'Europe/Berlin', content: RECONCILE, file: 'nightly.csv' };
        const id = `night.nightly.${await fallDue(crew, store, { ...about, minutesAgo: 9 - number })}`;
        await until(async () => (await queue.getJob(id))?.finishedOn !== undefined, { what: id });
        const { status, rows, reconcile } = (await queue.getJob(id))?.returnvalue ?? {};
        return { status, invalid: rows.invalid, orphans: reconcile.orphans.total };
      };
      // Nights that only report, and find the same every time.
      expect([await night(1), await night(2)]).toEqual(Array(2).fill({ status: 'succeeded', invalid: 0, orphans: 0 }));
      expect(crew.sandbox.requests.writes).toBe(0);
      // A file with a row that needs a person; then one without a row: its record is an orphan.
      await place(whole.replace('n6,S6', `${'x'.repeat(300)},S6`));
      expect(await night(3)).toMatchObject({ status: 'partial', invalid: 1, orphans: 0 });
      await place(whole.replace('n7,S7\r\n', ''));
      expect(await night(4)).toMatchObject({ invalid: 0, orphans: 1 });
      const all = await nights();
      expect(all.map(({ name, failedReason }) => `${name} ${failedReason ?? ''}`)).toEqual(Array(4).fill('reconcile '));
      expect(crew.sandbox.requests.writes).toBe(0);

      for (const name of ['a.csv', 'b.csv']) {
        const before = (await crew.ended('done', 'erp')).length;
        await crew.drop(name, whole, 'erp');
        await until(async () => (await crew.ended('done', 'erp')).length > before, { what: name });
      }
      const [first, second] = await Promise.all((await crew.ended('done', 'erp')).map(told));
      expect(first?.summary).toMatchObject({
        kind: 'reconcile',
        dry_run: false,
        rows: { updated: 2, unchanged: ROWS - 2 },
      });
      expect(second?.summary).toMatchObject({ dry_run: false, rows: { updated: 0, unchanged: ROWS } });
      expect(crew.sandbox.commits).toHaveLength(2);
      const dropped = [first, second].map((one) => `drop.erp.${one?.summary.run}`);
      for (const id of dropped) {
        await until(async () => (await queue.getJob(id))?.finishedOn !== undefined, { what: id });
        expect((await queue.getJob(id))?.name).toBe('reconcile');
      }
    } finally {
      await store.close();
    }
  },
  120_000,
);

it.each((await availableStores()).filter(({ name }) => name === 'redis'))(
  'a dropped file is reconciled to its end on $name by the other worker when the one that has it is killed',
  async ({ start }) => {
    const rows = 300;
    crew = await openCrew({
      server: await start(),
      sharedHome: true,
      sandbox: { latencyMs: 20, keepBodies: false },
      env: { ROWFERRY_CONCURRENCY: '8' },
      jobs: { erp: JSON.stringify({ ...RECONCILE, apply: true, brakes: { max_updates: '100%' } }) },
    });
    insertAssets(
      crew.sandbox,
      Array.from({ length: rows }, (_, i) => ({ name: 'old', serial_number: `S${i}` })),
    );
    const workers = await Promise.all([crew.worker('one'), crew.worker('two')]);
    await crew.drop('erp.csv', assetSheet(rows), 'erp');
    const share = (part: number) =>
      until(() => crew.sandbox.commits.length >= part * rows, { what: `${part} of the rows` });
    await share(0.3);
    const [coordinator, helper] = workers[0].coordinates() ? workers : [workers[1], workers[0]];
    await coordinator.kill();
    const { summary } = await crew.only(90_000, 'erp');
    expect(summary).toMatchObject({ kind: 'reconcile', status: 'succeeded', rows: { updated: rows, total: rows } });
    const { commits } = crew.sandbox;
    expect([commits.length, new Set(commits.map(({ id }) => id)).size]).toEqual([rows, rows]);
    expect(helper.coordinates()).toBe(true);
  },
  180_000,
);

/** Replaces the file of the schedule in one step, as an ERP should. */
async function place(content: string): Promise<void> {
  await writeFile(join(crew.dir, 'nightly.tmp'), content);
  await rename(join(crew.dir, 'nightly.tmp'), join(crew.dir, 'nightly.csv'));
}
