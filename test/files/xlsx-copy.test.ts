import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import exceljs from 'exceljs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSource } from '../../src/files/open.js';
import { copyWorkbook, NotCopied } from '../../src/files/xlsx/copy.js';
import { shownText } from '../../src/model/row.js';
import { type Correction, withCorrections } from '../../src/runs/run/corrections.js';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rowferry-copy-'));
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** A sheet as people keep it: a title, formats, a formula, a note, and another sheet. */
async function workbook(name: string, more: (sheet: exceljs.Worksheet) => void = () => undefined): Promise<string> {
  const book = new exceljs.Workbook();
  const sheet = book.addWorksheet('Inventory');
  sheet.getCell('A1').value = 'Equipment of the north';
  sheet.getRow(3).values = ['Tag', 'Item', 'Bought', 'Cost', 'Twice', 'Pieces'];
  for (let i = 0; i < 40; i++) {
    const row = sheet.getRow(4 + i);
    row.values = [`0${i}`, i % 2 ? 'Desk' : '<Chair & "co">', new Date(Date.UTC(2024, 1, 1 + (i % 28))), 10.5 + i];
    row.getCell(3).numFmt = 'dd.mm.yyyy';
    row.getCell(4).numFmt = '#,##0.00 "EUR"';
    row.getCell(5).value = { formula: `D${4 + i}*2`, result: 2 * (10.5 + i) };
    if (i !== 7) row.getCell(6).value = 5;
  }
  sheet.getColumn(2).width = 44;
  sheet.getCell('B4').note = 'the good one';
  sheet.getCell('B5').fill = { type: 'pattern', pattern: 'solid', fgColor: { argb: 'FFFFEE00' } };
  more(sheet);
  book.addWorksheet('Prices').getCell('C9').value = 'not to be lost';
  const file = join(dir, name);
  await book.xlsx.writeFile(file);
  return file;
}

async function copied(from: string, corrections: readonly Correction[]) {
  const source = withCorrections(await openSource(from), corrections);
  const to = `${from}.copy.xlsx`;
  await copyWorkbook(from, to, source);
  const book = new exceljs.Workbook();
  await book.xlsx.readFile(to);
  return { to, sheet: book.getWorksheet('Inventory')!, book };
}

async function rowsOf(path: string, corrections: readonly Correction[] = []) {
  const all: string[] = [];
  for await (const batch of withCorrections(await openSource(path), corrections).rows())
    for (const { row, cells } of batch) all.push(`${row}: ${cells.map(shownText).join('|')}`);
  return all;
}

const CORRECTIONS: readonly Correction[] = [
  { column: 'Item', from: 'Desk', value: 'Standing desk  <b>\n' },
  { column: 'Bought', row: 9, value: '2024-03-01' },
  { column: 'Cost', row: 10, value: '99.50' },
  { column: 'Pieces', row: 12, value: '12' },
  { column: 'Pieces', row: 11, value: 'a dozen' },
  { column: 'Twice', row: 13, value: '7' },
  { column: 'Tag', row: 14, value: '' },
];

describe('a corrected workbook', () => {
  it('is read as the run read it, and all else is as it was', async () => {
    const file = await workbook('kept.xlsx');
    const { to, sheet, book } = await copied(file, CORRECTIONS);
    expect(await rowsOf(to)).toEqual(await rowsOf(file, CORRECTIONS));
    expect(sheet.getCell('A1').value).toBe('Equipment of the north');
    expect(sheet.getColumn(2).width).toBe(44);
    expect(sheet.getCell('B4').note).toBeDefined();
    expect(sheet.getCell('B5').value).toBe('Standing desk  <b>\n');
    expect(sheet.getCell('B5').fill).toMatchObject({ fgColor: { argb: 'FFFFEE00' } });
    expect(sheet.getCell('D10').numFmt).toBe('#,##0.00 "EUR"');
    expect(sheet.getCell('E12').formula).toBe('D12*2');
    const changed = ['F12', 'F11', 'A14'].map((at) => sheet.getCell(at).value);
    expect(changed).toEqual([12, 'a dozen', null]);
    expect(book.getWorksheet('Prices')!.getCell('C9').value).toBe('not to be lost');
  });

  it('is copied unpacked where it was packed with gzip', async () => {
    const file = await workbook('packed.xlsx');
    await writeFile(`${file}.gz`, gzipSync(await readFile(file)));
    const { to } = await copied(`${file}.gz`, CORRECTIONS);
    expect(await rowsOf(to)).toEqual(await rowsOf(file, CORRECTIONS));
  });

  it('is left to the table writer where another cell takes its formula from a corrected one', async () => {
    const file = await workbook('shared.xlsx', (sheet) => sheet.fillFormula('E4:E43', 'D4*2'));
    await expect(copied(file, [{ column: 'Twice', row: 4, value: '7' }])).rejects.toBeInstanceOf(NotCopied);
  });
});
