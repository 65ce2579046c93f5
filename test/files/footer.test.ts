import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { withoutFooter } from '../../src/files/table/footer.js';
import { isTotalLabel } from '../../src/files/table/footer-words.js';
import type { Cell, SheetRow } from '../../src/model/row.js';
import type { OpenSource } from '../../src/model/source.js';
import { allRows } from './fixtures.js';

/** A table of text, cells parted by `|`; an empty line is a blank row, which keeps its number. */
function source(lines: readonly string[], batch = 500): OpenSource & { reads: () => number } {
  const [headings = '', ...rest] = lines;
  const cellsOf = (line: string): Cell[] => line.split('|').map((cell) => cell.trim());
  const width = cellsOf(headings).length;
  const rows = rest
    .map(
      (line, at): SheetRow => ({
        row: at + 2,
        cells: [...cellsOf(line), ...Array<Cell>(width).fill('')].slice(0, width),
      }),
    )
    .filter(({ cells }) => cells.some((cell) => cell !== ''));
  let reads = 0;
  return {
    meta: {
      format: 'csv',
      gzip: false,
      encoding: 'utf-8',
      delimiter: '|',
      sheet: null,
      header_row: 1,
      headings: cellsOf(headings).map(String),
      newline: '\n',
      evidence: [],
      warnings: ['known at opening'],
    },
    async *rows() {
      reads++;
      for (let at = 0; at < rows.length; at += batch) yield rows.slice(at, at + batch);
    },
    reads: () => reads,
  };
}

const HEADINGS = 'Name|Serial|Model|Cost|Bought|Owner';
const data = (count: number) =>
  Array.from(
    { length: count },
    (_, i) => `Laptop ${i}|SN-${i}|M${i % 3}|${i + 1}.50|2024-01-${String((i % 28) + 1).padStart(2, '0')}|Ann`,
  );

async function trimmed(
  lines: readonly string[],
  { batch = 500, footer }: { batch?: number; footer?: 'auto' | 'keep' } = {},
) {
  const opened = source(lines, batch);
  const table = withoutFooter(opened, footer);
  const rows = await allRows(table);
  return { rows: rows.map(({ row }) => row), warnings: table.meta.warnings.slice(1), table, opened };
}

const upTo = (last: number) => Array.from({ length: last - 1 }, (_, i) => i + 2);

