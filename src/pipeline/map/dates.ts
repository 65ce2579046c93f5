import {
  type DateReading,
  fullYear,
  isoDate,
  LONGEST_DATE,
  MONTHS,
  monthByName,
  recogniseDate,
} from '../../resources/calendar.js';
import { type Refusal, refuse } from './cell-text.js';

/** Calendar dates as `yyyy-MM-dd` text; no instant, no time zone, no `Date`. */

/** `2024-02-01` → `1 February 2024`. */
function longDate(iso: string): string {
  const month = MONTHS[Number(iso.slice(5, 7)) - 1] ?? '';
  return `${Number(iso.slice(8, 10))} ${month.charAt(0).toUpperCase()}${month.slice(1)} ${iso.slice(0, 4)}`;
}

/** A stated date format such as `dd/MM/yyyy`, made ready to read cells. */
export interface DateFormat {
  readonly source: string;
  /** Only digits, each token of fixed length, e.g. `yyyyMMdd`: such dates are often typed as numbers. */
  readonly digitsOnly: boolean;
  /** `yyyy-MM-dd`; `no_such_day` where the text fits but the calendar lacks the day; undefined where it does not fit. */
  parse(text: string): string | 'no_such_day' | undefined;
}

const TOKEN = /'[^']*'|yyyy|yy|MMMM|MMM|MM|M|dd|d|HH|H|hh|h|mm|ss|a|\s+|[^A-Za-z]|[A-Za-z]/g;
const MONTH_NAME = '\\p{L}{3,10}\\.?';
/** What each token reads. Two letters mean exactly two digits, one letter one or two. */
const PATTERNS: Readonly<Record<string, { readonly part: string; readonly pattern: string }>> = {
  yyyy: { part: 'year', pattern: '\\d{4}' },
  yy: { part: 'shortYear', pattern: '\\d{2}' },
  MMMM: { part: 'monthName', pattern: MONTH_NAME },
  MMM: { part: 'monthName', pattern: MONTH_NAME },
  MM: { part: 'month', pattern: '\\d{2}' },
  M: { part: 'month', pattern: '\\d{1,2}' },
  dd: { part: 'day', pattern: '\\d{2}' },
  d: { part: 'day', pattern: '\\d{1,2}' },
  HH: { part: 'hour', pattern: '(?:[01]\\d|2[0-3])' },
  H: { part: 'hour', pattern: '(?:1\\d|2[0-3]|0?\\d)' },
  hh: { part: 'half', pattern: '(?:0[1-9]|1[0-2])' },
  h: { part: 'half', pattern: '(?:1[0-2]|0?[1-9])' },
  mm: { part: 'minute', pattern: '[0-5]\\d' },
  ss: { part: 'second', pattern: '[0-5]\\d' },
  a: { part: 'noon', pattern: '[AaPp]\\.?[Mm]\\.?' },
};
/** A midnight that programs append to plain dates; it says nothing and may follow any format without a time. */
const MIDNIGHT = '(?:[T\\s]\\s*(?:0?0:00(?::00(?:\\.0+)?)?|12:00(?::00)?\\s*[Aa][Mm])Z?)?';

