import { describe, expect, it } from 'vitest';
import { CONTRACT, call, sandboxWith } from './client.js';

describe('contracts', () => {
  it('are created and read back', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const { status, json } = await call(sandbox, 'POST', '/contract', {
      ...CONTRACT,
      status: 'draft',
      parent_contract: 1,
      category: { id: 4, subcategory: 'Switch' },
      business_unit: 1,
      expenditure_type: { type: 'blended', capex_actual: 333.33, opex_actual: 666.67 },
      template: { id: 2, fields: [{ id: 12, value: 10 }] },
      form_template: [{ id: 2, custom_form_data: { Owner: 'Ada', Budget: 5.5 } }],
      approver: 'Ada',
      signer: 'Ben',
      signed_date: 'last Tuesday',
      alert: { is_active: true },
    });
    expect(status).toBe(201);
    expect(json).toMatchObject({
      status: 'draft',
      parent_contract: { id: 1, number: 'C-1001' },
      supplier: { id: 1, name: 'Acme Computers' },
      expenditure_type: { type: 'blended', capex_percent: 33.33, opex_percent: 66.67 },
      template: { id: 2, fields: { Savings: 10 } },
      approver: 'Ada',
      signed_date: 'last Tuesday',
      alert: null,
    });
    expect(json).not.toHaveProperty('form_template');
    expect(sandbox.raw('contract').at(-1)).toHaveProperty('form_template');
  });

  const blended = (capex: number | null, opex: number | null) => ({
    expenditure_type: { type: 'blended', capex_actual: capex, opex_actual: opex },
  });
  const rules: [body: object, field: string][] = [
    [{ contract_type: 'sell_side' }, 'customer'],
    [{ supplier: null }, 'supplier'],
    [{ contract_start_date: '2025-01-01' }, 'contract_start_date'],
    [{ contract_start_date: '2025-01-02' }, 'contract_start_date'],
    [{ notice_period: 366 }, 'notice_period'],
    [{ notice_period: -1 }, 'notice_period'],
    [{ service_start_date: '2023-12-31' }, 'service_start_date'],
    [{ service_start_date: '2025-01-01' }, 'service_start_date'],
    [{ nrc: 1000.01 }, 'nrc'],
    [blended(400, 600.01), 'expenditure_type'],
    [blended(null, 1000), 'expenditure_type.capex_actual'],
    [blended(1000, null), 'expenditure_type.opex_actual'],
    [{ status: 'open' }, 'status'],
    [{ status: undefined }, 'status'],
    [{ number: undefined }, 'number'],
    [{ country: undefined }, 'country'],
    [{ total_contract_spend_value: undefined }, 'total_contract_spend_value'],
    [{ contract_type: undefined }, 'contract_type'],
    [{ contract_end_date: '2024-02-30' }, 'contract_end_date'],
    [{ category: { subcategory: 'Switch' } }, 'category.id'],
    [{ parent_contract: 999 }, 'parent_contract'],
    [{ approver: 'x'.repeat(51) }, 'approver'],
    [{ signed_date: 'x'.repeat(51) }, 'signed_date'],
    [{ end_of_term_action: 'renew' }, 'end_of_term_action'],
    [{ template: { id: 1 } }, 'template.id'],
    [{ template: { id: 2, fields: [{ id: 11, value: 'x'.repeat(51) }] } }, 'template.fields[0].value'],
  ];

  it('are held to rules 1 to 7 and to each field', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    for (const [body, field] of rules) {
      const { status, json } = await call(sandbox, 'POST', '/contract', { ...CONTRACT, ...body });
      expect([body, status, Object.keys(json)]).toEqual([body, 400, [field]]);
    }
    expect(sandbox.commits).toHaveLength(0);
  });

  it('may stand on the edge of each rule', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    for (const body of [
      { notice_period: 365 },
      { service_start_date: '2024-01-01' },
      { service_start_date: '2024-12-31' },
      { nrc: 1000 },
      blended(0.1, 999.9),
      { contract_type: 'sell_side', supplier: null, customer: 1 },
      { expenditure_type: { type: 'opex' } },
    ]) {
      const { status } = await call(sandbox, 'POST', '/contract', { ...CONTRACT, ...body });
      expect([body, status]).toEqual([body, 201]);
    }
  });

  it('keep their type in an update and lose what its body cannot say', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    expect(sandbox.record('contract', 59)).toMatchObject({ number: 'C-1059', alert: { is_active: true } });
    const { contract_type: _type, ...body } = CONTRACT;
    const { status, json } = await call(sandbox, 'PUT', '/contract/59', {
      ...body,
      contract_type: 'sell_side',
      approver: 'x',
    });
    expect(status).toBe(200);
    expect(json).toMatchObject({ contract_type: 'buy_side', alert: null, approver: null, description: null });
    const draft = await call(sandbox, 'PUT', '/contract/12', { ...body, status: 'draft' });
    expect(draft.json).toEqual({ status: [expect.stringContaining('active, archived')] });
    const own = await call(sandbox, 'PUT', '/contract/12', { ...body, parent_contract: 12 });
    expect(own.json).toHaveProperty('parent_contract');
    expect((await call(sandbox, 'PUT', '/contract/12', { ...body, supplier: undefined })).json).toHaveProperty(
      'supplier',
    );
  });

  it('show a new number wherever they are referred to', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    await call(sandbox, 'PATCH', '/contract/1', { company: 1, number: 'C-2001' });
    expect(sandbox.record('contract', 2)!['parent_contract']).toEqual({ id: 1, number: 'C-2001' });
  });
});

