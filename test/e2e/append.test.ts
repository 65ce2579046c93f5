import { readFile, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { headline } from '../../src/report/wording.js';
import { checkJobText } from '../../src/runs/job/check.js';
import type { WorkerContext } from '../../src/runs/run/context.js';
import { listRuns } from '../../src/runs/run/list.js';
import { prune } from '../../src/worker/inbox/drop-folder.js';
import { type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { start } from '../support/process.js';
import { until } from '../support/until.js';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk({ responses: 'full' });
});

const JOB = importOf('asset', 'none', {
  Name: 'name',
  City: 'city',
  Category: 'category.name',
  Cost: { field: 'original_cost', required: true },
});
const file = (...rows: readonly (readonly string[])[]) =>
  desk.file('a.csv', [['Name', 'City', 'Category', 'Cost'], ...rows]);
const names = () => desk.sandbox.records('asset').map((one) => one['name']);
const codes = (run: { results: readonly Record<string, string>[] }) =>
  run.results.map(({ row, outcome, codes }) => `${row} ${outcome} ${codes}`.trimEnd());

describe('`key: none`: every row is a new record', () => {
  it('nothing is looked up or updated, also where records are the same', async () => {
    desk.sandbox.insert('asset', [{ name: 'Desk', city: 'Bern', category: { id: 1 } }]);
    const path = await file(['Desk', 'Bern', 'Laptop', '1'], ['Desk', 'Bern', 'Laptop', '2'], ['', '', '', '']);
    const dry = await desk.import(path, JOB, { dryRun: true });
    expect([dry.summary.rows.created, dry.commits]).toEqual([2, 0]);
    desk.sandbox.resetRequests();
    const run = await desk.import(path, JOB);
    expect(codes(run)).toEqual(['2 created', '3 created']);
    expect(names()).toEqual(['Desk', 'Desk', 'Desk']);
    expect(desk.sandbox.commits.map(({ method }) => method)).toEqual(['POST', 'POST']);
  });

  it('rows that are the same in every mapped column: refused, or the first is taken', async () => {
    const path = await file(
      ['Desk', 'Bern', 'Laptop', '1'],
      ['Desk', 'Bern', 'Laptop', '1.00'],
      ['Desk', 'Basel', 'Laptop', '1'],
      ['Desk', 'Bern', 'Laptop', 'x'],
      ['Desk', 'Bern', 'Laptop', '1'],
      ['Total', '', '', '4'],
    );
    const rejecting = await desk.import(path, JOB);
    expect(codes(rejecting).slice(0, 5)).toEqual([
      '2 created',
      '3 duplicate duplicate_row',
      '4 created',
      '5 invalid not_a_number',
      '6 duplicate duplicate_row',
    ]);
    expect(rejecting.exitCode).toBe(3);
    const again = await file(['Shelf', 'Bern', 'Laptop', '1'], ['Shelf', 'Bern', 'Laptop', '1']);
    const first = await desk.import(again, { ...JOB, match: { ...JOB.match, duplicates: 'first' } });
    expect(codes(first)).toEqual(['2 created', '3 skipped duplicate_row']);
    expect([first.exitCode, first.summary.rows.total]).toEqual([0, 2]);
    expect(headline(first.summary)).toBe('1 of 2 rows is in; 1 was skipped.');
  });

  it('the same file again is refused unless the job repeats it; corrected rows are another file', async () => {
    const rows = [
      ['Desk', 'Bern', 'Laptop', '1'],
      ['Chair', 'Bern', 'Laptop', 'x'],
    ] as const;
    const run = await desk.import(await file(...rows), JOB);
    await expect(desk.import(await file(...rows), JOB)).rejects.toThrow(
      `The rows of this file were appended by the run ${run.summary.run}`,
    );
    await expect(desk.import(await file(...rows), JOB, { dryRun: true })).rejects.toThrow(
      /could not append is in its rejected file\..*repeat: true/,
    );
    // Also where nothing is left of that run but its summary.
    await prune(desk.dir, { home: desk.home, keepDays: 1, dryRun: false, now: Date.now() + 9 * 86_400_000 });
    await expect(desk.import(await file(...rows), JOB)).rejects.toThrow(/repeat: true/);
    expect(names()).toEqual(['Desk']);
    await desk.import(await file(['Chair', 'Bern', 'Laptop', '2']), JOB);
    await desk.import(await file(...rows), { ...JOB, repeat: true });
    expect(names()).toEqual(['Desk', 'Chair', 'Desk']);
  });

  it('rows that a run handed back are taken once: a second import of them is refused, also where others were corrected', async () => {
    const { reportDir, summary } = await desk.import(
      await file(['Desk', 'Bern', 'Laptop', 'x'], ['Chair', 'Bern', 'Laptop', 'y']),
      JOB,
    );
    const rejected = await readFile(join(reportDir, 'rejected.csv'), 'utf8');
    const again = async (text: string) => desk.import(await desk.file('rejected.csv', text), JOB);
    // What brings in nothing takes nothing.
    expect((await again(rejected.replace(',x,', ',z,'))).summary.rows.invalid).toBe(2);
    const second = await again(rejected.replace(',x,', ',1,'));
    await expect(again(rejected.replace(',y,', ',2,'))).rejects.toThrow(
      new RegExp(
        `^Rows that the run ${summary.run} handed back were appended by the run ${second.summary.run}, .*its rejected file.*without the columns`,
      ),
    );
    expect(names()).toEqual(['Desk']);
    const left = await readFile(join(second.reportDir, 'rejected.csv'), 'utf8');
    const third = left.replace(',y,', ',2,');
    await again(third);
    await expect(again(third)).rejects.toThrow('they would be there twice');
    expect(names()).toEqual(['Desk', 'Chair']);
  });

  it('also after the run that handed them back ended long ago, while one that took some of them stays', async () => {
    const base = await desk.import(await file(['Desk', 'Bern', 'Laptop', 'x'], ['Chair', 'Bern', 'Laptop', 'y']), JOB);
    const rejected = await readFile(join(base.reportDir, 'rejected.csv'), 'utf8');
    const again = async (text: string) => desk.import(await desk.file('rejected.csv', text), JOB);
    const younger = await again(rejected.replace(',x,', ',1,'));
    const day = 86_400_000;
    const at = new Date(Date.now() + 20 * day);
    await utimes(join(younger.reportDir, 'rejected.csv'), at, at);
    await prune(desk.dir, { home: desk.home, keepDays: 30, dryRun: false, now: Date.now() + 31 * day });
    await expect(again(rejected.replace(',x,', ',1,').replace(',y,', ',2,'))).rejects.toThrow('appended by the run');
    expect(names()).toEqual(['Desk']);
  });

  it('a run that wrote nothing does not count as having taken the file', async () => {
    const rows = Array.from({ length: 20 }, (_, i) => ['Desk', 'Bern', 'Laptop', i < 15 ? 'x' : String(i)]);
    const braked = await desk.import(await file(...rows), { ...JOB, brakes: { max_invalid: '10%' } });
    expect([braked.summary.status, braked.commits]).toEqual(['braked', 0]);
    expect((await desk.import(await file(...rows), { ...JOB, brakes: {} })).summary.rows.created).toBe(5);
  });

  it('a row with a cell that cannot be read equals no row that has another cell there, and is not skipped', async () => {
    const job = {
      ...JOB,
      match: { ...JOB.match, duplicates: 'first' },
      columns: { ...JOB.columns, Cost: 'original_cost' },
    };
    const rows = [
      ['Desk', 'Bern', 'Laptop', ''],
      ['Desk', 'Bern', 'Laptop', 'x'],
      ['Desk', 'Bern', 'Laptop', 'y'],
      ['Desk', 'Bern', 'Laptop', ''],
    ];
    const said = ['2 created', '3 invalid not_a_number', '4 invalid not_a_number', '5 skipped duplicate_row'];
    expect(codes(await desk.import(await file(...rows), job))).toEqual(said);
    const keyed = { ...job, match: { key: 'name', duplicates: 'first' } };
    const run = await desk.import(await file(...rows.map((row) => ['Shelf', ...row.slice(1)])), keyed);
    expect(codes(run).map((one) => one.split(' ')[1])).toEqual(['created', 'invalid', 'invalid', 'skipped']);
    const invalidFirst = await desk.import(await file(['Rack', '', 'Laptop', 'x'], ['Rack', '', 'Laptop', '']), keyed);
    expect(invalidFirst.summary.rows.skipped).toBe(0);
    const rejecting = await desk.import(await file(...rows.map((row) => ['Lamp', ...row.slice(1)])), {
      ...job,
      match: JOB.match,
    });
    expect(codes(rejecting).slice(1, 3)).toEqual(said.slice(1, 3));
  });

  it('a run that could append nothing has not taken the file', async () => {
    const wrong = await file(['Desk', 'Bern', 'Laptop', 'x']);
    for (let time = 0; time < 2; time++) expect((await desk.import(wrong, JOB)).summary.rows.invalid).toBe(1);
    const path = await file(['Desk', 'Bern', 'Laptop', '1'], ['Chair', 'Bern', 'Laptop', '2']);
    desk.sandbox.setFaults(['POST /asset status=400']);
    expect((await desk.import(path, JOB)).summary.rows.rejected).toBe(2);
    desk.sandbox.setFaults([]);
    expect((await desk.import(path, JOB)).summary.rows.created).toBe(2);
    await expect(desk.import(path, JOB)).rejects.toThrow(/were appended by the run/);
    expect(names()).toEqual(['Desk', 'Chair']);
  });

  it('the same file packed, or packed anew, is the same file', async () => {
    const path = await file(['Desk', 'Bern', 'Laptop', '1']);
    await desk.import(path, JOB);
    const text = 'Name,City,Category,Cost\r\nDesk,Bern,Laptop,1';
    for (const level of [1, 9])
      await expect(desk.import(await desk.file('a.csv.gz', gzipSync(text, { level })), JOB)).rejects.toThrow(
        /appended by the run/,
      );
    expect(names()).toEqual(['Desk']);
  });

  it('workers with data folders of their own know of each other what they appended', async () => {
    const texts = new Map<string, string>();
    const worker: WorkerContext = {
      exclusive: async () => undefined,
      carrier: async () => ({
        parts: 0,
        sent: { reads: 0, writes: 0, retries: 0 },
        lost: false,
        carry: (requests) => requests.map(() => Promise.resolve(undefined)),
        cancel: () => undefined,
        quiesce: async () => undefined,
        close: async () => undefined,
      }),
      shared: {
        read: async (name) => texts.get(name),
        async update(name, edit) {
          const before = texts.get(name);
          const text = edit(before);
          if (text !== undefined) texts.set(name, text);
          return before;
        },
      },
    };
    const other = { worker, env: { ROWFERRY_HOME: join(desk.dir, 'other') } };
    const path = await file(['Desk', 'Bern', 'Laptop', '1']);
    desk.sandbox.setFaults(['POST /asset status=400']);
    expect((await desk.import(path, JOB, { worker })).summary.rows.rejected).toBe(1);
    desk.sandbox.setFaults([]);
    const { run } = (await desk.import(path, JOB, other)).summary;
    await expect(desk.import(path, JOB, { worker })).rejects.toThrow(
      `appended by the run ${run}, which lies in the data folder of another worker`,
    );
    await expect(desk.import(path, JOB, other)).rejects.toThrow(`were appended by the run ${run}`);
    expect(names()).toEqual(['Desk']);
  });

  it('where the run that took the file is not at its end, the refusal says how to go on', async () => {
    await desk.close();
    desk = await openDesk({ responses: 'full', latencyMs: 20 });
    const stop = new AbortController();
    const rows = Array.from({ length: 40 }, (_, i) => [`N${i}`, 'Bern', 'Laptop', '1']);
    const path = await file(...rows);
    const running = desk.import(path, JOB, { signal: stop.signal, env: { ROWFERRY_CONCURRENCY: '1' } });
    await until(() => desk.sandbox.commits.length > 3);
    stop.abort('SIGINT');
    const stopped = await running;
    expect(stopped.summary.status).toBe('interrupted');
    const { run } = stopped.summary;
    await expect(desk.import(path, JOB)).rejects.toThrow(`Go on with it: rowferry runs resume ${run}`);
    // What it did not reach is in its rejected file, too.
    const rejected = join(stopped.reportDir, 'rejected.csv');
    await expect(desk.import(rejected, JOB)).rejects.toThrow(`Go on with it: rowferry runs resume ${run}`);
    // A later run that is at its end is not the last one to resume.
    await desk.import(await file(['Other', 'Bern', 'Laptop', '1']), JOB, { dryRun: true });
    const mailed = await readFile(rejected);
    expect((await desk.resume()).summary.rows.created).toBe(40);
    expect(names()).toHaveLength(40);
    // Whoever has a copy of that file from before would append once more what is in by now.
    const copy = await desk.file('mailed.csv', mailed);
    await expect(desk.import(copy, JOB)).rejects.toThrow(/no run of this data folder handed them back as they are now/);
    const bare = String(mailed)
      .replace(/,_row,_outcome,_codes,_message/, '')
      .replaceAll(/,\d+,not_attempted,.*/g, '');
    expect((await desk.import(await desk.file('bare.csv', bare), JOB, { dryRun: true })).exitCode).toBe(0);
    expect(names()).toHaveLength(40);
  });

  it('one that waited for it, was killed and is refused by now leaves no run that could be resumed', async () => {
    await desk.close();
    let posted = false;
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    desk = await openDesk({
      responses: 'full',
      async onRequest({ method }) {
        if (method !== 'POST') return;
        posted = true;
        await held;
      },
    });
    const path = await file(['N', 'Bern', 'Laptop', '1']);
    const job = await desk.file('job.yaml', stringify(JOB));
    const running = desk.import(path, job, { env: { ROWFERRY_TIMEOUT: '60' } });
    await until(() => posted);
    const env = { ROWFERRY_API_URL: desk.sandbox.url, ROWFERRY_API_TOKEN: 'test-token', ROWFERRY_HOME: desk.home };
    const waiting = await start(['import', await file(['Z', 'Bern', 'Laptop', '1']), '--job', job], {
      cwd: desk.dir,
      env,
    });
    await waiting.until((_, err) => err.includes('Another run writes asset records'));
    waiting.child.kill('SIGKILL');
    await waiting.ended;
    const [killed] = (await listRuns(desk.home)).filter(({ status }) => status === 'unfinished');
    release();
    await running;
    await desk.import(await file(['Z', 'Bern', 'Laptop', '1']), job);
    await expect(desk.resume({ run: killed!.run })).rejects.toThrow('would be there twice');
    expect((await listRuns(desk.home)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
  });

  it('one that was put back does not go on; what it had not reached is appended from its rejected file', async () => {
    const stop = new AbortController();
    const rows = Array.from({ length: 30 }, (_, i) => [`N${i}`, 'Bern', 'Laptop', '1']);
    await desk.close();
    desk = await openDesk({
      responses: 'full',
      onAnswer: ({ method }) => {
        if (method === 'POST' && desk.sandbox.commits.length > 3) stop.abort('SIGINT');
      },
    });
    const job = { ...JOB, retire: { lifecycle_stage: 'Retired' } };
    const one = { signal: stop.signal, env: { ROWFERRY_CONCURRENCY: '1' } };
    const { summary, reportDir } = await desk.import(await file(...rows), job, one);
    expect(summary.status).toBe('interrupted');
    const created = names().length;
    const undo = await desk.undo(summary.run);
    expect(undo.summary.rows.updated).toBe(created);
    await expect(desk.resume({ run: summary.run })).rejects.toThrow(
      `the run ${undo.summary.run} put back what it wrote`,
    );
    const left = await desk.import(join(reportDir, 'rejected.csv'), job);
    expect(left.summary.rows.created).toBe(30 - created);
    expect(names()).toHaveLength(30);
  });

  it('a create of open effect stays unknown, and is not sent again before a person has looked', async () => {
    desk.sandbox.setFaults(['POST /asset nth=2 close_after']);
    const rows = ['A', 'B', 'C'].map((name) => [name, 'Bern', 'Laptop', '1']);
    const run = await desk.import(await file(...rows), JOB);
    expect(codes(run)).toEqual(['2 created', '3 unknown outcome_unknown', '4 created']);
    const next = await readFile(join(run.reportDir, 'report.html'), 'utf8');
    expect(next).toContain('a row that is still marked unknown is not sent');
    expect(next).not.toContain('runs retry');
    await expect(desk.retry(run.summary.run)).rejects.toThrow('unknown and cannot be looked up (1)');
    let rejected = join(run.reportDir, 'rejected.csv');
    for (let time = 0; time < 2; time++) {
      const again = await desk.import(rejected, JOB);
      expect([codes(again), again.commits, again.exitCode]).toEqual([['2 unknown outcome_unknown'], 0, 3]);
      rejected = join(again.reportDir, 'rejected.csv');
    }
    // It had been taken; had it not, this would be right.
    const looked = (await readFile(rejected, 'utf8')).replace(',unknown,', ',,');
    expect(codes(await desk.import(await desk.file('looked.csv', looked), JOB))).toEqual(['2 created']);
    expect(names()).toEqual(['A', 'B', 'C', 'B']);
  });

  it('rows that failed go on in their own run: a retry would not know what that one sends', async () => {
    desk.sandbox.setFaults(['POST /asset from=2 status=429']);
    const rows = ['A', 'B', 'C'].map((name) => [name, 'Bern', 'Laptop', '1']);
    const one = { env: { ROWFERRY_CONCURRENCY: '1', ROWFERRY_PATIENCE: '0' } };
    const stopped = await desk.import(await file(...rows), JOB, one);
    expect(codes(stopped)).toContain('3 failed service_unreachable');
    const { run } = stopped.summary;
    await expect(desk.retry(run)).rejects.toThrow(`rowferry runs resume ${run}`);
    desk.sandbox.setFaults([]);
    expect((await desk.resume({ run })).summary.rows.created).toBe(3);
    expect(names()).toEqual(['A', 'B', 'C']);
  });

  it('where answers are empty the ids are not known, and the row says so', async () => {
    desk.sandbox.setSwitches({ responses: 'bare' });
    const run = await desk.import(await file(['A', 'Bern', 'Laptop', '1']), JOB);
    expect([codes(run), run.exitCode]).toEqual([['2 created id_unknown'], 0]);
  });
});

it('`duplicates: first` beside a key: rows that differ in anything still need a person', async () => {
  const job = { ...JOB, match: { key: 'name', duplicates: 'first' } };
  const run = await desk.import(
    await file(['A', 'Bern', 'Laptop', '1'], ['A', 'Bern', 'Laptop', '1'], ['A', 'Bern', 'Laptop', '2']),
    job,
  );
  expect(codes(run)).toEqual(['2 created', '3 skipped duplicate_row', '4 duplicate duplicate_key']);
});

it('`duplicates: first` beside a key: a row that repeats an earlier one is skipped again when the file comes again', async () => {
  const job = { ...JOB, match: { key: 'name', duplicates: 'first' } };
  const rows = await file(['A', 'Bern', 'Laptop', '1'], ['A', 'Bern', 'Laptop', '1']);
  expect(codes(await desk.import(rows, job))).toEqual(['2 created', '3 skipped duplicate_row']);
  expect(codes(await desk.import(rows, job))).toEqual(['2 unchanged', '3 skipped duplicate_row']);
});

describe('rows at fault beside an earlier one', () => {
  const job = (match: object) => ({
    ...JOB,
    match,
    columns: { ...JOB.columns, Cost: 'original_cost', Vendor: 'attached_supplier' },
  });
  const told = (run: { results: readonly Record<string, string>[] }) =>
    codes(run).map((one) => one.split(' ').slice(1).join(' '));
  const sheet = (...rows: readonly string[][]) =>
    desk.file('a.csv', [['Name', 'City', 'Category', 'Cost', 'Vendor', 'Comment'], ...rows]);

  it.each([
    ['a cell that cannot be read', ['A', 'Bern', 'Laptop', '12x', '', ''], ['A', 'Bern', 'Laptop', '99x', '', '']],
    ['a name that nobody has', ['A', 'Bern', 'Laptop', '1', 'NoA', ''], ['A', 'Bern', 'Laptop', '1', 'NoB', '']],
    ['cells in doubt', ['A', 'Bern', 'Laptop', '12x', '', '', 'x'], ['A', 'Bern', 'Laptop', '99x', '', '', 'x']],
    ['one that is at fault alone', ['A', 'Bern', 'Laptop', '', '', ''], ['A', 'Bern', 'Laptop', '12x', '', '']],
  ])('are the same only where the file has the same: %s', async (_, one, other) => {
    const run = await desk.import(await sheet(one, other), job({ key: 'name' }));
    expect(run.faults.filter(({ row }) => row === '3').map(({ code }) => code)).toContain('duplicate_key');
    expect(JSON.stringify(run.faults)).not.toContain('is the same in every mapped column');
    const skipping = await desk.import(await sheet(one, other), job({ key: 'name', duplicates: 'first' }));
    expect(skipping.summary.rows.skipped).toBe(0);
  });

  it.each([
    ['not_a_number', ['A', 'Bern', 'Laptop', '12x', '', 'one'], ['A', 'Bern ', 'Laptop', ' 12x', '', 'other']],
    ['reference_not_found', ['A', 'Bern', 'Laptop', '1', 'NoA', ''], ['A', 'Bern', 'Laptop', '1', 'NoA', '']],
  ])('equal it in every mapped column: %s', async (code, one, other) => {
    const rows = await sheet(one, other, ['B', 'Bern', 'Laptop', '1', '', '']);
    for (const key of ['name', 'none']) {
      const rejecting = await desk.import(rows, job({ key }), { dryRun: true });
      expect(told(rejecting)).toEqual([`invalid ${code}`, `invalid ${code}; duplicate_row`, 'created']);
      const skipping = await desk.import(rows, job({ key, duplicates: 'first' }), { dryRun: true });
      expect(told(skipping)).toEqual([`invalid ${code}`, 'skipped duplicate_row', 'created']);
    }
  });
});

it('jobs that cannot mean it are told so', () => {
  const problems = (job: object) => checkJobText(stringify(job)).problems.map(({ message }) => message);
  expect(problems({ ...JOB, kind: 'reconcile' })).toEqual([
    expect.stringContaining('compares rows with records by a key'),
  ]);
  expect(problems({ ...JOB, match: { key: ['none'] } }).join()).toContain('none');
});
