import { readFile } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { compareMutated, compareTables } from '../corpus/against-csv-parse.js';

// Hundreds of files in a test take their time on a busy machine.
vi.setConfig({ testTimeout: 120_000 });

const known = [
  ...(await readFile(new URL('differences.md', import.meta.url), 'utf8'))
    .split('## Number')[0]!
    .matchAll(/^\| `([^`]+)` *\|/gm),
].map(([, name]) => name!);

test('4,000 tables in every dialect give the records of csv-parse, wherever the chunks are cut', () => {
  const comparison = compareTables(1, 4_000);
  expect(comparison.unexplained).toEqual([]);
  expect(comparison.explained).toEqual({});
  expect(comparison.cells).toBeGreaterThan(100_000);
});

test('3,000 mutated tables differ from csv-parse only in the ways that differences.md explains, and in each of them (57, 61, 63, 64)', () => {
  const comparison = compareMutated(1, 3_000);
  expect(comparison.unexplained).toEqual([]);
  expect(Object.keys(comparison.explained).sort()).toEqual([...known].sort());
  expect(comparison.cells).toBeGreaterThan(50_000);
});
