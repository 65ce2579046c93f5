import { expect, test } from 'vitest';
import { exportColumns } from '../../src/export/columns.js';
import { extraColumns } from '../../src/export/extra-columns.js';
import { Decimal } from '../../src/model/decimal.js';
import type { CustomTemplate } from '../../src/resources/spec.js';
import { contextOf, sheetOf } from './bench.js';

const field = (id: number, name: string, dataType: CustomTemplate['fields'][number]['dataType'] = 'text') => ({
  id,
  name,
  dataType,
  active: true,
});
const FINANCE: CustomTemplate = {
  id: 3,
  name: 'Finance',
  resource: 'asset',
  active: true,
  fields: [field(11, 'Cost Centre'), field(12, 'Budget', 'money'), field(13, 'Due', 'date')],
};
const RACKS: CustomTemplate = {
  id: 4,
  name: 'Data centre',
  resource: 'asset',
  active: true,
  fields: [field(41, 'Rack'), field(42, 'Unit', 'number'), field(43, 'Photo', 'attachment')],
};
const known = () => contextOf([FINANCE, { ...FINANCE, id: 9, name: 'Deals', resource: 'contract' }], [RACKS]);

const extras = (records: readonly object[]) => {
  const context = known();
  const sheet = sheetOf('asset', records as never, context);
  const announced = new Set(exportColumns('asset', context).map(({ heading }) => heading));
  return { ...sheet, extra: sheet.columns.filter(({ heading }) => !announced.has(heading)) };
};

test('members that the interface does not name get columns of their own, with the kind that fits all records', () => {
  const { extra, cell } = extras([
    {
      id: 1,
      name: 'a',
      created_date: '2024-05-01T10:00:00Z',
      score: 3,
      meta: { by: { id: 7 }, ok: true },
      tags: ['x', 'y'],
    },
    {
      id: 2,
      name: 'b',
      score: Decimal.of('12345678901234567.5'),
      meta: { by: { id: 8 } },
      seen: '2024-01-02',
      empty: {},
    },
    { id: 3, name: 'c', meta: 'none', 'a.b': 1, a: { b: 2 }, nothing: null, none: [], currency: 'USD', Name: 'other' },
  ]);
  expect(extra.map(({ heading, kind, field }) => [heading, kind, field])).toEqual([
    ['Name (2)', 'text', undefined],
    ['a.b', 'integer', undefined],
    ['a.b (2)', 'integer', undefined],
    ['created_date', 'text', undefined],
    ['currency', 'text', undefined],
    ['meta', 'text', undefined],
    ['meta.by.id', 'id', undefined],
    ['meta.ok', 'boolean', undefined],
    ['score', 'decimal', undefined],
    ['seen', 'date', undefined],
    ['tags', 'json', undefined],
  ]);
  expect(cell(0, 'tags')).toBe('["x","y"]');
  expect(cell(0, 'meta')).toBe('');
  expect(cell(2, 'meta')).toBe('none');
  expect([cell(2, 'a.b'), cell(2, 'a.b (2)')].sort()).toEqual(['1', '2']);
  expect(cell(1, 'score')).toBe('12345678901234567.5');
});

