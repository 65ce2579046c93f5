import { describe, expect, test } from 'vitest';
import { csv, type Desk, openDesk } from '../../support/desk.js';
import { importOf, NEW_CONTRACT } from '../../support/jobs.js';

let desk: Desk;

const ASSETS = importOf('asset', 'serial_number', { Name: 'name', Number: 'serial_number' });
const CONTRACTS = importOf(
  'contract',
  ['number', 'name'],
  { Name: 'name', Number: 'number' },
  {
    constants: NEW_CONTRACT,
  },
);
const JOBS = [
  ['asset', ASSETS],
  ['contract', CONTRACTS],
] as const;
/** What the sandbox creates is seen in its lists when the test is over; the settle window is longer than the test. */
const LAG = 600_000;
const env = { ROWFERRY_SETTLE_WINDOW: '0.01,0.02,0.03,60' };
const sheet = (count: number) =>
  csv([['Name', 'Number'], ...Array.from({ length: count }, (_, at) => [`n${at}`, `S-${at}`])]);
const posts = () => desk.sandbox.commits.filter(({ method }) => method === 'POST').length;

async function openLagging(responses: 'full' | 'bare') {
  desk = await openDesk({ responses });
  desk.sandbox.insert('supplier', [{ name: 'Acme' }]);
  desk.sandbox.setSwitches({ lag: LAG });
}

describe('what a run has just created, and look-ups do not show yet', () => {
  test.each(JOBS)('%s records are read by their ids: the same file creates none of them again (28)', async (_, job) => {
    await openLagging('full');
    await desk.import(await desk.file('a.csv', sheet(30)), job, { env });
    const again = await desk.import(await desk.file('b.csv', sheet(32).replace('n31', 'other')), job, { env });
    expect(again.summary.rows).toMatchObject({ total: 32, created: 2, unchanged: 30 });
    const changed = await desk.import(await desk.file('c.csv', sheet(31)), job, { env, dryRun: true });
    expect(changed.summary.rows).toMatchObject({ total: 31, unchanged: 31 });
    expect(posts()).toBe(32);
  });

  test.each(JOBS)('%s records without a known id are not created again, until they are shown (28)', async (_, job) => {
    await openLagging('bare');
    const file = await desk.file('a.csv', sheet(3));
    const first = await desk.import(file, job, { env });
    expect(first.summary.rows).toMatchObject({ created: 3 });
    const again = await desk.import(file, job, { env });
    expect([again.exitCode, again.outcomes]).toEqual([3, ['2 failed', '3 failed', '4 failed']]);
    expect(again.faults.map(({ code }) => code)).toEqual(['list_incomplete', 'list_incomplete', 'list_incomplete']);
    expect(again.faults[0]?.['message']).toContain('Another run has just created');
    desk.sandbox.setSwitches({ lag: 0 });
    const retried = await desk.retry(again.summary.run, { env });
    expect(retried.summary.rows).toMatchObject({ total: 3, unchanged: 3 });
    expect(posts()).toBe(3);
  });

  test('a reconciliation does not create it again either (28)', async () => {
    await openLagging('full');
    const file = await desk.file('a.csv', sheet(3));
    await desk.import(file, ASSETS, { env });
    const { resource, match, columns } = ASSETS;
    const night = await desk.reconcile(file, { resource, match, columns }, { env, apply: true, force: true });
    expect(night.summary.rows).toMatchObject({ total: 3, unchanged: 3 });
    expect(posts()).toBe(3);
  });

  test('where all is shown, it costs no request', async () => {
    desk = await openDesk({ responses: 'full' });
    const file = await desk.file('a.csv', sheet(30));
    await desk.import(file, ASSETS, { env });
    desk.sandbox.resetRequests();
    await desk.import(file, ASSETS, { env });
    const { total } = desk.sandbox.requests;
    desk.sandbox.resetRequests();
    await desk.import(file, ASSETS, { env: { ROWFERRY_SETTLE_WINDOW: '0.01' } });
    expect(total).toBe(desk.sandbox.requests.total);
  });
});
