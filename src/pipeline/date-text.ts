import { fullYear, isoDate, monthByName, spokenDate } from './calendar.js';
import type { DateFormat } from './date-format.js';
import { type Refusal, refuse } from './refusal.js';

/** No written date is longer; bounds the work on hostile cells. */
const LONGEST = 64;

/** A time of day behind a date; it is dropped, because the service keeps calendar dates only. */
const TIME =
  '(?:(?:T|,?\\s+)\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d+)?)?\\s*(?:[AaPp]\\.?[Mm]\\.?)?\\s*(?:Z|[+-]\\d{2}:?\\d{2})?)?';
const YEAR_FIRST = new RegExp(`^(\\d{4})([-/.])(\\d{1,2})\\2(\\d{1,2})${TIME}$`, 'u');
const COMPACT = /^((?:19|20)\d{2})(\d{2})(\d{2})$/;
const DAY_MONTH_NAME = new RegExp(
  `^(\\d{1,2})(?:st|nd|rd|th)?[\\s./-]*(\\p{L}{3,9})\\.?[\\s,./-]*(\\d{4}|\\d{2})${TIME}$`,
  'iu',
);
const MONTH_NAME_DAY = new RegExp(
  `^(\\p{L}{3,9})\\.?[\\s-]*(\\d{1,2})(?:st|nd|rd|th)?(?:,\\s*|[\\s-]+)(\\d{4})${TIME}$`,
  'iu',
);
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
 * Reads text where the job states no format: ISO dates, dates with the month as an English word, and numeric dates whose
 * day and month cannot be mixed up. `yyyy-MM-dd`, or why not; what can be read in two ways is never guessed.
 */
export function dateByItself(text: string): string | Refusal {
  if (text.length > LONGEST) return unreadable();
  const iso = YEAR_FIRST.exec(text) ?? COMPACT.exec(text);
  if (iso) {
    const [month, day] = iso.length === 5 ? [iso[3], iso[4]] : [iso[2], iso[3]];
    return isoDate(Number(iso[1]), Number(month), Number(day)) ?? noDay();
  }
  const numeric = numericReadings(text);
  if (numeric) return theOnlyOne(numeric);
  const dayFirst = DAY_MONTH_NAME.exec(text);
  const monthFirst = dayFirst ? null : MONTH_NAME_DAY.exec(text);
  const [month, day, year] = dayFirst
    ? [monthByName(dayFirst[2]!), dayFirst[1], dayFirst[3]]
    : [monthFirst ? monthByName(monthFirst[1]!) : undefined, monthFirst?.[2], monthFirst?.[3]];
  if (month === undefined) return unreadable();
  return isoDate(yearOf(year!), month, Number(day)) ?? noDay();
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
const unreadable = () =>
  refuse(
    'not_a_date',
    'cannot be read as a date. Write yyyy-MM-dd, or state the format in the job (`source: { dates: [dd/MM/yyyy] }`).',
  );