test('what a reference shows beside id and name appears; a reference may also come as its name or its id', () => {
  const { extra, cell } = extras([
    { id: 1, business_unit: { id: 4, name: 'IT', contact_name: 'Ada' }, attached_supplier: 12, customer: 'Acme' },
    {
      id: 2,
      asset_hardware_model: { id: 71, name: 'R740' },
      country: { id: 276, name: 'Germany' },
      contract: { id: 5 },
    },
    {
      id: 3,
      asset_hardware_model: 'PowerEdge R740',
      country: 'Atlantis',
      contract: { id: 6, number: '007', name: 'Lease' },
    },
    {
      id: 4,
      asset_hardware_model: 'Unknown thing',
      manufacturer: { id: 1, name: 'Dell' },
      warranty_end_date: '03/04/2024',
    },
  ]);
  expect(extra.map(({ heading }) => heading)).toEqual([
    'asset_hardware_model.id',
    'asset_hardware_model.name',
    'business_unit.contact_name',
    'contract.name',
  ]);
  expect(cell(0, 'attached_supplier.id')).toBe('12');
  expect(cell(0, 'customer.name')).toBe('Acme');
  expect([1, 2, 3].map((row) => cell(row, 'asset_hardware_model'))).toEqual([
    'R740',
    'PowerEdge R740',
    'Unknown thing',
  ]);
  expect([1, 2].map((row) => cell(row, 'country'))).toEqual(['Germany', 'Atlantis']);
  expect([1, 2].map((row) => cell(row, 'contract.number'))).toEqual(['', '007']);
  expect(cell(3, 'manufacturer')).toBe('{"id":1,"name":"Dell"}');
  expect(cell(3, 'warranty_end_date')).toBe('03/04/2024');
});

test('a second spelling of a field stands where the first is empty', () => {
  const { extra, cell } = extras([
    { id: 1, bldg_name: 'A', bldng_name: 'A' },
    { id: 2, bldng_name: 'B' },
    { id: 4, usage_status: { id: 1, name: 'Production' }, asset_usage_status: 'Other' },
  ]);
  expect(extra).toEqual([]);
  expect([0, 1].map((row) => cell(row, 'bldg_name'))).toEqual(['A', 'B']);
  expect(cell(2, 'asset_usage_status')).toBe('Other');
  expect(cell(2, 'usage_status.name')).toBe('Production');
});

test('further rows of a form have columns that can be imported; a form that holds more is shown once more', () => {
  const row = (data: object, more = {}) => ({ id: 4, custom_form_data: data, ...more });
  const { extra, cell } = extras([
    {
      id: 1,
      custom_form: [row({ Rack: 'A1', Unit: 1 }), row({ Rack: 'A2', Odd: true }, { parent_row_id: 900, seq_no: 2 })],
    },
    { id: 2, custom_form: [row({}), row({}), row({ Unit: 33, Photo: { url: 'p.png' } })] },
    { id: 3, custom_form: [{ id: 88, custom_form_data: { Shelf: 'x' } }] },
  ]);
  expect(extra.map(({ heading, kind, field }) => [heading, kind, field])).toEqual([
    ['form.Data centre#2.Rack', 'text', 'form.4#2.Rack'],
    ['form.Data centre#3.Unit', 'integer', 'form.4#3.Unit'],
    ['form.Data centre#3.Photo', 'text', undefined],
    ['custom_form', 'text', undefined],
  ]);
  expect(cell(0, 'form.Data centre.Rack')).toBe('A1');
  expect(cell(0, 'form.Data centre#2.Rack')).toBe('A2');
  expect(cell(1, 'form.Data centre#3.Photo')).toBe('{"url":"p.png"}');
  expect(cell(0, 'custom_form')).toContain('"Odd":true},"parent_row_id":900,"seq_no":2}');
  expect(cell(1, 'custom_form')).toBe('');
  expect(cell(2, 'custom_form')).toBe('[{"id":88,"custom_form_data":{"Shelf":"x"}}]');
  expect([0, 1, 2].map((at) => cell(at, 'custom_form.id'))).toEqual(['4, 4', '4, 4, 4', '88']);
});

