import { describe, expect, it } from 'vitest';
import { stringifyBody } from '../../src/model/json.js';
import { countryByCode } from '../../src/resources/countries.js';
import { type Desk, openDesk } from '../support/desk.js';
import { PLAIN_CONTRACT } from '../support/jobs.js';
import { DEMO_MODELS, teach } from '../support/records.js';
import { CUSTOM, unusualCustomers, unusualRecords } from './lossless-records.js';

/**
 * Every value that the round-trip table says is carried over, held by a record of the sandbox in an unusual form: an
 * update of another field leaves it as it is, byte for byte, at a service whose PUT clears what it is not sent.
 */

let desk: Desk;

type Raw = Record<string, unknown>;
type Resource = 'asset' | 'contract' | 'supplier';

/** Two fields of text; a record whose unusual value is in the first is changed in the second. */
const TOUCH: Readonly<Record<Resource, readonly [string, string]>> = {
  asset: ['asset_notes', 'financial_notes'],
  contract: ['timeline_notes', 'description'],
  supplier: ['additional_description', 'general_description'],
};

const PARTIES = {
  supplier: [{ name: 'Acme "Quoted", Ltd.' }, { name: 'Zoe\u0308 & So\u0308hne' }],
  customer: [{ name: '=Customer' }],
};
const CONTRACT = { ...PLAIN_CONTRACT, name: 'Lease' };

async function openFor(resource: Resource): Promise<void> {
  desk = await openDesk({ switches: { omittedOnPut: 'nulled' } });
  if (resource !== 'supplier') desk.sandbox.insert('supplier', PARTIES.supplier);
  desk.sandbox.insert('customer', PARTIES.customer);
  if (resource === 'asset') {
    desk.sandbox.insert('contract', [
      { ...CONTRACT, number: '007' },
      { ...CONTRACT, number: 'C,2' },
    ]);
  }
  if (resource === 'contract') {
    desk.sandbox.insert('contract', [
      { ...CONTRACT, number: '0001' },
      { ...CONTRACT, number: 'C"2' },
    ]);
  }
  await teach(desk, 'hardware-model', DEMO_MODELS);
}

/** All that is stored, without the numbers that a write gives to form rows. */
function raw(resource: Resource | 'customer'): Map<number, Raw> {
  return new Map(
    desk.sandbox.raw(resource).map((record) => {
      const copy = structuredClone(record);
      for (const row of (copy['form_template'] ?? []) as Raw[]) delete row['row'];
      return [Number(copy['id']), copy];
    }),
  );
}

/** Changes one other field of each record and expects that nothing else moved. */
async function expectUntouched(resource: Resource, records: readonly { id: number; field: string }[]): Promise<void> {
  const [first, second] = TOUCH[resource];
  const before = raw(resource);
  const rows = records.map(({ id, field }) => (field === first ? [id, '', 'touched'] : [id, 'touched', '']));
  const file = await desk.file('touch.csv', [['Id', 'First', 'Second'], ...rows]);
  const columns = { Id: 'id', First: first, Second: second };
  const result = await desk.import(file, { kind: 'import', resource, match: { key: 'id' }, columns });
  expect(result.faults.map((one) => `${one['row']} ${one['code']} ${one['field']}`)).toEqual([]);
  expect(result.summary.rows).toMatchObject({ updated: records.length, total: records.length });
  for (const { id, field } of records) before.get(id)![field === first ? second : first] = 'touched';
  const after = raw(resource);
  for (const { id, field } of records) {
    expect([field, JSON.stringify(after.get(id))]).toEqual([
      field,
      JSON.stringify(sorted(before.get(id)!, after.get(id)!)),
    ]);
  }
  expect(after.size).toBe(before.size);
}

/** The members of `record` in the order of `like`, those that only it has last. */
function sorted(record: Raw, like: Raw): Raw {
  return Object.fromEntries(
    [...new Set([...Object.keys(like), ...Object.keys(record)])]
      .filter((key) => key in record)
      .map((key) => [key, record[key]]),
  );
}

describe('an unusual value survives an update of another field, byte for byte', () => {
  it.each(['asset', 'contract', 'supplier'] as const)(
    '%s: in every field that makes the round trip (29, 30)',
    async (resource) => {
      await openFor(resource);
      const unusual = unusualRecords(resource);
      const ids = desk.sandbox.insert(
        resource,
        unusual.map((one) => one.body),
      );
      expect(new Set(unusual.map((one) => one.field)).size).toBeGreaterThan(20);
      await expectUntouched(
        resource,
        unusual.map(({ field }, at) => ({ id: ids[at]!, field })),
      );
    },
  );

  it.each(['name', 'alpha2', 'alpha3'] as const)('every country, shown by its %s (30)', async (country) => {
    desk = await openDesk({ switches: { country } });
    const codes = Array.from({ length: 999 }, (_, code) => code).filter((code) => countryByCode(code));
    expect(codes.length).toBeGreaterThan(240);
    const taken = codes.filter((code) => {
      try {
        desk.sandbox.insert('supplier', [{ name: `Supplier ${code}`, country: code, business_country: code }]);
        return true;
      } catch {
        return false;
      }
    });
    // The service knows the countries of ISO 3166-1; what only one of both knows is a handful.
    expect(taken.length).toBeGreaterThan(240);
    await expectUntouched(
      'supplier',
      taken.map((_, at) => ({ id: at + 1, field: 'country' })),
    );
  });
});

