import { describe, expect, test } from 'vitest';
import { markNoRecords } from '../../src/files/table/footer.js';
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
  const table = markNoRecords(opened, footer);
  const all = await allRows(table);
  const rows = all.filter(({ noRecord }) => noRecord === undefined).map(({ row }) => row);
  const marked = Object.fromEntries(
    all.flatMap(({ row, noRecord }) =>
      noRecord ? [[row, `${noRecord.doubtful ? 'perhaps ' : ''}${noRecord.like}`]] : [],
    ),
  );
  // No row of the file is missing.
  expect(rows.length + Object.keys(marked).length).toBe(lines.slice(1).filter((line) => /[^|]/.test(line)).length);
  return { rows, marked, table, opened };
}

const upTo = (last: number) => Array.from({ length: last - 1 }, (_, i) => i + 2);

describe('no records (101)', () => {
  test.each<[string, string[], string[]]>([
    ['a total', ['Total|||60.00||'], ['a total']],
    ['a total whose label stands before its number', ['||Grand total:|60.00||'], ['a total']],
    ['totals in German and Chinese', ['Summe|||60,00||', '总计|||60||'], ['a total', 'a total']],
    ['a total with its label again', ['Total (EUR)|||60.00||Total'], ['a total']],
    ['a total that is no sum, below a blank row', ['', 'Total|||58.00||'], ['', 'a total']],
    ['a total that is no sum', ['Total|||58.00||'], ['perhaps a total']],
    ['a number alone that is the sum', ['|||60.00||'], ['perhaps a total']],
    ['when it was made, below a blank row', ['', 'Generated on 2024-02-01 by Ann'], ['', 'a note']],
    ['where the data are from', ['Source: the asset register'], ['perhaps a note']],
    ['a count', ['10 records'], ['perhaps a note']],
    ['a total with a count', ['Total|10 records'], ['perhaps a total']],
    ['a total with a count, below a blank row', ['', 'Total:||10 items|||'], ['', 'a total']],
    ['a count below a total', ['Total|||60.00||', '10 records'], ['a total', 'a note']],
    ['a sentence below a blank row', ['', 'Prices exclude tax, see the handbook.'], ['', 'perhaps a note']],
    ['a star below a blank row', ['', '* without VAT'], ['', 'perhaps a note']],
    ['what stands below a doubtful note', ['', 'Acme Industries.', 'Bosch'], ['', 'perhaps a note', 'perhaps a note']],
    ['a sum among other amounts, at the end', ['Total||300|60.00||'], ['perhaps a total']],
    ['a sum beside a zero', ['Total||0|60.00||'], ['a total']],
    ['a note above a record', ['', 'Source: SAP', 'Dock|SN-99|M1|2.00|2024-01-01|Ann'], ['', '', '']],
    [
      'a total, then notes',
      ['', 'Total|||60.00||', '', 'Notes:', 'all prices in euro', 'Prepared by: Ann||Checked by: Bob'],
      ['', 'a total', '', 'a note', 'a note', 'a note'],
    ],
    [
      'notes beside the first column',
      ['Some|||||', '|also like to write||||', '||||too!|'],
      ['', 'perhaps a note', 'perhaps a note'],
    ],
    ['lines of a signature', ['', 'Berlin', '', 'Approved by: ____|||', 'Ann'], ['', '', '', 'a note', 'a note']],
  ])('%s', async (_, below, like) => {
    const { marked } = await trimmed([HEADINGS, ...data(10), ...below]);
    expect(marked).toEqual(Object.fromEntries(like.flatMap((one, at) => (one === '' ? [] : [[12 + at, one]]))));
  });

  test('each says what it looks like', async () => {
    const below = ['', 'Total|||60.00||', 'Source: register', 'Page 1 of 1', HEADINGS];
    const { marked } = await trimmed([HEADINGS, ...data(10), ...below]);
    expect(marked).toEqual({ 13: 'a total', 14: 'a note', 15: 'a note', 16: 'the heading again' });
  });

  test('a total that fills the row, where it is the sum', async () => {
    const lines = ['Team|2021|2022', 'A|1,000.25|2', 'B|3,000|4', 'C|5|6', 'Total|4,005.25|12'];
    expect((await trimmed(lines)).marked).toEqual({ 5: 'a total' });
    expect((await trimmed([...lines.slice(0, 4), 'Total|9.5|9'])).marked).toEqual({ 5: 'perhaps a total' });
    expect((await trimmed([...lines.slice(0, 4), 'Total|9.5|9', 'D|1|1'])).marked).toEqual({});
    const german = ['Team|Kosten', 'A|1.000,25', 'B|3.000,50', 'Summe|4.000,75'];
    expect((await trimmed(german)).marked).toEqual({ 4: 'a total' });
  });

  test('numbered and dated subtotals, and a number of records', async () => {
    const below = ['Sous-total 2|||17.50||', 'Total au 31/12/2024|||35.00||', 'Total|10||35.00||'];
    const { marked } = await trimmed([HEADINGS, ...data(5), 'Sous-total 1|||17.50||', ...data(5), ...below]);
    expect(marked).toEqual({ 7: 'a total', 13: 'a total', 14: 'a total', 15: 'a total' });
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
    const { rows, marked } = await trimmed(lines);
    expect(rows).toEqual([2, 3, 4, 5, 6, 9, 10, 11, 12, 13, 15, 16, 17]);
    expect(marked).toEqual({ 7: 'a total', 8: 'the heading again', 14: 'a total' });
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
    ['words of notes with more than the words', ['Source: x|||4||']],
    ['a number alone that is no sum', ['|||61.00||']],
    ['a row that lacks its name', ['|SN-77|M1||2024-01-01|']],
    ['a word for a number in a row like the others', ['Dock|SN-88|M1|unknown|unknown|Ann']],
  ])('%s', async (_, below) => {
    const { rows } = await trimmed([HEADINGS, ...data(10), ...below]);
    expect(rows).toEqual(upTo(11 + below.length));
  });

  test('sparse rows below a blank row', async () => {
    const { rows } = await trimmed([HEADINGS, ...data(10), '', 'Monitor|||||', 'Dock|||||']);
    expect(rows.slice(-2)).toEqual([13, 14]);
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
    const { rows, marked } = await trimmed(['Site|Name|Serial|Owner|Cost', ...lines]);
    expect(rows).toEqual([2, 3, 4, 6, 7, 8]);
    expect(marked).toEqual({ 5: 'a total', 9: 'a total', 10: 'a total' });
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

  test('a second table', async () => {
    const below = ['', 'Vendor|City|Phone|Mail|Contact', 'Acme|Bonn|1|a@b|Ann'];
    const { rows } = await trimmed([HEADINGS, ...data(30), ...below]);
    expect(rows.slice(-2)).toEqual([33, 34]);
  });

  test('everything, where the job says keep', async () => {
    const lines = [HEADINGS, ...data(10), HEADINGS, 'Total|||60.00||'];
    expect((await trimmed(lines, { footer: 'keep' })).rows).toEqual(upTo(13));
  });

  test('everything in a file of rejected rows', async () => {
    const own = 'Name|Serial|Cost|Owner|_row|_outcome|_codes|_message';
    expect((await trimmed([own, 'a|b|1|x|2|invalid|c|m', 'Total||1|||||'])).rows).toEqual([2, 3]);
  });

  test('a table of one column, of one row, of none', async () => {
    expect((await trimmed(['Name', 'Ann', '', 'Total', 'Notes: x'])).rows).toEqual([2, 4, 5]);
    expect((await trimmed([HEADINGS, 'Total|||5||'])).marked).toEqual({ 2: 'perhaps a total' });
    expect((await trimmed([HEADINGS])).rows).toEqual([]);
  });
});

describe('a long table', () => {
  const lines = [HEADINGS, ...data(2_000), '', 'Total|||2001000.00||', 'Source: register'];

  test.each([50, 119, 120, 121, 499, 500, 501, 5_000])('in batches of %i', async (batch) => {
    const { rows, marked } = await trimmed(lines, { batch });
    expect(rows).toEqual(upTo(2_001));
    expect(marked).toEqual({ 2003: 'a total', 2004: 'a note' });
  });

  test('reading it again gives the same, and once is enough to mark it', async () => {
    const { table, rows, opened } = await trimmed(lines);
    expect(opened.reads()).toBe(1);
    expect((await allRows(table)).filter(({ noRecord }) => !noRecord).map(({ row }) => row)).toEqual(rows);
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
});

describe('a record may be named like a total', () => {
  test.each([
    ['with the year of the one record above', ['Elf|2024|500', 'Total|2024|700', 'Shell|2023|900']],
    ['the third of a numbered list', ['Elf|1|500', 'Shell|2|700', 'Total|3|701', 'Union|4|5']],
    ['called by more than the word', ['Elf||500', 'TOTAL CANADA INC.||500', 'Total 24 GmbH||1000', 'SUMMUM 3||2000']],
    ['with a number and another amount', ['Elf||500', 'Shell||700', 'Total 24||800', 'Sum 41 Ltd||2000']],
    ['with the number of those above, and no sum', ['Elf||500', 'Shell||700', 'Total|2|800', 'Union||4']],
    ['named like the one above', ['Norton|2024|50', 'Norton Total|2024|80', 'Sophos|2024|3']],
  ])('%s', async (_, lines) => {
    expect((await trimmed(['Name|Year|Amount', ...lines])).marked).toEqual({});
  });

  test.each([0, 5, 11])('after %i others it stays', async (at) => {
    const rows = data(12);
    rows.splice(at, 0, 'Total||||4711|');
    const table = await trimmed([HEADINGS, ...rows, 'Last|x|2024-01-01|1.00|7|y']);
    expect(table.rows).toHaveLength(14);
  });
});
