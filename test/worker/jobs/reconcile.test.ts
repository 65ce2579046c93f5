import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect } from 'vitest';
import { newRunId } from '../../../src/runs/run/layout.js';
import { endedPrefix } from '../../../src/worker/inbox/claim.js';
import { itWith } from '../../support/servers.js';
import { type Bench, type Bound, insertAssets, JOB, openBench, runsOf, sheet } from './bench.js';

const it = await itWith('redis');

let bench: Bench;
afterEach(() => bench.close());

const RECONCILE = { ...JOB, kind: 'reconcile' };

/** A service with 30 assets, and a file that renames two of them, adds one and lacks one. */
async function open(job: object = {}): Promise<Bound> {
  bench = await openBench();
  insertAssets(
    bench.sandbox,
    Array.from({ length: 30 }, (_, i) => ({ name: `n${i}`, serial_number: `S-${i}` })),
  );
  await writeJob(job);
  const lines = sheet(29).split('\r\n');
  await bench.file('erp.csv', [lines[0], 'new0,S-0', 'new1,S-1', ...lines.slice(3), 'more,S-99'].join('\r\n'));
  return bench.worker();
}

const writeJob = (job: object) =>
  writeFile(path.join(bench.dir, 'jobs', 'erp.yaml'), JSON.stringify({ ...RECONCILE, ...job }));

const run = async (data: object, options = {}) => bench.settled(await bench.add(data, options, 'reconcile'));

const writes = () => bench.sandbox.commits.length;

const FOUND = { created: 1, updated: 2, unchanged: 27, total: 30 };

describe('a reconciliation of the queue', () => {
  it('only reports by default, writes where it is asked to, and then finds nothing more to write', async () => {
    const bound = await open();
    const reported = await run({ job: 'erp', file: 'erp.csv' });
    expect(reported.returnvalue).toMatchObject({
      ...{ kind: 'reconcile', status: 'succeeded', dry_run: true, rows: FOUND, requests: { writes: 0 } },
      reconcile: { apply: false, orphans: { total: 1, first: [] } },
    });
    expect(reported.progress).toMatchObject({ phase: 'done', total: 30, done: 30, outcomes: { updated: 2 } });
    expect([writes(), bench.sandbox.requests.writes]).toEqual([0, 0]);
    const applied = await run({ job: 'erp', file: 'erp.csv', options: { apply: true } });
    expect(applied.returnvalue).toMatchObject({ status: 'succeeded', dry_run: false, rows: FOUND });
    expect(writes()).toBe(3);
    const again = await run({ job: 'erp', file: 'erp.csv', options: { apply: true } });
    expect(again.returnvalue).toMatchObject({ status: 'succeeded', rows: { unchanged: 30, total: 30 } });
    expect(writes()).toBe(3);
    const night = { kind: 'reconcile', job: 'erp', trigger: 'queue', status: 'succeeded' };
    expect(bound.ended).toMatchObject(
      ['1 orphan (1 new)', '1 orphan', '1 orphan'].map((orphans) => ({ ...night, orphans })),
    );
    // What a job does that only reports is no rehearsal.
    expect(bound.ended.map(({ dryRun }) => dryRun)).toEqual([false, false, false]);
  });

  it.each([
    [{ apply: true }, undefined, true],
    [{ apply: true }, { dry_run: true }, false],
    [{ apply: true }, { apply: false }, false],
    [{ apply: true }, { apply: false, dry_run: false }, false],
    [{}, { dry_run: false }, true],
    [{}, { apply: true, dry_run: false }, true],
    [{}, { dry_run: true }, false],
  ])('of the job %j with options %j writes: %s', async (job, options, expected) => {
    const bound = await open(job);
    const { returnvalue } = await run({ job: 'erp', file: 'erp.csv', ...(options && { options }) });
    expect([returnvalue.dry_run, writes()]).toEqual([!expected, expected ? 3 : 0]);
    // Whoever asks for less than the job does rehearses it.
    const rehearsal = 'apply' in job && !expected;
    expect([bound.ended[0]?.dryRun, returnvalue.reconcile.orphans.total]).toEqual([rehearsal, 1]);
  });

  it('takes rows and a job of its own, and leaves no file of them', async () => {
    const { settings, ended } = await open();
    const rows = Array.from({ length: 30 }, (_, i) => ({ Name: i === 3 ? 'other' : `n${i}`, Serial: `S-${i}` }));
    const job = await run({ job: { ...RECONCILE, apply: true }, rows });
    expect(job.returnvalue).toMatchObject({ job: 'inline', rows: { updated: 1, unchanged: 29, total: 30 } });
    expect(await readdir(settings.home)).not.toContain('uploads');
    expect(ended).toMatchObject([{ kind: 'reconcile', inline: true }]);
  });

  it('with wrong data fails at once, with every fault', async () => {
    const bound = await open();
    const wrong: [unknown, string[]][] = [
      [{ job: 'erp', file: 'erp.csv', options: { dry_run: true, apply: true } }, ['are both true']],
      [
        { job: 'erp', options: { apply: 'yes', fource: 1 } },
        ['`options.apply` must be true or false, not "yes"', '`force`', 'neither is there'],
      ],
      [{ job: 'erp', file: '/etc/passwd' }, ['not below a folder']],
      [{ job: '../erp', file: 'erp.csv' }, ['without folder and ending']],
      [{ job: 'assets', file: 'erp.csv' }, ['is of kind import, not reconcile', 'rowferry import FILE --job assets']],
      [{ job: JOB, file: 'erp.csv' }, ['is of kind import, not reconcile']],
      [{ job: { ...RECONCILE, orphans: { action: 'delete' } }, file: 'erp.csv' }, ['orphans']],
      [{ job: 'erp', file: 'none.csv' }, ['There is no file "none.csv"']],
    ];
    for (const [data, words] of wrong) {
      const job = await run(data as object, { attempts: 5 });
      expect([data, await job.getState(), job.attemptsMade]).toEqual([data, 'failed', 1]);
      for (const word of words) expect(job.failedReason).toContain(word);
    }
    const crossed = await bench.settled(await bench.add({ job: 'erp', file: 'erp.csv' }, {}, 'import'));
    expect(crossed.failedReason).toContain('is of kind reconcile, not import');
    expect(bound.ended.map(({ status }) => status)).toEqual([...wrong, crossed].map(() => 'refused'));
    expect(await runsOf(bound.settings.home)).toEqual([]);
    expect(writes()).toBe(0);
  });

  it('of a slot that is late says so, and writes as its job says', async () => {
    const file = 'inbox/erp/a.csv';
    const bound = await open({ apply: true, schedule: { cron: '0 2 * * *', timezone: 'Europe/Berlin', file } });
    await bench.file('drop/erp/a.csv', await readFile(path.join(bench.dir, 'erp.csv'), 'utf8'));
    const job = await run({ job: 'erp', file }, { jobId: 'night.erp.2026-03-29T0230' });
    expect(job.returnvalue.warnings.join()).toMatch(/Late: due 2026-03-29 03:00 Europe\/Berlin, begun /);
    expect(job.returnvalue).toMatchObject({ dry_run: false, rows: FOUND });
    expect(bound.ended).toMatchObject([{ trigger: 'schedule', kind: 'reconcile' }]);
  });
});

