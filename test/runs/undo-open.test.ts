import { describe, expect, it } from 'vitest';
import { runFolder } from '../../src/runs/run/layout.js';
import { RunStore } from '../../src/store/run-store.js';
import { type Desk, openDesk } from '../support/desk.js';

let desk: Desk;

/** Rows that a run was writing when it was interrupted: all that is known of them is what was noted before the request. */

const COLUMNS = { Serial: 'serial_number', Name: 'name', Room: 'room', Notes: 'asset_notes', City: 'city' };
const JOB = {
  resource: 'asset',
  match: { key: 'serial_number' },
  columns: COLUMNS,
  compare: { authority: { asset_notes: 'service' } },
  brakes: { max_updates: '100%' },
};
const ASSET = {
  serial_number: 'S-1',
  name: 'Box',
  room: 'R1',
  asset_notes: 'by hand',
  city: 'Ulm',
  category: { id: 3, subcategory: 'Rack' },
};
const HELD = ['room', 'asset_notes', 'city'] as const;
const held = () => HELD.map((field) => desk.sandbox.record('asset', 1)?.[field]);

/** The one row changes the room; the notes are the service's, and the city is the same. */
async function interrupted() {
  const stop = new AbortController();
  desk = await openDesk({
    faults: ['PUT /asset nth=1 timeout_after'],
    onRequest: ({ method }) => void (method === 'PUT' && stop.abort('SIGTERM')),
  });
  desk.sandbox.insert('asset', [ASSET]);
  const file = await desk.file('erp.csv', [Object.keys(COLUMNS), ['S-1', 'Box', 'R2', 'from the ERP', 'Ulm']]);
  const run = await desk.reconcile(file, JOB, { apply: true, signal: stop.signal });
  expect([run.summary.status, run.outcomes, held()]).toEqual(['interrupted', ['2 unknown'], ['R2', 'by hand', 'Ulm']]);
  return run;
}

/** What was noted of the one row before its update. */
function noted(run: string) {
  const store = new RunStore(runFolder(desk.home, run).store);
  const [[row] = []] = [...store.rows.rows('1', { before: true })];
  store.close();
  return JSON.parse(row?.before ?? '');
}

describe('an open row is undone', () => {
  it('in the fields that the run wrote, whatever somebody entered in others since', async () => {
    const run = await interrupted();
    expect(noted(run.summary.run).set).toEqual({ room: 'R2' });
    // The very value of the file, by hand: the run had not written it.
    desk.sandbox.edit('asset', 1, { asset_notes: 'from the ERP', city: 'Bonn' });
    const undo = await desk.undo(run.summary.run);
    expect(undo.results.map(({ outcome, changed_fields: fields, codes }) => [outcome, fields, codes])).toEqual([
      ['updated', 'room', ''],
    ]);
    expect(held()).toEqual(['R1', 'from the ERP', 'Bonn']);
  });
});
