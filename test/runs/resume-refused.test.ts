import { expect, it } from 'vitest';
import { readRun } from '../../src/runs/run/list.js';
import { type Desk, openDesk } from '../support/desk.js';

let desk: Desk;

it('a resumption that is refused leaves the run as it ended before: it can still be undone', async () => {
  const stop = new AbortController();
  desk = await openDesk({ onAnswer: ({ method }) => void (method === 'PUT' && stop.abort('SIGINT')) });
  desk.sandbox.insert('supplier', [{ name: 'Acme' }]);
  const asset = { category: { id: 3, subcategory: 'Rack' }, attached_supplier: 1, room: 'R1' };
  const assets = Array.from({ length: 20 }, (_, at) => ({ ...asset, name: `Box ${at}`, serial_number: `S-${at}` }));
  desk.sandbox.insert('asset', assets);
  const file = await desk.file('erp.csv', [['Serial', 'Room'], ...assets.map((one) => [one.serial_number, 'R2'])]);
  const job = {
    resource: 'asset',
    match: { key: 'serial_number' },
    columns: { Serial: 'serial_number', Room: 'room' },
    orphans: { set: { attached_supplier: 'Acme' } },
    brakes: { max_updates: '100%' },
  };
  const env = { ROWFERRY_CONCURRENCY: '1' };
  const run = await desk.reconcile(file, job, { apply: true, signal: stop.signal, env });
  expect(run.summary.status).toBe('interrupted');
  const before = await readRun(desk.home, run.summary.run);
  desk.sandbox.edit('supplier', 1, { name: 'Acme GmbH' });
  await expect(desk.resume()).rejects.toMatchObject({ kind: 'usage' });
  expect(await readRun(desk.home, run.summary.run)).toEqual(before);
  const undo = await desk.undo('last');
  expect(undo.summary.rows.updated).toBe(undo.summary.rows.total);
  expect(desk.sandbox.records('asset').map(({ room }) => room)).toEqual(assets.map(() => 'R1'));
});
