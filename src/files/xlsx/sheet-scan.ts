import { runFailure } from '../../model/error.js';
import type { Cell, RowFault } from '../../model/row.js';
import { textFault, truncatedText } from '../cell-faults.js';
import type { SourceLimits } from '../limits.js';
import { createNumberReader, isoCell, type NumberFormat } from '../number/cell-value.js';
import { createXmlScanner, TextForm, unescapeSheetText, type XmlTag, xmlText } from '../package/xml-scan.js';
import { type CellRange, columnName, rangeOf, SHEET_ROWS } from '../table/cell-range.js';
import type { SheetScan, StoredRow } from '../table/open-sheet.js';
import type { SharedStrings } from './shared-strings.js';

interface SheetScanOptions {
  /** File and sheet, for messages. */
  readonly what: string;
  readonly strings: SharedStrings;
  readonly formats: readonly NumberFormat[];
  readonly date1904: boolean;
  readonly limits: SourceLimits;
  readonly onRow: (row: StoredRow) => void;
}

const C = 0x63;
const V = 0x76;
const F = 0x66;
const T = 0x74;
const R = 0x72;
const S = 0x73;

/** What the text of the cell now scanned is for. */
enum TextTarget {
  nothing,
  value,
  formula,
  inline,
}

const MAX_MERGES = 1_000;

