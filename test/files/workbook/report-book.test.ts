import { createWriteStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { finished } from 'node:stream/promises';
import ExcelJS from 'exceljs';
import { expect, test } from 'vitest';
import XLSX from 'xlsx';
import { DEFAULT_LIMITS } from '../../../src/files/limits.js';
import { createXmlScanner, xmlText } from '../../../src/files/package/xml-scan.js';
import { openArchive } from '../../../src/files/package/zip.js';
import { createBook } from '../../../src/files/workbook/book.js';
import { type BookTable, type MarkedRow, writeTableSheet } from '../../../src/files/workbook/table.js';
import { read, scratch } from '../fixtures.js';

const { folder } = await scratch();
let files = 0;

async function written(sheets: readonly BookTable[]): Promise<string> {
  const path = join(folder, `report${++files}.xlsx`);
  const stream = createWriteStream(path);
  const sink = { write: async (bytes: Buffer) => void stream.write(bytes) };
  const names = sheets.map(({ name }) => name);
  const book = await createBook(sink, names);
  for (const sheet of sheets) await writeTableSheet(book, sheet);
  await book.end();
  stream.end();
  await finished(stream);
  return path;
}

async function whole(path: string): Promise<ExcelJS.Workbook> {
  const book = new ExcelJS.Workbook();
  await book.xlsx.readFile(path);
  return book;
}

const archiveOf = (path: string) => openArchive(path, path, DEFAULT_LIMITS);
const part = async (path: string, name: string) => (await (await archiveOf(path)).readWhole(name)).toString('utf8');

function sheets(): BookTable[] {
  return [
    {
      name: 'It’s "all"',
      columns: [
        { heading: 'Row', kind: 'integer', width: 9 },
        { heading: 'Text', kind: 'text', note: 'What "text" <means>.' },
        { heading: 'Long', kind: 'text', choices: ['with, comma', 'x'] },
        { heading: 'Day', kind: 'date' },
        { heading: 'Short', kind: 'text', choices: ['a', 'b'], allowsOthers: true },
      ],
      rows: rows(),
      empty: 'Nothing.',
    },
    { name: 'Empty', columns: [{ heading: 'Only', kind: 'text' }], rows: none(), empty: 'There is none.' },
    {
      name: 'Wide',
      columns: Array.from({ length: 12 }, (_, i) => ({ heading: `Column ${i}`, kind: 'cell', width: 20 })),
      rows: none(),
      headingRow: 3,
      inSight: { columns: 2, column: 11 },
    },
  ];
}

async function* rows(): AsyncGenerator<readonly MarkedRow[]> {
  yield [{ cells: ['2', '=1+1', '', '2026-03-31', ''] }, { cells: ['3', 'grey', 'soon', 'soon', ''], tone: 'soft' }];
  yield [
    {
      cells: ['4', '', '', '', ''],
      marks: new Map([
        [1, { tone: 'cleared' }],
        [4, { tone: 'fault', note: 'Fill it in.\nNow.' }],
      ] as const),
    },
  ];
}

async function* none(): AsyncGenerator<readonly MarkedRow[]> {}

test('cells have their kinds, looks and notes', async () => {
  const book = await whole(await written(sheets()));
  expect(book.worksheets.map(({ name }) => name)).toEqual(['It’s "all"', 'Empty', 'Wide', 'Lists']);
  const sheet = book.getWorksheet('It’s "all"')!;
  expect([1, 2].map((column) => sheet.getCell(2, column).value)).toEqual([2, '=1+1']);
  expect(sheet.getCell('D2').value).toEqual(new Date('2026-03-31T00:00:00Z'));
  // What is no date is text.
  expect(sheet.getCell('D3').value).toBe('soon');
  expect(sheet.getCell('B3').font).toMatchObject({ color: { argb: 'FF7F7F7F' } });
  const fill = (at: string) => (sheet.getCell(at).fill as ExcelJS.FillPattern | undefined)?.fgColor?.argb;
  expect([fill('A4'), fill('B4'), fill('E4')]).toEqual([undefined, 'FFFBE0D6', 'FFFFC7CE']);
  const note = (at: string) => (sheet.getCell(at).note as ExcelJS.Comment | undefined)?.texts?.map(({ text }) => text);
  expect([note('B1'), note('E4'), note('E3')]).toEqual([['What "text" <means>.'], ['Fill it in.\nNow.'], undefined]);
  expect(book.getWorksheet('Empty')!.getCell('A2').value).toBe('There is none.');
});

test('lists are offered; an open one takes other values without a word', async () => {
  const book = await whole(await written(sheets()));
  const sheet = book.getWorksheet('It’s "all"')!;
  expect(sheet.getCell('C9').dataValidation).toMatchObject({ formulae: ["'Lists'!$A$2:$A$3"], errorStyle: 'stop' });
  expect(sheet.getCell('E9').dataValidation).toMatchObject({ type: 'list', formulae: ['"a,b"'] });
  expect(sheet.getCell('E9').dataValidation.showErrorMessage).toBeFalsy();
  expect(book.getWorksheet('Lists')).toMatchObject({ state: 'hidden' });
  expect(book.getWorksheet('Lists')!.getCell('A2').value).toBe('with, comma');
});

test('of a wide table the first columns stay, and the one that matters is in sight', async () => {
  const book = await whole(await written(sheets()));
  const sheet = book.getWorksheet('Wide')!;
  expect(sheet.views[0]).toMatchObject({ state: 'frozen', xSplit: 2, ySplit: 3, topLeftCell: 'G4' });
  expect(sheet.getCell('A3').value).toBe('Column 0');
  expect(sheet.autoFilter).toBe('A3:L4');
});

test('SheetJS reads the same cells, notes and names', async () => {
  const path = await written(sheets());
  const book = XLSX.read(await readFile(path), { cellStyles: true });
  expect(book.SheetNames).toEqual(['It’s "all"', 'Empty', 'Wide', 'Lists']);
  const sheet = book.Sheets['It’s "all"']!;
  expect([sheet['A2'].v, sheet['B2'].v, sheet['D2'].w, sheet['C3'].v]).toEqual([2, '=1+1', '2026-03-31', 'soon']);
  expect(sheet['B2'].f).toBeUndefined();
  expect([sheet['B1'], sheet['E4']].map((cell) => cell.c?.[0]?.t)).toEqual([
    'What "text" <means>.',
    'Fill it in.\nNow.',
  ]);
  expect(sheet['!autofilter']).toEqual({ ref: 'A1:E4' });
});

test('our reader takes the tables', async () => {
  const { meta, rows: back } = await read(await written(sheets()), { sheet: 'It’s "all"' });
  expect(meta.headings).toEqual(['Row', 'Text', 'Long', 'Day', 'Short']);
  expect(back[0]!.cells[1]).toBe('=1+1');
});

test('of a table longer than a sheet the last row says where the others are', async () => {
  async function* many(): AsyncGenerator<readonly MarkedRow[]> {
    for (let i = 0; i < 9; i++) yield [{ cells: [`${i}`] }];
  }
  const columns = [{ heading: 'Name', kind: 'text' as const }];
  const path = await written([{ name: 'All', columns, rows: many(), headingRow: 1_048_570 }]);
  const { rows: back } = await read(path);
  expect(back.map(({ row, cells }) => [row, cells[0]]).slice(-2)).toEqual([
    [1_048_575, '4'],
    [1_048_576, expect.stringContaining('The CSV files')],
  ]);
});

test('the same report gives the same bytes', async () => {
  const [first, second] = [await written(sheets()), await written(sheets())];
  expect((await readFile(first)).equals(await readFile(second))).toBe(true);
});

/** Children of an element in the order that the schema (ECMA-376, part 1, transitional) asks for. */
const ORDER: Readonly<Record<string, readonly string[]>> = {
  workbook: ['workbookPr', 'bookViews', 'sheets', 'definedNames', 'calcPr'],
  worksheet: [
    ...['sheetPr', 'dimension', 'sheetViews', 'sheetFormatPr', 'cols', 'sheetData', 'sheetProtection', 'autoFilter'],
    ...['mergeCells', 'conditionalFormatting', 'dataValidations', 'hyperlinks', 'printOptions', 'pageMargins'],
    ...[
      'pageSetup',
      'headerFooter',
      'rowBreaks',
      'colBreaks',
      'ignoredErrors',
      'drawing',
      'legacyDrawing',
      'tableParts',
    ],
  ],
  sheetView: ['pane', 'selection'],
  styleSheet: [
    ...[
      'numFmts',
      'fonts',
      'fills',
      'borders',
      'cellStyleXfs',
      'cellXfs',
      'cellStyles',
      'dxfs',
      'tableStyles',
      'colors',
    ],
  ],
  font: ['b', 'i', 'strike', 'u', 'vertAlign', 'sz', 'color', 'name', 'family', 'charset', 'scheme'],
  border: ['left', 'right', 'top', 'bottom', 'diagonal'],
};

/** Elements with their children, as they stand in a part. */
function elements(xml: string): { readonly name: string; readonly children: string[] }[] {
  const all: { name: string; children: string[] }[] = [];
  const open: { name: string; children: string[] }[] = [];
  for (const [, close, name, , self] of xml.matchAll(/<(\/?)([a-zA-Z][\w:]*)((?:[^>"]|"[^"]*")*?)(\/?)>/g)) {
    if (close) {
      expect(open.pop()?.name).toBe(name);
      continue;
    }
    open[open.length - 1]?.children.push(name!);
    const element = { name: name!, children: [] };
    all.push(element);
    if (!self) open.push(element);
  }
  expect(open).toEqual([]);
  return all;
}

test('the package: every part has a type, every relation a part, every element its place', async () => {
  const path = await written(sheets());
  const archive = await archiveOf(path);
  const names = archive.names;
  expect(new Set(names).size).toBe(names.length);
  const types = await part(path, '[Content_Types].xml');
  const typed = new Map([...types.matchAll(/PartName="\/([^"]*)" ContentType="([^"]*)"/g)].map((m) => [m[1]!, m[2]!]));
  for (const name of typed.keys()) expect(names).toContain(name);
  for (const name of names) if (!/\.(rels|vml)$|^\[Content/.test(name)) expect([...typed.keys()]).toContain(name);
  expect(types).toContain('Extension="vml"');

  const related = new Set<string>();
  for (const name of names.filter((one) => one.endsWith('.rels'))) {
    const from = name.replace('_rels/', '').replace(/\.rels$/, '');
    const base = new URL(`package:/${from}`);
    const ids = new Set<string>();
    for (const [, id, target] of (await part(path, name)).matchAll(/Id="([^"]*)" Type="[^"]*" Target="([^"]*)"/g)) {
      expect(ids.has(id!), `${name} ${id}`).toBe(false);
      ids.add(id!);
      const to = new URL(target!, base).pathname.slice(1);
      expect(names, `${name} → ${target}`).toContain(to);
      related.add(to);
    }
    if (from !== '')
      for (const [, id] of (await part(path, from)).matchAll(/r:id="([^"]*)"/g)) expect(ids).toContain(id);
  }
  for (const name of typed.keys()) expect(related, name).toContain(name);

  for (const name of names) {
    const xml = await part(path, name);
    for (const { name: element, children } of elements(xml)) {
      const order = ORDER[element];
      if (!order) continue;
      const places = children.map((child) => order.indexOf(child));
      expect(places.includes(-1), `${name}: ${element} holds ${children.join(' ')}`).toBe(false);
      expect(places, `${name}: ${element}`).toEqual([...places].sort((a, b) => a - b));
    }
    let count = 0;
    const scanner = createXmlScanner(name, {
      open: () => void count++,
      close() {},
      text: (bytes, from, to, raw) => void xmlText(bytes, from, to, raw),
    });
    for await (const chunk of archive.stream(name)) scanner.push(chunk);
    scanner.finish();
    expect(count, name).toBeGreaterThan(0);
  }
});

test('styles are counted right', async () => {
  const path = await written(sheets());
  const styles = await part(path, 'xl/styles.xml');
  for (const [, list, count] of styles.matchAll(/<(numFmts|fonts|fills|borders|cellXfs) count="(\d+)">/g)) {
    const inside = new RegExp(`<${list} .*?</${list}>`, 's').exec(styles)![0];
    const item = { numFmts: 'numFmt', fonts: 'font', fills: 'fill', borders: 'border', cellXfs: 'xf' }[list!]!;
    expect(inside.match(new RegExp(`<${item}[ >]`, 'g'))?.length, list).toBe(Number(count));
  }
  const most = (attribute: string) =>
    Math.max(...[...styles.matchAll(new RegExp(`${attribute}="(\\d+)"`, 'g'))].map((m) => Number(m[1])));
  const counted = (list: string) => Number(new RegExp(`<${list} count="(\\d+)"`).exec(styles)![1]);
  expect(most('fontId')).toBeLessThan(counted('fonts'));
  expect(most('fillId')).toBeLessThan(counted('fills'));
  expect(most('borderId')).toBeLessThan(counted('borders'));
  for (let i = 1; i <= 4; i++) {
    const xml = await part(path, `xl/worksheets/sheet${i}.xml`);
    for (const [, style] of xml.matchAll(/ s="(\d+)"/g)) expect(Number(style)).toBeLessThan(counted('cellXfs'));
  }
});
