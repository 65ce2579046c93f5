import { appendFileSync } from 'node:fs';
import { access, appendFile, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Job } from 'bullmq';
import pino from 'pino';
import { afterEach, describe, expect } from 'vitest';
import { newRunId, runFolder } from '../../../src/runs/run/layout.js';
import { readRun } from '../../../src/runs/run/list.js';
import { endedPrefix } from '../../../src/worker/inbox/claim.js';
import { homeId, restoreJobs, tickets } from '../../../src/worker/jobs/home.js';
import { stateOf } from '../../../src/worker/jobs/job.js';
import { openStops } from '../../../src/worker/jobs/stops.js';
import { itWith } from '../../support/servers.js';
import { type Bench, type Bound, insertAssets, JOB, jsonOf, openBench, runsOf, sheet } from './bench.js';

const it = await itWith('redis');

let bench: Bench;
afterEach(() => bench.close());

const until = async (passes: () => boolean | Promise<boolean>) => {
  while (!(await passes())) await new Promise((next) => setTimeout(next, 10));
};

describe('a job of the queue', () => {
  it('with a file runs, tells where it stands, and returns the summary', async () => {
    bench = await openBench();
    const bound = await bench.worker();
    await bench.file('data/a.csv', sheet(20));
    const job = await bench.settled(await bench.add({ job: 'assets', file: 'data/a.csv' }));
    expect(job.returnvalue).toMatchObject({ status: 'succeeded', job: 'assets', rows: { created: 20, total: 20 } });
    expect(job.progress).toMatchObject({ phase: 'done', total: 20, done: 20, outcomes: { created: 20 } });
    expect(job.progress).toHaveProperty('run', job.returnvalue.run);
    expect(bound.ended).toMatchObject([
      { job: 'assets', trigger: 'queue', status: 'succeeded', counts: { created: 20 } },
    ]);
    const again = await bench.settled(await bench.add({ job: JOB, file: path.join(bench.dir, 'data', 'a.csv') }));
    expect(again.returnvalue).toMatchObject({ job: 'inline', rows: { unchanged: 20 } });
  });

  it('that names the run of another job in its progress gets one of its own: anybody may write there', async () => {
    bench = await openBench();
    await bench.worker();
    await bench.file('a.csv', sheet(5));
    await bench.file('b.csv', sheet(5, 100));
    const first = await bench.settled(await bench.add({ job: 'assets', file: 'a.csv' }));
    await bench.queue.pause();
    const forged = await bench.add({ job: 'assets', file: 'b.csv' });
    await forged.updateProgress(first.progress);
    await bench.queue.resume();
    const { returnvalue } = await bench.settled(forged);
    expect(returnvalue).toMatchObject({ status: 'succeeded', rows: { created: 5 } });
    expect(returnvalue.run).not.toBe(first.returnvalue.run);
    expect(bench.sandbox.commits).toHaveLength(10);
  });

  it('returns no warning that quotes what may be a cell', async () => {
    bench = await openBench();
    const { settings } = await bench.worker();
    await bench.file('a.csv', 'Name,Serial,Top secret\r\na,S-1,x');
    const { returnvalue } = await bench.settled(await bench.add({ job: 'assets', file: 'a.csv' }));
    expect(returnvalue).toMatchObject({ status: 'succeeded', rows: { created: 1 } });
    expect(returnvalue.warnings.join()).not.toContain('secret');
    const whole = await jsonOf(settings.home, 'runs', returnvalue.run, 'summary.json');
    expect(JSON.stringify(whole['warnings'])).toContain('Top secret');
  });

  it('returns no value of a row that is at fault (112)', async () => {
    bench = await openBench();
    const { settings } = await bench.worker();
    await bench.file('a.csv', 'Name,Serial\r\nName,S-1\r\na,SECRET\r\nb,SECRET');
    const job = await bench.add({ job: 'assets', file: 'a.csv' });
    const { returnvalue } = await bench.settled(job);
    expect(returnvalue).toMatchObject({ status: 'partial', top_faults: [{ code: 'duplicate_key', column: 'Serial' }] });
    expect(JSON.stringify(await bench.queue.getJob(job.id ?? ''))).not.toContain('SECRET');
    expect(JSON.stringify(await jsonOf(settings.home, 'runs', returnvalue.run, 'summary.json'))).toContain('SECRET');
  });

  it('with rows runs, and leaves no file of them', async () => {
    bench = await openBench();
    const { settings } = await bench.worker();
    const rows = [
      { Name: 'a', Serial: 'R-1' },
      { Serial: 'R-2', Name: null },
      { Name: 'c', Serial: 3 },
    ];
    const job = await bench.settled(await bench.add({ job: JOB, rows, options: { dry_run: true } }));
    expect(job.returnvalue).toMatchObject({ dry_run: true, rows: { total: 3 }, source: { format: 'ndjson' } });
    expect(bench.sandbox.commits).toHaveLength(0);
    const real = await bench.settled(await bench.add({ job: JOB, rows }));
    expect(real.returnvalue).toMatchObject({ rows: { total: 3, created: 2, invalid: 1 } });
    expect(await readdir(settings.home)).not.toContain('uploads');
  });

  it.each([
    ['is away for a moment', 1],
    ['another worker has', 2],
  ])('for a slot is not refused where its job file %s', async (_, workers) => {
    const jobId = 'night.assets.2026-07-01T0200';
    bench = await openBench();
    await bench.worker({ env: { ROWFERRY_JOBS_DIR: path.join(bench.dir, 'others') } });
    const second = workers === 2 ? await bench.worker({ home: 'second' }) : undefined;
    await second?.worker.pause();
    await bench.file('a.csv', sheet(1));
    const added = await bench.add({ job: 'assets', file: 'a.csv' }, { jobId });
    await until(async () => (await bench.queue.getJobState(jobId)) === 'delayed');
    if (second) second.worker.resume();
    else await bench.file('others/assets.yaml', JSON.stringify(JOB));
    expect((await bench.settled(added)).returnvalue).toMatchObject({ rows: { created: 1 } });
  });

  it('with wrong data fails at once, with every fault, and the worker goes on', async () => {
    bench = await openBench();
    const bound = await bench.worker();
    await bench.file('a.csv', sheet(1));
    await bench.file('.env', 'SECRET=1');
    const wrong: [string, unknown, string[]][] = [
      ['import', { job: '../x', file: 1, more: 1 }, ['`job` is', '`file` must be text', 'unknown key `more`']],
      ['import', 'text', ['must be an object']],
      ['remove', { job: 'assets', file: 'a.csv' }, ['the job name is "remove"']],
      ['import', { job: 'assets', file: '/etc/passwd' }, ['not below a folder']],
      ['import', { job: 'assets', file: '../../etc/none' }, ['not below a folder']],
      ['import', { job: 'assets', file: '.env' }, ['hidden']],
      ['import', { job: 'constructor', file: 'a.csv' }, ['There is no job `constructor`']],
      ['import', { job: { ...JOB, resource: 'assets' }, file: 'a.csv' }, ['"assets"; it must be']],
      ['import', { job: { ...JOB, columns: { Nam: 'name', Serial: 'serial_number' } }, file: 'a.csv' }, ['Nam']],
      ['import', { job: 'assets', file: 'none.csv' }, ['There is no file "none.csv"', 'send the job again']],
      ['export', { job: 'assets' }, ['is of kind import, not export', 'rowferry import FILE --job assets']],
      ['reconcile', { job: 'assets', file: 'a.csv' }, ['is of kind import, not reconcile']],
    ];
    for (const [name, data, words] of wrong) {
      const job = await bench.settled(await bench.add(data, { attempts: 5 }, name));
      expect([data, await job.getState()]).toEqual([data, 'failed']);
      for (const word of words) expect(job.failedReason).toContain(word);
      expect(job.attemptsMade).toBe(1);
      expect(job.stacktrace?.join()).not.toContain('process.ts');
    }
    expect(bound.ended.map(({ status }) => status)).toEqual(wrong.map(() => 'refused'));
    expect(await runsOf(bound.settings.home)).toEqual([]);
    const good = await bench.settled(await bench.add({ job: 'assets', file: 'a.csv' }));
    expect(good.returnvalue).toMatchObject({ rows: { created: 1 } });
  });

  it('whose run failed is tried again and goes on; the last attempt returns the summary', async () => {
    bench = await openBench();
    let calls = 0;
    const wrong = { kind: 'token' as const, token: 'no-such-token' };
    const bound: Bound = await bench.worker({
      deps: { context: () => ({ settings: calls++ % 2 === 0 ? { ...bound.settings, auth: wrong } : bound.settings }) },
    });
    await bench.file('a.csv', sheet(5));
    const job = await bench.settled(await bench.add({ job: 'assets', file: 'a.csv' }, { attempts: 2 }));
    expect(job.attemptsMade).toBe(2);
    expect(job.returnvalue).toMatchObject({ status: 'succeeded', rows: { created: 5 } });
    expect(await runsOf(bound.settings.home)).toEqual([job.returnvalue.run]);
    const single = await bench.settled(await bench.add({ job: 'assets', file: 'a.csv' }));
    expect(single.returnvalue).toMatchObject({ status: 'failed' });
    expect(bound.ended.map(({ status }) => status)).toEqual(['succeeded', 'failed']);
  });

  it('over which workers die without coming further is given up, with what to do', async () => {
    bench = await openBench();
    await bench.file('a.csv', sheet(1));
    const added = await bench.add({ job: 'assets', file: 'a.csv' });
    await added.updateProgress({ run: newRunId(), outcomes: {}, mark: { stalls: 1, rows: 0 } });
    await bench.redis.hset(`bull:rowferry:${added.id}`, 'stc', '6');
    await bench.worker();
    const job = await bench.settled(added);
    expect(job.failedReason).toMatch(/^5 workers died.*rowferry import FILE/s);
  });

  it('that waited for its turn when workers died is not blamed, nor let off from then on', async () => {
    bench = await openBench();
    await bench.file('a.csv', sheet(1));
    const run = newRunId();
    const added = await bench.add({ job: 'assets', file: 'a.csv' });
    const told = { run, outcomes: {}, mark: { stalls: 1, rows: 0 } };
    await added.updateProgress({ ...told, phase: 'waiting for its turn' });
    await bench.redis.hset(`bull:rowferry:${added.id}`, 'stc', '6');
    const marks: unknown[] = [];
    await bench.worker({
      deps: {
        onBegun: ({ run: begun }) => {
          marks.push(begun);
          return undefined;
        },
      },
    });
    const job = await bench.settled(added);
    expect(job.returnvalue).toMatchObject({ run, status: 'succeeded', rows: { created: 1 } });
    expect(job.progress).toMatchObject({ mark: { stalls: 6, rows: 0 } });
    expect(marks).toEqual([run]);
  });
});

