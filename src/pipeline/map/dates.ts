import type { SheetRow } from '../../model/row.js';
import { calendarDate, MONTHS } from '../../resources/calendar.js';
import { type Refusal, refuse, trimText } from './cell-text.js';
import { excerpt } from './headings.js';

/** Calendar dates as `yyyy-MM-dd` text; no instant, no time zone, no `Date`. */

/** Two-digit years as spreadsheet and database programs read them: 00–68 are 20xx, 69–99 are 19xx. */
function fullYear(twoDigits: number): number {
  return twoDigits <= 68 ? 2000 + twoDigits : 1900 + twoDigits;
}

/** `yyyy-MM-dd`, or undefined where the calendar has no such day or the year is not 1000–9999. */
export function isoDate(year: number, month: number, day: number): string | undefined {
  return year < 1000 ? undefined : calendarDate(year, month, day);
}

/** `2024-02-01` → `1 February 2024`. */
function spokenDate(iso: string): string {
  const month = MONTHS[Number(iso.slice(5, 7)) - 1] ?? '';
  return `${Number(iso.slice(8, 10))} ${month.charAt(0).toUpperCase()}${month.slice(1)} ${iso.slice(0, 4)}`;
}

/**
 * Names of months and weekdays as spreadsheets of other countries write them, in English, German, French, Spanish,
 * Italian, Dutch and Portuguese. No name means different months in two of them.
 */

const MONTH_NAMES: readonly (readonly string[])[] = [
  ['january', 'januar', 'janner', 'janvier', 'enero', 'gennaio', 'januari', 'janeiro', 'jan', 'janv', 'ene', 'gen'],
  [
    'february',
    'februar',
    'feber',
    'fevrier',
    'febrero',
    'febbraio',
    'februari',
    'fevereiro',
    'feb',
    'fevr',
    'fev',
    'febr',
  ],
  ['march', 'marz', 'maerz', 'mars', 'marzo', 'maart', 'marco', 'mar', 'mrz', 'mrt'],
  ['april', 'avril', 'abril', 'aprile', 'apr', 'avr', 'abr'],
  ['may', 'mai', 'mayo', 'maggio', 'mei', 'maio', 'mag'],
  ['june', 'juni', 'juin', 'junio', 'giugno', 'junho', 'jun', 'giu'],
  ['july', 'juli', 'juillet', 'julio', 'luglio', 'julho', 'jul', 'juil', 'lug'],
  ['august', 'aout', 'agosto', 'augustus', 'aug', 'ago'],
  ['september', 'septembre', 'septiembre', 'setiembre', 'settembre', 'setembro', 'sep', 'sept', 'sett', 'set'],
  ['october', 'oktober', 'octobre', 'octubre', 'ottobre', 'outubro', 'oct', 'okt', 'ott', 'out'],
  ['november', 'novembre', 'noviembre', 'novembro', 'nov'],
  ['december', 'dezember', 'decembre', 'diciembre', 'dicembre', 'dezembro', 'dec', 'dez', 'dic'],
];

const BY_NAME = new Map(MONTH_NAMES.flatMap((names, at) => names.map((name) => [name, at + 1] as const)));

const WEEKDAYS = new Set(
  [
    'monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun',
    'montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so',
    // Without `mar`, which is a month, too.
    'lundi mardi mercredi jeudi vendredi samedi dimanche lun mer jeu ven sam dim',
    'lunes martes miercoles jueves viernes sabado domingo mie jue vie sab dom',
    'lunedi martedi mercoledi giovedi venerdi gio',
    'maandag dinsdag woensdag donderdag vrijdag zaterdag zondag ma wo vr za zo',
    'segunda-feira terca-feira quarta-feira quinta-feira sexta-feira segunda terca quarta quinta sexta seg ter qua qui sex',
  ].flatMap((names) => names.split(' ')),
);

/** 1–12 for the name of a month or its abbreviation, with or without a point and accents; undefined otherwise. */
function monthByName(name: string): number | undefined {
  return BY_NAME.get(plain(name));
}

/** The text without a weekday in front: `Thursday, December 1, 2016` → `December 1, 2016`. */
function withoutWeekday(text: string): string {
  const found = /^(\p{L}[\p{L}-]{1,13})\.?,?\s+(?=\S)/u.exec(text);
  return found && WEEKDAYS.has(plain(found[1]!)) ? text.slice(found[0].length) : text;
}

