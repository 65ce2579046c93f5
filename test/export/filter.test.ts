import { describe, expect, test } from 'vitest';
import type { Exportable } from '../../src/export/column.js';
import { exportFilter } from '../../src/export/filter.js';
import { proveFilter } from '../../src/export/prove-filter.js';
import { exportRecord } from '../../src/export/record.js';
import { RunError } from '../../src/model/error.js';
import { valueAt } from '../../src/resources/path.js';
import type { Switches } from '../../src/sandbox/switches.js';
import type { Json, Page, Readable } from '../../src/service/port.js';
import { type Bench, openBench } from './bench.js';

async function ids(bench: Bench, resource: Readable, filters: readonly string[]): Promise<unknown[]> {
  const naming = await bench.naming(resource);
  const filter = exportFilter(filters, naming);
  const all = await bench.read(resource);
  return all.filter((json) => filter.keeps(exportRecord(resource, json, naming))).map((json) => json['id']);
}

/** As an export does it: what may be asked of the service is, and every record is checked here. */
async function asked(bench: Bench, resource: Exclude<Exportable, 'customer'>, filters: readonly string[]) {
  const naming = { ...(await bench.naming(resource)), resource };
  const toRecord = (json: Json) => exportRecord(resource, json, naming);
  const filter = await proveFilter(exportFilter(filters, naming), {
    service: bench.service,
    first: await bench.service.page(resource, 1),
    toRecord,
    naming,
  });
  const read = await bench.read(resource, filter.query);
  return {
    filter,
    read: read.length,
    ids: read.filter((json) => filter.keeps(toRecord(json))).map((json) => json['id']),
  };
}

async function faults(bench: Bench, resource: Exportable, filters: readonly string[]): Promise<readonly string[]> {
  const naming = await bench.naming(resource);
  try {
    exportFilter(filters, naming);
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
    [
      ['manufacturer_name=Dell', 'manufacturer_name=HP'],
      of((at) => ['Dell', 'HP'].includes(String(at('manufacturer')))),
    ],
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
  const active = await ids(bench, 'contract', ['status=Active', 'type=buy']);
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
  expect(await ids(bench, 'asset', ['form.Data centre#2.Rack=X2'])).toEqual([two]);
  expect(await ids(bench, 'asset', ['form.Data centre#2.Rack=X1'])).toEqual([]);
  expect(await ids(bench, 'asset', ['form.Data centre.Unit=7', 'name=two'])).toEqual([two]);
  expect(await ids(bench, 'asset', ['form.Data centre.Installed=2024-02-03'])).toEqual([two]);
  expect(await ids(bench, 'asset', ['form.1.Rack=X1', 'form.Data centre.Rack=X2'])).toEqual([two]);
  expect(await ids(bench, 'asset', ['custom_form_id=1', 'custom_form_name=Rack', 'custom_form_value=X2'])).toEqual([
    two,
  ]);
  expect(await ids(bench, 'asset', ['form.Data centre.Rack='])).not.toContain(two);
  const naming = await bench.naming('asset');
  expect(exportFilter(['form.Data centre.Unit=07'], naming).query).toEqual({
    custom_form_id: '1',
    custom_form_name: 'Unit',
    custom_form_value: '7',
  });
  const twice = exportFilter(['form.Data centre.Rack=X1', 'form.Data centre.Unit=7'], naming);
  expect(twice.query['custom_form_name']).toBe('Rack');
  expect(twice.described[1]).toContain('takes one value at a time');
});

