import { createRequire } from 'node:module';
import type { CronExpression } from 'cron-parser';
import { usageError } from '../../model/error.js';
import { nameHint } from '../../pipeline/map/headings.js';

/** The part of a job's `schedule` that says when; contract section 4. */
export interface Schedule {
  /** Five fields: minute, hour, day of the month, month, weekday. */
  readonly cron: string;
  readonly timezone: string;
}

/**
 * A local date and time of day at which a schedule is due. Slots are reckoned on the calendar, not on instants: a time
 * that a change of the clock leaves out is due right after the gap, one that comes twice is due the first time
 * only. So a nightly schedule has one slot per calendar date, whatever the clock does.
 *
 * cron-parser reads the pattern over wall-clock time, written as the milliseconds since 1970 that it would be in UTC, where
 * no time is left out or comes twice; `instantOf` says when the clock of the zone reaches it.
 */
export interface Slot {
  /** `2026-03-29T0230`. Sorts by time as text. */
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly dueAt: number;
}

/** The latest slot that is due by `now`; undefined where there never was one. Throws `RunError` (usage). */
export function lastDue(schedule: Schedule, now: number): Slot | undefined {
  const wallTimes = calendar(schedule);
  // The library takes the slot before the time it is set to: half a second on, that is the one of this second too.
  wallTimes.reset(new Date(wholeSecond(now) + Math.max(...recentOffsets(now, schedule.timezone)) + 500));
  return search(
    () => wallTimes.prev(),
    schedule.timezone,
    ({ dueAt }) => dueAt <= now,
  );
}

/** The first slot that is due after an instant; undefined where none comes any more. Throws `RunError` (usage). */
export function nextDue(schedule: Schedule, after: number): Slot | undefined {
  const wallTimes = calendar(schedule);
  wallTimes.reset(new Date(wholeSecond(after) + Math.min(...recentOffsets(after, schedule.timezone))));
  return search(
    () => wallTimes.next(),
    schedule.timezone,
    ({ dueAt }) => dueAt > after,
  );
}

const SLOT_KEY = /^(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)$/;

/** When a slot is due, from its key; undefined where it is none. Whether the schedule has that slot is not looked at. */
export function slotOf(key: string, timezone: string): Slot | undefined {
  const wall = Date.parse(key.replace(SLOT_KEY, '$1T$2:$3Z'));
  return SLOT_KEY.test(key) && !Number.isNaN(wall) ? { key, dueAt: instantOf(wall, timezone) } : undefined;
}

/** The slot for people: `2026-03-29 02:30`, as the clock of its time zone shows it. */
export function slotText(key: string): string {
  return key.replace(SLOT_KEY, '$1 $2:$3');
}

/** Why a schedule cannot be used, in words; undefined where it can. */
export function checkSchedule({ cron, timezone }: Schedule): string | undefined {
  const wrong = checkCron(cron);
  return wrong === undefined ? checkTimeZone(timezone) : `the cron expression "${cron}" cannot be used: ${wrong}`;
}

/** Why a time zone cannot be used; undefined for one that the machine knows, such as `Europe/Berlin`. */
export function checkTimeZone(timezone: string): string | undefined {
  try {
    new Intl.DateTimeFormat('en', { timeZone: timezone });
    return undefined;
  } catch {
    return `the time zone "${timezone}" is not known${nameHint(timezone, Intl.supportedValuesOf('timeZone'))}`;
  }
}

/** Why a cron expression cannot be used: its form, or that no date of the calendar meets it. */
export function checkCron(cron: string): string | undefined {
  const fields = cron.trim().split(/\s+/);
  // With H the library would choose a time by chance.
  const isUsable = fields.length === 5 && !fields.some((field) => /(^|,)H/i.test(field));
  if (isUsable && succeeds(() => parse(cron).next())) return undefined;
  return (
    'write five fields: minute (0 to 59), hour (0 to 23), day of the month (1 to 31, L for the last one), month (1 to 12), ' +
    'weekday (0 to 7, 5L for the last Friday, 1#2 for the second Monday, alone), each as *, a list, a range that runs upwards, or */2; ' +
    'and a day that one of its months has'
  );
}

