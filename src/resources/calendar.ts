import type { DateOrder } from './spec.js';

/** Calendar dates as text `yyyy-MM-dd`; no time zones, no instants. */

export const MONTHS = [
  'january',
  'february',
  'march',
  'april',
  'may',
  'june',
  'july',
  'august',
  'september',
  'october',
  'november',
  'december',
] as const;

const DAY_MS = 86_400_000;

function daysInMonth(year: number, month: number): number {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28;
  return [4, 6, 9, 11].includes(month) ? 30 : 31;
}

/** `yyyy-MM-dd`, or undefined where the calendar has no such day. */
export function calendarDate(year: number, month: number, day: number): string | undefined {
  if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1 || day > daysInMonth(year, month)) return undefined;
  return `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
}

/** Whether the text is a date that exists, in the form `yyyy-MM-dd`. Asked for every date of every row, so digit by digit. */
export function isCalendarDate(text: string): boolean {
  if (text.length !== 10 || text[4] !== '-' || text[7] !== '-') return false;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  return year >= 1 && month >= 1 && month <= 12 && day >= 1 && (day <= 28 || day <= daysInMonth(year, month));
}

/** NaN where they are none: it compares as no number at all. */
function twoDigits(text: string, at: number): number {
  const tens = text.charCodeAt(at) - 0x30;
  const ones = text.charCodeAt(at + 1) - 0x30;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

/** Days from one calendar date to another; both must be `yyyy-MM-dd`. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS);
}

/** 1–12 for an English month name or its abbreviation; undefined otherwise. */
function monthOf(word: string): number | undefined {
  const lower = word.toLowerCase();
  if (lower === 'sept') return 9;
  const at = MONTHS.findIndex((month) => month === lower || (lower.length === 3 && month.startsWith(lower)));
  return at < 0 ? undefined : at + 1;
}

/** `T09:30:00Z`, ` 09:30:00.123+02:00`, `, 9:30 AM` after a date. */
const TIME = String.raw`(?:(?:T|,?\s+(?:at\s+)?)\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:\s*[AaPp]\.?[Mm]\.?)?\s*(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})?)?`;
const WEEKDAY = String.raw`(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s+)?`;

const YEAR_FIRST = new RegExp(String.raw`^(\d{4})([-/.])(\d{1,2})\2(\d{1,2})${TIME}$`);
const COMPACT = /^(\d{4})(\d{2})(\d{2})$/;
const DAY_MONTH_YEAR = new RegExp(
  String.raw`^${WEEKDAY}(\d{1,2})(?:st|nd|rd|th)?[\s-]+([a-z]{3,9})\.?,?[\s-]+(\d{4})${TIME}$`,
  'i',
);
const MONTH_DAY_YEAR = new RegExp(
  String.raw`^${WEEKDAY}([a-z]{3,9})\.?[\s-]+(\d{1,2})(?:st|nd|rd|th)?,?[\s-]+(\d{4})${TIME}$`,
  'i',
);
const NUMERIC = new RegExp(String.raw`^(\d{1,2})([-/.])(\d{1,2})\2(\d{4})${TIME}$`);

/**
 * A date of a response as `yyyy-MM-dd`. The interface does not show the format (section 2.1), so every form that
 * can mean only one day is read; a time part is dropped, never converted. Undefined: no date, or day and month
 * could be exchanged and the order in which the service writes them is not known.
 */
export function readDate(source: string, order?: DateOrder): string | undefined {
  const text = source.trim();
  if (isCalendarDate(text)) return text;
  if (text.length > 60) return undefined;
  let match = YEAR_FIRST.exec(text);
  if (match) return calendarDate(Number(match[1]), Number(match[3]), Number(match[4]));
  match = COMPACT.exec(text);
  if (match) return calendarDate(Number(match[1]), Number(match[2]), Number(match[3]));
  match = DAY_MONTH_YEAR.exec(text);
  if (match) return calendarDate(Number(match[3]), monthOf(match[2] ?? '') ?? 0, Number(match[1]));
  match = MONTH_DAY_YEAR.exec(text);
  if (match) return calendarDate(Number(match[3]), monthOf(match[1] ?? '') ?? 0, Number(match[2]));
  const [dayFirst, monthFirst] = numericReadings(text);
  if (!dayFirst || !monthFirst || dayFirst === monthFirst) return dayFirst ?? monthFirst;
  if (order === undefined) return undefined;
  return order === 'dmy' ? dayFirst : monthFirst;
}

/** What one date of a response tells about the order of all: `either` where day and month could be exchanged. */
export function dateOrderOf(source: string): DateOrder | 'either' | undefined {
  if (source.length > 60) return undefined;
  const [dayFirst, monthFirst] = numericReadings(source.trim());
  if (dayFirst === monthFirst) return undefined;
  if (dayFirst && monthFirst) return 'either';
  return dayFirst ? 'dmy' : 'mdy';
}

/** The days that `03/04/2024` means with the day first, and with the month first. */
function numericReadings(text: string): readonly [string | undefined, string | undefined] {
  const match = NUMERIC.exec(text);
  if (!match) return [undefined, undefined];
  const [a, b, year] = [Number(match[1]), Number(match[3]), Number(match[4])];
  return [calendarDate(year, b, a), calendarDate(year, a, b)];
}