test('what is sent, what is not, and what is said about it', async () => {
  const bench = await openBench();
  const asset = await bench.naming('asset');
  const query = (filters: readonly string[], naming = asset) => exportFilter(filters, naming).query;
  expect(query(['manufacturer=Dell', 'asset_tag=T', 'name=N', 'serial=S'])).toEqual({
    manufacturer_name: 'Dell',
    asset_tag: 'T',
    name: 'N',
    serial_number: 'S',
  });
  expect(query(['serial_number=list'])).toEqual({});
  expect(query(['serial_number= LIST '])).toEqual({});
  expect(query(['serial_number='])).toEqual({});
  expect(query(['manufacturer=Dell', 'manufacturer=HP', 'city=Lyon', 'id=1'])).toEqual({});
  expect(query(['contract_no=C-1'], await bench.naming('contract'))).toEqual({ contract_no: 'C-1' });
  expect(query(['name=Laptop'], await bench.naming('category'))).toEqual({ name: 'Laptop' });
  expect(query(['subcategory=Rack'], await bench.naming('category'))).toEqual({ subcategory: 'Rack' });
  expect(query(['name=1'], await bench.naming('usage-status'))).toEqual({});
  const view = exportFilter(['req=Warranty', 'city=Lyon'], asset);
  expect(view).toMatchObject({ query: { req: 'warranty' }, partialRecords: true, ordered: true });
  expect(view.described).toEqual([
    'req = warranty (the service shows only these details)',
    'city = Lyon (checked here: the service has no filter for it)',
  ]);
  expect(exportFilter(['name=a=b'], asset).described[0]).toBe(
    'name = a=b (asked of the service, and checked here; records whose stored text differs only in blanks or Unicode form may be missing)',
  );
  expect(exportFilter(['city=', 'city=Lyon'], asset).described[0]).toContain('city = blank or Lyon');
  expect(exportFilter(['id=7', 'id=3'], asset).ids).toEqual([3, 7]);
  expect(exportFilter(['license_id=7'], await bench.naming('license')).ids).toBeUndefined();
  expect(exportFilter([], asset)).toMatchObject({ query: {}, described: [], partialRecords: false });
});

test('lists pass where one of their items does; parts of objects are found in the records', async () => {
  const bench = await openBench();
  expect(await ids(bench, 'category', ['subcategories=Rack'])).toEqual([3]);
  expect(await ids(bench, 'category', ['subcategory='])).toEqual([10]);
  const naming = await bench.naming('license');
  const filter = exportFilter(['template.Entitlement.Region=EMEA', 'assets=1'], naming);
  const found = (await bench.read('license')).filter((json) => filter.keeps({ json }));
  expect(found.map((json) => json['license_id'])).toEqual([1]);
});

test('every fault of a filter is named, with what was meant', async () => {
  const bench = await openBench();
  const found = await faults(bench, 'asset', [
    'manufacturrer=Dell',
    'nonsense',
    '=x',
    'warranty_type=gold',
    'original_cost=cheap',
    'warranty_end_date=03/04/2024',
    'id=1.5',
    'req=everything',
    'custom_form_id=1',
    'ordering=name',
    'template.Finanse.Budget=1',
    'make=4',
    'form.Data centre.Unit=two',
  ]);
  expect(found).toHaveLength(13);
  const all = found.join('\n');
  expect(all).toContain('Did you mean "manufacturer"');
  expect(all).toContain('"nonsense" is not of the form field=value');
  expect(all).toContain('"warranty_type": "gold" must be one of none, oem');
  expect(all).toContain('must be a number');
  expect(all).toContain('yyyy-MM-dd');
  expect(all).toContain('must be a whole number');
  expect(all).toContain('"req" must be warranty or support');
  expect(all).toContain('Give each of custom_form_id, custom_form_name, custom_form_value');
  expect(all).toContain('--order');
  expect(all).toContain('Did you mean "Finance"');
  expect(all).toContain('never shows it');
  expect(
    await faults(bench, 'asset', ['custom_form_id=7', 'custom_form_name=Rack', 'custom_form_value=x']),
  ).toHaveLength(1);
  expect(await faults(bench, 'asset', ['custom_form_id=1', 'custom_form_name=Rak', 'custom_form_value=x'])).toEqual([
    expect.stringContaining('Did you mean "Rack"'),
  ]);
  expect(await faults(bench, 'supplier', ['req=warranty'])).toHaveLength(1);
  expect(await faults(bench, 'license', ['state=Actve'])).toEqual([]);
  expect(await faults(bench, 'user', ['role=boss'])).toEqual([expect.stringContaining('must be one of admin, user')]);
});

