import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { until } from '../sandbox/client.js';
import { PLAIN_CONTRACT } from '../support/jobs.js';
import { csvText, type Desk, type Night, openNights } from './reconcile-night.js';

/**
 * Requests of nights with and without the delta read, as the service counts them. Performance page, "Goals". The same with
 * 100,000 records: bench/reconcile-requests.mjs.
 */

const RECORDS = 5_000;
const PAGES = RECORDS / 25;
const CHANGED = RECORDS / 100;
/** What the goal allows for finding one's way about. */
const AROUND = 10;

const JOB = {
  kind: 'reconcile',
  resource: 'asset',
  match: { key: 'serial_number', unique_field: 'serial_number' },
  columns: {
    Serial: 'serial_number',
    Name: 'name',
    Cost: 'original_cost',
    Category: 'category.name',
    Sub: 'category.subcategory',
    Owner: 'asset_owner',
    City: 'city',
  },
};

const serial = (i: number) => `SN-${100_000 + i}`;
const costs = Array.from({ length: RECORDS }, (_, i) => 1_000 + i);
const fileText = () =>
  csvText([
    ['Serial', 'Name', 'Cost', 'Category', 'Sub', 'Owner', 'City'],
    ...costs.map((cost, i) => [serial(i), `Asset ${i}`, `${cost}.00`, 'Laptop', 'Rugged', 'Ben Osei', 'Bern']),
  ]);

let desk: Desk;
let job: string;
let nights = 0;

beforeAll(async () => {
  desk = await openNights();
  desk.sandbox.insert(
    'asset',
    costs.map((cost, i) => ({
      serial_number: serial(i),
      name: `Asset ${i}`,
      original_cost: cost,
      category: { id: 1, subcategory: 'Rugged' },
      asset_owner: 2,
      city: 'Bern',
    })),
  );
  job = await desk.job('job', JOB);
});
afterAll(() => desk.close());

/** The ERP has new costs for one asset in a hundred, spread over the whole list. */
function change(by: number): void {
  for (let i = 0; i < RECORDS; i += RECORDS / CHANGED) costs[i + (by % 100)]! += by;
}

const night = async (apply = true): Promise<Night> =>
  desk.night(await desk.file(`night-${++nights}.csv`, fileText()), job, { apply });

describe(`${RECORDS} records, one in a hundred changed`, () => {
  it('the first night reads the list once; the nights after it read what changed', async () => {
    change(1);
    const first = await night();
    expect([first.code, first.writes, first.summary.reconcile.read.how], first.err).toEqual([0, CHANGED, 'full']);
    expect(first.requests).toBeLessThanOrEqual(PAGES + CHANGED + AROUND);
    expect(first.summary.requests.total).toBe(first.requests);

    // What the first night wrote is what changed since its reading.
    const second = await night();
    expect([second.code, second.writes, second.summary.rows['unchanged']], second.err).toEqual([0, 0, RECORDS]);
    expect(second.summary.reconcile.read).toMatchObject({ how: 'delta', certified: true, records: RECORDS });
    expect(second.requests).toBeLessThanOrEqual((PAGES + CHANGED + AROUND) / 20);

    const third = await night(false);
    expect([third.code, third.writes, third.summary.reconcile.read.how], third.err).toEqual([0, 0, 'delta']);
    expect(third.requests).toBeLessThanOrEqual((PAGES + CHANGED + AROUND) / 20);

    // Both sides move: the ERP in 50 places, people in 50 others.
    change(2);
    for (let i = 3; i < RECORDS; i += RECORDS / CHANGED) desk.sandbox.edit('asset', i + 1, { city: 'Basel' });
    const fourth = await night();
    expect([fourth.code, fourth.writes, fourth.summary.reconcile.read.how], fourth.err).toEqual([
      0,
      2 * CHANGED,
      'delta',
    ]);
    // A GET and a PUT of each record, which was read nights ago, and the pages on which both kinds of changes stand first.
    expect(fourth.requests).toBeLessThanOrEqual(2 * CHANGED + (2 * CHANGED) / 25 + AROUND);
    expect(desk.sandbox.records('asset').map((one) => Number(one['original_cost']))).toEqual(costs);
    expect(desk.sandbox.records('asset').filter((one) => one['city'] !== 'Bern')).toEqual([]);
  });

  it('a record that went and one that came are seen, with as many records as before', async () => {
    costs[5]! += 1;
    desk.sandbox.remove('asset', 777);
    desk.sandbox.insert('asset', [{ serial_number: 'BY-HAND', name: 'By hand', category: { id: 1 } }]);
    const after = await night(false);
    expect(after.code, after.err).toBe(0);
    expect(after.summary.rows).toMatchObject({ created: 1, updated: 1, unchanged: RECORDS - 2 });
    expect(after.report('orphans.csv').map((line) => line['key'])).toEqual(['BY-HAND']);
  });
});

it('reads whole at least every `full_every` runs', async () => {
  const few = await openNights();
  try {
    const list = Array.from({ length: 200 }, (_, i) => ({
      serial_number: serial(i),
      name: `A ${i}`,
      category: { id: 1 },
    }));
    few.sandbox.insert('asset', list);
    // Records of one millisecond stand in the order of their ids, which tells nothing of the order of modification.
    const inserted = Date.now();
    await until(() => Date.now() > inserted);
    few.sandbox.edit('asset', 150, { city: 'Bern' });
    const columns = { Serial: 'serial_number', Name: 'name' };
    const file = await few.file(
      'few.csv',
      csvText([['Serial', 'Name'], ...list.map((one) => [one.serial_number, one.name])]),
    );
    const how = async (every: number, runs: number) => {
      const read = { full_every: every };
      const own = await few.job(`every-${every}`, {
        kind: 'reconcile',
        resource: 'asset',
        match: JOB.match,
        columns,
        read,
      });
      const told: string[] = [];
      for (let n = 0; n < runs; n++) told.push((await few.night(file, own)).summary.reconcile.read.how);
      return told;
    };
    expect(await how(1, 2)).toEqual(['full', 'full']);
    const third = await how(3, 6);
    for (let n = 0; n + 3 <= third.length; n++) expect(third.slice(n, n + 3)).toContain('full');
    expect(third).toContain('delta');
  } finally {
    await few.close();
  }
});

it('looks new keys up again in the list, where that takes fewer requests than a filter for each', async () => {
  const few = await openNights();
  try {
    few.sandbox.insert('supplier', [{ name: 'Alpenblick' }]);
    few.sandbox.insert(
      'contract',
      Array.from({ length: 60 }, (_, i) => ({ ...CONTRACT, number: `C-${i}` })),
    );
    const columns = Object.fromEntries([...Object.keys(CONTRACT), 'number'].map((name) => [name, name]));
    const own = await few.job('contracts', {
      kind: 'reconcile',
      resource: 'contract',
      match: { key: 'number' },
      columns,
    });
    const rows = Array.from({ length: 120 }, (_, i) => [...Object.values(CONTRACT).map(String), `C-${i}`]);
    const file = await few.file('contracts.csv', csvText([Object.keys(columns), ...rows]));
    const one = await few.night(file, own, { apply: true });
    expect([one.summary.rows.created, one.summary.rows.unchanged, one.writes], one.err).toEqual([60, 60, 60]);
    expect(one.requests - one.writes).toBeLessThanOrEqual(2 * 3 + AROUND + AROUND);
  } finally {
    await few.close();
  }
});

const CONTRACT = {
  ...PLAIN_CONTRACT,
  name: 'Lease',
  contract_start_date: '2026-01-01',
  contract_end_date: '2027-01-01',
};
