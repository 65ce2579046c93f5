/** Serial numbers of spreadsheet programs ⇄ calendar dates as text. Days are counted in UTC; no time zone is ever involved. */

/** Serial number of 1970-01-01 in the 1900 system, from 1 March 1900 on. */
const UNIX_SERIAL = 25_569;
/** Days that the 1904 system counts from later. */
export const SYSTEM_1904 = 1_462;
const LAST_SERIAL = 2_958_465;
/** Seconds of a day. */
const DAY = 86_400;

/**
 * The calendar date of a serial number as `yyyy-MM-dd`, with `THH:mm:ss` where the time, to the second, is not midnight.
 * Undefined where there is none: negative numbers, day 0 and the 29 February 1900 of the 1900 system (which that system counts
 * though it never was), years above 9999.
 */
export function isoOfSerial(serial: number, date1904: boolean): string | undefined {
  const whole = Math.floor(serial);
  const seconds = Math.round((serial - whole) * DAY);
  const day = whole + Math.floor(seconds / DAY) + (date1904 ? SYSTEM_1904 : 0);
  if (!(day >= (date1904 ? SYSTEM_1904 : 1)) || day > LAST_SERIAL || (!date1904 && day === 60)) return undefined;
  const days = (day < 60 ? day + 1 : day) - UNIX_SERIAL;
  const text = new Date((days * DAY + (seconds % DAY)) * 1_000).toISOString();
  return text.slice(0, seconds % DAY === 0 ? 'yyyy-MM-dd'.length : 'yyyy-MM-ddTHH:mm:ss'.length);
}

/** The serial number (1900 system) of `yyyy-MM-dd` or `yyyy-MM-ddTHH:mm:ss`; undefined for other text. */
export function serialOfIso(text: string): number | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d))?$/.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1).map((part) => Number(part ?? 0));
  const date = new Date(0);
  date.setUTCFullYear(year!, month! - 1, day!);
  if (date.getUTCMonth() !== month! - 1 || date.getUTCDate() !== day) return undefined;
  let serial = Math.floor(date.getTime() / 86_400_000) + UNIX_SERIAL;
  if (serial <= 60) serial--;
  return serial + ((hour ?? 0) * 3600 + (minute ?? 0) * 60 + (second ?? 0)) / DAY;
}
