import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import pino from 'pino';
import { describe, expect, it, vi } from 'vitest';
import { resumeRun } from '../../src/runs/follow-up.js';
import { readNights } from '../../src/runs/reconcile/nights.js';
import type { WorkerContext } from '../../src/runs/run/context.js';
import { readRun, readRunSummary } from '../../src/runs/run/list.js';
import { openHome } from '../../src/store/home.js';
import { type Desk, type Imported, openDesk, table } from '../support/desk.js';

/** What a night leaves to the next: contract, section 8. */

let desk: Desk;
let ids: number[];
/** While it is set, the run is interrupted at the answer to its first update. */
let interrupt: AbortController | undefined;

const WIDE = { max_updates: '100%', max_orphans: '100%', max_cleared: '100%', max_change: '1000%' };
const JOB = {
  resource: 'asset',
  match: { key: 'serial_number' },
  columns: { Name: 'name', Serial: 'serial_number', Cost: 'original_cost' },
};
const retire = (after: number) => ({
  ...JOB,
  orphans: { action: 'set', set: { lifecycle_stage: 'Retired' }, after },
  brakes: WIDE,
});

const upTo = (last: number) => Array.from({ length: last }, (_, at) => at + 1);

async function begin(count: number): Promise<void> {
  interrupt = undefined;
  desk = await openDesk({
    onAnswer: ({ method }) => {
      if (method === 'PUT') interrupt?.abort('SIGTERM');
    },
  });
  ids = desk.sandbox.insert(
    'asset',
    upTo(count).map((n) => ({
      name: `Laptop ${n}`,
      serial_number: `SN${n}`,
      original_cost: 5,
      lifecycle_stage: 'Deployed',
      category: { id: 1 },
    })),
  );
}

/** A file with the numbers given; what it costs by number, else 5. */
function file(name: string, numbers: readonly number[], cost: Record<number, string> = {}, more: string[][] = []) {
  const rows = numbers.map((n) => [`Laptop ${n}`, `SN${n}`, cost[n] ?? '5']);
  return desk.file(`${name}.csv`, [['Name', 'Serial', 'Cost'], ...rows, ...more]);
}

const stageOf = (n: number) => desk.sandbox.record('asset', ids[n - 1] ?? 0)?.['lifecycle_stage'];
const orphansOf = async ({ reportDir }: { reportDir: string }) =>
  (await table(join(reportDir, 'orphans.csv'))).map(({ key, absences, state }) => `${key} ${absences} ${state}`);

/** Takes up a run once more; of a finished one the reports are written again. */
async function again(run: string) {
  return resumeRun(run, {
    settings: desk.settings(),
    log: pino({ level: 'silent' }),
    signal: new AbortController().signal,
    listener: { progress: () => undefined, notice: () => undefined },
  });
}

async function nightsOfDesk() {
  const home = openHome(desk.home);
  const job = String(home.prepare('select job from night').get()?.['job']);
  home.close();
  return readNights({ home: desk.home, job, company: 1, service: desk.sandbox.url });
}

