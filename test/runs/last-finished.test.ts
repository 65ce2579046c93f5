import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lastRows, lastRunFile, rememberRun } from '../../src/runs/run/list.js';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'rowferry-home-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const RUN = { early: '20260101T000000000Z-aaaa', late: '20260102T000000000Z-aaaa' };
const note = (run: string, rows: number) => rememberRun(home, { run, job: 'assets', company: 1, rows });

it('the rows of the latest finished run count, also where an older one is taken up again after it', async () => {
  expect(await lastRows(home, 'assets', 1)).toBeUndefined();
  await note(RUN.early, 10);
  await note(RUN.late, 20);
  await note(RUN.early, 10);
  expect(await lastRows(home, 'assets', 1)).toBe(20);
  await note(RUN.late, 21);
  expect(await lastRows(home, 'assets', 1)).toBe(21);
  expect(await readdir(join(home, 'jobs'))).toEqual(['assets-1.json']);
});

it('a note that a crash has torn is as none, and the next run writes it anew', async () => {
  await note(RUN.early, 10);
  await writeFile(lastRunFile(home, 'assets', 1), '{"run":"2026');
  expect(await lastRows(home, 'assets', 1)).toBeUndefined();
  await note(RUN.late, 20);
  expect(await lastRows(home, 'assets', 1)).toBe(20);
});
