import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { pruneRuns } from '../../src/runs/prune.js';
import { newRunId } from '../../src/runs/run/layout.js';
import { prune } from '../../src/worker/inbox/drop-folder.js';
import { beginTicket, endTicket, stopTicket } from '../../src/worker/jobs/home.js';
import { cli } from '../cli/fake-io.js';
import { csv, type Desk, type ImportOptions, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});

const JOB = importOf('asset', 'serial_number', { Serial: 'serial_number', Name: 'name', Category: 'category.name' });
const DAY = 86_400_000;
const rows = (from: number, count: number) =>
  csv([
    ['Serial', 'Name', 'Category'],
    ...Array.from({ length: count }, (_, i) => [`S-${from + i}`, `Asset ${i}`, 'Laptop']),
  ]);
const left = async (run: string) => (await readdir(join(desk.home, 'runs', run))).sort();
const later = (days: number) => ({ home: desk.home, keepDays: 30, dryRun: false, now: Date.now() + days * DAY });

it('of a run that ended long ago only the summary stays, and it can be shown, but not undone', async () => {
  const first = await desk.import(await desk.file('a.csv', rows(0, 20)), JOB);
  const { run } = first.summary;
  const whole = await left(run);
  expect((await pruneRuns(later(29))).removed).toEqual([]);
  const said = await pruneRuns({ ...later(31), dryRun: true });
  expect(said.removed.map((one) => one.run)).toEqual([run]);
  expect(said.removed[0]!.bytes).toBeGreaterThan(1_000);
  expect(await left(run)).toEqual(whole);
  expect(await pruneRuns(later(31))).toEqual(said);
  expect(await left(run)).toEqual(['run.json', 'summary.json']);
  expect((await pruneRuns(later(31))).removed).toEqual([]);

  const shown = await cli(['runs', 'show', run, '--home', desk.home], { cwd: desk.dir });
  expect([shown.code, shown.out]).toEqual([0, expect.stringContaining('All 20 rows are in.')]);
  expect(shown.out).toContain('the summary is what is left');
  for (const act of [() => desk.undo(run), () => desk.retry(run), () => desk.resume()])
    await expect(act()).rejects.toThrow(
      /only the summary is left: its rows were removed by `rowferry runs prune`.* undone .* any more/,
    );
  // The same file once more changes nothing: what matters of the past lies in the service.
  const again = await desk.import(await desk.file('a.csv', rows(0, 20)), JOB);
  expect([again.summary.rows.unchanged, again.commits]).toEqual([20, 0]);
});

it('a run stays that an order is to take up, also one that was stopped before it began', async () => {
  const { run } = (await desk.import(await desk.file('a.csv', rows(0, 5)), JOB)).summary;
  const [undo, id] = [newRunId(), 'again.x'];
  beginTicket(desk.home, { id, name: 'import', data: {}, timestamp: 0, opts: {} }, undo, {
    of: run,
    verb: 'retry',
    force: false,
  });
  const pruned = () => prune(desk.dir, later(31));
  for (const stop of [() => undefined, () => stopTicket(desk.home, undo)]) {
    stop();
    expect((await pruned()).left).toEqual([{ run, why: `the run ${undo} is to take it up` }]);
  }
  endTicket(desk.home, undo);
  expect((await pruned()).removed.map((one) => one.run)).toEqual([run]);
});

it('what was killed in the middle of pruning is taken up, and the rows go last', async () => {
  const { run } = (await desk.import(await desk.file('a.csv', rows(0, 5)), JOB)).summary;
  const dir = join(desk.home, 'runs', run);
  for (const name of ['results.csv', 'report.html', 'work'])
    await rm(join(dir, name), { recursive: true, force: true });
  // Half pruned, it still counts as whole: its store is there.
  expect((await desk.undo(run, { dryRun: true })).summary.rows.total).toBe(5);
  await pruneRuns(later(31));
  expect(await left(run)).toEqual(['run.json', 'summary.json']);
});

