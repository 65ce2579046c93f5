import { Decimal } from '../../src/model/decimal.js';
import { stringifyBody } from '../../src/model/json.js';
import { putAt } from '../../src/resources/path.js';
import { resourceSpec } from '../../src/resources/registry.js';
import type { FieldSpec, ResourceName } from '../../src/resources/spec.js';
import { PLAIN_CONTRACT } from '../support/jobs.js';
import { roundTripTable } from '../support/resource-tables.js';

/** Records that hold one unusual value each, for every field that the round-trip table says makes the round trip. */
export interface Unusual {
  readonly field: string;
  readonly value: unknown;
  /** A create body as JSON text, so that no digit is lost on the way in. */
  readonly body: string;
}

const TEXTS = [
  'Cafe\u0301 Nin\u0303o, decomposed',
  '\ufb01 \u00bd \u2163 \u2126 \uff21 compatible forms',
  '007',
  '1e5',
  '0',
  'null',
  '  outer blanks\u00a0 ',
  'line 1\nline 2\r\n\tline 3\n',
  '=HYPERLINK("http://x.example","x")',
  '\'<b>"quoted", \\back\\</b> & ;,|',
  '\u202eright to left\u200b\u2067\u2069',
  '😀👩‍👩‍👧'.repeat(400),
  '\u2028\u2029\u0007',
];
const AMOUNTS = [
  '99999999999999.99',
  '999999999999999.00',
  '0.00',
  '0.01',
  '1234567890123.123456',
  '900719925474099.3127',
];
const DATES = ['1900-02-28', '2024-02-29', '9999-12-31', '0001-01-01'];
/** Countries whose names are close to others', have signs, or are often renamed. */
const COUNTRIES = [408, 410, 178, 180, 384, 158, 336, 826, 840, 528, 807, 748, 792, 654, 702, 4];

/** Ids that exist at the desk of the test. */
const IDS: Readonly<Record<string, readonly number[]>> = {
  'asset-owner': [3, 9, 10],
  'business-unit': [1, 4],
  category: [1, 10],
  contract: [1, 2],
  customer: [1],
  'hardware-model': [1, 2, 3, 4],
  supplier: [1, 2],
  'usage-status': [1, 2, 3, 4],
};

function unusualOf(field: FieldSpec): unknown[] {
  const { type } = field;
  switch (type.kind) {
    case 'text':
      if (type.exact !== undefined) return ['00-123 67', '000000000'.slice(0, type.exact)];
      return TEXTS.map((text) => [...text].slice(0, type.max ?? 2_000).join(''));
    case 'email':
      return ["o'neil+tag@sub.example.com", 'ÄÖÜ@xn--bcher-kva.example', `${'x'.repeat(type.max - 10)}@y.example`];
    case 'texts':
      return [];
    case 'integer':
      return [0, 1, 3_000];
    case 'decimal':
      return AMOUNTS.map((amount) => Decimal.of(amount));
    case 'date':
      return DATES;
    case 'boolean':
      return [true, false];
    case 'enum':
      return [...(type.update ?? type.values)];
    case 'country':
      return COUNTRIES;
    case 'reference':
      return [...(IDS[type.to] ?? [])];
  }
}

const BASES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  asset: { name: 'Box' },
  contract: {
    ...PLAIN_CONTRACT,
    name: 'Lease',
    number: 'L-1',
    contract_start_date: '0001-01-01',
    contract_end_date: '9999-12-31',
    total_contract_spend_value: Decimal.of('999999999999999.00'),
  },
  supplier: {},
};

/** What a value needs beside it to be taken. */
function companions(field: string, value: unknown): Readonly<Record<string, unknown>> {
  switch (field) {
    case 'category.subcategory':
      return { 'category.id': 3 };
    case 'expenditure_type.type':
      return value === 'blended'
        ? {
            'expenditure_type.capex_actual': Decimal.of('999999999999998.99'),
            'expenditure_type.opex_actual': Decimal.of('0.01'),
          }
        : {};
    case 'contact_person.name':
      return { 'contact_person.email': 'a@b.example' };
    case 'contact_person.email':
      return { 'contact_person.name': 'Ann' };
    case 'contract_start_date':
      return value === '9999-12-31' ? { contract_start_date: '9999-12-30' } : {};
    case 'contract_end_date':
      return value === '0001-01-01' ? { contract_end_date: '0001-01-02' } : {};
    case 'service_start_date':
      return value === '9999-12-31' ? { service_start_date: '9999-12-30' } : {};
    default:
      return {};
  }
}

