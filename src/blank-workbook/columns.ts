import { normaliseName } from '../model/value.js';
import type { FieldSpec, ResourceName, ResourceSpec } from '../resources/spec.js';

/** The columns of a blank workbook: which there are, in which order, under which headings. */

export interface BlankColumn {
  /** As it stands in row 1; unique in its sheet, `*` at the end where every row needs a value. */
  readonly heading: string;
  /** The field as the job file names it: `original_cost`, `template.Finance.Cost Centre`. */
  readonly field: string;
  readonly spec: FieldSpec;
  /** `depends`: needed in some rows, as the field's note says. */
  readonly need: 'always' | 'depends' | 'no';
  /** Rows are matched by this column. */
  readonly key: boolean;
  /** A field of a custom field template or a column of a custom form. */
  readonly custom: boolean;
}

/** A field of a template or form, with the name that the job file gives it. */
export interface CustomColumn {
  readonly field: string;
  readonly spec: FieldSpec;
}

/** The data sheet's name. */
export const SHEET: Readonly<Record<ResourceName, string>> = {
  asset: 'Assets',
  contract: 'Contracts',
  supplier: 'Suppliers',
  customer: 'Customers',
};

/** The field by which a row and a record are known to be the same; contract, section 4. */
export const KEY: Readonly<Record<ResourceName, string>> = {
  asset: 'serial_number',
  contract: 'number',
  supplier: 'name',
  customer: 'name',
};

/** Fields of which every row needs one, whichever its other values say (interface, section 4.3, rules 1 and 2). */
const ONE_OF: Partial<Record<ResourceName, readonly string[]>> = { contract: ['supplier', 'customer'] };

/** Whether a workbook without this column could not be imported. */
export function isIndispensable(column: BlankColumn, spec: ResourceSpec): boolean {
  return column.need === 'always' || (ONE_OF[spec.name]?.includes(column.field) ?? false);
}

/**
 * Every field that an import can set. First the name and the key, then what else every row needs, then what only some
 * rows need and the import cannot do without, then the rest as the interface has it, then custom fields and forms.
 */
export function blankColumns(spec: ResourceSpec, custom: readonly CustomColumn[]): BlankColumn[] {
  const key = KEY[spec.name];
  const own = spec.fields
    .filter((field) => !field.derived && (field.create !== undefined || field.update !== undefined))
    .map((field): Omit<BlankColumn, 'heading'> => {
      const isKey = field.name === key;
      const need =
        field.required || isKey ? 'always' : /^Required (?:when|in)\b/.test(field.note ?? '') ? 'depends' : 'no';
      return { field: field.name, spec: field, need, key: isKey, custom: false };
    });
  const rank = (column: Omit<BlankColumn, 'heading'>) => {
    if (column.field === 'name') return 0;
    if (column.key) return 1;
    if (column.need === 'always') return 2;
    return ONE_OF[spec.name]?.includes(column.field) ? 3 : 4;
  };
  const sorted = own
    .map((column, at) => ({ column, at }))
    .sort((a, b) => rank(a.column) - rank(b.column) || a.at - b.at);
  const taken = new Set<string>();
  return [
    ...sorted.map(({ column }) => column),
    ...custom.map((one): Omit<BlankColumn, 'heading'> => ({ ...one, need: 'no', key: false, custom: true })),
  ].map((column) => ({ heading: headingOf(column, taken), ...column }));
}

/** Characters nobody sees or that cannot stand in a cell. */
const INVISIBLE = /[\u00ad\u200b\u2060\ufeff\p{Cc}\p{Surrogate}\ufffe\uffff]+/gu;
/** A note on the heading says the whole name. */
const LONGEST = 120;

/** Custom names are free text of the service: blank, alike, or like rowferry's own columns (`_row`), they get their ids. */
function headingOf({ spec, need }: Omit<BlankColumn, 'heading'>, taken: Set<string>): string {
  const clean = normaliseName(spec.label.replace(INVISIBLE, ' '));
  const short = Array.from(clean).slice(0, LONGEST).join('').trim();
  const free = (text: string) => !/^_/.test(text) && !taken.has(folded(text));
  const plain = /^:|:$|^$/.test(short) ? spec.name : short;
  let heading = free(plain) ? plain : `Field ${plain.replace(/^_+/, '')} (${spec.name})`;
  // The columns of a form go by their names, which may differ in case alone.
  const base = heading;
  for (let n = 2; !free(heading); n++) heading = `${base} (${n})`;
  taken.add(folded(heading));
  return need === 'always' ? `${heading} *` : heading;
}

/** Headings are compared without case. */
const folded = (text: string) => text.toUpperCase().toLowerCase().normalize('NFC');