describe('records that the file does not hold', () => {
  it('are not counted when the reports of an old run are written again', async () => {
    await begin(30);
    const job = retire(2);
    const monday = await desk.reconcile(await file('mon', upTo(29)), job, { apply: true });
    const tuesday = await desk.reconcile(await file('tue', upTo(30)), job, { apply: true });
    expect([monday, tuesday].map((run) => run.summary.reconcile?.orphans.total)).toEqual([1, 0]);
    expect((await again(monday.summary.run)).summary.status).toBe('succeeded');
    const wednesday = await desk.reconcile(await file('wed', upTo(29), { 1: '6' }), job, { apply: true });
    expect(await orphansOf(wednesday)).toEqual(['SN30 1 wait']);
    expect(stageOf(30)).toBe('Deployed');
  });

  it('are not counted twice because the same file came packed', async () => {
    await begin(60);
    const monday = await file('mon', upTo(59));
    await desk.reconcile(monday, retire(2), { apply: true });
    const packed = `${monday}.gz`;
    await writeFile(packed, gzipSync(await readFile(monday)));
    expect(await orphansOf(await desk.reconcile(packed, retire(2), { apply: true }))).toEqual(['SN60 1 wait']);
    expect(stageOf(60)).toBe('Deployed');
  });

  it('are absent no longer where a run that a brake stopped had them in its file', async () => {
    await begin(60);
    const job = { ...retire(2), brakes: { ...WIDE, max_updates: '25%' } };
    await desk.reconcile(await file('mon', upTo(59)), job, { apply: true });
    const dear = Object.fromEntries(upTo(60).map((n) => [n, '7']));
    const tuesday = await desk.reconcile(await file('tue', upTo(60), dear), job, { apply: true });
    expect(tuesday.summary.status).toBe('braked');
    const wednesday = await desk.reconcile(await file('wed', upTo(59), { 1: '6' }), job, { apply: true });
    expect(await orphansOf(wednesday)).toEqual(['SN60 1 wait']);
    expect(stageOf(60)).toBe('Deployed');
  });

  it('are no news to each night whose file has a row without a key, and count from the first that has none', async () => {
    await begin(200);
    const night = (name: string, cost: string, more = [['no serial', '', '5']]) =>
      file(name, upTo(180), { 1: cost }, more);
    const monday = await desk.reconcile(await night('mon', '5'), JOB, { apply: true });
    expect(monday.summary.reason).toMatch(/^max_orphans: 20 of 200 records \(10%\) are newly missing/);
    const approved = await desk.approve(monday.summary.run, 'Ann');
    expect(approved.summary.reconcile?.orphans).toMatchObject({ total: 20, fresh: 20 });
    const tuesday = await desk.reconcile(await night('tue', '6'), JOB, { apply: true });
    expect(tuesday.summary.status).toBe('partial');
    expect(tuesday.summary.reconcile?.orphans).toMatchObject({ total: 20, fresh: 0 });
    expect((await orphansOf(tuesday))[0]).toBe('SN181 0 report');
    const wednesday = await desk.reconcile(await night('wed', '7', []), JOB, { apply: true });
    expect((await orphansOf(wednesday))[0]).toBe('SN181 1 report');
  });

  it('are not absent in a row where a worker with another data folder had a night in between', async () => {
    await begin(60);
    const texts = new Map<string, string>();
    const worker: WorkerContext = {
      exclusive: async () => ({ valid: true, lost: new AbortController().signal, release: async () => undefined }),
      shared: {
        read: async (name) => texts.get(name),
        async update(name, edit) {
          const text = edit(texts.get(name)) ?? texts.get(name);
          if (text !== undefined) texts.set(name, text);
          return text;
        },
      },
    };
    const night = (source: string, env: Record<string, string> = {}) =>
      desk.reconcile(source, retire(2), { apply: true, worker, env });
    await night(await file('mon', upTo(59)));
    const elsewhere = await night(await file('tue', upTo(60)), { ROWFERRY_HOME: join(desk.dir, 'other') });
    const wednesday = await night(await file('wed', upTo(59), { 1: '6' }));
    expect(wednesday.summary.warnings.join()).toContain(`The last run of this job, ${elsewhere.summary.run}, lies in`);
    expect(wednesday.summary.reconcile?.orphans).toMatchObject({ total: 1, fresh: 0 });
    expect(await orphansOf(wednesday)).toEqual(['SN60 1 wait']);
    expect(stageOf(60)).toBe('Deployed');
    expect(await orphansOf(await night(await file('thu', upTo(59), { 1: '7' })))).toEqual(['SN60 2 act']);
    expect(stageOf(60)).toBe('Retired');
  });

  it('are not absent twice because the same file was forced', async () => {
    await begin(60);
    const job = retire(2);
    const monday = await file('mon', upTo(59));
    await desk.reconcile(monday, job, { apply: true });
    desk.sandbox.edit('asset', ids[0] ?? 0, { original_cost: 9 });
    expect((await desk.reconcile(monday, job, { apply: true })).summary.status).toBe('braked');
    const forced = await desk.reconcile(monday, job, { apply: true, force: true });
    expect(await orphansOf(forced)).toEqual(['SN60 1 wait']);
    expect(stageOf(60)).toBe('Deployed');
  });
});

describe('a run that was interrupted and goes on after a newer night', () => {
  async function interrupted(name: string, last: number, job: object): Promise<Imported> {
    interrupt = new AbortController();
    const { signal } = interrupt;
    const run = await desk.reconcile(await file(name, upTo(last), { 1: '6' }), job, { apply: true, signal });
    interrupt = undefined;
    expect(run.summary.status).toBe('interrupted');
    return run;
  }

  it('leaves the records alone that the newer file holds, and counts nothing', async () => {
    await begin(30);
    const monday = await interrupted('mon', 29, retire(1));
    await desk.reconcile(await file('tue', upTo(30), { 1: '6' }), retire(1), { apply: true });
    await again(monday.summary.run);
    expect(stageOf(30)).toBe('Deployed');
    expect((await nightsOfDesk()).absent.size).toBe(0);
  });

  it('is not what the next night is compared with', async () => {
    await begin(60);
    const job = { ...JOB, brakes: { max_updates: '100%', max_orphans: '100%' } };
    const monday = await interrupted('mon', 40, job);
    const tuesday = await desk.reconcile(await file('tue', upTo(60), { 1: '6' }), job, { apply: true });
    const resumed = await again(monday.summary.run);
    expect(resumed.summary.reason).toContain(`The run ${tuesday.summary.run} of this job has taken up a newer file`);
    expect(resumed.summary.rows).toMatchObject({ updated: 1, unchanged: 39 });
    const wednesday = await desk.reconcile(await file('wed', upTo(60), { 1: '7' }), job, { apply: true });
    expect(wednesday.summary.status).toBe('succeeded');
    expect(wednesday.summary.reconcile?.previous).toMatchObject({ run: tuesday.summary.run, rows: 60 });
  });
});

