import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { lastFinished, lastRows, saveLastRun } from '../../src/runs/run/list.js';

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'rowferry-home-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const RUN = { early: '20260101T000000000Z-aaaa', late: '20260102T000000000Z-aaaa' };
const note = (run: string, rows: number) => saveLastRun(home, run, 'assets', 1, rows);

it('the rows of the latest finished run count, also where an older one is taken up again after it', () => {
  expect(lastRows(home, 'assets', 1)).toBeUndefined();
  note(RUN.early, 10);
  note(RUN.late, 20);
  note(RUN.early, 10);
  expect(lastRows(home, 'assets', 1)).toBe(20);
  note(RUN.late, 21);
  expect(lastRows(home, 'assets', 1)).toBe(21);
  expect(lastFinished(home)).toEqual([{ job: 'assets', at: expect.any(Number) }]);
});
