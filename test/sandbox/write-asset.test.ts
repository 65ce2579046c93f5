import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { call, sandboxWith } from './client.js';

const FULL = {
  company: 1,
  name: 'Full',
  contract: 1,
  category: { id: 1, subcategory: 'Rugged' },
  attached_supplier: 7,
  customer: 2,
  serial_number: '00012',
  bldg_name: 'Tower',
  area: 'North',
  state_province: 'Bayern',
  country: 276,
  asset_owner: 9,
  business_entity_type: 'GmbH',
  business_unit: 4,
  warranty_type: 'gold_level_support',
  warranty_status: 'within_warranty',
  warranty_provider: 1,
  warranty_start_date: '2024-02-29',
  warranty_contact_email: 'help@acme.example',
  asset_usage_status: 5,
  original_cost: 1200.5,
  depreciation_schedule: '3_year_33_percent',
  asset_hardware_model: { id: 4 },
  contract_service_per_item: 12.5,
  currency: { value: 'Euro', symbol: '€' },
  templates: [
    {
      id: 1,
      fields: [
        { id: 1, value: 'CC-1' },
        { id: 3, value: '2024-01-01' },
      ],
    },
  ],
  form_template: [
    { id: 1, custom_form_data: { Rack: 'R1', Unit: 3 } },
    { id: 1, custom_form_data: { Rack: 'R2' } },
  ],
};

