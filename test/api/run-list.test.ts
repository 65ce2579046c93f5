import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
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