const TYPES = ['text', 'money', 'number', 'date'] as const;

/** Names that a careless reader would confuse with one another, with ids, or with members of objects. */
const NAMES: Readonly<Record<(typeof TYPES)[number], string>> = {
  text: 'Größe.v1 "x"',
  money: '__proto__',
  number: '52',
  date: 'constructor',
};

describe('custom fields of every data type survive an update of another field', () => {
  const fields = TYPES.map((type, at) => ({
    id: 51 + at,
    name: NAMES[type],
    data_type: type,
    is_active: type !== 'date',
    order: 9 - at,
  }));

  it.each([
    ['asset', 'templates'],
    ['contract', 'template'],
    ['supplier', 'template'],
  ] as const)('%s: in a custom field template, also one that is no longer active (30)', async (resource, path) => {
    await openFor(resource);
    desk.sandbox.putLookup('custom-field-template', 1, {
      id: 50,
      name: 'Odd',
      is_active: true,
      type: resource,
      fields,
    });
    desk.sandbox.putLookup('custom-field-template', 1, {
      id: 60,
      name: 'odd',
      is_active: true,
      type: resource,
      fields: [],
    });
    const values = TYPES.flatMap((type) => CUSTOM[type].map((value) => [{ id: 51 + TYPES.indexOf(type), value }]));
    const templates = [
      ...values.map((list) => ({ id: 50, fields: list })),
      { id: 50, fields: [] },
      { id: 60, fields: [] },
    ];
    const base = { asset: { category: { id: 3 } }, contract: { ...CONTRACT, number: 'N' }, supplier: {} }[resource];
    const ids = desk.sandbox.insert(
      resource,
      templates.map((item, at) =>
        stringifyBody({ ...base, name: `R ${at}`, [path]: path === 'templates' ? [item] : item }),
      ),
    );
    desk.sandbox.putLookup('custom-field-template', 1, {
      id: 50,
      name: 'Odd',
      is_active: false,
      type: resource,
      fields,
    });
    await expectUntouched(
      resource,
      ids.map((id) => ({ id, field: path })),
    );
  });

  it('asset: in the rows of custom forms (30)', async () => {
    await openFor('asset');
    const form = { id: 50, name: 'Odd', form_title: 'Odd', type: 'asset', form_desc: '', is_default: false } as const;
    desk.sandbox.putLookup('custom-form-template', 1, { ...form, is_active: true, fields });
    const bodies = TYPES.flatMap((type) =>
      CUSTOM[type].map((value) => {
        const data = Object.fromEntries([[NAMES[type], value]]);
        return {
          name: 'Box',
          category: { id: 3 },
          form_template: [
            { id: 50, custom_form_data: data },
            { id: 1, custom_form_data: {} },
          ],
        };
      }),
    );
    const ids = desk.sandbox.insert('asset', bodies.map(stringifyBody));
    await expectUntouched(
      'asset',
      ids.map((id) => ({ id, field: 'form_template' })),
    );
  });
});

describe('a customer, which cannot be read', () => {
  it('keeps every unusual value of our own last write when another field is updated, again and again (30)', async () => {
    desk = await openDesk();
    const { columns, rows } = unusualCustomers(14);
    const job = { kind: 'import', resource: 'customer', match: { key: 'name' } };
    const made = await desk.import(await desk.file('a.csv', [Object.keys(columns), ...rows]), { ...job, columns });
    expect(made.faults).toEqual([]);
    expect(made.summary.rows.created).toBe(rows.length);
    const before = raw('customer');
    for (const [name, record] of before) expect(Object.keys(record).length, `${name}`).toBeGreaterThan(20);
    for (const note of ['touched', 'touched again']) {
      const touch = [...before.values()].map((record) => [String(record['name']), note]);
      const file = await desk.file('b.csv', [['Name', 'Note'], ...touch]);
      const result = await desk.import(file, { ...job, columns: { Name: 'name', Note: 'additional_description' } });
      expect([result.faults, result.summary.rows.updated]).toEqual([[], rows.length]);
      for (const record of before.values()) record['additional_description'] = note;
      const after = raw('customer');
      for (const [id, record] of before) {
        expect(JSON.stringify(after.get(id))).toBe(JSON.stringify(sorted(record, after.get(id)!)));
      }
    }
  });
});
