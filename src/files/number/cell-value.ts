import { Decimal } from '../../model/decimal.js';
import type { Cell } from '../../model/row.js';
import { memoize } from '../memoize.js';

/** Serial numbers of spreadsheet programs ⇄ calendar dates as text. Days are counted in UTC; no time zone is ever involved. */

/** Serial number of 1970-01-01 in the 1900 system, from 1 March 1900 on. */
const UNIX_SERIAL = 25_569;
/** Days that the 1904 system counts from later. */
export const OFFSET_1904 = 1_462;
const LAST_SERIAL = 2_958_465;
/** Seconds of a day. */
const DAY_SECONDS = 86_400;

/**
 * The calendar date of a serial number as `yyyy-MM-dd`, with `THH:mm:ss` where the time, to the second, is not midnight.
 * Undefined where there is none: negative numbers, day 0 and the 29 February 1900 of the 1900 system (which that system counts
 * though it never was), years above 9999.
 */
export function serialToIso(serial: number, date1904: boolean): string | undefined {
  const whole = Math.floor(serial);
  const seconds = Math.round((serial - whole) * DAY_SECONDS);
  const day = whole + Math.floor(seconds / DAY_SECONDS) + (date1904 ? OFFSET_1904 : 0);
  if (!(day >= (date1904 ? OFFSET_1904 : 1)) || day > LAST_SERIAL || (!date1904 && day === 60)) return undefined;
  const days = (day < 60 ? day + 1 : day) - UNIX_SERIAL;
  const text = new Date((days * DAY_SECONDS + (seconds % DAY_SECONDS)) * 1_000).toISOString();
  return text.slice(0, seconds % DAY_SECONDS === 0 ? 'yyyy-MM-dd'.length : 'yyyy-MM-ddTHH:mm:ss'.length);
}

/** The serial number (1900 system) of `yyyy-MM-dd` or `yyyy-MM-ddTHH:mm:ss`; undefined for other text. */
export function isoToSerial(text: string): number | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d))?$/.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1).map((part) => Number(part ?? 0));
  const date = new Date(0);
  date.setUTCFullYear(year!, month! - 1, day!);
  if (date.getUTCMonth() !== month! - 1 || date.getUTCDate() !== day) return undefined;
  let serial = Math.floor(date.getTime() / 86_400_000) + UNIX_SERIAL;
  if (serial <= 60) serial--;
  return serial + ((hour ?? 0) * 3600 + (minute ?? 0) * 60 + (second ?? 0)) / DAY_SECONDS;
}

/** How a cell shows its number. */
export interface NumberFormat {
  /** Shows a calendar date, with or without time; times of day and durations are numbers. */
  readonly isDate: boolean;
  /** Undefined for General. */
  readonly code: string | undefined;
  /** The text a person sees. `decimal`: the number in plain decimal notation. */
  toText(decimal: string, date1904: boolean): string;
}

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

/** Cells that are kept, whatever the workbook has of styles and values. */
const CACHE = 16_384;

/** Turns numbers as they are stored into cells, by the style of the cell. Formatted ones are kept: they come again. */
export function createNumberReader(formats: readonly NumberFormat[], date1904: boolean) {
  const cachedCell = memoize((key) => {
    const at = key.indexOf(' ');
    return formatCell(key.slice(at + 1), formats[Number(key.slice(0, at))]!, date1904);
  }, CACHE);
  return (raw: string, style: number): Cell => {
    if (formats[style]?.code !== undefined) return cachedCell(`${style} ${raw}`);
    const value = numberText(raw);
    return value === undefined ? raw : { t: 'n', value, shown: value };
  };
}

function formatCell(raw: string, format: NumberFormat, date1904: boolean): Cell {
  const value = numberText(raw);
  if (value === undefined) return raw;
  const shown = format.toText(value, date1904);
  const date = format.isDate ? serialToIso(Number(raw), date1904) : undefined;
  // A number that is no day of the calendar stays a number; the field it goes to says what is wrong with it.
  return date === undefined
    ? numberCell(value, shown, format.code)
    : { t: 'd', value: date, shown, format: format.code! };
}

/** A zero that its format hides (`0;-0;;@`, `#,###`) is what whoever looks at the sheet takes it for: a blank cell. */
export function numberCell(value: string, shown: string, format: string | undefined): Cell {
  if (value === '0' && shown === '') return '';
  return format === undefined ? { t: 'n', value, shown } : { t: 'n', value, shown, format };
}

/** A cell of type `d`: ISO 8601 text, with or without a time; other text is undefined. */
export function isoCell(raw: string, format: NumberFormat | undefined): Cell | undefined {
  const match = /^(\d{4}-\d\d-\d\d)(?:T((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d))?(?:\.\d+)?Z?)?$/.exec(raw.trim());
  if (!match) return undefined;
  const time = match[2] ? `${match[2]}:${match[3] ?? '00'}` : '00:00:00';
  const value = time === '00:00:00' ? match[1]! : `${match[1]}T${time}`;
  const serial = isoToSerial(value);
  if (serial === undefined) return undefined;
  if (!format?.isDate) return { t: 'd', value, shown: value.replace('T', ' ') };
  return { t: 'd', value, shown: format.toText(numberText(String(serial)) ?? value, false), format: format.code! };
}

// Whether the text of a cell has the form of its kind (`model/table.ts`). What does not is written as text, so that no format
// changes it.

/** `-0` is no canonical number: as a number it would come back as `0`. */
export const isIntegerText = (text: string): boolean => /^(?:-(?!0$))?(?:0|[1-9]\d*)$/.test(text);

export const isDecimalText = (text: string): boolean => /^(?:-(?!0(?:\.0*)?$))?(?:0|[1-9]\d*)(?:\.\d+)?$/.test(text);