function plain(name: string): string {
  return name.normalize('NFD').replace(/\p{M}/gu, '').replace(/\.$/, '').toLowerCase();
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
 * Reads text where the job states no format: ISO dates, dates with the month as a word, and numeric
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
interface DateOrder {
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
interface DateReading {
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

export interface Sighting {
  readonly text: string;
  readonly row: number;
}

/** What the cells of a date column say about the order of day and month. */
export interface DateSurvey {
  /** The orders that are proven. */
  readonly orders: DateOrders;
  /** What spoke for them, one sentence each. */
  readonly evidence: readonly string[];
  /** Where dates stay in doubt: which, and the format that other cells show. */
  readonly warnings: readonly string[];
}

/** Fewer cells than these prove nothing: a few dates may have been typed in another way than the rest. */
const PROOF = 5;
const PROOF_SHARE = 0.1;

/** Dates of one way of writing, e.g. `//yyyy`. */
export interface DateGroup {
  count: number;
  /** Cells that can be read in several ways. */
  open: number;
  firstOpen: Sighting | undefined;
  /** By format, the cells that fit it alone. */
  readonly shown: Map<string, { count: number; first: Sighting }>;
}

/**
 * Looks at a date column without stated formats. Where at least 5 cells and a tenth of the dates of one way of writing can
 * be read in one order only, such as 25/12/2024, and none in the other, that order is proven for the rest of them.
 * Otherwise dates with two readings are refused, and the warning names the format that other cells show, if any.
 */
export function surveyDateOrder(
  column: { readonly heading: string; readonly index: number },
  sample: readonly SheetRow[],
): DateSurvey {
  const groups = dateGroups(
    sample.flatMap(({ row, cells }) => {
      const cell = cells[column.index];
      return typeof cell === 'string' && cell !== '' ? [{ text: trimText(cell), row }] : [];
    }),
  );
  const orders = new Map<string, DateOrder>();
  const evidence: string[] = [];
  const warnings: string[] = [];
  for (const [writing, group] of groups) {
    if (!group.firstOpen) continue;
    const [only, ...others] = [...group.shown];
    const proven = only && others.length === 0 && only[1].count >= PROOF && only[1].count >= group.count * PROOF_SHARE;
    if (proven && /^[dM]/.test(only[0])) {
      const [format, { count, first }] = only;
      const which = `of ${group.count} dates in the first ${sample.length} rows ${count} can be read in this order only, such as ${cite(first)}, and none in the other`;
      orders.set(writing, { first: format.startsWith('d') ? 'd' : 'M', why: which });
      evidence.push(
        `"${excerpt(column.heading)}": dates such as ${cite(group.firstOpen)} are read as \`${format}\`: ${which}.`,
      );
    } else warnings.push(doubt(column.heading, group, group.firstOpen, sample.length));
  }
  return { orders, evidence, warnings };
}

/** Numeric dates by way of writing, and what each shows of the order of day and month. */
export function dateGroups(cells: Iterable<Sighting>): ReadonlyMap<string, DateGroup> {
  const groups = new Map<string, DateGroup>();
  for (const cell of cells) {
    const readings = numericReadings(cell.text);
    const [first] = readings ?? [];
    if (!readings || !first) continue;
    const writing = writingOf(first.format);
    const group = groups.get(writing) ?? { count: 0, open: 0, firstOpen: undefined, shown: new Map() };
    groups.set(writing, group);
    group.count++;
    if (readings.length > 1) {
      group.open++;
      group.firstOpen ??= cell;
    } else if (isTelling(cell.text)) {
      const shown = group.shown.get(first.format);
      if (shown) shown.count++;
      else group.shown.set(first.format, { count: 1, first: cell });
    }
  }
  return groups;
}

function doubt(heading: string, { open, shown }: DateGroup, first: Sighting, rows: number): string {
  const refused = `"${excerpt(heading)}": in ${open} of the first ${rows} rows day and month cannot be told apart, as in ${cite(first)}; such rows are refused.`;
  const [only, ...others] = [...shown];
  if (!only) return `${refused} State the format in the job: \`dates: [dd/MM/yyyy]\`.`;
  return others.length === 0
    ? `${refused} Other rows, such as ${cite(only[1].first)}, are written \`${only[0]}\`: if all are, state \`dates: [${only[0]}]\` in the job.`
    : `${refused} Other rows show several formats: ${[only, ...others].map(([format, at]) => `\`${format}\` in ${at.count} such as ${cite(at.first)}`).join(', ')}.`;
}

/** Where day and month are the same number, either format fits. */
function isTelling(text: string): boolean {
  const [first, second] = text.split(/\D/);
  return Number(first) !== Number(second);
}

export function cite({ text, row }: Sighting): string {
  return `"${excerpt(text)}" (row ${row})`;
}
