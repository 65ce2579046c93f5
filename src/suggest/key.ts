import { isRequired } from '../resources/rules.js';
import type { FieldSpec, ResourceSpec } from '../resources/spec.js';
import { checkValue, ruleText } from '../resources/value-check.js';
import { type Assignment, PERSON, personParts } from './assign.js';
import type { Column } from './profile.js';

/** A mapped column that may tell records apart, measured. */
export interface SuggestedKey {
  readonly field: string;
  /** As the job names the column. */
  readonly heading: string;
  /** Rows that have a key of their own, of all rows. */
  readonly usable: number;
  readonly blank: number;
  readonly repeats: number;
  /** Filled cells among which repeats were counted: all, or those before a bound. */
  readonly counted: number;
  /** Nearly every row has one of its own; else those without are many, and invalid. */
  readonly fits: boolean;
  readonly uniqueField: 'name' | 'serial_number' | undefined;
}

/** Nearly all rows, as a share. */
const ENOUGH = 0.98;

/**
 * The first natural key that nearly every row has for itself; else the one that most rows have, where hardly any repeats and no
 * more than half of the cells are blank. Undefined where no column tells the rows apart: a person must say what is to become of
 * them. `measured`: all of these keys, the best first.
 */
export function chooseKey(spec: ResourceSpec, assigned: readonly Assignment[], rows: number) {
  const keys = spec.naturalKeys.flatMap((field) => {
    const one = assigned.find(({ mapped }) => mapped?.field.name === field);
    return one ? [measureKey(spec, field, one.column, rows)] : [];
  });
  const measured = keys.toSorted((a, b) => b.usable - a.usable);
  const tellsApart = (key: SuggestedKey) => key.repeats <= key.counted * (1 - ENOUGH) && key.usable >= rows / 2;
  return { key: rows === 0 ? keys[0] : (keys.find(({ fits }) => fits) ?? measured.find(tellsApart)), measured };
}

export function measureKey(spec: ResourceSpec, field: string, column: Column, rows: number): SuggestedKey {
  const { filled, blank, repeats, counted } = column;
  const usable = filled - repeats;
  const fits = rows > 0 && usable / rows >= ENOUGH;
  const unique = fits && spec.name === 'asset' && (field === 'name' || field === 'serial_number');
  const uniqueField = unique ? field : undefined;
  return { field, heading: column.name ?? column.heading, usable, blank, repeats, counted, fits, uniqueField };
}

/** A required field that no column gives, or one that another needs. */
export interface MissingField {
  readonly field: string;
  /** The rule, for people. */
  readonly rule: string;
  /** What a constant may say; undefined where a constant makes no sense (a name, a number). */
  readonly constant: string | undefined;
  /** Columns that may hold it. */
  readonly columns: readonly string[];
  /** Columns of which it can be put together. */
  readonly parts: readonly string[];
}

/** What people put together where a record has no name of its own, the best first. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  name: [
    'manufacturer',
    'product_description',
    'category.name',
    'supplier',
    'number',
    'description',
    'serial_number',
    'asset_tag',
  ],
};

/** One column says too little: of two the job puts the field together by itself. */
export const isComputed = (parts: readonly string[]): boolean => parts.length > 1;

/** What a person must put in; no value of any field, so that a job in which it is left is refused. */
export const PLACEHOLDER = '?';

export function missingFields(spec: ResourceSpec, assigned: readonly Assignment[]): MissingField[] {
  const provided = new Set(assigned.flatMap(({ mapped }) => (mapped ? [mapped.field.name] : [])));
  const fields = spec.fields.filter((field) => isRequired(field, 'create') && !provided.has(field.name));
  const person =
    provided.has('contact_person.email') && !provided.has(PERSON)
      ? personParts(assigned.map(({ column }) => column))
      : undefined;
  const named = person && { field: PERSON, rule: '', constant: undefined, columns: [], parts: person };
  const missing = fields.map((field) => ({
    field: field.name,
    rule: ruleText(field).replaceAll('`', ''),
    constant: constantFor(field, provided),
    columns: assigned.flatMap(({ column, guesses, mapped }) =>
      !mapped && guesses.some((guess) => guess.field === field) ? [column.heading] : [],
    ),
    parts:
      PARTS[field.name]
        ?.flatMap((part) => {
          const one = assigned.find(({ mapped }) => mapped?.field.name === part);
          const name = one?.column.name;
          // A heading with braces cannot stand in braces.
          return one && name !== undefined && !/[{}]/.test(name) && fitsField(one.column, field) ? [name] : [];
        })
        .slice(0, 2) ?? [],
  }));
  return [...missing, ...missingParty(spec, provided), ...(named ? [named] : [])];
}

/** Which of the two a contract needs depends on its type. */
function missingParty({ name }: ResourceSpec, provided: ReadonlySet<string>): MissingField[] {
  if (name !== 'contract' || provided.has('supplier') || provided.has('customer')) return [];
  const rule = 'of a buy_side contract; of a sell_side one write customer instead';
  return [{ field: 'supplier', rule, constant: PLACEHOLDER, columns: [], parts: [] }];
}

/** Whether most rows have a text, and most texts fit the field: long ones put nothing together. */
function fitsField({ cells, filled, blank }: Column, field: FieldSpec): boolean {
  return filled >= blank && cells.filter(({ text }) => checkValue(field, text) === undefined).length * 2 > cells.length;
}

function constantFor(field: FieldSpec, provided: ReadonlySet<string>): string | undefined {
  // A record has its own name and number: the same one in every row is never right.
  if (field.type.kind === 'text' || field.type.kind === 'email') return undefined;
  if (field.name === 'contract_type' && provided.has('supplier') !== provided.has('customer'))
    return provided.has('supplier') ? 'buy_side' : 'sell_side';
  return PLACEHOLDER;
}
