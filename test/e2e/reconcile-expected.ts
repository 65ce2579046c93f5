import { parse } from 'csv-parse/sync';
import type { Desk } from './reconcile-night.js';

/**
 * What a reconciliation of an ERP file (reconcile-erp.ts) must find out, worked out from the text of the file and from what
 * the service answers to reads. Shares no code with the pipeline.
 */

type Json = Readonly<Record<string, unknown>>;

/** A value in the one form in which both sides are compared; null is none. */
export type Plain = string | null;

export interface Difference {
  readonly field: string;
  readonly service: Plain;
  readonly file: Plain;
  readonly stands: 'file' | 'service';
  readonly action: 'set' | 'clear' | 'kept';
}

export interface ExpectedRow {
  readonly row: number;
  readonly key: string;
  readonly outcome: string;
  readonly id?: number;
  readonly differences: readonly Difference[];
  readonly codes: readonly string[];
  /** Created rows: everything the record is given. */
  readonly values: Readonly<Record<string, Plain>>;
}

export interface Expected {
  readonly rows: readonly ExpectedRow[];
  /** Records in scope that no row means, ascending. */
  readonly orphans: readonly number[];
  readonly scope: { readonly records: number; readonly without_key: number; readonly outside: number };
}

interface Field {
  readonly heading: string;
  readonly field: string;
  /** The cell's value, or the code of what is wrong with it. */
  readonly read: (text: string, world: Names) => { readonly value: Plain } | { readonly code: string };
  readonly held: (record: Json) => Plain;
  readonly whose?: 'service' | 'fill';
  readonly clears?: true;
  readonly compared?: false;
}

interface Names {
  readonly owners: ReadonlyMap<string, readonly number[]>;
  readonly suppliers: ReadonlyMap<string, number>;
  readonly contracts: ReadonlyMap<string, number>;
  readonly categories: ReadonlyMap<string, number>;
  readonly subcategories: ReadonlyMap<number, readonly string[]>;
}

const text = (value: unknown): Plain => (value === null || value === undefined || value === '' ? null : String(value));
const part = (value: unknown, name: string): Plain => text((value as Json | null)?.[name]);

/** `1200.50`, `1200.5` and `1200.500` are one amount. */
export function plainAmount(digits: string): string {
  const [whole = '', fraction = ''] = digits.split('.');
  const cut = fraction.replace(/0+$/, '');
  return `${whole.replace(/^0+(?=\d)/, '')}${cut === '' ? '' : `.${cut}`}`;
}

const money: Field['read'] = (cell) => {
  const digits = cell.replace(/[$,]|EUR/g, '').trim();
  return /^\d+(\.\d+)?$/.test(digits) ? { value: plainAmount(digits) } : { code: 'not_a_number' };
};

const date: Field['read'] = (cell) => {
  const parts = /^(\d{4})-(\d\d)-(\d\d)$/.exec(cell) ?? /^(\d\d)\/(\d\d)\/(\d{4})$/.exec(cell);
  if (!parts) return { code: 'not_a_date' };
  const iso = cell.includes('/') ? `${parts[3]}-${parts[2]}-${parts[1]}` : cell;
  const days = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][Number(iso.slice(5, 7)) - 1] ?? 0;
  return Number(iso.slice(8)) <= days ? { value: iso } : { code: 'not_a_date' };
};

const listed =
  (...words: string[]): Field['read'] =>
  (cell) => {
    const word = cell.toLowerCase().replaceAll(' ', '_');
    return words.includes(word) ? { value: word } : { code: 'not_in_list' };
  };

const known =
  (names: (world: Names) => ReadonlyMap<string, number | readonly number[]>): Field['read'] =>
  (cell, world) => {
    const found = names(world).get(cell);
    if (found === undefined) return { code: 'reference_not_found' };
    if (typeof found === 'number') return { value: String(found) };
    return found.length === 1 ? { value: String(found[0]) } : { code: 'reference_ambiguous' };
  };

