import { amountInRange, amountOf } from './amount.js';
import { isDate } from './calendar.js';
import { countryOf } from './countries.js';
import { Exact, type Json, type JsonObject } from './json.js';
import type { LookupName, Lookups } from './lookups.js';
import type { Stored, Value } from './record.js';
import type { Switches } from './switches.js';

export type WritableName = 'asset' | 'contract' | 'supplier' | 'customer';

/** What the checks of one write body may look at, and where they put their faults. */
export interface Check {
  readonly operation: 'create' | 'update' | 'patch';
  readonly company: number;
  /** The record that is updated. */
  readonly current: Stored | undefined;
  readonly lookups: Lookups;
  readonly switches: Readonly<Switches>;
  /** Whether a record of this id exists in the company. */
  exists(resource: WritableName, id: number): boolean;
  nextFormRow(): number;
  /** Notes a fault under the field, spelled as in the body. */
  fail(field: string, message: string): null;
}

/** Checks one value that is not null; answers what is stored, or null after a fault. */
export type Kind<V extends Value = Value> = (value: Json, field: string, check: Check) => V | null;

/** A text in a body is a window on the whole body, which would stay in memory with it. */
const detach = (text: string): string => (text.length < 13 ? text : Buffer.from(text, 'utf8').toString('utf8'));

const longerThan = (text: string, max: number): boolean => text.length > max && [...text].length > max;

export function text(max = Number.POSITIVE_INFINITY): Kind<string> {
  return (value, field, check) => {
    if (typeof value !== 'string') return check.fail(field, 'Not a valid string.');
    if (value.includes('\0')) return check.fail(field, 'Null characters are not allowed.');
    let kept = check.switches.trimsText === 'on' ? value.trim() : value;
    if (longerThan(kept, max)) return check.fail(field, `Ensure this field has no more than ${max} characters.`);
    if (check.switches.cutsText > 0) kept = kept.slice(0, check.switches.cutsText);
    return detach(kept);
  };
}

export function exactly(length: number): Kind<string> {
  const plain = text();
  return (value, field, check) => {
    const kept = plain(value, field, check);
    if (kept === null || [...kept].length === length) return kept;
    return check.fail(field, `Ensure this field has exactly ${length} characters.`);
  };
}

export const email: Kind<string> = (value, field, check) => {
  const kept = text(254)(value, field, check);
  if (kept === null || kept === '' || /^[^\s@]+@[^\s@]+\.[^\s@.]+$/.test(kept)) return kept;
  return check.fail(field, 'Enter a valid email address.');
};

export const integer: Kind<number> = (value, field, check) =>
  typeof value === 'number' ? value : check.fail(field, 'A valid integer is required.');

export const daysCount: Kind<number> = (value, field, check) => {
  const days = integer(value, field, check);
  return days !== null && days < 0 ? check.fail(field, 'Ensure this value is greater than or equal to 0.') : days;
};

export const flag: Kind<boolean> = (value, field, check) =>
  typeof value === 'boolean' ? value : check.fail(field, 'Must be a valid boolean.');

export const date: Kind<string> = (value, field, check) =>
  typeof value === 'string' && isDate(value)
    ? value
    : check.fail(field, 'Date has wrong format. Use one of these formats instead: YYYY-MM-DD.');

/** 0.00 to 999999999999999.00; stored as text. */
export const money: Kind<string> = (value, field, check) => {
  const amount = amountOf(value);
  if (amount === undefined) return check.fail(field, 'A valid number is required.');
  return amountInRange(amount)
    ? amount
    : check.fail(field, 'Ensure this value is between 0.00 and 999999999999999.00.');
};

export function oneOf(...choices: readonly string[]): Kind<string> {
  return (value, field, check) =>
    // The choice itself is stored rather than its copy in the body, see `detach`.
    choices.find((choice) => choice === value) ??
    check.fail(field, `"${shown(value)}" is not a valid choice. Choose one of: ${choices.join(', ')}.`);
}

export const country: Kind<number> = (value, field, check) => {
  const code = integer(value, field, check);
  return code === null || countryOf(code) ? code : check.fail(field, `Invalid country code "${code}".`);
};

/** An id of another record or look-up entry of the same company. */
export function reference(to: WritableName | LookupName): Kind<number> {
  const isRecord = to === 'asset' || to === 'contract' || to === 'supplier' || to === 'customer';
  return (value, field, check) => {
    const id = integer(value, field, check);
    if (id === null) return null;
    const known = isRecord ? check.exists(to, id) : check.lookups.get(to, id, check.company) !== undefined;
    return known ? id : check.fail(field, `Invalid pk "${id}" - object does not exist.`);
  };
}

/** `{id: int}`, or also the bare id. */
export function referenceObject(to: LookupName, bareToo = false): Kind<number> {
  const plain = reference(to);
  return (value, field, check) => {
    if (bareToo && typeof value === 'number') return plain(value, field, check);
    const members = object(value, field, check);
    if (!members) return null;
    const id = members.get('id') ?? null;
    if (id === null) return check.fail(`${field}.id`, 'This field is required.');
    return plain(id, `${field}.id`, check);
  };
}

export function object(value: Json, field: string, check: Check): JsonObject | null {
  return value instanceof Map ? value : check.fail(field, 'Invalid data. Expected a dictionary.');
}

/** A member of a nested object; absent and null are the same. */
export function member<V extends Value>(from: JsonObject, name: string, kind: Kind<V>, field: string, check: Check) {
  const value = from.get(name) ?? null;
  return value === null ? null : kind(value, `${field}.${name}`, check);
}

export function shown(value: Json): string {
  if (value instanceof Exact) return value.text;
  if (value instanceof Map) return '{…}';
  return Array.isArray(value) ? '[…]' : String(value);
}
