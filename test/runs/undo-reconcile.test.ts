import { describe, expect, it } from 'vitest';
import { type Desk, openDesk } from '../support/desk.js';
import { stored } from '../support/records.js';

let desk: Desk;

const COLUMNS = { Serial: 'serial_number', Name: 'name', Room: 'room', Notes: 'asset_notes' };
const JOB = {
  resource: 'asset',
  match: { key: 'serial_number' },
  columns: COLUMNS,
  constants: { 'category.name': 'Server', 'category.subcategory': 'Rack' },
  compare: { authority: { asset_notes: 'service' } },
  orphans: { action: 'set', set: { lifecycle_stage: 'Retired' }, after: 1 },
  retire: { lifecycle_stage: 'Withdrawn' },
  brakes: { max_updates: '100%', max_orphans: '100%' },
};
const asset = (number: number) => ({
  name: `Box ${number}`,
  serial_number: `S-${number}`,
  room: 'R1',
  asset_notes: 'by hand',
  lifecycle_stage: 'Deployed',
  category: { id: 3, subcategory: 'Rack' },
});
const rowOf = (number: number, room = 'R1') => [`S-${number}`, `Box ${number}`, room, 'from the ERP'];
const sheet = (rows: readonly (readonly string[])[]) => desk.file('erp.csv', [Object.keys(COLUMNS), ...rows]);

async function applied() {
  desk = await openDesk();
  desk.sandbox.insert('asset', [1, 2, 3, 4].map(asset));
  const before = stored(desk.sandbox, 'asset');
  const file = await sheet([rowOf(1, 'R2'), rowOf(2), rowOf(9)]);
  const run = await desk.reconcile(file, JOB, { apply: true });
  expect([run.outcomes, run.commits]).toEqual([['2 updated', '3 unchanged', '4 created'], 4]);
  return { run, before };
}

describe('a reconciliation is undone', () => {
  it('rows, orphans behind them, and created records; values of the service that stood are not touched', async () => {
    const { run, before } = await applied();
    const made = stored(desk.sandbox, 'asset').get(5);
    const undo = await desk.undo('last');
    expect(undo.results.map(({ row, outcome, id, changed_fields: fields }) => [row, outcome, id, fields])).toEqual([
      ['2', 'updated', '1', 'room'],
      ['4', 'updated', '5', 'lifecycle_stage'],
      ['5', 'updated', '3', 'lifecycle_stage'],
      ['6', 'updated', '4', 'lifecycle_stage'],
    ]);
    expect(undo.summary).toMatchObject({ kind: 'undo', of_run: run.summary.run, status: 'succeeded' });
    expect(stored(desk.sandbox, 'asset')).toEqual(before.set(5, { ...made, lifecycle_stage: 'Withdrawn' }));
    const again = await desk.undo(run.summary.run);
    expect([again.summary.rows.unchanged, again.commits]).toEqual([4, 0]);
  });

  it('an orphan that somebody took out of retirement is left', async () => {
    await applied();
    desk.sandbox.edit('asset', 3, { lifecycle_stage: 'Stock' });
    const undo = await desk.undo('last');
    expect(undo.outcomes).toEqual(['2 updated', '4 updated', '5 conflict', '6 updated']);
  });

  it('a report-only run is not', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', [asset(1)]);
    await desk.reconcile(await sheet([rowOf(1, 'R2')]), JOB);
    await expect(desk.undo('last')).rejects.toThrow('report-only');
    await expect(desk.retry('last')).rejects.toThrow('report-only');
  });
});

it('a night that was undone is no measure for the next one', async () => {
  desk = await openDesk();
  desk.sandbox.insert(
    'asset',
    Array.from({ length: 40 }, (_, at) => asset(at + 1)),
  );
  const job = { ...JOB, orphans: { action: 'report' }, brakes: { max_updates: '100%', max_orphans: '100%' } };
  const night = (count: number, room: string) => {
    const rows = Array.from({ length: count }, (_, at) => rowOf(at + 1, at < 3 ? room : 'R1'));
    return desk.file(`${room}.csv`, [Object.keys(COLUMNS), ...rows]);
  };
  await desk.reconcile(await night(40, 'R2'), job, { apply: true });
  const cut = await night(12, 'R3');
  const braked = await desk.reconcile(cut, job, { apply: true });
  const approved = await desk.approve(braked.summary.run, 'Ada Park');
  expect([braked.summary.status, approved.summary.rows.updated]).toEqual(['braked', 3]);
  await desk.undo(approved.summary.run);
  const next = await desk.reconcile(await night(40, 'R4'), job);
  expect([next.summary.status, next.summary.reconcile?.previous?.rows], next.summary.reason).toEqual(['succeeded', 40]);
  const again = await desk.reconcile(cut, job);
  expect(again.summary.reason).toMatch(/^max_change: (?!.*same_file)/);
});

it('rows of a reconciliation that were left unknown are retried; orphans are the business of the next night', async () => {
  let puts = 0;
  desk = await openDesk({
    onRequest({ method }) {
      if (method === 'PUT' && ++puts === 2) desk.sandbox.setFaults(['PUT * close_after', 'GET * status=403']);
    },
  });
  desk.sandbox.insert('asset', [1, 2, 3, 4, 5].map(asset));
  const before = stored(desk.sandbox, 'asset');
  const file = await sheet([1, 2, 3, 4].map((number) => rowOf(number, 'R2')));
  const run = await desk.reconcile(file, JOB, { apply: true });
  const open = run.outcomes.filter((text) => text.endsWith('unknown'));
  expect([run.summary.status, open.length > 0]).toEqual(['failed', true]);
  desk.sandbox.setFaults([]);
  const retry = await desk.retry('last');
  expect(retry.outcomes).toEqual(open.map((text) => text.replace('unknown', 'updated')));
  expect([retry.commits, retry.summary.kind, retry.summary.of_run]).toEqual([0, 'reconcile', run.summary.run]);
  expect(desk.sandbox.records('asset').map((record) => record['lifecycle_stage'])).toEqual(Array(5).fill('Deployed'));
  await desk.undo('last');
  await desk.undo(run.summary.run);
  expect(stored(desk.sandbox, 'asset')).toEqual(before);
});