/** The format made ready, or in words why it is none. Text in single quotes and the letter T are literal. */
export function compileDateFormat(source: string): DateFormat | string {
  let pattern = '';
  let digitsOnly = true;
  const parts = new Set<string>();
  for (const [token] of source.trim().matchAll(TOKEN)) {
    const rule = PATTERNS[token];
    if (rule) {
      const unit = rule.part.replace('shortYear', 'year').replace('monthName', 'month');
      if (parts.has(unit)) return `\`${token}\` repeats the ${unit}`;
      parts.add(unit);
      const captured = ['year', 'shortYear', 'month', 'monthName', 'day'].includes(rule.part);
      pattern += captured ? `(?<${rule.part}>${rule.pattern})` : rule.pattern;
      digitsOnly &&= /^(yyyy|yy|MM|dd)$/.test(token);
      continue;
    }
    digitsOnly = false;
    if (/^\s/.test(token)) pattern += '\\s+';
    else if (token.startsWith("'") && token.length > 1) pattern += literal(token.slice(1, -1));
    else if (/[A-Za-z]/.test(token) && token !== 'T') {
      return `\`${token}\` is no part of a date format; use yyyy or yy, MMMM, MMM, MM or M, dd or d, HH, H, hh, h, mm, ss, a`;
    } else pattern += literal(token);
  }
  for (const unit of ['year', 'month', 'day']) {
    if (!parts.has(unit))
      return `it lacks the ${unit}${unit === 'month' && parts.has('minute') ? ' (MM; mm are minutes)' : ''}`;
  }
  const timed = parts.has('hour') || parts.has('half');
  const whole = new RegExp(`^${pattern}${timed ? '' : MIDNIGHT}$`, 'u');
  return {
    source,
    digitsOnly,
    parse(text) {
      const found = whole.exec(text.normalize('NFC'))?.groups;
      if (!found) return undefined;
      const month = found['month'] === undefined ? monthByName(found['monthName']!) : Number(found['month']);
      if (month === undefined) return undefined;
      const year = found['year'] === undefined ? fullYear(Number(found['shortYear'])) : Number(found['year']);
      return isoDate(year, month, Number(found['day'])) ?? 'no_such_day';
    },
  };
}

function literal(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}

/** Reads text in the formats the job states, the first that fits. `yyyy-MM-dd`, or why not. */
export function dateInFormats(text: string, formats: readonly DateFormat[]): string | Refusal {
  let noSuchDay = false;
  if (text.length <= LONGEST_DATE) {
    for (const format of formats) {
      const date = format.parse(text);
      if (date === 'no_such_day') noSuchDay = true;
      else if (date !== undefined) return date;
    }
  }
  if (noSuchDay) return missingDay();
  const stated = formats.map(({ source }) => `\`${source}\``).join(', ');
  const timed = /\d:\d\d/.test(text) ? ' A time of day needs its part in the format too, e.g. `M/d/yyyy H:mm:ss`.' : '';
  return refuse(
    'not_a_date',
    `does not fit the date formats the job states (${stated}). Correct the cell, or add its format to \`dates\`.${timed}`,
  );
}

/**
 * Reads text where the job states no format: ISO dates, dates with the month as a word, and numeric dates whose day and month
 * cannot be mixed up. `yyyy-MM-dd`, or why not. What can be read in two ways is never guessed, whatever other cells show: the
 * same cell is the same day in every file.
 */
export function unambiguousDate(written: string): string | Refusal {
  const found = recogniseDate(written);
  if (found === undefined) return unreadable(written);
  if (typeof found === 'string') return found >= '1000' ? found : missingDay();
  return onlyReading(found);
}

function onlyReading(readings: readonly DateReading[]): string | Refusal {
  const [first, ...others] = readings;
  if (!first) return missingDay();
  if (others.length === 0) return first.date;
  const ways = readings.map(({ date, format }) => `${longDate(date)} (\`${format}\`)`).join(' or ');
  return refuse(
    'ambiguous_date',
    `can be read as ${ways}. State the format in the job, e.g. \`source: { dates: [${first.format}] }\`, or write yyyy-MM-dd.`,
  );
}

const missingDay = () => refuse('not_a_date', 'is a day the calendar does not have. Correct the cell.');

/** The days of a spreadsheet's calendar from 1955 to 2064. */
const SERIAL = /^[2-5]\d{4}(?:\.\d+)?$/;

function unreadable(text: string): Refusal {
  if (SERIAL.test(text)) {
    return refuse(
      'not_a_date',
      'is a number. It may be the serial number of a date: format the column as a date in the spreadsheet program before the file is saved, or write yyyy-MM-dd.',
    );
  }
  return refuse(
    'not_a_date',
    'cannot be read as a date. Write yyyy-MM-dd, or state the format in the job (`source: { dates: [dd/MM/yyyy] }`).',
  );
}