describe('a night while the clock was ahead', () => {
  it('ends no sooner than it began, and what it stops says how to go on', async () => {
    await begin(30);
    const year = new Date(Date.now() + 365 * 86_400_000);
    vi.useFakeTimers({ toFake: ['Date'], now: year });
    const onProgress = () => vi.useRealTimers();
    const monday = await desk.reconcile(await file('mon', upTo(30), { 1: '6' }), JOB, { apply: true, onProgress });
    expect(monday.summary).toMatchObject({ status: 'succeeded', seconds: 0, finished_at: year.toISOString() });
    const tuesday = await desk.reconcile(await file('tue', upTo(30), { 1: '7' }), JOB, { apply: true });
    expect(tuesday.summary).toMatchObject({
      status: 'failed',
      reason: expect.stringMatching(/newer file.*the clock.*anew/),
    });
  });
});

describe('the file of an earlier night', () => {
  it('is not written again once another one was applied, also where a row of it had been at fault', async () => {
    await begin(60);
    const bad = [['Laptop 70', 'SN70', 'oops']];
    const monday = await file('mon', upTo(60), { 1: '6' }, bad);
    const first = await desk.reconcile(monday, JOB, { apply: true });
    expect(first.summary.status).toBe('partial');
    desk.sandbox.edit('asset', ids[0] ?? 0, { original_cost: 5 });
    const repeated = await desk.reconcile(monday, JOB, { apply: true });
    expect([repeated.summary.status, repeated.commits]).toEqual(['partial', 1]);
    await desk.reconcile(await file('tue', upTo(60), { 2: '6' }, bad), JOB, { apply: true });
    desk.sandbox.edit('asset', ids[9] ?? 0, { original_cost: 99 });
    const wednesday = await desk.reconcile(monday, JOB, { apply: true });
    expect(wednesday.summary.reason).toMatch(/^same_file: .* applied in part on .* Another file was applied since\./);
    expect([wednesday.summary.status, wednesday.commits]).toEqual(['braked', 0]);
  });

  it('is no measure where brakes would have stopped it and somebody only looked, by --force', async () => {
    await begin(100);
    const monday = await desk.reconcile(await file('mon', upTo(100)), JOB, { apply: true });
    const look = await desk.reconcile(await file('cut', upTo(50)), JOB, { force: true });
    expect([monday, look].map((run) => run.summary.status)).toEqual(['succeeded', 'succeeded']);
    expect(look.summary.warnings.join('\n')).toContain('max_change');
    const wednesday = await desk.reconcile(await file('wed', upTo(50), { 1: '6' }), JOB, { apply: true });
    expect([wednesday.summary.status, wednesday.commits]).toEqual(['braked', 0]);
    expect(wednesday.summary.reason).toContain('max_change: the file has 50 rows, the last successful run had 100');
    expect(wednesday.summary.reason).toContain('max_orphans: 50 of 100 records');
  });
});

describe('the folder of a finished run', () => {
  it('keeps what its undo and its reports read, and nothing that can be made again', async () => {
    await begin(30);
    const run = await desk.reconcile(await file('mon', upTo(29), { 1: '6' }), retire(1), { apply: true });
    expect([run.summary.status, run.commits]).toEqual(['succeeded', 2]);
    const dir = join(desk.home, 'runs', run.summary.run);
    expect((await readdir(join(dir, 'work'))).sort()).toEqual(['plan.ndjson', 'source.csv']);
    const before = await readFile(join(dir, 'before.ndjson'), 'utf8');
    await again(run.summary.run);
    expect(await orphansOf(run)).toEqual(['SN30 1 act']);
    expect(await readFile(join(dir, 'before.ndjson'), 'utf8')).toBe(before);
    const undone = await desk.undo(run.summary.run);
    expect([undone.summary.status, undone.commits, stageOf(30)]).toEqual(['succeeded', 2, 'Deployed']);
  });
});

describe('nights whose reports lie in one folder', () => {
  it('are told apart: each run has its own end', async () => {
    await begin(40);
    const reportDir = join(desk.dir, 'reports');
    const job = { ...JOB, brakes: { max_updates: 1 } };
    const dear = { 1: '6', 2: '6', 3: '6' };
    const braked = await desk.reconcile(await file('mon', upTo(40), dear), job, { apply: true, reportDir });
    const later = await desk.reconcile(await file('tue', upTo(40)), job, { apply: true, reportDir });
    expect([braked, later].map((run) => run.summary.status)).toEqual(['braked', 'succeeded']);
    const { run } = braked.summary;
    expect(await readRun(desk.home, run)).toMatchObject({ status: 'braked', reports_of: later.summary.run });
    expect(await readRunSummary(desk.home, run)).toEqual(braked.summary);
    const latest = await readRun(desk.home, later.summary.run);
    expect([latest.status, latest.reports_of]).toEqual(['succeeded', undefined]);
    const approved = await desk.approve(run, 'Ann');
    expect([approved.summary.status, approved.commits]).toEqual(['succeeded', 3]);
  });
});
