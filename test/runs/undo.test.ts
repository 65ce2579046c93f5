import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Desk, type Imported, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { stored, storedOne } from '../support/records.js';

let desk: Desk;
afterEach(() => vi.restoreAllMocks());

const COLUMNS = {
  Serial: 'serial_number',
  Name: 'name',
  Cost: 'original_cost',
  End: 'warranty_end_date',
  Owner: 'asset_owner',
  Category: 'category.name',
  Sub: 'category.subcategory',
  Notes: { field: 'asset_notes', blank: 'clear' },
  Country: 'country',
  Usage: 'usage_status',
  Currency: 'currency.symbol',
  Centre: 'template.Finance.Cost Centre',
  Budget: { field: 'template.Finance.Budget', blank: 'clear' },
  Rack: 'form.Data centre.Rack',
  Mac: 'mac_address',
};
const JOB = { kind: 'import', resource: 'asset', match: { key: 'serial_number' }, columns: COLUMNS };
const NEW = [
  ...['Renamed', '1,200.50', '2031-12-30', 'chloe.martin@northwind.example', 'Server', 'Rack', '', 'Brazil'],
  ...['Other', 'kr', 'CC-9', '', 'R-9', 'aa:bb'],
];
const OLD = {
  name: 'Box',
  original_cost: 12.5,
  asset_owner: 1,
  category: { id: 1, subcategory: 'Business' },
  asset_notes: 'as it was',
  country: 276,
  asset_usage_status: 1,
  currency: { value: 'Euro', symbol: '€' },
  room: 'R1',
  templates: [
    {
      id: 1,
      fields: [
        { id: 1, value: 'CC-1' },
        { id: 2, value: 12.5 },
      ],
    },
  ],
  form_template: [{ id: 1, custom_form_data: { Rack: 'A1', Unit: 7 } }],
};
const asset = (number: number, more: object = {}) => ({ ...OLD, serial_number: `S-${number}`, ...more });
const sheet = (rows: readonly (readonly (string | number)[])[], headings = Object.keys(COLUMNS)) =>
  desk.file('a.csv', [headings, ...rows]);
const codes = ({ results }: Imported) =>
  results.map(({ row, outcome, codes }) => `${row} ${outcome} ${codes}`.trimEnd());

/** A small import of one column. */
async function setField(field: string, cells: readonly (readonly [string, string])[], more: object = {}) {
  const job = { ...JOB, columns: { Serial: 'serial_number', New: { field, blank: 'clear' } }, ...more };
  return desk.import(await sheet(cells, ['Serial', 'New']), job);
}

async function deskWith(count: number, more: object = {}): Promise<void> {
  desk = await openDesk();
  desk.sandbox.insert(
    'asset',
    Array.from({ length: count }, (_, at) => asset(at + 1, more)),
  );
}