const COUNTRY_NAMES: Readonly<Record<string, string>> = {
  Germany: '276',
  DE: '276',
  DEU: '276',
  '276': '276',
  France: '250',
  FR: '250',
  FRA: '250',
  '250': '250',
  US: '840',
  USA: '840',
  '840': '840',
  'United States of America': '840',
  'United Kingdom': '826',
  GB: '826',
  GBR: '826',
  '826': '826',
  Brazil: '76',
  BR: '76',
  BRA: '76',
  '076': '76',
};
const country = (name: Plain): Plain => (name === null ? null : (COUNTRY_NAMES[name] ?? `unheard of: ${name}`));

const limited: Field['read'] = (cell) => ([...cell].length > 50 ? { code: 'too_long' } : { value: cell });
const plain: Field['read'] = (cell) => ({ value: cell });
const amountOf = (value: unknown): Plain => (text(value) === null ? null : plainAmount(String(value)));
const custom = (record: Json, name: string): Plain =>
  part((record['template'] as Json | null)?.['fields'] ?? null, name);

/** Fields as reports name them: custom ones as job files do. */
export const FIELDS: readonly Field[] = [
  { heading: 'Serial', field: 'serial_number', read: limited, held: (r) => text(r['serial_number']), compared: false },
  { heading: 'Name', field: 'name', read: limited, held: (r) => text(r['name']) },
  { heading: 'Tag', field: 'asset_tag', read: limited, held: (r) => text(r['asset_tag']) },
  { heading: 'Cost', field: 'original_cost', read: money, held: (r) => amountOf(r['original_cost']) },
  {
    heading: 'Salvage',
    field: 'estimated_salvage_value',
    read: money,
    held: (r) => amountOf(r['estimated_salvage_value']),
    whose: 'fill',
  },
  { heading: 'Start', field: 'service_start_date', read: date, held: (r) => text(r['service_start_date']) },
  {
    heading: 'Support',
    field: 'support_type',
    read: listed('none', 'oem', 'oem_extended', 'third_party'),
    held: (r) => text(r['support_type']),
  },
  {
    heading: 'Depreciation',
    field: 'depreciation_schedule',
    read: listed('other', '3_year_33_percent', '5_year_20_percent', '10_year_10_percent'),
    held: (r) => text(r['depreciation_schedule']),
  },
  {
    heading: 'Category',
    field: 'category.name',
    read: known((world) => world.categories),
    held: (r) => part(r['category'], 'id'),
  },
  { heading: 'Sub', field: 'category.subcategory', read: plain, held: (r) => part(r['category'], 'subcategory') },
  {
    heading: 'Owner',
    field: 'asset_owner',
    read: known((world) => world.owners),
    held: (r) => part(r['asset_owner'], 'id'),
  },
  {
    heading: 'Vendor',
    field: 'attached_supplier',
    read: known((world) => world.suppliers),
    held: (r) => part(r['attached_supplier'], 'id'),
  },
  {
    heading: 'Contract No',
    field: 'contract',
    read: known((world) => world.contracts),
    held: (r) => part(r['contract'], 'id'),
  },
  {
    heading: 'Country',
    field: 'country',
    read: (cell) => ({ value: country(cell) }),
    held: (r) => country(text(r['country'])),
  },
  {
    heading: 'Stage',
    field: 'lifecycle_stage',
    read: (cell) => ({ value: { 'in use': 'Deployed', spare: 'Stock' }[cell.toLowerCase()] ?? cell }),
    held: (r) => text(r['lifecycle_stage']),
  },
  {
    heading: 'Cost Centre',
    field: 'template.Finance.Cost Centre',
    read: limited,
    held: (r) => custom(r, 'Cost Centre'),
  },
  {
    heading: 'Budget',
    field: 'template.Finance.Budget',
    read: money,
    held: (r) => (custom(r, 'Budget') === null ? null : plainAmount(String(custom(r, 'Budget')))),
  },
  {
    heading: 'Approved',
    field: 'template.Finance.Approved On',
    read: date,
    held: (r) => custom(r, 'Approved On'),
  },
  { heading: 'Room', field: 'room', read: limited, held: (r) => text(r['room']), clears: true },
  { heading: 'Notes', field: 'asset_notes', read: plain, held: (r) => text(r['asset_notes']), whose: 'service' },
  { heading: 'City', field: 'city', read: limited, held: (r) => text(r['city']), compared: false },
];

