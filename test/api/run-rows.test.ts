import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FoundRun } from '../../src/api/runs/queued.js';
import { RunRows } from '../../src/api/runs/rows.js';
import { makeFolder } from '../../src/files/make-folder.js';
import type { DiffText } from '../../src/model/change.js';
import type { OutcomeKind } from '../../src/model/outcome.js';
import { HOME, runFolder } from '../../src/runs/run/layout.js';
import { RunStore } from '../../src/store/run-store.js';

const ROWS = 9_000;
const ID = '20260101T000000000Z-abcd';
const run = { run: { id: ID, status: 'partial' }, entry: { run: ID } } as unknown as FoundRun;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), 'rowferry-rows-'));
  const folder = runFolder(home, ID);
  await makeFolder(folder.dir, HOME);
  const job = { kind: 'import', brakes: { min_rows: 1 }, source: {}, columns: {} };
  const request = { v: 1, kind: 'import', job: { name: 'x', job }, file: '/in/x.csv', source: 'x.csv' };
  await writeFile(folder.request, JSON.stringify(request));
  await makeFolder(path.join(folder.dir, 'work'), HOME);
  await writeFile(path.join(folder.dir, 'work', 'x.csv'), 'Name\n');
  const store = new RunStore(folder.store);
  const issue = { code: 'required', severity: 'error', message: 'It is missing.', column: 'Name', origin: 'local' };
  for (let row = 2; row < ROWS + 2; row++) {
    const kind: OutcomeKind = row % 3 === 0 ? 'invalid' : row % 3 === 1 ? 'updated' : 'at_risk';
    const diff: DiffText[] = kind === 'invalid' ? [] : [{ field: 'name', old: 'a', new: 'b', kind: 'set' }];
    const issues = kind === 'invalid' ? [issue] : [];
    store.rows.addOutcome({ outcome: { ref: { row }, kind, key: `S-${row}`, changed: [], issues } as never, diff });
  }
  store.close();
});
afterAll(() => rm(home, { recursive: true, force: true }));

const rowsOf = () => new RunRows(home);

it('counts the rows of a filter, and has them at any place', async () => {
  const rows = rowsOf();
  const page = (more: object = {}) => rows.page(run, { code: 'required', limit: 2, cells: false, ...more });
  expect(await page()).toMatchObject({ rows: [{ row: 3 }, { row: 6 }], total: ROWS / 3 });
  // At any place, each once and in order.
  const numbers = async (offset: number) => (await page({ offset, limit: 500 })).rows.map(({ row }) => row);
  const all = (await Promise.all([0, 500, 1_000, 1_500, 2_000, 2_500, 3_000].map(numbers))).flat();
  expect(all).toEqual(Array.from({ length: ROWS / 3 }, (_, i) => 3 * (i + 1)));
});

it('a run has the rows that it knows, all of them where nothing is asked for', async () => {
  const rows = rowsOf();
  const { total, rows: first } = await rows.page(run, { limit: 3, cells: true });
  expect([total, first.map(({ row }) => row)]).toEqual([ROWS, [2, 3, 4]]);
  expect(await rows.story(run, 2)).toContain('"row":2');
  expect(await rows.story(run, ROWS + 20)).toBeUndefined();
});

it('what is held back is in no field that the plan changes', async () => {
  expect(await rowsOf().plan(run, undefined)).toMatchObject({
    ...{ updated: ROWS / 3, at_risk: ROWS / 3 },
    fields: [
      { field: 'name', records: ROWS / 3, first: expect.arrayContaining([expect.objectContaining({ row: 4 })]) },
    ],
  });
});