it('what an open run needs stays whole, and so does the last night of a job that waits for approval', async () => {
  const stop = new AbortController();
  const file = await desk.file('a.csv', rows(0, 400));
  const interrupted = await desk.import(file, JOB, {
    signal: stop.signal,
    onProgress: ({ phase, done }) => phase === 'writing' && done > 0 && stop.abort('SIGINT'),
  });
  expect(interrupted.summary.status).toBe('interrupted');
  const night = { ...JOB, kind: 'reconcile' };
  const old = await desk.reconcile(await desk.file('n.csv', rows(0, 3)), night);
  const last = await desk.reconcile(await desk.file('n.csv', rows(0, 4)), night);
  const pruned = await pruneRuns(later(31));
  expect(pruned.removed.map(({ run }) => run)).toEqual([old.summary.run]);
  expect(pruned.left).toEqual([
    { run: interrupted.summary.run, why: 'it is interrupted, and can be resumed' },
    { run: last.summary.run, why: 'it is the last night of its job, and may be approved' },
  ]);
  const approved = await desk.approve(last.summary.run, 'Ann Lee');
  expect(approved.summary.status).toBe('succeeded');
});

describe('what a run needs that stays', () => {
  const CORRECTED_JOB = {
    ...JOB,
    columns: { ...JOB.columns, Name: { field: 'name', required: true }, Cost: 'original_cost' },
  };
  const HEADING = 'Serial;Name;Category;Cost';
  /** A run that handed rows back, which are read as its file shows, and their file with the names filled in. */
  async function handedBack(count: number, options: ImportOptions = {}) {
    const clear = Array.from({ length: 5 }, (_, at) => `G-${at};Asset;Laptop;1.002,5`);
    const faulty = Array.from({ length: count }, (_, at) => `B-${at};;Laptop;1,250`);
    const path = await desk.file('base.csv', [HEADING, ...clear, ...faulty, ''].join('\n'));
    const base = await desk.import(path, CORRECTED_JOB, options);
    expect(base.summary.rows.invalid).toBe(count);
    const rejected = await readFile(join(base.reportDir, 'rejected.csv'), 'utf8');
    return { base, corrected: await desk.file('corrected.csv', rejected.replace(/(B-\d+);;/g, '$1;Asset;')) };
  }
  const costs = (serial: string) =>
    desk.sandbox.records('asset').flatMap((one) => (one['serial_number'] === serial ? [one['original_cost']] : []));
  const interrupted = async (file: string) => {
    const stop = new AbortController();
    const run = await desk.import(file, CORRECTED_JOB, {
      signal: stop.signal,
      onProgress: ({ phase, done }) => phase === 'writing' && done > 0 && stop.abort('SIGINT'),
    });
    expect(run.summary.status).toBe('interrupted');
    return run.summary.run;
  };

  it('the run that handed rows back, for one that is to be resumed, also where it was corrected twice', async () => {
    const { base, corrected } = await handedBack(400);
    const text = await readFile(corrected, 'utf8');
    const second = await desk.import(await desk.file('second.csv', text.replaceAll(';Asset;', ';;')), CORRECTED_JOB);
    const again = (await readFile(join(second.reportDir, 'rejected.csv'), 'utf8')).replace(/(B-\d+);;/g, '$1;Asset;');
    const open = await interrupted(await desk.file('third.csv', again));
    const pruned = await pruneRuns(later(31));
    expect([pruned.removed, pruned.left.map(({ run }) => run)]).toEqual([
      [],
      [base.summary.run, second.summary.run, open],
    ]);
    expect((await desk.resume({ run: open })).summary.rows.created).toBe(400);
    expect([costs('B-0'), costs('B-399')]).toEqual([['1.25'], ['1.25']]);
    expect((await pruneRuns(later(31))).removed).toHaveLength(3);
  });

  it('where the run that handed rows back is gone, they are resumed as it read them', async () => {
    const { base, corrected } = await handedBack(400);
    const open = await interrupted(corrected);
    await rename(join(desk.home, 'runs', base.summary.run), join(desk.dir, 'away'));
    expect((await desk.resume({ run: open })).summary.rows.created).toBe(400);
    expect(costs('B-399')).toEqual(['1.25']);
  });

  it('and written as approved', async () => {
    const { base, corrected } = await handedBack(3);
    const braked = await desk.import(corrected, { ...CORRECTED_JOB, brakes: { max_creates: 1 } });
    await rename(join(desk.home, 'runs', base.summary.run), join(desk.dir, 'away'));
    expect((await desk.approve(braked.summary.run, 'Ann Lee')).summary.rows.created).toBe(3);
    expect(costs('B-2')).toEqual(['1.25']);
  });

  it('the run that handed rows back, and an editable export, for one that may be approved', async () => {
    const { base, corrected } = await handedBack(3);
    const brakes = { max_creates: 1 };
    const braked = await desk.import(corrected, { ...CORRECTED_JOB, brakes });
    const [, other = 0] = desk.sandbox.insert('supplier', [
      { name: 'Ada', city: 'Oslo' },
      { name: 'Ben', city: 'Oslo' },
    ]);
    const exported = await desk.export('supplier', 'suppliers.csv', { editable: true });
    desk.sandbox.edit('supplier', other, { city: 'Bergen' });
    const { file } = exported;
    await writeFile(file, (await readFile(file, 'utf8')).replace('Oslo', 'Narvik'));
    const job = parse(await readFile(file.replace('.csv', '.yaml'), 'utf8')) as object;
    const edited = await desk.import(file, { ...job, brakes: { max_updates: 0 } });
    expect([braked.summary.status, edited.summary.status]).toEqual(['braked', 'braked']);
    const pruned = await pruneRuns(later(31));
    const waiting = [base, braked, exported, edited].map(({ summary }) => summary.run);
    expect([pruned.removed, pruned.left.map((one) => one.run)]).toEqual([[], waiting]);
    expect((await desk.approve(edited.summary.run, 'Ann Lee')).summary.rows.updated).toBe(1);
    expect(desk.sandbox.records('supplier').map(({ city }) => city)).toEqual(['Narvik', 'Bergen']);
    expect((await desk.approve(braked.summary.run, 'Ann Lee')).summary.rows.created).toBe(3);
    expect(costs('B-0')).toEqual(['1.25']);
  });

  it('the reports of a run are looked at where it was told to put them', async () => {
    const { base } = await handedBack(1, { reportDir: join(desk.dir, 'reports') });
    const at = new Date(Date.now() + 20 * DAY);
    await utimes(join(base.reportDir, 'rejected.csv'), at, at);
    expect(await pruneRuns(later(31))).toEqual({ removed: [], left: [] });
    // Of another run that has put its own there, the file says nothing.
    await desk.import(await desk.file('a.csv', rows(0, 2)), JOB, { reportDir: join(desk.dir, 'reports') });
    await writeFile(join(base.reportDir, 'rejected.csv'), 'other');
    await utimes(join(base.reportDir, 'rejected.csv'), at, at);
    expect((await pruneRuns(later(31))).removed.map(({ run }) => run)).toEqual([base.summary.run]);
  });
});

