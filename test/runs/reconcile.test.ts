import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Desk, openDesk } from '../support/desk.js';

/** Reconciliation: contract, sections 4, 5 and 8. */

const HEADINGS = ['Name', 'Serial', 'Cost', 'Notes', 'City'];
const JOB = {
  resource: 'asset',
  match: { key: 'serial_number' },
  columns: {
    Name: 'name',
    Serial: { field: 'serial_number', required: true },
    Cost: 'original_cost',
    Notes: 'asset_notes',
    City: 'city',
  },
};

type Row = readonly [name: string, serial: string, cost: string, notes: string, city: string];
const row = (n: number, change: Partial<Record<'name' | 'cost' | 'notes' | 'city', string>> = {}): Row => [
  change.name ?? `Laptop ${n}`,
  `SN${n}`,
  change.cost ?? `${1000 + n}.00`,
  change.notes ?? `note ${n}`,
  change.city ?? 'Berlin',
];

let desk: Desk;
let ids: number[];
const asset = (n: number) => desk.sandbox.records('asset').find((one) => one['id'] === ids[n - 1]);
const file = (name: string, rows: readonly Row[]) => desk.file(name, [HEADINGS, ...rows]);
const rows = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => row(from + at));

/** Called with the path of every request that the sandbox sees. */
let watch: (path: string) => void = () => undefined;

async function begin(count: number): Promise<void> {
  watch = () => undefined;
  desk = await openDesk({ onRequest: (request) => watch(request.path) });
  ids = desk.sandbox.insert(
    'asset',
    Array.from({ length: count }, (_, at) => ({
      name: `Laptop ${at + 1}`,
      serial_number: `SN${at + 1}`,
      original_cost: 1001 + at,
      asset_notes: `note ${at + 1}`,
      city: at === 3 ? '' : 'Berlin',
      room: 'kept',
      category: { id: 1 },
    })),
  );
}

describe('whose value stands', () => {
  beforeAll(() => begin(6));
  afterAll(() => desk.close());

  test('by field: the file, the service, or the file only where the service has none', async () => {
    const job = { ...JOB, compare: { authority: { asset_notes: 'service', city: 'fill' } } };
    const changed = [
      row(1, { name: 'Laptop one' }),
      row(2, { notes: 'other' }),
      row(3, { city: 'Paris' }),
      row(4, { city: 'Paris' }),
      row(5, { name: 'Laptop five', notes: 'other' }),
      row(6, { cost: '1,006.00' }),
    ];
    const path = await file('authority.csv', changed);
    const report = await desk.reconcile(path, job);
    expect(report.commits).toBe(0);
    expect(report.summary.requests.writes).toBe(0);
    expect(report.outcomes).toEqual([
      '2 updated',
      '3 unchanged',
      '4 unchanged',
      '5 updated',
      '6 updated',
      '7 unchanged',
    ]);
    const { differences } = report.summary.reconcile!;
    expect(differences).toMatchObject({ rows: 5, fields: 6, file_stands: 3, service_stands: 3 });

    const applied = await desk.reconcile(path, job, { apply: true });
    expect(applied.outcomes).toEqual(report.outcomes);
    expect(applied.commits).toBe(3);
    expect(asset(1)).toMatchObject({ name: 'Laptop one', asset_notes: 'note 1', room: 'kept' });
    expect(asset(2)).toMatchObject({ asset_notes: 'note 2' });
    expect(asset(3)).toMatchObject({ city: 'Berlin' });
    expect(asset(4)).toMatchObject({ city: 'Paris' });
    expect(asset(5)).toMatchObject({ name: 'Laptop five', asset_notes: 'note 5' });

    const again = await desk.reconcile(path, job, { apply: true });
    expect(again.commits).toBe(0);
    expect(again.summary.status).toBe('succeeded');
    expect(again.summary.rows).toMatchObject({ unchanged: 6, total: 6 });
  });

  test('fields that are not compared are left alone in records that exist, and set in new ones', async () => {
    const job = { ...JOB, compare: { fields: ['original_cost'] } };
    const path = await file('fields.csv', [
      ...[1, 2, 3, 4, 5, 6].map((n) => row(n, { name: 'renamed', city: 'Rome', cost: n === 2 ? '5' : `${1000 + n}` })),
      row(7, { city: 'Rome' }),
    ]);
    const applied = await desk.reconcile(path, job, { apply: true });
    expect(applied.outcomes.slice(0, 3)).toEqual(['2 unchanged', '3 updated', '4 unchanged']);
    expect(asset(2)).toMatchObject({ name: 'Laptop 2', city: 'Berlin' });
    expect(Number(asset(2)?.['original_cost'])).toBe(5);
    expect(desk.sandbox.records('asset').find((one) => one['serial_number'] === 'SN7')).toMatchObject({ city: 'Rome' });
  });

  test('a name in compare that the job does not map refuses the job before anything is sent', async () => {
    const path = await file('unknown.csv', rows(1, 6));
    const job = { ...JOB, compare: { authority: { room: 'service' } } };
    await expect(desk.reconcile(path, job)).rejects.toMatchObject({ kind: 'usage' });
  });
});

