// Longer than most files here: one state machine over the bytes of a sheet, which would not be clearer in pieces.
import { RunError } from '../model/error.js';
import type { Cell, RowFault } from '../model/row.js';
import { asciiText } from './byte-text.js';
import { textFault, withoutReplacement } from './cell-faults.js';
import { createNumberReader, isoCell } from './cell-value.js';
import type { SourceLimits } from './limits.js';
import type { SharedStrings } from './shared-strings.js';
import type { CellFormat } from './xlsx-workbook.js';
import {
  type AttributeRange,
  createXmlScanner,
  isPlainText,
  nextAttribute,
  unescapeSheetText,
  type XmlScanner,
  xmlAttributes,
  xmlText,
} from './xml-scan.js';

/*
 * Longer than most files of this project: the states of one cell (value, formula, inline text) share the variables
 * that make the scan fast, and would have to be passed about if they were split.
 */

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
  const readNumber = createNumberReader(formats, options.date1904);

  let lastRow = 0;
  let inRow = false;
  let row = 0;
  let cells: Cell[] = [];
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
  let stringIndex = -1;
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
    cells = [];
    faults = undefined;
    beyond = false;
    column = -1;
  }

  /** Reads `r`, `s` and `t` of a `<c …>` tag straight from its bytes. */
  function startCell(bytes: Buffer, from: number, to: number): void {
    column++;
    style = 0;
    type = '';
    text = '';
    clean = true;
    stringIndex = -1;
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
    while (cells.length < column) cells.push('');
    cells[column] = cell;
  }

  function putText(value: string, checked: boolean): void {
    const found =
      checked && value.length <= limits.cellCharacters ? undefined : textFault(value, column, limits.cellCharacters);
    if (found && column < limits.columns) {
      faults ??= [];
      faults.push(found);
    }
    put(found ? withoutReplacement(value, limits.cellCharacters) : value);
  }

  function finishCell(): void {
    if (type === 's') {
      if (stringIndex < 0) return;
      const value = strings.get(stringIndex);
      if (value === undefined) {
        throw new RunError(
          'failed',
          `${what}: row ${row} refers to text number ${stringIndex}, which the workbook does not hold. ` +
            'The file is damaged and was refused whole. Save it again in the spreadsheet program.',
        );
      }
      putText(value, strings.clean(stringIndex));
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
        if (raw !== '') put(readNumber(raw, style));
        return;
      }
      case 'b':
        if (text !== '') put({ t: 'b', value: text.trim() === '1' || text.trim() === 'true' });
        return;
      case 'e':
        if (text !== '') put({ t: 'e', value: text.trim() });
        return;
      case 'd':
        putText(text, false);
        if (text !== '') put(isoCell(text, formats[style]) ?? text);
        return;
      default:
        if (text.includes('_x')) putText(unescapeSheetText(text), false);
        else putText(text, clean);
    }
  }

  function finishRow(): void {
    inRow = false;
    if (!scan.skim) onRow({ row, cells, faults, beyond });
  }

  const scanner = createXmlScanner(what, {
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
            hiddenColumns += Math.max(0, last - Number(attributes.get('min')) + 1);
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
      if (name === 'row') finishRow();
      else if (name === 'rPh') phonetic--;
    },
    text(bytes, from, to, raw) {
      if (take === Take.nothing) return;
      if (take === Take.formula) {
        formula += xmlText(bytes, from, to, raw);
      } else if (type === 's') {
        for (let i = from; i < to; i++) {
          const digit = bytes[i]! - 0x30;
          if (digit >= 0 && digit <= 9) stringIndex = Math.max(0, stringIndex) * 10 + digit;
        }
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

/** 0-based column of a cell reference such as `AB12`, or -1. */
function columnOf(bytes: Buffer, from: number, to: number): number {
  let column = 0;
  for (let i = from; i < to; i++) {
    const letter = bytes[i]! & 0xdf;
    if (letter < 0x41 || letter > 0x5a) break;
    column = column * 26 + (letter - 0x40);
  }
  return column - 1;
}

function integerOf(bytes: Buffer, from: number, to: number): number {
  let number = 0;
  for (let i = from; i < to; i++) number = number * 10 + (bytes[i]! - 0x30);
  return number;
}
