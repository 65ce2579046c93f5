import { columnName } from '../table/header.js';
import { isIntegerText } from '../table-form.js';
import { quotedName } from './sheet-names.js';
import { STYLE } from './styles.js';
import { clipped, FIT_TO_PAGE, MAIN, PAGE, plainText, textCell, XML } from './xml-text.js';
import type { WriteText } from './zip-pack.js';

export type PageStyle = keyof typeof STYLE;

export interface PageCell {
  readonly text: string;
  readonly style: PageStyle;
  /** Columns that the cell takes; 1 unless stated. */
  readonly span?: number;
  /** Name of the sheet that a click on the cell leads to. */
  readonly link?: string;
}

/** The cells of a line from the left; undefined leaves one column blank. */
export interface PageLine {
  readonly cells: readonly (PageCell | undefined)[];
  /** Points; as high as its texts want unless stated. */
  readonly height?: number;
}

/** A sheet to be read from top to bottom, not to be sorted. */
export interface PageSheet {
  readonly name: string;
  /** Widths of the columns in characters. */
  readonly widths: readonly number[];
  readonly lines: readonly PageLine[];
}

const CELL = 32_767;
const LINE = 15;

/** Points of a row of one line; a little air makes pages readable. */
const AIRY = 18;

/** Most points of a row are 409. */
const MOST_LINES = 27;

/** Styles of numbers: text of digits becomes a number. */
const NUMBERS: ReadonlySet<PageStyle> = new Set<PageStyle>(['count', 'minorCount', 'badCount']);

/** Writes the sheet. `first`: the one that is shown when the workbook is opened. */
export async function writePageSheet(sheet: PageSheet, first: boolean, write: WriteText): Promise<void> {
  const { widths, lines } = sheet;
  await write(
    `${XML}<worksheet xmlns="${MAIN}">${FIT_TO_PAGE}<sheetViews><sheetView showGridLines="0"${first ? ' tabSelected="1"' : ''} workbookViewId="0"/></sheetViews>` +
      `<sheetFormatPr defaultRowHeight="${AIRY}" customHeight="1"/><cols>${widths.map((width, i) => `<col min="${i + 1}" max="${i + 1}" width="${width}" customWidth="1"/>`).join('')}</cols><sheetData>`,
  );
  const merged: string[] = [];
  const links: string[] = [];
  for (const [i, line] of lines.entries()) {
    const row = i + 1;
    let xml = '';
    let column = 0;
    let tallest = 1;
    for (const cell of line.cells) {
      if (!cell) {
        column++;
        continue;
      }
      const { span = 1, style } = cell;
      const at = columnName(column) + row;
      const text = clipped(cell.text, CELL);
      xml +=
        NUMBERS.has(style) && isIntegerText(text)
          ? `<c r="${at}" s="${STYLE[style]}"><v>${text}</v></c>`
          : textCell(at, text, STYLE[style]);
      for (let more = 1; more < span; more++) xml += `<c r="${columnName(column + more)}${row}" s="${STYLE[style]}"/>`;
      if (span > 1) merged.push(`${at}:${columnName(column + span - 1)}${row}`);
      if (cell.link !== undefined) {
        const location = plainText(`${quotedName(cell.link)}!A1`);
        links.push(`<hyperlink ref="${at}" location="${location}" display="${plainText(text)}"/>`);
      }
      const room = widths.slice(column, column + span).reduce((sum, width) => sum + width, 0);
      tallest = Math.max(tallest, linesOf(text, room));
      column += span;
    }
    const height = line.height ?? (tallest > 1 ? Math.min(tallest, MOST_LINES) * LINE + AIRY - LINE : undefined);
    await write(`<row r="${row}"${height === undefined ? '' : ` ht="${height}" customHeight="1"`}>${xml}</row>`);
  }
  await write(
    '</sheetData>' +
      (merged.length > 0
        ? `<mergeCells count="${merged.length}">${merged.map((ref) => `<mergeCell ref="${ref}"/>`).join('')}</mergeCells>`
        : '') +
      (links.length > 0 ? `<hyperlinks>${links.join('')}</hyperlinks>` : '') +
      `${PAGE}</worksheet>`,
  );
}

/** Lines that a text takes when it is wrapped; programs do not make room for them by themselves when they open a file. */
function linesOf(text: string, width: number): number {
  return text
    .slice(0, 4_000)
    .split('\n')
    .reduce((sum, part) => sum + Math.max(1, Math.ceil((part.length * 1.08) / Math.max(width, 1))), 0);
}
