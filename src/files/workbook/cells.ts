import { escapeFormula } from '../formula.js';
import { serialOfIso } from '../number/serial-date.js';
import { columnName } from '../table/header.js';
import { isDecimalText, isIntegerText } from '../table-form.js';
import { type CellKind, type ColumnStyles, columnStyles, MONEY_SCALE, type Tone } from './styles.js';
import { clipped, textElement } from './xml-text.js';

/** UTF-16 units of a cell; the limit of spreadsheet programs. */
const CELL_CHARACTERS = 32_767;

/** Digits of a number that spreadsheet programs keep; a longer one is written as text, because they would change it. */
const KEPT_DIGITS = 15;

/** Longer ones are beyond the range of a double, or nearly. */
const NUMBER_CHARACTERS = 60;

/** 1900-03-01: earlier serials mean different days to different programs, because of a 29 February that never was. */
const FIRST_SERIAL = 61;

/** A point in time in UTC; fractions of a second are not shown. */
const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** Writes the cells of one column. */
export interface CellWriter {
  /** The XML of a cell; `''` for a blank one. `row`: its row number as text. */
  write(text: string, row: string): string;
}

/** What the cells of a row tell beside their XML. */
export interface CellNews {
  /** Most lines of a text since somebody set it. */
  lines: number;
  /** Called with the reference (`C17`) and heading of each text that is cut. */
  shortened(cell: string, heading: string): void;
}

/** What a cell writer is told of its column. */
export interface CellColumn {
  readonly heading: string;
  readonly kind: CellKind;
}

/**
 * A writer for the column at a 0-based position. Values with the form of the column's kind become numbers, dates and
 * booleans with a format that shows every digit, everything else text.
 */
export function cellWriter(column: CellColumn, index: number, news: CellNews, tone: Tone): CellWriter {
  const styles = columnStyles(column.kind, tone);
  const name = columnName(index);
  const open = `<c r="${name}`;
  const plain = `" s="${styles.text}" t="inlineStr"><is>`;
  const special = (text: string) => {
    const lines = text.includes('\n') ? text.split('\n').length : 1;
    if (lines > news.lines) news.lines = lines;
    const quoted = looksLikeFormula(text);
    if (lines > 1) return `" s="${quoted ? styles.quotedLines : styles.lines}" t="inlineStr"><is>`;
    return quoted ? `" s="${styles.quoted}" t="inlineStr"><is>` : plain;
  };
  const asText = (text: string, row: string) => {
    let kept = text;
    if (text.length > CELL_CHARACTERS) {
      kept = clipped(text, CELL_CHARACTERS);
      news.shortened(name + row, column.heading);
    }
    return `${open}${row}${isOrdinary(text) ? plain : special(kept)}${textElement(kept)}</is></c>`;
  };
  const value = valueWriter(column, styles);
  if (!value) return { write: (text, row) => (text === '' ? '' : asText(text, row)) };
  return {
    write(text, row) {
      if (text === '') return '';
      const rest = value(text);
      return rest === undefined ? asText(text, row) : open + row + rest;
    },
  };
}

/** A point in time as a serial number, to the millisecond; undefined for other text. */
function instantSerial(text: string): string | undefined {
  const serial = INSTANT.test(text) ? serialOfIso(text.slice(0, 19)) : undefined;
  return serial === undefined || serial < FIRST_SERIAL ? undefined : serial.toFixed(8);
}

type Value = (text: string) => string | undefined;

/** What follows the reference of a typed cell; undefined for text. No function where the kind is written as text. */
function valueWriter({ kind }: CellColumn, styles: ColumnStyles): Value | undefined {
  const number = (style: number, text: string) => `" s="${style}"><v>${text}</v></c>`;
  switch (kind) {
    case 'text':
    case 'id':
    case 'json':
      return undefined;
    case 'number':
    case 'count':
    case 'integer':
      return (text) => (isIntegerText(text) && isKept(text) ? number(styles.value, text) : undefined);
    case 'decimal':
      // General shows no zeros at the end: a text that has them would lose them.
      return (text) =>
        isDecimalText(text) && isKept(text) && !(text.includes('.') && text.endsWith('0'))
          ? number(styles.value, text)
          : undefined;
    case 'money':
      return (text) => {
        if (!isDecimalText(text) || !isKept(text)) return undefined;
        const point = text.indexOf('.');
        const scale = point < 0 ? 0 : text.length - point - 1;
        if (scale > MONEY_SCALE) return undefined;
        return number(scale <= 2 ? styles.value : styles.moneyOfScale(scale), text);
      };
    case 'day':
    case 'date':
      return remembered((text) => {
        const serial = text.length === 10 ? serialOfIso(text) : undefined;
        return serial === undefined || serial < FIRST_SERIAL ? undefined : number(styles.value, String(serial));
      });
    case 'instant':
      return (text) => {
        const serial = instantSerial(text);
        return serial === undefined ? undefined : number(styles.value, serial);
      };
    case 'boolean': {
      const boolean = (digit: string) => `" s="${styles.value}" t="b"><v>${digit}</v></c>`;
      return (text) => (text === 'true' ? boolean('1') : text === 'false' ? boolean('0') : undefined);
    }
  }
}

/** Whether a spreadsheet program keeps every digit of a number. Zeros at the ends of a fraction are no digits. */
function isKept(text: string): boolean {
  if (text.length <= KEPT_DIGITS) return true;
  if (text.length > NUMBER_CHARACTERS) return false;
  let digits = text.replace('-', '');
  if (digits.includes('.')) digits = digits.replace(/0+$/, '').replace('.', '');
  return digits.replace(/^0+/, '').length <= KEPT_DIGITS;
}

const REMEMBERED = 4_096;

/** The same dates come again and again. */
function remembered(of: Value): Value {
  const known = new Map<string, string | undefined>();
  return (text) => {
    let value = known.get(text);
    if (value === undefined && !known.has(text)) {
      value = of(text);
      if (known.size >= REMEMBERED) known.clear();
      known.set(text, value);
    }
    return value;
  };
}

/** Text of one line that begins with a letter or digit, as most do. */
function isOrdinary(text: string): boolean {
  const first = text.charCodeAt(0) | 0x20;
  return ((first >= 0x61 && first <= 0x7a) || (first >= 0x30 && first <= 0x39)) && !text.includes('\n');
}

/** Text that a program would run when somebody edits the cell, or whose apostrophe it would take for its own mark. */
export function looksLikeFormula(text: string): boolean {
  return text.startsWith("'") || (!/^[\p{L}\p{N}]/u.test(text) && escapeFormula(text) !== text);
}
