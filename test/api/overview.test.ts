import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ApiDeps } from '../../src/api/app.js';
import type { Health, Nights, Overview, Problem, Queue, Run, RunDetail, Runs } from '../../src/api/schema.js';
import { noOutcomes } from '../../src/model/outcome.js';
import { stepsOf } from '../../src/report/next-steps.js';
import type { Summary } from '../../src/report/summary.js';
import { readRunSummary } from '../../src/runs/run/list.js';
import { openJobFiles } from '../../src/worker/job-files.js';
import { apiIn, pagesFor } from './support.js';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rowferry-api-overview-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const GAUGES = { learnedRate: undefined, inFlight: 0, waiting: 0, answered: false, inFlightLimit: 8, heldMs: 0 };

async function ask<T>(home: string, path: string, more: Partial<ApiDeps> = {}) {
  const channel = { gauges: GAUGES } as unknown as ApiDeps['channel'];
  const api = apiIn(home, { readJobs: openJobFiles(join(home, 'job-files')), channel, ...more });
  const answer = await pagesFor(api, 'viewer').request(`/api/v1${path}`);
  return { status: answer.status, body: (await answer.json()) as T & Problem };
}

/** A data folder with runs that ended; `ago`: hours before now, `undoes`: which of those before it. */
async function homeWith(
  runs: readonly { readonly ago: number; readonly undoes?: number; readonly [key: string]: unknown }[],
) {
  const home = await mkdtemp(join(root, 'home-'));
  const ids: string[] = [];
  await mkdir(join(home, 'job-files'));
  for (const [at, { ago, undoes, ...more }] of runs.entries()) {
    const lineage = undoes === undefined ? undefined : { undoes: ids[undoes] };
    const startedAt = new Date(Date.now() - ago * 3_600_000).toISOString();
    const run = `${startedAt.replace(/[-:.]/g, '')}-${at.toString(16).padStart(4, '0')}`;
    const dir = join(home, 'runs', run);
    await mkdir(dir, { recursive: true });
    await writeFile(join(dir, 'run.json'), JSON.stringify({ reportDir: dir, lineage }));
    const summary = {
      run,
      kind: 'import',
      job: 'assets',
      status: 'succeeded',
      dry_run: false,
      source: { path: `/srv/in/${at}.csv` },
      started_at: startedAt,
      rows: { ...noOutcomes(), total: 0 },
      ...more,
    };
    await writeFile(join(dir, 'summary.json'), JSON.stringify(summary));
    ids.push(run);
  }
  return { home, ids };
}

const rows = (counts: Partial<ReturnType<typeof noOutcomes>>) => ({ ...noOutcomes(), total: 9, ...counts });