describe('a claimed file', () => {
  async function claimed(content: string): Promise<{ id: string; run: string; file: string }> {
    const id = newRunId();
    const dir = path.join(bench.dir, 'drop', 'processing', 'erp', id);
    await mkdir(dir, { recursive: true });
    const file = path.join(dir, 'a.csv');
    await writeFile(file, content);
    return { id: `drop.erp.${id}`, run: id, file };
  }

  it('is run again with the very same content, each time with its own reports', async () => {
    const { ended } = await open({ apply: true });
    const content = await readFile(path.join(bench.dir, 'erp.csv'), 'utf8');
    for (const rows of [FOUND, { unchanged: 30, total: 30 }]) {
      const one = await claimed(content);
      const job = await run({ job: 'erp', file: one.file }, { jobId: one.id });
      const done = path.dirname(job.returnvalue.source.path);
      expect(path.relative(path.join(bench.dir, 'drop', 'done', 'erp'), done)).toContain(
        `${endedPrefix({ run: one.run, name: 'a.csv' })} - compared`,
      );
      expect(job.returnvalue).toMatchObject({ run: one.run, rows, source: { path: path.join(done, 'a.csv') } });
      expect(await readdir(done)).toEqual(expect.arrayContaining(['a.csv', 'results.csv', 'summary.json']));
    }
    expect(writes()).toBe(3);
    expect(ended).toMatchObject([{ trigger: 'drop' }, { trigger: 'drop' }]);
  });

  it('that a brake stopped lies in failed, with how to have its plan carried out', async () => {
    await open({ apply: true });
    const one = await claimed(sheet(29).replaceAll(',S-', 'x,S-'));
    const job = await run({ job: 'erp', file: one.file }, { jobId: one.id });
    expect(job.returnvalue).toMatchObject({ status: 'braked' });
    const folder = `${endedPrefix({ run: one.run, name: 'a.csv' })} - stopped by a brake`;
    const note = await readFile(path.join(bench.dir, 'drop', 'failed', 'erp', folder, 'ERROR.txt'), 'utf8');
    expect(note).toContain('A brake of the job stopped the reconciliation of a.csv. Nothing was written.');
    expect(note.match(/runs approve.*/g)).toEqual([`runs approve ${one.run} --by NAME`]);
    expect(writes()).toBe(0);
  });

  it('that cannot be run lies in failed with the reason', async () => {
    await open();
    const one = await claimed('Name;Nummer\r\nx;1');
    await run({ job: 'erp', file: one.file }, { jobId: one.id });
    const folder = `${endedPrefix({ run: one.run, name: 'a.csv' })} - refused`;
    const note = await readFile(path.join(bench.dir, 'drop', 'failed', 'erp', folder, 'ERROR.txt'), 'utf8');
    expect(note).toMatch(/^a\.csv was not reconciled\./);
    expect(note.match(/nothing was sent/gi)).toHaveLength(1);
    expect(note).toContain('Serial');
  });
});
