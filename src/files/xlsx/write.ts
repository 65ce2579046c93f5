import type { WriteStream } from 'node:fs';
import type ExcelJS from 'exceljs';
import type { Cell } from '../../model/row.js';
import { numberText } from '../number/cell-value.js';
import { serialOfIso } from '../number/serial-date.js';
import { placeSafely } from '../safe-write.js';
import { looksLikeFormula } from '../workbook/cells.js';

/** A row for a workbook; `marks` are the cells to fill and to give a note, by 0-based position. */
export interface WorkbookRow {
  readonly cells: readonly Cell[];
  readonly marks?: readonly { readonly index: number; readonly note: string }[];
}

export interface WorkbookContent {
  /** Name of the sheet; characters that no sheet name may have are replaced. */
  readonly sheet: string;
  readonly headings: readonly string[];
  readonly rows: AsyncIterable<WorkbookRow> | Iterable<WorkbookRow>;
  /** Row of the headings; default 1. The rows above stay empty. */
  readonly headerRow?: number;
  /** Position of the sheet in the workbook; default 1. Empty sheets stand before it. */
  readonly sheetNumber?: number;
  /** Notes on heading cells, by position. */
  readonly headingNotes?: readonly (string | undefined)[];
}

const LIGHT_RED: ExcelJS.Fill = { type: 'pattern', pattern: 'solid', fgColor: { argb: 'FFFFC7CE' } };
/** Without a name and a size each program takes another font than that of the cells below. */
const HEADING_FONT: Partial<ExcelJS.Font> = { bold: true, name: 'Calibri', size: 11 };
const DATE_FORMAT = 'yyyy-mm-dd';
const DATE_TIME_FORMAT = 'yyyy-mm-dd hh:mm:ss';
const CELL_CHARACTERS = 32_767;
const SAMPLE = 100;
const BREATH = 500;

/**
 * Writes a workbook of one sheet as a stream, complete or not at all: bold, frozen and filterable headings, cells as
 * they were read (numbers and dates with their formats), marked cells filled with light red and carrying a note.
 * Everything this program's reader hands over comes back from it the same.
 */
export async function writeWorkbook(path: string, content: WorkbookContent): Promise<void> {
  await placeSafely(path, async (temporary) => {
    // Loaded by the few runs that write a workbook: it is large.
    const { default: excel } = await import('exceljs');
    const book = new excel.stream.xlsx.WorkbookWriter({
      filename: temporary,
      useStyles: true,
      useSharedStrings: false,
    });
    // The writer opens the file itself and hands its stream to nobody; a full disk shows only there.
    const { stream } = book as unknown as { readonly stream: WriteStream };
    const failed = new Promise<never>((_, reject) => {
      stream.on('error', reject);
    });
    failed.catch(() => undefined);
    try {
      const name = sheetName(content.sheet);
      for (let before = 1; before < (content.sheetNumber ?? 1); before++)
        book.addWorksheet(`${name.slice(0, 24)} (${before})`).commit();
      const sheet = book.addWorksheet(name, { views: [{ state: 'frozen', ySplit: content.headerRow ?? 1 }] });
      await Promise.race([failed, fill(sheet, content)]);
      sheet.commit();
      markQuoted(book);
      await Promise.race([failed, book.commit()]);
    } catch (error) {
      // The file must be closed before it can be removed for good.
      if (!stream.closed) {
        const closed = new Promise<void>((resolve) => stream.once('close', () => resolve()));
        stream.destroy();
        await closed;
      }
      throw error;
    }
  });
}

/** Stands in the styles of cells that are to be marked as text (`quotePrefix`), which the library has no word for. */
const QUOTED: Partial<ExcelJS.Protection> = { locked: true, hidden: false };

function markQuoted(book: ExcelJS.stream.xlsx.WorkbookWriter): void {
  const { model } = (book as unknown as { readonly styles: { readonly model: { styles: string[] } } }).styles;
  model.styles = model.styles.map((xml) =>
    xml.includes(' applyProtection="1"') ? xml.replace(' applyProtection="1"', ' quotePrefix="1"') : xml,
  );
}

