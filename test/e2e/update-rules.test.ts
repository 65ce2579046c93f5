import { describe, expect, it } from 'vitest';
import { csv, type Desk, type Imported, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { DEMO_MODELS, stored, storedOne, teach } from '../support/records.js';
import { hangVeil } from '../support/veil.js';

let desk: Desk;

const ASSET = { category: { id: 3, subcategory: 'Rack' } };

/** Sets the city of assets by their key columns. */
async function setCity(
  key: string | readonly string[],
  rows: readonly (readonly string[])[],
  match: object = {},
): Promise<Imported> {
  const fields = typeof key === 'string' ? [key] : key;
  const columns = Object.fromEntries([...fields.map((field) => [field.toUpperCase(), field]), ['City', 'city']]);
  const file = await desk.file('a.csv', [Object.keys(columns), ...rows]);
  return desk.import(file, { kind: 'import', resource: 'asset', match: { key, missing: 'skip', ...match }, columns });
}

describe('what the job says about existing and missing records', () => {
  it.each([
    ['update', 'create', ['2 updated', '3 created'], 2, []],
    ['skip', 'create', ['2 skipped', '3 created'], 1, []],
    ['fail', 'create', ['2 invalid', '3 created'], 1, ['2 record_exists']],
    ['update', 'skip', ['2 updated', '3 skipped'], 1, []],
    ['update', 'fail', ['2 updated', '3 invalid'], 1, ['3 record_not_found']],
    ['skip', 'fail', ['2 skipped', '3 invalid'], 0, ['3 record_not_found']],
  ] as const)('existing: %s, missing: %s', async (existing, missing, outcomes, commits, faults) => {
    desk = await openDesk();
    desk.sandbox.insert('asset', [{ ...ASSET, name: 'Box', serial_number: 'S-1', city: 'Ulm' }]);
    const file = await desk.file('a.csv', 'Serial,Name,City\r\nS-1,Box,Bonn\r\nS-2,Crate,Bonn');
    const columns = { Serial: 'serial_number', Name: 'name', City: 'city' };
    const result = await desk.import(file, importOf('asset', { key: 'serial_number', existing, missing }, columns));
    expect([result.outcomes, result.commits]).toEqual([outcomes, commits]);
    expect(result.faults.map((one) => `${one['row']} ${one['code']}`)).toEqual(faults);
    expect(storedOne(desk.sandbox, 'asset', 1)['city']).toBe(existing === 'update' ? 'Bonn' : 'Ulm');
    expect(stored(desk.sandbox, 'asset').size).toBe(missing === 'create' ? 2 : 1);
  });
});

describe('values that belong together', () => {
  it('of which a row changes one and leaves the other blank are written, and the other stays', async () => {
    desk = await openDesk();
    const contact = { name: 'Ann', email: 'ann@x.example', type: 'sales' };
    const names = ['A', 'B', 'C', 'D', 'E'];
    desk.sandbox.insert(
      'supplier',
      names.map((name) => ({ name, ...(name === 'E' ? {} : { contact_person: contact }) })),
    );
    const columns = { Name: 'name', Contact: 'contact_person.name', Mail: 'contact_person.email' };
    const job = { kind: 'import', resource: 'supplier', match: { key: 'name' } };
    const rows = [
      ['A', 'Ben', ''],
      ['B', '', 'ben@x.example'],
      ['C', 'Ben', 'ann@x.example'],
      ['D', 'Ann', ''],
      ['E', 'Ben', ''],
    ];
    const both = await desk.import(await desk.file('a.csv', [Object.keys(columns), ...rows]), { ...job, columns });
    expect(both.outcomes).toEqual(['2 updated', '3 updated', '4 updated', '5 unchanged', '6 invalid']);
    expect(both.results.map(({ codes }) => codes)).toEqual(['', '', '', '', 'pair_incomplete']);

    desk.sandbox.insert('asset', [{ name: 'Box', serial_number: 'B-1' }]);
    const table = [
      ['Serial', 'Sub'],
      ['B-1', 'Engineering'],
    ];
    const alone = await desk.import(await desk.file('b.csv', table), {
      ...{ kind: 'import', resource: 'asset', match: { key: 'serial_number' } },
      columns: { Serial: 'serial_number', Sub: 'category.subcategory' },
    });
    expect(alone.faults.map(({ row, field, code }) => [row, field, code])).toEqual([
      ['2', 'category.name', 'required'],
    ]);
    expect(storedOne(desk.sandbox, 'supplier', 1)['contact_person']).toMatchObject({
      name: 'Ben',
      email: contact.email,
    });
  });
});

describe('a row with a faulty cell', () => {
  it('is told of all its other faults on the record it meets, and of none that the faulty cell decides', async () => {
    desk = await openDesk({ seed: 'demo' });
    const record = {
      ...{ contract_type: 'buy_side', supplier: 1, name: 'Frame', number: 'F-1', country: 840, status: 'active' },
      ...{ category: { id: 1 }, contract_start_date: '2024-01-01' },
      ...{ contract_end_date: '2024-12-31', total_contract_spend_value: 100, notice_period: 30 },
      end_of_term_clause: 'auto_expires',
    };
    desk.sandbox.insert('contract', [record]);
    const columns = {
      No: 'number',
      Type: 'contract_type',
      Vendor: 'supplier',
      Start: 'contract_start_date',
      End: 'contract_end_date',
      NRC: 'nrc',
      Notice: 'notice_period',
      State: 'status',
    };
    const rows = [
      ['F-1', '', '', '2024-05-05', '2024-01-01', 'abc', '', ''],
      ['F-1', 'sell_side', 'Nope', '', '', '', '5000', 'draft'],
      ['F-1', '', '', '2025-05-05', 'soon', '', '5000', ''],
      ['F-1', '', '', '2025-05-05', '', '', 'abc', ''],
    ];
    const results = [];
    for (const row of rows) {
      const file = await desk.file('a.csv', [Object.keys(columns), row]);
      const job = { kind: 'import', resource: 'contract', match: { key: 'number' }, columns };
      const { faults, commits } = await desk.import(file, job);
      expect(commits).toBe(0);
      results.push(faults.map(({ column, code }) => `${column} ${code}`));
    }
    expect(results).toEqual([
      ['NRC not_a_number', 'Start rule_start_before_end'],
      [
        'Vendor reference_not_found',
        'Type contract_type_change',
        'State status_not_writable',
        'Notice rule_notice_period',
      ],
      ['End not_a_date'],
      ['Notice not_a_number', 'Start rule_start_before_end'],
    ]);
  });
});

describe('a record that breaks a rule itself', () => {
  it('holds back a row that sets another column, and the fault says that the value is of the record', async () => {
    desk = await openDesk();
    desk.sandbox.insert('supplier', [
      { name: 'A', contact_person: { name: 'Ann', email: 'old@x.example' } },
      { name: 'B', contact_person: { name: 'Ann', email: 'ann@x.example' } },
    ]);
    const columns = { Name: 'name', Mail: { field: 'contact_person.email', blank: 'clear' }, City: 'city' };
    const rows = [Object.keys(columns), ['A', '', 'Bonn'], ['B', '', 'Bonn']];
    const job = { kind: 'import', resource: 'supplier', match: { key: 'name' }, columns };
    const veil = await hangVeil(desk.sandbox.url, (text) => text.replace('"old@x.example"', 'null'));
    const options = { env: { ROWFERRY_API_URL: veil.url } };
    const { faults } = await desk.import(await desk.file('a.csv', rows), job, options);
    expect(faults.map((one) => `${one['row']} ${one['code']}`)).toEqual(['2 pair_incomplete', '3 pair_incomplete']);
    expect(faults.map((one) => /The record \d is so already/.test(one['message'] ?? ''))).toEqual([true, false]);
  });
});

describe('the key of a row', () => {
  it('is compared after NFKC and trimming; case counts', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', [
      { ...ASSET, name: 'a', serial_number: 'Ｓ－1' },
      { ...ASSET, name: 'b', serial_number: ' S-2 ' },
      { ...ASSET, name: 'c', serial_number: 'Cafe\u0301' },
      { ...ASSET, name: 'd', serial_number: 's-4' },
    ]);
    const result = await setCity('serial_number', [
      ['S-1', 'Bonn'],
      ['\u00a0S-2', 'Bonn'],
      ['Café', 'Bonn'],
      ['S-4', 'Bonn'],
    ]);
    expect(result.outcomes).toEqual(['2 updated', '3 updated', '4 updated', '5 skipped']);
    expect(result.results.map((row) => row['id'])).toEqual(['1', '2', '3', '']);
    // The key of the record itself is a mapped field that means the same: it is not rewritten for its form.
    expect([...stored(desk.sandbox, 'asset').values()].map((one) => one['city'])).toEqual([
      'Bonn',
      'Bonn',
      'Bonn',
      undefined,
    ]);
  });

  it('a record whose key differs in form only is unchanged, not rewritten at every import', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', [{ ...ASSET, name: 'a', serial_number: ' S-2 ', city: 'Bonn' }]);
    const first = await setCity('serial_number', [['S-2', 'Bonn']]);
    const second = await setCity('serial_number', [['S-2', 'Bonn']]);
    expect(second.outcomes).toEqual(['2 unchanged']);
    expect(first.commits + second.commits).toBeLessThanOrEqual(1);
  });

  it('blank: never matches, not even a record whose key is blank too', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', [
      { ...ASSET, name: 'a', city: 'Ulm' },
      { ...ASSET, name: 'b', serial_number: ' ', city: 'Ulm' },
    ]);
    const before = stored(desk.sandbox, 'asset');
    const columns = { Serial: 'serial_number', Name: 'name', City: 'city' };
    const file = await desk.file('a.csv', 'Serial,Name,City\r\n,a,Bonn\r\n  ,new,Bonn');
    const result = await desk.import(file, importOf('asset', 'serial_number', columns));
    expect([result.outcomes, result.commits]).toEqual([['2 invalid', '3 invalid'], 0]);
    expect(result.faults.map((one) => `${one['column']} ${one['code']}`)).toEqual([
      'Serial required',
      'Serial required',
    ]);
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
  });

  it('of several fields: all must match', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', [
      { ...ASSET, name: 'a', manufacturer: 'X' },
      { ...ASSET, name: 'a', manufacturer: 'Y' },
      { ...ASSET, name: 'b', manufacturer: 'X' },
      { ...ASSET, name: 'c' },
    ]);
    const result = await setCity(
      ['name', 'manufacturer'],
      [
        ['a', 'Y', 'Bonn'],
        ['b', 'Y', 'Bonn'],
        ['a', '', 'Bonn'],
        ['c', '', 'Bonn'],
      ],
    );
    expect(result.outcomes).toEqual(['2 updated', '3 skipped', '4 skipped', '5 updated']);
    expect([...stored(desk.sandbox, 'asset').values()].map((one) => one['city'])).toEqual([
      undefined,
      'Bonn',
      undefined,
      'Bonn',
    ]);
  });

  it('of a reference and a text', async () => {
    desk = await openDesk({ seed: 'demo' });
    await teach(desk, 'hardware-model', DEMO_MODELS);
    const result = await setCity(
      ['asset_tag', 'attached_supplier'],
      [
        ['TAG-00012', 'Initech Services', 'Bonn'],
        ['TAG-00013', 'Initech Services', 'Bonn'],
      ],
    );
    expect(result.outcomes).toEqual(['2 updated', '3 skipped']);
    expect(storedOne(desk.sandbox, 'asset', 12)['city']).toBe('Bonn');
  });

  it('id: read directly; one that does not exist is invalid or skipped, never created', async () => {
    desk = await openDesk({ seed: 'demo' });
    await teach(desk, 'hardware-model', DEMO_MODELS);
    const before = stored(desk.sandbox, 'asset').size;
    const result = await setCity(
      'id',
      [
        ['12', 'Bonn'],
        ['99999', 'Bonn'],
      ],
      { missing: 'create' },
    );
    expect(result.outcomes).toEqual(['2 updated', '3 invalid']);
    expect(result.faults.map((one) => one['code'])).toEqual(['record_not_found']);
    expect((await setCity('id', [['99999', 'Bonn']])).outcomes).toEqual(['2 skipped']);
    expect(stored(desk.sandbox, 'asset').size).toBe(before);
    expect(storedOne(desk.sandbox, 'asset', 12)['city']).toBe('Bonn');
  });

  it('that several records have: ambiguous, with their ids, and none is touched', async () => {
    desk = await openDesk({ seed: 'demo' });
    const before = stored(desk.sandbox, 'asset');
    const result = await setCity('serial_number', [['SN-DUPLICATE', 'Bonn']], { missing: 'create' });
    expect([result.outcomes, result.commits, result.exitCode]).toEqual([['2 ambiguous'], 0, 3]);
    expect(result.faults.map((one) => one['code'])).toEqual(['ambiguous_match']);
    for (const id of ['299', '300']) expect(result.faults[0]!['message']).toContain(id);
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
  });

  it('that an earlier row has: the earlier one is handled, the later is a duplicate, told apart by what it says', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', [{ ...ASSET, name: 'a', serial_number: 'S-1', city: 'Ulm' }]);
    const result = await setCity('serial_number', [
      ['S-1', 'Bonn'],
      [' S-1 ', 'Bonn'],
      ['Ｓ-1', 'Trier'],
      ['s-1', 'Bonn'],
    ]);
    expect(result.outcomes).toEqual(['2 updated', '3 duplicate', '4 duplicate', '5 skipped']);
    expect(result.faults.map((one) => `${one['row']} ${one['code']}`)).toEqual(['3 duplicate_row', '4 duplicate_key']);
    expect([storedOne(desk.sandbox, 'asset', 1)['city'], result.commits]).toEqual(['Bonn', 1]);
  });
});

