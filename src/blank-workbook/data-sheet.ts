import type { Cell, Fill, Workbook, Worksheet } from 'exceljs';
import { serialOfIso } from '../files/number/serial-date.js';
import { columnName } from '../files/table/header.js';
import { cellText } from './cell-text.js';
import type { BlankColumn } from './columns.js';
import { setNote } from './heading-note.js';
import type { BlankWorkbook } from './plan.js';
import { numberFormatOf, validationOf, widthOf } from './validation.js';
import { noteText } from './words.js';

/** Rows 2 to here take drop-down lists and checks; ranges cost nothing however many rows they have. */
export const LAST_ROW = 5000;

/** More columns than this on the width of one page could not be read. */
const FIT_COLUMNS = 12;
/** Percent at which sheets of many columns are printed. */
const SMALL = 60;

const solid = (argb: string): Fill => ({ type: 'pattern', pattern: 'solid', fgColor: { argb } });

/** How headings look, by how much a row needs the column. */
const LOOKS = {
  always: { fill: solid('FF1F4E79'), color: 'FFFFFFFF' },
  depends: { fill: solid('FF9DC3E6'), color: 'FF1F3864' },
  no: { fill: solid('FFDDEBF7'), color: 'FF1F3864' },
  custom: { fill: solid('FFE2EFDA'), color: 'FF375623' },
} as const;

/** The sheet to be filled in: headings with notes, formats, lists and checks, and no row. */
export function addDataSheet(book: Workbook, plan: BlankWorkbook): void {
  const sheet = addTable(book, plan.sheet, plan.columns, 'FF1F4E79');
  const widths = plan.columns.map(widthOf);
  const letters = new Map(plan.columns.map(({ field }, at) => [field, columnName(at)]));
  plan.columns.forEach((column, at) => {
    const words = plan.words[at];
    if (words) setNote(sheet.getCell(1, at + 1), column.heading, noteText(words), widths);
    const check = validationOf(
      column,
      plan.lists.get(column.field),
      plan.spec,
      (field) => letters.get(field),
      plan.subcategories.size > 0,
    );
    const letter = columnName(at);
    // A range stands as one entry; the library's typings leave the collection out.
    const { dataValidations } = sheet as unknown as {
      readonly dataValidations: { add(range: string, check: object): void };
    };
    if (check) dataValidations.add(`${letter}2:${letter}${LAST_ROW}`, check);
  });
}

/** The same headings with one row that could be imported. */
export function addExampleSheet(book: Workbook, plan: BlankWorkbook): void {
  const sheet = addTable(book, 'Example', plan.columns, 'FF7F7F7F');
  plan.columns.forEach((column, at) => {
    setValue(sheet.getCell(2, at + 1), column, plan.example[at] ?? '');
  });
}

function addTable(book: Workbook, name: string, columns: readonly BlankColumn[], tab: string): Worksheet {
  const frozen = columns.filter(({ key, field }, at) => at < 2 && (key || field === 'name')).length;
  // Few columns fit on a page; many go over several, each with the heading row and the first column.
  const fit = columns.length <= FIT_COLUMNS ? { fitToPage: true, fitToWidth: 1, fitToHeight: 0 } : { scale: SMALL };
  const titles = frozen === 0 ? {} : { printTitlesColumn: 'A:A' };
  const sheet = book.addWorksheet(name, {
    properties: { tabColor: { argb: tab } },
    views: [{ state: 'frozen', ySplit: 1, xSplit: frozen }],
    pageSetup: { orientation: 'landscape', paperSize: 9, printTitlesRow: '1:1', ...titles, ...fit },
  });
  columns.forEach((column, at) => {
    const target = sheet.getColumn(at + 1);
    target.width = widthOf(column);
    target.numFmt = numberFormatOf(column);
  });
  const heading = sheet.getRow(1);
  heading.height = 33;
  columns.forEach((column, at) => {
    const { fill, color } = LOOKS[column.custom ? 'custom' : column.need];
    const cell = heading.getCell(at + 1);
    cell.value = cellText(column.heading);
    cell.style = {
      fill,
      font: { name: 'Calibri', family: 2, size: 11, bold: true, color: { argb: color } },
      alignment: { vertical: 'middle', wrapText: true },
      border: {
        bottom: { style: 'thin', color: { argb: 'FF1F4E79' } },
        right: { style: 'hair', color: { argb: 'FF8EA9DB' } },
      },
    };
  });
  return sheet;
}

/** Dates and numbers as such, everything else as text. */
function setValue(cell: Cell, { spec }: BlankColumn, text: string): void {
  if (text === '') return;
  const { kind } = spec.type;
  if (kind === 'date') cell.value = serialOfIso(text) ?? text;
  else if (kind === 'integer' || kind === 'decimal') cell.value = Number(text);
  else cell.value = cellText(text);
}
