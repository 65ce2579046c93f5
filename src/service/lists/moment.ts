/**
 * What a `modified_date` says: `date` a day, `local` a time without a zone, `zoned` a time with one. Only moments of one
 * form can be compared.
 */
export type MomentForm = 'date' | 'local' | 'zoned';

export interface Moment {
  readonly form: MomentForm;
  /** Microseconds since 1970, of what is written (`zoned`: of the instant). What is finer is cut off, so order is kept. */
  readonly micros: number;
}

const SHAPE =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i;
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * Reads ISO 8601; undefined for anything else. The form of dates in responses is not documented (interface, section 2.1),
 * so nothing is guessed.
 */
export function readMoment(value: unknown): Moment | undefined {
  const match = typeof value === 'string' ? SHAPE.exec(value) : null;
  if (!match) return undefined;
  const [year, month, day, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map((part) => Number(part ?? 0));
  if (!month || month > 12 || !day || day > (DAYS[month - 1] as number)) return undefined;
  // A leap second is written :60.
  if (hour > 23 || minute > 59 || second > 60) return undefined;
  const fraction = Number((match[7] ?? '').padEnd(6, '0').slice(0, 6));
  const written = Date.UTC(year as number, month - 1, day, hour, minute, second) * 1000 + fraction;
  if (match[4] === undefined) return { form: 'date', micros: written };
  const zone = match[8];
  return zone === undefined
    ? { form: 'local', micros: written }
    : { form: 'zoned', micros: written - offsetMinutes(zone) * 60_000_000 };
}

function offsetMinutes(zone: string): number {
  if (/^z$/i.test(zone)) return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', '') || 0);
  return zone.startsWith('-') ? -minutes : minutes;
}
