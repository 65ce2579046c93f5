import { ruleText } from '../resources/describe.js';
import { isRequired } from '../resources/rules.js';
import type { FieldSpec, ResourceName, ResourceSpec } from '../resources/spec.js';
import type { Assigned } from './assign.js';

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
  /** Whether the field is a natural key of the resource. */
  readonly natural: boolean;
  readonly uniqueField: 'name' | 'serial_number' | undefined;
}

/** Others that a record has for itself; taken only where no natural key is mapped. Never an address or free text. */
const IDENTIFYING: Readonly<Record<ResourceName, readonly string[]>> = {
  asset: ['pseudo_number', 'inventory_no', 'ssb_tag', 'uscp_no', 'mac_address'],
  contract: [],
  supplier: ['ein', 'business_name', 'website', 'contact_person.email'],
  // Of a customer nothing but the name can be looked up.
  customer: [],
};

/** A column in which more rows than this have no key of their own is taken only where there is no better one. */
const ENOUGH = 0.98;

/** Undefined where no mapped column can be a key. */
export function chooseKey(spec: ResourceSpec, assigned: readonly Assigned[], rows: number): SuggestedKey | undefined {
  const among = (fields: readonly string[]) =>
    fields.flatMap((field) => {
      const one = assigned.find(({ mapped }) => mapped?.field.name === field);
      return one ? [measure(spec, one, rows)] : [];
    });
  const natural = among(spec.naturalKeys);
  const mostUsable = (keys: readonly SuggestedKey[]) => keys.toSorted((a, b) => b.usable - a.usable)[0];
  return natural.find(({ fits }) => fits) ?? mostUsable(natural) ?? mostUsable(among(IDENTIFYING[spec.name]));
}

function measure(spec: ResourceSpec, { column, mapped }: Assigned, rows: number): SuggestedKey {
  const { heading, filled, blank, repeats, counted } = column;
  const field = mapped!.field.name;
  const natural = spec.naturalKeys.includes(field);
  const usable = filled - repeats;
  const fits = natural && rows > 0 && usable / rows >= ENOUGH;
  const uniqueField =
    fits && spec.name === 'asset' && (field === 'name' || field === 'serial_number') ? field : undefined;
  return { field, heading, usable, blank, repeats, counted, fits, natural, uniqueField };
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
