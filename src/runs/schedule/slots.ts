import { createRequire } from 'node:module';
import type { CronExpression } from 'cron-parser';
import { RunError } from '../../model/error.js';
import { cronProblem, isTimeZone, timeZones } from '../job/schedule.js';
import { didYouMean } from '../nearest.js';
import { highestWallTime, instantOf } from './wall-clock.js';

/** The part of a job's `schedule` that says when; contract section 4. */
export interface Schedule {
  readonly cron: string;
  readonly timezone: string;
}

/**
 * A local date and time of day at which a schedule is due. Slots are reckoned on the calendar, not on instants: a time
 * that a change of the clock leaves out is due right after the gap, one that comes twice is due the first time
 * only. So a nightly schedule has one slot per calendar date, whatever the clock does.
 */
export interface Slot {
  /** `2026-03-29T0230`, with seconds where there are any (`2026-03-29T023015`). Sorts by time as text. */
  readonly key: string;
  /** Milliseconds since 1970. */
  readonly dueAt: number;
}

/** The latest slot that is due by `now`; undefined where there never was one. Throws `RunError` (usage). */
export function lastDue(schedule: Schedule, now: number): Slot | undefined {
  const walls = calendar(schedule);
  // The library takes the slot before the time it is set to: half a second on, that is the one of this second too.
  walls.reset(new Date(highestWallTime(now, schedule.timezone) + 500));
  const wall = nearest(() => walls.prev());
  return wall === undefined ? undefined : slotAt(wall, schedule);
}

/** The first slot that is due after an instant; undefined where none comes any more. Throws `RunError` (usage). */
export function nextDue(schedule: Schedule, after: number): Slot | undefined {
  const walls = calendar(schedule);
  walls.reset(new Date(highestWallTime(after, schedule.timezone)));
  const wall = nearest(() => walls.next());
  return wall === undefined ? undefined : slotAt(wall, schedule);
}

/** Whether a text has the form of a slot's key. */
export const SLOT_KEY = /^(\d{4}-\d\d-\d\d)T(\d\d)(\d\d)(\d\d)?$/;

/** When a slot is due, from its key; undefined where it is none. Whether the schedule has that slot is not looked at. */
export function slotOf(key: string, timezone: string): Slot | undefined {
  const [, date, hour, minute, second = '00'] = SLOT_KEY.exec(key) ?? [];
  const wall = date === undefined ? Number.NaN : Date.parse(`${date}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(wall) ? undefined : { key, dueAt: instantOf(wall, timezone) };
}

/** The slot for people: `2026-03-29 02:30`, as the clock of its time zone shows it. */
export function slotText(key: string): string {
  const [, date, hour, minute, second] = SLOT_KEY.exec(key) ?? [];
  return date === undefined ? key : `${date} ${hour}:${minute}${second === undefined ? '' : `:${second}`}`;
}

/** Why a schedule cannot be used, in words; undefined where it can. */
export function checkSchedule(schedule: Schedule): string | undefined {
  const { cron, timezone } = schedule;
  const wrong = checkCron(cron);
  if (wrong !== undefined) return `the cron expression "${cron}" cannot be used: ${wrong}`;
  return isTimeZone(timezone)
    ? undefined
    : `the time zone "${timezone}" is not known${didYouMean(timezone, timeZones())}`;
}

/** Why a cron expression cannot be used: its form, or that no date of the calendar meets it. */
export function checkCron(cron: string): string | undefined {
  const form = cronProblem(cron);
  if (form !== undefined) return form;
  try {
    const walls = parse(cron);
    return nearest(() => walls.next()) === undefined ? NO_DATE : undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (/day of month definition/i.test(reason)) return NO_DATE;
    if (/special characters are incompatible/i.test(reason)) return 'a weekday with # stands alone: no list, no range';
    return `${reason.slice(0, 1).toLowerCase()}${reason.slice(1)}`;
  }
}

const NO_DATE = 'no date meets it: the months that it names do not have that day';

/** Patterns in use; they are few, and reading one costs more than using it. */
const calendars = new Map<string, CronExpression>();

/** The pattern over wall-clock time: it is read in UTC, where no time is left out or comes twice. */
function calendar(schedule: Schedule): CronExpression {
  const name = `${schedule.timezone} ${schedule.cron}`;
  const known = calendars.get(name);
  if (known) return known;
  const wrong = checkSchedule(schedule);
  if (wrong !== undefined) throw new RunError('usage', `The schedule cannot be used: ${wrong}.`);
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

/** The library gives up after 10,000 steps, some 27 years of days that do not match. */
function nearest(find: () => { getTime(): number }): number | undefined {
  try {
    return find().getTime();
  } catch {
    return undefined;
  }
}

function slotAt(wall: number, schedule: Schedule): Slot {
  const [date = '', time = ''] = new Date(wall).toISOString().slice(0, 19).split('T');
  const digits = time.replaceAll(':', '');
  const key = `${date}T${digits.endsWith('00') ? digits.slice(0, 4) : digits}`;
  return { key, dueAt: instantOf(wall, schedule.timezone) };
}