describe('suppliers', () => {
  it('are created, read and replaced', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const created = await call(sandbox, 'POST', '/supplier', {
      company: 1,
      name: 'Zeta',
      category: 4,
      contact_person: { name: 'Zoë', email: 'zoe@zeta.example', type: 'billing' },
      country: 276,
      business_country: 840,
      ein: '123456789',
      type: 'foreign',
      nda_signed: true,
      nda_signed_date: '2024-01-01',
      template: { id: 3, fields: [{ id: 21, value: 'Low' }] },
    });
    expect(created.status).toBe(201);
    expect(created.json).toMatchObject({
      category: { id: 4, name: 'Network' },
      contact_person: { name: 'Zoë', email: 'zoe@zeta.example', type: 'billing' },
      country: 'Germany',
      business_country: 'United States of America',
      nda_signed: true,
      msa_signed: false,
      template: { id: 3, fields: { 'Risk Class': 'Low' } },
    });
    const replaced = await call(sandbox, 'PUT', `/supplier/${created.json['id']}/`, { company: 1, name: 'Zeta' });
    expect(replaced.json).toMatchObject({ name: 'Zeta', category: null, nda_signed: false, ein: null, template: null });
  });

  it('have names that are unique over the account', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const post = async (body: object) => (await call(sandbox, 'POST', '/supplier', { company: 1, ...body })).json;
    expect(await post({ name: 'Acme Computers' })).toEqual({ name: ['supplier with this name already exists.'] });
    expect(await post({ name: 'Northwind Legacy Supply' })).toHaveProperty('name');
    expect((await call(sandbox, 'PUT', '/supplier/1', { company: 1, name: 'Acme Computers' })).status).toBe(200);
    expect((await call(sandbox, 'PUT', '/supplier/1', { company: 1, name: 'Globex Networks' })).status).toBe(400);
  });

  it('are held to each field', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    const faults: [object, string][] = [
      [{ ein: '12345678' }, 'ein'],
      [{ ein: '1234567890' }, 'ein'],
      [{ zip_postal_code: 'x'.repeat(21) }, 'zip_postal_code'],
      [{ website: 'x'.repeat(51) }, 'website'],
      [{ general_description: 'x'.repeat(1001) }, 'general_description'],
      [{ type: 'domestic' }, 'type'],
      [{ nda_signed: 'yes' }, 'nda_signed'],
      [{ nda_signed_date: '2024-1-1' }, 'nda_signed_date'],
      [{ business_country: 0 }, 'business_country'],
      [{ category: { id: 1 } }, 'category'],
      [{ contact_person: { name: 'Zoë' } }, 'contact_person.email'],
      [{ contact_person: { email: 'zoe@zeta.example' } }, 'contact_person.name'],
      [{ contact_person: { name: 'Zoë', email: 'zoe@' } }, 'contact_person.email'],
      [{ contact_person: { type: 'boss' } }, 'contact_person.type'],
      [{ template: { id: 1 } }, 'template.id'],
    ];
    for (const [body, field] of faults) {
      const { status, json } = await call(sandbox, 'POST', '/supplier', { company: 1, name: 'Zeta', ...body });
      expect([body, status, Object.keys(json)]).toEqual([body, 400, [field]]);
    }
  });

  it('show a new name in assets and contracts', async () => {
    const sandbox = await sandboxWith({ seed: 'demo' });
    await call(sandbox, 'PATCH', '/supplier/1', { company: 1, name: 'Acme & Söhne' });
    const { json } = await call(sandbox, 'GET', '/asset/10/?company=1');
    expect(json).toMatchObject({ attached_supplier: { id: 1, name: 'Acme & Söhne' }, supplier_name: 'Acme & Söhne' });
  });
});

describe('customers', () => {
  it('answer the customer on create, even where other answers are empty', async () => {
    const sandbox = await sandboxWith({ seed: 'demo', responses: 'bare', switches: { writeStatus: 204 } });
    const body = { company: 1, name: 'Northwind Traders', country: 250, type: 'us', ein: '1' };
    const { status, json } = await call(sandbox, 'POST', '/customer', body);
    expect(status).toBe(201);
    expect(json).toMatchObject({ id: 5, name: 'Northwind Traders', country: 'France' });
    for (const name of ['type', 'ein', 'business_name', 'financial_description']) expect(json).not.toHaveProperty(name);
    const put = await call(sandbox, 'PUT', '/customer/5', { company: 1, name: 'Northwind Traders', city: 'Lyon' });
    expect([put.status, put.text]).toEqual([204, '']);
    expect(sandbox.record('customer', 5)).toMatchObject({ city: 'Lyon', country: null });
    expect((await call(sandbox, 'POST', '/customer', { company: 1, name: 'Contoso Retail' })).status).toBe(400);
    expect((await call(sandbox, 'PUT', '/customer/99', { company: 1, name: 'A' })).status).toBe(404);
  });
});
