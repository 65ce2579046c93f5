/** Serial numbers of spreadsheet programs ⇄ calendar dates, by integer arithmetic; no time zone is ever involved. */

export interface DateParts {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

/** Serial number of 1970-01-01 in the 1900 system, from 1 March 1900 on. */
const UNIX_SERIAL = 25_569;
/** Days that the 1904 system counts from later. */
export const SYSTEM_1904 = 1_462;
const LAST_SERIAL = 2_958_465;
const DAY = 86_400;

/**
 * The calendar date and time of a serial number, to the second, or undefined where there is none: negative numbers,
 * day 0 and the 29 February 1900 of the 1900 system (which that system counts though it never was), years above 9999.
 */
export function dateOfSerial(serial: number, date1904: boolean): DateParts | undefined {
  let days = Math.floor(serial);
  let seconds = Math.round((serial - days) * DAY);
  if (seconds === DAY) {
    days++;
    seconds = 0;
  }
  if (date1904) days += SYSTEM_1904;
  if (!(days >= (date1904 ? SYSTEM_1904 : 1)) || days > LAST_SERIAL || (!date1904 && days === 60)) return undefined;
  if (days < 60) days++;
  const { year, month, day } = civil(days - UNIX_SERIAL);
  return {
    year,
    month,
    day,
    hour: Math.floor(seconds / 3600),
    minute: Math.floor(seconds / 60) % 60,
    second: seconds % 60,
  };
}

/** Days since 1970-01-01 → year, month, day (Howard Hinnant's algorithm). */
function civil(days: number): { year: number; month: number; day: number } {
  const z = days + 719_468;
  const era = Math.floor(z / 146_097);
  const doe = z - era * 146_097;
  const yoe = Math.floor((doe - Math.floor(doe / 1_460) + Math.floor(doe / 36_524) - Math.floor(doe / 146_096)) / 365);
  const doy = doe - (365 * yoe + Math.floor(yoe / 4) - Math.floor(yoe / 100));
  const mp = Math.floor((5 * doy + 2) / 153);
  const month = mp < 10 ? mp + 3 : mp - 9;
  return {
    year: yoe + era * 400 + (month <= 2 ? 1 : 0),
    month,
    day: doy - Math.floor((153 * mp + 2) / 5) + 1,
  };
}

const two = (n: number) => (n < 10 ? `0${n}` : String(n));

/** `yyyy-MM-dd`, with `THH:mm:ss` where the time is not midnight. */
export function isoText(date: DateParts): string {
  const day = `${String(date.year).padStart(4, '0')}-${two(date.month)}-${two(date.day)}`;
  if (date.hour === 0 && date.minute === 0 && date.second === 0) return day;
  return `${day}T${two(date.hour)}:${two(date.minute)}:${two(date.second)}`;
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
