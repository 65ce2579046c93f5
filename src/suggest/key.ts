import { ruleText } from '../resources/describe.js';
import { isRequired } from '../resources/rules.js';
import type { FieldSpec, ResourceSpec } from '../resources/spec.js';
import type { Assigned } from './assign.js';
import type { Column } from './profile.js';

/** The mapped column that tells records apart, measured. */
export interface SuggestedKey {
  readonly field: string;
  readonly heading: string;
  /** Rows that have a key of their own, of all rows. */
  readonly usable: number;
  readonly blank: number;
  readonly repeats: number;
  /** Filled cells among which repeats were counted: all, or those before a bound. */
  readonly counted: number;
  readonly fits: boolean;
  readonly uniqueField: 'name' | 'serial_number' | undefined;
}

/** A column in which more rows than this have no key of their own is taken only where there is no better one. */
const ENOUGH = 0.98;

/** The first natural key that nearly every row has for itself, else the one that most rows have; undefined where none is mapped. */
export function chooseKey(spec: ResourceSpec, assigned: readonly Assigned[], rows: number): SuggestedKey | undefined {
  const keys = spec.naturalKeys.flatMap((field) => {
    const one = assigned.find(({ mapped }) => mapped?.field.name === field);
    return one ? [measure(spec, field, one.column, rows)] : [];
  });
  return keys.find(({ fits }) => fits) ?? keys.sort((a, b) => b.usable - a.usable)[0];
}

function measure(spec: ResourceSpec, field: string, column: Column, rows: number): SuggestedKey {
  const { heading, filled, blank, repeats, counted } = column;
  const usable = filled - repeats;
  const fits = rows > 0 && usable / rows >= ENOUGH;
  const unique = fits && spec.name === 'asset' && (field === 'name' || field === 'serial_number');
  return { field, heading, usable, blank, repeats, counted, fits, uniqueField: unique ? field : undefined };
}

/** A required field that no column gives. */
export interface MissingField {
  readonly field: string;
  /** The rule, for people. */
  readonly rule: string;
  /** What a constant may say; undefined where a constant makes no sense (a name, a number). */
  readonly constant: string | undefined;
  /** Columns that may hold it. */
  readonly columns: readonly string[];
}

/** What a person must put in; no value of any field, so that a job in which it is left is refused. */
export const TO_FILL = '?';

export function missingFields(spec: ResourceSpec, assigned: readonly Assigned[]): MissingField[] {
  const given = new Set(assigned.flatMap(({ mapped }) => (mapped ? [mapped.field.name] : [])));
  const fields = spec.fields.filter((field) => isRequired(field, 'create') && !given.has(field.name));
  return fields.map((field) => ({
    field: field.name,
    rule: ruleText(field).replaceAll('`', ''),
    constant: constantFor(field, given),
    columns: assigned.flatMap(({ column, guesses, mapped }) =>
      !mapped && guesses.some((guess) => guess.field === field) ? [column.heading] : [],
    ),
  }));
}

function constantFor(field: FieldSpec, given: ReadonlySet<string>): string | undefined {
  // A record has its own name and number: the same one in every row is never right.
  if (field.type.kind === 'text' || field.type.kind === 'email') return undefined;
  if (field.name === 'contract_type' && given.has('supplier') !== given.has('customer'))
    return given.has('supplier') ? 'buy_side' : 'sell_side';
  return TO_FILL;
}
