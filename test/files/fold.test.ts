import fc from 'fast-check';
import { expect, test } from 'vitest';
import { mayFoldTo } from '../../src/files/table/footer.js';
import { findHeading } from '../../src/files/table/header.js';
import { ColumnSample, columnHabit, foldedText } from '../../src/files/table/sample-table.js';

const piece = fc.constantFrom(
  'Serial',
  'serial',
  ' ',
  '\t',
  'e',
  '\u0301',
  'É',
  'ﬁ',
  'fi',
  'İ',
  '№',
  'K',
  '\u00a0',
  '1',
  'ß',
  '-',
);
const text = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join(''));

test('the quick look at a text never misses one that folds to the heading', () => {
  fc.assert(
    fc.property(fc.oneof(text, fc.string({ unit: 'binary' })), fc.oneof(text, fc.string()), (one, other) => {
      expect(mayFoldTo(one, foldedText(one))).toBe(true);
      if (foldedText(one) === foldedText(other)) expect(mayFoldTo(other, foldedText(one))).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test('cells that come and leave make the habit of those that are there', () => {
  const cell = fc.constantFrom(
    '',
    ' ',
    'Stock',
    'stock ',
    'SN-1',
    'SN-22',
    '2024',
    '12.50',
    '3 Jan 2024',
    'yes',
    'x'.repeat(99),
  );
  fc.assert(
    fc.property(fc.array(cell, { maxLength: 12 }), fc.array(cell, { maxLength: 12 }), (gone, there) => {
      const column = new ColumnSample();
      for (const one of [...gone, ...there]) column.add(one);
      for (const one of gone) column.remove(one);
      const { repeated, ...rest } = column.habit();
      const { repeated: expected, ...others } = columnHabit(
        there.map((one, row) => ({ row, cells: [one] })),
        0,
      );
      expect(rest).toEqual(others);
      expect(repeated === undefined).toBe(expected === undefined);
      for (const one of there) expect(repeated?.has(foldedText(one))).toBe(expected?.has(foldedText(one)));
    }),
  );
});

test('a sample whose rows differ in length has its heading found', () => {
  const rows = [
    ['Assets'],
    ['Name', 'Cost', 'Bought'],
    ['a', '1', '2024-01-01'],
    ['b', '2', '2024-01-02', ''],
    ['c', '3'],
  ];
  expect(findHeading(rows.map((cells, i) => ({ row: i + 1, cells })))?.row).toBe(2);
});
