/**
 * Wall-clock time of a time zone. A wall time is written as the milliseconds since 1970 that it would be in UTC, so that
 * calendar arithmetic needs no zone; an instant is milliseconds since 1970 as everywhere. Whole seconds.
 *
 * A zone's clock may leave times out or show them twice. Both directions below rest on one rule, and so agree: a wall
 * time is reached at the first instant at which the clock shows it or a later one.
 */

const SECOND = 1000;
/** Two changes of one zone's clock are never as near to each other. */
const STEP = 6 * 3_600_000;
/** Reaches past every offset from UTC, and past every change: the largest left out a whole day. */
const STEPS = [-4, -3, -2, -1, 0, 1, 2, 3, 4] as const;

const formats = new Map<string, Intl.DateTimeFormat>();

/** What the clock shows. Throws a RangeError where the zone is unknown. */
export function wallTime(instant: number, zone: string): number {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      calendar: 'gregory',
      numberingSystem: 'latn',
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    formats.set(zone, format);
  }
  const shown: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(wholeSecond(instant))) shown[type] = Number(value);
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = shown;
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

/** The first instant at which the clock shows this time, or, where it leaves it out, a later one. */
export function instantOf(wall: number, zone: string): number {
  const probes = STEPS.map((step) => wall + step * STEP);
  const offsets = new Set(probes.map((instant) => wallTime(instant, zone) - instant));
  const shown = [...offsets].map((offset) => wall - offset).filter((instant) => wallTime(instant, zone) === wall);
  if (shown.length > 0) return Math.min(...shown);
  const past = (instant: number): boolean => wallTime(instant, zone) > wall;
  const after = probes.findIndex(past);
  return firstInstant(probes[after - 1] ?? wall - 5 * STEP, probes[after] ?? wall + 5 * STEP, past);
}

/** The latest time that the clock has shown up to this instant: more than it shows now, after it was put back. */
export function highestWallTime(instant: number, zone: string): number {
  const now = wholeSecond(instant);
  let highest = wallTime(now, zone);
  for (let step = 0; step < 5; step++) {
    const [early, late] = [now - (step + 1) * STEP, now - step * STEP];
    const offset = wallTime(early, zone) - early;
    if (wallTime(late, zone) - late >= offset) continue;
    const change = firstInstant(early, late, (at) => wallTime(at, zone) - at !== offset);
    highest = Math.max(highest, change - SECOND + offset);
  }
  return highest;
}

/** Between one at which something is not yet so and one at which it is. */
function firstInstant(before: number, after: number, isSo: (instant: number) => boolean): number {
  let [low, high] = [before / SECOND, after / SECOND];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isSo(middle * SECOND)) high = middle;
    else low = middle;
  }
  return high * SECOND;
}

function wholeSecond(instant: number): number {
  return Math.floor(instant / SECOND) * SECOND;
}