it('done and failed of the drop folder go with their runs; nothing else in it is touched', async () => {
  const { summary } = await desk.import(await desk.file('a.csv', rows(0, 2)), JOB, { reportDir: join(desk.dir, 'r') });
  const inbox = join(desk.dir, 'inbox');
  const put = async (path: string, text: string, days: number) => {
    const at = new Date(Date.now() - days * DAY);
    await mkdir(join(inbox, path, '..'), { recursive: true });
    await writeFile(join(inbox, path), text);
    await utimes(join(inbox, path), at, at);
    await utimes(join(inbox, path, '..'), at, at);
    return join(inbox, path);
  };
  const ended = (days: number) =>
    JSON.stringify({ ...summary, finished_at: new Date(Date.now() - days * DAY).toISOString() });
  await put('done/assets/2026-01-01 08.00 assets - done/summary.json', ended(40), 40);
  // Somebody is at work in it, somebody else put it there, and it leads elsewhere.
  await put('done/assets/2026-01-03 08.00 assets - 2 to correct/summary.json', ended(40), 40);
  await put('done/assets/2026-01-03 08.00 assets - 2 to correct/rejected.csv', 'corrected', 1);
  // A run of another data folder that shares this drop folder, which may be approved there.
  const braked = { ...JSON.parse(ended(40)), status: 'braked' };
  await put('failed/assets/2026-01-05 08.00 assets - stopped/summary.json', JSON.stringify(braked), 40);
  await put('done/assets/our archive/assets.csv', 'rows', 400);
  await put('done/assets/list.txt', 'rows', 400);
  const elsewhere = await put('../elsewhere/assets.csv', 'rows', 400);
  await symlink(join(elsewhere, '..'), join(inbox, 'done/assets/2026-01-04 08.00 assets - done'));
  await put('done/assets/2026-01-02 08.00 assets - done/summary.json', ended(10), 50);
  await put('failed/assets/2026-01-01 08.00 assets - failed/ERROR.txt', 'no sheet', 40);
  await put('processing/assets/20260101T080000000Z-aaaa/a.csv', 'rows', 400);
  await put('assets/waiting.csv', 'rows', 400);
  await put('.ledger/assets/0123.1', '{}', 400);
  const { folders } = await prune(inbox, { home: join(desk.dir, 'no-home'), keepDays: 30, dryRun: false });
  expect(folders.map(({ path }) => path)).toEqual([
    'done/assets/2026-01-01 08.00 assets - done',
    'failed/assets/2026-01-01 08.00 assets - failed',
  ]);
  for (const path of [
    'done/assets/2026-01-02 08.00 assets - done',
    'done/assets/2026-01-03 08.00 assets - 2 to correct/rejected.csv',
    'done/assets/2026-01-04 08.00 assets - done/assets.csv',
    'done/assets/our archive/assets.csv',
    'failed/assets/2026-01-05 08.00 assets - stopped/summary.json',
    'done/assets/list.txt',
    'assets/waiting.csv',
    '.ledger/assets/0123.1',
  ])
    expect(existsSync(join(inbox, path)), path).toBe(true);
  expect(existsSync(join(inbox, 'processing/assets/20260101T080000000Z-aaaa/a.csv'))).toBe(true);
});

