import { fullYear, isoDate, spokenDate } from './calendar.js';
import type { DateFormat } from './date-format.js';
import { monthByName, withoutWeekday } from './month-names.js';
import { type Refusal, refuse } from './refusal.js';

/** No written date is longer; bounds the work on hostile cells. */
const LONGEST = 64;

/** A time of day behind a date; it is dropped, because the service keeps calendar dates only. */
const TIME =
  '(?:(?:T|,?\\s+)\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d+)?)?\\s*(?:[AaPp]\\.?[Mm]\\.?)?\\s*(?:Z|[+-]\\d{2}:?\\d{2})?)?';
const YEAR_FIRST = new RegExp(`^(\\d{4})([-/.])(\\d{1,2})\\2(\\d{1,2})${TIME}$`, 'u');
const COMPACT = /^((?:19|20)\d{2})(\d{2})(\d{2})$/;
/** `1st`, `1er`, `1º`. */
const ORDINAL = '(?:st|nd|rd|th|er|º|°|ª)?';
const MONTH = '(\\p{L}{3,10})\\.?';
/** `1 de enero de 2024` */
const OF = '(?:\\s+del?\\s+|\\s+di\\s+)';
const DAY_MONTH_NAME = new RegExp(
  `^(\\d{1,2})${ORDINAL}(?:${OF}|[\\s./-]*)${MONTH}(?:${OF}|[\\s,./-]*)(\\d{4}|\\d{2})${TIME}$`,
  'iu',
);
const MONTH_NAME_DAY = new RegExp(`^${MONTH}[\\s-]*(\\d{1,2})${ORDINAL}(?:,\\s*|[\\s-]+)(\\d{4})${TIME}$`, 'iu');
/** `2024-Jan-31`, as databases write it. */
const YEAR_MONTH_NAME = new RegExp(`^(\\d{4})[\\s./-]+${MONTH}[\\s./-]+(\\d{1,2})${TIME}$`, 'iu');
const NUMERIC = new RegExp(`^(\\d{1,2})([-/.])(\\d{1,2})\\2(\\d{4}|\\d{2})${TIME}$`, 'u');

/** Reads text in the formats the job states, the first that fits. `yyyy-MM-dd`, or why not. */
export function dateInFormats(text: string, formats: readonly DateFormat[]): string | Refusal {
  let noSuchDay = false;
  if (text.length <= LONGEST) {
    for (const format of formats) {
      const date = format.parse(text);
      if (date === 'no_such_day') noSuchDay = true;
      else if (date !== undefined) return date;
    }
  }
  if (noSuchDay) return noDay();
  const stated = formats.map(({ source }) => `\`${source}\``).join(', ');
  const timed = /\d:\d\d/.test(text) ? ' A time of day needs its part in the format too, e.g. `M/d/yyyy H:mm:ss`.' : '';
  return refuse(
    'not_a_date',
    `does not fit the date formats the job states (${stated}). Correct the cell, or add its format to \`dates\`.${timed}`,
  );
}

/**
 * Reads text where the job states no format: ISO dates, dates with the month as a word (`month-names.ts`), and numeric
 * dates whose day and month cannot be mixed up. `yyyy-MM-dd`, or why not; what can be read in two ways is never guessed.
 *
 * `proven`: the order that the column's other cells prove (`surveyDates`). It decides between two readings; a date that
 * fits only the other order contradicts the proof and is refused.
 */
export function dateByItself(written: string, proven?: DateOrders): string | Refusal {
  if (written.length > LONGEST) return unreadable(written);
  const text = withoutWeekday(written.normalize('NFC'));
  const iso = YEAR_FIRST.exec(text) ?? COMPACT.exec(text);
  if (iso) {
    const [month, day] = iso.length === 5 ? [iso[3], iso[4]] : [iso[2], iso[3]];
    return isoDate(Number(iso[1]), Number(month), Number(day)) ?? noDay();
  }
  const numeric = numericReadings(text);
  const order = numeric?.[0] && proven?.get(writingOf(numeric[0].format));
  if (numeric) return order ? inOrder(numeric, order) : theOnlyOne(numeric);
  const [, year, month, day] = wordDate(text) ?? [];
  const number = month === undefined ? undefined : monthByName(month);
  if (number === undefined) return unreadable(text);
  return isoDate(yearOf(year!), number, Number(day)) ?? noDay();
}

