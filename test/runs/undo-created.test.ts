import { rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { runFolder } from '../../src/runs/run/layout.js';
import { type Desk, type Imported, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { stored, storedOne } from '../support/records.js';

let desk: Desk;

const COLUMNS = { Name: 'name', Serial: 'serial_number', Stage: 'lifecycle_stage', Room: 'room' };
const JOB = importOf('asset', 'serial_number', COLUMNS, {
  constants: { 'category.name': 'Server', 'category.subcategory': 'Rack' },
  retire: { lifecycle_stage: 'Retired' },
});
const sheet = (rows: readonly (readonly string[])[], headings = Object.keys(COLUMNS)) =>
  desk.file('a.csv', [headings, ...rows]);
const three = () =>
  sheet([
    ['One', 'S-1', 'Deployed', 'R1'],
    ['Two', 'S-2', '', 'R2'],
    ['Three', 'S-3', 'Deployed', 'R3'],
  ]);
const told = ({ results }: Imported) =>
  results.map(({ row, outcome, codes }) => `${row} ${outcome} ${codes}`.trimEnd());
const stages = () => desk.sandbox.records('asset').map((record) => record['lifecycle_stage']);

describe.each(['bare', 'full'] as const)('records that a run created (%s answers)', (responses) => {
  it('get the retire values of the job; updates of the same run are put back', async () => {
    desk = await openDesk({ responses });
    const old = {
      name: 'Old',
      serial_number: 'S-0',
      lifecycle_stage: 'Stock',
      category: { id: 3, subcategory: 'Rack' },
    };
    desk.sandbox.insert('asset', [old]);
    const before = storedOne(desk.sandbox, 'asset', 1);
    const file = await sheet([
      ['One', 'S-1', 'Deployed', 'R1'],
      ['New', 'S-0', 'Deployed', 'R0'],
      ['Two', 'S-2', '', 'R2'],
    ]);
    const run = await desk.import(file, JOB);
    expect(run.outcomes).toEqual(['2 created', '3 updated', '4 created']);
    const made = stored(desk.sandbox, 'asset');
    const undo = await desk.undo('last');
    expect(undo.results.map(({ row, outcome, key, changed_fields: fields }) => [row, outcome, key, fields])).toEqual([
      ['2', 'updated', 'S-1', 'lifecycle_stage'],
      ['3', 'updated', 'S-0', 'name; lifecycle_stage; room'],
      ['4', 'updated', 'S-2', 'lifecycle_stage'],
    ]);
    expect(storedOne(desk.sandbox, 'asset', 1)).toEqual(before);
    for (const id of [2, 3])
      expect(storedOne(desk.sandbox, 'asset', id)).toEqual({ ...made.get(id), lifecycle_stage: 'Retired' });
    const again = await desk.undo(run.summary.run);
    expect([told(again), again.commits]).toEqual([['2 unchanged', '3 unchanged', '4 unchanged'], 0]);
    // The undo itself is an update, and is undone as one.
    await desk.undo(undo.summary.run);
    expect(stored(desk.sandbox, 'asset')).toEqual(made);
  });
});

describe('created records', () => {
  it('are held against what was corrected before they were created', async () => {
    desk = await openDesk();
    const corrections = [{ column: 'Stage', row: 3, value: 'Stock' }];
    const run = await desk.import(await three(), JOB, { corrections });
    expect([run.summary.rows.created, stages()]).toEqual([3, ['Deployed', 'Stock', 'Deployed']]);
    const undo = await desk.undo('last');
    expect(told(undo)).toEqual(['2 updated', '3 updated', '4 updated']);
    expect(stages()).toEqual(['Retired', 'Retired', 'Retired']);
  });

  it('whose retire field somebody changed since are left; changed in other fields they are retired', async () => {
    desk = await openDesk();
    await desk.import(await three(), JOB);
    desk.sandbox.edit('asset', 1, { lifecycle_stage: 'In repair' });
    desk.sandbox.edit('asset', 2, { lifecycle_stage: 'Stock' });
    desk.sandbox.edit('asset', 3, { room: 'R9' });
    const undo = await desk.undo('last');
    expect(told(undo)).toEqual(['2 conflict changed_meanwhile', '3 conflict changed_meanwhile', '4 updated']);
    expect(undo.results[0]?.['message']).toContain('is "In repair", and the file gave it "Deployed"');
    expect(undo.results[1]?.['message']).toContain('is "Stock", and the file gave it no value');
    expect(stages()).toEqual(['In repair', 'Stock', 'Retired']);
    expect(storedOne(desk.sandbox, 'asset', 3)).toMatchObject({ room: 'R9' });
  });

  it('of a job without retire values are named, with what to do; --retire gives them', async () => {
    desk = await openDesk();
    const { retire: _, ...job } = JOB;
    await desk.import(await three(), job);
    const undo = await desk.undo('last');
    expect(told(undo)).toEqual([
      '2 invalid no_retire_values',
      '3 invalid no_retire_values',
      '4 invalid no_retire_values',
    ]);
    expect([undo.commits, undo.exitCode]).toEqual([0, 3]);
    expect(undo.faults[0]?.['message']).toContain(`runs undo ${undo.summary.of_run} --retire`);
    const again = await desk.undo(undo.summary.of_run ?? '', {
      retire: { lifecycle_stage: 'Retired', attached_supplier: 'id:1', asset_owner: 'ben.osei@northwind.example' },
    });
    // There is no supplier 1: the service says so, in its own words.
    expect(again.outcomes).toEqual(['2 rejected', '3 rejected', '4 rejected']);
    const third = await desk.undo(undo.summary.of_run ?? '', {
      retire: { lifecycle_stage: 'Retired', asset_owner: 'ben.osei@northwind.example' },
    });
    expect(third.outcomes).toEqual(['2 updated', '3 updated', '4 updated']);
    expect(desk.sandbox.records('asset')).toMatchObject(
      [1, 2, 3].map(() => ({ lifecycle_stage: 'Retired', asset_owner: { id: 2 } })),
    );
  });

  it('with retire values that do not fit: refused before anything is sent, and no run is left behind', async () => {
    desk = await openDesk();
    await desk.import(await three(), JOB);
    const cases: [Record<string, string>, RegExp][] = [
      [{ lifecycle_stag: 'Retired' }, /lifecycle_stag/],
      [{ original_cost: 'much' }, /original_cost/],
      [{ asset_owner: 'Nobody' }, /Nobody/],
      [{ area: 'North' }, /area/],
      [{ id: '7' }, /id/],
    ];
    for (const [retire, named] of cases) {
      const refusal = await desk.undo('last', { retire }).catch((error: unknown) => error);
      expect(refusal).toMatchObject({ kind: 'usage' });
      expect((refusal as { details: string[] }).details.join('\n')).toMatch(named);
    }
    expect(stages()).toEqual(['Deployed', undefined, 'Deployed'].map((stage) => stage ?? null));
  });

  it('contracts are archived; several fields are set together', async () => {
    desk = await openDesk();
    desk.sandbox.insert('supplier', [{ name: 'Acme' }]);
    const columns = { No: 'number', Title: 'name', Total: 'total_contract_spend_value' };
    const constants = {
      contract_type: 'buy_side',
      status: 'active',
      country: 'DE',
      supplier: 'Acme',
      contract_start_date: '2025-01-01',
      contract_end_date: '2026-12-31',
    };
    const job = importOf('contract', 'number', columns, {
      constants,
      retire: { status: 'archived', timeline_notes: 'imported by mistake' },
    });
    await desk.import(
      await sheet(
        [
          ['C-1', 'Lease', '100.00'],
          ['C-2', 'Rent', '1.00'],
        ],
        Object.keys(columns),
      ),
      job,
    );
    desk.sandbox.edit('contract', 2, { status: 'terminated' });
    const undo = await desk.undo('last');
    expect(told(undo)).toEqual(['2 updated', '3 conflict changed_meanwhile']);
    expect(desk.sandbox.records('contract')).toMatchObject([
      { status: 'archived', timeline_notes: 'imported by mistake' },
      { status: 'terminated', timeline_notes: null },
    ]);
  });

  it('customers, from our own memory', async () => {
    desk = await openDesk();
    const columns = { Name: 'name', City: 'city' };
    const job = importOf('customer', 'name', columns, { retire: { general_description: 'RETIRED' } });
    await desk.import(await sheet([['Alpine', 'Bern']], Object.keys(columns)), job);
    expect((await desk.undo('last')).outcomes).toEqual(['2 updated']);
    expect(desk.sandbox.records('customer')).toMatchObject([{ city: 'Bern', general_description: 'RETIRED' }]);
  });

  it('of a run whose resumption was stopped while it read its file are retired', async () => {
    const stop = new AbortController();
    desk = await openDesk({
      onAnswer: ({ method }) => void (method === 'POST' && desk.sandbox.commits.length >= 3 && stop.abort('SIGINT')),
    });
    const job = importOf('supplier', 'name', { Name: 'name', City: 'city' });
    const rows = Array.from({ length: 5000 }, (_, at) => [`Supplier ${at}`, 'Bern']);
    const run = await desk.import(await sheet(rows, ['Name', 'City']), job, { signal: stop.signal });
    const { created } = run.summary.rows;
    const again = new AbortController();
    const onProgress = ({ phase }: { phase: string }) => void (phase === 'reading' && again.abort('SIGINT'));
    expect((await desk.resume({ signal: again.signal, onProgress })).summary.status).toBe('interrupted');
    const undo = await desk.undo('last', { retire: { city: 'Retired' } });
    expect([created > 0, undo.summary.rows.updated]).toEqual([true, created]);
  });

  it('of an interrupted run, whose ids nobody learned, are found by their keys', async () => {
    const stop = new AbortController();
    desk = await openDesk({
      onAnswer: ({ method }) => {
        if (method === 'POST' && desk.sandbox.commits.length >= 4) stop.abort('SIGINT');
      },
    });
    const rows = Array.from({ length: 30 }, (_, at) => [`Box ${at}`, `S-${at}`, 'Deployed', 'R1']);
    const run = await desk.import(await sheet(rows), JOB, { signal: stop.signal, env: { ROWFERRY_CONCURRENCY: '1' } });
    expect(run.summary.status).toBe('interrupted');
    const count = run.summary.rows.created;
    expect(run.results.filter(({ outcome, id }) => outcome === 'created' && id === '')).toHaveLength(count);
    // Somebody made a second record with the key of one of them.
    desk.sandbox.insert('asset', [{ name: 'Twin', serial_number: 'S-1' }]);
    const undo = await desk.undo('last');
    const done = undo.results.filter(({ outcome }) => outcome === 'updated');
    expect(done).toHaveLength(count - 1);
    expect(undo.results.find(({ row }) => row === '3')).toMatchObject({
      outcome: 'ambiguous',
      codes: 'ambiguous_match',
    });
    expect(stages().filter((stage) => stage === 'Retired')).toHaveLength(count - 1);
  });

  it('without the rows of their run are left; what it updated is put back', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', [
      { name: 'Old', serial_number: 'S-2', room: 'R0', category: { id: 3, subcategory: 'Rack' } },
    ]);
    const { summary } = await desk.import(await three(), JOB);
    await rm(runFolder(desk.home, summary.run).resolved);
    const undo = await desk.undo('last');
    expect(told(undo)).toEqual(['2 invalid old_value_unknown', '3 updated', '4 invalid old_value_unknown']);
    expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({ name: 'Old', room: 'R0' });
  });
});