it('what somebody put beside the file and the reports of a run stays, however old it is', async () => {
  const inbox = join(desk.dir, 'inbox');
  const at = new Date(Date.now() - 40 * DAY);
  const put = async (folder: string, names: readonly string[]) => {
    await mkdir(join(inbox, folder), { recursive: true });
    for (const name of names) await mkdir(join(inbox, folder, name, '..'), { recursive: true });
    for (const name of names) await writeFile(join(inbox, folder, name), name);
    for (const name of [...names, '.']) await utimes(join(inbox, folder, name), at, at);
  };
  const imported = 'done/assets/2026-01-01 08.00 assets - 1 to correct';
  const refused = 'failed/assets/2026-01-01 08.00 assets - refused';
  const alone = 'done/assets/2026-01-02 08.00 assets - imported before';
  const { summary, reportDir } = await desk.import(await desk.file('assets.csv', rows(0, 2)), JOB);
  await put(imported, ['assets.csv', 'NOTE.txt', 'assets.xlsx', 'rejected.xlsx', 'letters/offer.pdf']);
  for (const name of summary.reports) await rename(join(reportDir, name), join(inbox, imported, name));
  const ended = { ...summary, finished_at: at.toISOString() };
  await writeFile(join(inbox, imported, 'summary.json'), JSON.stringify(ended));
  for (const name of [...summary.reports, 'letters', '.']) await utimes(join(inbox, imported, name), at, at);
  await put(refused, ['assets.csv', 'ERROR.txt', 'why.docx']);
  await put(alone, ['assets.csv', 'NOTE.txt']);
  const options = { home: join(desk.dir, 'no-home'), keepDays: 30, dryRun: false };
  const planned = await prune(inbox, { ...options, dryRun: true });
  expect((await readdir(join(inbox, refused))).length).toBe(3);
  const pruned = await prune(inbox, options);
  expect(pruned).toEqual(planned);
  expect(pruned.folders.map(({ path }) => path)).toEqual([imported, alone, refused]);
  // What tells which of it is of the run stays with it.
  const foreign = ['assets.xlsx', 'letters', 'rejected.xlsx'];
  expect((await readdir(join(inbox, imported))).sort()).toEqual(['NOTE.txt', ...foreign, 'summary.json']);
  expect(existsSync(join(inbox, imported, 'letters/offer.pdf'))).toBe(true);
  expect((await readdir(join(inbox, refused))).sort()).toEqual(['ERROR.txt', 'why.docx']);
  expect(existsSync(join(inbox, alone))).toBe(false);
  const later = { ...options, now: Date.now() + 400 * DAY };
  expect((await prune(inbox, later)).folders).toEqual([]);
});

