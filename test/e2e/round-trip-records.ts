import { Decimal } from '../../src/model/decimal.js';
import { stringifyBody } from '../../src/model/json.js';
import type { Fields, Value } from '../../src/model/value.js';
import { formFieldName, parseTemplate, templateFieldName } from '../../src/resources/custom.js';
import { resourceSpec } from '../../src/resources/registry.js';
import type { CustomTemplate, FieldSpec, Lexicon, ReferenceTarget, ResourceName } from '../../src/resources/spec.js';
import { createBody } from '../../src/resources/write.js';
import type { Sandbox } from '../../src/sandbox/index.js';

/** Records with every field filled, from the descriptions, so that a field that is added is filled by itself. */

/** What spreadsheets, YAML and formats are known to change. */
export const TEXTS: readonly string[] = [
  'plain',
  '=1+1',
  '@SUM(A1)',
  '-x',
  '+x',
  '|x',
  '\tstarts with a tab',
  "'=already escaped",
  '007',
  '12345678901234567',
  '1.23457E+11',
  '0.10',
  '1,5',
  '2024-03-04',
  '03/04/2024',
  'TRUE',
  'false',
  'null',
  '~',
  '-',
  '#N/A',
  '#REF!',
  'id:5',
  '_x0041_',
  'two\nlines',
  'two\r\nlines',
  'a\rreturn',
  ' outer blanks ',
  'double  blank',
  '\u00a0no-break\u00a0',
  'zero\u200bwidth\u200b',
  '👩‍🚀 Zoë',
  'é composed',
  'e\u0301 decomposed',
  '"quoted", with; marks',
  '＝full width',
  '\v vertical',
  'a & <b>',
];

const AMOUNTS = [
  '0.10',
  '999999999999999.00',
  '99999999999999.99',
  '1234.567',
  '0',
  '1.234',
  '1000',
  '0.005',
  '123456789012345',
];
const DATES = ['2024-02-29', '1900-01-01', '1899-12-31', '9999-12-31', '2001-01-02'];
const NUMBERS = [0, -7, 999_999_999_999_999, 42, -999_999_999_999_999];
const EMAILS = ['a@b.example', '+x=1@b.example', '-x@b.example', '007@b.example'];
/** Spelt in ways that several lists of countries differ in. */
const COUNTRIES = [276, 178, 180, 408, 410, 384, 36, 840, 826, 158, 275, 531];

/** References whose names are hard to tell from something else, by what they refer to. */
const REFERENCES: Record<ReferenceTarget, readonly number[]> = {
  'asset-owner': [1, 9, 10, 21, 22, 23, 24, 25],
  'business-unit': [1, 11, 12, 13],
  category: [21, 22, 23],
  contract: [1, 2, 3, 4, 5],
  customer: [1, 2, 3, 4],
  'hardware-model': [1, 9],
  make: [7],
  supplier: [1, 2, 3, 4, 5, 6, 7, 8],
  'usage-status': [1, 5, 7],
};

const field = (id: number, name: string, data_type: 'date' | 'money' | 'number' | 'text', is_active = true) => ({
  id,
  name,
  data_type,
  is_active,
  order: id,
});

