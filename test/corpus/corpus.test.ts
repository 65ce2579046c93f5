import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { type CorpusFile, differencesOf } from './corpus-file.js';
import { csvFiles } from './csv-files.js';
import { otherFiles } from './other-files.js';
import { xlsxFiles } from './xlsx-files.js';
import { READ } from './xlsx-read.js';
import { REFUSED } from './xlsx-refused.js';

// Hundreds of files in a test take their time on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

/*
 * Files made byte by byte, with what must come of each: every cell as a person sees it, or a refusal that says why.
 */

const folder = await mkdtemp(join(tmpdir(), 'rowferry-corpus-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

async function differences(files: readonly CorpusFile[]): Promise<string[]> {
  const found: string[] = [];
  for (const file of files) found.push(...(await differencesOf(file, folder)));
  return found.slice(0, 20);
}

const faultsOf = (files: readonly CorpusFile[]) => new Set(files.flatMap(({ faults }) => faults));

test('600 CSV files of ten programs, good and damaged, are read as they are shown or refused in words (57, 61, 62, 63, 64, 65, 67, 69, 70, 82, 90)', async () => {
  const files = csvFiles(1, 600);
  for (const fault of [57, 61, 62, 63, 64, 65, 67, 69, 70, 82, 90]) expect(faultsOf(files)).toContain(fault);
  expect(await differences(files)).toEqual([]);
});

test('480 workbooks in the spelling of fifteen programs are read as they are shown (68, 69, 70, 71, 72, 73, 74, 81, 82, 90)', async () => {
  const files = xlsxFiles(1, 480, READ);
  for (const fault of [68, 69, 70, 71, 72, 73, 74, 81, 82, 90]) expect(faultsOf(files)).toContain(fault);
  expect(await differences(files)).toEqual([]);
});

test('220 workbooks that are cut off, hostile or empty are refused in words (57, 74, 75, 78, 79, 80, 90)', async () => {
  const files = xlsxFiles(2, 220, REFUSED);
  for (const fault of [57, 74, 75, 78, 79, 80, 90]) expect(faultsOf(files)).toContain(fault);
  expect(await differences(files)).toEqual([]);
});

test('200 NDJSON and packed files, and files that are no table, are read or named as what they are (57, 69, 70, 75, 78, 82)', async () => {
  const files = otherFiles(1, 200);
  for (const fault of [57, 69, 70, 75, 78, 82]) expect(faultsOf(files)).toContain(fault);
  expect(await differences(files)).toEqual([]);
});

test('the comparison itself notices a wrong cell, row, fault, heading and refusal', async () => {
  const [good] = csvFiles(1, 1);
  if (!good || !('table' in good.expected)) throw new Error('the first file of the corpus is a good table');
  const { table } = good.expected;
  const [first, ...rest] = table.rows;
  const wrong = (change: Partial<typeof table>) =>
    differencesOf({ ...good, expected: { table: { ...table, ...change } } }, folder);
  expect(await differencesOf(good, folder)).toEqual([]);
  expect(
    await wrong({ rows: [{ ...first!, cells: [`${String(first!.cells![0])}x`, ...first!.cells!.slice(1)] }, ...rest] }),
  ).toHaveLength(1);
  expect(await wrong({ rows: [{ ...first!, row: first!.row + 1 }, ...rest] })).not.toEqual([]);
  expect(await wrong({ rows: [{ ...first!, faults: ['ragged_row'] }, ...rest] })).toHaveLength(1);
  expect(await wrong({ rows: rest })).not.toEqual([]);
  expect(await wrong({ rows: [...table.rows, first!] })).not.toEqual([]);
  expect(await wrong({ headings: table.headings.slice(1) })).not.toEqual([]);
  expect(await wrong({ says: ['what nobody says'] })).toHaveLength(1);
  expect(await differencesOf({ ...good, expected: { refused: 'anything' } }, folder)).toHaveLength(1);
});