describe('creating an asset', () => {
  it('stores every field and reads it back in read form', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const { status, json } = await call(sandbox, 'POST', '/asset', FULL);
    expect(status).toBe(201);
    expect(json).toMatchObject({
      id: 303,
      contract: { id: 1, number: 'C-1001' },
      category: { id: 1, name: 'Laptop', subcategory: 'Rugged' },
      attached_supplier: { id: 7, name: 'Café Réseau SARL' },
      supplier_name: 'Café Réseau SARL',
      customer: { id: 2, name: 'Fabrikam Health' },
      serial_number: '00012',
      bldg_name: 'Tower',
      area: 'North',
      business_entity: 'GmbH',
      country: 'Germany',
      asset_owner: { id: 9, name: 'Sam Lee', email: 'sam.lee@northwind.example' },
      warranty_type: 'gold_level_support',
      usage_status: { id: 5, name: 'In repair' },
      asset_usage_status: 'In repair',
      asset_hardware_model: 'Catalyst 9300',
      contract_service_per_item: '12.50',
      currency: { value: 'Euro', symbol: '€' },
      template: { id: 1, fields: { 'Cost Centre': 'CC-1', 'Approved On': '2024-01-01' } },
    });
    const rows = json['custom_form'] as Record<string, unknown>[];
    expect(rows[0]).toEqual({ id: 1, custom_form_data: { Rack: 'R1', Unit: 3 } });
    expect(rows[1]).toMatchObject({ id: 1, custom_form_data: { Rack: 'R2' }, seq_no: 2 });
    expect(rows[1]!['parent_row_id']).toEqual(expect.any(Number));
    expect((await call(sandbox, 'GET', '/asset/303/?company=1')).json).toEqual(json);
  });

  it('takes the spellings of the parameter list too, and both slash forms', async () => {
    const sandbox = await sandboxWith();
    const { status, json } = await call(sandbox, 'POST', '/asset/', {
      company: 1,
      name: 'A',
      bldng_name: 'B',
      hardware_model: { id: 1 },
      template: { id: 1, fields: [] },
      custom_form: [{ id: 1, custom_form_data: {} }],
      nobody_knows_this: 1,
    });
    expect(status).toBe(201);
    expect(json).toMatchObject({ bldg_name: 'B', asset_hardware_model: 'Latitude 5450', template: { id: 1 } });
    expect(json['custom_form']).toHaveLength(1);
  });

  const bad: [body: object, field: string, message: RegExp][] = [
    [{ name: null }, 'name', /null/],
    [{ name: '  ' }, 'name', /blank/],
    [{ name: 'x'.repeat(51) }, 'name', /no more than 50/],
    [{ name: 5 }, 'name', /Not a valid string/],
    [{ asset_notes: 'x'.repeat(1001) }, 'asset_notes', /1000/],
    [{ general_info_notes: 'x'.repeat(151) }, 'general_info_notes', /150/],
    [{ support_contact_phone: 'x'.repeat(21) }, 'support_contact_phone', /20/],
    [{ support_contact_email: 'nobody' }, 'support_contact_email', /email/],
    [{ original_cost: -1 }, 'original_cost', /between/],
    [{ original_cost: '12' }, 'original_cost', /number/],
    [{ country: 1 }, 'country', /country/],
    [{ country: 'Germany' }, 'country', /integer/],
    [{ contract: 999 }, 'contract', /does not exist/],
    [{ attached_supplier: 41 }, 'attached_supplier', /does not exist/],
    [{ asset_owner: 1.5 }, 'asset_owner', /integer/],
    [{ category: 1 }, 'category', /dictionary/],
    [{ category: { id: 99 } }, 'category.id', /does not exist/],
    [{ category: { id: 1, subcategory: 'Rack' } }, 'category.subcategory', /not a subcategory/],
    [{ warranty_type: 'gold' }, 'warranty_type', /not a valid choice/],
    [{ support_type: 'gold_level_support' }, 'support_type', /not a valid choice/],
    [{ end_of_life_date: '2023-02-29' }, 'end_of_life_date', /Date/],
    [{ end_of_life_date: '01/02/2024' }, 'end_of_life_date', /Date/],
    [{ asset_usage_status: 6 }, 'asset_usage_status', /does not exist/],
    [{ currency: { symbol: 'x'.repeat(51) } }, 'currency.symbol', /50/],
    [{ asset_hardware_model: {} }, 'asset_hardware_model.id', /required/],
    [{ templates: {} }, 'templates', /list/],
    [{ templates: [{ fields: [] }] }, 'templates[0].id', /required/],
    [{ templates: [{ id: 9 }] }, 'templates[0].id', /does not exist/],
    [{ templates: [{ id: 2 }] }, 'templates[0].id', /type contract/],
    [{ templates: [{ id: 5 }] }, 'templates[0].id', /not active/],
    [{ templates: [{ id: 1, fields: [{ id: 11, value: 'x' }] }] }, 'templates[0].fields[0].id', /no field/],
    [{ templates: [{ id: 1, fields: [{ id: 1, value: 'x'.repeat(151) }] }] }, 'templates[0].fields[0].value', /150/],
    [{ templates: [{ id: 1, fields: [{ id: 2, value: -1 }] }] }, 'templates[0].fields[0].value', /between/],
    [{ templates: [{ id: 1, fields: [{ id: 3, value: 'soon' }] }] }, 'templates[0].fields[0].value', /Date/],
    [{ templates: [{ id: 1, fields: [{ id: 4, value: 1.5 }] }] }, 'templates[0].fields[0].value', /integer/],
    [{ templates: [{ id: 1, fields: [{ id: 4, value: 1e15 }] }] }, 'templates[0].fields[0].value', /between/],
    [{ form_template: [{ id: 2, custom_form_data: {} }] }, 'form_template[0].id', /type contract/],
    [{ form_template: [{ id: 1, custom_form_data: { Row: 1 } }] }, 'form_template[0].custom_form_data.Row', /no field/],
    [
      { form_template: [{ id: 1, custom_form_data: { Unit: 'x' } }] },
      'form_template[0].custom_form_data.Unit',
      /integer/,
    ],
  ];

  it('refuses what breaks a rule, by field, and stores nothing', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    for (const [body, field, message] of bad) {
      const { status, json } = await call(sandbox, 'POST', '/asset', { company: 1, name: 'A', ...body });
      expect([body, status]).toEqual([body, 400]);
      expect([body, Object.keys(json)]).toEqual([body, [field]]);
      expect((json[field] as string[])[0]).toMatch(message);
    }
    expect(sandbox.commits).toHaveLength(0);
    expect(sandbox.records('asset', 1)).toHaveLength(300);
  });

  it('lists every fault at once', async () => {
    const sandbox = await sandboxWith();
    const { json } = await call(sandbox, 'POST', '/asset', { company: 1, city: 5, country: 0, original_cost: true });
    expect(Object.keys(json).sort()).toEqual(['city', 'country', 'name', 'original_cost']);
  });

  it('needs a company that exists, JSON in UTF-8, and an object', async () => {
    const sandbox = await sandboxWith();
    const post = async (body: unknown, headers = {}) =>
      (await call(sandbox, 'POST', '/asset', body, { headers })).status;
    expect(await post({ name: 'A' })).toBe(400);
    expect(await post({ name: 'A', company: 9 })).toBe(400);
    expect(await post({ name: 'A', company: '1' })).toBe(400);
    expect(await post('{"name": "A"')).toBe(400);
    expect(await post('[]')).toBe(400);
    expect(await post({ company: 1, name: 'A' }, { 'content-type': 'text/plain' })).toBe(415);
    expect(await post({ company: 1, name: 'A\0' })).toBe(400);
    expect(sandbox.records('asset')).toHaveLength(0);
  });

  it('refuses a body that is too large, and goes on', async () => {
    const sandbox = await sandboxWith({ maxBodyBytes: 2_000 });
    expect((await call(sandbox, 'POST', '/asset', { company: 1, name: 'x'.repeat(3_000) })).status).toBe(413);
    expect((await call(sandbox, 'POST', '/asset', { company: 1, name: 'A' })).status).toBe(201);
  });

  it('counts characters, not halves of them', async () => {
    const sandbox = await sandboxWith();
    expect((await call(sandbox, 'POST', '/asset', { company: 1, name: '😀'.repeat(50) })).status).toBe(201);
    expect((await call(sandbox, 'POST', '/asset', { company: 1, name: '😀'.repeat(51) })).status).toBe(400);
  });
});

