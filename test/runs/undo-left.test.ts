import { describe, expect, it } from 'vitest';
import { type Desk, type Imported, openDesk } from '../support/desk.js';
import { importOf, PLAIN_CONTRACT } from '../support/jobs.js';
import { probed, stored, storedOne, strangerHome } from '../support/records.js';

let desk: Desk;

const ASSET = { name: 'Box', serial_number: 'S-1', category: { id: 3, subcategory: 'Rack' }, room: 'R1' };
const FINANCE = { id: 1, fields: [{ id: 1, value: 'CC-1' }] };
const CONTRACT = { ...PLAIN_CONTRACT, name: 'Lease', number: 'L-1' };

type Cells = Readonly<Record<string, readonly [field: string, cell: string]>>;

/** Imports one row onto record 1: heading → field and cell; blank cells clear. */
async function change(cells: Cells, more: object = {}, options = {}): Promise<Imported> {
  const columns = Object.fromEntries(Object.entries(cells).map(([heading, [field]]) => [heading, field]));
  const file = await desk.file('a.csv', [
    ['Id', ...Object.keys(cells)],
    [1, ...Object.values(cells).map(([, cell]) => cell)],
  ]);
  const job = importOf('asset', 'id', { Id: 'id', ...columns }, { blank: 'clear', ...more });
  const result = await desk.import(file, job, options);
  expect([result.outcomes, result.faults]).toEqual([['2 updated'], []]);
  return result;
}

async function deskWith(body: object, resource: 'asset' | 'contract' = 'asset'): Promise<void> {
  desk = await openDesk();
  desk.sandbox.insert('supplier', [{ name: 'Acme Computers' }]);
  desk.sandbox.insert(resource, [body]);
}

const told = ({ results }: Imported) => results.map(({ outcome, codes }) => [outcome, codes]);

describe('fields that reads do not show', () => {
  it('are left where nobody knows what they held, and the rest is put back', async () => {
    await deskWith({ ...ASSET, mac_address: 'by hand' });
    await change({ Mac: ['mac_address', 'aa:bb'], Room: ['room', 'R2'] });
    const undo = await desk.undo('last');
    expect(told(undo)).toEqual([['updated', 'old_value_unknown']]);
    expect(undo.results[0]?.['message']).toContain('reads do not show it');
    expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({ room: 'R1', mac_address: 'aa:bb' });
  });

  it('alone leave the row to a person', async () => {
    await deskWith(ASSET);
    await change({ Mac: ['mac_address', 'aa:bb'] });
    const undo = await desk.undo('last');
    expect([told(undo), undo.commits, undo.exitCode]).toEqual([[['invalid', 'old_value_unknown']], 0, 3]);
  });

  it('are put back to what our own last write left there, also to nothing', async () => {
    await deskWith(ASSET);
    await change({ Mac: ['mac_address', '00:01'] });
    const before = storedOne(desk.sandbox, 'asset', 1);
    const run = await change({ Mac: ['mac_address', '00:02'], Tag: ['ssb_tag', 'T'] });
    expect(told(await desk.undo('last'))).toEqual([['updated', '']]);
    expect(storedOne(desk.sandbox, 'asset', 1)).toEqual(before);
    // And so it is remembered: the next update carries over what is there, and the file is news again.
    await change({ Room: ['room', 'R2'] });
    expect(storedOne(desk.sandbox, 'asset', 1)).toEqual({ ...before, room: 'R2' });
    await desk.undo('last');
    expect(told(await desk.undo(run.summary.run))).toEqual([['unchanged', '']]);
    await change({ Mac: ['mac_address', '00:02'], Tag: ['ssb_tag', 'T'] });
  });

  it('written by a later run of ours since are seen to be', async () => {
    await deskWith(ASSET);
    await change({ Mac: ['mac_address', '00:01'] });
    const run = await change({ Mac: ['mac_address', '00:02'] });
    await change({ Mac: ['mac_address', '00:03'] });
    const undo = await desk.undo(run.summary.run);
    expect(told(undo)).toEqual([['conflict', 'changed_meanwhile']]);
    expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({ mac_address: '00:03' });
  });

  it('of a service that keeps what a body leaves out are known only where we wrote them', async () => {
    await deskWith(ASSET);
    desk.sandbox.setSwitches({ omittedOnPut: 'kept' });
    await probed(desk, { omitted: 'kept' });
    await change({ Mac: ['mac_address', '00:01'] });
    await change({ Tag: ['ssb_tag', 'T'] });
    expect(told(await desk.undo('last'))).toEqual([['invalid', 'old_value_unknown']]);
  });
});

