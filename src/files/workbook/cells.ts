import { shorten } from '../../model/control-characters.js';
import { type Cell, SPREADSHEET_ERRORS } from '../../model/row.js';
import type { TableKind } from '../../model/table.js';
import { escapeFormula } from '../formula.js';
import { memoize } from '../memoize.js';
import { isDecimalText, isIntegerText, isoToSerial, numberText } from '../number/cell-value.js';
import { columnName } from '../table/cell-range.js';
import { DATE, type Look, MONEY, type Styles, TEXT, TONES, type Tone } from './styles.js';
import { CELL_CHARACTERS, escapeXml, textElement } from './xml.js';

/** Kinds of the columns of a workbook: those of tables, and `cell`: whatever a reader has handed over, as it was. */
export type CellKind = TableKind | 'cell';

/** The XML of a cell, never of a blank one. `row`: its row number as text. */
export type CellWriter = (cell: Cell, row: string) => string;

/** What the cells of a row tell beside their XML. */
export interface CellReport {
  /** Most lines of a text since somebody set it. */
  lines: number;
  /** Called with the 0-based column and the row of each text that is cut to what a cell can hold. */
  shortened(column: number, row: string): void;
}

/** Most digits after the point that a money format shows; a number with more is written as text. */
const MONEY_SCALE = 15;

/** Digits of a number that spreadsheet programs keep; a longer one is written as text, because they would change it. */
const MAX_DIGITS = 15;

/** Longer ones are beyond the range of a double, or nearly. */
const NUMBER_CHARACTERS = 60;

/** 1900-03-01: earlier serials mean different days to different programs, because of a 29 February that never was. */
const FIRST_SERIAL = 61;

/** Dates whose cells are kept, and formats whose styles are. */
const CACHE_SIZE = 4_096;

/** Looks of values by kind. General shows every digit of a number; LibreOffice shows booleans as 1 and 0 in some places without a format. */
const VALUES: Readonly<Record<Exclude<CellKind, 'cell'>, Look>> = {
  text: { format: TEXT },
  id: { format: TEXT },
  json: { format: TEXT },
  integer: { format: '0' },
  decimal: {},
  money: { format: MONEY },
  date: { format: DATE },
  boolean: { format: '"TRUE";"TRUE";"FALSE"', horizontal: 'center' },
};

/** The look of a value with the form of its kind: also that of the blank cells of its column. */
export function valueLook(kind: CellKind, tone: Tone, chosen = false): Look {
  return kind === 'cell'
    ? { ...(chosen ? { format: TEXT } : {}), ...TONES[tone] }
    : { ...VALUES[kind], vertical: 'top', ...TONES[tone] };
}

/**
 * A writer for the column at a 0-based position. Values with the form of the column's kind become numbers, dates and
 * booleans with a format that shows every digit, everything else text. `chosen`: texts stay texts when somebody takes another
 * one from the list of the cell, which programs read as if it were typed.
 */
export function cellWriter(
  styles: Styles,
  kind: CellKind,
  index: number,
  tone: Tone,
  report: CellReport,
  chosen = false,
): CellWriter {
  const open = `<c r="${columnName(index)}`;
  const text = textWriter(styles, kind === 'cell' ? {} : { format: TEXT, vertical: 'top' }, index, tone, report);
  if (kind === 'cell') return typedWriter(styles, open, tone, text, chosen);
  const value = valueWriter(styles, kind, tone);
  if (!value) return (cell, row) => text(String(cell), row);
  return (cell, row) => {
    const rest = value(String(cell));
    return rest === undefined ? text(String(cell), row) : open + row + rest;
  };
}

/** `format`: where it is not that of the column. */
type TextWriter = (text: string, row: string, format?: string) => string;

function textWriter(styles: Styles, base: Look, index: number, tone: Tone, report: CellReport): TextWriter {
  const open = `<c r="${columnName(index)}`;
  const variants = new Map<string, number>();
  const styleOf = (format: string, lines: boolean, quoted: boolean) => {
    const key = `${lines}${quoted}${format}`;
    let style = variants.get(key);
    if (style === undefined) {
      style = styles.of({
        ...base,
        ...(format === '' ? {} : { format }),
        ...(lines ? { vertical: 'top' as const, wrapped: true } : {}),
        ...(quoted ? { quoted } : {}),
        ...TONES[tone],
      });
      variants.set(key, style);
    }
    return style;
  };
  const plain = `" s="${styleOf('', false, false)}"`;
  return (text, row, format = '') => {
    let cellText = text;
    if (text.length > CELL_CHARACTERS) {
      cellText = shorten(text, CELL_CHARACTERS);
      report.shortened(index, row);
    }
    if (format === '' && isPlainText(text)) return open + row + plain + textElement(cellText);
    const lines = cellText.includes('\n') ? cellText.split('\n').length : 1;
    if (lines > report.lines) report.lines = lines;
    return `${open}${row}" s="${styleOf(format, lines > 1, looksLikeFormula(cellText))}"${textElement(cellText)}`;
  };
}

