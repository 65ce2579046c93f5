import { RunError } from '../../model/error.js';
import { isBlank } from '../../model/row.js';
import { utf8Text } from '../encoding/byte-text.js';
import { type XmlScanner, xmlAttributes, xmlText } from '../package/xml-scan.js';
import type { BookSheet, SheetFacts } from '../table/book-source.js';
import { columnName } from '../table/header.js';
import { blankCellTag, readCellTag, readLineTag } from './attributes.js';
import { odsCell } from './cell.js';
import { createOdsOutline } from './outline.js';
import type { OdsStyles } from './styles.js';

/** Rows of a sheet of a spreadsheet program. */
const LAST_ROW = 1_048_576;
const MOST_SHEETS = 10_000;
/** Of all sheets together. */
const KEPT_MERGES = 10_000;
const KEPT_HIDDEN = 40_960;
const SHEET_MERGES = 1_000;
const SHEET_HIDDEN = 4_096;

export interface OdsSheet extends BookSheet {
  /** Its place among all sheets of the file, from 0, copies of other files included. */
  readonly place: number;
  readonly facts: SheetFacts;
}

/** Copies of cells of other files, which formulas refer to; no program shows them. */
const COPY_OF_OTHER_FILE = /^'.+'#\$/;

/**
 * Goes through a whole file once: lists its sheets with what is to be said of each, and makes sure that the XML is
 * complete and well before a row of it is handed out. `styles` takes what stands before the sheets.
 */
export function createOdsIndex(
  what: string,
  part: string,
  styles: OdsStyles,
): XmlScanner & { readonly sheets: readonly OdsSheet[] } {
  const sheets: OdsSheet[] = [];
  let place = -1;
  let keptMerges = 0;
  let keptHidden = 0;

  let name = '';
  let style = '';
  let nextRow = 1;
  let row = 1;
  let rowTimes = 1;
  let rowHidden = false;
  let column = 0;
  /** Filled columns of the row and of the sheet. */
  let rowWidth = 0;
  let width = 0;
  let columns = 0;
  let hiddenColumns: (readonly [number, number])[] = [];
  let hiddenRows = 0;
  let firstHidden: number[] = [];
  let merges = 0;
  let mergedRanges: string[] = [];

  const tag = blankCellTag();
  let isCovered = false;
  let written = false;

  const outline = createOdsOutline(what, {
    head: styles,
    sheet(bytes, from, to) {
      const attributes = xmlAttributes(bytes, from, to);
      name = attributes.get('name') ?? '';
      style = attributes.get('style-name') ?? '';
      place++;
      if (place >= MOST_SHEETS) {
        throw new RunError('failed', `${what}: holds more than ${MOST_SHEETS.toLocaleString('en-US')} sheets.`);
      }
      nextRow = 1;
      width = 0;
      columns = 0;
      hiddenColumns = [];
      hiddenRows = 0;
      firstHidden = [];
      merges = 0;
      mergedRanges = [];
    },
    sheetEnd() {
      if (COPY_OF_OTHER_FILE.test(name)) return;
      const hidden = firstHidden;
      const count = hiddenRows;
      sheets.push({
        name,
        part,
        place,
        state: styles.hides(style) ? 'hidden' : 'visible',
        blank: width === 0,
        facts: {
          hiddenAfter: (from) => count - hidden.filter((number) => number <= from).length,
          hiddenColumns: hiddenColumns.reduce((sum, [from, to]) => sum + Math.max(0, Math.min(to, width) - from), 0),
          mergedRanges,
          merges,
        },
      });
    },
    column(bytes, from, to) {
      const { repeated, hidden } = readLineTag(bytes, from, to);
      if (hidden && hiddenColumns.length < SHEET_MERGES) hiddenColumns.push([columns, columns + repeated]);
      columns += repeated;
    },
    row(bytes, from, to) {
      const line = readLineTag(bytes, from, to);
      row = nextRow;
      rowTimes = line.repeated;
      rowHidden = line.hidden;
      nextRow += rowTimes;
      column = 0;
      rowWidth = 0;
    },
    rowEnd() {
      if (rowWidth === 0) return;
      if (rowWidth > width) width = rowWidth;
      if (nextRow - 1 > LAST_ROW) {
        throw new RunError(
          'failed',
          `${what}: the sheet "${name}" has filled cells below row ${LAST_ROW.toLocaleString('en-US')}, the last one ` +
            'that is read. Split the table into several files.',
        );
      }
      if (!rowHidden) return;
      hiddenRows += rowTimes;
      for (let i = 0; i < rowTimes && firstHidden.length < SHEET_HIDDEN && keptHidden < KEPT_HIDDEN; i++) {
        firstHidden.push(row + i);
        keptHidden++;
      }
    },
    cell(bytes, from, to, covered) {
      readCellTag(bytes, from, to, tag);
      isCovered = covered;
      written = false;
      if (covered || (tag.columns === 1 && tag.rows === 1)) return;
      merges++;
      if (mergedRanges.length >= SHEET_MERGES || keptMerges >= KEPT_MERGES) return;
      keptMerges++;
      const last = `${columnName(Math.min(column + tag.columns, 16_384) - 1)}${row + tag.rows - 1}`;
      mergedRanges.push(`${columnName(Math.min(column, 16_383))}${row}:${last}`);
    },
    cellEnd() {
      column += tag.repeated;
      if (isCovered) return;
      const filled =
        tag.type === 'string' ? written || tag.stringValue || tag.formula : tag.type || written || tag.formula;
      if (filled && (width > 0 || !isBlank(odsCell({ ...tag, text: written ? 'x' : '' }, undefined))))
        rowWidth = column;
    },
    paragraph() {},
    text(bytes, from, to, raw) {
      written ||= isVisible(bytes, from, to);
      // An entity that XML does not define is found before the first row is handed out.
      if (!raw && bytes.subarray(from, to).includes(0x26)) xmlText(bytes, from, to);
    },
    characters() {},
    blanks() {},
  });
  return { ...outline, sheets };
}

function isVisible(bytes: Buffer, from: number, to: number): boolean {
  const first = bytes[from]!;
  return (first > 0x20 && first < 0x7f) || utf8Text(bytes, from, to).trim() !== '';
}