describe('what no update can carry', () => {
  it('a status that a contract may have and an update may not set', async () => {
    await deskWith({ ...CONTRACT, status: 'expired' }, 'contract');
    await change({ Status: ['status', 'active'], Name: ['name', 'Lease II'] }, { resource: 'contract' });
    const undo = await desk.undo('last');
    expect(told(undo)).toEqual([['updated', 'status_not_writable']]);
    expect(storedOne(desk.sandbox, 'contract', 1)).toMatchObject({ status: 'active', name: 'Lease' });
  });

  it('a usage status without a word for it', async () => {
    await deskWith({ ...ASSET, asset_usage_status: 5 });
    await change({ Usage: ['usage_status', 'Other'], Room: ['room', 'R2'] });
    const undo = await desk.undo('last');
    expect(told(undo)).toEqual([['updated', 'field_not_updatable']]);
    expect(undo.results[0]?.['message']).toContain('"In repair (5)"');
    expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({ usage_status: 4, room: 'R1' });
  });

  it('a hardware model of which reads showed a name that nobody knows', async () => {
    await deskWith({ ...ASSET, asset_hardware_model: { id: 2 } });
    await change({ Model: ['asset_hardware_model', 'id:3'], Room: ['room', 'R2'] });
    const undo = await desk.undo('last');
    expect(told(undo)).toEqual([['updated', 'old_value_unknown']]);
    expect(undo.results[0]?.['message']).toContain('ThinkPad T14');
    expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({ asset_hardware_model: 3, room: 'R1' });
  });

  it('no category: every update needs one', async () => {
    await deskWith({ name: 'Box', serial_number: 'S-1', room: 'R1' });
    await change({
      Category: ['category.name', 'Server'],
      Sub: ['category.subcategory', 'Rack'],
      Room: ['room', 'R2'],
    });
    const undo = await desk.undo('last');
    expect(told(undo)).toEqual([['updated', 'required']]);
    expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({ room: 'R1', category: { subcategory: 'Rack' } });
  });
});

it('a template that the record did not have stays assigned, without values', async () => {
  await deskWith(ASSET);
  const before = storedOne(desk.sandbox, 'asset', 1);
  await change({ Centre: ['template.Finance.Cost Centre', 'CC-1'] });
  const undo = await desk.undo('last');
  expect(told(undo)).toEqual([['updated', '']]);
  expect(storedOne(desk.sandbox, 'asset', 1)).toEqual({ ...before, template: [{ template: 1, values: [] }] });
});

describe('what the run destroyed along with its write', () => {
  it('values of another custom field template come back', async () => {
    await deskWith({ ...ASSET, templates: [FINANCE] });
    const before = storedOne(desk.sandbox, 'asset', 1);
    await change({ Class: ['template.Security.Classification', 'secret'] }, { write: { at_risk: 'warn' } });
    expect(storedOne(desk.sandbox, 'asset', 1)['template']).not.toEqual(before['template']);
    expect(told(await desk.undo('last'))).toEqual([['updated', '']]);
    expect(storedOne(desk.sandbox, 'asset', 1)).toEqual(before);
  });

  it('what no update can carry does not, and is named', async () => {
    await deskWith({ ...ASSET, area: 'North' });
    await change({ Room: ['room', 'R2'] }, { write: { at_risk: 'warn' } });
    const undo = await desk.undo('last');
    expect(told(undo)).toEqual([['updated', 'field_not_updatable']]);
    expect(undo.results[0]?.['message']).toContain('area was "North" before the run');
  });
});

