import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Desk, openDesk, table } from '../support/desk.js';

let desk: Desk;

const COLUMNS = { Name: 'name', Serial: 'serial_number', Cost: 'original_cost', Room: 'room' };
const JOB = {
  resource: 'asset',
  match: { key: 'serial_number' },
  columns: COLUMNS,
  orphans: { action: 'set', set: { lifecycle_stage: 'Retired' }, after: 1 },
  brakes: { max_updates: '100%', max_orphans: '100%' },
};
const ROWS = 4;
/** A service that is busy is given up soon. */
const HASTY = { env: { ROWFERRY_PATIENCE: '0.01' } };
const asset = (number: number) => ({
  name: `Box ${number}`,
  serial_number: `S-${number}`,
  original_cost: 5,
  room: 'R1',
  lifecycle_stage: 'Deployed',
  category: { id: 3, subcategory: 'Rack' },
});
const sheet = (changed: readonly number[], rows = ROWS) =>
  desk.file('erp.csv', [
    Object.keys(COLUMNS),
    ...Array.from({ length: rows }, (_, at) => [
      `Box ${at + 1}`,
      `S-${at + 1}`,
      changed.includes(at + 1) ? 6 : 5,
      'R1',
    ]),
  ]);

/** The service answers every write with 429 until it is told otherwise: rows end as failed, certainly not written. */
async function busyDesk(records = ROWS) {
  desk = await openDesk({ faults: ['PUT /asset status=429'] });
  desk.sandbox.insert(
    'asset',
    Array.from({ length: records }, (_, at) => asset(at + 1)),
  );
}

async function failed() {
  await busyDesk();
  const run = await desk.reconcile(await sheet([2]), JOB, { ...HASTY, apply: true });
  const rows = run.outcomes.filter((text) => text.endsWith('failed'));
  expect(rows.length).toBeGreaterThan(0);
  desk.sandbox.setFaults([]);
  return { run: run.summary.run, row: Number(rows[0]?.split(' ')[0]) };
}

describe('a row that failed goes by the plan of its run', () => {
  it('a field of it that somebody changed since: conflict, and nothing is sent', async () => {
    const { run, row } = await failed();
    desk.sandbox.edit('asset', row - 1, { original_cost: 77 });
    const retry = await desk.retry(run);
    expect(retry.results.find((one) => one['row'] === String(row))).toMatchObject({
      outcome: 'conflict',
      codes: 'changed_meanwhile',
    });
    expect(String(desk.sandbox.record('asset', row - 1)?.['original_cost'])).toMatch(/^77/);
    expect(retry.commits).toBe(0);
  });

  it('another field: both changes are kept', async () => {
    const { run, row } = await failed();
    desk.sandbox.edit('asset', row - 1, { city: 'Ulm', lifecycle_stage: 'Stock' });
    const retry = await desk.retry(run);
    expect(retry.summary.status).toBe('succeeded');
    const record = desk.sandbox.record('asset', row - 1);
    expect([String(record?.['original_cost']), record?.['city'], record?.['lifecycle_stage']]).toEqual([
      expect.stringMatching(/^6/),
      'Ulm',
      'Stock',
    ]);
  });

  it('in a retry of a retry as well', async () => {
    const { run, row } = await failed();
    desk.sandbox.setFaults(['PUT /asset status=429']);
    const again = await desk.retry(run, HASTY);
    expect(again.outcomes).toContain(`${row} failed`);
    desk.sandbox.setFaults([]);
    desk.sandbox.edit('asset', row - 1, { original_cost: 77 });
    const retry = await desk.retry(again.summary.run);
    expect(retry.outcomes).toContain(`${row} conflict`);
  });
});

it('a retry of a reconciliation says what it is', async () => {
  const { run } = await failed();
  const { summary } = await desk.retry(run);
  const n = summary.rows.total;
  expect(summary.warnings.join()).toContain(
    `A retry of the rows of the run ${run} that failed or were left unknown (${n})`,
  );
  expect([summary.kind, summary.of_run]).toEqual(['reconcile', run]);
});

describe('a run without rows to retry', () => {
  it('whose orphans failed: its reports are named', async () => {
    await busyDesk();
    const run = await desk.reconcile(await sheet([], ROWS - 1), JOB, { ...HASTY, apply: true });
    expect(run.summary.reconcile?.compared?.orphans_for_person).toBe(1);
    const refused = desk.retry(run.summary.run);
    await expect(refused).rejects.toThrow('Its reports in');
    await expect(refused).rejects.not.toThrow('ended well');
  });

  it('whose orphan is unknown: it is no row, and the next run takes it up', async () => {
    desk = await openDesk({ faults: ['PUT /asset status=500'] });
    desk.sandbox.insert(
      'asset',
      Array.from({ length: ROWS }, (_, at) => asset(at + 1)),
    );
    const file = await sheet([], ROWS - 1);
    const run = await desk.reconcile(file, JOB, { ...HASTY, apply: true });
    const [orphan] = await table(join(run.reportDir, 'orphans.csv'));
    expect(orphan?.['outcome'], JSON.stringify(run.summary)).toBe('unknown');
    expect(orphan?.['message']).not.toMatch(/\brow\b/);
    await expect(desk.retry(run.summary.run)).rejects.toThrow('Orphans are taken up by the next run');
    desk.sandbox.setFaults([]);
    await desk.reconcile(file, JOB, { apply: true });
    expect(desk.sandbox.record('asset', ROWS)?.['lifecycle_stage']).toBe('Retired');
  });

  it('that refusals of its orphans stopped: the reason speaks of records', async () => {
    desk = await openDesk({ faults: ['PUT /asset status=400'] });
    desk.sandbox.insert(
      'asset',
      Array.from({ length: 9 }, (_, at) => asset(at + 1)),
    );
    const job = { ...JOB, brakes: { ...JOB.brakes, max_rejected: 0 } };
    const run = await desk.reconcile(await sheet([]), job, { apply: true, env: { ROWFERRY_CONCURRENCY: '1' } });
    expect(run.summary.status).toBe('braked');
    expect(run.summary.reason).toMatch(/^max_rejected: the service refused 1 of 5 records,/);
  });
});
