import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Decimal } from '../../src/model/decimal.js';
import { type Fields, isEmpty, isRef, sameValue } from '../../src/model/value.js';
import { readRecord } from '../../src/resources/read.js';
import { resourceSpec } from '../../src/resources/registry.js';
import type { ResourceName } from '../../src/resources/spec.js';
import { WRITABLE } from '../../src/resources/spec.js';
import { createBody, updateBody } from '../../src/resources/write.js';
import { lexicon } from './lexicon.js';
import { records } from './records.js';
import { shownAfter } from './service-model.js';

const none: ReadonlySet<string> = new Set();
const bare = { id: 7, name: 'Bare', resource: 'asset', active: true, fields: [] };
const noTemplateFields = { ...lexicon, template: (id: number) => (id === 7 ? bare : lexicon.template(id)) };

function expectSame(actual: Fields, expected: Fields): void {
  const held = (fields: Fields) =>
    Object.keys(fields)
      .filter((name) => name !== 'id' && !isEmpty(fields[name]))
      .sort();
  expect(held(actual)).toEqual(held(expected));
  for (const name of held(expected)) {
    expect(sameValue(actual[name], expected[name]), `${name}: ${JSON.stringify(actual[name])}`).toBe(true);
  }
}

describe('what is written is read again', () => {
  for (const name of WRITABLE) {
    const spec = resourceSpec(name);

    it(`${name}: create, read, update, read`, () => {
      fc.assert(
        fc.property(records(spec), (fields) => {
          const created = createBody(spec, 1, fields, lexicon);
          expect(created.lost).toEqual([]);
          const read = readRecord(spec, shownAfter(name, 7, created.body), lexicon);
          expect([read.losses, read.unknown]).toEqual([[], []]);
          expectSame(read.fields, fields);

          const updated = updateBody(spec, 1, read.fields, lexicon, none);
          const again = readRecord(spec, shownAfter(name, 7, updated.body), lexicon);
          const lost = updated.lost.map((loss) => loss.field);
          const kept = Object.entries(read.fields).filter(
            ([field]) => !lost.includes(field) && field !== 'contract_type',
          );
          expectSame(again.fields, Object.fromEntries(kept));
          for (const field of lost) expect(spec.fields.find((one) => one.name === field)?.update).toBeUndefined();
        }),
        { numRuns: 150 },
      );
    });

    it(`${name}: fields that a probe found to be kept are not lost`, () => {
      fc.assert(
        fc.property(records(spec), (fields) => {
          const accepted = new Set([...spec.fields.map((field) => field.name), 'form']);
          const { body, lost } = updateBody(spec, 1, fields, lexicon, accepted);
          expect(lost).toEqual([]);
          const expected = Object.fromEntries(Object.entries(fields));
          expectSame(readRecord(spec, shownAfter(name, 7, body), lexicon).fields, expected);
        }),
        { numRuns: 50 },
      );
    });
  }
});