/** Look-ups with names that are ids, blanks, formulas and one another. */
export function furnish(sandbox: Sandbox): void {
  for (const [id, name] of [
    [21, '17'],
    [22, 'id:5'],
    [23, ' Ann  Lee '],
    [24, 'J. R. Dot'],
    [25, '=1+1'],
  ] as const) {
    sandbox.putLookup('asset-owner', 1, { id, name, email: `owner${id}@b.example`, phone: '1' });
  }
  for (const [id, name] of [
    [11, '42'],
    [12, 'Twin unit'],
    [13, 'Twin unit'],
  ] as const) {
    const contact = { contact_name: 'C', contact_email: 'c@b.example', contact_phone_number: '+49' };
    sandbox.putLookup('business-unit', 1, { id, name, ...contact });
  }
  sandbox.putLookup('category', 1, { id: 21, category: '2024', subcategories: [' A  b ', 'Shared'] });
  sandbox.putLookup('category', 1, { id: 22, category: 'Twin', subcategories: ['Only here', 'Shared'] });
  sandbox.putLookup('category', 1, { id: 23, category: 'Twin', subcategories: ['Only there', 'Shared'] });
  sandbox.putLookup('usage-status', 1, { id: 7, company_id: 1, name: '99', set_as_default: false });
  sandbox.putLookup('hardware-model', 1, { id: 9, name: '5450' });
  for (const [first, type] of [
    [200, 'asset'],
    [300, 'contract'],
    [400, 'supplier'],
  ] as const) {
    for (const id of [first, first + 50]) {
      sandbox.putLookup('custom-field-template', 1, {
        id,
        name: 'Twin. v1',
        is_active: true,
        type,
        fields: [
          field(id + 1, 'Text', 'text'),
          field(id + 2, 'Mo.ney', 'money'),
          field(id + 3, 'Date', 'date'),
          field(id + 4, String(id + 1), 'number'),
          field(id + 5, 'Inactive', 'text', false),
        ],
      });
    }
  }
  sandbox.putLookup('custom-form-template', 1, {
    id: 200,
    name: 'Racks. v2',
    form_title: 'Racks',
    type: 'asset',
    form_desc: '',
    is_active: true,
    is_default: false,
    fields: [
      field(201, 'Rack.A', 'text'),
      field(202, 'Unit', 'number'),
      field(203, 'Price', 'money'),
      field(204, '201', 'date'),
      field(205, 'Gone', 'text', false),
    ],
  });
  insert(
    sandbox,
    'customer',
    ['17', 'Globex', 'id:1', 'J. Doe & Sons'].map((name) => ({ name })),
  );
  insert(
    sandbox,
    'supplier',
    ['17', 'id:3', 'Acme', 'Acme ', 'A. B. Co', '=SUM(A1)', 'null', '0042'].map((name) => ({ name })),
  );
  insert(
    sandbox,
    'contract',
    ['1001', '1001', 'C. 7', 'id:9', '0007'].map((number) => ({
      contract_type: 'buy_side',
      name: 'Frame',
      number,
      supplier: { id: 3 },
      country: { id: 276 },
      status: 'active',
      contract_start_date: '2024-01-01',
      contract_end_date: '2025-01-01',
      total_contract_spend_value: 1,
    })),
  );
}

interface Names extends Lexicon {
  readonly templates: readonly CustomTemplate[];
  readonly forms: readonly CustomTemplate[];
}

const of = (all: readonly CustomTemplate[], type: string) =>
  all.filter(({ resource, active }) => resource === type && active);

function lexiconOf(sandbox: Sandbox): Names {
  const templates = sandbox.records('custom-field-template', 1).flatMap((one) => parseTemplate(one) ?? []);
  const forms = sandbox.records('custom-form-template', 1).flatMap((one) => parseTemplate(one) ?? []);
  return {
    templates,
    forms,
    template: (id) => templates.find((one) => one.id === id),
    form: (id) => forms.find((one) => one.id === id),
    idOf: () => undefined,
    nameOf: () => undefined,
  };
}

/** Puts records in by their canonical values; the ids. `ids`: those that they are to have. */
export function insert(
  sandbox: Sandbox,
  resource: ResourceName,
  records: readonly Fields[],
  options: { readonly alert: boolean; readonly ids?: readonly number[] } = { alert: true },
): number[] {
  const spec = resourceSpec(resource);
  const lexicon = lexiconOf(sandbox);
  return sandbox.insert(
    resource,
    records.map((fields, at) => {
      const id = options.ids?.[at];
      const body = { ...createBody(spec, 1, fields, lexicon).body, ...(id === undefined ? {} : { id }) };
      const alert = {
        is_active: true,
        alert_days_before: 30,
        type: 'end_date',
        email_message: '=note',
        email_list: ['a@b.example', 'c@d.example'],
      };
      return stringifyBody(resource === 'contract' && options.alert ? { ...body, alert } : body);
    }),
  );
}

