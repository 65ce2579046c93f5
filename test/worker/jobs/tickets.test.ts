import { afterEach, expect } from 'vitest';
import { homeId, restoreJobs } from '../../../src/worker/jobs/home.js';
import { itWith } from '../../support/servers.js';
import { type Bench, openBench, runsOf, sheet } from './bench.js';

const it = await itWith('redis');

let bench: Bench;
afterEach(() => bench.close());

it('a job that the queue lost in the middle of its run is put back and continues it (49, 50)', async () => {
  bench = await openBench({ latencyMs: 20 });
  const first = await bench.worker({ env: { ROWFERRY_CONCURRENCY: '2' } });
  await bench.file('a.csv', sheet(80));
  await bench.add({ job: 'assets', file: 'a.csv' }, { attempts: 2 });
  while (bench.sandbox.commits.length < 20) await new Promise((next) => setTimeout(next, 10));
  await first.stop();
  await bench.queue.obliterate({ force: true });
  const [run = ''] = await runsOf(first.settings.home);
  expect(await restoreJobs(first.settings.home, bench.queue, bench.store)).toEqual([run]);
  expect(await restoreJobs(first.settings.home, bench.queue, bench.store)).toEqual([]);
  // Lost once more before anybody took it.
  await bench.queue.obliterate({ force: true });
  expect(await restoreJobs(first.settings.home, bench.queue, bench.store)).toEqual([run]);
  const job = await bench.queue.getJob(`again.${run}`);
  expect(job?.opts.attempts).toBe(2);
  await bench.worker();
  const settled = await bench.settled(job!);
  expect(settled.returnvalue).toMatchObject({ run, rows: { created: 80 } });
  expect(bench.sandbox.commits).toHaveLength(80);
  await settled.remove();
  expect(await restoreJobs(first.settings.home, bench.queue, bench.store)).toEqual([]);
});

it('a job that is put back is left to workers with the data folder that holds its run (49)', async () => {
  bench = await openBench({ latencyMs: 20 });
  const first = await bench.worker({ env: { ROWFERRY_CONCURRENCY: '2' } });
  await bench.file('a.csv', sheet(40));
  await bench.add({ job: 'assets', file: 'a.csv' });
  while (bench.sandbox.commits.length < 10) await new Promise((next) => setTimeout(next, 10));
  await first.stop();
  await bench.queue.obliterate({ force: true });
  const alive = await bench.store.lease(`home.${homeId(first.settings.home)}`, 60_000);
  const other = await bench.worker({ home: 'other' });
  const [run = ''] = await restoreJobs(first.settings.home, bench.queue, bench.store);
  await new Promise((next) => setTimeout(next, 2_500));
  expect(await runsOf(other.settings.home)).toEqual([]);
  await alive?.release();
  await bench.worker();
  const settled = await bench.settled((await bench.queue.getJob(`again.${run}`))!);
  expect(settled.returnvalue).toMatchObject({ run, rows: { created: 40 } });
});

it('an order with the plan of a dry run is carried out by the worker that has the plan', async () => {
  bench = await openBench();
  for (const home of ['one', 'other']) await bench.worker({ home });
  for (let i = 0; i < 4; i++) {
    const order = async (options: object) => {
      const rows = [{ Name: `n${i}`, Serial: `s${i}`, Cost: '1' }];
      return (await bench.settled(await bench.add({ job: 'assets', rows, options }, { attempts: 2 }))).returnvalue;
    };
    const { run } = await order({ dry_run: true });
    expect(await order({ plan_of: run })).toMatchObject({ status: 'succeeded', rows: { created: 1 } });
  }
});

it('a run whose id the queue forgot is known to the data folder (49)', async () => {
  bench = await openBench();
  const { settings } = await bench.worker();
  await bench.file('a.csv', sheet(3));
  const added = await bench.add({ job: 'assets', file: 'a.csv' });
  const before = await bench.settled(added);
  const { run } = before.returnvalue;
  await before.updateProgress({});
  await before.retry('completed');
  const again = await bench.settled(await waitsNo(added.id ?? ''));
  expect(again.returnvalue.run).toBe(run);
  expect(await runsOf(settings.home)).toHaveLength(1);

  async function waitsNo(id: string) {
    for (;;) {
      const job = await bench.queue.getJob(id);
      if (job && (job.progress as { run?: string }).run !== undefined) return job;
      await new Promise((next) => setTimeout(next, 10));
    }
  }
});