/** What follows the reference of a typed cell; undefined for text. No function where the kind is written as text. */
function valueWriter(styles: Styles, kind: Exclude<CellKind, 'cell'>, tone: Tone) {
  const own = styles.of(valueLook(kind, tone));
  const number = (text: string | number, style = own) => `" s="${style}"><v>${text}</v></c>`;
  switch (kind) {
    case 'text':
    case 'id':
    case 'json':
      return undefined;
    case 'integer':
      return (text: string) => (isIntegerText(text) && keepsDigits(text) ? number(text) : undefined);
    case 'decimal':
      // General shows no zeros at the end: a text that has them would lose them.
      return (text: string) =>
        isDecimalText(text) && keepsDigits(text) && !(text.includes('.') && text.endsWith('0'))
          ? number(text)
          : undefined;
    case 'money': {
      const styleOf = memoize(
        (zeros) => styles.of({ ...valueLook(kind, tone), format: `#,##0.${zeros}` }),
        MONEY_SCALE,
      );
      return (text: string) => {
        if (!isDecimalText(text) || !keepsDigits(text)) return undefined;
        const point = text.indexOf('.');
        const scale = point < 0 ? 0 : text.length - point - 1;
        if (scale <= 2) return number(text);
        return scale > MONEY_SCALE ? undefined : number(text, styleOf('0'.repeat(scale)));
      };
    }
    case 'date':
      return memoize((text) => {
        const serial = text.length === 10 ? isoToSerial(text) : undefined;
        return serial === undefined || serial < FIRST_SERIAL ? undefined : number(serial);
      }, CACHE_SIZE);
    case 'boolean':
      return (text: string) =>
        text === 'true' || text === 'false' ? `" s="${own}" t="b"><v>${text === 'true' ? 1 : 0}</v></c>` : undefined;
  }
}

/** Longer text than this is no code. */
const LONGEST_CODE = 100;

/**
 * Codes that a spreadsheet program would turn into something else when somebody corrects a character of them: `00123`, 16
 * digits, `12E3`, `1-2`, `MAR-1`, what begins like a formula. Dates and amounts are not among them, because there the
 * program helps.
 */
const MISREAD_CODE = /^(?:0\d+|\d{12,}|\d+[eE]\d+|\d{1,2}-\d{1,2}|\p{L}{3,9}-?\d{1,2}|[=@].*|[+-]\D.*)$/su;

/** Cells as a reader has handed them over: reading the workbook gives the same ones back. */
function typedWriter(styles: Styles, open: string, tone: Tone, text: TextWriter, chosen: boolean): CellWriter {
  const styleOf = memoize((format) => styles.of({ format, ...TONES[tone] }), CACHE_SIZE);
  const value = (row: string, xml: string, format = 'General', type = '') =>
    `${open}${row}" s="${styleOf(format)}"${type}>${xml}</c>`;
  return (cell, row) => {
    if (typeof cell === 'string') {
      const code = chosen || (cell.length <= LONGEST_CODE && MISREAD_CODE.test(cell));
      return text(cell, row, code ? TEXT : '');
    }
    switch (cell.t) {
      case 'n':
        // A number with more digits than a workbook can hold is kept as text rather than cut.
        return numberText(String(Number(cell.value))) === cell.value
          ? value(row, `<v>${cell.value}</v>`, cell.format)
          : text(cell.value, row);
      case 'd': {
        const serial = isoToSerial(cell.value);
        if (serial === undefined) return text(cell.shown, row);
        return value(row, `<v>${serial}</v>`, cell.format ?? (cell.value.includes('T') ? `${DATE}\\ hh:mm:ss` : DATE));
      }
      case 'b':
        return value(row, `<v>${cell.value ? 1 : 0}</v>`, undefined, ' t="b"');
      case 'e':
        return value(row, `<v>${SPREADSHEET_ERRORS.has(cell.value) ? cell.value : '#VALUE!'}</v>`, undefined, ' t="e"');
      case 'f':
        return value(row, `<f>${escapeXml(cell.formula)}</f>`);
    }
  };
}

/** Whether a spreadsheet program keeps every digit of a number. Zeros at the ends of a fraction are no digits. */
function keepsDigits(text: string): boolean {
  if (text.length <= MAX_DIGITS) return true;
  if (text.length > NUMBER_CHARACTERS) return false;
  let digits = text.replace('-', '');
  if (digits.includes('.')) digits = digits.replace(/0+$/, '').replace('.', '');
  return digits.replace(/^0+/, '').length <= MAX_DIGITS;
}

/** Text of one line that begins with a letter or digit, as most do. */
function isPlainText(text: string): boolean {
  const first = text.charCodeAt(0) | 0x20;
  return ((first >= 0x61 && first <= 0x7a) || (first >= 0x30 && first <= 0x39)) && !text.includes('\n');
}

/** Text that a program would run when somebody edits the cell, or whose apostrophe it would take for its own mark. */
function looksLikeFormula(text: string): boolean {
  return text.startsWith("'") || (!/^[\p{L}\p{N}]/u.test(text) && escapeFormula(text) !== text);
}
