import type { SheetRow } from '../../model/row.js';
import {
  type DateReading,
  fullYear,
  isoDate,
  LONGEST_DATE,
  MONTHS,
  monthByName,
  recogniseDate,
} from '../../resources/calendar.js';
import { type Refusal, refuse, trimText } from './cell-text.js';
import { excerpt } from './headings.js';

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
 * Reads text where the job states no format: ISO dates, dates with the month as a word, and numeric
 * dates whose day and month cannot be mixed up. `yyyy-MM-dd`, or why not; what can be read in two ways is never guessed.
 *
 * `proven`: the order that the column's other cells prove (`surveyDateOrder`). It decides between two readings; a date that
 * fits only the other order contradicts the proof and is refused.
 */
export function unambiguousDate(written: string, proven?: DateOrders): string | Refusal {
  const found = recogniseDate(written);
  if (found === undefined) return unreadable(written);
  if (typeof found === 'string') return found >= '1000' ? found : missingDay();
  const order = found[0] && proven?.get(notationOf(found[0].format));
  return order ? readInOrder(found, order) : onlyReading(found);
}

/** The ways to read `01/02/2024`; undefined where the text is no such date. */
export function numericReadings(text: string): readonly DateReading[] | undefined {
  const found = recogniseDate(text);
  return typeof found === 'string' ? undefined : found;
}

/** Whether the day or the month comes first, as the cells of a column prove, with the words to say so. */
interface DateOrder {
  readonly first: 'd' | 'M';
  /** As a clause: `39 cells such as "25/12/2024" (row 7) show it`. */
  readonly why: string;
}

/** By way of writing: dates of one mark and one length of the year belong together. */
export type DateOrders = ReadonlyMap<string, DateOrder>;

/** `d/M/yyyy` and `M/d/yyyy` → `//yyyy`: the way of writing, whatever the order. */
function notationOf(format: string): string {
  const [mark = ''] = /[^dMy]/.exec(format) ?? [];
  return `${mark}${mark}${/yyyy|yy/.exec(format)?.[0] ?? ''}`;
}

function readInOrder(readings: readonly DateReading[], { first, why }: DateOrder): string | Refusal {
  const [only] = readings;
  if (!only) return missingDay();
  // Where day and month are the same number, either order gives the day.
  const fits =
    readings.find(({ format }) => format.startsWith(first)) ??
    readings.find(({ date, format }) => format.startsWith('d') && date.slice(5, 7) === date.slice(8));
  if (fits) return fits.date;
  return refuse(
    'ambiguous_date',
    `can be read as ${longDate(only.date)} only, with the ${first === 'd' ? 'month' : 'day'} first, but the ` +
      `${first === 'd' ? 'day' : 'month'} comes first in this column: ${why}. Correct the cell, or state the formats in the job: \`dates: [${only.format}]\`.`,
  );
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

export interface DateSample {
  readonly text: string;
  readonly row: number;
}

/** Fewer cells than these prove nothing: a few dates may have been typed in another way than the rest. */
const MIN_PROOF = 5;
const PROOF_SHARE = 0.1;

/** Dates of one way of writing, e.g. `//yyyy`. */
interface DateGroup {
  count: number;
  /** Cells that can be read in several ways. */
  open: number;
  firstOpen: DateSample | undefined;
  /** By format, the cells that fit it alone. */
  readonly certain: Map<string, { count: number; first: DateSample }>;
}

/** What a look at the first rows said about the dates of a column. */
export interface DateSurvey {
  readonly orders: DateOrders;
  /** What spoke for the orders, one sentence each. */
  readonly evidence: readonly string[];
  readonly warnings: readonly string[];
}

/**
 * Looks at a date column without stated formats. Where at least 5 cells and a tenth of the dates of one way of writing can
 * be read in one order only, such as 25/12/2024, and none in the other, that order is proven for the rest of them.
 * Otherwise dates with two readings are refused, and the warning names the format that other cells show, if any. `before`: what a
 * part of the sample has proven stays so.
 */
export function surveyDateOrder(
  column: { readonly heading: string; readonly index: number },
  sample: readonly SheetRow[],
  before?: DateSurvey,
): DateSurvey {
  const groups = dateGroups(
    sample.flatMap(({ row, cells }) => {
      const cell = cells[column.index];
      return typeof cell === 'string' && cell !== '' ? [{ text: trimText(cell), row }] : [];
    }),
  );
  const orders = new Map(before?.orders);
  const evidence = [...(before?.evidence ?? [])];
  const warnings: string[] = [];
  for (const [notation, group] of groups) {
    if (!group.firstOpen || orders.has(notation)) continue;
    const [only, ...others] = [...group.certain];
    const proven =
      only && others.length === 0 && only[1].count >= MIN_PROOF && only[1].count >= group.count * PROOF_SHARE;
    if (proven && /^[dM]/.test(only[0])) {
      const [format, { count, first }] = only;
      const which = `of ${group.count} dates in the first ${sample.length} rows ${count} can be read in this order only, such as ${cite(first)}, and none in the other`;
      orders.set(notation, { first: format.startsWith('d') ? 'd' : 'M', why: which });
      evidence.push(
        `"${excerpt(column.heading)}": dates such as ${cite(group.firstOpen)} are read as \`${format}\`: ${which}.`,
      );
    } else warnings.push(orderWarning(column.heading, group, group.firstOpen, sample.length));
  }
  return { orders, evidence, warnings };
}

/** Numeric dates by way of writing, and what each shows of the order of day and month. */
export function dateGroups(cells: Iterable<DateSample>): ReadonlyMap<string, DateGroup> {
  const groups = new Map<string, DateGroup>();
  for (const cell of cells) {
    const readings = numericReadings(cell.text);
    const [first] = readings ?? [];
    if (!readings || !first) continue;
    const notation = notationOf(first.format);
    const group = groups.get(notation) ?? { count: 0, open: 0, firstOpen: undefined, certain: new Map() };
    groups.set(notation, group);
    group.count++;
    if (readings.length > 1) {
      group.open++;
      group.firstOpen ??= cell;
    } else if (showsOrder(cell.text)) {
      const certain = group.certain.get(first.format);
      if (certain) certain.count++;
      else group.certain.set(first.format, { count: 1, first: cell });
    }
  }
  return groups;
}

function orderWarning(heading: string, { open, certain }: DateGroup, first: DateSample, rows: number): string {
  const refused = `"${excerpt(heading)}": in ${open} of the first ${rows} rows day and month cannot be told apart, as in ${cite(first)}; such rows are refused.`;
  const [only, ...others] = [...certain];
  if (!only) return `${refused} State the format in the job: \`dates: [dd/MM/yyyy]\`.`;
  return others.length === 0
    ? `${refused} Other rows, such as ${cite(only[1].first)}, are written \`${only[0]}\`: if all are, state \`dates: [${only[0]}]\` in the job.`
    : `${refused} Other rows show several formats: ${[only, ...others].map(([format, at]) => `\`${format}\` in ${at.count} such as ${cite(at.first)}`).join(', ')}.`;
}

/** Where day and month are the same number, either format fits. */
function showsOrder(text: string): boolean {
  const [first, second] = text.split(/\D/);
  return Number(first) !== Number(second);
}

export function cite({ text, row }: DateSample): string {
  return `"${excerpt(text)}" (row ${row})`;
}
