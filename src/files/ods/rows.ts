import { type Cell, isBlank, type RowFault } from '../../model/row.js';
import { keptText, textFault } from '../cell-faults.js';
import { asciiText } from '../encoding/byte-text.js';
import type { SourceLimits } from '../limits.js';
import { isPlainText, type XmlScanner, xmlText } from '../package/xml-scan.js';
import type { BookRow } from '../table/book-source.js';
import { blankCellTag, blanksOf, readCellTag, readLineTag } from './attributes.js';
import { odsCell } from './cell.js';
import { createOdsOutline } from './outline.js';
import type { OdsStyles } from './styles.js';

export interface OdsRowsOptions {
  /** File and sheet, for messages. */
  readonly what: string;
  /** The sheet's place in the file, from 0. */
  readonly place: number;
  readonly styles: OdsStyles;
  readonly limits: SourceLimits;
  /** Told of every row that holds a filled cell. */
  readonly onRow: (row: BookRow) => void;
}

export interface OdsRows extends XmlScanner {
  /** The end of the sheet is reached. */
  readonly ended: boolean;
}

const NO_STYLES = { open() {}, close() {}, text() {} };

/** The rows of one sheet. */
export function createOdsRows({ what, place, styles, limits, onRow }: OdsRowsOptions): OdsRows {
  let sheet = -1;
  let active = false;
  let ended = false;

  /** Styles of columns whose cells have none of their own, with the column after the last that has it. */
  let columnStyles: { readonly to: number; readonly style: string }[] = [];
  let nextRow = 1;
  let row = 1;
  let rowTimes = 1;
  let rowStyle = '';
  let cells: Cell[] = [];
  let faults: RowFault[] | undefined;
  let beyond = false;

  let column = 0;
  const tag = blankCellTag();
  let isCovered = false;
  let text = '';
  let paragraphs = 0;
  /** The text is plain ASCII, so that no character of it needs a check. */
  let clean = true;

  function add(piece: string): void {
    // A text that is too long is refused; one character more than may be shows that it is.
    if (text.length <= limits.cellCharacters) text += piece;
  }

  function put(cell: Cell, times: number): void {
    const end = Math.min(column + times, limits.columns);
    if (column + times > limits.columns && !isBlank(cell)) beyond = true;
    if (end <= column) return;
    if (cells.length === 0 && column === 0 && end > 1) {
      cells = new Array<Cell>(end).fill(cell);
      return;
    }
    while (cells.length < column) cells.push('');
    for (let i = column; i < end; i++) cells.push(cell);
  }

  function checked(value: string): string {
    if (clean && value.length <= limits.cellCharacters) return value;
    const end = Math.min(column + tag.repeated, limits.columns);
    const found = textFault(value, column, limits.cellCharacters);
    if (!found) return value;
    faults ??= [];
    for (let i = column; i < end; i++) faults.push(textFault(value, i, limits.cellCharacters)!);
    return keptText(value, limits.cellCharacters);
  }

  function styleOf(): string {
    if (tag.style !== '' || rowStyle !== '') return tag.style || rowStyle;
    for (const { to, style } of columnStyles) if (column < to) return style;
    return '';
  }

  const outline = createOdsOutline(what, {
    head: NO_STYLES,
    sheet() {
      sheet++;
      active = sheet === place;
      columnStyles = [];
      nextRow = 1;
    },
    sheetEnd() {
      if (active) ended = true;
      active = false;
    },
    column(bytes, from, to) {
      const before = columnStyles.at(-1)?.to ?? 0;
      if (!active || before >= limits.columns) return;
      const { repeated, style } = readLineTag(bytes, from, to);
      columnStyles.push({ to: before + repeated, style });
    },
    row(bytes, from, to) {
      if (!active) return;
      const line = readLineTag(bytes, from, to);
      row = nextRow;
      rowTimes = line.repeated;
      rowStyle = line.style;
      nextRow += rowTimes;
      column = 0;
      cells = [];
      faults = undefined;
      beyond = false;
    },
    rowEnd() {
      if (active && (cells.length > 0 || beyond)) onRow({ row, cells, faults, beyond, times: rowTimes });
    },
    cell(bytes, from, to, covered) {
      if (!active) return;
      readCellTag(bytes, from, to, tag);
      isCovered = covered;
      text = '';
      paragraphs = 0;
      clean = true;
    },
    cellEnd() {
      if (!active) return;
      if (!isCovered && (tag.type !== '' || paragraphs > 0 || tag.formula !== undefined)) {
        tag.text = paragraphs > 0 ? text : undefined;
        if (tag.stringValue !== undefined) clean = false;
        const numeric = tag.type !== '' && tag.type !== 'string';
        const cell = odsCell(tag, numeric ? styles.format(styleOf() || 'Default') : undefined);
        // What a number or an error shows is text, too.
        const odd = !clean && textFault(text, column, limits.cellCharacters) !== undefined;
        const whole = typeof cell === 'string' ? checked(cell) : odd ? checked(text) : cell;
        if (whole !== '') put(whole, tag.repeated);
      }
      column += tag.repeated;
    },
    paragraph() {
      if (active && paragraphs++ > 0) add('\n');
    },
    text(bytes, from, to, raw) {
      if (!active || isCovered) return;
      if (isPlainText(bytes, from, to)) add(asciiText(bytes, from, to));
      else {
        add(xmlText(bytes, from, to, raw));
        clean = false;
      }
    },
    characters(character) {
      if (active) add(character);
    },
    blanks(bytes, from, to) {
      if (active) add(' '.repeat(blanksOf(bytes, from, to, limits.cellCharacters + 1)));
    },
  });
  return {
    ...outline,
    get ended() {
      return ended;
    },
  };
}