describe('rows left out', () => {
  test.each<[string, string[], number[]]>([
    ['a total', ['Total|||58.00||'], [12]],
    ['a total below a blank row', ['', 'Total|||58.00||'], [13]],
    ['a total whose label stands before its number', ['||Grand total:|60.00||'], [12]],
    ['totals in German and Chinese', ['Summe|||60,00||', '总计|||60||'], [12, 13]],
    ['a total that fills every column it can', ['Total (EUR)|||60.00||Total'], [12]],
    ['a number alone that is the sum', ['|||60.00||'], [12]],
    ['a note of where the data are from', ['Source: the asset register, as of January'], [12]],
    ['when it was made', ['', 'Generated on 2024-02-01 by Ann'], [13]],
    ['a page number', ['Page 3 of 3'], [12]],
    ['a count', ['10 records'], [12]],
    ['a sentence below a blank row', ['', 'Prices exclude tax and are rounded to the cent, see the handbook.'], [13]],
    [
      'a total, then notes',
      ['', 'Total|||60.00||', '', 'Notes:', 'all prices in euro', 'Prepared by: Ann||Checked by: Bob'],
      [13, 15, 16, 17],
    ],
    ['lines of a signature below a blank row', ['', 'Berlin', '', 'Approved by: ____|||', 'Ann'], [13, 15, 16]],
    [
      'notes strewn over the columns',
      ['Some|||||', '|also like to write stuff||||', '|||at the|bottom|', '||||too!|'],
      [12, 13, 14, 15],
    ],
  ])('%s', async (_, below, out) => {
    const last = 11 + below.length;
    const { rows, warnings } = await trimmed([HEADINGS, ...data(10), ...below]);
    const there = upTo(last).filter((row) => row < 12 || below[row - 12] !== '');
    expect(rows).toEqual(there.filter((row) => !out.includes(row)));
    expect(warnings.join(' ')).toMatch(
      /left out: (it looks|they look) like .*state `source: \{ footer: keep \}` in the job/,
    );
  });

  test('the warning names rows, texts and what adds up', async () => {
    const { warnings } = await trimmed([
      HEADINGS,
      ...data(10),
      '',
      'Total|||60.00||',
      'Source: register',
      'Page 1 of 1',
    ]);
    expect(warnings).toEqual([
      'Row 13 below the data was left out: it looks like a total ("Total | 60.00"; it is the sum of "Cost"). If it is data, state `source: { footer: keep }` in the job.',
      'Rows 14 and 15 below the data were left out: they look like notes ("Source: register", "Page 1 of 1"). If they are data, state `source: { footer: keep }` in the job.',
    ]);
  });

  test('a total that fills the row, where it is the sum', async () => {
    const lines = ['Team|2021|2022', 'A|1,000.25|2', 'B|3,000|4', 'C|5|6', 'Total|4,005.25|12'];
    expect((await trimmed(lines)).rows).toEqual([2, 3, 4]);
    expect((await trimmed([...lines.slice(0, 4), 'Total|9.5|9'])).rows).toEqual([2, 3, 4, 5]);
    const german = ['Team|Kosten', 'A|1.000,25', 'B|3.000,50', 'Summe|4.000,75'];
    expect((await trimmed(german)).rows).toEqual([2, 3]);
  });

  test('the heading repeated, and subtotals between the rows', async () => {
    const lines = [
      HEADINGS,
      ...data(5),
      'Subtotal|||17.50||',
      HEADINGS,
      ...data(5),
      'Zwischensumme:|||17.50||',
      ...data(3),
    ];
    const { rows, warnings } = await trimmed(lines);
    expect(rows).toEqual([2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 15, 16, 17]);
    expect(warnings).toEqual([
      'Row 8 was left out: the heading stands there again. If it is data, state `source: { footer: keep }` in the job.',
      'Rows 7 and 14 were left out: they are labelled as totals and hold numbers only. If that is data, state `source: { footer: keep }` in the job.',
    ]);
  });
});

