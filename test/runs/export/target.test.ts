import { lstat, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LONGER_NAME } from '../../../src/files/table-place.js';
import { checkTarget } from '../../../src/runs/export/target.js';
import { type Desk, openDesk } from '../../support/desk.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-target-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const check = (name: string, { follow = true, editable = false } = {}) =>
  checkTarget({ resource: 'asset', target: join(dir, name), filter: [], editable, job: { name: 'asset' } }, { follow });

describe('a link', () => {
  test('is followed; a worker replaces it', async () => {
    await writeFile(join(dir, 'real.csv'), '');
    await symlink('real.csv', join(dir, 'link.csv'));
    expect(await check('link.csv')).toBe(join(dir, 'real.csv'));
    expect(await check('link.csv', { follow: false })).toBe(join(dir, 'link.csv'));
  });

  test('to nothing, or to another kind of file, is refused', async () => {
    await symlink('none.csv', join(dir, 'link.csv'));
    await expect(check('link.csv')).rejects.toThrow(/a link to a file that is not there/);
    await writeFile(join(dir, 'notes.txt'), 'mine');
    await symlink('notes.txt', join(dir, 'other.csv'));
    await expect(check('other.csv')).rejects.toThrow(/a link to .*notes\.txt, whose name ends otherwise/);
  });

  test('stays a link through an export', async () => {
    const desk: Desk = await openDesk({ seed: 'demo' });
    try {
      const real = await desk.file('real.csv', 'old');
      await symlink('real.csv', join(desk.dir, 'link.csv'));
      const { file, summary } = await desk.export('supplier', 'link.csv');
      expect((await lstat(file)).isSymbolicLink()).toBe(true);
      expect(await readFile(real, 'utf8')).toMatch(/^id,/);
      expect(summary.target?.path).toBe(real);
    } finally {
      await desk.close();
    }
  });
});

test('a name too long to be written is refused before anything is read', async () => {
  const most = 255 - LONGER_NAME;
  const fits = `${'a'.repeat(most - 4)}.csv`;
  expect(await check(fits)).toBe(join(dir, fits));
  await expect(check(`a${fits}`)).rejects.toThrow(new RegExp(`${most + 1} bytes long, and at most ${most}`));
  await expect(check(`${'ü'.repeat(120)}.csv`)).rejects.toThrow(/244 bytes long/);
});

describe('the job file of another editable file', () => {
  test('is not replaced', async () => {
    const desk: Desk = await openDesk({ seed: 'demo' });
    try {
      await desk.export('supplier', 'x.csv', { editable: true });
      const job = join(desk.dir, 'x.yaml');
      const before = await readFile(job, 'utf8');
      await expect(desk.export('supplier', 'x.xlsx', { editable: true })).rejects.toThrow(
        /x\.yaml is the job of x\.csv, and would become the job of x\.xlsx/,
      );
      expect(await readFile(job, 'utf8')).toBe(before);
      await expect(stat(join(desk.dir, 'x.xlsx'))).rejects.toThrow();
      expect((await desk.export('supplier', 'x.csv', { editable: true })).summary.status).toBe('succeeded');
    } finally {
      await desk.close();
    }
  });
});