describe('values that reads show in another form than writes carry', () => {
  it('the building, which each operation spells in its own way', async () => {
    desk = await openDesk();
    const columns = { Serial: 'serial_number', Name: 'name', Cat: 'category.name', Building: 'bldng_name' };
    const job = { kind: 'import', resource: 'asset', match: { key: 'serial_number' }, columns };
    const file = (building: string) => csv([Object.keys(columns), ['S-1', 'Box', 'Server', building]]);
    expect((await desk.import(await desk.file('a.csv', file('Hall 1')), job)).outcomes).toEqual(['2 created']);
    expect(storedOne(desk.sandbox, 'asset', 1)['bldg_name']).toBe('Hall 1');
    expect((await desk.import(await desk.file('a.csv', file('Hall 1')), job)).outcomes).toEqual(['2 unchanged']);
    const moved = await desk.import(await desk.file('b.csv', file('Hall 2')), job);
    expect(moved.plan.map((one) => `${one['field']} ${one['old']} ${one['new']}`)).toEqual(['bldg_name Hall 1 Hall 2']);
    expect(storedOne(desk.sandbox, 'asset', 1)['bldg_name']).toBe('Hall 2');
    const touch = { ...job, columns: { Serial: 'serial_number', Room: 'room' } };
    await desk.import(await desk.file('c.csv', 'Serial,Room\r\nS-1,R'), touch);
    expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({ bldg_name: 'Hall 2', room: 'R' });
    expect(Object.keys(JSON.parse(desk.sandbox.commits.at(-1)!.body!) as object)).toContain('bldng_name');
  });

  it('a hardware model set by id: its name is learned when it is written, then it is unchanged and can be carried over', async () => {
    desk = await openDesk();
    desk.sandbox.insert(
      'asset',
      [1, 2, 3, 4].map((n) => ({ ...ASSET, name: `Box ${n}`, serial_number: `S-${n}` })),
    );
    const columns = { Serial: 'serial_number', Model: 'asset_hardware_model' };
    const job = { kind: 'import', resource: 'asset', match: { key: 'serial_number' }, columns };
    const file = await desk.file('a.csv', 'Serial,Model\r\nS-1,1\r\nS-2,2\r\nS-3,2\r\nS-4,3');
    expect((await desk.import(file, job)).summary.rows.updated).toBe(4);
    const again = await desk.import(file, job);
    expect([again.summary.rows.unchanged, again.commits]).toEqual([4, 0]);
    const touched = await desk.import(await desk.file('b.csv', 'Serial,City\r\nS-1,Bonn\r\nS-3,Bonn\r\nS-4,Bonn'), {
      ...job,
      columns: { Serial: 'serial_number', City: 'city' },
    });
    expect(touched.summary.rows.updated).toBe(3);
    expect([...stored(desk.sandbox, 'asset').values()].map((one) => one['asset_hardware_model'])).toEqual([1, 2, 2, 3]);
    const byName = await desk.import(await desk.file('c.csv', 'Serial,Model\r\nS-1,PowerEdge R660'), job);
    expect(byName.outcomes).toEqual(['2 updated']);
    expect(storedOne(desk.sandbox, 'asset', 1)['asset_hardware_model']).toBe(3);
  });

  it('a hardware model that the record has already: the update that repeats it teaches its name, and no other follows', async () => {
    desk = await openDesk();
    desk.sandbox.insert(
      'asset',
      [1, 2].map((n) => ({ ...ASSET, name: `Box ${n}`, serial_number: `S-${n}`, asset_hardware_model: { id: n } })),
    );
    const job = importOf('asset', 'serial_number', { Serial: 'serial_number', Model: 'asset_hardware_model' });
    const file = await desk.file('a.csv', 'Serial,Model\r\nS-1,1\r\nS-2,2');
    await desk.import(file, job);
    const again = await desk.import(file, job);
    expect([again.summary.rows.unchanged, again.commits]).toEqual([2, 0]);
    expect([...stored(desk.sandbox, 'asset').values()].map((one) => one['asset_hardware_model'])).toEqual([1, 2]);
  });

  it('a model whose update the service did not carry out is not taken for the one that still shows', async () => {
    desk = await openDesk();
    await teach(desk, 'hardware-model', { 1: 'Latitude 5450' });
    desk.sandbox.insert(
      'asset',
      [1, 2].map((n) => ({ ...ASSET, name: `Box ${n}`, serial_number: `S-${n}`, asset_hardware_model: { id: 1 } })),
    );
    desk.sandbox.setFaults(['PUT /asset/1 status=200 body="{}"']);
    const job = { kind: 'import', resource: 'asset', match: { key: 'serial_number' } };
    const model = { ...job, columns: { Serial: 'serial_number', Model: 'asset_hardware_model' } };
    const failed = await desk.import(await desk.file('a.csv', 'Serial,Model\r\nS-1,2'), model);
    expect([failed.outcomes, failed.exitCode]).toEqual([['2 unknown'], 1]);
    const touched = await desk.import(await desk.file('b.csv', 'Serial,City\r\nS-2,Bonn'), {
      ...job,
      columns: { Serial: 'serial_number', City: 'city' },
    });
    expect(touched.outcomes).toEqual(['2 updated']);
    expect(storedOne(desk.sandbox, 'asset', 2)['asset_hardware_model']).toBe(1);
  });

  it('a contract service per item, which reads show as text', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', [
      `{"name":"Box","serial_number":"S-1","category":{"id":3},"contract_service_per_item":99999999999999.99,"currency":{"value":"Krona","symbol":"kr"}}`,
    ]);
    const columns = { Serial: 'serial_number', Service: 'contract_service_per_item' };
    const job = { kind: 'import', resource: 'asset', match: { key: 'serial_number' }, columns };
    const file = (cell: string) =>
      csv([
        ['Serial', 'Service'],
        ['S-1', cell],
      ]);
    expect((await desk.import(await desk.file('a.csv', file('99999999999999.990')), job)).outcomes).toEqual([
      '2 unchanged',
    ]);
    expect((await desk.import(await desk.file('a.csv', file('0.10')), job)).outcomes).toEqual(['2 updated']);
    expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({
      contract_service_per_item: '0.10',
      currency: { value: 'Krona', symbol: 'kr' },
    });
  });
});

describe('a hardware model set by id when an asset is created', () => {
  it.each(['bare', 'full'] as const)('is unchanged at the second import (%s answers)', async (responses) => {
    desk = await openDesk({ responses });
    const rows = [
      ['Name', 'Serial', 'Model'],
      ['One', 'M-1', '1'],
      ['Two', 'M-2', '2'],
      ['Three', 'M-3', '1'],
    ];
    const job = importOf('asset', 'serial_number', {
      Name: 'name',
      Serial: 'serial_number',
      Model: 'asset_hardware_model',
    });
    const file = await desk.file('models.csv', rows);
    expect((await desk.import(file, job)).summary.rows.created).toBe(3);
    const again = await desk.import(file, job);
    expect([again.summary.rows.unchanged, again.commits]).toEqual([3, 0]);
  });
});