test('keys of a template that name no field, templates that are not listed or not of this resource', () => {
  const { extra, cell } = extras([
    {
      id: 1,
      template: { id: 3, fields: { 'Cost Centre': 'CC', 'cost centre': 'again', Budget: '1,200.50', Due: 'soon' } },
    },
    { id: 2, template: { id: 99, name: 'Gone', fields: { Key: 5 } } },
    {
      id: 3,
      template: [
        { id: 3, fields: { 11: 'by id' } },
        { id: 9, fields: { 'Cost Centre': 'deal' } },
      ],
    },
    { id: 4, template: { id: 3, fields: [{ name: 'Cost Centre', value: 'listed' }] } },
  ]);
  expect(extra.map(({ heading, kind, field }) => [heading, kind, field])).toEqual([['template', 'text', undefined]]);
  expect([0, 2, 3].map((at) => cell(at, 'template.Finance.Cost Centre'))).toEqual(['CC', 'by id', 'listed']);
  expect(cell(0, 'template.Finance.Budget')).toBe('1200.5');
  expect(cell(0, 'template.Finance.Due')).toBe('soon');
  expect(cell(1, 'template')).toBe('{"id":99,"name":"Gone","fields":{"Key":5}}');
  expect(cell(2, 'template')).toContain('"deal"');
  expect(cell(3, 'template')).toBe('');
  expect([0, 1, 2].map((at) => cell(at, 'template.id'))).toEqual(['3', '99', '3, 9']);
});

test('custom values in a form that is not documented are shown as they are', () => {
  const { extra, cell } = extras([
    { id: 1, custom_form: [{ custom_form_data: { Rack: 'no id' } }] },
    { id: 2, custom_form: [{ id: 4, custom_form_data: [1, 2] }] },
    { id: 3, template: 'text' },
    { id: 4, template: [{ id: 3, fields: {}, order: 1 }] },
    { id: 5, template: [3, 3].map((id, at) => ({ id, fields: { Budget: `${at}` } })) },
  ]);
  expect(extra.map(({ heading, kind }) => [heading, kind])).toEqual([
    ['custom_form', 'text'],
    ['template', 'text'],
  ]);
  expect(cell(0, 'custom_form')).toBe('[{"custom_form_data":{"Rack":"no id"}}]');
  expect(cell(3, 'template')).toBe('[{"id":3,"fields":{},"order":1}]');
  expect(cell(4, 'template')).toBe('[{"id":3,"fields":{"Budget":"0"}},{"id":3,"fields":{"Budget":"1"}}]');
});

test('keys without end do not become columns without end', () => {
  const context = known();
  const columns = exportColumns('asset', context);
  const extra = extraColumns('asset', columns, context);
  const record = (id: number) => ({ id, history: { [`at ${id}`]: id, other: { deep: id } } });
  for (let id = 1; id <= 5_000; id++) extra.see(record(id));
  const found = extra.columns();
  expect(found.map(({ heading, kind }) => [heading, kind])).toEqual([['other_members', 'json']]);
  expect(found[0]?.text({ json: record(7) })).toBe('{"history.at 7":7,"history.other.deep":7}');

  const wide = extraColumns('asset', columns, context);
  for (let id = 1; id <= 2_000; id++) wide.see({ id, name: 'n', [`key ${id}`]: id });
  const [others, ...more] = wide.columns();
  expect(more).toEqual([]);
  expect(others?.heading).toBe('other_members');
  expect(others?.text({ json: { id: 1, name: 'n', k: 5, l: [1] } })).toBe('{"k":5,"l":[1]}');

  const rows = extraColumns('asset', columns, context);
  const many = {
    id: 1,
    custom_form: Array.from({ length: 60 }, (_, at) => ({ id: 4, custom_form_data: { Rack: `R${at}` } })),
  };
  rows.see(many);
  const last = rows.columns().at(-1);
  expect(rows.columns()).toHaveLength(50);
  expect(last?.heading).toBe('custom_form');
  expect(last?.text({ json: many })).toContain('"R59"');
});

test('names of objects that JavaScript knows are names like others (82)', () => {
  const json = JSON.parse('{"id":1,"__proto__":{"x":1},"constructor":"c","toString":{"y":2}}') as object;
  const { cell } = extras([json]);
  expect([cell(0, '__proto__.x'), cell(0, 'constructor'), cell(0, 'toString.y')]).toEqual(['1', 'c', '2']);
});
