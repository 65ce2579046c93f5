import { describe, expect, test } from 'vitest';
import { findHeading, type SampleRow } from '../../src/files/table/header.js';
import type { Cell } from '../../src/model/row.js';

/** Rows of text, cells parted by `|`; an empty line is a blank row, which keeps its number and is no sample row. */
function table(text: string): SampleRow[] {
  return text
    .split('\n')
    .map((line, at) => ({ row: at + 1, cells: line.split('|').map((cell): Cell => cell.trim()) }))
    .filter(({ cells }) => cells.some((cell) => cell !== ''));
}

const DATA = `SN-001|Laptop A|1200.50|2024-01-31
SN-002|Laptop B|900.00|2024-02-29
SN-003|Dock|80.00|2024-03-31
SN-004|Screen|300.00|2024-04-30`;

const HEADINGS = 'Serial|Name|Cost|Bought';

const FORM =
  'Label|Site|Room|Maker|Owner|Cost\nA|Rome|x|Elf|Ann|5.50\nB|Oslo|y|Shell|Bob|7\nC|Bonn|z|Total|Cid|9\nD|Linz|w|Union|Dan|1';

describe('where the heading stands', () => {
  test.each<[string, string, number]>([
    ['in the first row', `${HEADINGS}\n${DATA}`, 1],
    ['below a title', `Asset list\n${HEADINGS}\n${DATA}`, 2],
    ['below a title, a note and blank rows', `Asset list\n\nas of 2024-01-31|||draft\n\n\n${HEADINGS}\n${DATA}`, 6],
    ['below pairs of a name and a value', `Report:|Assets\nDate:|2024-01-31\nBy:|Ann\n\n${HEADINGS}\n${DATA}`, 5],
    ['below pairs without a blank row', `Report:|Assets\nDate:|2024-01-31\n${HEADINGS}\n${DATA}`, 3],
    [
      'below three pairs in a table of three columns',
      'By:|Ann\nOn:|today\n\nName|Cost|Qty\na|1|2\nb|3|4\nc|5|6\nd|7|8',
      4,
    ],
    ['below notes that spread over the columns', `at|the||of\nor|merging||\n${HEADINGS}\n${DATA}`, 3],
    ['below merged group headings', `Item||Money|\n${HEADINGS}\n${DATA}`, 2],
    ['below the numbers of the columns', `1|2|3|4|5|6\n${FORM}`, 2],
    ['below a title and the numbers of the columns', `Assets\n1|2|3|4|5|6\n${FORM}`, 3],
    ['in numbers, above texts', '1|2|3\nAnn|Rome|x\nBob|Oslo|y\nCid|Bonn|z', 1],
    ['above the numbers of the columns', `${HEADINGS}\n1|2|3|4\n${DATA}`, 1],
    ['above a row of units', `${HEADINGS}\n||EUR|yyyy-mm-dd\n${DATA}`, 1],
    ['above a row of instructions', `${HEADINGS}\nthe label|in words|two decimals|day of purchase\n${DATA}`, 1],
    [
      'below a title, with years as headings',
      'Budget\nUnit|2021|2022|2023\nA|10|20|30\nB|11|22|33\nC|5|6|7\nD|1|2|3',
      2,
    ],
    ['with a blank first heading', `List\n\n|Name|Cost|Bought\n${DATA}`, 3],
    ['with a blank first heading and texts only', 'List\n|Name|City|Owner\na|b|c|d\ne|f|g|h\ni|j|k|l\nm|n|o|p', 2],
    ['with one column', 'Name\nAnn\nBob\nCid', 1],
    ['in a sheet of one row', 'Name|Cost', 1],
    ['above rows that are hardly filled', 'Name|Serial|Cost|Owner\nA|||\nB|||', 1],
    ['above texts that are all different', 'Name|City\nAnn|Rome\nBob|Oslo\nCid|Bonn', 1],
    ['above a first data row that is all text', `${HEADINGS}\nSN-X|Old|unknown|unknown\n${DATA}`, 1],
    ['below a title as wide as half of the table', `Assets|Berlin\n\n${HEADINGS}\n${DATA}`, 3],
  ])('%s', (_, text, row) => {
    expect(findHeading(table(text))?.row).toBe(row);
  });

  test('no rows, no heading', () => {
    expect(findHeading([])).toBeUndefined();
  });
});