describe('money', () => {
  it.each(['99999999999999.99', '999999999999999.00', '0.00', '0.01'])('%s makes the round trip', async (amount) => {
    const sandbox = await sandboxWith();
    const body = `{"company":1,"name":"A","original_cost":${amount},"templates":[{"id":1,"fields":[{"id":2,"value":${amount}}]}]}`;
    expect((await call(sandbox, 'POST', '/asset', body)).status).toBe(201);
    const { text } = await call(sandbox, 'GET', '/asset/1/?company=1');
    expect(text).toContain(`"original_cost":${amount},`);
    expect(text).toContain(`"fields":{"Budget":${amount}}`);
    expect(sandbox.records('asset')[0]).toMatchObject({ original_cost: amount });
    await call(sandbox, 'PUT', '/asset/1', body.replace('"templates":[', '"template":').replace(/]}$/, '}'));
    expect((await call(sandbox, 'GET', '/asset/1/?company=1')).text).toBe(text);
  });

  it('any amount in range is read back digit by digit', async () => {
    const sandbox = await sandboxWith();
    const cents = fc.bigInt({ min: 0n, max: 99_999_999_999_999_900n });
    await fc.assert(
      fc.asyncProperty(cents, async (value) => {
        const amount = `${value / 100n}.${String(value % 100n).padStart(2, '0')}`;
        const { text } = await call(sandbox, 'POST', '/asset', `{"company":1,"name":"A","original_cost":${amount}}`);
        expect(text).toContain(`"original_cost":${amount},`);
      }),
      { numRuns: 50 },
    );
  });

  it('beyond the range is refused', async () => {
    const sandbox = await sandboxWith();
    for (const amount of ['999999999999999.01', '1e15', '-0.01', '1e999']) {
      const { status } = await call(sandbox, 'POST', '/asset', `{"company":1,"name":"A","original_cost":${amount}}`);
      expect([amount, status]).toEqual([amount, 400]);
    }
  });
});

