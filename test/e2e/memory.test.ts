import { describe, expect, it } from 'vitest';
import { csv, type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';

let desk: Desk;

const CREATE = importOf('asset', 'serial_number', {
  Name: 'name',
  Serial: 'serial_number',
  Inventory: 'inventory_no',
  Mac: 'mac_address',
  Category: 'category.name',
});
const RENAME = importOf('asset', 'serial_number', { Name: 'name', Serial: 'serial_number' });
const FILE = csv([
  ['Name', 'Serial', 'Inventory', 'Mac', 'Category'],
  ['One', 'K-1', 'INV-1', 'aa:bb', 'Laptop'],
  ['Two', 'K-2', 'INV-2', 'aa:cc', 'Laptop'],
  ['Three', 'K-3', 'INV-3', 'aa:dd', 'Laptop'],
]);
const RENAMED = 'Name,Serial\r\nUno,K-1\r\nDue,K-2\r\nTre,K-3';

const unseen = () =>
  desk.sandbox.raw('asset').map((asset) => [asset['name'], asset['inventory_no'], asset['mac_address']]);

describe('what reads never show, of records whose id was not learned', () => {
  it('is carried over by a later update, and the same file again is unchanged', async () => {
    desk = await openDesk({ switches: { lag: 60_000 } });
    const first = await desk.import(await desk.file('a.csv', FILE), CREATE);
    expect(first.results.map((row) => [row['outcome'], row['id'], row['codes']])).toEqual([
      ['created', '', 'id_unknown'],
      ['created', '', 'id_unknown'],
      ['created', '', 'id_unknown'],
    ]);
    desk.sandbox.setSwitches({ lag: 0 });
    const again = await desk.import(await desk.file('a.csv', FILE), CREATE);
    expect([again.summary.rows.unchanged, again.commits]).toEqual([3, 0]);
    const renamed = await desk.import(await desk.file('b.csv', RENAMED), RENAME);
    expect(renamed.summary.rows.updated).toBe(3);
    expect(unseen()).toEqual([
      ['Uno', 'INV-1', 'aa:bb'],
      ['Due', 'INV-2', 'aa:cc'],
      ['Tre', 'INV-3', 'aa:dd'],
    ]);
  });

  it('is carried over although the run that wrote it was cut off and never resumed', async () => {
    const stop = new AbortController();
    desk = await openDesk({
      onRequest: ({ method }) => {
        if (method === 'POST' && desk.sandbox.commits.length === 1) stop.abort('SIGINT');
      },
    });
    await desk.import(await desk.file('a.csv', FILE), CREATE, {
      signal: stop.signal,
      env: { ROWFERRY_CONCURRENCY: '1' },
    });
    const made = desk.sandbox.commits.length;
    expect(made).toBeGreaterThan(0);
    expect(made).toBeLessThan(3);
    const renamed = await desk.import(await desk.file('b.csv', RENAMED), {
      ...RENAME,
      match: { key: 'serial_number', missing: 'skip' },
    });
    expect(renamed.summary.rows).toMatchObject({ updated: made, skipped: 3 - made });
    expect(unseen().every(([, inventory, mac]) => inventory !== undefined && mac !== undefined)).toBe(true);
  });

  it('is not kept of a record that was refused', async () => {
    desk = await openDesk({ faults: ['POST /asset nth=1 status=400'] });
    const first = await desk.import(
      await desk.file('a.csv', 'Name,Serial,Inventory,Mac,Category\r\nOne,K-1,INV-1,aa:bb,Laptop'),
      CREATE,
    );
    expect(first.outcomes).toEqual(['2 rejected']);
    desk.sandbox.insert('asset', [{ name: 'Theirs', serial_number: 'K-1', category: { id: 1 } }]);
    await desk.import(await desk.file('b.csv', 'Name,Serial\r\nUno,K-1'), RENAME);
    expect(unseen()).toEqual([['Uno', undefined, undefined]]);
  });
});

describe('a customer whose creating answer told no id', () => {
  const JOB = { kind: 'import', resource: 'customer', match: { key: 'name' }, columns: { Name: 'name', City: 'city' } };
  const sheet = (city: string) =>
    csv([
      ['Name', 'City'],
      ['Alpine', city],
    ]);

  it('is unchanged at the second import, and held where the row differs', async () => {
    desk = await openDesk();
    desk.sandbox.setFaults([
      {
        match: { method: 'POST', path: '/customer' },
        action: { kind: 'status', status: 200, body: '', execute: true },
      },
    ]);
    const first = await desk.import(await desk.file('c.csv', sheet('Bern')), JOB);
    expect(first.results.map((row) => [row['outcome'], row['id'], row['codes']])).toEqual([
      ['created', '', 'id_unknown'],
    ]);
    const again = await desk.import(await desk.file('c.csv', sheet('Bern')), JOB);
    expect([again.outcomes, again.commits]).toEqual([['2 unchanged'], 0]);
    const other = await desk.import(await desk.file('d.csv', sheet('Basel')), JOB);
    expect([other.outcomes, other.commits]).toEqual([['2 at_risk'], 0]);
  });
});
