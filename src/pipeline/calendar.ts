/** Calendar dates as `yyyy-MM-dd` text; no instant, no time zone, no `Date`. */

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
] as const;

const BY_NAME = new Map<string, number>([
  ...MONTHS.flatMap((name, index): [string, number][] => [
    [name.toLowerCase(), index + 1],
    [name.slice(0, 3).toLowerCase(), index + 1],
  ]),
  ['sept', 9],
]);

/** 1–12 for an English month name or its abbreviation, with or without a point; undefined otherwise. */
export function monthByName(name: string): number | undefined {
  return BY_NAME.get(name.toLowerCase().replace(/\.$/, ''));
}

/** Two-digit years as spreadsheet and database programs read them: 00–68 are 20xx, 69–99 are 19xx. */
export function fullYear(twoDigits: number): number {
  return twoDigits <= 68 ? 2000 + twoDigits : 1900 + twoDigits;
}

/** `yyyy-MM-dd`, or undefined where the calendar has no such day or the year is not 1000–9999. */
export function isoDate(year: number, month: number, day: number): string | undefined {
  if (year < 1000 || year > 9999 || month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  return `${year}-${month < 10 ? '0' : ''}${month}-${day < 10 ? '0' : ''}${day}`;
}

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** `2024-02-01` → `1 February 2024`. */
export function spokenDate(iso: string): string {
  return `${Number(iso.slice(8, 10))} ${MONTHS[Number(iso.slice(5, 7)) - 1]} ${iso.slice(0, 4)}`;
}
