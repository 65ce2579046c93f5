import { chmod, lstat, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { writeTable } from '../../src/files/table-write.js';
import { batches, columns } from './workbook/tables.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-place-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const place = (name: string) =>
  writeTable(join(dir, name), columns('text'), batches([]), { title: 'Assets', facts: [] });
const modeOf = async (name: string) => (await stat(join(dir, name))).mode & 0o7777;

test('a file that was there keeps who may read it', async () => {
  for (const mode of [0o600, 0o640, 0o664]) {
    await writeFile(join(dir, 'a.csv'), 'old');
    await chmod(join(dir, 'a.csv'), mode);
    await place('a.csv');
    expect(await modeOf('a.csv')).toBe(mode);
    expect(await readFile(join(dir, 'a.csv'), 'utf8')).toBe('text 1\r\n');
  }
});

test('a new file is as the system makes them', async () => {
  await writeFile(join(dir, 'plain'), '');
  await place('a.csv');
  expect(await modeOf('a.csv')).toBe(await modeOf('plain'));
});

test('a link is replaced, and what it leads to stays', async () => {
  await writeFile(join(dir, 'real.csv'), 'old', { mode: 0o600 });
  await symlink('real.csv', join(dir, 'a.csv'));
  await place('a.csv');
  expect((await lstat(join(dir, 'a.csv'))).isFile()).toBe(true);
  expect(await readFile(join(dir, 'real.csv'), 'utf8')).toBe('old');
});