describe('bodies', () => {
  const asset = resourceSpec('asset');
  const contract = resourceSpec('contract');

  it('an asset has the spellings of each operation', () => {
    const fields: Fields = {
      name: 'Server',
      bldg_name: 'B1',
      area: 'North',
      state_province: 'Hesse',
      business_entity_type: 'Ltd',
      usage_status: { id: 2, name: 'Non-Production' },
      country: { id: 36, name: 'Australia' },
      'category.name': { id: 4 },
      'category.subcategory': 'Rack',
      asset_hardware_model: { id: 71, name: 'PowerEdge R740' },
      original_cost: Decimal.of('99999999999999.99'),
      'currency.value': 'AUD',
      'template.5.52': Decimal.of('1.50'),
      'template.5.53': 3,
      'form.3.Rack': 'A1',
      'form.3#2.Rack': 'A2',
      room: '',
      floor: null,
    };
    const shared = {
      company: 2,
      name: 'Server',
      country: 36,
      category: { id: 4, subcategory: 'Rack' },
      asset_hardware_model: { id: 71 },
      original_cost: Decimal.of('99999999999999.99'),
      currency: { value: 'AUD' },
      form_template: [
        { id: 3, custom_form_data: { Rack: 'A1' } },
        { id: 3, custom_form_data: { Rack: 'A2' } },
      ],
    };
    const template = {
      id: 5,
      fields: [
        { id: 52, value: Decimal.of('1.5') },
        { id: 53, value: 3 },
      ],
    };
    const created = createBody(asset, 2, fields, lexicon);
    expect(created).toEqual({
      lost: [],
      body: {
        ...shared,
        bldg_name: 'B1',
        area: 'North',
        state_province: 'Hesse',
        business_entity_type: 'Ltd',
        asset_usage_status: 2,
        templates: [template],
      },
    });
    const updated = updateBody(asset, 2, fields, lexicon, none);
    expect(updated.body).toEqual({ ...shared, bldng_name: 'B1', usage_status: 'non_production', template });
    expect(updated.lost.map((loss) => [loss.field, loss.text])).toEqual([
      ['area', 'North'],
      ['state_province', 'Hesse'],
      ['business_entity_type', 'Ltd'],
    ]);
    const kept = updateBody(asset, 2, fields, lexicon, new Set(['area', 'business_entity_type']));
    expect(kept.lost.map((loss) => loss.field)).toEqual(['state_province']);
    expect(kept.body).toMatchObject({ area: 'North', business_entity_type: 'Ltd' });
  });

  it('a usage status outside the words of updates is lost, and one without a name is looked up', () => {
    const lost = updateBody(asset, 1, { usage_status: { id: 5, name: 'In storage' } }, lexicon, none);
    expect(lost.body).toEqual({ company: 1 });
    expect(lost.lost).toEqual([
      { field: 'usage_status', text: 'In storage (5)', why: expect.stringContaining('production, non_production') },
    ]);
    expect(updateBody(asset, 1, { usage_status: { id: 1 } }, lexicon, none).body).toEqual({
      company: 1,
      usage_status: 'production',
    });
    expect(updateBody(asset, 1, { usage_status: { id: 99 } }, lexicon, none).lost[0]?.why).toMatch(/name is not known/);
  });

  it('a contract update loses what only a create can set, and keeps its type', () => {
    const fields: Fields = {
      contract_type: 'buy_side',
      name: 'C',
      status: 'expired',
      approver: 'Ann',
      signer: 'Bo',
      signed_date: 'May 2020',
      'form.3.Rack': 'A1',
      modified_date: '2024-01-01',
      'expenditure_type.capex_percent': Decimal.of('40'),
      'expenditure_type.type': 'capex',
    };
    const updated = updateBody(contract, 1, fields, lexicon, none);
    expect(updated.body).toEqual({ company: 1, name: 'C', expenditure_type: { type: 'capex' } });
    expect(updated.lost.map((loss) => loss.field)).toEqual([
      'status',
      'approver',
      'signer',
      'signed_date',
      'form.3.Rack',
    ]);
    const kept = updateBody(contract, 1, fields, lexicon, new Set(['approver', 'form', 'status']));
    expect(kept.lost.map((loss) => loss.field)).toEqual(['signer', 'signed_date']);
    expect(kept.body).toMatchObject({
      approver: 'Ann',
      status: 'expired',
      form_template: [{ id: 3, custom_form_data: { Rack: 'A1' } }],
    });
    expect(createBody(contract, 1, fields, lexicon).body).toMatchObject({
      contract_type: 'buy_side',
      status: 'expired',
    });
  });

  it('a contract alert counts only when it is active or says something', () => {
    const idle: Fields = { 'alert.is_active': false, 'alert.alert_days_before': 30, 'alert.type': 'end_date' };
    const lostOf = (fields: Fields) => updateBody(contract, 1, fields, lexicon, none).lost.map((loss) => loss.field);
    expect(lostOf(idle)).toEqual([]);
    expect(lostOf({ ...idle, 'alert.is_active': true })).toEqual([
      'alert.is_active',
      'alert.alert_days_before',
      'alert.type',
    ]);
    expect(lostOf({ ...idle, 'alert.email_list': ['a@b.c'] })).toContain('alert.email_list');
    expect(lostOf({ ...idle, 'alert.email_list': [], 'alert.email_message': '' })).toEqual([]);
    expect(lostOf({ ...idle, 'alert.email_message': 'x' })).toContain('alert.email_message');
  });

  it('one template per record; an empty one stays assigned by an update', () => {
    const both: Fields = { 'template.5.51': 'a', 'template.6.61': 'b' };
    const { body, lost } = updateBody(asset, 1, both, lexicon, none);
    expect(body['template']).toEqual({ id: 5, fields: [{ id: 51, value: 'a' }] });
    expect(lost.map((loss) => loss.field)).toEqual(['template.6.61']);
    expect(updateBody(asset, 1, { 'template.5.51': null }, lexicon, none).body['template']).toEqual({
      id: 5,
      fields: [],
    });
    expect(
      updateBody(asset, 1, { 'template.5.51': null, 'template.6.61': 'b' }, lexicon, none).body['template'],
    ).toEqual({
      id: 6,
      fields: [{ id: 61, value: 'b' }],
    });
    expect(createBody(asset, 1, { 'template.5.51': null, 'form.3.Rack': null }, lexicon).body).toEqual({ company: 1 });
  });

  it.each([
    ['a template that is not listed', { template: { id: 99, fields: {} } }, { template: { id: 99, fields: [] } }],
    ['a template without fields', { template: { id: 7 } }, { template: { id: 7, fields: [] } }],
    [
      'rows of a form that is not listed',
      { custom_form: [{ id: 8, custom_form_data: {} }, { id: 8 }] },
      {
        form_template: [
          { id: 8, custom_form_data: {} },
          { id: 8, custom_form_data: {} },
        ],
      },
    ],
  ])('%s stays assigned by an update, and a create knows nothing of it', (_, shown, sent) => {
    const { fields, losses } = readRecord(asset, { id: 1, ...shown }, noTemplateFields);
    const { body, lost } = updateBody(asset, 1, fields, noTemplateFields, none);
    expect([body, losses, lost]).toEqual([{ company: 1, ...sent }, [], []]);
    expect(createBody(asset, 1, fields, noTemplateFields).body).toEqual({ company: 1 });
  });

  it('names no resource has, unresolved references and attachments are lost, never dropped in silence', () => {
    const { lost } = createBody(
      resourceSpec('supplier'),
      1,
      { nonsense: 'x', 'category.name': 'Hardware', 'form.3.Rack': 'A1', constructor: 'y' },
      lexicon,
    );
    expect(lost.map((loss) => loss.field).sort()).toEqual(['category.name', 'constructor', 'form.3.Rack', 'nonsense']);
    expect(createBody(asset, 1, { 'form.3.Photo': 'x.png' }, lexicon).lost.map((loss) => loss.field)).toEqual([
      'form.3.Photo',
    ]);
  });

  it('form columns may have any name (82)', () => {
    const { body } = updateBody(asset, 1, { 'form.8.__proto__': 'p', 'form.8.a.b': 'dots' }, lexicon, none);
    const [row] = body['form_template'] as { id: number; custom_form_data: Record<string, unknown> }[];
    expect(Object.entries(row?.custom_form_data ?? {})).toEqual([
      ['__proto__', 'p'],
      ['a.b', 'dots'],
    ]);
  });
});

