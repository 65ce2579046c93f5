import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import ExcelJS from 'exceljs';
import XLSX from 'xlsx';
import { openSource } from '../../src/files/open.js';
import { type Cell, displayText, isBlank, type SheetRow } from '../../src/model/row.js';
import { type Comparison, explained, newComparison, unexplained } from './comparison.js';
import { xlsxFiles } from './xlsx-files.js';
import { READ } from './xlsx-read.js';
import { letters } from './xlsx-write.js';

/*
 * The workbook reader against SheetJS and exceljs (whole file), cell by cell, on the workbooks of the corpus. Cells are
 * compared by where they stand; what another reader has and ours has not counts as much.
 */

interface Read {
  readonly sheet: string;
  readonly headerRow: number;
  readonly rows: ReadonlyMap<number, readonly Cell[]>;
}

async function ourReading(path: string): Promise<Read> {
  const { meta, rows } = await openSource(path);
  const found = new Map<number, readonly Cell[]>([[meta.header_row!, meta.headings]]);
  const all: SheetRow[] = [];
  for await (const batch of rows()) all.push(...batch);
  for (const { row, cells } of all) found.set(row, cells);
  return { sheet: meta.sheet!, headerRow: meta.header_row!, rows: found };
}

/** Says why two readings of one cell differ, or undefined where they are the same; `name` undefined: unexplained. */
type Judge = (
  ours: Cell | undefined,
  reference: string,
) => { readonly name?: string; readonly theirs: string } | undefined;

function compareSheet(
  comparison: Comparison,
  name: string,
  ours: Read,
  last: { rows: number; columns: number },
  judge: Judge,
): void {
  for (let row = ours.headerRow; row <= Math.min(last.rows, 3_000); row++) {
    for (let column = 0; column < Math.min(last.columns, 30); column++) {
      const cell = ours.rows.get(row)?.[column];
      comparison.cells++;
      const reference = `${letters(column)}${row}`;
      const difference = judge(cell, reference);
      if (!difference) continue;
      if (difference.name) explained(comparison, difference.name);
      else unexplained(comparison, `${name} ${reference}: ${JSON.stringify(cell)}, there: ${difference.theirs}`);
    }
  }
}

/** Workbooks that both can be given: not packed, and without the twists that are about what a reader leaves out. */
const TWISTS = READ.filter(({ name }) => !/gzip|long-cell|far-cell|last-row|dimension/.test(name));

export async function compareWithSheetJs(seed: number, count: number, folder: string): Promise<Comparison> {
  const comparison = newComparison();
  for (const file of xlsxFiles(seed, count, TWISTS, {})) {
    const path = join(folder, 'sheetjs.xlsx');
    await writeFile(path, file.bytes);
    const ours = await ourReading(path);
    const book = XLSX.read(file.bytes, {
      cellNF: true,
      cellText: true,
      cellFormula: true,
      cellDates: false,
      sheetStubs: true,
    });
    const sheet = book.Sheets[ours.sheet];
    comparison.files++;
    if (!sheet?.['!ref']) {
      explained(comparison, 'sheetjs-finds-no-sheet');
      continue;
    }
    const range = XLSX.utils.decode_range(sheet['!ref']);
    compareSheet(comparison, file.name, ours, { rows: range.e.r + 1, columns: range.e.c + 1 }, (cell, reference) => {
      const theirs = sheet[reference] as XLSX.CellObject | undefined;
      return againstSheetJs(cell, theirs);
    });
  }
  return comparison;
}

function againstSheetJs(cell: Cell | undefined, theirs: XLSX.CellObject | undefined): ReturnType<Judge> {
  const there = JSON.stringify(theirs && { t: theirs.t, v: theirs.v, w: theirs.w, f: theirs.f, z: theirs.z });
  const blank = !theirs || theirs.t === 'z' || theirs.v === undefined || theirs.v === '';
  if (isBlank(cell) && blank) return undefined;
  if (typeof cell === 'object' && cell.t === 'f')
    return blank || theirs.f === cell.formula ? undefined : { theirs: there };
  if (cell === undefined || blank) return { theirs: there };
  if (typeof cell === 'string') {
    if (theirs.v === cell) return undefined;
    return {
      theirs: there,
      ...(String(theirs.v).replace(/\r\n?/g, '\n') === cell ? { name: 'line-ends-of-xml' } : {}),
    };
  }
  switch (cell.t) {
    case 'b':
      return theirs.v === cell.value ? undefined : { theirs: there };
    case 'e':
      return theirs.w === cell.value ? undefined : { theirs: there };
    default: {
      const same =
        cell.t === 'n'
          ? Number(cell.value) === Number(Number(theirs.v).toPrecision(15))
          : theirs.t === 'n' || theirs.t === 'd';
      if (!same) return { theirs: there };
      const shown = String(theirs.w ?? '').trim();
      if (cell.shown === shown) return undefined;
      if (theirs.w === undefined) return { name: 'sheetjs-cannot-format', theirs: there };
      if (theirs.z === 'General' || theirs.z === undefined) return { name: 'general-shows-every-digit', theirs: there };
      if (theirs.z === 'm/d/yy') return { name: 'short-date-as-iso', theirs: there };
      return { theirs: there };
    }
  }
}