/** The values of the n-th record: every field that a create can set, its custom fields among them. */
export function filled(sandbox: Sandbox, resource: ResourceName, n: number): Fields {
  const spec = resourceSpec(resource);
  const lexicon = lexiconOf(sandbox);
  const fields: Record<string, Value> = {};
  spec.fields.forEach((one, at) => {
    if (one.create !== undefined) fields[one.name] = sampleOf(one, n, n + at);
  });
  const type = resource === 'customer' ? 'supplier' : resource;
  const template = pick(of(lexicon.templates, type), n);
  fill(fields, template, n, (id) => templateFieldName(template.id, id));
  if (spec.form?.read) {
    for (const form of of(lexicon.forms, type)) {
      for (const row of [1, 2]) fill(fields, form, n + row, (_, name) => formFieldName(form.id, row, name));
    }
  }
  fields['category.name'] = { id: pick(REFERENCES.category, n) };
  if ('category.subcategory' in fields) fields['category.subcategory'] = pick([' A  b ', 'Only here', 'Only there'], n);
  if (resource === 'supplier') fields['ein'] = [...`${pick(TEXTS, n)}123456789`].slice(0, 9).join('');
  if (resource === 'contract') Object.assign(fields, contractValues(n));
  return fields;
}

function fill(
  fields: Record<string, Value>,
  owner: CustomTemplate,
  n: number,
  nameOf: (id: number, name: string) => string,
): void {
  for (const [at, { id, name, dataType }] of owner.fields.entries()) {
    const key = nameOf(id, name);
    if (dataType === 'text') fields[key] = pick(TEXTS, n + at);
    if (dataType === 'money') fields[key] = Decimal.of(pick(AMOUNTS, n + at));
    if (dataType === 'number') fields[key] = pick(NUMBERS, n + at);
    if (dataType === 'date') fields[key] = pick(DATES, n + at);
  }
}

const STATUSES = ['active', 'archived', 'cancelled', 'draft', 'expired', 'suspended', 'terminated'];

/** Values that keep rules 1 to 7 of contracts (interface, section 4.3). */
function contractValues(n: number): Fields {
  const total = pick(['99999999999999.99', '999999999999999.00', '1234.567', '0.10'], n);
  const blended = n % 2 === 0;
  const start = pick(['1999-12-31', '2024-02-29'], n);
  return {
    contract_type: n % 2 === 0 ? 'buy_side' : 'sell_side',
    status: pick(STATUSES, n),
    contract_start_date: start,
    contract_end_date: '9999-12-31',
    service_start_date: start,
    notice_period: n % 3,
    total_contract_spend_value: Decimal.of(total),
    nrc: Decimal.of(total),
    'expenditure_type.type': blended ? 'blended' : 'opex',
    ...(blended
      ? { 'expenditure_type.capex_actual': Decimal.of(total), 'expenditure_type.opex_actual': Decimal.of('0') }
      : {}),
  };
}

function sampleOf({ name, type }: FieldSpec, n: number, at: number): Value {
  switch (type.kind) {
    case 'text': {
      const max = type.max ?? 1000;
      // Names are unique in the account and not blank.
      if (name === 'name') return `${pick(TEXTS, n)} ${n}`.slice(0, max);
      return [...pick(TEXTS, at)].slice(0, max).join('');
    }
    case 'email':
      return pick(EMAILS, at);
    case 'decimal':
      return Decimal.of(pick(AMOUNTS, at));
    case 'integer':
      return Math.abs(pick(NUMBERS, at)) % 1000;
    case 'date':
      return pick(DATES, at);
    case 'boolean':
      return at % 2 === 0;
    case 'enum':
      return pick(type.values, at);
    case 'reference':
      return { id: pick(REFERENCES[type.to], at) };
    case 'country':
      return { id: pick(COUNTRIES, at) };
    case 'texts':
      return ['a@b.example'];
  }
}

function pick<T>(list: readonly T[], at: number): T {
  return list[at % list.length]!;
}