describe.each<[Switches['filters'], boolean]>([
  ['exact', true],
  ['contains', true],
  ['ignore_case', true],
  ['ignored', false],
])('a service whose filters are %s', (filters, shorter) => {
  test('finds the same records, and less is read where the filter helps', async () => {
    const bench = await openBench({ switches: { filters } });
    bench.sandbox.insert('asset', [
      { name: 'x1', manufacturer: 'dell' },
      { name: 'x2', manufacturer: 'Dellmann' },
    ]);
    const row = { id: 1, custom_form_data: { Rack: 'Z9' } };
    const [racked] = bench.sandbox.insert('asset', [{ name: 'x3', form_template: [row] }]);
    const whole = bench.sandbox.records('asset', 1);
    const wanted = whole.filter((one) => one['manufacturer'] === 'Dell').map((one) => one['id']);
    const dell = await asked(bench, 'asset', ['manufacturer=Dell']);
    expect(dell.ids).toEqual(wanted);
    expect(dell.read < whole.length).toBe(shorter);
    expect(dell.filter.described[0]).toContain(shorter ? 'asked of the service' : 'could not be trusted');
    const rack = await asked(bench, 'asset', ['form.Data centre.Rack=Z9', 'name=x3']);
    expect(rack.ids).toEqual([racked]);
    expect(rack.read < whole.length).toBe(shorter);
    const number = bench.sandbox.records('contract', 1)[3]!['number'];
    const contract = await asked(bench, 'contract', [`contract_no=${number}`]);
    expect(contract.ids).toEqual([4]);
    // So few are read whole, and compared here.
    expect(contract).toMatchObject({ read: 61, filter: { query: {} } });
    // Nothing to be found: only a control tells whether that can be believed.
    const none = await asked(bench, 'asset', ['serial_number=is not there']);
    expect(none.ids).toEqual([]);
    expect(none.read < whole.length).toBe(shorter);
    expect((await asked(bench, 'category', ['name=Server'])).ids).toEqual([3]);
  });
});

test('a filter that finds nothing although records fit is not believed', async () => {
  // This service takes dates of forms in another way than it shows them.
  const bench = await openBench({ switches: { dates: 'long' } });
  const [installed] = bench.sandbox.insert('asset', [
    { name: 'x', form_template: [{ id: 1, custom_form_data: { Installed: '2019-05-06' } }] },
  ]);
  const strict = {
    ...bench,
    service: {
      ...bench.service,
      page: (resource: Readable, page: number, query: Readonly<Record<string, string>> = {}) =>
        'custom_form_id' in query
          ? Promise.resolve({ count: 0, results: [] })
          : bench.service.page(resource, page, query),
    },
  };
  const found = await asked(strict as Bench, 'asset', ['form.Data centre.Installed=2019-05-06']);
  expect(found.ids).toEqual([installed]);
  expect(found.filter.query).toEqual({});
});

