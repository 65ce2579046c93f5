import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type TableIndex, Tables } from '../../src/api/runs/table-index.js';
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
  return { file: join(folder, 'table.csv'), folder: join(folder, 'index') };
}

const serials = async (table: TableIndex, rows: readonly number[]) => (await table.cells(rows)).map(([one]) => one);

it('shows the cells of any rows of a table, under their numbers, and removes what it made for that', async () => {
  const { file, folder } = await made('places', 5_000);
  const tables = new Tables();
  const table = await tables.openTable(file, {}, folder);
  expect(await table.cells([2, 3])).toEqual([
    ['SN-2', 'a, 2'],
    ['SN-3', 'a, 3'],
  ]);
  expect(table.headings).toEqual(['Serial', 'Name']);
  // A blank row has a number and no cells.
  expect(await serials(table, [7, 11, 4_999, 99_999])).toEqual(['SN-7', undefined, 'SN-4999', undefined]);
  expect(await tables.openTable(file, {}, folder)).toBe(table);
  // Read in another way it is another table.
  const bare = await tables.openTable(file, { header_row: 'none' }, folder);
  expect(await serials(bare, [1, 2])).toEqual(['Serial', 'SN-2']);
  await tables.close();
  expect(await readdir(folder)).toEqual([]);
});

it('waits for rows until they were read', async () => {
  const { file, folder } = await made('far', 50_000);
  const tables = new Tables();
  const table = await tables.openTable(file, {}, folder);
  expect(await serials(table, [2, 49_999])).toEqual(['SN-2', 'SN-49999']);
  expect(await table.cells([300_000])).toEqual([[]]);
  await tables.close();
});

it('tells a file that cannot be read to each who asks, and reads it again', async () => {
  const tables = new Tables();
  const { file, folder } = await made('empty', 0);
  await writeFile(file, '');
  await expect(tables.openTable(file, {}, folder)).rejects.toThrow('the file is empty');
  await writeFile(file, 'Serial\nSN-1\n');
  expect(await (await tables.openTable(file, {}, folder)).cells([2])).toEqual([['SN-1']]);
  await tables.close();
});

it('closes those that nobody asked for any more', async () => {
  const tables = new Tables();
  const { file, folder } = await made('gone', 20);
  const first = await tables.openTable(file, {}, folder);
  for (let at = 0; at < 8; at++) {
    const other = await made(`other-${at}`, 20);
    await tables.openTable(other.file, {}, other.folder);
  }
  await until(() =>
    first.cells([2]).then(
      () => false,
      (error: Error) => error.message.includes('was closed meanwhile'),
    ),
  );
  expect(await readdir(folder)).toEqual([]);
  await tables.close();
});
