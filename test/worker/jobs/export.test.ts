import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, describe, expect } from 'vitest';
import { localDate } from '../../../src/runs/job-file.js';
import { newRunId } from '../../../src/runs/run/layout.js';
import { restoreJobs } from '../../../src/worker/jobs/home.js';
import { itWith } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { type Bench, type Bound, openBench, runsOf } from './bench.js';

const it = await itWith('redis');

let bench: Bench;
afterEach(() => bench.close());

const EXPORT = { kind: 'export', resource: 'asset', columns: ['id', 'name', 'serial_number'] };

async function open(assets: number, options: Parameters<typeof openBench>[0] = {}): Promise<void> {
  bench = await openBench(options);
  fill(assets);
  const job = { ...EXPORT, output: 'exports/{date}/assets.csv' };
  await writeFile(path.join(bench.dir, 'jobs', 'nightly.yaml'), JSON.stringify(job));
}

function fill(assets: number): void {
  const bodies = Array.from({ length: assets }, (_, i) => ({ name: `n${i}`, serial_number: `00${i}` }));
  bench.sandbox.insert('asset', bodies);
}

const add = (data: unknown, options = {}) => bench.add(data, options, 'export');

/** The file holds what the service holds, in its order. */
async function expectWhole(file: string): Promise<void> {
  const rows = parse(await readFile(file, 'utf8'), { columns: true }) as Record<string, string>[];
  const held = bench.sandbox
    .records('asset')
    .map(({ id, name, serial_number }) => ({ id: String(id), name, serial_number }));
  expect(rows).toEqual(held);
}

const inDir = (...parts: string[]) => path.join(bench.dir, ...parts);