/** Patterns in use; they are few, and reading one costs more than using it. */
const calendars = new Map<string, CronExpression>();

function calendar(schedule: Schedule): CronExpression {
  const name = `${schedule.timezone} ${schedule.cron}`;
  const known = calendars.get(name);
  if (known) return known;
  const wrong = checkSchedule(schedule);
  if (wrong !== undefined) throw usageError(`The schedule cannot be used: ${wrong}.`);
  const made = parse(schedule.cron);
  if (calendars.size >= 1000) calendars.clear();
  calendars.set(name, made);
  return made;
}

function parse(cron: string): CronExpression {
  // Most jobs have no schedule, and most commands have no use for one.
  const { CronExpressionParser } = createRequire(import.meta.url)('cron-parser') as typeof import('cron-parser');
  // The library knows L as a capital only; names it takes either way.
  return CronExpressionParser.parse(cron.trim().toUpperCase(), { tz: 'UTC' });
}

/** The library gives up, with an error, after 10,000 steps: some 27 years of days that do not match. */
function search(step: () => { getTime(): number }, zone: string, fits: (slot: Slot) => boolean): Slot | undefined {
  try {
    for (;;) {
      const wall = step().getTime();
      const key = new Date(wall).toISOString().slice(0, 16).replace(':', '');
      const slot = { key, dueAt: instantOf(wall, zone) };
      if (fits(slot)) return slot;
    }
  } catch {
    return undefined;
  }
}

function succeeds(work: () => unknown): boolean {
  try {
    work();
    return true;
  } catch {
    return false;
  }
}

const SECOND = 1000;
/** Two changes of one zone's clock are never as near to each other. */
const STEP = 6 * 3_600_000;
/** Reaches past every offset from UTC, and past every change: the largest left out a whole day. */
const STEPS = [-4, -3, -2, -1, 0, 1, 2, 3, 4] as const;

/** The first instant at which the clock of a zone shows this wall time, or, where it leaves it out, a later one. */
function instantOf(wall: number, zone: string): number {
  const probes = STEPS.map((step) => wall + step * STEP);
  const offsets = new Set(probes.map((instant) => offsetAt(instant, zone)));
  const instants = [...offsets].map((offset) => wall - offset).filter((at) => at + offsetAt(at, zone) === wall);
  if (instants.length > 0) return Math.min(...instants);
  const isPast = (instant: number): boolean => instant + offsetAt(instant, zone) > wall;
  const after = probes.findIndex(isPast);
  let low = (probes[after - 1] ?? wall - 5 * STEP) / SECOND;
  let high = (probes[after] ?? wall + 5 * STEP) / SECOND;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (isPast(middle * SECOND)) high = middle;
    else low = middle;
  }
  return high * SECOND;
}

/** Offsets from UTC that were in force within a day before. */
function recentOffsets(now: number, zone: string): number[] {
  return [0, 1, 2, 3, 4].map((step) => offsetAt(wholeSecond(now) - step * STEP, zone));
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** By how much the clock of a zone is ahead of UTC at an instant of whole seconds. Throws a RangeError where the zone is unknown. */
function offsetAt(instant: number, zone: string): number {
  let format = formats.get(zone);
  if (!format) {
    const fields = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric' } as const;
    const plain = { calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' } as const;
    format = new Intl.DateTimeFormat('en-US', { timeZone: zone, ...plain, ...fields, second: 'numeric' });
    formats.set(zone, format);
  }
  const parts: Record<string, number> = {};
  for (const { type, value } of format.formatToParts(instant)) parts[type] = Number(value);
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = parts;
  return Date.UTC(year, month - 1, day, hour, minute, second) - instant;
}

function wholeSecond(instant: number): number {
  return Math.floor(instant / SECOND) * SECOND;
}