describe('a run', () => {
  const slow = (rows: number) => ({ latencyMs: 20, rows });

  it('tells that it waits for its turn while another one writes', async () => {
    bench = await openBench({ latencyMs: 20 });
    await bench.worker({ env: { ROWFERRY_CONCURRENCY: '2' } });
    await bench.file('a.csv', sheet(120));
    const jobs = [await bench.add({ job: 'assets', file: 'a.csv' }), await bench.add({ job: 'assets', file: 'a.csv' })];
    const phases = async () =>
      (await Promise.all(jobs.map(({ id }) => bench.queue.getJob(id ?? '')))).map((job) => stateOf(job as Job)?.waited);
    await until(async () => (await phases()).includes(true));
    const ended = await Promise.all(jobs.map((job) => bench.settled(job)));
    expect(ended.map(({ returnvalue }) => returnvalue.rows.created).sort()).toEqual([0, 120]);
    expect(ended.map((job) => stateOf(job)?.waited)).toEqual([undefined, undefined]);
  });

  it('is handed back by a worker that is told to end, and continued by the next', async () => {
    const { latencyMs, rows } = slow(120);
    bench = await openBench({ latencyMs });
    const env = { ROWFERRY_CONCURRENCY: '2' };
    const first = await bench.worker({ env });
    await bench.file('a.csv', sheet(rows));
    const added = await bench.add({ job: 'assets', file: 'a.csv' });
    await until(() => bench.sandbox.commits.length > 20);
    await first.stop();
    expect(await added.getState()).toBe('waiting');
    const before = bench.sandbox.commits.length;
    expect(before).toBeLessThan(rows);
    const second = await bench.worker();
    const job = await bench.settled(added);
    expect(job.returnvalue).toMatchObject({ status: 'succeeded', rows: { created: rows } });
    expect(bench.sandbox.commits).toHaveLength(rows);
    expect(await runsOf(second.settings.home)).toEqual([job.returnvalue.run]);
    expect([first.ended, second.ended].flat()).toHaveLength(1);
  });

  it.each([
    ['', (_: Job) => undefined],
    ['also where the queue forgot it', (job: Job) => job.remove()],
  ])('whose worker and data folder are gone is begun anew elsewhere, and says so %s', async (_, forget) => {
    const { latencyMs, rows } = slow(80);
    bench = await openBench({ latencyMs });
    const first = await bench.worker({ env: { ROWFERRY_CONCURRENCY: '2' } });
    await bench.file('a.csv', sheet(rows));
    const added = await bench.add({ job: 'assets', file: 'a.csv' });
    await until(() => bench.sandbox.commits.length > 20);
    await first.stop();
    const other = await bench.worker({ home: 'home-b' });
    const job = await bench.settled(added);
    expect(job.returnvalue.rows.created + job.returnvalue.rows.unchanged).toBe(rows);
    expect(job.returnvalue.warnings.join()).toContain('Begun anew: run ');
    expect(bench.sandbox.commits).toHaveLength(rows);
    expect(await runsOf(other.settings.home)).toEqual([job.returnvalue.run]);
    const { home } = (await bench.worker()).settings;
    await forget(job);
    expect(await restoreJobs(home, bench.queue, bench.store)).toEqual([]);
    const [run = ''] = await runsOf(home);
    const { aside, aside_reason: reason } = await readRun(home, run);
    expect([aside, tickets(home)]).toEqual([true, []]);
    expect(reason).toMatch(new RegExp(`^While its worker was away .* as run ${job.returnvalue.run}`));
  });

  it.each([
    ['whose rows have no key', { match: { key: 'none' } }, false],
    ['whose file is not here', {}, true],
  ])('%s waits for the worker that began it, and no row is written twice', async (_, more, takesFile) => {
    const { latencyMs, rows } = slow(80);
    bench = await openBench({ latencyMs });
    await writeFile(path.join(bench.dir, 'jobs', 'bound.yaml'), JSON.stringify({ ...JOB, ...more }));
    const env = { ROWFERRY_CONCURRENCY: '2', ROWFERRY_LEASE: '1', ROWFERRY_SETTLE_WINDOW: '0.1' };
    const first = await bench.worker({ env });
    const file = await bench.file('a.csv', sheet(rows));
    const added = await bench.add({ job: 'bound', file: 'a.csv' });
    await until(() => bench.sandbox.commits.length > 20);
    await first.stop();
    if (takesFile) await rm(file);
    const other = await bench.worker({ env, home: 'home-b' });
    // Longer than a run is waited for that is begun anew.
    await until(async () => {
      const { awaySince = Date.now() } = ((await bench.queue.getJob(added.id ?? ''))?.progress ?? {}) as {
        awaySince?: number;
      };
      return Date.now() - awaySince > 3_000;
    });
    expect(await runsOf(other.settings.home)).toEqual([]);
    await bench.worker({ env });
    const job = await bench.settled(added);
    expect(job.returnvalue).toMatchObject({ status: 'succeeded', rows: { created: rows } });
    expect(bench.sandbox.commits).toHaveLength(rows);
  });

  it('begun elsewhere is left to that worker while it lives', async () => {
    bench = await openBench();
    const owner = await bench.worker();
    await owner.worker.pause();
    await bench.file('a.csv', sheet(3));
    const added = await bench.add({ job: 'assets', file: 'a.csv' });
    const home = homeId(owner.settings.home);
    await added.updateProgress({ run: newRunId(), home, host: 'there' });
    const other = await bench.worker({ home: 'home-b' });
    await until(() => added.isDelayed());
    await other.stop();
    owner.worker.resume();
    expect((await bench.settled(added)).returnvalue).toMatchObject({ rows: { created: 3 } });
    expect(await runsOf(path.join(bench.dir, 'home-b'))).toEqual([]);
  });

  it('that is delivered twice is run once (53, 54)', async () => {
    const { latencyMs, rows } = slow(100);
    bench = await openBench({ latencyMs });
    const timing = { lockDuration: 1_000, stalledInterval: 100, env: { ROWFERRY_CONCURRENCY: '2' } };
    const workers = [await bench.worker(timing), await bench.worker(timing)];
    await bench.file('a.csv', sheet(rows));
    const added = await bench.add({ job: 'assets', file: 'a.csv' });
    await until(() => bench.sandbox.commits.length > 5);
    // As if the first had not renewed its lock in time.
    await bench.redis.del(`bull:rowferry:${added.id}:lock`);
    const job = await bench.settled(added);
    expect(job.attemptsStarted).toBeGreaterThan(1);
    expect(job.returnvalue).toMatchObject({ status: 'succeeded', rows: { created: rows } });
    expect(bench.sandbox.commits).toHaveLength(rows);
    expect(await runsOf(workers[0]!.settings.home)).toHaveLength(1);
  });

  it('of a slot that is late says so (44)', async () => {
    bench = await openBench();
    await bench.worker();
    const file = 'inbox/assets/a.csv';
    await bench.file('drop/assets/a.csv', sheet(1));
    const schedule = { cron: '0 2 * * *', timezone: 'Europe/Berlin', file };
    await writeFile(path.join(bench.dir, 'jobs', 'assets.yaml'), JSON.stringify({ ...JOB, schedule }));
    const job = await bench.settled(
      await bench.add({ job: 'assets', file }, { jobId: 'night.assets.2026-03-29T0230' }),
    );
    expect(job.returnvalue.warnings.join()).toMatch(/Late: due 2026-03-29 03:00 Europe\/Berlin, begun /);
  });
});

