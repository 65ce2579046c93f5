/** A record as it is stored, never changed in place. */
export interface StoredRecord {
  readonly id: number;
  readonly company: number;
  /** Milliseconds. */
  readonly created: number;
  readonly modified: number;
  readonly values: StoredValues;
}

/** By field, in the order of the resource; each field has one. */
export type StoredValues = Readonly<Record<string, Value>>;

/** Amounts are text ("1200.00"), dates are `yyyy-MM-dd`, references are ids. */
export type Value =
  | null
  | string
  | number
  | boolean
  | CategoryChoice
  | Composed
  | readonly TemplateValues[]
  | readonly FormRow[];

export interface CategoryChoice {
  readonly category: number;
  readonly subcategory: string | null;
}

/** A value of named parts, such as a contact person or a currency, in the order of the interface. */
export interface Composed {
  readonly [part: string]: null | string | number | boolean | readonly string[];
}

/** Values of custom fields by field id. */
export type CustomValues = readonly (readonly [field: number, value: string | number | null])[];

export interface TemplateValues {
  readonly template: number;
  readonly values: CustomValues;
}

export interface FormRow {
  readonly form: number;
  readonly row: number;
  /** The first row of the same form, for every further one. */
  readonly parent: number | null;
  readonly sequence: number;
  readonly values: CustomValues;
}

/** An entry of a look-up, shown as it was put in. Read-only over HTTP; business units and hardware models cannot even be read. */
export interface LookupEntry {
  readonly id: number;
  readonly name?: string;
  readonly [member: string]: unknown;
}

export interface Category {
  readonly id: number;
  readonly category: string;
  readonly subcategories: readonly string[] | null;
}

export type DataType = 'date' | 'money' | 'number' | 'text' | 'attachment';

export interface CustomField {
  readonly id: number;
  readonly name: string;
  readonly data_type: DataType;
  readonly is_active: boolean;
  readonly order: number;
}

export interface FieldTemplate {
  readonly id: number;
  readonly name: string;
  readonly is_active: boolean;
  readonly type: 'asset' | 'contract' | 'supplier';
  readonly fields: readonly CustomField[];
}

export interface FormTemplate {
  readonly id: number;
  readonly name: string;
  readonly form_title: string;
  readonly type: 'asset' | 'contract' | 'customer' | 'supplier';
  readonly form_desc: string;
  readonly is_active: boolean;
  readonly is_default: boolean;
  readonly fields: readonly CustomField[];
}

/** Interface, section 2.6; whatever else the seed gives it is shown as it is. */
export interface License {
  readonly license_id: number;
  readonly issued_date: string | null;
  readonly activation_date: string | null;
  readonly claimed_date: string | null;
  readonly expiry_date: string | null;
  readonly [member: string]: unknown;
}

/** Entries by the name of their look-up. */
export interface LookupItems {
  company: LookupEntry;
  user: LookupEntry;
  category: Category;
  'usage-status': LookupEntry;
  'asset-owner': LookupEntry;
  'custom-field-template': FieldTemplate;
  'custom-form-template': FormTemplate;
  license: License;
  'business-unit': LookupEntry;
  'hardware-model': LookupEntry;
}

export type LookupName = keyof LookupItems;

/** An entry and the company it belongs to; `null` belongs to the whole account. */
interface Entry<T> {
  readonly company: number | null;
  readonly item: T;
}

export type Lookups = ReturnType<typeof createLookups>;

const idOf = (item: LookupItems[LookupName]): number => Number('license_id' in item ? item.license_id : item.id);

export function createLookups() {
  const stores = new Map<LookupName, Map<number, Entry<LookupItems[LookupName]>>>();
  const isVisible = (entry: Entry<unknown>, company: number) => entry.company === null || entry.company === company;
  return {
    get<N extends LookupName>(name: N, id: number, company: number): LookupItems[N] | undefined {
      const entry = stores.get(name)?.get(id);
      return entry && isVisible(entry, company) ? (entry.item as LookupItems[N]) : undefined;
    },
    /** Entries that a company sees, by id ascending. */
    list<N extends LookupName>(name: N, company: number): readonly LookupItems[N][] {
      const entries = [...(stores.get(name)?.values() ?? [])].filter((entry) => isVisible(entry, company));
      return entries.map((entry) => entry.item as LookupItems[N]).sort((a, b) => idOf(a) - idOf(b));
    },
    /** Adds or replaces. */
    put<N extends LookupName>(name: N, company: number | null, item: LookupItems[N]): void {
      const store = stores.get(name) ?? new Map();
      stores.set(name, store.set(idOf(item), { company, item }));
    },
  };
}