export function createSheetScan(options: SheetScanOptions): SheetScan {
  const { what, strings, formats, limits, onRow } = options;
  const numberOf = createNumberReader(formats, options.date1904);

  let lastRow = 0;
  let inRow = false;
  let row = 0;
  let cells: Cell[] = [];
  let faults: RowFault[] | undefined;
  let tooWide = false;

  let inCell = false;
  let column = -1;
  let style = 0;
  let type = '';
  let target: TextTarget = TextTarget.nothing;
  let text = '';
  /** Which shared string, where its number stands in one piece, as it nearly always does; else -1, and `text` has it. */
  let sharedIndex = -1;
  /** The text is plain ASCII, so that no character of it needs a check. */
  let clean = true;
  let hasValue = false;
  let formula: string | undefined;
  let phonetic = 0;

  const scan = { skim: false, hiddenRows: 0, hiddenColumns: 0, mergeCount: 0, mergedRanges: [] as CellRange[] };

  function startRow({ bytes, offsets, count, empty }: XmlTag): void {
    row = lastRow + 1;
    let hides = false;
    for (let i = 0; i < count; i += 4) {
      const name = bytes[offsets[i]!];
      const length = offsets[i + 1]! - offsets[i]!;
      if (length === 1 && name === R) row = integerOf(bytes, offsets[i + 2]!, offsets[i + 3]!);
      // `hidden`
      else if (length === 6 && name === 0x68) hides = bytes[offsets[i + 2]!] === 0x31 || bytes[offsets[i + 2]!] === T;
    }
    if (!(row >= 1 && row <= SHEET_ROWS)) {
      throw runFailure(`${what}: a row after row ${lastRow} has no valid number. Save the file again.`);
    }
    if (row <= lastRow) {
      throw runFailure(
        `${what}: row ${row} stands after row ${lastRow}; rows must ascend. It was refused whole, nothing was sent. ` +
          'Open the file in the spreadsheet program and save it again.',
      );
    }
    lastRow = row;
    if (hides) scan.hiddenRows++;
    inRow = !empty;
    cells = [];
    faults = undefined;
    tooWide = false;
    column = -1;
  }

  /** Reads `r`, `s` and `t` of a `<c …>` tag straight from its bytes. */
  function startCell({ bytes, offsets, count }: XmlTag): void {
    column++;
    target = TextTarget.nothing;
    style = 0;
    type = '';
    text = '';
    sharedIndex = -1;
    clean = true;
    hasValue = false;
    formula = undefined;
    for (let i = 0; i < count; i += 4) {
      if (offsets[i + 1]! - offsets[i]! !== 1) continue;
      const from = offsets[i + 2]!;
      const to = offsets[i + 3]!;
      switch (bytes[offsets[i]!]) {
        case R:
          column = columnOf(bytes, from, to, column);
          break;
        case S:
          style = integerOf(bytes, from, to);
          break;
        case T:
          // The types of nearly all texts, without making a text of them.
          if (to - from === 1 && bytes[from] === S) type = 's';
          else if (to - from === 9 && bytes[from + 6] === 0x53) type = 'inlineStr';
          else type = bytes.toString('latin1', from, to);
      }
    }
  }

  function put(cell: Cell): void {
    if (cell === '') return;
    if (column >= limits.columns) {
      tooWide = true;
      return;
    }
    if (column < cells.length && cells[column] !== '') {
      throw runFailure(
        `${what}: row ${row} holds two cells in column ${columnName(column)}. It was refused whole, nothing was sent. ` +
          'Open the file in the spreadsheet program and save it again.',
      );
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
    put(found ? truncatedText(value, limits.cellCharacters) : value);
  }

  function putShared(written: string): void {
    const at = sharedIndex >= 0 ? sharedIndex : /^\d{1,10}$/.test(written) ? Number(written) : -1;
    const value = strings.get(at);
    if (value === undefined) {
      throw runFailure(
        `${what}: row ${row} refers to text number ${at < 0 ? written.slice(0, 20) : at}, which the workbook does not hold. ` +
          'The file is damaged and was refused whole. Save it again in the spreadsheet program.',
      );
    }
    putText(value, strings.clean);
  }

  function putConverted(cell: Cell): void {
    if (typeof cell === 'string') putText(cell, false);
    else put(cell);
  }

  function finishCell(): void {
    if (type === 's') {
      const written = text.trim();
      if (sharedIndex >= 0 || written !== '') putShared(written);
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
        // What is stored as a number and is none stays text, with the faults of text.
        if (raw !== '') putConverted(numberOf(raw, style));
        return;
      }
      case 'b':
        if (text !== '') put({ t: 'b', value: /^\s*(?:1|true)\s*$/i.test(text) });
        return;
      case 'e':
        if (text !== '') putConverted(clean ? { t: 'e', value: text.trim() } : text.trim());
        return;
      case 'd':
        putConverted(isoCell(text, formats[style]) ?? text);
        return;
      default: {
        const value = unescapeSheetText(text);
        putText(value, clean && value === text);
      }
    }
  }

  function finishRow(): void {
    inRow = false;
    if (!scan.skim) onRow({ row, cells, faults, tooWide });
  }

  const scanner = createXmlScanner(what, {
    open(tag) {
      const { bytes, nameFrom, nameTo, empty } = tag;
      if (nameTo - nameFrom === 1) {
        if (scan.skim || !inRow) return;
        switch (bytes[nameFrom]) {
          case C:
            startCell(tag);
            inCell = !empty;
            return;
          case V:
            hasValue = true;
            target = inCell && !empty ? TextTarget.value : TextTarget.nothing;
            return;
          case F:
            formula = '';
            target = inCell && !empty ? TextTarget.formula : TextTarget.nothing;
            return;
          case T:
            if (phonetic === 0) target = inCell && !empty ? TextTarget.inline : TextTarget.nothing;
            return;
        }
        return;
      }
      if (nameTo - nameFrom !== 3 && nameTo - nameFrom !== 9) return;
      switch (tag.name) {
        case 'row':
          startRow(tag);
          if (empty) finishRow();
          return scan.skim;
        case 'rPh':
          if (!empty) phonetic++;
          return;
        case 'mergeCell': {
          const range = rangeOf(tag.attributes().get('ref') ?? '');
          if (!range) return;
          scan.mergeCount++;
          if (scan.mergedRanges.length < MAX_MERGES) scan.mergedRanges.push(range);
          return;
        }
        case 'col': {
          const attributes = tag.attributes();
          if (/^(?:1|true)$/.test(attributes.get('hidden') ?? '')) {
            const last = Math.min(Number(attributes.get('max')), limits.columns);
            const found = Math.max(0, last - Number(attributes.get('min')) + 1) || 0;
            scan.hiddenColumns = Math.min(limits.columns, scan.hiddenColumns + found);
          }
        }
      }
      return;
    },
    close(tag) {
      target = TextTarget.nothing;
      const length = tag.nameTo - tag.nameFrom;
      if (length === 1) {
        if (inCell && tag.bytes[tag.nameFrom] === C) {
          inCell = false;
          finishCell();
        }
      } else if (length === 3 && (inRow || phonetic > 0)) {
        if (tag.name === 'rPh') phonetic = Math.max(0, phonetic - 1);
        else if (inRow && tag.name === 'row') finishRow();
      }
    },
    text(bytes, from, to, form) {
      if (target === TextTarget.nothing) return;
      // What is longer than a cell may be is a fault of it; no more is held.
      if (target === TextTarget.formula) {
        if (formula!.length <= limits.cellCharacters) formula += xmlText(bytes, from, to, form);
      } else if (type === 's' && sharedIndex < 0 && text === '' && isNumber(bytes, from, to)) {
        sharedIndex = integerOf(bytes, from, to);
      } else if (text.length <= limits.cellCharacters) {
        if (sharedIndex >= 0) text = `${sharedIndex}`;
        sharedIndex = -1;
        const piece = xmlText(bytes, from, to, form);
        text = text === '' ? piece : text + piece;
        if (form !== TextForm.plain) clean = false;
      }
    },
  });

  return Object.assign(scan, scanner);
}

/** 0-based column of a cell reference such as `AB12`; `otherwise` where it names none. */
function columnOf(bytes: Buffer, from: number, to: number, otherwise: number): number {
  let column = 0;
  for (let i = from; i < to; i++) {
    const letter = bytes[i]! & 0xdf;
    if (letter < 0x41 || letter > 0x5a) break;
    column = column * 26 + (letter - 0x40);
  }
  return column > 0 ? column - 1 : otherwise;
}

/** Whether all of up to ten bytes are digits. */
function isNumber(bytes: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i]! < 0x30 || bytes[i]! > 0x39) return false;
  return to > from && to - from <= 10;
}

function integerOf(bytes: Buffer, from: number, to: number): number {
  let number = 0;
  for (let i = from; i < to; i++) number = number * 10 + (bytes[i]! - 0x30);
  return number;
}