describe('the file of a slot', () => {
  it('is read once nobody writes it any more', async () => {
    bench = await openBench();
    const { settings } = await bench.worker();
    const file = 'inbox/erp/a.csv';
    const [heading, ...rows] = sheet(4).split('\r\n');
    const at = await bench.file('drop/erp/a.csv', `${heading}`);
    const job = await bench.add({ job: 'assets', file }, { jobId: 'night.assets.2026-03-29T0230' });
    const looked = async () =>
      stateOf({ progress: (await bench.queue.getJob(job.id ?? ''))?.progress ?? 0 })?.resting?.mark;
    let before: string | undefined;
    for (const row of rows) {
      await until(async () => ![undefined, before].includes(await looked()));
      before = await looked();
      await appendFile(at, `\r\n${row}`);
    }
    expect((await bench.settled(job)).returnvalue).toMatchObject({ status: 'succeeded', rows: { created: 4 } });
    expect(await runsOf(settings.home)).toHaveLength(1);
  });
});

describe('a claimed file', () => {
  async function claimed(
    content: string,
    afterMs = 0,
  ): Promise<{ id: string; run: string; file: string; dir: string }> {
    const run = newRunId(new Date(Date.now() + afterMs));
    const dir = path.join(bench.dir, 'drop', 'processing', 'assets', run);
    await mkdir(dir, { recursive: true });
    const file = path.join(dir, 'a.csv');
    await writeFile(file, content);
    return { id: `drop.assets.${run}`, run, file, dir };
  }

  it('is run under the id of its folder, and lies in done with its reports', async () => {
    bench = await openBench();
    const { settings, ended } = await bench.worker();
    const { id, run, file, dir } = await claimed(sheet(3));
    const job = await bench.settled(await bench.add({ job: 'assets', file }, { jobId: id }));
    const done = path.join(bench.dir, 'drop', 'done', 'assets', `${endedPrefix({ run, name: 'a.csv' })} - imported`);
    expect(job.returnvalue).toMatchObject({ run, source: { path: path.join(done, 'a.csv') }, rows: { created: 3 } });
    expect(await readdir(done)).toEqual(expect.arrayContaining(['a.csv', 'results.csv', 'summary.json']));
    await expect(access(dir)).rejects.toThrow();
    expect(await jsonOf(settings.home, 'runs', run, 'run.json')).toMatchObject({ reportDir: done });
    expect(await jsonOf(done, 'summary.json')).toMatchObject({ source: { path: path.join(done, 'a.csv') } });
    expect(ended).toMatchObject([{ trigger: 'drop', reports: path.relative(path.join(bench.dir, 'drop'), done) }]);
    // The same job once more, as after a crash before the queue was told.
    await job.remove();
    const again = await bench.settled(await bench.add({ job: 'assets', file }, { jobId: id }));
    expect(again.returnvalue).toEqual(job.returnvalue);
  });

  it('waits while the job of an older file is to come, and not where that has failed', async () => {
    bench = await openBench();
    await bench.worker();
    const [one, two, three] = [await claimed(sheet(3)), await claimed(sheet(4), 1_000), await claimed(sheet(5), 2_000)];
    const later = await bench.add({ job: 'assets', file: one.file }, { jobId: one.id, delay: 1_000 });
    const sooner = await bench.add({ job: 'assets', file: two.file }, { jobId: two.id });
    expect((await bench.settled(sooner)).returnvalue.rows).toMatchObject({ created: 1, unchanged: 3 });
    expect((await bench.settled(later)).returnvalue.rows).toMatchObject({ created: 3 });
    const four = await claimed(sheet(6), 3_000);
    const faulty = await bench.add({ job: 'assets', file: three.file, no: 1 }, { jobId: three.id });
    expect((await bench.settled(faulty)).failedReason).toContain('unknown key `no`');
    const last = await bench.settled(await bench.add({ job: 'assets', file: four.file }, { jobId: four.id }));
    expect(last.returnvalue.rows).toMatchObject({ created: 2 });
    expect(await readdir(three.dir)).toEqual(['a.csv']);
  });

  it('leaves room for other jobs, however many wait behind it', async () => {
    let go = (): void => undefined;
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    bench = await openBench({ onRequest: () => held });
    await bench.worker();
    const claims = await Promise.all(Array.from({ length: 6 }, (_, i) => claimed(sheet(3 + i), i * 1_000)));
    const jobs = [];
    for (const { file, id } of claims) jobs.push(await bench.add({ job: 'assets', file }, { jobId: id }));
    const other = await bench.settled(await bench.add({ job: 'assets', no: 1 }));
    expect(other.failedReason).toContain('unknown key `no`');
    expect(bench.sandbox.commits).toEqual([]);
    go();
    const ended = await Promise.all(jobs.map((job) => bench.settled(job)));
    expect(ended.map((job) => job.returnvalue.rows.created)).toEqual([3, 1, 1, 1, 1, 1]);
  });

  it('that cannot be run lies in failed with the reason', async () => {
    bench = await openBench();
    await bench.worker();
    const { id, run, file } = await claimed('Name;Nummer\r\nx;1');
    const job = await bench.settled(await bench.add({ job: 'assets', file }, { jobId: id }));
    expect(job.failedReason).toContain('Serial');
    const failed = path.join(bench.dir, 'drop', 'failed', 'assets', `${endedPrefix({ run, name: 'a.csv' })} - refused`);
    const note = await readFile(path.join(failed, 'ERROR.txt'), 'utf8');
    expect(note).toMatch(/^a\.csv was not imported\./);
    expect(note.match(/nothing was sent/gi)).toHaveLength(1);
    expect(note).not.toContain(bench.dir);
    expect(note).toContain('Serial');
  });

  it('without a heading row is refused, and no cell leaves by log, note, queue or notification (112)', async () => {
    bench = await openBench();
    const lines: string[] = [];
    const { ended } = await bench.worker({ deps: { log: pino({}, { write: (line) => lines.push(line) }) } });
    const { id, run, file } = await claimed(
      'Max "Maxi" Muster,SECRET-1,max@example.com\r\nErika,SECRET-2,e@example.com\r\n',
    );
    const job = await bench.settled(await bench.add({ job: 'assets', file }, { jobId: id }));
    const failed = path.join(bench.dir, 'drop', 'failed', 'assets', `${endedPrefix({ run, name: 'a.csv' })} - refused`);
    const texts = [
      job.failedReason,
      ended[0]?.reason,
      await readFile(path.join(failed, 'ERROR.txt'), 'utf8'),
      lines.join(),
    ];
    for (const text of texts) {
      expect(text).toContain('columns.Serial: the file has no such heading');
      expect(text).not.toMatch(/Maxi|Muster|SECRET|example|Erika/);
    }
  });

  it.each(['"SECRET,S-1\r\nb,S-2\r\n', 'a,"SECRET\r\nb,S-2', '"Name"SECRET,"S\r\nb,S-2'])(
    'with a row that is not closed is refused, and no cell leaves (112): %j',
    async (rows) => {
      bench = await openBench();
      const lines: string[] = [];
      await bench.worker({ deps: { log: pino({}, { write: (line) => lines.push(line) }) } });
      const { id, file } = await claimed(`Name,Serial\r\n${rows}`);
      const job = await bench.settled(await bench.add({ job: 'assets', file }, { jobId: id }));
      expect(job.failedReason).toMatch(/row 2/);
      expect(lines.join() + job.failedReason).not.toContain('SECRET');
    },
  );

  it('that cannot be put away stays, and the log says why (83)', async () => {
    bench = await openBench();
    const lines: string[] = [];
    await bench.worker({ deps: { log: pino({}, { write: (line) => lines.push(line) }) } });
    const { id, file } = await claimed('Wrong,Headings\r\n1,2\r\n');
    await mkdir(path.join(bench.dir, 'drop', 'failed'), { recursive: true });
    await symlink(bench.dir, path.join(bench.dir, 'drop', 'failed', 'assets'));
    await bench.settled(await bench.add({ job: 'assets', file }, { jobId: id }));
    expect(lines.join()).toMatch(/cannot be moved to .*failed.assets: .* must be a folder of its own/);
    expect(await readFile(file, 'utf8')).toContain('Wrong');
  });

  it('of another job is told so in one sentence (108)', async () => {
    bench = await openBench();
    await bench.worker();
    const columns = {
      Name: 'name',
      Room: 'room',
      City: 'city',
      Floor: { field: 'floor', optional: true },
      Notes: 'asset_notes',
    };
    const wide = { ...JOB, match: { key: 'name' }, columns };
    await writeFile(path.join(bench.dir, 'jobs', 'wide.yaml'), JSON.stringify(wide));
    const file = await bench.file('a.csv', sheet(2));
    const job = await bench.settled(await bench.add({ job: 'wide', file }));
    expect(job.failedReason).toBe(
      '3 of 4 headings of job `wide` are missing; this file fits job `assets`. Nothing was sent.',
    );
    // Also where the job needs but a few.
    const brief = { ...JOB, match: { key: 'name' }, columns: { Title: 'name' } };
    await writeFile(path.join(bench.dir, 'jobs', 'brief.yaml'), JSON.stringify(brief));
    expect((await bench.settled(await bench.add({ job: 'brief', file }))).failedReason).toBe(
      '1 of 1 headings of job `brief` are missing; this file fits job `assets`. Nothing was sent.',
    );
    // A reconcile job's folder may get the file of an import job, and the other way round.
    await writeFile(path.join(bench.dir, 'jobs', 'nightly.yaml'), JSON.stringify({ ...wide, kind: 'reconcile' }));
    expect((await bench.settled(await bench.add({ job: 'nightly', file }, {}, 'reconcile'))).failedReason).toBe(
      '3 of 4 headings of job `nightly` are missing; this file fits job `assets`. Nothing was sent.',
    );
    // Headings that the job calls optional may be missing.
    const some = await bench.file('b.csv', 'Name,Room,City,Notes\r\nx,1,Bonn,n\r\n');
    const run = await bench.settled(await bench.add({ job: 'wide', file: some }));
    expect(run.returnvalue).toMatchObject({ status: 'succeeded', rows: { created: 1 } });
  });

  it('of JSON rows: a key that is absent is not given, in one row or in all (108)', async () => {
    bench = await openBench();
    await bench.worker();
    const columns = {
      ...JOB.columns,
      Notes: { field: 'asset_notes', blank: 'clear' },
      Room: 'room',
      City: 'city',
      Floor: 'floor',
    };
    const job = { ...JOB, columns };
    const rows = async (...given: object[]) => (await bench.settled(await bench.add({ job, rows: given }))).returnvalue;
    insertAssets(bench.sandbox, [
      { name: 'a', serial_number: 'S-1' },
      { name: 'b', serial_number: 'S-2' },
    ]);
    for (const { id } of bench.sandbox.records('asset'))
      bench.sandbox.edit('asset', Number(id), { asset_notes: 'kept' });
    const second = await rows({ Name: 'aa', Serial: 'S-1' }, { Name: 'b', Serial: 'S-2', Notes: null }, { Name: 'c' });
    expect(second).toMatchObject({ rows: { updated: 2, invalid: 1 } });
    const notes = ['S-1', 'S-2'].map(
      (serial) => bench.sandbox.records('asset').find((one) => one['serial_number'] === serial)?.['asset_notes'],
    );
    expect(notes[0]).toBe('kept');
    expect(notes[1] ?? '').toBe('');
    // A key that only a late row has is absent in the first.
    const repeats = Array.from({ length: 1_100 }, () => ({ Name: 'b', Serial: 'S-2' }));
    await rows({ Name: 'aaa', Serial: 'S-1' }, ...repeats, { Name: 'late', Serial: 'S-3', Notes: 'n' });
    const byKey = new Map(bench.sandbox.records('asset').map((one) => [one['serial_number'], one['asset_notes']]));
    expect([byKey.get('S-1'), byKey.get('S-3')]).toEqual(['kept', 'n']);
  });

  it('that is written on after it was read is said to be', async () => {
    let at = '';
    bench = await openBench({ onCommit: () => appendFileSync(at, '\r\nlate,S-9') });
    const { settings } = await bench.worker();
    const { id, run, file } = await claimed(sheet(1));
    at = file;
    const job = await bench.settled(await bench.add({ job: 'assets', file }, { jobId: id }));
    const name = `${endedPrefix({ run, name: 'a.csv' })} - imported, file changed since`;
    const note = await readFile(path.join(bench.dir, 'drop', 'done', 'assets', name, 'NOTE.txt'), 'utf8');
    expect(note).toContain('a.csv was written on after it had been read');
    expect(note).toContain('Drop it into assets/ again');
    expect(job.returnvalue).toMatchObject({ status: 'succeeded', rows: { created: 1 } });
    expect(job.returnvalue.warnings.join()).toContain('was written on');
    at = path.join(settings.home, 'ignored');
    // What lies there now was not imported before.
    const again = await claimed(`${sheet(1)}\r\nlate,S-9`);
    const second = await bench.settled(await bench.add({ job: 'assets', file: again.file }, { jobId: again.id }));
    expect(second.returnvalue).toMatchObject({ rows: { created: 1, unchanged: 1 } });
  });

  it('that a brake stopped lies in failed, with how to have it run', async () => {
    bench = await openBench();
    await bench.worker();
    await writeFile(
      path.join(bench.dir, 'jobs', 'assets.yaml'),
      JSON.stringify({ ...JOB, brakes: { max_creates: 1 } }),
    );
    const { id, run, file } = await claimed(sheet(3));
    const job = await bench.settled(await bench.add({ job: 'assets', file }, { jobId: id }));
    expect(job.returnvalue).toMatchObject({ status: 'braked' });
    const stopped = `${endedPrefix({ run, name: 'a.csv' })} - stopped by a brake`;
    const failed = path.join(bench.dir, 'drop', 'failed', 'assets', stopped);
    expect(await readFile(path.join(failed, 'ERROR.txt'), 'utf8')).toMatch(/brake.*runs approve/s);
    expect(await readdir(failed)).toContain('summary.json');
  });

  it('that somebody stopped lies in failed, with how to go on, and is told of there once it was gone on with', async () => {
    bench = await openBench({ latencyMs: 50 });
    const { ended } = await bench.worker({ env: { ROWFERRY_CONCURRENCY: '1' } });
    const { id, run, file } = await claimed(sheet(40));
    const job = await bench.add({ job: 'assets', file }, { jobId: id });
    await until(() => bench.sandbox.commits.length > 3);
    await openStops(bench.store).ask(run);
    expect((await bench.settled(job)).returnvalue).toMatchObject({ status: 'interrupted' });
    const folder = path.join('failed', 'assets', `${endedPrefix({ run, name: 'a.csv' })} - stopped`);
    const note = await readFile(path.join(bench.dir, 'drop', folder, 'ERROR.txt'), 'utf8');
    expect(note).toMatch(
      /^Somebody stopped .* 40 rows were written\.\n\nGo on with it in the console or with: rowferry runs resume/,
    );
    const on = await bench.add({ job: 'assets', file: `${run}/a.csv` }, { jobId: `again.${run}` });
    expect((await bench.settled(on)).returnvalue).toMatchObject({ status: 'succeeded', rows: { created: 40 } });
    expect(ended.map(({ reports }) => reports)).toEqual([folder, folder]);
  });

  it('with the content of an earlier one is put away with its summary', async () => {
    bench = await openBench();
    const { ended, settings } = await bench.worker();
    const one = await claimed(sheet(2));
    const job = await bench.settled(await bench.add({ job: 'assets', file: one.file }, { jobId: one.id }));
    const two = await claimed(sheet(2));
    const repeated = await bench.settled(await bench.add({ job: 'assets', file: two.file }, { jobId: two.id }));
    expect(repeated.returnvalue).toEqual({ ...job.returnvalue, repeated_of: one.run });
    const again = `${endedPrefix({ run: two.run, name: 'a.csv' })} - imported before`;
    const folder = path.join(bench.dir, 'drop', 'done', 'assets', again);
    expect(await readdir(folder)).toEqual(['NOTE.txt', 'a.csv']);
    expect(await readFile(path.join(folder, 'NOTE.txt'), 'utf8')).toContain('change the file and drop it again');
    expect(ended).toHaveLength(1);
    // Once it was put back, that is said.
    const undo = runFolder(settings.home, newRunId());
    await mkdir(undo.dir);
    await writeFile(undo.request, JSON.stringify({ kind: 'undo', lineage: { undoes: one.run } }));
    const three = await claimed(sheet(2));
    await bench.settled(await bench.add({ job: 'assets', file: three.file }, { jobId: three.id }));
    const last = `${endedPrefix({ run: three.run, name: 'a.csv' })} - imported before`;
    const names = await readdir(path.join(bench.dir, 'drop', 'done', 'assets'));
    const notes = names
      .filter((name) => name.startsWith(last))
      .map((name) => path.join(bench.dir, 'drop', 'done', 'assets', name, 'NOTE.txt'));
    const texts = await Promise.all(notes.map((note) => readFile(note, 'utf8')));
    expect(texts.join()).toContain(`has been put back since, by the run ${undo.run}`);
    expect(bench.sandbox.commits).toHaveLength(2);
  });
});