describe('GET /overview', () => {
  it('tells what waits for a person, until somebody took it up', async () => {
    const open = { status: 'partial', rows: rows({ created: 1, invalid: 2 }) };
    const { home, ids } = await homeWith([
      { ago: 30, ...open },
      { ago: 29, ...open, source: { path: '/srv/in/again.csv' } },
      { ago: 28, source: { path: '/srv/in/again.csv' } },
      { ago: 27, ...open, dry_run: true },
      { ago: 26, kind: 'reconcile', job: 'night', status: 'braked' },
      { ago: 25, kind: 'reconcile', job: 'erp', status: 'braked' },
      { ago: 2, kind: 'reconcile', job: 'night', status: 'braked', dry_run: true },
      { ago: 1, status: 'failed' },
      { ago: 800, status: 'failed' },
    ]);
    const waits = async () => (await ask<Overview>(home, '/overview')).body.needs_person.map(({ id }) => id);
    expect(await waits()).toEqual([ids[7], ids[6], ids[5], ids[0]]);
    // Its rejected rows came back corrected, and a night was approved.
    const later = async (run: string, lineage: object, more: object) => {
      const dir = join(home, 'runs', run);
      await mkdir(dir);
      await writeFile(join(dir, 'run.json'), JSON.stringify({ reportDir: dir, lineage }));
      const summary = {
        run,
        job: 'x',
        status: 'succeeded',
        dry_run: false,
        started_at: new Date(),
        rows: rows({}),
        ...more,
      };
      await writeFile(join(dir, 'summary.json'), JSON.stringify(summary));
    };
    await later(
      '29990101T000000000Z-0001',
      {},
      { kind: 'import', source: { path: join(home, 'runs', ids[0] ?? '', 'rejected.csv') } },
    );
    await later('29990101T000000000Z-0002', { approves: { run: ids[5] } }, { kind: 'reconcile' });
    // Whoever looks what an undo would do has not taken the run up.
    await later('29990101T000000000Z-0003', { undoes: ids[7] }, { kind: 'undo', dry_run: true });
    expect(await waits()).toEqual([ids[7], ids[6]]);
  });

  it('of a night that could not begin the overview, its job, its nights and its own page tell', async () => {
    const { home, ids } = await homeWith([{ ago: 26, kind: 'reconcile', job: 'erp' }]);
    const [night, other] = ['20990101T000000000Z-0001', '20990101T000000000Z-0002'];
    const reason = 'There is no file "erp.csv".';
    const jobOf = (job: string, run: string) => ({
      ...{ id: `night.${job}.2099-01-01T0000`, name: 'reconcile', timestamp: Date.now(), progress: { run } },
      ...{ data: { job, file: `in/${job}.csv` } },
    });
    const failed = { ...jobOf('erp', night), failedReason: reason };
    const working = jobOf('far', other);
    // Whoever orders a run is told why it cannot begin.
    const ordered = { ...failed, id: 'run.20990101T000000000Z-0003', progress: {} };
    const jobs: Record<string, object[]> = { failed: [failed, ordered], active: [working] };
    const queue = {
      getJobs: async (states: string[]) => states.flatMap((state) => jobs[state] ?? []),
      getJob: async () => undefined,
      getJobState: async () => 'failed',
    } as unknown as ApiDeps['queue'];
    await writeFile(join(home, 'job-files', 'erp.yaml'), 'kind: reconcile\nresource: asset\n');
    const asked = async <T>(path: string) => (await ask<T>(home, path, { queue })).body;
    const { needs_person, running } = await asked<Overview>('/overview');
    expect(needs_person).toMatchObject([{ id: night, status: 'failed', job: 'erp', file: 'erp.csv' }]);
    expect(running).toMatchObject([{ id: other, file: 'far.csv' }]);
    expect((await asked<Nights>('/nights/erp')).nights).toMatchObject([
      { run: night, status: 'failed', rows: 0, reason },
      { run: ids[0], status: 'succeeded', reason: null },
    ]);
    expect((await asked<{ last: Run }>('/jobs/erp')).last.id).toBe(night);
    const run = await asked<Pick<RunDetail, 'actions'>>(`/runs/${night}`);
    expect(run).toMatchObject({ id: night, status: 'failed', reason, here: false });
    expect(run.actions.resume).toEqual({ allowed: false, why: expect.any(String) });
  });

  it('what failed before it began is put aside, too, and is told of as before', async () => {
    const { home } = await homeWith([]);
    const run = '20990101T000000000Z-0003';
    const file = `/srv/inbox/processing/assets/${run}/broken.xlsx`;
    const dropped = { id: `drop.assets.${run}`, name: 'import', timestamp: Date.now(), data: { job: 'assets', file } };
    const failed = { ...dropped, progress: {}, failedReason: `${file}: it cannot be read as a table.` };
    const queue = {
      getJobs: async (states: string[]) => (states.includes('failed') ? [failed] : []),
      getJob: async () => undefined,
      getJobState: async () => 'failed',
    } as unknown as ApiDeps['queue'];
    const asked = async <T>(path: string) => (await ask<T>(home, path, { queue })).body;
    const told = { id: run, status: 'failed', file: 'broken.xlsx', job: 'assets' };
    const reason = 'broken.xlsx: it cannot be read as a table.';
    expect((await asked<Overview>('/overview')).needs_person).toMatchObject([told]);
    expect(await asked<RunDetail>(`/runs/${run}`)).toMatchObject({ ...told, reason });
    const put = await pagesFor(apiIn(home, { queue }), 'operator').request(`/api/v1/runs/${run}/aside`, {
      ...{ method: 'PUT', body: JSON.stringify({ aside: true }), headers: { 'content-type': 'application/json' } },
    });
    expect(put.status).toBe(204);
    expect((await asked<Overview>('/overview')).needs_person).toEqual([]);
    expect(await asked<RunDetail>(`/runs/${run}`)).toMatchObject({
      ...{ ...told, reason, aside: true },
      ...{ here: false, rows: null, outcomes: null, summary: null, reports: [] },
    });
    expect((await asked<Runs>('/runs')).runs).toMatchObject([{ ...told, rows: null, outcomes: null }]);
    const kept = (await readRunSummary(home, run)) as Summary;
    expect(stepsOf(kept)).toEqual([]);
  });

  it('counts the rows of the last 30 days by the calendar of the zone that is asked for', async () => {
    const { home } = await homeWith([
      { ago: 0, rows: rows({ created: 3 }) },
      { ago: 0, rows: rows({ created: 5 }), dry_run: true },
      { ago: 0, rows: rows({ created: 1, not_attempted: 7 }), status: 'braked' },
      { ago: 48, rows: rows({ updated: 2 }), status: 'partial' },
      { ago: 24 * 40, rows: rows({ created: 9 }) },
    ]);
    for (const zone of ['UTC', 'Pacific/Kiritimati', 'Pacific/Niue']) {
      const { days } = (await ask<Overview>(home, `/overview?timezone=${zone}`)).body;
      const format = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' });
      expect([days.length, new Set(days.map(({ date }) => date)).size]).toEqual([30, 30]);
      expect(days.at(-1)).toEqual({ date: format.format(Date.now()), outcomes: { ...noOutcomes(), created: 4 } });
      expect(days.find(({ date }) => date === format.format(Date.now() - 48 * 3_600_000))?.outcomes.updated).toBe(2);
      expect(days.reduce((sum, { outcomes }) => sum + outcomes.created + outcomes.updated, 0)).toBe(6);
    }
    const { status, body } = await ask(home, '/overview?timezone=Mars');
    expect([status, body.detail]).toEqual([400, expect.stringContaining('Mars')]);
  });

  it('tells what comes next, and how the service does', async () => {
    const { home } = await homeWith([]);
    const job = 'kind: import\nresource: supplier\nmatch: { key: name }\ncolumns: { Name: name }\n';
    const at = (cron: string) => `${job}schedule: { cron: "${cron}", timezone: UTC, file: in.csv }\n`;
    await writeFile(join(home, 'job-files', 'yearly.yaml'), at('0 0 1 1 *'));
    await writeFile(join(home, 'job-files', 'hourly.yaml'), at('0 * * * *'));
    await writeFile(join(home, 'job-files', 'never.yaml'), job);
    const service = async (gauges: object) => {
      const channel = { gauges: { ...GAUGES, ...gauges } } as unknown as ApiDeps['channel'];
      return (await ask<Overview>(home, '/overview', { channel })).body;
    };
    const { next, service: idle, running } = await service({});
    expect([next.map((one) => one.job), running]).toEqual([['hourly', 'yearly'], []]);
    expect(Date.parse(next[0]?.at ?? '') - Date.now()).toBeLessThanOrEqual(3_600_000);
    expect(idle).toEqual({ ok: null, rate: null, waiting: 0, paused_until: null });
    const busy = { answered: true, learnedRate: 7.5, waiting: 3, heldMs: 60_000 };
    expect((await service(busy)).service).toEqual({
      ok: true,
      rate: 7.5,
      waiting: 3,
      paused_until: expect.stringMatching(/Z$/),
    });
    expect((await service({ answered: true, awayMs: 10 })).service.ok).toBe(false);
  });
});