describe('a service that tidies values up', () => {
  it('texts that it trimmed, and amounts that it rounded, are still what the run wrote', async () => {
    await deskWith({ ...ASSET, asset_notes: 'old', original_cost: 5 });
    desk.sandbox.setSwitches({ trimsText: 'on' });
    const before = storedOne(desk.sandbox, 'asset', 1);
    await change({ Notes: ['asset_notes', 'two  words'], Cost: ['original_cost', '12.5'] });
    desk.sandbox.edit('asset', 1, { asset_notes: 'two words' });
    expect(told(await desk.undo('last'))).toEqual([['updated', '']]);
    expect(storedOne(desk.sandbox, 'asset', 1)).toEqual(before);
  });

  it('texts that it was seen to cut, too; of one that it was not, somebody cut them', async () => {
    await deskWith({ ...ASSET, asset_notes: 'old' });
    await change({ Notes: ['asset_notes', 'a long text'] });
    desk.sandbox.edit('asset', 1, { asset_notes: 'a long' });
    expect(told(await desk.undo('last'))).toEqual([['conflict', 'changed_meanwhile']]);
    desk.sandbox.edit('asset', 1, { asset_notes: 'old' });
    desk.sandbox.setSwitches({ cutsText: 6 });
    await change({ Notes: ['asset_notes', 'a long text'] });
    expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({ asset_notes: 'a long' });
    expect(told(await desk.undo('last'))).toEqual([['updated', '']]);
    expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({ asset_notes: 'old' });
  });

  it('lists that lag behind its writes do not make the undo believe that all is done', async () => {
    desk = await openDesk();
    const many = Array.from({ length: 60 }, (_, at) => ({ ...ASSET, serial_number: `S-${at}` }));
    desk.sandbox.insert('asset', many);
    const before = stored(desk.sandbox, 'asset');
    const rows = many.map((_, at) => [at + 1, 'R2']);
    const file = await desk.file('a.csv', [['Id', 'Room'], ...rows]);
    const columns = { Id: 'id', Room: 'room' };
    desk.sandbox.setSwitches({ lag: 60_000 });
    const run = await desk.import(file, { kind: 'import', resource: 'asset', match: { key: 'id' }, columns });
    expect(run.summary.rows.updated).toBe(60);
    const undo = await desk.undo('last');
    expect(undo.summary.detected?.some((text) => text.includes('read the whole list'))).toBe(true);
    expect(undo.summary.rows.updated).toBe(60);
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
  });
});

describe('customers, which cannot be read', () => {
  const COLUMNS = { Name: 'name', City: 'city', Phone: 'phone', Signed: 'nda_signed' };
  const JOB = { kind: 'import', resource: 'customer', match: { key: 'name' }, columns: COLUMNS };
  const customers = async (city: string, phone: string, options = {}) => {
    const file = await desk.file('c.csv', [
      ['Name', 'City', 'Phone', 'Signed'],
      ['Alpine', city, phone, 'yes'],
    ]);
    return desk.import(file, JOB, options);
  };

  it('are put back to our own last write before the run, and that this is blind is said', async () => {
    desk = await openDesk();
    await customers('Bern', '1');
    const before = stored(desk.sandbox, 'customer');
    const run = await customers('Zug', '2');
    expect(run.outcomes).toEqual(['2 updated']);
    const undo = await desk.undo('last');
    expect(told(undo)).toEqual([['updated', '']]);
    expect(undo.summary.warnings.some((text) => text.startsWith('Customers cannot be read'))).toBe(true);
    expect(stored(desk.sandbox, 'customer')).toEqual(before);
    expect(told(await desk.undo(run.summary.run))).toEqual([['unchanged', '']]);
    expect((await customers('Bern', '1')).outcomes).toEqual(['2 unchanged']);
  });

  it('written by a later run of ours since are left', async () => {
    desk = await openDesk();
    await customers('Bern', '1');
    const run = await customers('Zug', '2');
    await customers('Basel', '2');
    const undo = await desk.undo(run.summary.run);
    expect(told(undo)).toEqual([['updated', 'changed_meanwhile']]);
    expect(desk.sandbox.records('customer')).toMatchObject([{ city: 'Basel', phone: '1' }]);
  });
});

it('from a home folder that did not write the run there is nothing to undo', async () => {
  await deskWith(ASSET);
  const run = await change({ Room: ['room', 'R2'] });
  await expect(desk.undo(run.summary.run, strangerHome(desk))).rejects.toThrow('There are no runs');
});