describe('updates are undone', () => {
  it('every kind of field: the records are what they were, the rows keep their numbers and keys', async () => {
    await deskWith(3);
    // Without it nothing is known of what reads do not show.
    await setField('mac_address', [
      ['S-1', '00:01'],
      ['S-2', '00:02'],
      ['S-3', '00:03'],
    ]);
    const before = stored(desk.sandbox, 'asset');
    const file = await sheet([
      ['S-1', ...NEW],
      ['S-404', ...NEW.map(() => '')],
      ['S-3', ...NEW],
    ]);
    const run = await desk.import(file, { ...JOB, match: { key: 'serial_number', missing: 'skip' } });
    expect([run.outcomes, run.faults]).toEqual([['2 updated', '3 skipped', '4 updated'], []]);
    const undo = await desk.undo('last');
    expect(undo.results.map(({ row, outcome, key, id }) => [row, outcome, key, id])).toEqual([
      ['2', 'updated', 'S-1', '1'],
      ['4', 'updated', 'S-3', '3'],
    ]);
    expect(undo.results.map((line) => line['changed_fields'])).toEqual(
      run.results.filter((_, at) => at !== 1).map((line) => line['changed_fields']),
    );
    expect(undo.summary).toMatchObject({ kind: 'undo', of_run: run.summary.run, status: 'succeeded' });
    expect(undo.summary.warnings).toEqual([
      'Reads do not show mac_address: what somebody else put there after the run is not seen, and is overwritten.',
    ]);
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
    // What was undone is not remembered either: the file is news again, and what it held is carried over.
    expect((await desk.import(file, JOB)).outcomes).toEqual(['2 updated', '3 invalid', '4 updated']);
  });

  it('twice: the second time nothing is sent; and the undo is undone', async () => {
    await deskWith(2);
    const before = stored(desk.sandbox, 'asset');
    const file = await sheet([
      ['S-1', ...NEW.slice(0, -1), ''],
      ['S-2', ...NEW.slice(0, -1), ''],
    ]);
    const run = await desk.import(file, JOB);
    const after = stored(desk.sandbox, 'asset');
    const undo = await desk.undo(run.summary.run);
    expect([undo.outcomes, undo.commits]).toEqual([['2 updated', '3 updated'], 2]);
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
    const again = await desk.undo(run.summary.run);
    expect([again.outcomes, again.commits, again.exitCode]).toEqual([['2 unchanged', '3 unchanged'], 0, 0]);
    const redone = await desk.undo(undo.summary.run);
    expect([redone.outcomes, redone.summary.of_run]).toEqual([['2 updated', '3 updated'], undo.summary.run]);
    expect(stored(desk.sandbox, 'asset')).toEqual(after);
    expect((await desk.undo(redone.summary.run)).commits).toBe(2);
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
  });

  it('contracts and suppliers', async () => {
    desk = await openDesk({ seed: 'demo' });
    const contracts = stored(desk.sandbox, 'contract');
    const suppliers = stored(desk.sandbox, 'supplier');
    const columns = {
      Id: 'id',
      Name: 'name',
      Supplier: 'supplier',
      Total: 'total_contract_spend_value',
      Notes: { field: 'timeline_notes', blank: 'clear' },
      Savings: 'template.Procurement.Savings',
    };
    // What can be written whole in the demo.
    const ids = [...contracts.values()].flatMap((one) =>
      one['contract_type'] === 'buy_side' && one['status'] === 'active' && one['template'] ? [one['id'] as number] : [],
    );
    const rows = ids.map((id) => [id, `Contract ${id}`, 'Kwik Print', '9999999.5', '', '17.25']);
    const job = { kind: 'import', resource: 'contract', match: { key: 'id' }, columns };
    const run = await desk.import(await sheet(rows, Object.keys(columns)), job);
    expect(run.summary.rows.updated).toBeGreaterThan(3);
    const undo = await desk.undo('last');
    expect(undo.summary.rows).toMatchObject({ updated: run.summary.rows.updated, total: run.summary.rows.updated });
    expect(stored(desk.sandbox, 'contract')).toEqual(contracts);

    const parties = {
      Name: 'name',
      City: 'city',
      Contact: 'contact_person.name',
      Mail: 'contact_person.email',
      Signed: 'nda_signed',
    };
    const names = desk.sandbox.records('supplier').map((one) => String(one['name']));
    const supplierRows = names.slice(0, 10).map((name) => [name, 'Bern', 'Ann', 'ann@new.example', 'yes']);
    const second = await desk.import(
      await sheet(supplierRows, Object.keys(parties)),
      importOf('supplier', 'name', parties),
    );
    expect(second.summary.rows.updated).toBe(10);
    await desk.undo('last');
    expect(stored(desk.sandbox, 'supplier')).toEqual(suppliers);
  });

  it('of a run that --report sent elsewhere, into reports that are sent elsewhere', async () => {
    await deskWith(1);
    const before = stored(desk.sandbox, 'asset');
    const job = { ...JOB, columns: { Serial: 'serial_number', Room: 'room' } };
    const run = await desk.import(await sheet([['S-1', 'R2']], ['Serial', 'Room']), job, {
      reportDir: join(desk.dir, 'reports'),
    });
    const undo = await desk.undo(run.summary.run, { reportDir: join(desk.dir, 'undone') });
    expect([undo.outcomes, undo.reportDir]).toEqual([['2 updated'], join(desk.dir, 'undone')]);
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
  });
});

describe('a dry run', () => {
  it('says what would be put back, field by field, and sends nothing', async () => {
    await deskWith(2);
    await setField('room', [
      ['S-1', 'R2'],
      ['S-2', 'R2'],
    ]);
    desk.sandbox.edit('asset', 2, { room: 'R3' });
    const after = stored(desk.sandbox, 'asset');
    const undo = await desk.undo('last', { dryRun: true });
    expect([undo.commits, undo.summary.requests.writes, undo.summary.dry_run]).toEqual([0, 0, true]);
    expect(codes(undo)).toEqual(['2 updated', '3 conflict changed_meanwhile']);
    expect(undo.plan.map(({ row, field, old, new: value }) => [row, field, old, value])).toEqual([
      ['2', 'room', 'R2', 'R1'],
    ]);
    expect(stored(desk.sandbox, 'asset')).toEqual(after);
    // It rehearsed the undo of the import, and is none that could be undone itself.
    await expect(desk.undo('last')).rejects.toThrow('dry run');
  });
});