/** All of them for one resource, with a name of its own each; a field that no service can hold apart is not among them. */
export function unusualRecords(resource: Exclude<ResourceName, 'customer'>): readonly Unusual[] {
  const spec = resourceSpec(resource);
  const own = roundTripTable(spec)
    .filter((line) => line.operation === 'update' && line.class === 'round trip')
    .flatMap((line) => spec.fields.find((field) => field.name === line.field) ?? []);
  const list = own.flatMap((field) => {
    const values = field.name === 'category.subcategory' ? ['Rack', 'Blade'] : unusualOf(field);
    return values.map((value) => ({ field, value }));
  });
  return list.map(({ field, value }, at) => {
    const body: Record<string, unknown> = structuredBase(resource);
    if (resource === 'supplier') body['name'] = `Supplier ${at}`;
    if (field.name === 'name' && resource === 'supplier') value = `${at} ${String(value)}`.slice(0, 48);
    if (field.create === undefined) throw new Error(`${field.name} has no create spelling.`);
    putAt(body, field.create, value);
    for (const [path, more] of Object.entries(companions(field.name, value))) putAt(body, path, more);
    return { field: field.name, value, body: stringifyBody(body) };
  });
}

/** A copy whose objects may be added to; a Decimal is never changed. */
function structuredBase(resource: string): Record<string, unknown> {
  const copy: Record<string, unknown> = { ...BASES[resource] };
  if (resource === 'asset') copy['category'] = { id: 3 };
  return copy;
}

/** Control characters are refused in a cell. */
const isCell = (text: string): boolean => !/[\p{Cc}\u2028]/u.test(text.replaceAll(/[\n\r\t]/g, ''));

/** Cells of a spreadsheet that make customers with something unusual in every field: headings, then rows. */
export function unusualCustomers(count: number): { columns: Record<string, string>; rows: string[][] } {
  const spec = resourceSpec('customer');
  const written = roundTripTable(spec).filter((line) => line.operation === 'update' && line.class === 'not readable');
  const own = written.flatMap((line) => spec.fields.find((field) => field.name === line.field) ?? []);
  const columns = Object.fromEntries([
    ...own.map((field) => [`New ${field.name}`, field.name]),
    ['Risk', 'template.Compliance.Risk Class'],
    ['Audit', 'template.Compliance.Audit Date'],
  ]);
  const pick = (values: readonly unknown[], at: number) => String(values[at % values.length]);
  const texts = CUSTOM.text.filter((text) => isCell(String(text)));
  const rows = Array.from({ length: count }, (_, at) => [
    ...own.map((field) => {
      if (field.name === 'name') return `${at} ${pick(texts, at)}`.slice(0, 40);
      if (field.type.kind === 'text')
        return pick(
          unusualOf(field).filter((text) => isCell(String(text))),
          at,
        );
      if (field.type.kind === 'reference') return `id:${pick(unusualOf(field), at)}`;
      return pick(
        unusualOf(field).filter((value) => value !== '0001-01-01'),
        at,
      );
    }),
    pick(texts, at),
    pick(DATES.slice(0, 3), at),
  ]);
  return { columns, rows };
}

/** Values of custom fields by data type, in write form. */
export const CUSTOM: Readonly<Record<'text' | 'money' | 'number' | 'date', readonly unknown[]>> = {
  text: TEXTS.map((text) => [...text].slice(0, 50).join('')),
  money: AMOUNTS.map((amount) => Decimal.of(amount)),
  number: [0, 1, -1, 999_999_999_999_999, -999_999_999_999_999],
  date: DATES,
};
