import { RunError } from '../../model/error.js';
import type { Cell, RowFault } from '../../model/row.js';
import { keptText, textFault } from '../cell-faults.js';
import { asciiText } from '../encoding/byte-text.js';
import type { SourceLimits } from '../limits.js';
import { createNumberReader, isoCell } from '../number/cell-value.js';
import {
  type AttributeRange,
  createXmlScanner,
  isPlainText,
  nextAttribute,
  unescapeSheetText,
  type XmlScanner,
  xmlAttributes,
  xmlText,
} from '../package/xml-scan.js';
import { columnName } from '../table/header.js';
import { cellShape, createTextReader, readCellShape, Shape, TextKind } from './cell-shape.js';
import type { SharedStrings } from './shared-strings.js';
import type { CellFormat } from './workbook.js';

// Longer than most files here: the states of one cell (value, formula, inline text) share the variables that make the
// scan fast, and would have to be passed about if they were split.

/** A row of a sheet as it is stored: cells by column, without those beyond the last one that is stored. */
export interface StoredRow {
  readonly row: number;
  readonly cells: Cell[];
  readonly faults: RowFault[] | undefined;
  /** A filled cell beyond the limit of columns. */
  readonly beyond: boolean;
}

export interface SheetScanOptions {
  /** File and sheet, for messages. */
  readonly what: string;
  readonly strings: SharedStrings;
  readonly formats: readonly CellFormat[];
  readonly date1904: boolean;
  readonly limits: SourceLimits;
  readonly onRow: (row: StoredRow) => void;
}

export interface SheetScan extends XmlScanner {
  /** While true, rows are only counted and checked, their cells are not read. */
  skim: boolean;
  /** Numbers of hidden rows, as a count per row at or after which they stand: see `hiddenAfter`. */
  hiddenAfter(row: number): number;
  readonly hiddenColumns: number;
  /** References of merged ranges (`B5:D5`), at most 1,000; `merges` counts all. */
  readonly mergedRanges: readonly string[];
  readonly merges: number;
}

const C = 0x63;
const V = 0x76;
const F = 0x66;
const T = 0x74;
const R = 0x72;
const S = 0x73;
const SLASH = 0x2f;

/** What stands between two rows, in nearly every file. */
const ROW_TURN = Buffer.from('</row><row ');

/** What the text of the cell now scanned is for. */
enum Take {
  nothing,
  value,
  formula,
  inline,
}

const LAST_ROW = 1_048_576;
const KEPT_MERGES = 1_000;
const KEPT_HIDDEN = 4_096;

