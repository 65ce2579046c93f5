import type { DateOrder } from './spec.js';

/** Calendar dates as text `yyyy-MM-dd`; no time zones, no instants. */

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

/** Whether the text is a date that exists, in the form `yyyy-MM-dd`. */
export function isCalendarDate(text: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  return day !== undefined && calendarDate(Number(year), Number(month), Number(day)) !== undefined;
}

/** Days from one calendar date to another; both must be `yyyy-MM-dd`. */
export function daysBetween(from: string, to: string): number {
  return Math.round((Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / DAY_MS);
}

/** Two-digit years as spreadsheet and database programs read them: 00–68 are 20xx, 69–99 are 19xx. */
export function fullYear(twoDigits: number): number {
  return twoDigits <= 68 ? 2000 + twoDigits : 1900 + twoDigits;
}

/** `yyyy-MM-dd`, or undefined where the calendar has no such day or the year is not 1000–9999. */
export function isoDate(year: number, month: number, day: number): string | undefined {
  return year < 1000 ? undefined : calendarDate(year, month, day);
}

/**
 * Names of months and weekdays as spreadsheets of other countries write them, in English, German, French, Spanish,
 * Italian, Dutch and Portuguese. No name means different months in two of them.
 */

const MONTH_NAMES = [
  'january januar janner janvier enero gennaio januari janeiro jan janv ene gen',
  'february februar feber fevrier febrero febbraio februari fevereiro feb fevr fev febr',
  'march marz maerz mars marzo maart marco mar mrz mrt',
  'april avril abril aprile apr avr abr',
  'may mai mayo maggio mei maio mag',
  'june juni juin junio giugno junho jun giu',
  'july juli juillet julio luglio julho jul juil lug',
  'august aout agosto augustus aug ago',
  'september septembre septiembre setiembre settembre setembro sep sept sett set',
  'october oktober octobre octubre ottobre outubro oct okt ott out',
  'november novembre noviembre novembro nov',
  'december dezember decembre diciembre dicembre dezembro dec dez dic',
].map((names) => names.split(' '));

/** In English. */
export const MONTHS = MONTH_NAMES.map(([name = '']) => name);

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
export function monthByName(name: string): number | undefined {
  return BY_NAME.get(foldName(name));
}

/** The text without a weekday in front: `Thursday, December 1, 2016` → `December 1, 2016`. */
function withoutWeekday(text: string): string {
  const found = /^(\p{L}[\p{L}-]{1,13})\.?,?\s+(?=\S)/u.exec(text);
  return found && WEEKDAYS.has(foldName(found[1]!)) ? text.slice(found[0].length) : text;
}

function foldName(name: string): string {
  return name.normalize('NFD').replace(/\p{M}/gu, '').replace(/\.$/, '').toLowerCase();
}

/** No written date is longer; bounds the work on hostile cells. */
export const LONGEST_DATE = 64;

/** A time of day behind a date; it is dropped, because the service keeps calendar dates only. */
const TIME =
  '(?:(?:T|,?\\s+(?:at\\s+)?)\\d{1,2}:\\d{2}(?::\\d{2}(?:[.,]\\d+)?)?\\s*(?:[AaPp]\\.?[Mm]\\.?)?\\s*(?:Z|UTC|GMT|[+-]\\d{2}:?\\d{2})?)?';
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

/** One way to read a numeric date. */
export interface DateReading {
  /** `yyyy-MM-dd` */
  readonly date: string;
  /** As a job states it: `d/M/yyyy`. */
  readonly format: string;
}

/**
 * What a text says as a date, without its weekday and time of day: the day, '' for one that the calendar does not have; of a
 * numeric date such as `01/02/2024` the ways to read it, with different days; undefined where it is no date.
 */
export function recogniseDate(written: string): string | readonly DateReading[] | undefined {
  if (written.length > LONGEST_DATE) return undefined;
  const text = withoutWeekday(written.normalize('NFC'));
  const iso = YEAR_FIRST.exec(text) ?? COMPACT.exec(text);
  if (iso) {
    const [month, day] = iso.length === 5 ? [iso[3], iso[4]] : [iso[2], iso[3]];
    return calendarDate(Number(iso[1]), Number(month), Number(day)) ?? '';
  }
  const numeric = NUMERIC.exec(text);
  if (numeric) return readingsOf(numeric);
  const [, year = '', name = '', day] = wordDate(text) ?? [];
  const month = monthByName(name);
  return month === undefined ? undefined : (calendarDate(yearOf(year), month, Number(day)) ?? '');
}

/** Year, month and day of a date with the month as a word, behind the whole text. */
function wordDate(text: string): readonly string[] | undefined {
  const dayFirst = DAY_MONTH_NAME.exec(text);
  if (dayFirst) return [text, dayFirst[3]!, dayFirst[2]!, dayFirst[1]!];
  const monthFirst = MONTH_NAME_DAY.exec(text);
  if (monthFirst) return [text, monthFirst[3]!, monthFirst[1]!, monthFirst[2]!];
  return YEAR_MONTH_NAME.exec(text) ?? undefined;
}

const yearOf = (text: string) => (text.length === 4 ? Number(text) : fullYear(Number(text)));

function readingsOf([, first = '', mark = '', second = '', yearText = '']: RegExpExecArray): DateReading[] {
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

/**
 * A date of a response as `yyyy-MM-dd`. The interface does not show the format (section 2.1), so every form that
 * can mean only one day is read; a time part is dropped, never converted. Undefined: no date, or day and month
 * could be exchanged and the order in which the service writes them is not known.
 */
export function readDate(source: string, order?: DateOrder): string | undefined {
  const text = source.trim();
  if (isCalendarDate(text)) return text;
  const found = recogniseDate(text);
  // Which century a year of two digits means is not said.
  if (typeof found !== 'object') return (/\d{4}/.test(text) && found) || undefined;
  if (!isWholeYear(found)) return undefined;
  if (found.length < 2) return found[0]?.date;
  return order && found.find(({ format }) => format.startsWith(order === 'dmy' ? 'd' : 'M'))?.date;
}

/** What one date of a response tells about the order of all: `either` where day and month could be exchanged. */
export function dateOrderOf(source: string): DateOrder | 'either' | undefined {
  // What nearly every service shows tells nothing.
  if (isCalendarDate(source)) return undefined;
  const found = recogniseDate(source.trim());
  if (typeof found !== 'object' || !isWholeYear(found)) return undefined;
  const [one, other] = found;
  if (!one || other) return one && 'either';
  if (one.format.startsWith('M')) return 'mdy';
  // Where day and month are the same number, either order gives the day.
  return one.date.slice(5, 7) === one.date.slice(8) ? undefined : 'dmy';
}

const isWholeYear = ([one]: readonly DateReading[]): boolean => one?.format.endsWith('yyyy') === true;