test('a view of the service that leaves fields out: what it hides is asked of the service, or refused', async () => {
  const bench = await openBench();
  const whole = bench.sandbox.records('asset', 1);
  const dell = await asked(bench, 'asset', ['req=warranty', 'manufacturer=Dell', 'warranty_type=oem']);
  const wanted = whole.filter((one) => one['manufacturer'] === 'Dell' && one['warranty_type'] === 'oem');
  expect(wanted.length).toBeGreaterThan(0);
  expect(dell.ids).toEqual(wanted.map((one) => one['id']));
  expect(dell.filter.described).toEqual([
    'req = warranty (the service shows only these details)',
    'manufacturer = Dell (asked of the service; the records do not show it; records whose stored text differs only in blanks or Unicode form may be missing)',
    'warranty_type = oem (checked here: the service has no filter for it)',
  ]);
  await expect(asked(bench, 'asset', ['req=warranty', 'city=Lyon'])).rejects.toThrow(
    /req = warranty: .* "city = Lyon"/,
  );
  bench.sandbox.insert('asset', [{ name: 'x', manufacturer: 'Fujitsu Siemens' }]);
  bench.sandbox.setSwitches({ filters: 'contains' });
  await expect(asked(bench, 'asset', ['req=warranty', 'manufacturer=Fujitsu Siemens'])).resolves.toMatchObject({
    read: 1,
  });
  await expect(asked(bench, 'asset', ['req=warranty', 'manufacturer=Fuji'])).rejects.toThrow(/does not show/);
  bench.sandbox.setSwitches({ filters: 'ignored' });
  await expect(asked(bench, 'asset', ['req=support', 'manufacturer=Dell'])).rejects.toThrow(/does not show/);
  await expect(asked(bench, 'asset', ['created_date=2024-01-01'])).rejects.toThrow(/does not show/);
});

describe('a filter of the service that compares exactly', () => {
  /** Every second one is stored in another spelling of the same text. */
  const spellings = ['Acme\u00a0Ltd', 'Acme Ltd ', '\uff21cme Ltd'];
  const many = (from: number, to: number, other: string) =>
    Array.from({ length: to - from }, (_, i) => ({ name: `m${from + i}`, manufacturer: i % 2 ? 'Acme Ltd' : other }));

  test.each(spellings)('loses no record that is stored as %j', async (other) => {
    const bench = await openBench({ seed: 'empty' });
    bench.sandbox.insert('asset', many(0, 60, other));
    const few = await asked(bench, 'asset', ['manufacturer=Acme Ltd']);
    expect(few.ids).toHaveLength(60);
    expect(few.filter.remarks).toEqual([]);
    // Also where the list is too long to be read for nothing: page 1 tells.
    bench.sandbox.insert(
      'asset',
      Array.from({ length: 240 }, (_, i) => ({ name: `o${i}`, manufacturer: 'Other' })),
    );
    const long = await asked(bench, 'asset', ['manufacturer=Acme Ltd']);
    expect(long.ids).toHaveLength(60);
    expect(long.filter.query).toEqual({});
    expect(long.filter.described[0]).toContain('could not be trusted');
  });

  test('is used where page 1 does not tell; that is said, and the same filter twice reads all', async () => {
    const bench = await openBench({ seed: 'empty' });
    const one = (name: string, manufacturer: string) => ({ name, manufacturer });
    bench.sandbox.insert('asset', [
      one('a', 'Acme Ltd'),
      ...Array.from({ length: 298 }, (_, i) => one(`o${i}`, 'Other')),
      one('z', 'Acme Ltd '),
    ]);
    const once = await asked(bench, 'asset', ['manufacturer=Acme Ltd']);
    expect(once.ids).toHaveLength(1);
    expect(once.filter.remarks).toEqual([
      expect.stringMatching(/manufacturer = Acme Ltd: .* may be missing\. .* give the same filter twice\.$/),
    ]);
    const twice = await asked(bench, 'asset', ['manufacturer=Acme Ltd', 'manufacturer=Acme Ltd']);
    expect(twice.ids).toHaveLength(2);
    expect(twice.filter.remarks).toEqual([]);
    expect(twice.filter.described).toEqual([
      'manufacturer = Acme Ltd (checked here: the filter of the service takes one value at a time)',
    ]);
  });
});

