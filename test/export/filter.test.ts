import { expect, test } from 'vitest';
import type { Exportable } from '../../src/export/column.js';
import { exportRecord } from '../../src/export/column.js';
import { extraColumns } from '../../src/export/extra-columns.js';
import { exportFilter, parseFilter } from '../../src/export/filter.js';
import { RunError } from '../../src/model/error.js';
import { valueAt } from '../../src/resources/path.js';
import type { Readable } from '../../src/service/port.js';
import { type Bench, openBench } from './bench.js';

async function ids(bench: Bench, resource: Readable, filters: readonly string[]): Promise<unknown[]> {
  const naming = await bench.naming(resource);
  const filter = exportFilter(parseFilter(filters), naming);
  const all = await bench.read(resource);
  return all.filter((json) => filter.matches(exportRecord(resource, json, naming))).map((json) => json['id']);
}

async function faults(bench: Bench, resource: Exportable, filters: readonly string[]): Promise<readonly string[]> {
  const naming = await bench.naming(resource);
  try {
    exportFilter(parseFilter(filters), naming);
  } catch (error) {
    if (!(error instanceof RunError) || error.kind !== 'usage') throw error;
    return error.details.length > 0 ? error.details : [error.message];
  }
  return [];
}

test('filters of every kind, by heading, name, alias and part', async () => {
  const bench = await openBench();
  const assets = bench.sandbox.records('asset', 1);
  const of = (fits: (at: (path: string) => unknown) => boolean) =>
    assets.filter((one) => fits((path) => valueAt(one, path))).map((one) => one['id']);
  const cases: readonly [readonly string[], unknown[]][] = [
    [['manufacturer=Dell'], of((at) => at('manufacturer') === 'Dell')],
    [['manufacturer= Dell '], of((at) => at('manufacturer') === 'Dell')],
    [['manufacturer=dell'], []],
    [['manufacturer=Dell', 'manufacturer=HP'], of((at) => ['Dell', 'HP'].includes(String(at('manufacturer'))))],
    [['id=12'], [12]],
    [
      ['ID=12', 'id=14', 'id=9999'],
      [12, 14],
    ],
    [[`supplier.name=${valueAt(assets[0], 'attached_supplier.name')}`], of((at) => at('attached_supplier.id') === 2)],
    [['supplier=3'], of((at) => at('attached_supplier.id') === 3)],
    [['attached_supplier.id=3'], of((at) => at('attached_supplier.id') === 3)],
    [
      ['category=Laptop', 'category.subcategory=Rugged'],
      of((at) => at('category.name') === 'Laptop' && at('category.subcategory') === 'Rugged'),
    ],
    [['owner=sam.lee@northwind.example'], []],
    [['owner=ada.park@northwind.example'], of((at) => at('asset_owner.id') === 1)],
    [['owner=Ada.PARK@northwind.example'], of((at) => at('asset_owner.id') === 1)],
    [['owner=id:1'], of((at) => at('asset_owner.id') === 1)],
    [['attached_supplier.name=ID: 3'], of((at) => at('attached_supplier.id') === 3)],
    [['attached_supplier=id:3'], of((at) => at('attached_supplier.id') === 3)],
    [['category=id:1'], of((at) => at('category.id') === 1)],
    [['category.name=1'], of((at) => at('category.id') === 1)],
    [['contract=id:1'], of((at) => at('contract.id') === 1)],
    [['owner=Ada Park'], of((at) => at('asset_owner.id') === 1)],
    [['contract='], of((at) => at('contract') === null)],
    [['country=DE'], of((at) => at('country') === 'Germany')],
    [['country=germany', 'country=JPN'], of((at) => ['Germany', 'Japan'].includes(String(at('country'))))],
    [['warranty_type=OEM extended'], of((at) => at('warranty_type') === 'oem_extended')],
    [['warranty_start_date=3 Mar 2023'], of((at) => at('warranty_start_date') === '2023-03-03')],
    [['original_cost=1,239.90'], of((at) => Number(at('original_cost')) === 1239.9)],
    [['template.Finance.Cost Centre=CC-4003'], of((at) => at('template.fields.Cost Centre') === 'CC-4003')],
    [['template.1.2=1503.00'], of((at) => Number(at('template.fields.Budget')) === 1503)],
    [['template.Finance.Approved On='], of((at) => !at('template.fields.Approved On'))],
    [
      ['asset_notes=', 'lifecycle_stage=Retired'],
      of((at) => at('asset_notes') === null && at('lifecycle_stage') === 'Retired'),
    ],
    [['usage_status=In repair'], of((at) => at('usage_status.id') === 5)],
  ];
  for (const [filters, expected] of cases) {
    const found = await ids(bench, 'asset', filters);
    expect(found, filters.join(' & ')).toEqual(expected);
    if (!['manufacturer=dell', 'owner=sam.lee@northwind.example'].includes(filters[0]!)) {
      expect(found.length, filters.join(' & ')).toBeGreaterThan(0);
      expect(found.length, filters.join(' & ')).toBeLessThan(assets.length);
    }
  }
  const active = await ids(bench, 'contract', ['status=Active', 'type=Buy side']);
  expect(active).toEqual(
    bench.sandbox
      .records('contract', 1)
      .filter((one) => one['status'] === 'active' && one['contract_type'] === 'buy_side')
      .map((one) => one['id']),
  );
  expect(active.length).toBeGreaterThan(0);
});