describe('orphans', () => {
  beforeAll(() => begin(20));
  afterAll(() => desk.close());
  const job = { ...JOB, orphans: { set: { lifecycle_stage: 'Retired' } }, scope: { city: 'Berlin' } };
  const stages = () => [1, 2, 3, 4].map((n) => asset(n)?.['lifecycle_stage'] ?? null);

  test('are touched when they were missing from two files in a row, each read again before', async () => {
    // 4 is outside of the scope; the first file lacks 1 to 4, the second one 1, 2 and 4.
    const first = await desk.reconcile(await file('a.csv', rows(5, 20)), job, { apply: true });
    expect(first.summary.reconcile?.orphans).toMatchObject({ total: 3, fresh: 3, waiting: 3, acted: 0 });
    expect(first.commits).toBe(0);

    const sameAgain = await desk.reconcile(await file('a.csv', rows(5, 20)), job, { apply: true });
    expect(sameAgain.summary.reconcile?.orphans).toMatchObject({ total: 3, fresh: 0, waiting: 3, acted: 0 });

    const next = await file('b.csv', [row(3), ...rows(5, 20)]);
    const rehearsed = await desk.reconcile(next, job);
    expect(rehearsed.summary.reconcile?.orphans).toMatchObject({ total: 2, acted: 2 });
    expect(rehearsed.commits).toBe(0);
    const second = await desk.reconcile(next, job, { apply: true });
    expect(second.summary.reconcile?.orphans).toMatchObject({ total: 2, acted: 2 });
    expect(stages()).toEqual(['Retired', 'Retired', null, null]);
    expect(asset(1)).toMatchObject({ room: 'kept', name: 'Laptop 1' });
    const before = await readFile(join(second.reportDir, 'before.ndjson'), 'utf8');
    expect(before.split('\n').filter((line) => line.startsWith('{"row":null,'))).toHaveLength(2);

    // What is done is done; what comes back counts anew.
    const third = await desk.reconcile(await file('c.csv', rows(5, 20)), job, { apply: true });
    expect(third.summary.reconcile?.orphans).toMatchObject({ total: 3, fresh: 1, settled: 2, waiting: 1, acted: 0 });
    expect(third.commits).toBe(0);
  });

  test('are held while a row has no key that can be read, and their absence is not counted', async () => {
    const wide = { ...job, brakes: { max_orphans: '100%', max_change: '100%' } };
    const keyless = [...rows(7, 20), ['No serial', '', '1', 'x', 'Berlin'] as const];
    const held = await desk.reconcile(await file('d.csv', keyless), wide, { apply: true });
    expect(held.summary.reconcile?.orphans.held_reason).toMatch(/one row of the file has no key/);
    expect(held.commits).toBe(0);
    expect(held.summary.reconcile?.orphans).toMatchObject({ acted: 0 });
  });
});

describe('orphans of a plan that was approved', () => {
  beforeAll(() => begin(20));
  afterAll(() => desk.close());

  test('are changed from the values that it showed, and no others are', async () => {
    const orphans = { after: 1, set: { lifecycle_stage: 'Retired' } };
    const job = { ...JOB, orphans, brakes: { max_orphans: 0, max_change: '100%' } };
    const braked = await desk.reconcile(await file('gone.csv', [row(4, { city: '' }), ...rows(5, 20)]), job, {
      apply: true,
    });
    expect(braked.exitCode).toBe(4);
    expect(braked.summary.reconcile?.orphans).toMatchObject({ total: 3, acted: 3 });
    desk.sandbox.edit('asset', ids[0]!, { lifecycle_stage: 'Stock' });
    desk.sandbox.edit('asset', ids[1]!, { room: 'moved' });
    const [fresh = 0] = desk.sandbox.insert('asset', [
      { name: 'New', serial_number: 'SN99', city: 'Berlin', category: { id: 1 } },
    ]);
    const done = await desk.approve(braked.summary.run, 'Ann Lee');
    expect(done.exitCode).toBe(3);
    expect(done.summary.reconcile?.orphans).toMatchObject({ total: 4, acted: 3, held: 1 });
    expect(done.summary.reconcile?.compared?.orphans_for_person).toBe(1);
    expect(done.commits).toBe(2);
    expect([1, 2, 3].map((n) => asset(n)?.['lifecycle_stage'])).toEqual(['Stock', 'Retired', 'Retired']);
    expect(asset(2)).toMatchObject({ room: 'moved' });
    expect(desk.sandbox.record('asset', fresh)?.['lifecycle_stage'] ?? null).toBeNull();
    const told = await readFile(join(done.reportDir, 'orphans.csv'), 'utf8');
    expect(told).toContain('lifecycle_stage is now ""Stock""');
    expect(told).toContain('the plan that was approved does not change it');
  });
});