export function createSheetScan(options: SheetScanOptions): SheetScan {
  const { what, strings, formats, limits, onRow } = options;
  const numbers = createNumberReader(formats, options.date1904);
  const texts = createTextReader();
  const shape = cellShape();
  const { first } = strings;

  let lastRow = 0;
  let inRow = false;
  let row = 0;
  let cells: Cell[] = [];
  /** Cells up to the last one that is filled. */
  let filled = 0;
  /** Blank cells, as many as the widest row has: a row begins as a copy of them, as long as the row before it. */
  const blanks: Cell[] = [];
  let faults: RowFault[] | undefined;
  let beyond = false;

  let inCell = false;
  let column = -1;
  let style = 0;
  let type = '';
  let take: Take = Take.nothing;
  let text = '';
  /** The text is plain ASCII, so that no character of it needs a check. */
  let clean = true;
  let hasValue = false;
  let formula: string | undefined;
  let phonetic = 0;
  const range: AttributeRange = { nameFrom: 0, nameTo: 0, valueFrom: 0, valueTo: 0 };

  let hidden = 0;
  const firstHidden: number[] = [];
  let hiddenColumns = 0;
  let merges = 0;
  const mergedRanges: string[] = [];

  function startRow(bytes: Buffer, from: number, to: number, empty: boolean): void {
    row = lastRow + 1;
    let hides = false;
    for (let at = nextAttribute(bytes, from, to, range); at >= 0; at = nextAttribute(bytes, at, to, range)) {
      const length = range.nameTo - range.nameFrom;
      if (length === 1 && bytes[range.nameFrom] === R) row = integerOf(bytes, range.valueFrom, range.valueTo);
      else if (length === 6 && bytes[range.nameFrom] === 0x68) {
        const first = bytes[range.valueFrom];
        hides = asciiText(bytes, range.nameFrom, range.nameTo) === 'hidden' && (first === 0x31 || first === T);
      }
    }
    if (!(row >= 1 && row <= LAST_ROW)) {
      throw new RunError('failed', `${what}: a row after row ${lastRow} has no valid number. Save the file again.`);
    }
    if (row <= lastRow) {
      throw new RunError(
        'failed',
        `${what}: row ${row} stands after row ${lastRow}; rows must ascend. It was refused whole, nothing was sent. ` +
          'Open the file in the spreadsheet program and save it again.',
      );
    }
    lastRow = row;
    if (hides) {
      hidden++;
      if (firstHidden.length < KEPT_HIDDEN) firstHidden.push(row);
    }
    inRow = !empty;
    cells = blanks.slice(0, filled);
    filled = 0;
    faults = undefined;
    beyond = false;
    column = -1;
  }

  /** Reads `r`, `s` and `t` of a `<c …>` tag straight from its bytes. */
  function startCell(bytes: Buffer, from: number, to: number): void {
    column++;
    take = Take.nothing;
    style = 0;
    type = '';
    text = '';
    clean = true;
    hasValue = false;
    formula = undefined;
    for (let at = nextAttribute(bytes, from, to, range); at >= 0; at = nextAttribute(bytes, at, to, range)) {
      if (range.nameTo - range.nameFrom !== 1) continue;
      const name = bytes[range.nameFrom]!;
      if (name === R) {
        const stated = columnOf(bytes, range.valueFrom, range.valueTo);
        if (stated >= 0) column = stated;
      } else if (name === S) style = integerOf(bytes, range.valueFrom, range.valueTo);
      else if (name === T) {
        type =
          range.valueTo - range.valueFrom === 1 && bytes[range.valueFrom] === S
            ? 's'
            : asciiText(bytes, range.valueFrom, range.valueTo);
      }
    }
  }

  function put(cell: Cell): void {
    if (cell === '') return;
    if (column >= limits.columns) {
      beyond = true;
      return;
    }
    while (cells.length <= column) cells.push('');
    if (column < filled) {
      if (cells[column] === '') {
        cells[column] = cell;
        return;
      }
      throw new RunError(
        'failed',
        `${what}: row ${row} holds two cells in column ${columnName(column)}. It was refused whole, nothing was sent. ` +
          'Open the file in the spreadsheet program and save it again.',
      );
    }
    cells[column] = cell;
    filled = column + 1;
  }

  function putText(value: string, checked: boolean): void {
    const found =
      checked && value.length <= limits.cellCharacters ? undefined : textFault(value, column, limits.cellCharacters);
    if (found && column < limits.columns) {
      faults ??= [];
      faults.push(found);
    }
    put(found ? keptText(value, limits.cellCharacters) : value);
  }

  function putShared(index: number, written = String(index)): void {
    const value = index < 0 ? undefined : strings.get(index);
    if (value === undefined) {
      throw new RunError(
        'failed',
        `${what}: row ${row} refers to text number ${written.slice(0, 20)}, which the workbook does not hold. ` +
          'The file is damaged and was refused whole. Save it again in the spreadsheet program.',
      );
    }
    putText(value, strings.clean);
  }

  /** Goes from `</row>` at `at` into the row that begins right behind it; -1 where that is not all there is to it. */
  function nextRow(bytes: Buffer, at: number, end: number): number {
    if (at + ROW_TURN.length >= end) return -1;
    for (let i = 0; i < ROW_TURN.length; i++) if (bytes[at + i] !== ROW_TURN[i]) return -1;
    const from = at + ROW_TURN.length;
    const to = tagEnd(bytes, from, end);
    if (to < 0) return -1;
    finishRow();
    startRow(bytes, from, to, false);
    return to + 1;
  }

  /** From the end tag of a row at `at` to that of the last row that is whole in the buffer; their cells are not read. */
  function skimRows(bytes: Buffer, at: number, end: number): number {
    let done = -1;
    if (bytes[at + 1] !== SLASH || bytes[at + 2] !== R) return done;
    for (let close = at; ; ) {
      const found = rowEnd(bytes, close + ROW_TURN.length);
      const next = found < 0 ? -1 : nextRow(bytes, close, end);
      if (next < 0) return done;
      if (next > found) return next;
      close = found;
      done = found;
    }
  }

  /** Cells that stand one after the other, each whole in the buffer and in a common form, and the tags between rows. */
  function wholeCells(bytes: Buffer, at: number, end: number): number {
    if (!inRow || inCell || phonetic > 0) return -1;
    if (scan.skim) return skimRows(bytes, at, end);
    let done = -1;
    for (let next = at; next < end && bytes[next] === 0x3c; ) {
      if (bytes[next + 1] === SLASH) {
        next = nextRow(bytes, next, end);
        if (next < 0) return done;
        done = next;
        continue;
      }
      next = readCellShape(bytes, next, end, shape);
      if (next < 0) return done;
      done = next;
      column = shape.column >= 0 ? shape.column : column + 1;
      let cell: Cell;
      switch (shape.kind) {
        case Shape.blank:
          continue;
        case Shape.shared: {
          const text = first[shape.index];
          if (text === undefined) {
            putShared(shape.index);
            continue;
          }
          cell = text;
          break;
        }
        case Shape.integer:
          cell = numbers.integer(shape.index, shape.style);
          break;
        case Shape.decimal: {
          const value = asciiText(bytes, shape.from, shape.to);
          const general = formats[shape.style]?.code === undefined;
          cell = general ? { t: 'n', value, shown: value } : numbers.read(value, shape.style);
          break;
        }
        case Shape.number:
          cell = numbers.read(asciiText(bytes, shape.from, shape.to), shape.style);
          break;
        default:
          if (shape.text !== TextKind.ascii || shape.to - shape.from > limits.cellCharacters) {
            putText(texts.read(bytes, shape.from, shape.to, shape.text), texts.clean);
            continue;
          }
          cell = asciiText(bytes, shape.from, shape.to);
      }
      if (cell === '' || column < filled || column >= cells.length) put(cell);
      else {
        cells[column] = cell;
        filled = column + 1;
      }
    }
    return done;
  }

  /** What is stored as a number and is none stays text, with the faults of text. */
  function putRead(cell: Cell): void {
    if (typeof cell === 'string') putText(cell, false);
    else put(cell);
  }

  function finishCell(): void {
    if (type === 's') {
      const index = text.trim();
      if (index !== '') putShared(/^\d{1,10}$/.test(index) ? Number(index) : -1, index);
      return;
    }
    if (formula !== undefined && (!hasValue || (text === '' && type !== 'str'))) {
      put({ t: 'f', formula });
      return;
    }
    switch (type) {
      case '':
      case 'n': {
        const raw = text.trim();
        if (raw !== '') putRead(numbers.read(raw, style));
        return;
      }
      case 'b':
        if (text !== '') put({ t: 'b', value: /^\s*(?:1|true)\s*$/i.test(text) });
        return;
      case 'e':
        if (text === '') return;
        if (clean) put({ t: 'e', value: text.trim() });
        else putText(text.trim(), false);
        return;
      case 'd': {
        const date = isoCell(text, formats[style]);
        if (date) put(date);
        else putText(text, false);
        return;
      }
      default:
        if (text.includes('_x')) putText(unescapeSheetText(text), false);
        else putText(text, clean);
    }
  }

  function finishRow(): void {
    inRow = false;
    if (cells.length > filled) cells.length = filled;
    while (blanks.length < filled) blanks.push('');
    if (!scan.skim) onRow({ row, cells, faults, beyond });
  }

  const scanner = createXmlScanner(what, {
    whole: wholeCells,
    open(bytes, nameFrom, nameTo, to, empty) {
      if (nameTo - nameFrom === 1) {
        if (scan.skim || !inRow) return;
        switch (bytes[nameFrom]) {
          case C:
            startCell(bytes, nameTo, to);
            inCell = !empty;
            return;
          case V:
            hasValue = true;
            take = inCell && !empty ? Take.value : Take.nothing;
            return;
          case F:
            formula = '';
            take = inCell && !empty ? Take.formula : Take.nothing;
            return;
          case T:
            if (phonetic === 0) take = inCell && !empty ? Take.inline : Take.nothing;
            return;
        }
        return;
      }
      if (nameTo - nameFrom !== 3 && nameTo - nameFrom !== 9) return;
      switch (asciiText(bytes, nameFrom, nameTo)) {
        case 'row':
          startRow(bytes, nameTo, to, empty);
          if (empty) finishRow();
          return scan.skim;
        case 'rPh':
          if (!empty) phonetic++;
          return;
        case 'mergeCell':
          merges++;
          if (mergedRanges.length < KEPT_MERGES) mergedRanges.push(xmlAttributes(bytes, nameTo, to).get('ref') ?? '');
          return;
        case 'col': {
          const attributes = xmlAttributes(bytes, nameTo, to);
          if (/^(?:1|true)$/.test(attributes.get('hidden') ?? '')) {
            const last = Math.min(Number(attributes.get('max')), limits.columns);
            const found = Math.max(0, last - Number(attributes.get('min')) + 1) || 0;
            hiddenColumns = Math.min(limits.columns, hiddenColumns + found);
          }
          return;
        }
      }
    },
    close(bytes, nameFrom, nameTo) {
      take = Take.nothing;
      if (nameTo - nameFrom === 1) {
        if (bytes[nameFrom] === C && inCell) {
          inCell = false;
          finishCell();
        }
        return;
      }
      if (nameTo - nameFrom !== 3 || (!inRow && phonetic === 0)) return;
      const name = asciiText(bytes, nameFrom, nameTo);
      if (name === 'row') {
        if (inRow) finishRow();
      } else if (name === 'rPh') phonetic--;
    },
    text(bytes, from, to, raw) {
      if (take === Take.nothing) return;
      if (take === Take.formula) {
        if (formula!.length <= limits.cellCharacters) formula += xmlText(bytes, from, to, raw);
      } else if (text.length > limits.cellCharacters) {
        // Longer than a cell may be, which is a fault of it; no more is held.
      } else if (isPlainText(bytes, from, to)) {
        const plain = asciiText(bytes, from, to);
        text = text === '' ? plain : text + plain;
      } else {
        text += xmlText(bytes, from, to, raw);
        clean = false;
      }
    },
  });

  const scan: SheetScan = {
    skim: false,
    push: scanner.push,
    finish: scanner.finish,
    hiddenAfter: (from) => hidden - firstHidden.filter((number) => number <= from).length,
    get hiddenColumns() {
      return hiddenColumns;
    },
    mergedRanges,
    get merges() {
      return merges;
    },
  };
  return scan;
}

