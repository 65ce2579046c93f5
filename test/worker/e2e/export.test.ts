import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Job } from 'bullmq';
import { parse } from 'csv-parse/sync';
import { afterEach, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/sandbox/index.js';
import { availableStores } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { ASSETS, type Crew, openCrew } from '../../support/worker.js';
import { open } from '../store/opened.js';
import { fallDue } from './due.js';

let crew: Crew;
afterEach(() => crew?.close());

const EXPORT = {
  kind: 'export',
  resource: 'asset',
  columns: ['id', 'name', 'serial_number'],
  output: 'exports/assets.csv',
};

function fill(sandbox: Sandbox, assets: number): void {
  sandbox.insert(
    'asset',
    Array.from({ length: assets }, (_, i) => ({ name: `n${i}`, serial_number: `00${i}` })),
  );
}

/** The file holds what the service holds, in its order. */
async function expectWhole(file: string): Promise<void> {
  const rows = parse(await readFile(file, 'utf8'), { columns: true }) as Record<string, string>[];
  const held = crew.sandbox
    .records('asset')
    .map(({ id, name, serial_number }) => ({ id: String(id), name, serial_number }));
  expect(rows).toEqual(held);
}

/** Embedded the workers share a data folder: the run is continued. On Redis each has its own: it is begun anew. */
const stores = (await availableStores()).filter(({ name }) => name !== 'postgres');

describe.each(stores)('an export on $name', ({ name, start }) => {
  it('is finished by another worker when the one that had it is killed in the middle', async () => {
    crew = await openCrew({
      server: await start(),
      sandbox: { latencyMs: 40 },
      env: { ROWFERRY_CONCURRENCY: '1' },
      jobs: { nightly: JSON.stringify(EXPORT) },
    });
    fill(crew.sandbox, 600);
    await mkdir(join(crew.dir, 'exports'));
    const target = join(crew.dir, 'exports', 'assets.csv');
    await writeFile(target, 'the old one');
    const argv = ['--queue-only'];
    const one = await crew.worker('one', { argv });
    // Embedded, the second comes when the first is gone.
    const second = () => crew.worker('two', { argv });
    const beside = name === 'embedded' ? undefined : await second();
    const waiting = await crew.command('three', 'enqueue', 'export', '--job', 'nightly', '--wait', '--json');
    await until(() => crew.sandbox.requests.total > 15, { what: 'the middle' });
    const coordinator = beside?.coordinates() ? beside : one;
    await coordinator.kill();
    const other = coordinator === beside ? one : (beside ?? (await second()));
    expect(await readFile(target, 'utf8')).toBe('the old one');

    expect([await waiting.ended, waiting.err()]).toEqual([0, expect.anything()]);
    const summary = JSON.parse(waiting.out());
    expect(summary).toMatchObject({
      status: 'succeeded',
      records: 600,
      consistency: 'verified',
      target: { path: target },
    });
    expect(other.err()).toContain(name === 'embedded' ? '"run taken up again"' : '"run begun"');
    await expectWhole(target);
    expect(await readdir(join(crew.dir, 'exports'))).toEqual(['assets.csv']);
    expect(crew.sandbox.commits).toEqual([]);
  });
});

it.each(stores.filter(({ name }) => name === 'redis'))(
  'a schedule exports once a slot with two workers on $name, and its file is no input',
  async ({ start }) => {
    const file = 'exports/slot-{date}.csv';
    crew = await openCrew({ server: await start(), jobs: { assets: ASSETS } });
    fill(crew.sandbox, 30);
    await Promise.all([crew.worker('one'), crew.worker('two')]);
    const store = await open(crew.server);
    try {
      const queue = store.queue('rowferry');
      for (const nights of [1, 2, 3]) {
        const about = { name: 'nightly', timezone: 'Asia/Tokyo', content: EXPORT, file, minutesAgo: 4 - nights };
        await fallDue(crew, store, about);
        await until(async () => (await queue.getCompletedCount()) >= nights, {
          what: `run ${nights}`,
        });
      }
      const jobs: Job[] = await queue.getJobs(['completed', 'failed']);
      const slots = jobs.map(({ id }) => /^night\.nightly\.(\d{4}-\d\d-\d\d)T\d{4}$/.exec(id ?? '')?.[0]);
      expect(slots).not.toContain(undefined);
      expect(new Set(slots).size).toBe(slots.length);
      expect(new Set(jobs.map(({ returnvalue }) => returnvalue.run)).size).toBe(jobs.length);
      for (const { name, id = '', data, returnvalue } of jobs) {
        const date = id.slice('night.nightly.'.length).slice(0, 10);
        expect([name, data]).toEqual(['export', { job: 'nightly', file }]);
        expect(returnvalue).toMatchObject({ kind: 'export', status: 'succeeded', records: 30 });
        expect(returnvalue.target.path).toBe(join(crew.dir, 'exports', `slot-${date}.csv`));
        await expectWhole(returnvalue.target.path);
      }
      // The drop folder knows the job, and has no folder for it.
      expect((await readdir(crew.inbox)).filter((name) => /^\w/.test(name))).toEqual(
        expect.not.arrayContaining(['nightly', 'exports']),
      );
      expect(crew.sandbox.commits).toEqual([]);
    } finally {
      await store.close();
    }
  },
  120_000,
);

/** What anybody who reaches the queue may put on it, and a word of each fault that is to be told. */
const FORGED: readonly [data: unknown, ...faults: RegExp[]][] = [
  [{ job: 'nightly', file: '/etc/cron.daily/a.csv' }, /not below a folder that this worker may write to/],
  [{ job: 'nightly', file: '../../etc/a.csv' }, /not below a folder/],
  [{ job: 'nightly', file: 'way-out/a.csv' }, /not below a folder/],
  [{ job: 'nightly', file: 'way-out.csv' }, /not below a folder/],
  [{ job: 'nightly', file: 'inbox/assets/a.csv' }, /in the drop folder/],
  [{ job: 'nightly', file: 'jobs/a.csv' }, /in the jobs folder/],
  [{ job: 'nightly', file: 'a.yaml' }, /\.yaml is not written/],
  [{ job: 'nightly', rows: [{ Name: 'a' }] }, /unknown key `rows`/],
  [{ job: 'nightly', options: { force: true } }, /unknown key `options.force`/],
  [{ job: 'assets', file: 'a.csv' }, /is of kind import, not export/],
];

it.each(stores.filter(({ name }) => name === 'redis'))(
  'forged exports fail at once on $name, and the next one is run',
  async ({ start }) => {
    crew = await openCrew({ server: await start(), jobs: { nightly: JSON.stringify(EXPORT), assets: ASSETS } });
    fill(crew.sandbox, 2);
    await mkdir(join(crew.dir, '.outside'));
    await symlink('/etc', join(crew.dir, 'way-out'));
    await symlink(join(crew.dir, '.outside', 'a.csv'), join(crew.dir, 'way-out.csv'));
    await crew.worker('one', { argv: ['--queue-only'] });
    const store = await open(crew.server);
    try {
      const queue = store.queue('rowferry');
      const jobs: Job[] = [];
      for (const [data] of FORGED) jobs.push(await queue.add('export', data, { attempts: 5, backoff: 1 }));
      const good = await queue.add('export', { job: 'nightly' });
      const ended = async (id = '') => (await queue.getJob(id))?.finishedOn !== undefined;
      await until(async () => (await Promise.all([...jobs, good].map(({ id }) => ended(id)))).every(Boolean), {
        what: 'the end of every job',
      });
      for (const [at, job] of jobs.entries()) {
        const [data, ...faults] = FORGED[at] ?? [''];
        const now = await queue.getJob(job.id ?? '');
        const shown = JSON.stringify(data);
        expect([shown, await now?.getState(), now?.attemptsMade]).toEqual([shown, 'failed', 1]);
        for (const fault of faults) expect(now?.failedReason).toMatch(fault);
      }
      const run = await queue.getJob(good.id ?? '');
      expect(run?.returnvalue).toMatchObject({ status: 'succeeded', records: 2 });
      await expectWhole(join(crew.dir, 'exports', 'assets.csv'));
      expect(await readdir(join(crew.dir, '.outside'))).toEqual([]);
      expect(await readdir(join(crew.dir, 'jobs'))).toEqual(['assets.yaml', 'nightly.yaml']);
    } finally {
      await store.close();
    }
  },
  120_000,
);
