import { Decimal } from '../model/decimal.js';
import type { Cell } from '../model/row.js';
import { dateOfSerial, isoText } from './serial-date.js';
import type { CellFormat } from './xlsx-workbook.js';

/** Numbers that are already in the form wanted, as long as they have at most 15 digits. */
const PLAIN = /^(?:[1-9]\d*|0)(?:\.\d*[1-9])?$/;

/**
 * A stored number in plain decimal notation with 15 significant digits, as many as spreadsheet programs keep; the
 * noise of binary fractions (4.1000000000000005) goes. Undefined for text that is no finite number.
 */
export function numberText(raw: string): string | undefined {
  if (raw.length <= 15 && PLAIN.test(raw)) return raw;
  if (raw === '' || !/^[+-]?[\d.]/.test(raw)) return undefined;
  const value = Number(raw);
  return Number.isFinite(value) ? Decimal.parse(value.toPrecision(15))?.text : undefined;
}

const CACHE = 4_096;

/** Turns stored numbers into cells by style. Cells of formatted numbers are cached: the same dates come again. */
export function createNumberReader(
  formats: readonly CellFormat[],
  date1904: boolean,
): (raw: string, style: number) => Cell {
  const caches: (Map<string, Cell> | undefined)[] = [];
  return (raw, style) => {
    const format = formats[style];
    if (format?.code === undefined) {
      const value = numberText(raw);
      return value === undefined ? raw : { t: 'n', value, shown: value };
    }
    let cache = caches[style];
    if (!cache) {
      cache = new Map();
      caches[style] = cache;
    }
    let cell = cache.get(raw);
    if (cell === undefined) {
      cell = formatted(raw, format.code, format, date1904);
      if (cache.size >= CACHE) cache.clear();
      cache.set(raw, cell);
    }
    return cell;
  };
}

function formatted(raw: string, code: string, { format }: CellFormat, date1904: boolean): Cell {
  const value = numberText(raw);
  if (value === undefined) return raw;
  const shown = format.show(value, date1904);
  const date = format.kind === 'date' ? dateOfSerial(Number(raw), date1904) : undefined;
  // A number that is no day of the calendar stays a number; the field it goes to says what is wrong with it.
  return date ? { t: 'd', value: isoText(date), shown, format: code } : { t: 'n', value, shown, format: code };
}

/** A cell of type `d`: ISO 8601 text, with or without a time; other text is undefined. */
export function isoCell(raw: string, format: CellFormat | undefined): Cell | undefined {
  const match = /^(\d{4}-\d\d-\d\d)(?:T(\d\d:\d\d)(?::(\d\d))?(?:\.\d+)?Z?)?$/.exec(raw.trim());
  if (!match) return undefined;
  const time = match[2] ? `${match[2]}:${match[3] ?? '00'}` : '00:00:00';
  const value = time === '00:00:00' ? match[1]! : `${match[1]}T${time}`;
  return { t: 'd', value, shown: value.replace('T', ' '), ...(format?.code ? { format: format.code } : {}) };
}
