import { format, getFormatFromId, getFormatInfo, isValidFormat } from 'numfmt';
import { memoize } from '../memoize.js';
import { type NumberFormat, OFFSET_1904, serialToIso } from './cell-value.js';

/**
 * Number format codes of spreadsheet programs: whether a code makes a number a date, and the text a person sees. The library
 * `numfmt` shows numbers as Excel does, with English names.
 *
 * Departures from what is on the screen, for the sake of values that are read on: General shows every digit of a long number,
 * the short date of the locale (14) shows as `yyyy-MM-dd`, because the file does not tell the locale, and what is no day of
 * the calendar, or has a code that cannot be read, shows as the number it is.
 */

/** A format code, compiled once. */
export const numberFormat = memoize(compile, 5_000);

const identity = (decimal: string) => decimal;

/** Colours and the like, and the language of names: those are English, and marks are those of the code. */
const IGNORED_SECTION = /\[(?![$<>=]|h+\]|m+\]|s+\])[^\]]*\]/gi;
const CURRENCY = /\[\$((?:(?!-[\da-z,-]*\])[^\]])*)[^\]]*\]/gi;

function compile(rawCode: string): NumberFormat {
  const plain = { isDate: false, code: rawCode, toText: identity };
  // B1 and B2 choose the calendar of the text, Gregorian or Hijri; the date is the same.
  const code = rawCode
    .slice(0, 255)
    .trim()
    .replace(/^B[12](?=[dmyhsgDMYHSG[])/, '');
  const pattern =
    code === 'mm-dd-yy'
      ? 'yyyy-mm-dd'
      : code.replace(IGNORED_SECTION, '').replace(CURRENCY, (_, sign: string) => (sign === '' ? '' : `"${sign}"`));
  if (/^(?:general)?$/i.test(pattern)) return { ...plain, code: undefined };
  if (pattern === '@' || !isValidFormat(pattern)) return plain;
  const { type } = getFormatInfo(pattern);
  if (type === 'fraction') return plain;
  const isDate = type === 'date' || type === 'datetime';
  return {
    isDate,
    code: rawCode,
    toText(decimal, date1904) {
      const value = Number(decimal);
      if (isDate && serialToIso(value, date1904) === undefined) return decimal;
      // The library counts the parts of a negative length of time from the wrong end.
      if (value < 0 && /\[[hms]+\]/i.test(pattern)) return `-${format(pattern, -value, FORMAT_OPTIONS).trim()}`;
      return format(pattern, isDate && date1904 ? value + OFFSET_1904 : value, FORMAT_OPTIONS).trim();
    },
  };
}

const FORMAT_OPTIONS = { locale: 'en', dateErrorNumber: false, throws: false } as const;

/** Where the library has the codes of the United States for those that follow the locale, or are East Asian. */
const OVERRIDES: Readonly<Record<number, string>> = {
  14: 'mm-dd-yy',
  22: 'm/d/yy h:mm',
};
const EAST_ASIAN_DATES = new Set([27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58]);
const EAST_ASIAN_TIMES = new Set([32, 33, 34, 35, 55, 56]);
const LAST_BUILT_IN = 49;

/** The code of a format that files name by number only; undefined for a number that has none. */
export function builtInCode(id: number): string | undefined {
  // What they look like differs by country; what matters is that they are dates, or times.
  if (EAST_ASIAN_DATES.has(id)) return 'yyyy\\-mm\\-dd';
  if (EAST_ASIAN_TIMES.has(id)) return 'h:mm:ss';
  return id <= LAST_BUILT_IN ? (OVERRIDES[id] ?? getFormatFromId(id) ?? undefined) : undefined;
}