describe('an export of the queue', () => {
  it('writes the file that its job names, tells where it stands, and returns the summary', async () => {
    await open(60);
    const bound = await bench.worker();
    const job = await bench.settled(await add({ job: 'nightly' }));
    const target = inDir('exports', localDate(Date.now()), 'assets.csv');
    expect(job.returnvalue).toMatchObject({
      ...{ kind: 'export', status: 'succeeded', job: 'nightly', resource: 'asset', company: 1, records: 60 },
      ...{ consistency: 'verified', target: { path: target, format: 'csv' }, rows: { total: 0, created: 0 } },
    });
    expect(job.progress).toMatchObject({ phase: 'done', total: 60, done: 60, outcomes: { created: 0, invalid: 0 } });
    expect(job.progress).toHaveProperty('run', job.returnvalue.run);
    await expectWhole(target);
    expect(bound.ended).toMatchObject([
      { job: 'nightly', trigger: 'queue', status: 'succeeded', run: job.returnvalue.run },
    ]);
    expect(bound.ended[0]?.reason).toBeUndefined();
    expect(bench.sandbox.commits).toEqual([]);
    expect(await runsOf(bound.settings.home)).toEqual([job.returnvalue.run]);
  });

  it('may come whole, with a file of its own and another company', async () => {
    await open(3);
    await bench.worker();
    await mkdir(inDir('out'));
    const data = { job: { ...EXPORT, output: 'a.csv' }, file: inDir('out', 'b.csv'), options: { company: 2 } };
    const job = await bench.settled(await add(data));
    expect(job.returnvalue).toMatchObject({ job: 'inline', company: 2, target: { path: inDir('out', 'b.csv') } });
    expect(await readdir(bench.dir)).not.toContain('a.csv');
    const again = await bench.settled(await add({ job: EXPORT, file: 'out/b.csv' }));
    expect(again.returnvalue).toMatchObject({ company: 1, records: 3 });
    await expectWhole(inDir('out', 'b.csv'));
  });

  it('with forged or wrong data fails at once, with a sentence, and touches nothing', async () => {
    await open(1);
    const bound = await bench.worker();
    await mkdir(inDir('secret'));
    await mkdir(inDir('work', 'folder.csv'), { recursive: true });
    await symlink(inDir('secret'), inDir('work', 'out'));
    await symlink(inDir('secret', 'x.csv'), inDir('work', 'x.csv'));
    await bound.stop();
    const worker = await bench.worker({ env: { ROWFERRY_ROOTS: inDir('work') } });
    const wrong: [unknown, string[]][] = [
      [{ job: EXPORT, file: '/etc/cron.d/a.csv' }, ['not below a folder that this worker may write to']],
      [{ job: EXPORT, file: inDir('secret', 'a.csv') }, ['not below a folder']],
      [{ job: EXPORT, file: '../secret/a.csv' }, ['not below a folder']],
      [{ job: EXPORT, file: 'out/a.csv' }, ['not below a folder']],
      [{ job: EXPORT, file: 'out/new/a.csv' }, ['not below a folder']],
      [{ job: EXPORT, file: 'x.csv' }, ['not below a folder']],
      [{ job: { ...EXPORT, output: '../secret/a.csv' } }, ['not below a folder']],
      [{ job: EXPORT, file: '.ssh/a.csv' }, ['is hidden']],
      [{ job: EXPORT, file: 'folder.csv' }, ['is a folder']],
      [{ job: EXPORT, file: 'inbox/assets/a.csv' }, ['in the drop folder']],
      [{ job: EXPORT, file: inDir('home', 'runs', 'a.csv') }, ['what rowferry keeps']],
      [{ job: EXPORT, file: 'a.yaml' }, ['.yaml is not written']],
      [{ job: EXPORT }, ['does not say which file to write']],
      [{ job: EXPORT, file: 'a.csv', rows: [{ a: 1 }] }, ['unknown key `rows`']],
      [{ job: EXPORT, file: 'a.csv', options: { dry_run: true } }, ['unknown key `options.dry_run`']],
      [{ job: { ...EXPORT, columns: ['nmae_of'] }, file: 'a.csv' }, ['nmae_of']],
      [{ job: { ...EXPORT, resource: 'rocket' }, file: 'a.csv' }, ['rocket']],
      [{ job: 'assets', file: 'a.csv' }, ['is of kind import, not export', 'rowferry import FILE --job assets']],
      [{ job: '../../etc/passwd' }, ['without folder and ending']],
      [{ job: 'none' }, ['There is no job `none`']],
    ];
    for (const [data, words] of wrong) {
      const job = await bench.settled(await add(data, { attempts: 5 }));
      expect([data, await job.getState(), job.attemptsMade]).toEqual([data, 'failed', 1]);
      for (const word of words) expect(job.failedReason).toContain(word);
    }
    const swapped = await bench.settled(await bench.add({ job: 'nightly', file: 'a.csv' }));
    expect(swapped.failedReason).toContain(
      'is of kind export, not import: it is run with `rowferry export --job nightly`',
    );
    expect(await readdir(inDir('secret'))).toEqual([]);
    expect((await readdir(inDir('work'))).sort()).toEqual(['folder.csv', 'out', 'x.csv']);
    expect(worker.ended.map(({ status }) => status)).toEqual([...wrong.map(() => 'refused'), 'refused']);
    expect(await runsOf(worker.settings.home)).toEqual([]);
    const good = await bench.settled(await add({ job: EXPORT, file: 'new/a.csv' }));
    expect(good.returnvalue).toMatchObject({ status: 'succeeded' });
    await expectWhole(inDir('work', 'new', 'a.csv'));
  });

  it('of a slot has the date of the slot in its file, and says that it is late', async () => {
    await open(2);
    const schedule = { cron: '0 2 * * *', timezone: 'Asia/Tokyo' };
    const job = { ...EXPORT, output: 'exports/users-{date}.csv', schedule };
    await writeFile(inDir('jobs', 'slots.yaml'), JSON.stringify(job));
    const { ended } = await bench.worker();
    const done = await bench.settled(await add({ job: 'slots' }, { jobId: 'night.slots.2026-07-02T0200' }));
    expect(done.returnvalue).toMatchObject({ target: { path: inDir('exports', 'users-2026-07-02.csv') } });
    expect(done.returnvalue.warnings.join()).toContain('Late: due 2026-07-02 02:00 Asia/Tokyo');
    expect(ended).toMatchObject([{ trigger: 'schedule', status: 'succeeded' }]);
  });

  it('that names a file of the drop folder by its id is no dropped file', async () => {
    await open(1);
    const { ended } = await bench.worker();
    const run = '20261121T081502123Z-3f9a';
    const file = inDir('drop', 'processing', 'nightly', run, 'a.csv');
    const job = await bench.settled(await add({ job: 'nightly', file }, { jobId: `drop.nightly.${run}` }));
    expect(job.failedReason).toContain('in the drop folder');
    expect(ended).toMatchObject([{ trigger: 'queue', status: 'refused' }]);
  });

  it('whose run failed is tried again and goes on', async () => {
    await open(60);
    let calls = 0;
    const wrong = { kind: 'token' as const, token: 'no-such-token' };
    const bound: Bound = await bench.worker({
      deps: { context: () => ({ settings: calls++ === 0 ? { ...bound.settings, auth: wrong } : bound.settings }) },
    });
    const job = await bench.settled(await add({ job: EXPORT, file: 'a.csv' }, { attempts: 2 }));
    expect([job.attemptsMade, job.returnvalue]).toMatchObject([2, { status: 'succeeded', records: 60 }]);
    expect(await runsOf(bound.settings.home)).toEqual([job.returnvalue.run]);
    await expectWhole(inDir('a.csv'));
  });

  it('that cannot be shown to be whole counts as one that failed', async () => {
    let calls = 0;
    await open(80, {
      // Something comes or goes with each page.
      onRequest({ path: asked }) {
        if (!asked.startsWith('/asset/')) return;
        const [first] = bench.sandbox.records('asset');
        if (calls++ % 2 === 0 && first) bench.sandbox.remove('asset', Number(first['id']));
        else bench.sandbox.insert('asset', [{ name: `late ${calls}`, serial_number: `L${calls}` }]);
      },
    });
    const { ended } = await bench.worker();
    const job = await bench.settled(await add({ job: 'nightly' }));
    expect(job.returnvalue).toMatchObject({ status: 'partial', consistency: 'partial' });
    expect(ended).toMatchObject([
      {
        job: 'nightly',
        status: 'partial',
        unverified: true,
        reason: expect.stringContaining('could not be established'),
      },
    ]);
  });
});

