import { format, getFormatInfo, isValidFormat } from 'numfmt';
import { dateOfSerial, SYSTEM_1904 } from './serial-date.js';

/**
 * Number format codes of spreadsheet programs: whether a code makes a number a date, and the text a person sees. The library
 * `numfmt` shows numbers as Excel does, with English names.
 *
 * Departures from what is on the screen, for the sake of values that are read on: General shows every digit of a long number,
 * the short date of the locale (14) shows as `yyyy-MM-dd`, because the file does not tell the locale, and what is no day of
 * the calendar, or has a code that cannot be read, shows as the number it is.
 */
export interface NumberFormat {
  /** `date`: a calendar date, with or without time; `time` and durations are numbers. */
  readonly kind: 'general' | 'number' | 'date' | 'text';
  /** Undefined for General. */
  readonly code: string | undefined;
  /** The text a person sees. `decimal`: the number in plain decimal notation. */
  show(decimal: string, date1904: boolean): string;
}

const compiled = new Map<string, NumberFormat>();

/** A format code, compiled once. */
export function numberFormat(code: string): NumberFormat {
  let found = compiled.get(code);
  if (!found) {
    const compiledCode = compile(code.slice(0, 255));
    found = { ...compiledCode, code: compiledCode.kind === 'general' ? undefined : code };
    if (compiled.size < 5_000) compiled.set(code, found);
  }
  return found;
}

const asItIs = (decimal: string) => decimal;

/** Colours and the like, and the language of names: those are English, and marks are those of the code. */
const ASIDE = /\[(?![$<>=]|h+\]|m+\]|s+\])[^\]]*\]/gi;
const CURRENCY = /\[\$((?:(?!-[\da-z,-]*\])[^\]])*)[^\]]*\]/gi;

function compile(given: string): Omit<NumberFormat, 'code'> {
  // B1 and B2 choose the calendar of the text, Gregorian or Hijri; the date is the same.
  const code = given.trim().replace(/^B[12](?=[dmyhsgDMYHSG[])/, '');
  if (code === '' || /^general$/i.test(code)) return { kind: 'general', show: asItIs };
  if (code === '@') return { kind: 'text', show: asItIs };
  const pattern =
    code === 'mm-dd-yy'
      ? 'yyyy-mm-dd'
      : code.replace(ASIDE, '').replace(CURRENCY, (_, sign: string) => (sign === '' ? '' : `"${sign}"`));
  if (!isValidFormat(pattern)) return { kind: 'number', show: asItIs };
  const { type } = getFormatInfo(pattern);
  const isDay = type === 'date' || type === 'datetime';
  if (type === 'fraction') return { kind: 'number', show: asItIs };
  return {
    kind: isDay ? 'date' : 'number',
    show(decimal, date1904) {
      const value = Number(decimal);
      if (isDay && !dateOfSerial(value, date1904)) return decimal;
      return format(pattern, isDay && date1904 ? value + SYSTEM_1904 : value, SHOWN).trim();
    },
  };
}

const SHOWN = { locale: 'en', dateErrorNumber: false, throws: false } as const;

/** Codes that files name by number only. Those from 27 on are East Asian; what matters is that they are dates. */
const BUILT_IN: Readonly<Record<number, string>> = {
  0: 'General',
  1: '0',
  2: '0.00',
  3: '#,##0',
  4: '#,##0.00',
  5: '"$"#,##0_);\\("$"#,##0\\)',
  6: '"$"#,##0_);[Red]\\("$"#,##0\\)',
  7: '"$"#,##0.00_);\\("$"#,##0.00\\)',
  8: '"$"#,##0.00_);[Red]\\("$"#,##0.00\\)',
  9: '0%',
  10: '0.00%',
  11: '0.00E+00',
  12: '# ?/?',
  13: '# ??/??',
  14: 'mm-dd-yy',
  15: 'd-mmm-yy',
  16: 'd-mmm',
  17: 'mmm-yy',
  18: 'h:mm AM/PM',
  19: 'h:mm:ss AM/PM',
  20: 'h:mm',
  21: 'h:mm:ss',
  22: 'm/d/yy h:mm',
  37: '#,##0_);\\(#,##0\\)',
  38: '#,##0_);[Red]\\(#,##0\\)',
  39: '#,##0.00_);\\(#,##0.00\\)',
  40: '#,##0.00_);[Red]\\(#,##0.00\\)',
  41: '_(* #,##0_);_(* \\(#,##0\\);_(* "-"_);_(@_)',
  42: '_("$"* #,##0_);_("$"* \\(#,##0\\);_("$"* "-"_);_(@_)',
  43: '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)',
  44: '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)',
  45: 'mm:ss',
  46: '[h]:mm:ss',
  47: 'mm:ss.0',
  48: '##0.0E+0',
  49: '@',
};
const EAST_ASIAN_DATES = new Set([27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58]);
const EAST_ASIAN_TIMES = new Set([32, 33, 34, 35, 55, 56]);

/** The code of a built-in format; undefined for a number that has none. */
export function builtInCode(id: number): string | undefined {
  if (EAST_ASIAN_DATES.has(id)) return 'yyyy\\-mm\\-dd';
  if (EAST_ASIAN_TIMES.has(id)) return 'h:mm:ss';
  return BUILT_IN[id];
}
