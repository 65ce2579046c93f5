import type { WritableName } from './kinds.js';
import type { FormRow, Stored, Value } from './record.js';
import type { Switches } from './switches.js';
import type { Table } from './table.js';
import { COMPILED, type World } from './world.js';

/** Query parameters of lists and the stored text fields they filter. Interface, sections 4.1 and 4.4. */
const TEXT_FILTERS: Readonly<Record<WritableName, Readonly<Record<string, string>>>> = {
  asset: { name: 'name', serial_number: 'serial_number', manufacturer_name: 'manufacturer', asset_tag: 'asset_tag' },
  contract: { name: 'name', contract_no: 'number' },
  supplier: {},
  customer: {},
};

type Matching = Switches['filters'];

/** Whether a text passes a filter, as the service's filters match. */
export function matches(text: string, wanted: string, matching: Matching): boolean {
  if (matching === 'ignored') return true;
  if (matching === 'contains') return text.includes(wanted);
  if (matching === 'ignore_case') return text.toLowerCase() === wanted.toLowerCase();
  return text === wanted;
}

/** Ids of a company's records that pass the filters of the query, ascending. */
export function filtered(
  world: World,
  resource: WritableName,
  company: number,
  query: URLSearchParams,
): readonly number[] {
  const table = world.listed(resource);
  const matching = world.switches.filters;
  let ids = table.ids(company);
  for (const [parameter, field] of Object.entries(TEXT_FILTERS[resource])) {
    const wanted = query.get(parameter);
    if (wanted === null || wanted === '' || matching === 'ignored') continue;
    const position = COMPILED[resource].positions.get(field)!;
    ids = narrow(table, ids, company, position, wanted, matching);
  }
  return resource === 'asset' ? byCustomForm(world, table, ids, query) : ids;
}

function narrow(
  table: Table,
  ids: readonly number[],
  company: number,
  position: number,
  wanted: string,
  matching: Matching,
): readonly number[] {
  if (matching === 'exact' && table.isIndexed(position)) {
    const hits = table.lookUp(position, wanted).filter((id) => table.get(id)!.company === company);
    return ids === table.ids(company) ? hits : hits.filter((id) => ids.includes(id));
  }
  return ids.filter((id) => {
    const text = table.get(id)!.values[position];
    return typeof text === 'string' && matches(text, wanted, matching);
  });
}

/** `custom_form_id`, `custom_form_name` (a column), `custom_form_value`. */
function byCustomForm(world: World, table: Table, ids: readonly number[], query: URLSearchParams): readonly number[] {
  const form = query.get('custom_form_id');
  const column = query.get('custom_form_name');
  const wanted = query.get('custom_form_value');
  if ((form === null && column === null && wanted === null) || world.switches.filters === 'ignored') return ids;
  const position = COMPILED.asset.positions.get('form_template')!;
  const passes = (record: Stored, row: FormRow): boolean => {
    if (form !== null && String(row.form) !== form) return false;
    const known = world.lookups.get('custom-form-template', row.form, record.company)?.fields ?? [];
    if (column === null && wanted === null) return true;
    return row.values.some(([id, value]) => {
      const name = known.find((one) => one.id === id)?.name;
      if (column !== null && name !== column) return false;
      return wanted === null || (value !== null && matches(String(value), wanted, world.switches.filters));
    });
  };
  return ids.filter((id) => {
    const record = table.get(id)!;
    return ((record.values[position] ?? []) as readonly FormRow[]).some((row) => passes(record, row));
  });
}

const ORDERINGS = [
  'asset_id',
  'asset_name',
  'created_date',
  'modified_date',
  'support_start_date',
  'support_end_date',
  'warranty_start_date',
  'warranty_end_date',
];

interface Sorted {
  readonly source: readonly number[];
  readonly version: number;
  readonly ids: readonly number[];
}

/** Sorted lists are kept until the table changes: a walk over thousands of pages sorts once. */
export type SortMemory = Map<string, Sorted>;

/** The ids in the order asked for; undefined for an unknown ordering. Empty values come last, also descending. */
export function ordered(
  world: World,
  ids: readonly number[],
  ordering: string,
  memory: SortMemory,
): readonly number[] | undefined {
  const descending = ordering.startsWith('-');
  const by = descending ? ordering.slice(1) : ordering;
  if (!ORDERINGS.includes(by)) return undefined;
  const table = world.listed('asset');
  const known = memory.get(ordering);
  if (known && known.source === ids && known.version === table.version) return known.ids;
  const keyOf = orderKey(by);
  const keyed = ids.map((id) => ({ id, key: keyOf(table.get(id)!) }));
  const sign = descending ? -1 : 1;
  keyed.sort((a, b) => {
    if (a.key === b.key) return a.id - b.id;
    if (a.key === null) return 1;
    if (b.key === null) return -1;
    return a.key < b.key ? -sign : sign;
  });
  const sorted = keyed.map(({ id }) => id);
  memory.set(ordering, { source: ids, version: table.version, ids: sorted });
  return sorted;
}

function orderKey(by: string): (record: Stored) => string | number | null {
  if (by === 'asset_id') return (record) => record.id;
  if (by === 'created_date') return (record) => record.created;
  if (by === 'modified_date') return (record) => record.modified;
  const position = COMPILED.asset.positions.get(by === 'asset_name' ? 'name' : by)!;
  return (record) => (record.values[position] ?? null) as string | null;
}

/** The serial numbers of the list that exist, one for each asset that has it. */
export function probed(world: World, company: number, wanted: readonly string[]): string[] {
  const table = world.listed('asset');
  const position = COMPILED.asset.positions.get('serial_number')!;
  const found: string[] = [];
  for (const serial of new Set(wanted)) {
    for (const id of table.lookUp(position, serial)) {
      if (table.get(id)!.company === company) found.push(serial);
    }
  }
  return found;
}

/** Every serial number of a company, by asset id ascending. */
export function serialNumbers(world: World, company: number): string[] {
  const table = world.listed('asset');
  const position = COMPILED.asset.positions.get('serial_number')!;
  const isText = (value: Value | undefined): value is string => typeof value === 'string' && value !== '';
  return table
    .ids(company)
    .map((id) => table.get(id)!.values[position])
    .filter(isText);
}

export const isInteger = (text: string): boolean => /^-?\d{1,15}$/.test(text);