describe('an export that another worker must write', () => {
  it('is left to the one whose folder it names', async () => {
    await open(2);
    const target = inDir('b', 'out', 'a.csv');
    const one = await bench.worker({ home: 'home-a', env: { ROWFERRY_ROOTS: inDir('a') } });
    await mkdir(inDir('b'));
    const other = await bench.worker({ home: 'home-b', env: { ROWFERRY_ROOTS: inDir('b') } });
    await other.worker.pause();
    const added = await add({ job: EXPORT, file: target });
    await until(
      async () => (await bench.queue.getJob(added.id ?? ''))?.progress !== undefined && (await added.isDelayed()),
    );
    other.worker.resume();
    const job = await bench.settled(added);
    expect(job.returnvalue).toMatchObject({ status: 'succeeded', target: { path: target } });
    expect([one.ended.length, other.ended.length]).toEqual([0, 1]);
    // Nor does the one that had it first put it back, once the queue knows it no more.
    await job.remove();
    expect(await restoreJobs(one.settings.home, bench.queue, bench.store)).toEqual([]);
  });
});

describe('an export over which workers die', () => {
  it('is given up where it comes no further, and goes on where it does', async () => {
    await open(2);
    const added = await Promise.all([add({ job: 'nightly' }), add({ job: 'nightly' })]);
    for (const [i, job] of added.entries()) {
      const mark = { stalls: 1, rows: 25 };
      await job.updateProgress({ run: newRunId(), done: i === 0 ? 25 : 50, outcomes: {}, mark });
      await bench.redis.hset(`bull:rowferry:${job.id}`, 'stc', '6');
    }
    await bench.worker();
    const [stuck, moving] = await Promise.all(added.map((job) => bench.settled(job)));
    expect(stuck?.failedReason).toMatch(/^5 workers died.*rowferry export --job JOB\. What was written stays written/s);
    expect(moving?.returnvalue).toMatchObject({ status: 'succeeded', records: 2 });
  });
});

describe('the run of an export', () => {
  const slow = { latencyMs: 40 };
  const env = { ROWFERRY_CONCURRENCY: '1' };
  const pages = () => bench.sandbox.requests.total;

  it('is handed back by a worker that is told to end, and continued by the next', async () => {
    await open(500, slow);
    const first = await bench.worker({ env });
    const added = await add({ job: 'nightly' });
    await until(() => pages() > 12);
    await first.stop();
    expect(await added.getState()).toBe('waiting');
    const second = await bench.worker({ env });
    const job = await bench.settled(added);
    expect(job.returnvalue).toMatchObject({ status: 'succeeded', records: 500 });
    expect(await runsOf(second.settings.home)).toEqual([job.returnvalue.run]);
    expect([first.ended, second.ended].flat()).toHaveLength(1);
    await expectWhole(job.returnvalue.target.path);
  });

  it('whose worker and data folder are gone is begun anew elsewhere at once, and says so', async () => {
    await open(500, slow);
    const settle = { ...env, ROWFERRY_SETTLE_WINDOW: '600' };
    const first = await bench.worker({ env: settle });
    const added = await add({ job: 'nightly' });
    await until(() => pages() > 12);
    await first.stop();
    await added.updateProgress({
      ...((await bench.queue.getJob(added.id ?? ''))?.progress as object),
      handedBack: false,
    });
    const other = await bench.worker({ home: 'home-b', env: settle });
    const job = await bench.settled(added);
    expect(job.returnvalue).toMatchObject({ status: 'succeeded', records: 500 });
    expect(job.returnvalue.warnings.join()).toMatch(
      /Begun anew: run \S+ of the same job was begun on .* All is read again/,
    );
    expect(await runsOf(other.settings.home)).toEqual([job.returnvalue.run]);
    expect(await runsOf(first.settings.home)).not.toEqual([job.returnvalue.run]);
    await expectWhole(job.returnvalue.target.path);
  });
});
