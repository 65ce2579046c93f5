import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { pruneRuns } from '../../src/runs/prune.js';
import { prune } from '../../src/worker/inbox/prune.js';
import { cli } from '../cli/fake-io.js';
import { csv, type Desk, openDesk } from '../support/desk.js';

let desk: Desk;
beforeEach(async () => {
  desk = await openDesk();
});
afterEach(() => desk.close());

const JOB = {
  kind: 'import',
  resource: 'asset',
  match: { key: 'serial_number' },
  columns: { Serial: 'serial_number', Name: 'name', Category: 'category.name' },
};
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
    await expect(act()).rejects.toThrow(/only the summary is left: its rows were removed by `rowferry runs prune`/);
  // The same file once more changes nothing: what matters of the past lies in the service.
  const again = await desk.import(await desk.file('a.csv', rows(0, 20)), JOB);
  expect([again.summary.rows.unchanged, again.commits]).toEqual([20, 0]);
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

it('done and failed of the drop folder go with their runs; nothing else in it is touched', async () => {
  const { summary } = await desk.import(await desk.file('a.csv', rows(0, 2)), JOB, { reportDir: join(desk.dir, 'r') });
  const inbox = join(desk.dir, 'inbox');
  const put = async (path: string, text: string, days: number) => {
    const at = new Date(Date.now() - days * DAY);
    await mkdir(join(inbox, path, '..'), { recursive: true });
    await writeFile(join(inbox, path), text);
    await utimes(join(inbox, path), at, at);
    await utimes(join(inbox, path, '..'), at, at);
  };
  const ended = (days: number) =>
    JSON.stringify({ ...summary, finished_at: new Date(Date.now() - days * DAY).toISOString() });
  await put('done/assets/2026-01-01 08.00 assets - done/summary.json', ended(40), 1);
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
  for (const path of ['done/assets/2026-01-02 08.00 assets - done', 'assets/waiting.csv', '.ledger/assets/0123.1'])
    expect(existsSync(join(inbox, path)), path).toBe(true);
  expect(existsSync(join(inbox, 'processing/assets/20260101T080000000Z-aaaa/a.csv'))).toBe(true);
});

it('the command asks for the days, refuses what are none, and says what it removes', async () => {
  await desk.import(await desk.file('a.csv', rows(0, 2)), JOB);
  const prunes = (more: readonly string[], env = {}) =>
    cli(['runs', 'prune', '--home', desk.home, ...more], { cwd: desk.dir, env });
  expect(await prunes([])).toMatchObject({ code: 2, err: expect.stringContaining('--keep-days is missing') });
  for (const days of ['0', '-1', '1.5', 'x'])
    expect(await prunes([`--keep-days=${days}`])).toMatchObject({ code: 2, err: expect.stringContaining(days) });
  const { code, out } = await prunes(['--json'], { ROWFERRY_KEEP_DAYS: '3' });
  expect([code, JSON.parse(out)]).toEqual([
    0,
    { keep_days: 3, dry_run: false, bytes: 0, removed: [], left: [], folders: [] },
  ]);
});