describe('reading', () => {
  const lossesOf = (resource: ResourceName, json: Record<string, unknown>) =>
    readRecord(resourceSpec(resource), { id: 1, ...json }, lexicon).losses.map((loss) => [loss.field, loss.text]);
  const fieldsOf = (resource: ResourceName, json: Record<string, unknown>) =>
    readRecord(resourceSpec(resource), { id: 1, ...json }, lexicon).fields;

  it('names what has no canonical form', () => {
    expect(
      lossesOf('asset', {
        country: 'Atlantis',
        warranty_start_date: '01/02/2024',
        asset_hardware_model: 'Unheard of',
        warranty_type: 'lifetime',
        original_cost: 'much',
        contract_service_per_item: '1,200',
        template: { id: 5, fields: { Gone: 'x', 'Cost Centre': 'ok', Empty: null } },
        custom_form: [
          { id: 3, custom_form_data: { Rack: 'A1', Photo: 'x.png', Units: 'three' } },
          { id: 3, custom_form_data: { Rack: 'child' }, parent_row_id: 11, seq_no: 1 },
        ],
      }),
    ).toEqual([
      ['asset_hardware_model', 'Unheard of'],
      ['country', 'Atlantis'],
      ['warranty_type', 'lifetime'],
      ['warranty_start_date', '01/02/2024'],
      ['original_cost', 'much'],
      ['contract_service_per_item', '1,200'],
      ['template.5.Gone', 'x'],
      ['form.3.Photo', 'x.png'],
      ['form.3.Units', 'three'],
      ['form.3#2.Rack', 'child'],
    ]);
    expect(lossesOf('asset', { custom_form: [{ id: 3 }, { id: 3, custom_form_data: {}, parent_row_id: 5 }] })).toEqual([
      ['form.3#2', 'a row without values'],
    ]);
    expect(lossesOf('contract', { status: 'pending', customer: { name: 'No id' } })).toEqual([
      ['customer', 'No id'],
      ['status', 'pending'],
    ]);
    expect(lossesOf('asset', { template: { id: 99, fields: { a: 1, b: '' } } })).toEqual([['template.99.a', '1']]);
  });

  it('names groups and form rows that are no objects, by their first field', () => {
    const odd = { currency: 'USD', manufacturer_currency: ['EUR'], custom_form: [{ id: 3, data: { Rack: 'A1' } }] };
    expect(lossesOf('asset', { ...odd, name: 'A' })).toEqual([
      ['currency.value', 'USD'],
      ['manufacturer_currency.value', '["EUR"]'],
      ['form.3', '{"Rack":"A1"}'],
    ]);
    expect(lossesOf('contract', { expenditure_type: 'opex', alert: 'weekly' })).toEqual([
      ['expenditure_type.type', 'opex'],
      ['alert.is_active', 'weekly'],
    ]);
    expect(lossesOf('supplier', { contact_person: [{ name: 'Bob' }] })).toEqual([
      ['contact_person.name', '[{"name":"Bob"}]'],
    ]);
    expect(lossesOf('asset', { template: 'Finance', custom_form: [{ custom_form_data: { Rack: 'A1' } }] })).toEqual([
      ['template', 'Finance'],
      ['custom_form', '{"custom_form_data":{"Rack":"A1"}}'],
    ]);
    const none = {
      currency: '',
      template: { id: null, fields: {} },
      custom_form: [{ id: 3, custom_form_data: null, name: 'Data centre' }],
    };
    expect([lossesOf('asset', none), lossesOf('contract', { alert: false, expenditure_type: null })]).toEqual([[], []]);
  });

  it('derived values are never losses', () => {
    expect(lossesOf('asset', { region: 7, supplier_name: { odd: true }, alert: ['x'] })).toEqual([]);
  });

  it('reads values in every documented form', () => {
    const fields = fieldsOf('asset', {
      name: 'A',
      asset_tag: 12,
      contract: { id: 9, number: 'C-9', name: 'Cleaning' },
      category: { id: 4, name: 'Laptop', subcategory: null },
      asset_owner: { id: 3, name: 'Ann', email: 'ann@example.com', phone_number: '' },
      country: 'AUS',
      usage_status: {},
      asset_usage_status: 'Production',
      contract_service_per_item: '1,200.50',
      original_cost: Decimal.of('99999999999999.99'),
      estimated_salvage_value: 0,
      end_of_life_date: '2024-03-05T23:00:00Z',
      warranty_type: 'Third Party',
      support_start_date: '',
      template: { id: 6, fields: { '61': 'by name', colour: 'by case' } },
      custom_form: [
        { id: 3, custom_form_data: { Rack: '', Units: '12' } },
        { id: 3, custom_form_data: { Rack: 'below' }, parent_row_id: 1 },
        { id: 8, custom_form_data: { Raw: 1.5, Flag: 'x' } },
        { id: 3, custom_form_data: {}, parent_row_id: null, seq_no: 2 },
      ],
    });
    expect(fields).toEqual({
      id: 1,
      name: 'A',
      asset_tag: '12',
      contract: { id: 9, name: 'C-9' },
      'category.name': { id: 4, name: 'Laptop' },
      asset_owner: { id: 3, name: 'Ann' },
      'asset_owner.email': 'ann@example.com',
      country: { id: 36, name: 'Australia' },
      usage_status: { id: 1, name: 'Production' },
      contract_service_per_item: Decimal.of('1200.5'),
      original_cost: Decimal.of('99999999999999.99'),
      estimated_salvage_value: Decimal.of(0),
      end_of_life_date: '2024-03-05',
      warranty_type: 'third_party',
      'template.6.62': 'by name',
      'template.6.61': 'by case',
      'form.3.Units': 12,
      'form.8.Raw': Decimal.of('1.5'),
      'form.8.Flag': 'x',
      'form.3#3.Rack': null,
    });
  });

  it('a template without values stays known as assigned', () => {
    const fields = fieldsOf('contract', { template: { id: 5, fields: { Budget: null } } });
    expect(fields).toEqual({ id: 1, 'template.5.51': null });
    expect(updateBody(resourceSpec('contract'), 1, fields, lexicon, none).body['template']).toEqual({
      id: 5,
      fields: [],
    });
  });

  it('reads countries by name or code; a spelling that is none has no canonical form', () => {
    expect(fieldsOf('supplier', { country: 'Germany' })['country']).toEqual({ id: 276, name: 'Germany' });
    expect(lossesOf('supplier', { country: 'Home', business_country: 'Home ' })).toEqual([
      ['country', 'Home'],
      ['business_country', 'Home '],
    ]);
    expect(fieldsOf('supplier', { country: '036' })['country']).toEqual({ id: 36, name: 'Australia' });
    expect(fieldsOf('supplier', { country: { id: 36, name: 'Australia' } })['country']).toEqual({
      id: 36,
      name: 'Australia',
    });
  });

  it('names keys the interface does not know, unless they hold nothing', () => {
    const { unknown } = readRecord(
      resourceSpec('supplier'),
      {
        id: 1,
        company: 1,
        created_date: 'x',
        rating: 5,
        nothing: null,
        blank: '',
        list: [],
        category: { id: 1, name: 'x', colour: 'red' },
        contact_person: { name: 'Ann', email: 'a@b.c', phone: '1', fax: null },
      },
      lexicon,
    );
    expect(unknown).toEqual(['rating', 'contact_person.phone']);
  });

  it('refuses an answer without an id', () => {
    expect(() => readRecord(resourceSpec('asset'), { name: 'x' }, lexicon)).toThrow(/without an id/);
  });

  it('never throws on odd JSON that has an id (82)', () => {
    const spec = resourceSpec('asset');
    const keys = [
      ...spec.fields.flatMap((field) => field.read?.split('.')[0] ?? []),
      'template',
      'custom_form',
      '__proto__',
    ];
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...keys), fc.jsonValue()), (json) => {
        const read = readRecord(spec, { ...json, id: 1 }, lexicon);
        for (const [name, value] of Object.entries(read.fields)) {
          expect(value === null ? /^(template|form)\./.test(name) : true).toBe(true);
          if (isRef(value)) expect(value.id).toBeGreaterThan(0);
        }
        updateBody(spec, 1, read.fields, lexicon, none);
      }),
      { numRuns: 300 },
    );
  });
});
