import { normaliseKey, normaliseName } from '../model/value.js';
import type { FieldSpec, ReferenceTarget, ResourceName, ResourceSpec } from '../resources/spec.js';
import { fixedChoices } from '../resources/value-check.js';

/** The columns of a blank workbook: which there are, in which order, under which headings, and what their lists offer. */

export interface BlankColumn {
  /** As it stands in row 1; unique in its sheet, `*` at the end where every row needs a value. */
  readonly heading: string;
  /** The field as the job file names it: `original_cost`, `template.Finance.Cost Centre`. */
  readonly field: string;
  readonly spec: FieldSpec;
  readonly required: boolean;
  /** Rows are matched by this column. */
  readonly key: boolean;
}

/** A field of a template or form, with the name that the job file gives it. */
export interface CustomColumn {
  readonly field: string;
  readonly spec: FieldSpec;
}

/** The data sheet's name. */
export const SHEET_NAME: Readonly<Record<ResourceName, string>> = {
  asset: 'Assets',
  contract: 'Contracts',
  supplier: 'Suppliers',
  customer: 'Customers',
};

/** The fields that people use, those first that every row needs. A blank workbook has these; `--all` adds the others. */
export const COMMON_FIELDS: Readonly<Record<ResourceName, readonly string[]>> = {
  asset: [
    ...['name', 'serial_number', 'asset_tag', 'category.name', 'category.subcategory'],
    ...['manufacturer', 'product_description'],
    ...['lifecycle_stage', 'asset_owner', 'country', 'city'],
    ...['attached_supplier', 'original_cost', 'service_start_date', 'warranty_end_date'],
  ],
  contract: [
    ...['name', 'number', 'contract_type', 'country', 'status'],
    ...['contract_start_date', 'contract_end_date', 'total_contract_spend_value'],
    ...['customer', 'supplier', 'category.name', 'category.subcategory', 'description'],
    ...['notice_period', 'payment_terms'],
  ],
  supplier: [
    ...['name', 'category.name', 'general_description', 'website'],
    ...['contact_person.name', 'contact_person.email', 'phone'],
    ...['address_line_1', 'address_line_2', 'city', 'state_province', 'zip_postal_code', 'country'],
    ...['business_name', 'ein'],
  ],
  customer: [
    ...['name', 'category.name', 'general_description', 'website'],
    ...['contact_person.name', 'contact_person.email', 'phone', 'mobile'],
    ...['address_line_1', 'address_line_2', 'city', 'state_province', 'zip_postal_code', 'country'],
  ],
};

/** Every field that an import can set: those that people use, the rest as the interface has it, then custom fields and forms. */
export function blankColumns(spec: ResourceSpec, custom: readonly CustomColumn[]): BlankColumn[] {
  const used = COMMON_FIELDS[spec.name];
  const place = ({ name }: FieldSpec) => (used.includes(name) ? used.indexOf(name) : used.length);
  const own = spec.fields
    .filter((field) => !field.derived && (field.create !== undefined || field.update !== undefined))
    .sort((a, b) => place(a) - place(b))
    .map((field) => {
      const key = field.name === spec.naturalKeys[0];
      return { field: field.name, spec: field, required: key || field.required === true, key };
    });
  const others = custom.map((one) => ({ ...one, required: false, key: false }));
  const taken = new Set<string>();
  return [...own, ...others].map((column) => ({ heading: headingOf(column, taken), ...column }));
}

/** Characters nobody sees or that cannot stand in a cell. */
const INVISIBLE = /[\u00ad\u200b\u2060\ufeff\p{Cc}\p{Surrogate}\ufffe\uffff]+/gu;
/** A note on the heading says the whole name. */
const LONGEST_HEADING = 120;

/** Custom names are free text of the service: blank, alike, or like rowferry's own columns (`_row`), they get their ids. */
function headingOf({ spec, required }: Omit<BlankColumn, 'heading'>, taken: Set<string>): string {
  const label = normaliseName(spec.label.replace(INVISIBLE, ' '));
  const short = Array.from(label).slice(0, LONGEST_HEADING).join('').trim();
  // The columns of a form go by their names, which may differ in case alone.
  let heading = /^[:_]|:$|^$/.test(short) || taken.has(folded(short)) ? spec.name : short;
  for (let n = 2; taken.has(folded(heading)); n++) heading = `${spec.name} (${n})`;
  taken.add(folded(heading));
  return required ? `${heading} *` : heading;
}

/** Headings are compared without case. */
const folded = (text: string) => text.toUpperCase().toLowerCase().normalize('NFC');