async function fill(sheet: ExcelJS.Worksheet, content: WorkbookContent): Promise<void> {
  const { headings } = content;
  let waiting: WorkbookRow[] | undefined = [];
  const headerRow = content.headerRow ?? 1;
  let row = headerRow;
  const put = (next: WorkbookRow) => writeRow(sheet.getRow(++row), next);
  const begin = () => {
    setWidths(sheet, headings, waiting ?? []);
    const first = sheet.getRow(headerRow);
    headings.forEach((heading, i) => {
      const cell = first.getCell(i + 1);
      cell.value = sheetText(heading);
      cell.font = HEADING_FONT;
      const note = content.headingNotes?.[i];
      if (note) cell.note = noteText(note);
    });
    first.commit();
    for (const held of waiting ?? []) put(held);
    waiting = undefined;
  };
  for await (const next of content.rows) {
    if (waiting) {
      waiting.push(next);
      if (waiting.length >= SAMPLE) begin();
      continue;
    }
    put(next);
    // The writer has no back-pressure of its own: give the packer room to catch up.
    if (row % BREATH === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  if (waiting) begin();
  if (headings.length > 0) {
    sheet.autoFilter = { from: { row: headerRow, column: 1 }, to: { row, column: headings.length } };
  }
}

function setWidths(sheet: ExcelJS.Worksheet, headings: readonly string[], sample: readonly WorkbookRow[]): void {
  headings.forEach((heading, i) => {
    let width = heading.length + 4;
    for (const { cells } of sample) {
      const cell = cells[i];
      const text = typeof cell === 'string' ? cell : cell && 'shown' in cell ? cell.shown : '';
      width = Math.max(width, text.length + 2);
    }
    sheet.getColumn(i + 1).width = Math.min(Math.max(width, 10), 48);
  });
}

function writeRow(target: ExcelJS.Row, { cells, marks }: WorkbookRow): void {
  cells.forEach((cell, i) => {
    if (cell !== '') setCell(target.getCell(i + 1), cell);
  });
  for (const { index, note } of marks ?? []) {
    const cell = target.getCell(index + 1);
    cell.fill = LIGHT_RED;
    cell.note = noteText(note);
  }
  target.commit();
}

/** Longer text than this is no code. */
const LONGEST_CODE = 100;

/**
 * Codes that a spreadsheet program would turn into something else when somebody corrects a character of them: `00123`, 16
 * digits, `12E3`, `1-2`, `MAR-1`, what begins like a formula. Dates and amounts are not among them, because there the
 * program helps.
 */
const TURNS = /^(?:0\d+|\d{12,}|\d+[eE]\d+|\d{1,2}-\d{1,2}|\p{L}{3,9}-?\d{1,2}|[=@].*|[+-]\D.*)$/su;

/** Errors that a workbook may hold. What other programs show in their place stands in the note of the cell. */
const ERRORS = new Set(['#NULL!', '#DIV/0!', '#VALUE!', '#REF!', '#NAME?', '#NUM!', '#N/A', '#GETTING_DATA']);

function setCell(target: ExcelJS.Cell, cell: Cell): void {
  if (typeof cell === 'string') {
    const text = sheetText(cell);
    // The plain form of a text loses blanks at its ends in some programs; that of rich text keeps them.
    target.value = /^\s|\s$/.test(text) ? { richText: [{ text }] } : text;
    if (text.length <= LONGEST_CODE && TURNS.test(text)) target.numFmt = '@';
    if (looksLikeFormula(text)) target.protection = QUOTED;
    return;
  }
  switch (cell.t) {
    case 'n': {
      const number = Number(cell.value);
      // A number with more digits than a workbook can hold is kept as text rather than cut.
      target.value = numberText(String(number)) === cell.value ? number : cell.value;
      if (cell.format) target.numFmt = cell.format;
      return;
    }
    case 'd': {
      const serial = serialOfIso(cell.value);
      target.value = serial ?? cell.shown;
      target.numFmt = cell.format ?? (cell.value.includes('T') ? DATE_TIME_FORMAT : DATE_FORMAT);
      return;
    }
    case 'b':
      target.value = cell.value;
      return;
    case 'e':
      target.value = { error: (ERRORS.has(cell.value) ? cell.value : '#VALUE!') as ExcelJS.CellErrorValue['error'] };
      return;
    case 'f':
      if (cell.formula !== '') target.value = { formula: cell.formula, date1904: false };
  }
}

/** Characters that XML cannot hold, and texts that look like their spelling, in the spelling of workbooks. */
function sheetText(text: string): string {
  return text
    .slice(0, CELL_CHARACTERS)
    .replace(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_')
    .replace(/[\p{Cc}\ufffe\uffff\p{Surrogate}]/gu, (character) => {
      if (character === '\n' || character === '\t' || /[\u007f-\u009f]/.test(character)) return character;
      return `_x${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}_`;
    });
}

function noteText(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Surrogate}\ufffe\uffff]/gu, (character) => (character === '\n' ? '\n' : ' '))
    .slice(0, 2_000);
}

/** At most 31 characters, none of `[]:*?/\`, no apostrophe at either end. */
function sheetName(name: string): string {
  const clean = name
    .replace(/[[\]:*?/\\\p{Cc}]/gu, ' ')
    .slice(0, 31)
    .replace(/^'+|'+$/g, '')
    .trim();
  return clean === '' || clean.toLowerCase() === 'history' ? 'Sheet1' : clean;
}
