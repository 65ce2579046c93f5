import { mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkTarget } from '../../../src/runs/export/run.js';
import { type Desk, openDesk } from '../../support/desk.js';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-target-'));
});
afterEach(() => rm(dir, { recursive: true, force: true }));

const check = (name: string, { byHand = true, editable = false } = {}) =>
  checkTarget({ resource: 'asset', target: join(dir, name), filter: [], editable, job: { name: 'asset' } }, { byHand });

test('a link is followed; a worker replaces it', async () => {
  await writeFile(join(dir, 'real.csv'), '');
  await symlink('real.csv', join(dir, 'link.csv'));
  expect(await check('link.csv')).toBe(join(dir, 'real.csv'));
  expect(await check('link.csv', { byHand: false })).toBe(join(dir, 'link.csv'));
  await symlink('away/real.csv', join(dir, 'dangling.csv'));
  await expect(check('dangling.csv')).rejects.toThrow('a link to a file that is not there');
  await symlink('notes.txt', join(dir, 'other.csv'));
  await writeFile(join(dir, 'notes.txt'), '');
  await expect(check('other.csv')).rejects.toThrow(/notes\.txt/);
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
