import { fullYear, isoDate } from './calendar.js';
import { monthByName } from './month-names.js';

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
    const known = PATTERNS[token];
    if (known) {
      const unit = known.part.replace('shortYear', 'year').replace('monthName', 'month');
      if (parts.has(unit)) return `\`${token}\` repeats the ${unit}`;
      parts.add(unit);
      const named = ['year', 'shortYear', 'month', 'monthName', 'day'].includes(known.part);
      pattern += named ? `(?<${known.part}>${known.pattern})` : known.pattern;
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
