import { IMPORTABLE, type ImportableName, READ_ONLY, type ReadOnlyName } from '../model/resource-names.js';

/**
 * Resources as data. Everything that must know a field (job files, conversion, validation, bodies, tables of the documentation)
 * derives it from these descriptions; nothing else in the program lists fields.
 */

export { IMPORTABLE as WRITABLE, READ_ONLY, type ReadOnlyName };
export type ResourceName = ImportableName;

/** What a reference by name points to, and so where names are looked up. */
export type ReferenceTarget =
  | 'asset-owner'
  | 'business-unit'
  | 'category'
  | 'contract'
  | 'customer'
  | 'hardware-model'
  | 'make'
  | 'supplier'
  | 'usage-status';

/** What kind of value a field holds and what the interface says about it. */
export type FieldType =
  /** Lengths in characters. `updateMax`: where an update accepts fewer than `max`. */
  | { readonly kind: 'text'; readonly max?: number; readonly updateMax?: number; readonly exact?: number }
  | { readonly kind: 'email'; readonly max: number }
  | { readonly kind: 'texts' }
  | { readonly kind: 'integer'; readonly min?: number; readonly max?: number }
  /** Inclusive bounds as decimal text. */
  | { readonly kind: 'decimal'; readonly min?: string; readonly max?: string }
  | { readonly kind: 'date' }
  | { readonly kind: 'boolean' }
  | {
      readonly kind: 'enum';
      /** Accepted on create (and on update, unless `update` narrows it). */
      readonly values: readonly string[];
      /** What reads may show, where it differs from `values`. */
      readonly read?: readonly string[];
      /** What an update accepts, where it differs from `values`. */
      readonly update?: readonly string[];
    }
  | { readonly kind: 'reference'; readonly to: ReferenceTarget }
  /** ISO 3166-1; canonical value `{id: numeric code, name}`. */
  | { readonly kind: 'country' };

export interface FieldSpec {
  /** As job files write it; dotted for parts of an object, e.g. `contact_person.email`. */
  readonly name: string;
  /** Other spellings of the interface (`bldng_name`) and of users; accepted in job files. */
  readonly aliases?: readonly string[];
  /** For people. */
  readonly label: string;
  readonly type: FieldType;
  /** Required in every write that can carry it. */
  readonly required?: boolean;
  /** Required in updates only. */
  readonly requiredOnUpdate?: boolean;
  /** Dotted path in the read form; absent: reads do not show it. */
  readonly read?: string;
  /** Further places in the read form that show the same value, looked at in order where `read` is empty. */
  readonly readElse?: readonly string[];
  /** Dotted path in the create body; absent: cannot be written on create. */
  readonly create?: string;
  /** Dotted path in the update body; absent: cannot be written on update. */
  readonly update?: string;
  /** Reads show the name of this reference without its id. */
  readonly readsNameOnly?: boolean;
  /** A reference that updates carry as one of these words, made from its name, instead of the id. */
  readonly updateWords?: readonly string[];
  /** Computed by the service from other data: never written, never carried over, never at risk. */
  readonly derived?: boolean;
  /** The service keeps it whatever an update says (e.g. contract_type): never at risk although not in the body. */
  readonly keptByService?: boolean;
  /** One line for the documentation and for templates, where the name does not say it. */
  readonly note?: string;
}

/** Where reads show a field, the first place first. */
export function readPaths({ read, readElse = [] }: FieldSpec): readonly string[] {
  return read === undefined ? readElse : [read, ...readElse];
}