it('GET /nights/{job} pages through the nights of a job, newest first', async () => {
  const facts = {
    apply: true,
    differences: { rows: 6 },
    orphans: { total: 4, fresh: 1 },
    compared: { put_right: 5, orphans_acted: 1 },
    approved: { run: 'x', by: 'Tom' },
  };
  const night = { kind: 'reconcile', job: 'erp', rows: rows({ created: 2 }), reconcile: facts };
  const { home, ids } = await homeWith([
    { ago: 72, ...night },
    {
      ago: 48,
      ...night,
      status: 'interrupted',
      reason: 'The run was stopped.',
      reconcile: { ...facts, compared: { put_right: 3, orphans_acted: 0 } },
    },
    { ago: 24, kind: 'reconcile', job: 'other' },
    { ago: 12, kind: 'import', job: 'erp' },
    { ago: 6, kind: 'undo', job: 'erp', undoes: 0, dry_run: true },
    { ago: 5, kind: 'undo', job: 'erp', undoes: 0 },
  ]);
  const first = (await ask<Nights>(home, '/nights/erp?limit=1')).body;
  expect(first.nights).toEqual([
    {
      run: ids[1],
      started_at: expect.any(String),
      status: 'interrupted',
      apply: true,
      rows: 9,
      differences: 6,
      // As far as it came.
      put_right: 3,
      created: 2,
      orphans: 4,
      new_orphans: 1,
      orphans_acted: 0,
      reason: 'The run was stopped.',
      approved_by: 'Tom',
    },
  ]);
  const rest = (await ask<Nights>(home, `/nights/erp?limit=1&after=${first.next}`)).body;
  expect(rest).toEqual({
    nights: [expect.objectContaining({ run: ids[0], put_right: 5, orphans_acted: 1, undone_by: ids[5] })],
    next: null,
  });
  expect((await ask(home, '/nights/none')).status).toBe(404);
  expect((await ask(home, '/nights/erp?limit=0')).status).toBe(400);
});