/** Year, month and day of a date with the month as a word, behind the whole text. */
function wordDate(text: string): readonly string[] | undefined {
  const dayFirst = DAY_MONTH_NAME.exec(text);
  if (dayFirst) return [text, dayFirst[3]!, dayFirst[2]!, dayFirst[1]!];
  const monthFirst = MONTH_NAME_DAY.exec(text);
  if (monthFirst) return [text, monthFirst[3]!, monthFirst[1]!, monthFirst[2]!];
  return YEAR_MONTH_NAME.exec(text) ?? undefined;
}

/** Whether the day or the month comes first, as the cells of a column prove, with the words to say so. */
export interface DateOrder {
  readonly first: 'd' | 'M';
  /** As a clause: `39 cells such as "25/12/2024" (row 7) show it`. */
  readonly why: string;
}

/** By way of writing: dates of one mark and one length of the year belong together. */
export type DateOrders = ReadonlyMap<string, DateOrder>;

/** `d/M/yyyy` and `M/d/yyyy` → `//yyyy`: the way of writing, whatever the order. */
export function writingOf(format: string): string {
  const [mark = ''] = /[^dMy]/.exec(format) ?? [];
  return `${mark}${mark}${/yyyy|yy/.exec(format)?.[0] ?? ''}`;
}

function inOrder(readings: readonly DateReading[], { first, why }: DateOrder): string | Refusal {
  const [only] = readings;
  if (!only) return noDay();
  // Where day and month are the same number, either order gives the day.
  const fits =
    readings.find(({ format }) => format.startsWith(first)) ??
    readings.find(({ date, format }) => format.startsWith('d') && date.slice(5, 7) === date.slice(8));
  if (fits) return fits.date;
  return refuse(
    'ambiguous_date',
    `can be read as ${spokenDate(only.date)} only, with the ${first === 'd' ? 'month' : 'day'} first, but the ` +
      `${first === 'd' ? 'day' : 'month'} comes first in this column: ${why}. Correct the cell, or state the formats in the job: \`dates: [${only.format}]\`.`,
  );
}

/** One way to read a numeric date. */
export interface DateReading {
  /** `yyyy-MM-dd` */
  readonly date: string;
  /** As a job states it: `d/M/yyyy`. */
  readonly format: string;
}

/** The ways to read `01/02/2024` that the calendar allows, with different days; undefined where the text is no such date. */
export function numericReadings(text: string): readonly DateReading[] | undefined {
  const parts = text.length > LONGEST ? null : NUMERIC.exec(text);
  if (!parts) return undefined;
  const [, first = '', mark = '', second = '', yearText = ''] = parts;
  const year = yearOf(yearText);
  const years = yearText.length === 4 ? 'yyyy' : 'yy';
  const ways: [string | undefined, string][] = [
    [isoDate(year, Number(second), Number(first)), `d${mark}M${mark}${years}`],
    [isoDate(year, Number(first), Number(second)), `M${mark}d${mark}${years}`],
  ];
  // `24-06-15` is also what ISO dates look like when the century is left out.
  if (mark === '-' && years === 'yy' && first.length === 2) {
    ways.push([isoDate(yearOf(first), Number(second), Number(yearText)), 'yy-M-d']);
  }
  const readings: DateReading[] = [];
  for (const [date, format] of ways) {
    if (date !== undefined && !readings.some((other) => other.date === date)) readings.push({ date, format });
  }
  return readings;
}

function theOnlyOne(readings: readonly DateReading[]): string | Refusal {
  const [first, ...others] = readings;
  if (!first) return noDay();
  if (others.length === 0) return first.date;
  const ways = readings.map(({ date, format }) => `${spokenDate(date)} (\`${format}\`)`).join(' or ');
  return refuse(
    'ambiguous_date',
    `can be read as ${ways}. State the format in the job, e.g. \`source: { dates: [${first.format}] }\`, or write yyyy-MM-dd.`,
  );
}

const yearOf = (text: string) => (text.length === 4 ? Number(text) : fullYear(Number(text)));
const noDay = () => refuse('not_a_date', 'is a day the calendar does not have. Correct the cell.');

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