describe('rows that stay', () => {
  test.each<[string, string[]]>([
    ['a last row like the others', []],
    ['a sparse last row', ['Monitor|||||']],
    ['a sparse row with its cost', ['Monitor|||300.00||']],
    ['a record that is called Total', ['Total|SN-99|M1|12.00|2024-01-01|Ann']],
    ['a record whose name begins like a note', ['Source control server|||||']],
    ['a record whose name ends with a total', ['Gas Total|||12.00||']],
    ['a record whose name begins like the one above', ['Laptop 9 Rack Total|||12.00||']],
    ['a record named like the one above, with more of its own', ['Laptop 9 Total|SN-9b|M1|12.00|2024-01-01|Ann']],
    ['a label without a number', ['Total|||||']],
    ['a number alone that is no sum', ['|||61.00||']],
    ['a row that lacks its name', ['|SN-77|M1||2024-01-01|']],
    ['a word for a number in a row like the others', ['Dock|SN-88|M1|unknown|unknown|Ann']],
  ])('%s', async (_, below) => {
    const { rows, warnings } = await trimmed([HEADINGS, ...data(10), ...below]);
    expect(rows).toEqual(upTo(11 + below.length));
    expect(warnings).toEqual([]);
  });

  test('sparse rows below a blank row are data, and named', async () => {
    const { rows, warnings } = await trimmed([HEADINGS, ...data(10), '', 'Monitor|||||', 'Dock|||||']);
    expect(rows.slice(-2)).toEqual([13, 14]);
    expect(warnings).toEqual([
      'Rows 13 and 14, below a blank row at the end, fill few of the 6 cells a row usually has ("Monitor", "Dock"). They are read as data; delete them if they are none.',
    ]);
  });

  test('records between a blank row and a total', async () => {
    const { rows } = await trimmed([HEADINGS, ...data(10), '', 'Monitor|||300||', 'Dock|||80||', 'Total|||440.00||']);
    expect(rows.slice(-3)).toEqual([11, 13, 14]);
  });

  test.each([
    ['Excel', ['Rome Total', 'Oslo Total', 'Grand Total'], false],
    ['Excel in German', ['Rome Ergebnis', 'Oslo Ergebnis', 'Gesamtergebnis'], false],
    ['Excel in French', ['Total Rome', 'Total Oslo', 'Total général'], true],
  ])('totals of groups as %s writes them', async (_, [rome, oslo, all], blank) => {
    const site = (name: string, at: number) => `${blank && at > 0 ? '' : name}|Drill|S-${name}${at}|Ann|10.00`;
    const group = (name: string) => [0, 1, 2].map((at) => site(name, at));
    const lines = [...group('Rome'), `${rome}||||30.00`, ...group('Oslo'), `${oslo}||||30.00`, `${all}||||60.00`];
    const { rows, warnings } = await trimmed(['Site|Name|Serial|Owner|Cost', ...lines]);
    expect(rows).toEqual([2, 3, 4, 6, 7, 8]);
    expect(warnings).toEqual([
      expect.stringContaining('Rows 5 and 9 were left out: they are labelled as totals and hold numbers only.'),
      expect.stringContaining('Row 10 below the data was left out: it looks like a total'),
    ]);
  });

  test('totals of groups that another column names', async () => {
    const group = (name: string, row: number) => [
      `D${row}|S-${row}|${name}|Ann|10.00`,
      `E${row}|T-${row}|${name}|Ann|5.00`,
    ];
    const lines = [
      ...group('Rome', 2),
      '||Rome Total||15.00',
      ...group('Oslo', 5),
      '||Oslo Total||15.00',
      'F|S-9|Oslo|Ann|1',
    ];
    const { rows } = await trimmed(['Name|Serial|Site|Owner|Cost', ...lines]);
    expect(rows).toEqual([2, 3, 5, 6, 8]);
  });

  test('a second table is named, and its rows stay', async () => {
    const { rows, warnings } = await trimmed([
      HEADINGS,
      ...data(30),
      '',
      'Vendor|City|Phone|Mail|Contact',
      'Acme|Bonn|1|a@b|Ann',
    ]);
    expect(rows.slice(-2)).toEqual([33, 34]);
    expect(warnings.join()).toContain('Row 33, below a blank row, looks like the heading of another table.');
  });

  test.each([
    ['a small one', 'Name|Serial|Cost', ['A|S1|10', 'B|S2|20', 'C|S3|30'], ['Supplier|City|Orders', 'Acme|Bonn|5']],
    ['one of words', 'Name|Serial|City', ['A|S-1|Bonn', 'B|S-2|Bonn', 'C|S-3|Bonn', 'D|S-4|Ulm'], ['Vendor|Mail|Land']],
  ])('a second table is named: %s', async (_, headings, above, below) => {
    const { rows, warnings } = await trimmed([headings, ...above, '', ...below]);
    expect(rows.length).toBe(above.length + below.length);
    expect(warnings.join()).toContain(`Row ${above.length + 3}, below a blank row, looks like the heading of another`);
  });

  test('records of words below a blank row are no second table', async () => {
    const above = ['Drill|S-1|10', 'Saw|S-2|20', 'Vice|S-3|30'];
    const { warnings } = await trimmed(['Name|Serial|Cost', ...above, '', 'Lathe|S-4|tbc', '', 'Crane|unknown|70']);
    expect(warnings.join()).not.toContain('another table');
  });

  test('everything, where the job says keep', async () => {
    const lines = [HEADINGS, ...data(10), HEADINGS, 'Total|||60.00||'];
    const { rows, warnings } = await trimmed(lines, { footer: 'keep' });
    expect([rows, warnings]).toEqual([upTo(13), []]);
  });

  test('everything in a file of rejected rows', async () => {
    const own = 'Name|Serial|Cost|Owner|_row|_outcome|_codes|_message';
    expect((await trimmed([own, 'a|b|1|x|2|invalid|c|m', 'Total||1|||||'])).rows).toEqual([2, 3]);
  });

  test('a table of one column, of one row, of none', async () => {
    expect((await trimmed(['Name', 'Ann', '', 'Total', 'Notes: x'])).rows).toEqual([2, 4, 5]);
    expect((await trimmed([HEADINGS, 'Total|||5||'])).rows).toEqual([2]);
    expect((await trimmed([HEADINGS])).rows).toEqual([]);
  });
});

