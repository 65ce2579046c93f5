import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ApiDeps } from '../../src/api/app.js';
import type { Run, Runs } from '../../src/api/schema.js';
import { noOutcomes } from '../../src/model/outcome.js';
import { apiIn, pagesFor } from './support.js';

const RUNS = 5_000;
let home: string;
const idOf = (i: number) => `20260101T${String(100_000_000 + i)}Z-abcd`;
async function made(i: number): Promise<void> {
  const dir = path.join(home, 'runs', idOf(i));
  await mkdir(dir, { recursive: true });
  const [job, file] = [i % 2 ? 'odd' : 'even', `/in/file-${i}.csv`];
  const summary = {
    ...{ run: idOf(i), job, kind: 'import', status: i % 10 ? 'succeeded' : 'partial', dry_run: false },
    ...{
      source: { path: file },
      rows: { ...noOutcomes(), created: i, total: i },
      started_at: '2026-01-01T00:00:00.000Z',
    },
  };
  await Promise.all([
    writeFile(path.join(dir, 'run.json'), JSON.stringify({ v: 1, kind: 'import', job: { name: job }, file })),
    writeFile(path.join(dir, 'summary.json'), JSON.stringify(summary)),
  ]);
}
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'rowferry-list-'));
  for (let i = 0; i < RUNS; i += 50) await Promise.all(Array.from({ length: 50 }, (_, n) => made(i + n)));
});
afterAll(() => rm(home, { recursive: true, force: true }));

const list = async (pages: ReturnType<typeof pagesFor>, query: string): Promise<Runs> => {
  const answer = await pages.request(`/api/v1/runs?${query}`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Runs;
};

it('of 5,000 runs a page is read, from the newest on; all pages together hold each once, also while more come', async () => {
  const pages = pagesFor(apiIn(home), 'viewer');
  const seen: Run[] = [];
  for (let after: string | null = ''; after !== null; ) {
    const page: Runs = await list(pages, `limit=200${after && `&after=${after}`}`);
    if (seen.length === 0) await made(RUNS + 1);
    seen.push(...page.runs);
    after = page.next;
  }
  expect(seen.map(({ id }) => id)).toEqual(Array.from({ length: RUNS }, (_, i) => idOf(RUNS - 1 - i)));
});

it('a page needs the folders of its runs alone', async () => {
  const broken = path.join(home, 'runs', idOf(7));
  await writeFile(path.join(broken, 'summary.json'), '{');
  const { runs, next } = await list(pagesFor(apiIn(home), 'viewer'), 'limit=2');
  expect([runs.map(({ id }) => id), typeof next]).toEqual([[idOf(RUNS + 1), idOf(RUNS - 1)], 'string']);
});

it('filters reach all of them', async () => {
  const pages = pagesFor(apiIn(home), 'viewer');
  const first = await list(pages, 'job=even&status=partial&limit=2');
  expect(first.runs.map(({ id }) => id)).toEqual([idOf(4990), idOf(4980)]);
  const second = await list(pages, `job=even&status=partial&limit=2&after=${first.next}`);
  expect(second.runs.map(({ id }) => id)).toEqual([idOf(4970), idOf(4960)]);
  expect((await list(pages, 'q=file-42.csv')).runs).toMatchObject([
    { id: idOf(42), file: 'file-42.csv', outcomes: { created: 42 } },
  ]);
  expect(await list(pages, 'status=braked')).toEqual({ runs: [], next: null });
});

it('holds what other workers of the queue ended, as the queue tells of it', async () => {
  const ran = { status: 'partial', rows: { ...noOutcomes(), created: 3, invalid: 2, total: 5 } };
  const job = {
    ...{ id: 'run.20270101T000000000Z-0001', name: 'import', timestamp: Date.parse('2027-01-01T00:00:00Z') },
    ...{ data: { job: 'theirs', file: 'in/b.csv' }, returnvalue: ran },
  };
  const own = { ...job, id: `run.${idOf(42)}` };
  const getJobs = async (states: string[]) => (states.includes('completed') ? [job, own] : []);
  const queue = { getJobs, getJob: async () => undefined } as unknown as ApiDeps['queue'];
  const pages = pagesFor(apiIn(home, { queue }, { ROWFERRY_QUEUE_URL: 'redis://queue' }), 'viewer');
  const { runs } = await list(pages, 'limit=2');
  const theirs = { id: '20270101T000000000Z-0001', status: 'partial', file: 'b.csv', rows: 5, needs_person: 2 };
  expect(runs).toMatchObject([theirs, { id: idOf(RUNS + 1) }]);
  expect((await list(pages, 'q=file-42.csv')).runs.length).toBe(1);
});

it('folders that cannot be read do not end the list, and say so themselves', async () => {
  const pages = pagesFor(apiIn(home), 'viewer');
  const [first = '', second = ''] = [idOf(RUNS - 1), idOf(RUNS - 2)];
  for (const id of [first, second]) await writeFile(path.join(home, 'runs', id, 'summary.json'), '{');
  const { runs, next } = await list(pages, 'limit=2');
  expect([runs.map(({ id }) => id), typeof next]).toEqual([[idOf(RUNS + 1), idOf(RUNS - 3)], 'string']);
  const { detail } = (await (await pages.request(`/api/v1/runs/${first}`)).json()) as { detail: string };
  expect(detail).toContain('summary.json cannot be read');
});

it('a report is a file beside the others: no link, and nothing that a summary outside of the data folder names', async () => {
  const pages = pagesFor(apiIn(home), 'viewer');
  const [secret, share] = [path.join(home, 'keys.json'), path.join(home, 'done')];
  await writeFile(secret, '[]');
  await mkdir(share, { recursive: true });
  const id = idOf(5);
  const request = { v: 1, kind: 'import', job: { name: 'odd' }, file: '/in/file-5.csv', reportDir: share };
  await writeFile(path.join(home, 'runs', id, 'run.json'), JSON.stringify(request));
  const target = { path: secret, bytes: 2 };
  const rows = { ...noOutcomes(), total: 0 };
  const summary = { run: id, kind: 'export', target, rows, reports: ['results.csv', 'plan.csv', '../keys.json'] };
  await writeFile(path.join(share, 'summary.json'), JSON.stringify(summary));
  await symlink(secret, path.join(share, 'results.csv'));
  await writeFile(path.join(share, 'plan.csv'), 'row');
  const status = async (name: string) => (await pages.request(`/api/v1/runs/${id}/reports/${name}`)).status;
  const names = ['plan.csv', 'results.csv', 'keys.json', '..%2Fkeys.json'];
  expect(await Promise.all(names.map(status))).toEqual([200, 404, 404, 404]);
});
