import { Decimal } from '../../model/decimal.js';
import type { Cell } from '../../model/row.js';
import type { CellFormat } from '../xlsx/workbook.js';
import { dateOfSerial, isoText, serialOfIso } from './serial-date.js';

/** Numbers that are already in the form wanted, as long as they have at most 15 digits. */
const PLAIN = /^(?:[1-9]\d*|0)(?:\.\d*[1-9])?$/;
const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/;

/**
 * A stored number in plain decimal notation with 15 significant digits, as many as spreadsheet programs keep; the
 * noise of binary fractions (4.1000000000000005) goes. Undefined for text that is no finite number.
 */
export function numberText(raw: string): string | undefined {
  if (raw.length <= 15 && PLAIN.test(raw)) return raw;
  if (!NUMBER.test(raw)) return undefined;
  const value = Number(raw);
  return Number.isFinite(value) ? Decimal.parse(value.toPrecision(15))?.text : undefined;
}

export interface NumberReader {
  /** A number as it is stored, with the style of its cell. */
  read(raw: string, style: number): Cell;
  /** A whole number of up to 9 digits. */
  integer(value: number, style: number): Cell;
}

/** Both caches together hold at most this many cells, whatever the workbook has of styles and values. */
const CACHE = 16_384;
/** Larger whole numbers without a format (ids) come once; making a cell of them is cheap. */
const SMALL = 4_096;

/** Turns stored numbers into cells by style. Cells of formatted and of whole numbers are cached: they come again. */
export function createNumberReader(formats: readonly CellFormat[], date1904: boolean): NumberReader {
  const integers = new Int32Array(CACHE).fill(-1);
  const styles = new Int32Array(CACHE);
  const cells = new Array<Cell>(CACHE).fill('');
  let texts = new Map<number, Map<string, Cell>>();
  let kept = 0;

  function read(raw: string, style: number): Cell {
    const format = formats[style];
    if (format?.code === undefined) {
      const value = numberText(raw);
      return value === undefined ? raw : { t: 'n', value, shown: value };
    }
    let cache = texts.get(style);
    let cell = cache?.get(raw);
    if (cell !== undefined) return cell;
    cell = formatted(raw, format.code, format, date1904);
    if (kept++ >= CACHE) {
      texts = new Map();
      kept = 1;
      cache = undefined;
    }
    if (!cache) {
      cache = new Map();
      texts.set(style, cache);
    }
    cache.set(raw, cell);
    return cell;
  }

  return {
    read,
    integer(value, style) {
      if (value >= SMALL && formats[style]?.code === undefined) {
        const text = String(value);
        return { t: 'n', value: text, shown: text };
      }
      const slot = (value + style * 0x9e5) & (CACHE - 1);
      if (integers[slot] === value && styles[slot] === style) return cells[slot]!;
      const cell = read(String(value), style);
      integers[slot] = value;
      styles[slot] = style;
      cells[slot] = cell;
      return cell;
    },
  };
}

function formatted(raw: string, code: string, { format }: CellFormat, date1904: boolean): Cell {
  const value = numberText(raw);
  if (value === undefined) return raw;
  const shown = format.show(value, date1904);
  const date = format.kind === 'date' ? dateOfSerial(Number(raw), date1904) : undefined;
  // A number that is no day of the calendar stays a number; the field it goes to says what is wrong with it.
  return date ? { t: 'd', value: isoText(date), shown, format: code } : numberCell(value, shown, code);
}

/** A zero that its format hides (`0;-0;;@`, `#,###`) is what whoever looks at the sheet takes it for: a blank cell. */
export function numberCell(value: string, shown: string, format: string | undefined): Cell {
  if (value === '0' && shown === '') return '';
  return format === undefined ? { t: 'n', value, shown } : { t: 'n', value, shown, format };
}

/** A cell of type `d`: ISO 8601 text, with or without a time; other text is undefined. */
export function isoCell(raw: string, format: CellFormat | undefined): Cell | undefined {
  const match = /^(\d{4}-\d\d-\d\d)(?:T((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d))?(?:\.\d+)?Z?)?$/.exec(raw.trim());
  if (!match) return undefined;
  const time = match[2] ? `${match[2]}:${match[3] ?? '00'}` : '00:00:00';
  const value = time === '00:00:00' ? match[1]! : `${match[1]}T${time}`;
  const serial = serialOfIso(value);
  if (serial === undefined) return undefined;
  if (format?.format.kind !== 'date' || format.code === undefined)
    return { t: 'd', value, shown: value.replace('T', ' ') };
  return { t: 'd', value, shown: format.format.show(numberText(String(serial)) ?? value, false), format: format.code };
}