describe('a plan that a brake stopped', () => {
  beforeAll(() => begin(30));
  afterAll(() => desk.close());
  const renamed = () => Array.from({ length: 30 }, (_, at) => row(at + 1, at < 12 ? { name: `New ${at + 1}` } : {}));

  test('is carried out as it was approved, row by row, and once', async () => {
    const path = await file('many.csv', renamed());
    const braked = await desk.reconcile(path, JOB, { apply: true });
    expect(braked.exitCode).toBe(4);
    expect(braked.summary).toMatchObject({ status: 'braked' });
    expect(braked.summary.reason).toMatch(/max_updates: 12 of 30 rows/);
    expect(braked.commits).toBe(0);

    desk.sandbox.edit('asset', ids[4]!, { name: 'Somebody was here' });
    desk.sandbox.edit('asset', ids[5]!, { room: 'moved' });
    const done = await desk.approve(braked.summary.run, 'Ann Lee');
    expect(done.exitCode).toBe(3);
    expect(done.summary).toMatchObject({ status: 'partial', of_run: braked.summary.run, dry_run: false });
    expect(done.summary.reconcile?.approved).toMatchObject({ by: 'Ann Lee', run: braked.summary.run });
    expect(done.summary.rows).toMatchObject({ updated: 11, conflict: 1 });
    expect(done.outcomes).toContain('6 conflict');
    expect(done.commits).toBe(11);
    expect(asset(5)).toMatchObject({ name: 'Somebody was here' });
    expect(asset(6)).toMatchObject({ name: 'New 6', room: 'moved' });
    await expect(desk.approve(braked.summary.run, 'Bob')).rejects.toThrow(/Ann Lee approved it already/);
    desk.sandbox.edit('asset', ids[4]!, { name: 'New 5' });
  });

  test('of a report-only run, too; a run that wrote has nothing to approve', async () => {
    const path = await file('few.csv', [...renamed().slice(0, 29), row(30, { cost: '9' })]);
    const reported = await desk.reconcile(path, JOB);
    expect(reported.summary).toMatchObject({ status: 'succeeded', dry_run: true });
    const done = await desk.approve('last', 'Ann Lee');
    expect(done.commits).toBe(1);
    await expect(desk.approve('last', 'Ann Lee')).rejects.toMatchObject({ kind: 'usage' });
  });
});

describe('somebody else at work', () => {
  beforeAll(() => begin(5));
  afterAll(() => desk.close());

  test('the same field: conflict, and his value stands; another field: both are kept', async () => {
    const path = await file(
      'edits.csv',
      [1, 2, 3, 4, 5].map((n) => row(n, { name: `New ${n}` })),
    );
    let edited = false;
    watch = (path) => {
      // Between the reading of the list and the first look that comes after the plan.
      if (edited || !/\/asset\/\d+\//.test(path)) return;
      edited = true;
      desk.sandbox.edit('asset', ids[1]!, { name: 'Mine' });
      desk.sandbox.edit('asset', ids[2]!, { room: 'mine' });
    };
    const applied = await desk.reconcile(path, JOB, { apply: true });
    expect(edited).toBe(true);
    expect(applied.outcomes).toEqual(['2 updated', '3 conflict', '4 updated', '5 updated', '6 updated']);
    expect(applied.faults).toEqual([expect.objectContaining({ row: '3', code: 'changed_meanwhile' })]);
    expect(asset(2)).toMatchObject({ name: 'Mine' });
    expect(asset(3)).toMatchObject({ name: 'New 3', room: 'mine' });
  });
});