describe('what somebody changed since', () => {
  it('in another field stays, and the rest is put back', async () => {
    await deskWith(1);
    const before = storedOne(desk.sandbox, 'asset', 1);
    await setField('room', [['S-1', 'R2']]);
    desk.sandbox.edit('asset', 1, { city: 'Ulm', financial_notes: 'by hand' });
    expect((await desk.undo('last')).outcomes).toEqual(['2 updated']);
    expect(storedOne(desk.sandbox, 'asset', 1)).toEqual({ ...before, city: 'Ulm', financial_notes: 'by hand' });
  });

  it('in the same field is left: alone it is a conflict, with others a warning that the summary counts', async () => {
    await deskWith(2);
    const before = storedOne(desk.sandbox, 'asset', 1);
    const columns = { Serial: 'serial_number', Room: 'room', City: 'city' };
    const file = await sheet(
      [
        ['S-1', 'R2', 'Bonn'],
        ['S-2', 'R2', ''],
      ],
      Object.keys(columns),
    );
    await desk.import(file, { ...JOB, columns });
    desk.sandbox.edit('asset', 1, { room: 'R3' });
    desk.sandbox.edit('asset', 2, { room: 'R3' });
    const undo = await desk.undo('last');
    expect(codes(undo)).toEqual(['2 updated changed_meanwhile', '3 conflict changed_meanwhile']);
    expect(undo.results[0]?.['message']).toContain(
      'now has "R3", the run had set it to "R2", and before that it was "R1"',
    );
    expect(undo.summary.warnings).toContain(
      'Fields that are left as they are in records that are otherwise put back: 1, of 1 record. results.csv says which, and why.',
    );
    expect([undo.summary.status, undo.exitCode, undo.commits]).toEqual(['partial', 3, 1]);
    expect(storedOne(desk.sandbox, 'asset', 1)).toEqual({ ...before, room: 'R3' });
    const rejected = JSON.parse(await readFile(join(undo.reportDir, 'rejected.ndjson'), 'utf8'));
    expect(rejected).toMatchObject({ row: 3, id: 2, key: 'S-2', run_outcome: 'updated', fields: 'room', _row: 3 });
    const again = await desk.undo(undo.summary.of_run ?? '');
    expect([codes(again), again.commits]).toEqual([
      ['2 conflict changed_meanwhile', '3 conflict changed_meanwhile'],
      0,
    ]);
  });

  it('to what it was before is done already', async () => {
    await deskWith(1);
    await setField('room', [['S-1', 'R2']]);
    desk.sandbox.edit('asset', 1, { room: 'R1' });
    const undo = await desk.undo('last');
    expect([undo.outcomes, undo.commits]).toEqual([['2 unchanged'], 0]);
  });

  it('between the look and the PUT is seen where the look is old by then', async () => {
    let [late, looks] = [0, Number.NEGATIVE_INFINITY];
    const now = Date.now;
    vi.spyOn(Date, 'now').mockImplementation(() => now() + late);
    desk = await openDesk({
      onRequest({ method, path }) {
        if (method === 'PUT' && path === '/asset/1' && looks > 0) late = 61_000;
        if (method === 'GET' && path === '/asset/2/' && ++looks === 2) desk.sandbox.edit('asset', 2, { room: 'R3' });
      },
    });
    desk.sandbox.insert('asset', [asset(1), asset(2)]);
    await setField('room', [
      ['S-1', 'R2'],
      ['S-2', 'R2'],
    ]);
    looks = 0;
    expect(codes(await desk.undo('last'))).toEqual(['2 updated', '3 conflict changed_meanwhile']);
    expect([1, 2].map((id) => storedOne(desk.sandbox, 'asset', id)['room'])).toEqual(['R1', 'R3']);
  });

  it('in one part of an object keeps the whole object', async () => {
    await deskWith(1);
    const columns = { Serial: 'serial_number', Category: 'category.name', Sub: 'category.subcategory', Room: 'room' };
    await desk.import(await sheet([['S-1', 'Server', 'Rack', 'R2']], Object.keys(columns)), { ...JOB, columns });
    desk.sandbox.edit('asset', 1, { category: { id: 3, subcategory: 'Blade' } });
    const undo = await desk.undo('last');
    expect(codes(undo)).toEqual(['2 updated changed_meanwhile']);
    expect(undo.results[0]?.['changed_fields']).toBe('room');
    expect(storedOne(desk.sandbox, 'asset', 1)['category']).toMatchObject({ subcategory: 'Blade' });
  });

  it('a record that is gone is said to be gone', async () => {
    await deskWith(2);
    await setField('room', [
      ['S-1', 'R2'],
      ['S-2', 'R2'],
    ]);
    desk.sandbox.remove('asset', 1);
    expect(codes(await desk.undo('last'))).toEqual(['2 invalid record_not_found', '3 updated']);
  });
});
