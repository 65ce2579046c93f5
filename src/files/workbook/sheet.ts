import type { TableColumn } from '../../model/table.js';
import { columnName } from '../table/header.js';
import type { CellNews, CellWriter } from './cells.js';
import type { Choices } from './choices.js';
import type { RowFeed } from './row-feed.js';
import { columnStyles, STYLE } from './styles.js';
import { FIT_TO_PAGE, MAIN, PAGE, RELATIONS, textCell, XML } from './xml-text.js';
import type { WriteText } from './zip-pack.js';

/** What all sheets of one table have in common. */
export interface SheetLayout {
  readonly columns: readonly TableColumn[];
  readonly widths: readonly number[];
  readonly choices: Choices;
  readonly notes: boolean;
  /** Rows of a sheet, the heading included. */
  readonly rows: number;
}

export const SHEET_ROWS = 1_048_576;

/** UTF-16 units of XML that are handed on at once. */
export const PIECE = 64 * 1024;

/** Characters that can still be read when they are printed side by side; wider tables take several pages. */
const PRINTED_WIDTH = 260;

/** A sheet ends before its XML gets to 4 GB, which the plain form of the zip format cannot say. */
export const SHEET_BYTES = 3_800_000_000;

/**
 * Writes one sheet: the heading (bold, filled, frozen, with filters and notes), then rows until they end or the sheet is
 * full. Returns the number of its last row.
 */
export async function writeSheet(
  layout: SheetLayout,
  writers: readonly CellWriter[],
  news: CellNews,
  feed: RowFeed,
  first: boolean,
  write: WriteText,
): Promise<number> {
  await write(sheetStart(layout, first));
  let row = 1;
  let bytes = 0;
  let piece = '';
  while (row < layout.rows && bytes < SHEET_BYTES && (feed.ready || (await feed.more()))) {
    const cells = feed.take();
    const number = String(++row);
    let xml = '';
    news.lines = 1;
    for (let i = 0; i < writers.length; i++) {
      const text = cells[i]!;
      if (text !== '') xml += writers[i]!.write(text, number);
    }
    piece += `<row r="${number}"${news.lines > 1 ? heightOf(news.lines) : ''}>${xml}</row>`;
    if (piece.length >= PIECE) {
      bytes = await write(piece);
      piece = '';
    }
  }
  await write(piece + sheetEnd(layout, row));
  return row;
}

export const LINE = 15;

/** A row with a text of several lines shows the first four; without a height of its own it would be as tall as the text. */
export function heightOf(lines: number): string {
  return ` ht="${Math.min(lines, 4) * LINE}" customHeight="1"`;
}

function sheetStart({ columns, widths }: SheetLayout, first: boolean): string {
  const cols = columns.map(({ kind, readOnly }, i) => {
    const style = columnStyles(kind, readOnly ? 'soft' : 'plain').value;
    return `<col min="${i + 1}" max="${i + 1}" width="${widths[i]}" style="${style}" customWidth="1"/>`;
  });
  const headings = columns.map(({ heading, readOnly }, i) =>
    textCell(`${columnName(i)}1`, heading, readOnly ? STYLE.headingReadOnly : STYLE.heading),
  );
  return (
    `${XML}<worksheet xmlns="${MAIN}" xmlns:r="${RELATIONS}">` +
    (widths.reduce((sum, width) => sum + width, 0) <= PRINTED_WIDTH ? FIT_TO_PAGE : '') +
    `<sheetViews><sheetView${first ? ' tabSelected="1"' : ''} workbookViewId="0">` +
    '<pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/>' +
    '<selection pane="bottomLeft" activeCell="A2" sqref="A2"/></sheetView></sheetViews>' +
    `<sheetFormatPr defaultRowHeight="${LINE}"/><cols>${cols.join('')}</cols>` +
    `<sheetData><row r="1" ht="21" customHeight="1">${headings.join('')}</row>`
  );
}

/** What follows the rows; programs insist on this order. */
function sheetEnd({ columns, choices, notes, rows }: SheetLayout, lastRow: number): string {
  const range = filterRange(columns.length, lastRow);
  return (
    `</sheetData><autoFilter ref="${range}"/>` +
    choices.validations(lastRow, rows) +
    PAGE +
    // Without it a program marks every id and serial number as a number stored as text.
    `<ignoredErrors><ignoredError sqref="${range}" numberStoredAsText="1"/></ignoredErrors>` +
    (notes ? '<legacyDrawing r:id="rId1"/>' : '') +
    '</worksheet>'
  );
}

/** `A1:Y100`; a table without rows has one blank row to filter. */
export function filterRange(columns: number, lastRow: number): string {
  return `A1:${columnName(columns - 1)}${Math.max(lastRow, 2)}`;
}