describe('answers to a filter that are not believed', () => {
  const filtered = (bench: Bench, answer: (count: number, page: number) => Promise<Page | undefined>): Bench => ({
    ...bench,
    service: {
      ...bench.service,
      async page(resource, page, query = {}) {
        const whole = await bench.service.page(resource, page, query);
        return 'manufacturer_name' in query ? ((await answer(whole.count, page)) ?? whole) : whole;
      },
    },
  });
  const seeded = async (rows: number) => {
    const bench = await openBench({ seed: 'empty' });
    const assets = Array.from({ length: 300 }, (_, i) => ({
      name: `a${i}`,
      manufacturer: i < rows ? 'Acme' : 'Other',
    }));
    bench.sandbox.insert('asset', assets);
    return bench;
  };

  test.each([400, 403, 404, 422])('status %i: the parameter is refused, and the list is read', async (status) => {
    const refusing = filtered(await seeded(30), () =>
      Promise.reject(new RunError('failed', 'The service refused GET /asset.', [], { status })),
    );
    const found = await asked(refusing, 'asset', ['manufacturer=Acme']);
    expect(found.ids).toHaveLength(30);
    expect(found.filter.described[0]).toContain('could not be trusted');
  });

  test.each([401, 500])('status %i ends the export', async (status) => {
    const failing = filtered(await seeded(30), () => Promise.reject(new RunError('failed', 'No.', [], { status })));
    await expect(asked(failing, 'asset', ['manufacturer=Acme'])).rejects.toThrow('No.');
  });

  test('a round number of records, as where a service stops counting', async () => {
    expect((await asked(await seeded(100), 'asset', ['manufacturer=Acme'])).filter.query).toEqual({});
    expect((await asked(await seeded(99), 'asset', ['manufacturer=Acme'])).filter.query).not.toEqual({});
  });

  test('records of page 1 may stand on later pages of the answer', async () => {
    const bench = await seeded(60);
    const turned = filtered(bench, async (count, page) => {
      const last = Math.ceil(count / 25);
      return bench.service.page('asset', last + 1 - page, { manufacturer_name: 'Acme' });
    });
    const naming = { ...(await bench.naming('asset')), resource: 'asset' as const };
    const proved = await proveFilter(exportFilter(['manufacturer=Acme'], naming), {
      service: turned.service,
      first: await bench.service.page('asset', 1),
      toRecord: (json) => exportRecord('asset', json, naming),
      naming,
    });
    expect(proved.query).toEqual({ manufacturer_name: 'Acme' });
  });
});

test('lists below an object; choices of which not all are known; what is no filter', async () => {
  const bench = await openBench();
  const contract = await bench.naming('contract');
  const json = { id: 1, alert: { email_list: ['d@e.f', 'g@h.i, j'] } };
  const keeps = (filter: string) => exportFilter([filter], contract).keeps(exportRecord('contract', json, contract));
  expect(keeps('alert.email_list=d@e.f')).toBe(true);
  expect(keeps('alert.email_list=g@h.i, j')).toBe(true);
  expect(keeps('alert.email_list=g@h.i')).toBe(false);
  const license = await bench.naming('license');
  const state = (text: string) => exportFilter([`state=${text}`], license).keeps({ json: { state: 'InActive' } });
  expect([state('inactive'), state('InActive'), state('Active')]).toEqual([true, true, false]);
  expect(await faults(bench, 'asset', ['company=1'])).toEqual([expect.stringContaining('use --company')]);
  expect(await faults(bench, 'company', ['company=1'])).toHaveLength(1);
});

test('members that nobody described may be filtered by; a misspelling is refused at once', async () => {
  const bench = await openBench();
  const naming = { ...(await bench.naming('asset')), unlisted: true as const };
  const filter = exportFilter(['location.floor=3', 'shelf=A 1'], naming);
  expect(filter.keeps({ json: { id: 1, location: { floor: 3 }, shelf: ' A 1' } })).toBe(true);
  expect(filter.keeps({ json: { id: 1, location: { floor: 4 }, shelf: 'A 1' } })).toBe(false);
  expect(filter.conditions.map(({ unlisted }) => unlisted)).toEqual(['location.floor', 'shelf']);
  for (const near of [
    'manufacturrer',
    'suplier.name',
    'attached_supplier.nam',
    'warranty',
    'template.X.Y',
    'form.1.X',
  ]) {
    expect(() => exportFilter([`${near}=1`], naming), near).toThrow(RunError);
  }
  expect(await faults(bench, 'asset', ['location.floor=3'])).toHaveLength(1);
});
