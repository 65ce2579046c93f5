import { describe, expect, it } from 'vitest';
import { type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';

const ASSETS = importOf('asset', 'serial_number', { Name: 'name', Serial: 'serial_number' });
const CONTRACTS = importOf(
  'contract',
  'number',
  { Name: 'name', Number: 'number', Supplier: 'supplier' },
  {
    constants: {
      contract_type: 'buy_side',
      country: 840,
      status: 'active',
      contract_start_date: '2025-01-01',
      contract_end_date: '2026-01-01',
      notice_period: 10,
      end_of_term_clause: 'auto_expires',
      total_contract_spend_value: 1,
      'category.name': 1,
    },
  },
);
const FAST = { ROWFERRY_TIMEOUT: '0.2', ROWFERRY_SETTLE_WINDOW: '0.05,0.2,0.4' };

let desk: Desk;

const sent = () =>
  Object.entries(desk.sandbox.requests.kinds).reduce((sum, [kind, n]) => sum + (kind.startsWith('POST') ? n : 0), 0);

describe('a create whose key the service does not guard', () => {
  it('that was not answered and is not found is unknown, and not sent again: it may still be under way (2, 4)', async () => {
    // It takes effect when the settle window is long over.
    desk = await openDesk({ faults: ['POST /asset nth=1 late_commit=1500'] });
    const file = await desk.file('assets.csv', 'Name,Serial\r\nLaptop,SN-1');
    const imported = await desk.import(file, ASSETS, { env: FAST });
    expect(imported.outcomes).toEqual(['2 unknown']);
    expect(imported.results[0]?.['message']).toContain('may still be under way');
    expect(sent()).toBe(1);
    await expect.poll(() => desk.sandbox.records('asset').length, { timeout: 5_000 }).toBe(1);

    const again = await desk.import(file, ASSETS, { env: FAST });
    expect(again.outcomes).toEqual(['2 unchanged']);
    expect(desk.sandbox.records('asset')).toHaveLength(1);
  });

  it.each(['close_before', 'status=500'])(
    'that the service has certainly let go of is sent once more after the whole settle window: %s (5, 11)',
    async (fault) => {
      desk = await openDesk({ faults: [`POST /asset nth=1 ${fault}`] });
      const file = await desk.file('assets.csv', 'Name,Serial\r\nLaptop,SN-1');
      const imported = await desk.import(file, ASSETS, { env: FAST });
      expect(imported.outcomes).toEqual(['2 created']);
      expect(sent()).toBe(2);
      expect(desk.sandbox.records('asset')).toHaveLength(1);
    },
  );

  it('and that is answered with 500, executed, and seen late is found within the whole settle window (11, 28)', async () => {
    desk = await openDesk({ faults: ['POST /asset nth=1 status=500 execute'], switches: { lag: 700 } });
    const file = await desk.file('assets.csv', 'Name,Serial\r\nLaptop,SN-1');
    const imported = await desk.import(file, ASSETS, {
      env: { ...FAST, ROWFERRY_SETTLE_WINDOW: '0.05,0.3,4,4.1' },
    });
    expect(imported.outcomes).toEqual(['2 created']);
    expect(sent()).toBe(1);
  });
});

it('a contract that was not answered and is not found is unknown (2)', async () => {
  desk = await openDesk({ faults: ['POST /contract nth=1 timeout_before'] });
  desk.sandbox.insert('supplier', [{ name: 'Acme' }]);
  const file = await desk.file('contracts.csv', 'Name,Number,Supplier\r\nLease,C-1,Acme\r\nRent,C-2,Acme');
  const imported = await desk.import(file, CONTRACTS, { env: FAST });
  expect(imported.summary.rows).toMatchObject({ created: 1, unknown: 1 });
  expect(sent()).toBe(2);
});
