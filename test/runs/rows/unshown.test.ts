import { expect, test } from 'vitest';
import { type Desk, openDesk } from '../../support/desk.js';
import { importOf, NEW_CONTRACT } from '../../support/jobs.js';

let desk: Desk;

const ASSETS = importOf('asset', 'serial_number', { Name: 'name', Serial: 'serial_number' });
const CONTRACTS = importOf(
  'contract',
  'number',
  { Name: 'name', Serial: 'number' },
  {
    constants: NEW_CONTRACT,
  },
);
const sheet = (count: number) =>
  ['Name,Serial', ...Array.from({ length: count }, (_, at) => `n${at},S-${at}`), ''].join('\n');

test.each([
  ['assets', 'asset', ASSETS],
  ['contracts', 'contract', CONTRACTS],
])(
  'of %s that the service counts and does not show a row creates none, until it shows them (25)',
  async (_, resource, job) => {
    desk = await openDesk();
    desk.sandbox.insert('supplier', [{ name: 'Acme' }]);
    const before = await desk.import(await desk.file('a.csv', sheet(30)), job);
    expect(before.outcomes.every((one) => one.endsWith('created'))).toBe(true);
    desk.sandbox.setFaults([`GET /${resource}/ every=1 wrong_count=1`]);
    const file = await desk.file('b.csv', sheet(31).replace('n5,', 'other,'));
    const { summary, outcomes, faults, exitCode } = await desk.import(file, job);
    expect([exitCode, summary.rows]).toMatchObject([
      3,
      { total: 31, created: 0, updated: 1, unchanged: 29, failed: 1 },
    ]);
    expect(outcomes.at(-1)).toBe('32 failed');
    expect(faults).toMatchObject([{ row: '32', code: 'list_incomplete', value: 'S-30' }]);
    expect(faults[0]?.['message']).toContain('The service counts 1 record more than it shows');
    expect(desk.sandbox.records(resource as 'asset')).toHaveLength(30);
    desk.sandbox.setFaults([]);
    expect((await desk.retry(summary.run)).summary.rows).toMatchObject({ created: 1 });
  },
);

test('where the service guards the key, it is left to it (25)', async () => {
  desk = await openDesk({ faults: ['GET /asset/ every=1 wrong_count=1'] });
  const job = { ...ASSETS, match: { ...ASSETS.match, unique_field: 'serial_number' } };
  const { summary } = await desk.import(await desk.file('a.csv', sheet(3)), job);
  expect(summary.rows).toMatchObject({ created: 3 });
});
