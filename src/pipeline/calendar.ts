import { calendarDate, MONTHS } from '../resources/calendar.js';

/** Calendar dates as `yyyy-MM-dd` text; no instant, no time zone, no `Date`. */

/** Two-digit years as spreadsheet and database programs read them: 00–68 are 20xx, 69–99 are 19xx. */
export function fullYear(twoDigits: number): number {
  return twoDigits <= 68 ? 2000 + twoDigits : 1900 + twoDigits;
}

/** `yyyy-MM-dd`, or undefined where the calendar has no such day or the year is not 1000–9999. */
export function isoDate(year: number, month: number, day: number): string | undefined {
  return year < 1000 ? undefined : calendarDate(year, month, day);
}

/** `2024-02-01` → `1 February 2024`. */
export function spokenDate(iso: string): string {
  const month = MONTHS[Number(iso.slice(5, 7)) - 1] ?? '';
  return `${Number(iso.slice(8, 10))} ${month.charAt(0).toUpperCase()}${month.slice(1)} ${iso.slice(0, 4)}`;
}