test('columns of custom forms: any row of the form, also those that have no column yet', async () => {
  const bench = await openBench();
  const [form] = (await bench.context()).forms.filter(({ name }) => name === 'Data centre');
  const row = (data: object) => ({ id: form!.id, custom_form_data: data });
  const [two] = bench.sandbox.insert('asset', [
    { name: 'two', form_template: [row({ Rack: 'X1', Unit: 7 }), row({ Rack: 'X2', Installed: '2024-02-03' })] },
  ]);
  expect(await ids(bench, 'asset', ['form.Data centre.Rack=X2'])).toEqual([two]);
  expect(await ids(bench, 'asset', ['form.Data centre.Unit=7', 'name=two'])).toEqual([two]);
  expect(await ids(bench, 'asset', ['form.Data centre.Installed=2024-02-03'])).toEqual([two]);
  expect(await ids(bench, 'asset', ['form.1.Rack=X1', 'form.Data centre.Rack=X2'])).toEqual([two]);
  expect(await ids(bench, 'asset', ['form.Data centre.Rack='])).not.toContain(two);
});

test('texts come to a filter: a field that is named several times has several values', async () => {
  expect(parseFilter(['id=1', 'name=a=b', ' ID =2', 'city='])).toEqual({ id: ['1', '2'], name: ['a=b'], city: [''] });
  expect(Object.keys(parseFilter(['__proto__=1']))).toEqual(['__proto__']);
  expect(await faults(await openBench(), 'asset', ['nonsense', 'name=x', '=x'])).toEqual([
    '--filter "nonsense" is not of the form field=value.',
    '--filter "=x" is not of the form field=value.',
  ]);
});

test('ids are known; conditions are told in words', async () => {
  const bench = await openBench();
  const asset = await bench.naming('asset');
  expect(exportFilter({ name: 'a=b' }, asset).described).toEqual(['name = a=b']);
  expect(exportFilter({ city: [null, 'Lyon'] }, asset).described[0]).toContain('city = blank or Lyon');
  expect(exportFilter({ id: [7, 3] }, asset).ids).toEqual([3, 7]);
  expect(exportFilter({ license_id: 7 }, await bench.naming('license')).ids).toBeUndefined();
  expect(exportFilter({}, asset)).toMatchObject({ described: [] });
});

test('lists pass where one of their items does; parts of objects are found in the records', async () => {
  const bench = await openBench();
  expect(await ids(bench, 'category', ['subcategories=Rack'])).toEqual([3]);
  expect(await ids(bench, 'category', ['subcategories='])).toEqual([10]);
  const known = await bench.naming('license');
  const records = await bench.read('license');
  const extras = extraColumns('license', known.columns, known);
  for (const record of records) extras.see(record);
  const naming = { ...known, columns: [...known.columns, ...extras.columns()] };
  const filter = exportFilter({ 'template.Entitlement.Region': 'EMEA', assets: 1 }, naming);
  expect(records.filter((json) => filter.matches({ json })).map((json) => json['license_id'])).toEqual([1]);
});

test('every fault of a filter is named, with what was meant', async () => {
  const bench = await openBench();
  const found = await faults(bench, 'asset', [
    'manufacturrer=Dell',
    'warranty_type=gold',
    'original_cost=cheap',
    'warranty_end_date=03/04/2024',
    'id=1.5',
    'req=warranty',
    'ordering=name',
    'template.Finanse.Budget=1',
    'make=4',
    'form.Data centre.Unit=two',
  ]);
  expect(found).toHaveLength(10);
  const all = found.join('\n');
  expect(all).toContain('Did you mean "manufacturer"');
  expect(all).toContain('"warranty_type": "gold" must be one of none, oem');
  expect(all).toContain('must be a number');
  expect(all).toContain('yyyy-MM-dd');
  expect(all).toContain('must be a whole number');
  expect(all).toContain('show no "req"');
  expect(all).toContain('Did you mean "Finance"');
  expect(all).toContain('never shows it');
  expect(await faults(bench, 'supplier', ['req=warranty'])).toHaveLength(1);
  expect(await faults(bench, 'license', ['state=Actve'])).toEqual([]);
  expect(await faults(bench, 'user', ['role=boss'])).toEqual([expect.stringContaining('must be one of admin, user')]);
});

test('lists below an object', async () => {
  const bench = await openBench();
  const contract = await bench.naming('contract');
  const json = { id: 1, alert: { email_list: ['d@e.f', 'g@h.i, j'] } };
  const keeps = (filter: string) =>
    exportFilter(parseFilter([filter]), contract).matches(exportRecord('contract', json, contract));
  expect(keeps('alert.email_list=d@e.f')).toBe(true);
  expect(keeps('alert.email_list=g@h.i, j')).toBe(true);
  expect(keeps('alert.email_list=g@h.i')).toBe(false);
  expect(await faults(bench, 'company', ['company=1'])).toHaveLength(1);
  for (const name of ['__proto__', 'constructor'])
    expect(await faults(bench, 'asset', [`${name}=1`])).toEqual([expect.stringContaining(`show no "${name}"`)]);
});
