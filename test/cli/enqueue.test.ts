import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { gunzipSync } from 'node:zlib';
import { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runsOnStore } from '../../src/api/runs/orders.js';
import { enqueueCommand } from '../../src/cli/commands/enqueue.js';
import { presentFailure } from '../../src/cli/io.js';
import { openCli } from '../../src/cli/program.js';
import { enqueueOn, waitForJob } from '../../src/library/queue.js';
import { type Bench, type Bound, JOB, openBench, sheet } from '../worker/jobs/bench.js';
import { capture, type Ran } from './fake-io.js';

let bench: Bench;
let cwd: string;

/** An export of three columns, so that the file is easy to compare. */
const EXPORT = { kind: 'export', resource: 'asset', columns: ['id', 'name'], output: 'exports/assets-{date}.csv' };

beforeAll(async () => {
  bench = await openBench();
  await writeFile(path.join(bench.dir, 'jobs', 'nightly.yaml'), JSON.stringify(EXPORT));
  await writeFile(path.join(bench.dir, 'jobs', 'erp.yaml'), JSON.stringify({ ...JOB, kind: 'reconcile' }));
  // Not below what workers may read.
  cwd = path.join(bench.dir, '.elsewhere');
  await mkdir(cwd);
});
afterAll(() => bench.close());

/** The command inside this process, on the queue of the bench. */
async function enqueue(
  argv: readonly string[],
  options: { stdin?: string; env?: Record<string, string> } = {},
  open: Parameters<typeof enqueueOn>[1] = async ({ home }) => runsOnStore(bench.store, home),
): Promise<Ran> {
  const [stdout, stderr, stdin] = [capture(), capture(), new PassThrough()];
  stdin.end(options.stdin ?? '');
  const env = {
    ROWFERRY_HOME: path.join(bench.dir, 'home'),
    ROWFERRY_JOBS_DIR: path.join(bench.dir, 'jobs'),
    ROWFERRY_ROOTS: bench.dir,
    ROWFERRY_INBOX: path.join(bench.dir, 'drop'),
    ...options.env,
  };
  const cli = openCli({ env, cwd, stdin, stdout: stdout.stream, stderr: stderr.stream });
  const program = new Command('rowferry')
    .exitOverride()
    .addCommand(enqueueCommand(cli, (order) => enqueueOn(order, open)));
  const code = await program.parseAsync(['enqueue', ...argv], { from: 'user' }).then(
    () => cli.code,
    (error: unknown) => presentFailure(error, cli, { json: argv.includes('--json') }),
  );
  return { code, out: stdout.text(), err: stderr.text() };
}

/** All but what is waited for. */
const faults = ({ err }: Ran) => err.split('\n').filter((line) => line !== '' && !line.includes('"level":30'));

const uploads = () => readdir(path.join(bench.dir, 'home', 'uploads')).catch(() => []);