function namesOf({ sandbox }: Desk): Names {
  const owners = new Map<string, number[]>();
  for (const one of sandbox.records('asset-owner'))
    for (const name of [one['name'], one['email']] as string[])
      owners.set(name, [...(owners.get(name) ?? []), one['id'] as number]);
  const byName = (list: readonly Json[], name: string) =>
    new Map(list.map((one) => [one[name] as string, one['id'] as number]));
  const categories = sandbox.records('category');
  const ids = categories.map((one): [string, number] => [String(one['id']), one['id'] as number]);
  return {
    owners,
    suppliers: byName(sandbox.records('supplier'), 'name'),
    contracts: byName(sandbox.records('contract'), 'number'),
    categories: new Map([...byName(categories, 'category'), ...ids]),
    subcategories: new Map(
      categories.map((one) => [one['id'] as number, (one['subcategories'] as string[] | null) ?? []]),
    ),
  };
}

/** The reads of the service, taken once: `records` are those of the world that the file is compared with. */
export function expectNight(desk: Desk, file: string, records: readonly Json[], scope: readonly string[]): Expected {
  const names = namesOf(desk);
  const byKey = new Map<string, Json[]>();
  for (const record of records) {
    const key = text(record['serial_number']);
    if (key !== null) byKey.set(key, [...(byKey.get(key) ?? []), record]);
  }
  const seen = new Set<string>();
  const lines = parse(file, { columns: true }) as Record<string, string>[];
  const rows = lines.map((line, at) => rowOf(line, at + 2, names, byKey, seen));
  const inScope = records.filter((one) => scope.includes(String(part(one['category'], 'name'))));
  const without = inScope.filter((one) => text(one['serial_number']) === null);
  return {
    rows,
    orphans: inScope
      .filter((one) => text(one['serial_number']) !== null && !seen.has(String(one['serial_number'])))
      .map((one) => one['id'] as number)
      .sort((a, b) => a - b),
    scope: { records: inScope.length, without_key: without.length, outside: records.length - inScope.length },
  };
}

function rowOf(
  line: Readonly<Record<string, string>>,
  row: number,
  names: Names,
  byKey: ReadonlyMap<string, readonly Json[]>,
  seen: Set<string>,
): ExpectedRow {
  const key = (line['Serial'] ?? '').trim();
  const codes: string[] = [];
  const given: Record<string, Plain> = {};
  for (const { heading, field, read, clears } of FIELDS) {
    const cell = (line[heading] ?? '').trim();
    if (cell === '') {
      if (heading === 'Serial' || heading === 'Name') codes.push('required');
      else if (clears) given[field] = null;
      continue;
    }
    const got = read(cell, names);
    if ('code' in got) codes.push(got.code);
    else given[field] = got.value;
  }
  const subcategories = names.subcategories.get(Number(given['category.name'])) ?? [];
  const sub = given['category.subcategory'];
  if (sub && !subcategories.includes(sub)) codes.push('reference_not_found');

  const base = { row, key, differences: [], values: {} };
  const repeated = seen.has(key);
  seen.add(key);
  if (repeated) return { ...base, outcome: 'duplicate', codes: ['duplicate_key'] };
  const found = byKey.get(key) ?? [];
  if (codes.length > 0) return { ...base, outcome: 'invalid', codes };
  if (found.length > 1) return { ...base, outcome: 'ambiguous', codes: ['ambiguous_match'] };
  const [record] = found;
  if (!record) return { ...base, outcome: 'created', codes: [], values: given };

  const differences: Difference[] = [];
  for (const { field, held, whose, compared } of FIELDS) {
    if (compared === false || !(field in given)) continue;
    const [service, file] = [held(record), given[field] ?? null];
    if (service === file) continue;
    const stands = whose === 'service' || (whose === 'fill' && service !== null) ? 'service' : 'file';
    const action = stands === 'service' ? 'kept' : file === null ? 'clear' : 'set';
    differences.push({ field, service, file, stands, action });
  }
  const id = record['id'] as number;
  if (differences.every((one) => one.stands === 'service'))
    return { ...base, id, differences, outcome: 'unchanged', codes: [] };
  if (text(record['state_province']) !== null)
    return { ...base, id, differences, outcome: 'at_risk', codes: ['would_lose_value'] };
  return { ...base, id, differences, outcome: 'updated', codes: [] };
}
