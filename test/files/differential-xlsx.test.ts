import { readFile } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { compareFormats, compareRandomFormats } from '../corpus/against-formats.js';
import { compareWithExcelJs, compareWithSheetJs } from '../corpus/against-readers.js';
import type { Comparison } from '../corpus/comparison.js';
import { scratch } from './fixtures.js';

// Hundreds of files in a test take their time on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const { folder } = await scratch();
const known = new Set(
  [...(await readFile(new URL('differences.md', import.meta.url), 'utf8')).matchAll(/^\| `([^`]+)` *\|/gm)].map(
    ([, name]) => name!,
  ),
);

function assertExplained({ explained, unexplained }: Comparison): void {
  expect(unexplained).toEqual([]);
  expect(Object.keys(explained).filter((name) => !known.has(name))).toEqual([]);
}

test('every built-in format and 130 of real workbooks show what SheetJS shows, or differences.md says why not (68)', () => {
  const comparison = compareFormats();
  assertExplained(comparison);
  expect(comparison.cells).toBeGreaterThan(5_000);
});

test('2,000 formats as people put them together show what SheetJS shows, or differences.md says why not', () => {
  assertExplained(compareRandomFormats(1, 2_000));
});

test('250 workbooks in the spelling of fifteen programs have the cells and texts that SheetJS finds (68, 69, 70, 71, 72)', async () => {
  const comparison = await compareWithSheetJs(3, 250, folder);
  assertExplained(comparison);
  expect(comparison.cells).toBeGreaterThan(8_000);
});

test('250 workbooks in the spelling of fifteen programs have the values that exceljs finds (68, 69, 70, 71, 72)', async () => {
  const comparison = await compareWithExcelJs(4, 250, folder);
  assertExplained(comparison);
  expect(comparison.cells).toBeGreaterThan(5_000);
});