describe('what is said about it', () => {
  test('the evidence names the cells and what speaks for them', () => {
    const found = findHeading(table(`List\n${HEADINGS}\n${DATA}`));
    expect(found?.evidence).toBe(
      'Row 2 is the heading: it is the first text row as wide as the table (filled cells: 4).',
    );
    expect(found?.warnings).toEqual(['Row 1 above the heading was skipped ("List").']);
  });

  test.each([
    ['numbers in the first row', DATA],
    ['texts of the same build', 'csv--11|csv--12|csv--13\ncsv--21|csv--22|csv--23\ncsv--31|csv--32|csv--33'],
    [
      'values that return below',
      'In use|Berlin|x1y\nStored|Berlin|b\nIn use|Bonn|c\nIn use|Berlin|d\nStored|Bonn|e\nIn use|Bonn|f',
    ],
  ])('a file without a heading: %s', (_, text) => {
    const found = findHeading(table(text));
    expect(found?.row).toBe(1);
    expect(found?.evidence).toContain('though it looks like data');
    expect(found?.warnings.join()).toMatch(/add one; if it stands further down, state source\.header_row/);
  });

  test.each([
    ['years', 'Unit|2021|2022|2023\nA|10|20|30\nB|11|22|33\nC|5|6|7\nD|1|2|3'],
    ['codes', 'SKU-ID|H1|H2\nA-1|10|x\nA-2|11|y\nA-3|12|z'],
    ['a heading that is also a value', 'Name|Status\na|Status\nb|open\nc|open\nd|open'],
  ])('headings that look a little like data are no reason to warn: %s', (_, text) => {
    expect(findHeading(table(text))).toMatchObject({ row: 1, warnings: [] });
  });

  test('the heading repeated right below is left out elsewhere, and nothing else is said of it here', () => {
    expect(findHeading(table(`${HEADINGS}\n${HEADINGS}\n${DATA}`))).toMatchObject({ row: 1, warnings: [] });
  });
});

describe('the headings a job maps', () => {
  const text = `Berlin|Assets|Stock|2024\nAsset tag|Label|Price|Day\nserial |NAME|Cost|Bought\n${DATA}`;

  test('decide where the row that was found lacks them', () => {
    expect(findHeading(table(text))?.row).toBe(1);
    const found = findHeading(table(text), ['Serial', 'Name', 'Bought']);
    expect(found).toMatchObject({ row: 3, warnings: [expect.stringContaining('2 rows above the heading')] });
    expect(found?.evidence).toBe('Row 3 is the heading: it holds 3 of the 3 headings the job maps (filled cells: 4).');
  });

  test('decide also where one of several is misspelt, so that the fault names the right row', () => {
    expect(findHeading(table(text), ['Serial', 'Name', 'Purchased'])?.row).toBe(3);
  });

  test('change nothing where the row found has them, or no row has enough', () => {
    expect(findHeading(table(`${HEADINGS}\n${DATA}`), ['Serial', 'Cost'])?.evidence).toContain('it is the first row');
    expect(findHeading(table(`${HEADINGS}\n${DATA}`), ['Dock', 'a', 'b', 'c'])?.row).toBe(1);
    expect(findHeading(table(`${HEADINGS}\n${DATA}`), ['', ' '])?.row).toBe(1);
  });

  test('tell a title from a heading in a table of one column', () => {
    expect(findHeading(table('Asset names\nName\nDock\nScreen'), ['Name'])?.row).toBe(2);
  });
});