describe('a long table', () => {
  const lines = [HEADINGS, ...data(2_000), '', 'Total|||2001000.00||', 'Source: register'];

  test.each([1, 7, 119, 120, 121, 500, 5_000])('in batches of %i', async (batch) => {
    const { rows, warnings } = await trimmed(lines, { batch });
    expect(rows).toEqual(upTo(2_001));
    expect(warnings.length).toBe(2);
  });

  test('is read once more only where a row must be added up', async () => {
    expect((await trimmed(lines)).opened.reads()).toBe(1);
    const unnamed = await trimmed([HEADINGS, ...data(2_000), '|||2002000.00||']);
    expect(unnamed.opened.reads()).toBe(2);
    expect(unnamed.warnings.join()).toContain('it is the sum of "Cost"');
  });

  test('reading it again gives the same rows and no second warning', async () => {
    const { table, rows, warnings } = await trimmed(lines);
    expect((await allRows(table)).map(({ row }) => row)).toEqual(rows);
    expect(table.meta.warnings.slice(1)).toEqual(warnings);
    for await (const _ of table.rows()) break;
  });
});

describe('sparse last records are no notes', () => {
  test.each([
    'Apple Inc.',
    'Müller e.V.',
    'Nowak Sp. z o.o.',
    'Yahoo!',
    'Source One',
    'Legend Group',
    'Signature Flight Support',
    'Copyright Clearance Center',
    '*Acme',
  ])('%s', async (name) => {
    for (const gap of [[], ['']]) {
      if (name.startsWith('*') && gap.length > 0) continue;
      const { rows } = await trimmed([HEADINGS, ...data(12), ...gap, `${name}|||||`]);
      expect(rows).toHaveLength(13);
    }
  });

  test.each([
    'Figures are not audited.',
    'Source: SAP',
    'Notes',
    'Prepared by Ann',
    'Copyright 2024 Acme',
    '* without VAT',
  ])('%s is one', async (note) => {
    const { rows } = await trimmed([HEADINGS, ...data(12), '', `${note}|||||`]);
    expect(rows).toHaveLength(12);
  });
});

test('many rows of numbers at the end of a long table do not make it be read again for each of them', async () => {
  const numbers = Array.from({ length: 20 }, (_, i) => `|||${i + 7}||`);
  const { rows, opened } = await trimmed([HEADINGS, ...data(2_000), ...numbers]);
  expect(rows).toHaveLength(2_020);
  expect(opened.reads()).toBeLessThanOrEqual(4);
});

describe('a record may be named like a total', () => {
  test.each([0, 5, 11])('after %i others it stays, and is named', async (at) => {
    const rows = data(12);
    rows.splice(at, 0, 'Total||||4711|');
    const table = await trimmed([HEADINGS, ...rows, 'Last|x|2024-01-01|1.00|7|y']);
    expect(table.rows).toHaveLength(14);
    expect(table.warnings.join()).toContain('read as data');
  });
});

test('a label that is passed over by its last digit is none of totals', () => {
  const piece = fc.constantFrom(
    'Total',
    'summe',
    'SUBTOTAL',
    ' ',
    '(EUR)',
    '19',
    '20',
    '2',
    '1',
    '24',
    '99',
    'x',
    '٣',
    '=',
  );
  fc.assert(
    fc.property(fc.array(piece, { minLength: 1, maxLength: 6 }), (pieces) => {
      const label = pieces.join('').slice(0, 39);
      // A colon may follow every label of totals, and hides the digit before it.
      expect(isTotalLabel(label)).toBe(isTotalLabel(`${label}:`));
    }),
    { numRuns: 3_000 },
  );
  expect(['Total 2024', 'Summe 1999', 'Total'].every(isTotalLabel)).toBe(true);
});
