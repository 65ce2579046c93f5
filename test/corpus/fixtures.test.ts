import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test, vi } from 'vitest';
import { type CorpusFile, readDifferences } from './corpus-file.js';

// Hundreds of files in a test take their time on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

/*
 * The files of fixtures/corpus, among them those that LibreOffice, openpyxl, SheetJS and exceljs really wrote.
 */

const corpus = fileURLToPath(new URL('../../fixtures/corpus', import.meta.url));

async function differences(folder: string): Promise<{ files: number; found: string[] }> {
  const all = JSON.parse(await readFile(join(corpus, folder, 'expected.json'), 'utf8')) as Record<
    string,
    Omit<CorpusFile, 'name' | 'bytes'>
  >;
  const present = (await readdir(join(corpus, folder))).filter((name) => name !== 'expected.json');
  expect(Object.keys(all).sort()).toEqual(present.sort());
  const found: string[] = [];
  for (const [name, file] of Object.entries(all))
    found.push(...(await readDifferences(join(corpus, folder, name), { name, ...file })));
  return { files: present.length, found };
}

test('CSV files that programs wrote, and damaged ones, are read as they are shown (57, 61, 62, 63, 64, 65, 67, 69, 70, 90)', async () => {
  const { files, found } = await differences('csv');
  expect(found).toEqual([]);
  expect(files).toBeGreaterThan(15);
});

test('workbooks that programs wrote, and odd and damaged ones, are read as they are shown (57, 68, 69, 70, 71, 72, 73, 74, 78, 79, 80, 81, 82, 90)', async () => {
  const { files, found } = await differences('xlsx');
  expect(found).toEqual([]);
  expect(files).toBeGreaterThan(40);
});

test('files that are no table are named as what they are (57, 75, 78)', async () => {
  const { files, found } = await differences('other');
  expect(found).toEqual([]);
  expect(files).toBeGreaterThan(20);
});