export interface ResourceSpec {
  readonly name: ResourceName;
  /** Customers can be written, and neither read nor listed. */
  readonly readable: boolean;
  readonly fields: readonly FieldSpec[];
  /** Query parameters of the list that filter by the exact value of a field: parameter by field name. */
  readonly filters: Readonly<Record<string, string>>;
  /** Custom field template: where it stands in each form. `list`: an array with one element. */
  readonly template: {
    readonly read: string;
    readonly create: string;
    readonly createAsList: boolean;
    readonly update: string;
  };
  /** Custom form columns: where they stand; absent where the interface has none. */
  readonly form?: { readonly read?: string; readonly create: string; readonly update?: string };
  /** Values of the custom field data type text: most characters on create and on update. */
  readonly templateTextMax: { readonly create: number; readonly update: number };
  /** Fields that identify a record by nature, the best first. */
  readonly naturalKeys: readonly [string, ...string[]];
  /** Natural keys the service itself keeps unique, by field. */
  readonly uniqueFields: readonly string[];
  /** Read-only groups that count as lost only where one of `signs` holds a value other than false. */
  readonly idleGroups?: readonly { readonly prefix: string; readonly signs: readonly string[] }[];
}

/** One column of a custom field template or custom form. */
export interface CustomField {
  readonly id: number;
  readonly name: string;
  readonly dataType: 'date' | 'money' | 'number' | 'text' | 'attachment';
  readonly active: boolean;
}

export interface CustomTemplate {
  readonly id: number;
  readonly name: string;
  readonly resource: string;
  readonly active: boolean;
  readonly fields: readonly CustomField[];
}

/** Which part of a date such as `03/04/2024` comes first in what the service shows. */
export type DateOrder = 'dmy' | 'mdy';

/** What is needed to read and write custom fields and names without an id; asked, never guessed. */
export interface Lexicon {
  /** Custom field template by id. */
  template(id: number): CustomTemplate | undefined;
  /** Custom form template by id. */
  form(id: number): CustomTemplate | undefined;
  /** Id of a record that reads show by name only (hardware model), or the country that the service spells so. */
  idOf(target: ReferenceTarget | 'country', name: string): number | undefined;
  /** Keeps how the service spells a country, for good. */
  learnCountry?(code: number, spelling: string): void;
  /** Name by id where it is known (a usage status, for the enum of updates). */
  nameOf(target: ReferenceTarget, id: number): string | undefined;
  /** Undefined: the records of this run do not tell, or contradict one another. */
  readonly dateOrder?: DateOrder | undefined;
}

/** Nothing is known of the service: what names mean that are its own is found out when a run begins. */
export const NO_LEXICON: Lexicon = {
  template: () => undefined,
  form: () => undefined,
  idOf: () => undefined,
  nameOf: () => undefined,
};

/** Operations a field takes part in under its own name: read, create, update. */
export type Operations = 'r' | 'c' | 'rc' | 'rcu' | 'cu' | '';

/** Describes a field; `more` overrides the paths. */
export function field(
  name: string,
  label: string,
  type: FieldType,
  operations: Operations,
  more: Omit<Partial<FieldSpec>, 'name' | 'label' | 'type'> = {},
): FieldSpec {
  return {
    name,
    label,
    type,
    ...(operations.includes('r') ? { read: name } : {}),
    ...(operations.includes('c') ? { create: name } : {}),
    ...(operations.includes('u') ? { update: name } : {}),
    ...more,
  };
}

export const text = (max?: number): FieldType => (max === undefined ? { kind: 'text' } : { kind: 'text', max });
export const email = (max: number): FieldType => ({ kind: 'email', max });
export const reference = (to: ReferenceTarget): FieldType => ({ kind: 'reference', to });
export const choice = (values: readonly string[]): FieldType => ({ kind: 'enum', values });

export const date: FieldType = { kind: 'date' };
export const yesNo: FieldType = { kind: 'boolean' };
export const country: FieldType = { kind: 'country' };
export const id: FieldType = { kind: 'integer', min: 1 };

/** Interface, section 2.1: every money-like field of a body. */
export const MONEY_MIN = '0';
export const MONEY_MAX = '999999999999999';
export const money: FieldType = { kind: 'decimal', min: MONEY_MIN, max: MONEY_MAX };

/** A function that works out once for each object what follows from it: descriptions never change. */
export function memoized<K extends object, V>(compute: (of: K) => V): (of: K) => V {
  const cache = new WeakMap<K, V>();
  return (of) => {
    let found = cache.get(of);
    if (found === undefined) {
      found = compute(of);
      cache.set(of, found);
    }
    return found;
  };
}
