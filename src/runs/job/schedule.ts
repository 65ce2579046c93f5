/** The schedule of a job: five fields (minute hour day month weekday), or six with the second first. */

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const WEEKDAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

interface CronField {
  readonly name: string;
  readonly from: number;
  readonly to: number;
  /** Names in place of numbers, the first standing for `from`. */
  readonly names?: readonly string[];
  /** Letters that stand for the last day, a weekday of a week, or nothing in particular. */
  readonly special?: RegExp;
}

const FIELDS: readonly CronField[] = [
  { name: 'second', from: 0, to: 59 },
  { name: 'minute', from: 0, to: 59 },
  { name: 'hour', from: 0, to: 23 },
  { name: 'day of the month', from: 1, to: 31, special: /^(\?|l)$/ },
  { name: 'month', from: 1, to: 12, names: MONTHS },
  { name: 'weekday', from: 0, to: 7, names: WEEKDAYS, special: /^(\?|[0-7]l|[0-7]#[1-5])$/ },
];

/** Why a cron expression cannot be used, in words; undefined where it can. */
export function cronProblem(cron: string): string | undefined {
  const parts = cron.trim().toLowerCase().split(/\s+/);
  if (parts.length !== 5 && parts.length !== 6) {
    return `it has ${parts.length} ${parts.length === 1 ? 'field' : 'fields'}; write five (minute hour day month weekday), or six with the second first`;
  }
  const fields = FIELDS.slice(6 - parts.length);
  for (const [i, part] of parts.entries()) {
    const field = fields[i]!;
    for (const item of part.split(',')) {
      const wrong = itemProblem(field, item);
      if (wrong) return `the ${field.name} is "${item}"; ${wrong}`;
    }
  }
  return undefined;
}

function itemProblem(field: CronField, item: string): string | undefined {
  const rule = `write ${field.from} to ${field.to}, *, a range such as ${field.from}-${field.to}, or */2`;
  if (field.special?.test(item)) return undefined;
  const match = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\d+))?$/.exec(item);
  if (!match) return rule;
  const [, star, first, last, step] = match;
  if (step !== undefined && Number(step) < 1) return 'the step must be 1 or more';
  if (star) return undefined;
  const [low, high] = [cronNumber(field, first!), last === undefined ? undefined : cronNumber(field, last)];
  if (low === undefined || (last !== undefined && high === undefined)) return rule;
  return high !== undefined && high < low ? 'the range runs backwards' : undefined;
}

function cronNumber(field: CronField, text: string): number | undefined {
  const index = field.names?.indexOf(text) ?? -1;
  const value = index >= 0 ? field.from + index : /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return value >= field.from && value <= field.to ? value : undefined;
}

/** Whether this is a time zone the machine knows, e.g. `Europe/Berlin`. */
export function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Names of time zones, for suggestions. */
export function timeZones(): string[] {
  return Intl.supportedValuesOf('timeZone');
}