/**
 * Where the next `</row` begins, or -1. It is found by its `w`, the rarest of its letters in a sheet; where texts are full
 * of it, -1 leaves the row to the general scan.
 */
export function rowEnd(bytes: Buffer, at: number): number {
  let from = at;
  for (let misses = 0; misses < 32; misses++) {
    const w = bytes.indexOf(0x77, from);
    if (w < 0) return -1;
    if (bytes[w - 1] === 0x6f && bytes[w - 2] === 0x72 && bytes[w - 3] === 0x2f && bytes[w - 4] === 0x3c) return w - 4;
    from = w + 1;
  }
  return -1;
}

/** 0-based column of a cell reference such as `AB12`, or -1. */
export function columnOf(bytes: Buffer, from: number, to: number): number {
  let column = 0;
  for (let i = from; i < to; i++) {
    const letter = bytes[i]! & 0xdf;
    if (letter < 0x41 || letter > 0x5a) break;
    column = column * 26 + (letter - 0x40);
  }
  return column - 1;
}

export function integerOf(bytes: Buffer, from: number, to: number): number {
  let number = 0;
  for (let i = from; i < to; i++) number = number * 10 + (bytes[i]! - 0x30);
  return number;
}

/** The position of the `>` of a start tag whose attributes begin at `at`; -1 for an empty element and any odd form. */
export function tagEnd(bytes: Buffer, at: number, end: number): number {
  let quotes = 0;
  for (let i = at; i < end; i++) {
    const byte = bytes[i]!;
    if (byte === 0x22) quotes++;
    else if (byte === 0x27) return -1;
    else if (byte === 0x3e && (quotes & 1) === 0) return bytes[i - 1] === 0x2f ? -1 : i;
  }
  return -1;
}
