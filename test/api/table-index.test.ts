import { appendFile, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Tables } from '../../src/api/files/table-index.js';
import { until } from '../support/until.js';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rowferry-tables-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** A table of its own in a folder of its own: rows are numbered from 2, each tenth row is blank. */
async function made(name: string, rows: number, cell: (row: number) => string = (row) => `SN-${row}`) {
  const folder = join(root, name);
  await mkdir(folder);
  const lines = Array.from({ length: rows }, (_, at) => (at % 10 === 9 ? '' : `${cell(at + 2)},"a, ${at + 2}"`));
  await writeFile(join(folder, 'table.csv'), ['Serial,Name', ...lines, ''].join('\n'));
  return { file: join(folder, 'table.csv'), folder: join(folder, 'index'), options: {} };
}

it('shows the rows at any place of a table, under their numbers, and removes what it made for that', async () => {
  const wanted = await made('places', 5_000);
  const tables = new Tables();
  const table = await tables.of(wanted);
  expect(await table.page({ after: 0 }, 3)).toEqual([
    { row: 2, cells: ['SN-2', 'a, 2'] },
    { row: 3, cells: ['SN-3', 'a, 3'] },
    { row: 4, cells: ['SN-4', 'a, 4'] },
  ]);
  await until(() => table.whole);
  expect([table.rows, table.meta.headings]).toEqual([4_500, ['Serial', 'Name']]);
  const numbers = async (from: Parameters<typeof table.page>[0], limit: number) =>
    (await table.page(from, limit)).map(({ row }) => row);
  // A blank row has a number and no place.
  expect(await numbers({ place: 8 }, 3)).toEqual([10, 12, 13]);
  expect(await numbers({ after: 10 }, 2)).toEqual([12, 13]);
  expect(await numbers({ after: 2_503 }, 1)).toEqual([2_504]);
  expect(await numbers({ place: 4_499 }, 10)).toEqual([5_000]);
  expect(await numbers({ after: 5_000 }, 10)).toEqual([]);
  expect(await numbers({ place: 1_000_000 }, 10)).toEqual([]);
  const all = await numbers({ after: 0 }, 10_000);
  expect([all.length, new Set(all).size, all.at(-1)]).toEqual([4_500, 4_500, 5_000]);
  const cells = await table.cells([4_999, 7, 11, 7, 99_999]);
  expect([...cells].map(([row, [serial]]) => [row, serial]).sort()).toEqual([
    [4_999, 'SN-4999'],
    [7, 'SN-7'],
  ]);
  expect(await tables.of(wanted)).toBe(table);
  await tables.close();
  expect(await readdir(wanted.folder)).toEqual([]);
});

it('ends a page where the cells are very long, and goes on behind it', async () => {
  const tables = new Tables();
  const table = await tables.of(await made('long', 100, (row) => `${row} ${'x'.repeat(30_000)}`));
  await until(() => table.whole);
  const first = await table.page({ after: 0 }, 1_000);
  const rest = await table.page({ after: first.at(-1)?.row ?? 0 }, 1_000);
  expect([first.length, rest.length, first.length + rest.length]).toEqual([67, 23, 90]);
  await tables.close();
});

it('tells a file that cannot be read to each who asks, and reads it again once it is another one', async () => {
  const tables = new Tables();
  const wanted = await made('empty', 0);
  await writeFile(wanted.file, '');
  await expect(tables.of(wanted)).rejects.toThrow('the file is empty');
  await writeFile(wanted.file, 'Serial\nSN-1\n');
  expect(await (await tables.of(wanted)).page({ after: 0 }, 10)).toEqual([{ row: 2, cells: ['SN-1'] }]);
  await tables.close();
});

it('removes the indexes of processes that are gone, and those of tables that nobody asked for any more', async () => {
  const tables = new Tables();
  const wanted = await made('gone', 20);
  await mkdir(wanted.folder);
  // Process ids end far below this one.
  await writeFile(join(wanted.folder, 'table-2000000000-00ff.db'), '');
  await writeFile(join(wanted.folder, 'table-2000000000-00ff.db-wal'), '');
  const first = await tables.of(wanted);
  expect((await readdir(wanted.folder)).some((name) => name.includes('2000000000'))).toBe(false);
  for (let at = 0; at < 8; at++) await tables.of(await made(`other-${at}`, 20));
  await until(async () => (await readdir(wanted.folder)).length === 0);
  await expect(first.page({ after: 0 }, 1)).rejects.toThrow('was closed meanwhile');
  await tables.close();
});

it('shows the first rows of a large file before it is looked through to its end', async () => {
  const tables = new Tables();
  const wanted = await made('large', 200_000, (row) => `SN-${row} ${'x'.repeat(20)}`);
  const first = await tables.soon(wanted, 0);
  expect(first.index.meta.headings).toEqual(['Serial', 'Name']);
  expect(await first.index.page({ after: 0 }, 1)).toEqual([{ row: 2, cells: [`SN-2 ${'x'.repeat(20)}`, 'a, 2'] }]);
  await until(async () => (await tables.soon(wanted, 0)).judged === 'whole');
  const { index } = await tables.soon(wanted);
  await until(() => index.whole);
  expect(index.rows).toBe(180_000);
  // Its beginning alone is fine: in the end it is refused all the same.
  const torn = await made('torn', 200_000, (row) => `SN-${row} ${'x'.repeat(20)}`);
  await appendFile(torn.file, Buffer.alloc(2_000_000));
  await until(async () =>
    tables.soon(torn, 0).then(
      ({ judged }) => judged === 'whole',
      () => true,
    ),
  );
  await tables.close();
  expect(await readdir(wanted.folder)).toEqual(['head']);
});