// What the lists offer: every text is read by the import as exactly the value it stands for.

/** The names of one kind of record of the service. */
export interface NameChoices {
  readonly names: readonly string[];
  /** Names that several records share, or that would be read as something else; they are in no list. */
  readonly leftOut: number;
  /** `known`: only what earlier runs learned, because the service has no list of them. */
  readonly source: 'service' | 'known';
}

/** What the service knows, as far as it was asked and answered; `subcategory` of all categories. */
export type ServiceNames = ReadonlyMap<ReferenceTarget | 'subcategory', NameChoices>;

export interface DropDown {
  /** Name of the range in the workbook, and the list's heading in the sheet of lists. */
  readonly name: string;
  /** For people: `Supplier`. */
  readonly title: string;
  readonly values: readonly string[];
  /** Whether nothing else can be right; else the list is a help, and other values may be typed. */
  readonly closed: boolean;
}

const TITLES: Readonly<Record<ReferenceTarget | 'subcategory', string>> = {
  'asset-owner': 'Owners',
  'business-unit': 'Business units',
  category: 'Categories',
  contract: 'Contracts',
  customer: 'Customers',
  'hardware-model': 'Hardware models',
  make: 'Makes',
  subcategory: 'Subcategories',
  supplier: 'Suppliers',
  'usage-status': 'Usage statuses',
};

/** The drop-down list of each column that has one, by field; columns that take the same values share one. */
export function dropDowns(columns: readonly BlankColumn[], service: ServiceNames): Map<string, DropDown> {
  const lists = new Map<string, DropDown>();
  const shared = new Map<string, DropDown>();
  for (const { field, spec } of columns) {
    const { type } = spec;
    const key =
      field === SUBCATEGORY
        ? 'subcategory'
        : type.kind === 'enum'
          ? field
          : type.kind === 'reference'
            ? type.to
            : type.kind;
    const made = shared.has(key) ? undefined : listOf(spec, service);
    if (made) shared.set(key, { name: `list_${key.replace(/[^a-z0-9]+/gi, '_')}`, ...made });
    const list = shared.get(key);
    if (list) lists.set(field, list);
  }
  return lists;
}

const SUBCATEGORY = 'category.subcategory';

function listOf({ name, type, label }: FieldSpec, service: ServiceNames): Omit<DropDown, 'name'> | undefined {
  const values = fixedChoices(type);
  switch (type.kind) {
    case 'enum':
      return { title: label, values, closed: true };
    case 'boolean':
      return { title: 'Yes or no', values, closed: true };
    case 'country':
      return { title: 'Countries', values, closed: false };
  }
  const of = name === SUBCATEGORY ? 'subcategory' : type.kind === 'reference' ? type.to : undefined;
  const choices = of && service.get(of);
  if (!of || !choices || choices.names.length === 0) return undefined;
  return { title: TITLES[of], values: choices.names, closed: false };
}

/** Longer than a person can choose from at a glance, and than names of the service may be. */
const LONGEST_NAME = 200;
const UNFIT =
  /[\p{Cc}\p{Surrogate}\ufffe\uffff]|^[\u00ad\u200b\u2060\ufeff]|[\u00ad\u200b\u2060\ufeff]$|_x[0-9a-f]{4}_/iu;
/** Whole numbers are read as ids, `id:17` too; `1.2E+10` is what is left of a long number. */
const READ_AS_OTHER = /^\d+$|^id\s*:|^-?\d[.,]\d+E\+\d{2,3}$/i;

/**
 * The texts that stand for one record each. A record may have several spellings (an owner's name and e-mail address):
 * the first that is its alone is offered.
 */
export function chooseNames(
  records: readonly (readonly string[])[],
  source: NameChoices['source'] = 'service',
): NameChoices {
  const holders = new Map<string, number>();
  const keyed = records.map((spellings) => [...new Set(spellings.map(normaliseKey).filter((text) => text !== ''))]);
  for (const spellings of keyed) for (const text of spellings) holders.set(text, (holders.get(text) ?? 0) + 1);
  const names: string[] = [];
  let leftOut = 0;
  for (const spellings of keyed) {
    const fit = spellings.find(
      (text) =>
        holders.get(text) === 1 && text.length <= LONGEST_NAME && !UNFIT.test(text) && !READ_AS_OTHER.test(text),
    );
    if (fit !== undefined) names.push(fit);
    else if (spellings.length > 0) leftOut++;
  }
  return { names: names.sort((a, b) => a.localeCompare(b, 'en')), leftOut, source };
}
