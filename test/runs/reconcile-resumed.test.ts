import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/index.js';
import { type Desk, openDesk, table } from '../support/desk.js';
import { NEW_CONTRACT } from '../support/jobs.js';

/** Runs that were stopped, taken up again and approved: contract, sections 5, 7 and 8. */

let desk: Desk;

const WIDE = {
  max_updates: '100%',
  max_orphans: '100%',
  max_cleared: '100%',
  max_change: '1000%',
  max_invalid: '100%',
};
const JOB = {
  resource: 'asset',
  match: { key: 'serial_number' },
  columns: { Name: 'name', Serial: 'serial_number', Cost: 'original_cost', Stage: 'lifecycle_stage' },
};
const HEADINGS = ['Name', 'Serial', 'Cost', 'Stage'];
const numbers = (to: number) => Array.from({ length: to }, (_, at) => at + 1);
const row = (n: number, cost = '5') => [`Laptop ${n}`, `SN${n}`, cost, 'Deployed'];

let ids: number[];
async function begin(count: number, options: SandboxOptions = {}): Promise<void> {
  desk = await openDesk(options);
  ids = desk.sandbox.insert(
    'asset',
    numbers(count).map((n) => ({
      name: `Laptop ${n}`,
      serial_number: `SN${n}`,
      original_cost: 5,
      lifecycle_stage: 'Deployed',
      city: 'Berlin',
      category: { id: 1 },
    })),
  );
}
const file = (count: number, cost: (n: number) => string) =>
  desk.file('erp.csv', [HEADINGS, ...numbers(count).map((n) => row(n, cost(n)))]);
const stage = (n: number) => desk.sandbox.record('asset', ids[n - 1]!)?.['lifecycle_stage'];

describe('a run that a brake stopped, taken up again', () => {
  const faulty = () => file(40, (n) => (n <= 30 ? 'oops' : n < 36 ? '6' : '5'));

  test('is braked again, and writes nothing: a reconciliation', async () => {
    await begin(40);
    const first = await desk.reconcile(await faulty(), JOB, { apply: true });
    expect(first.summary).toMatchObject({ status: 'braked', rows: { invalid: 30, not_attempted: 5, unchanged: 5 } });
    const again = await desk.resume();
    expect(again.summary).toMatchObject({ status: 'braked', rows: first.summary.rows });
    expect(again.commits).toBe(0);
  });

  test('is braked again, and writes nothing: an import', async () => {
    await begin(40);
    const brakes = { max_invalid: '50%', max_updates: '90%' };
    const first = await desk.import(await faulty(), { ...JOB, kind: 'import', brakes });
    expect(first.summary.status).toBe('braked');
    const again = await desk.resume();
    expect(again.summary).toMatchObject({ status: 'braked', rows: first.summary.rows });
    expect(again.commits).toBe(0);
  });
});

test('a run that a brake stopped stays stopped with the plan that it showed, also where a newer night has left it little to do', async () => {
  await begin(40);
  const first = await desk.reconcile(await file(40, (n) => (n <= 20 ? '6' : '5')), JOB, { apply: true });
  expect(first.summary.status).toBe('braked');
  for (const id of ids.slice(0, 18)) desk.sandbox.edit('asset', id, { original_cost: 6 });
  const again = await desk.resume();
  expect([again.summary, again.exitCode]).toEqual([first.summary, 4]);
  expect([again.commits, again.plan]).toEqual([0, first.plan]);
});

test('a report-only run that was interrupted looks at all rows when it is taken up again', async () => {
  const interrupt = new AbortController();
  await begin(1500);
  const path = await file(1500, (n) => (n <= 600 ? '6' : '5'));
  const first = await desk.reconcile(path, JOB, {
    signal: interrupt.signal,
    onProgress: ({ phase, done }) => {
      if (phase === 'planning' && done > 100) interrupt.abort('SIGINT');
    },
  });
  expect(first.summary.status).toBe('interrupted');
  const again = await desk.resume();
  expect(again.summary).toMatchObject({ status: 'braked', reconcile: { differences: { rows: 600 } } });
});

test('an approved import that was interrupted goes on', async () => {
  const interrupt = new AbortController();
  let writes = 0;
  let approving = false;
  await begin(40, {
    onAnswer: ({ method }) => {
      if (approving && method === 'PUT' && ++writes === 3) interrupt.abort('SIGTERM');
    },
  });
  const job = { ...JOB, kind: 'import', brakes: { max_updates: '10%' } };
  const braked = await desk.import(await file(40, () => '6'), job);
  expect(braked.summary.status).toBe('braked');
  approving = true;
  const approved = await desk.approve(braked.summary.run, 'Ann Lee', {
    signal: interrupt.signal,
    env: { ROWFERRY_CONCURRENCY: '1' },
  });
  expect(approved.summary.status).toBe('interrupted');
  const again = await desk.resume();
  expect(again.summary).toMatchObject({ status: 'succeeded', rows: { updated: 40 } });
  expect(desk.sandbox.commits).toHaveLength(40);
});