it('GET /queue shows what waits, is at work and failed, and nothing of rows or folders', async () => {
  const job = (id: string, more: object) => ({
    id,
    name: 'import',
    timestamp: 1_795_000_000_000,
    data: {},
    progress: 0,
    ...more,
  });
  const state = { run: '20261121T081502123Z-3f9a', phase: 'writing', done: 3, total: 9, outcomes: { created: 3 } };
  const found: Record<string, object[]> = {
    waiting: [job('1', { data: { job: 'assets', file: '/home/secret/a.csv' } })],
    active: [job('run.x', { data: { job: { kind: 'import' }, rows: [{ Name: 'secret' }] }, progress: state })],
    failed: [
      job('3', { data: 'nonsense', failedReason: 'It is no file.' }),
      job('drop.4', { data: { file: 4 }, failedReason: 'It is no text.' }),
      job('drop.5', { data: { file: "/srv/at $' sum.csv" }, failedReason: "/srv/at $' sum.csv: no table." }),
    ],
  };
  const queue = {
    getJobCounts: async () => ({ waiting: 4, prioritized: 1, active: 1, failed: 2 }),
    getJobs: async ([kind]: string[]) => found[kind ?? ''],
  } as unknown as ApiDeps['queue'];
  const runs = { queue: async () => ({ address: 'redis://queue', workers: 2 }) } as ApiDeps['runs'];
  const { status, body } = await ask<Queue>(root, '/queue', { queue, runs });
  expect([status, body.address, body.workers, body.roots]).toEqual([200, 'redis://queue', 2, undefined]);
  expect(body.counts).toEqual({ waiting: 5, active: 1, delayed: 0, failed: 2, completed: 0 });
  expect(body.waiting).toMatchObject([{ id: '1', run: null, job: 'assets', file: 'a.csv', progress: null }]);
  expect(body.active).toMatchObject([
    {
      run: state.run,
      job: 'inline',
      file: null,
      progress: { phase: 'writing', done: 3, total: 9, outcomes: { created: 3, failed: 0 } },
    },
  ]);
  const reasons = ['It is no file.', 'It is no text.', "at $' sum.csv: no table."];
  expect(body.failed.map(({ reason }) => reason)).toEqual(reasons);
  expect(JSON.stringify(body)).not.toMatch(/secret/);
});

it('GET /health answers as a monitor reads it', async () => {
  const health = (ok: boolean) =>
    ask<Health>(root, '/health', { ready: async () => ({ ok, details: { queue: 'x' } }) });
  expect(await health(true)).toEqual({ status: 200, body: { ok: true, details: { queue: 'x' } } });
  expect((await health(false)).status).toBe(503);
});