describe('updating an asset', () => {
  it('replaces the whole record: what the body omits or cannot say becomes null', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    await call(sandbox, 'POST', '/asset', { ...FULL, inventory_no: 'INV' });
    const { status, json } = await call(sandbox, 'PUT', '/asset/303', {
      company: 1,
      name: 'New',
      bldng_name: 'Annex',
      bldg_name: 'not listed here',
      area: 'South',
      state_province: 'x',
      business_entity_type: 'x',
      asset_usage_status: 2,
      usage_status: 'non_production',
      category: { id: 1 },
      template: { id: 1, fields: [{ id: 1, value: 'CC-2' }] },
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({
      id: 303,
      name: 'New',
      bldg_name: 'Annex',
      area: null,
      state_province: null,
      business_entity: null,
      serial_number: null,
      original_cost: null,
      usage_status: { id: 2, name: 'Non production' },
      category: { id: 1, name: 'Laptop', subcategory: null },
      template: { id: 1, fields: { 'Cost Centre': 'CC-2' } },
      custom_form: [],
    });
    expect(sandbox.raw('asset').at(-1)).not.toHaveProperty('inventory_no');
  });

  it('has its own rules', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const put = async (body: object) =>
      (await call(sandbox, 'PUT', '/asset/1', { company: 1, name: 'A', ...body })).json;
    expect(await put({ category: { subcategory: 'Rugged' } })).toHaveProperty(['category.id']);
    expect(await put({ usage_status: 'In repair' })).toHaveProperty('usage_status');
    expect(await put({ usage_status: 5 })).toHaveProperty('usage_status');
    const long = { id: 1, fields: [{ id: 1, value: 'x'.repeat(51) }] };
    expect(await put({ template: long })).toHaveProperty(['template.fields[0].value']);
    expect(await put({ name: undefined })).toEqual({ name: ['This field is required.'] });
    expect((await call(sandbox, 'PUT', '/asset/999', { company: 1, name: 'A' })).status).toBe(404);
    expect((await call(sandbox, 'PUT', '/asset/1', { company: 2, name: 'A' })).status).toBe(404);
    expect((await call(sandbox, 'PUT', '/asset', { company: 1, name: 'A' })).status).toBe(405);
    expect((await call(sandbox, 'POST', '/asset/1', { company: 1, name: 'A' })).status).toBe(405);
  });

  it('by PATCH leaves the rest alone', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const before = sandbox.record('asset', 165)!;
    const { status, json } = await call(sandbox, 'PATCH', '/asset/165/', { company: 1, room: 'R7', asset_notes: null });
    expect(status).toBe(200);
    expect(sandbox.record('asset', 165)).toEqual({ ...before, room: 'R7', asset_notes: null });
    expect(json['room']).toBe('R7');
  });
});

describe('unique_field', () => {
  it('refuses a value that is there, in the same company', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const create = async (field: string, body: object) =>
      call(sandbox, 'POST', `/asset?unique_field=${field}`, { company: 1, name: 'A', ...body });
    expect((await create('serial_number', { serial_number: 'SN-100001' })).json).toEqual({
      serial_number: ['asset with this serial_number already exists.'],
    });
    expect((await create('name', { name: 'NW-LT-0001' })).status).toBe(400);
    expect((await create('serial_number', { serial_number: 'SN-000001' })).status).toBe(201);
    expect((await create('serial_number', {})).status).toBe(201);
    expect((await create('asset_tag', {})).json).toHaveProperty('unique_field');
    expect((await call(sandbox, 'POST', '/asset', { company: 1, name: 'NW-LT-0001' })).status).toBe(201);
  });
});