test('an approval lets the plan pass, not what the service refuses while it is written', async () => {
  await begin(30);
  const columns = { ...JOB.columns, Owner: 'asset_owner' };
  const job = { ...JOB, kind: 'import', columns, brakes: { max_rejected: 2 } };
  const lines = numbers(30).map((n) => [...row(n, '6'), 'id:999']);
  const path = await desk.file('owners.csv', [[...HEADINGS, 'Owner'], ...lines]);
  const plan = await desk.import(path, job, { dryRun: true });
  expect(plan.summary.rows.updated).toBe(30);
  const approved = await desk.approve(plan.summary.run, 'Ann Lee', { env: { ROWFERRY_CONCURRENCY: '1' } });
  expect(approved.summary).toMatchObject({ status: 'braked', rows: { rejected: 3, not_attempted: 27 } });
  // Taken up again it does not go on past the brake either.
  const again = await desk.resume();
  expect(again.summary).toMatchObject({ status: 'braked', rows: { rejected: 3, not_attempted: 27 } });
});

test('contracts that refer to one another are written as planned after a kill between parent and child', async () => {
  const interrupt = new AbortController();
  let sending = true;
  desk = await openDesk({
    onAnswer: ({ method }) => {
      if (sending && method === 'POST') interrupt.abort('SIGTERM');
    },
  });
  desk.sandbox.insert('supplier', [{ name: 'Acme' }]);
  const job = {
    resource: 'contract',
    match: { key: 'number' },
    columns: { No: 'number', Name: 'name', Parent: 'parent_contract' },
    constants: { ...NEW_CONTRACT, supplier: 'id:1' },
    brakes: WIDE,
  };
  const path = await desk.file('contracts.csv', 'No,Name,Parent\r\nG1,Grandchild,C1\r\nP1,Parent,\r\nC1,Child,P1');
  const first = await desk.reconcile(path, job, { apply: true, signal: interrupt.signal });
  expect(first.summary.status).toBe('interrupted');
  sending = false;
  const again = await desk.resume();
  expect(again.outcomes).toEqual(['2 created', '3 created', '4 created']);
  expect(desk.sandbox.records('contract')).toHaveLength(3);
});

test('a row that was on its way when the run was cut off sets what was planned and no other field', async () => {
  const interrupt = new AbortController();
  await begin(20, {
    faults: ['PUT /asset nth=1 timeout_before'],
    onRequest: ({ method }) => {
      if (method === 'PUT') interrupt.abort('SIGTERM');
    },
  });
  const path = await file(20, (n) => (n === 3 ? '6' : '5'));
  await desk.reconcile(path, { ...JOB, brakes: WIDE }, { apply: true, signal: interrupt.signal });
  // The file has another stage, which was no difference when the row was planned.
  desk.sandbox.edit('asset', ids[2]!, { lifecycle_stage: 'Lost' });
  const again = await desk.resume();
  expect(again.outcomes[2]).toBe('4 conflict');
  expect(stage(3)).toBe('Lost');
});

describe('orphans are held against what they were when they were planned', () => {
  const RETIRING = {
    ...JOB,
    orphans: { set: { lifecycle_stage: 'Retired' }, after: 1 },
    scope: { city: 'Berlin' },
    brakes: WIDE,
  };

  test('by a run that writes: more of them than are read one by one, too', async () => {
    let edited = false;
    await begin(100, {
      onRequest: ({ method }) => {
        if (edited || method !== 'PUT') return;
        edited = true;
        desk.sandbox.edit('asset', ids[97]!, { lifecycle_stage: 'Lost' });
        desk.sandbox.edit('asset', ids[98]!, { serial_number: 'SN2' });
        desk.sandbox.edit('asset', ids[99]!, { city: 'Rome' });
      },
    });
    const run = await desk.reconcile(await file(70, (n) => (n === 1 ? '6' : '5')), RETIRING, { apply: true });
    expect([98, 99, 100].map(stage)).toEqual(['Lost', 'Deployed', 'Deployed']);
    expect(run.exitCode).toBe(3);
    const orphans = await table(join(run.reportDir, 'orphans.csv'));
    expect(orphans.map(({ outcome }) => outcome)).toEqual([
      ...numbers(27).map(() => 'updated'),
      ...numbers(3).map(() => 'conflict'),
    ]);
  });

  test('by an approval', async () => {
    await begin(30);
    const plan = await desk.reconcile(await file(29, () => '5'), RETIRING);
    const shown = await table(join(plan.reportDir, 'orphans.csv'));
    expect(shown[0]?.['changes']).toContain('Retired');
    desk.sandbox.edit('asset', ids[29]!, { lifecycle_stage: 'Lost' });
    const approved = await desk.approve(plan.summary.run, 'Ann Lee');
    expect([approved.exitCode, approved.summary.status, approved.commits]).toEqual([3, 'partial', 0]);
    expect(stage(30)).toBe('Lost');
    const [orphan] = await table(join(approved.reportDir, 'orphans.csv'));
    expect(orphan?.['outcome']).toBe('conflict');
    await expect(desk.approve(approved.summary.run, 'Ann Lee')).rejects.toThrow(/it ended as partial/);
  });
});