export async function compareWithExcelJs(seed: number, count: number, folder: string): Promise<Comparison> {
  const comparison = newComparison();
  for (const file of xlsxFiles(seed, count, TWISTS, {})) {
    const path = join(folder, 'exceljs.xlsx');
    await writeFile(path, file.bytes);
    const ours = await ourReading(path);
    const book = new ExcelJS.Workbook();
    comparison.files++;
    try {
      await book.xlsx.readFile(path);
    } catch {
      explained(comparison, 'exceljs-cannot-open');
      continue;
    }
    const sheet = book.getWorksheet(ours.sheet);
    if (!sheet || sheet.rowCount === 0) {
      explained(comparison, 'exceljs-finds-no-sheet');
      continue;
    }
    compareSheet(comparison, file.name, ours, { rows: sheet.rowCount, columns: sheet.columnCount }, (cell, reference) =>
      againstExcelJs(cell, sheet.getCell(reference), INLINE.test(file.name)),
    );
  }
  return comparison;
}

/** Dialects whose texts stand in the cells. */
const INLINE = /openpyxl-write-only|exceljs-stream|prefixed|no-references/;

function againstExcelJs(cell: Cell | undefined, theirs: ExcelJS.Cell, inline: boolean): ReturnType<Judge> {
  const value = theirs.value;
  const there = JSON.stringify(value);
  if (theirs.type === ExcelJS.ValueType.Merge) return isBlank(cell) ? undefined : { theirs: there };
  const formula = typeof value === 'object' && value !== null && 'formula' in value ? value : undefined;
  const result = formula ? formula.result : value;
  if (formula && result === undefined) {
    if (typeof cell === 'object' && cell.t === 'f' && cell.formula === formula.formula) return undefined;
    if (typeof cell === 'object' && cell.t === 'n' && Number(cell.value) === 0)
      return { name: 'exceljs-drops-a-result-of-zero', theirs: there };
    return { theirs: there };
  }
  const blank = result === null || result === undefined || result === '';
  if (isBlank(cell) && (blank || (typeof result === 'string' && result.trim() === ''))) return undefined;
  if (cell !== undefined && blank && inline) return { name: 'exceljs-loses-cells-after-a-formula', theirs: there };
  if (cell === undefined || blank) return { theirs: there };
  if (typeof cell === 'string') {
    const text =
      typeof result === 'object' && 'richText' in result ? result.richText.map((part) => part.text).join('') : result;
    if (text === cell) return undefined;
    if (text === cell.replaceAll('&amp;', '&')) return { name: 'exceljs-resolves-entities-twice', theirs: there };
    if (String(text).replaceAll('_x005F_', '_') === cell) return { name: 'exceljs-keeps-escapes', theirs: there };
    return { theirs: there };
  }
  const same =
    cell.t === 'b'
      ? result === cell.value
      : cell.t === 'e'
        ? typeof result === 'object' && 'error' in result && result.error === cell.value
        : cell.t === 'n'
          ? Number(Number(result).toPrecision(15)) === Number(cell.value)
          : cell.t === 'd'
            ? result instanceof Date && isoOf(result) === cell.value
            : displayText(cell) === String(result);
  if (same) return undefined;
  if (cell.t === 'n' && result instanceof Date) return { name: 'exceljs-dates-of-times', theirs: there };
  if (cell.t === 'd' && cell.value < '1900-03-01') return { name: 'exceljs-days-before-march-1900', theirs: there };
  return { theirs: there };
}

function isoOf(date: Date): string {
  const text = new Date(Math.round(date.getTime() / 1_000) * 1_000).toISOString().slice(0, 19);
  return text.replace('T00:00:00', '');
}