it('a link among the runs is left, and a run that cannot be understood stays and keeps no other from going', async () => {
  const one = await desk.import(await desk.file('a.csv', rows(0, 2)), JOB);
  const broken = await desk.import(await desk.file('b.csv', rows(2, 2)), JOB);
  const undated = await desk.import(await desk.file('c.csv', rows(4, 2)), JOB);
  const runs = join(desk.home, 'runs');
  await writeFile(join(runs, broken.summary.run, 'summary.json'), '{"run":');
  const text = JSON.stringify({ ...undated.summary, finished_at: 'yesterday' });
  await writeFile(join(runs, undated.summary.run, 'summary.json'), text);
  const other = join(desk.dir, 'other');
  await mkdir(other);
  await writeFile(join(other, 'summary.json'), await readFile(join(runs, one.summary.run, 'summary.json')));
  await writeFile(join(other, 'mine.txt'), 'mine');
  await symlink(other, join(runs, '20260101T080000000Z-aaaa'));
  const pruned = await pruneRuns(later(31));
  expect(pruned.removed.map(({ run }) => run)).toEqual([one.summary.run]);
  expect(pruned.left).toEqual([
    { run: broken.summary.run, why: expect.stringContaining('cannot be read') },
    { run: undated.summary.run, why: 'its summary does not say when it ended: "yesterday"' },
  ]);
  expect(existsSync(join(other, 'mine.txt'))).toBe(true);
  expect(await left(undated.summary.run)).toContain('run.db');
});

it('several workers prune at once: each run goes once, and nobody fails', async () => {
  const ran = [];
  for (let at = 0; at < 4; at++)
    ran.push((await desk.import(await desk.file(`${at}.csv`, rows(at * 10, 5)), JOB)).summary.run);
  const inbox = join(desk.dir, 'inbox');
  for (let at = 0; at < 30; at++) {
    const folder = join(inbox, 'done/assets', `2026-01-01 08.${10 + at} assets - done`);
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'assets.csv'), 'rows');
  }
  const all = await Promise.all([1, 2, 3, 4].map(() => prune(inbox, later(31))));
  expect(all.flatMap(({ left }) => left)).toEqual([]);
  expect(new Set(all.flatMap(({ removed }) => removed.map(({ run }) => run)))).toEqual(new Set(ran));
  for (const run of ran) expect(await left(run)).toEqual(['run.json', 'summary.json']);
  expect(await readdir(join(inbox, 'done/assets'))).toEqual([]);
});

it('people are still at work: rows that are corrected where they lie, an edited export, a braked file', async () => {
  const wrong = 'Serial,Name,Category\r\nS-1,Asset,Laptop\r\n,Asset,Laptop';
  const partial = await desk.import(await desk.file('a.csv', wrong), JOB);
  const corrected = join(partial.reportDir, 'rejected.csv');
  const exported = await desk.export('asset', 'assets.xlsx', { editable: true });
  const braked = await desk.import(await desk.file('b.csv', rows(10, 20)), { ...JOB, brakes: { max_creates: 1 } });
  expect(braked.summary.status).toBe('braked');
  const at = new Date(Date.now() + 20 * DAY);
  const base = join(desk.home, 'runs', exported.summary.run, 'base.db');
  for (const path of [corrected, base]) await utimes(path, at, at);
  const waiting = { run: braked.summary.run, why: 'it is the last run of its job, and may be approved' };
  expect(await pruneRuns(later(31))).toEqual({ removed: [], left: [waiting] });
  expect((await desk.approve(braked.summary.run, 'Ann Lee')).summary.rows.created).toBe(20);
  const pruned = await pruneRuns(later(60));
  expect(pruned.removed.map(({ run }) => run)).toContain(braked.summary.run);
  expect(pruned.left).toEqual([]);
});

it('the command asks for the days, refuses what are none, and says what it removes', async () => {
  await desk.import(await desk.file('a.csv', rows(0, 2)), JOB);
  const prunes = (more: readonly string[], env = {}) =>
    cli(['runs', 'prune', '--home', desk.home, ...more], { cwd: desk.dir, env });
  expect(await prunes([])).toMatchObject({ code: 2, err: expect.stringContaining('--keep-days is missing') });
  for (const days of ['-1', '1.5', 'x'])
    expect(await prunes([`--keep-days=${days}`])).toMatchObject({ code: 2, err: expect.stringContaining(days) });
  const { code, out } = await prunes(['--json'], { ROWFERRY_KEEP_DAYS: '3' });
  expect([code, JSON.parse(out)]).toEqual([
    0,
    { keep_days: 3, dry_run: false, bytes: 0, removed: [], left: [], folders: [] },
  ]);
  const all = await prunes(['--keep-days=0', '--json']);
  expect(JSON.parse(all.out)).toMatchObject({ keep_days: 0, removed: [{ run: expect.any(String) }], left: [] });
});