describe('without a worker', () => {
  it('puts the job on the queue, says how to look, and warns', async () => {
    await writeFile(path.join(cwd, 'a.csv'), sheet(3));
    const ran = await enqueue([
      'import',
      '--job',
      'assets',
      '--file',
      'a.csv',
      '--dry-run',
      '--company',
      '7',
      '--json',
    ]);
    expect(ran.code).toBe(0);
    const told = JSON.parse(ran.out);
    expect(told).toMatchObject({ queue: 'rowferry', name: 'import', workers: 0 });
    expect(ran.err).toContain('No worker is connected');
    const job = await bench.queue.getJob(`run.${told.id}`);
    expect(job?.data).toMatchObject({ job: 'assets', options: { dry_run: true, company: 7 } });
    // A copy that workers on the same data folder may read.
    expect(job?.data.file).toMatch(/^uploads\/[0-9a-f]{16}-a\.csv$/);
    expect(await uploads()).toContain(path.basename(job?.data.file));
    expect(job?.opts.attempts).toBe(3);
    await job?.remove();
    const plain = await enqueue(['import', '--job', 'assets', '--file', 'a.csv']);
    expect(plain.out).toMatch(/^Run \d{8}T\d{9}Z-[0-9a-f]+ is on the queue \(redis:/);
    await bench.queue.drain();
  });

  it.each([
    [['import', '--file', 'a.csv'], 2, '--job is missing'],
    [['import', '--job', 'assets'], 2, '--file is missing'],
    [['remove', '--job', 'assets', '--file', 'a.csv'], 2, 'is unknown'],
    [
      ['reconcile', '--job', 'assets'],
      2,
      '--file is missing: it names the file. For example: rowferry enqueue reconcile',
    ],
    [['reconcile', '--job', 'assets', '--file', 'a.csv'], 2, 'is of kind import, not reconcile'],
    [
      ['reconcile', '--job', 'erp', '--file', 'a.csv', '--apply', '--dry-run'],
      2,
      '`options.dry_run` and `options.apply` are both true',
    ],
    [
      ['import', '--job', 'assets', '--file', 'a.csv', '--apply'],
      2,
      'unknown key `options.apply`; known here: dry_run, force, company',
    ],
    [['import', '--job', 'erp', '--file', 'a.csv'], 2, 'is of kind reconcile, not import'],
    [['export', '--job', 'nightly', '--apply'], 2, 'unknown key `options.apply`; known here: company'],
    [['export'], 2, '--job is missing: it names the job. For example: rowferry enqueue export'],
    [['export', '--job', 'assets'], 2, 'is of kind import, not export'],
    [['import', '--job', 'nightly', '--file', 'a.csv'], 2, 'is of kind export, not import'],
    [['export', '--job', 'nightly', '--dry-run'], 2, 'unknown key `options.dry_run`; known here: company'],
    [['export', '--job', 'nightly', '--force'], 2, 'unknown key `options.force`; known here: company'],
    [['export', '--job', 'nightly', '--file', '-'], 2, 'the name has no ending that says its form'],
    [['export', '--job', 'nightly', '--file', 'a.ods'], 2, '.ods is not written'],
    [['export', '--job', 'nightly', '--file', '/nowhere/a.csv'], 2, 'not below a folder that this worker may write to'],
    [['export', '--job', 'nightly', '--file', '../drop/a.csv'], 2, 'in the drop folder'],
    [['import', '--job', 'assets', '--file', 'none.csv'], 1, 'There is no file none.csv'],
    [['import', '--job', 'none/assets.yaml', '--file', 'a.csv'], 2, 'There is no job file'],
    [['import', '--job', 'broken', '--file', 'a.csv'], 2, 'unknown key'],
  ])('refuses %j', async (argv, code, words) => {
    await writeFile(path.join(bench.dir, 'jobs', 'broken.yaml'), JSON.stringify({ ...JOB, matsch: 1 }));
    const ran = await enqueue(argv as string[]);
    expect([ran.code, ran.err]).toEqual([code, expect.stringContaining(words as string)]);
    expect(await bench.queue.getWaitingCount()).toBe(0);
  });
});

describe('an export', () => {
  it('is put on the queue by the name of its job, or whole, with the file to write', async () => {
    const named = JSON.parse((await enqueue(['export', '--job', 'nightly', '--json'])).out);
    expect(named).toMatchObject({ name: 'export', data: { job: 'nightly' } });
    expect(Object.keys(named.data)).toEqual(['job']);
    const job = path.join(bench.dir, 'jobs', 'nightly.yaml');
    const target = path.join(bench.dir, 'out', 'b-{date}.xlsx');
    const whole = await enqueue(['export', '--job', job, '--file', '../out/b-{date}.xlsx', '--company', '3', '--json']);
    expect(JSON.parse(whole.out).data).toEqual({ job: EXPORT, file: target, options: { company: 3 } });
    expect(await readdir(bench.dir)).not.toContain('out');
    await bench.queue.drain();
  });
});

describe('with a worker and --wait', () => {
  let bound: Bound;
  beforeAll(async () => {
    bound = await bench.worker();
  });

  it('shows the summary as import does, with its exit code, and leaves no copy of the file', async () => {
    await writeFile(path.join(cwd, 'b.csv'), sheet(3));
    await bench.queue.obliterate({ force: true });
    const before = (await uploads()).length;
    const ran = await enqueue(['import', '--job', 'assets', '--file', 'b.csv', '--wait']);
    expect([ran.code, faults(ran)]).toEqual([0, []]);
    expect(ran.out).toContain('3  created');
    expect(ran.out).toContain('Reports: ');
    expect(await uploads()).toHaveLength(before);
    await writeFile(path.join(cwd, 'c.csv'), 'Name,Serial\r\nx,\r\ny,C-1');
    const some = await enqueue([
      'import',
      '--job',
      path.join(bench.dir, 'jobs', 'assets.yaml'),
      '--file',
      'c.csv',
      '--wait',
      '--json',
    ]);
    expect(some.code).toBe(3);
    expect(JSON.parse(some.out)).toMatchObject({ status: 'partial', job: 'inline', rows: { created: 1, invalid: 1 } });
  });

  it('shows the summary of an export, with its exit code', async () => {
    const ran = await enqueue(['export', '--job', 'nightly', '--wait']);
    expect([ran.code, faults(ran)]).toEqual([0, []]);
    expect(ran.out).toMatch(/exports\/assets-\d{4}-\d\d-\d\d\.csv/);
    const json = await enqueue(['export', '--job', 'nightly', '--file', '../out/c.ndjson.gz', '--wait', '--json']);
    const held = bench.sandbox.records('asset').length;
    const target = { path: path.join(bench.dir, 'out', 'c.ndjson.gz'), format: 'ndjson', gzip: true };
    expect(JSON.parse(json.out)).toMatchObject({ kind: 'export', status: 'succeeded', records: held, target });
    const lines = gunzipSync(await readFile(target.path))
      .toString('utf8')
      .trimEnd()
      .split('\n');
    expect(lines.filter((line) => line !== '')).toHaveLength(held);
    const refused = await enqueue(['export', '--job', 'not-there', '--wait']);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('There is no job `not-there`')]);
  });

  it('shows the summary of a reconciliation, which writes with --apply alone', async () => {
    await bench.queue.obliterate({ force: true });
    await writeFile(path.join(cwd, 'erp.csv'), sheet(3, 500));
    const before = bench.sandbox.commits.length;
    const argv = ['reconcile', '--job', 'erp', '--file', 'erp.csv', '--wait', '--json'];
    const summaries: unknown[] = [];
    for (const flags of [[], ['--dry-run'], ['--apply', '--force', '--company', '1']]) {
      const ran = await enqueue([...argv, ...flags]);
      expect([ran.code, faults(ran)]).toEqual([0, []]);
      summaries.push(JSON.parse(ran.out));
    }
    const rows = { created: 3, total: 3 };
    expect(summaries).toMatchObject([true, true, false].map((dry_run) => ({ kind: 'reconcile', dry_run, rows })));
    expect(bench.sandbox.commits.length - before).toBe(3);
    const jobs = await bench.queue.getJobs(['completed'], 0, -1, true);
    expect(jobs.map(({ name, data }) => [name, data.options])).toEqual([
      ['reconcile', undefined],
      ['reconcile', { dry_run: true }],
      ['reconcile', { apply: true, force: true, company: 1 }],
    ]);
    const plain = await enqueue(['reconcile', '--job', 'erp', '--file', 'erp.csv', '--wait']);
    expect([plain.code, faults(plain)]).toEqual([0, []]);
    expect(plain.out).toContain('Reports: ');
  });

  it('gives the reason of a job that was refused, and 2', async () => {
    const ran = await enqueue(['import', '--job', 'not-there', '--file', 'b.csv', '--wait', '--json']);
    expect(ran.code).toBe(2);
    expect(ran.err).toContain('There is no job `not-there`');
    expect(JSON.parse(ran.out)).toMatchObject({ status: 'failed', exit_code: 2 });
    await writeFile(path.join(cwd, 'bad.csv'), 'Nummer\r\n1');
    const misfit = await enqueue(['import', '--job', 'assets', '--file', 'bad.csv', '--wait']);
    expect([misfit.code, misfit.err]).toEqual([2, expect.stringContaining('columns.Serial')]);
  });

  it.each(['waiting', 'delayed', 'active'])('says once what is waited for while the job is %s', async (state) => {
    const stop = new AbortController();
    const told: string[] = [];
    let looks = 0;
    const runs = {
      look: async () => {
        if (++looks === 6) stop.abort();
        return { id: 'r', state, progress: null, summary: null, reason: null };
      },
    };
    const listener = { progress: () => undefined, notice: ({ text }: { text: string }) => void told.push(text) };
    const waiting = waitForJob(runs, '1', { listener, home: '/nowhere', signal: stop.signal });
    await expect(waiting).rejects.toMatchObject({ code: 'interrupted' });
    expect(told).toEqual([expect.stringContaining(`not begun yet (${state})`)]);
  });

  it('a run that the queue has lost is waited for where it lies', async () => {
    const ran = await enqueue(['import', '--job', 'assets', '--file', 'b.csv', '--wait', '--json']);
    const { run } = JSON.parse(ran.out);
    const listener = { progress: () => undefined, notice: () => undefined };
    const { signal } = new AbortController();
    const found = await waitForJob({ look: async () => undefined }, run, {
      listener,
      home: bound.settings.home,
      signal,
    });
    expect(found.summary).toMatchObject({ run, status: 'succeeded' });
  });

  it('says on Ctrl-C whether the run may be on the queue', async () => {
    const argv = ['import', '--job', 'assets', '--file', 'b.csv'];
    const ended = (signal: AbortSignal) => {
      process.emit('SIGINT');
      throw signal.reason;
    };
    const closed = await enqueue(argv, {}, async (_, { signal }) => ended(signal));
    expect([closed.code, closed.err]).toEqual([130, expect.stringContaining('nothing was put on it')]);
    const asked = await enqueue(argv, {}, async ({ home }, { signal }) => ({
      ...runsOnStore(bench.store, home),
      put: async () => ended(signal),
    }));
    expect([asked.code, asked.err]).toEqual([130, expect.stringContaining('it may be there')]);
  });

  it('ends the waiting on Ctrl-C and leaves the job', async () => {
    await bound.worker.pause();
    const waiting = enqueue(['import', '--job', 'assets', '--file', 'b.csv', '--wait']);
    while ((await bench.queue.getWaitingCount()) === 0) await new Promise((next) => setTimeout(next, 10));
    process.emit('SIGINT');
    const ran = await waiting;
    expect(ran.code).toBe(130);
    expect(ran.err).toMatch(/The run \S+ stays on the queue/);
    expect(await bench.queue.getWaitingCount()).toBe(1);
    bound.worker.resume();
  });
});
