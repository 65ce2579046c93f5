import { describe, expect, it } from 'vitest';
import { MAX_TURNS } from '../../src/pipeline/apply/read-back.js';
import { type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';

let desk: Desk;

const job = importOf('asset', 'serial_number', { Serial: 'serial_number', City: 'city' });
const file = (count: number) =>
  desk.file('a.csv', [['Serial', 'City'], ...Array.from({ length: count }, (_, at) => [`S-${at + 1}`, 'Bonn'])]);

/** Assets of which each holds what `more` says beside the least. */
function insert(count: number, more: (at: number) => object): void {
  desk.sandbox.insert(
    'asset',
    Array.from({ length: count }, (_, at) => ({
      name: `Box ${at + 1}`,
      serial_number: `S-${at + 1}`,
      category: { id: 3 },
      ...more(at),
    })),
  );
}

const readBack = () => desk.sandbox.requests.kinds['GET /asset/{id}/'] ?? 0;

/** Records that hold the field no more. */
const without = (field: string) => desk.sandbox.raw('asset').filter((record) => record[field] === undefined).length;

describe('the first updates of a run show every kind of value that it carries', () => {
  it.each([
    ['a text', 'room', { room: 'R1' }],
    ['an amount', 'original_cost', { original_cost: 12.5 }],
    ['a reference', 'asset_owner', { asset_owner: 3 }],
    ['a choice of which reads show a part', 'warranty_type', { warranty_type: 'oem' }],
    ['a compound', 'currency', { currency: { value: 'Franc', symbol: 'CHF' } }],
    ['the custom fields', 'template', { templates: [{ id: 1, fields: [{ id: 1, value: 'x' }] }] }],
    ['the rows of forms', 'form_template', { form_template: [{ id: 1, custom_form_data: { Rack: 'A' } }] }],
  ])(
    '%s that a PUT drops is lost once, also where the very first record does not hold it (29)',
    async (_, field, held) => {
      desk = await openDesk();
      insert(60, (at) => (at % 3 === 1 ? held : {}));
      desk.sandbox.setFaults([`PUT /asset drop_field=${field}`]);
      const result = await desk.import(await file(60), job);
      expect([result.exitCode, result.summary.status]).toEqual([1, 'failed']);
      expect(result.summary.reason).toMatch(/read back/);
      expect(without(field)).toBe(41);
      const lost = result.results.filter((row) => row['codes'] === 'would_lose_value');
      expect(lost.map((row) => row['outcome'])).toEqual(['updated']);
      expect(desk.sandbox.raw('asset').find((one) => one['id'] === Number(lost[0]?.['id']))).not.toHaveProperty(field);
    },
  );

  it('and cost as many requests as there are kinds of records, at most a handful (29)', async () => {
    desk = await openDesk();
    const fields = ['room', 'floor', 'unit', 'street', 'address', 'zip_code', 'asset_tag', 'lifecycle_stage'];
    insert(80, (at) => ({ [fields[at % fields.length]!]: 'x' }));
    const many = await desk.import(await file(80), job);
    expect([many.summary.rows.updated, readBack()]).toEqual([80, MAX_TURNS]);
    await desk.close();
    desk = await openDesk();
    insert(80, (at) => (at % 2 ? { room: 'R' } : { room: 'R', floor: '1' }));
    const two = await desk.import(await file(80), job);
    expect(two.summary.rows.updated).toBe(80);
    expect(readBack()).toBeGreaterThan(0);
    expect(readBack()).toBeLessThan(3);
  });

  it('and one more for the first that clears a value, after all of them', async () => {
    desk = await openDesk({ switches: { omittedOnPut: 'kept' } });
    const fields = ['room', 'floor', 'unit', 'street', 'address'];
    insert(40, (at) => (at < 20 ? { [fields[at % fields.length]!]: 'x' } : { zip_code: '1' }));
    const rows = Array.from({ length: 40 }, (_, at) => [`S-${at + 1}`, 'Bonn', '']);
    const clearing = { ...job, blank: 'clear', columns: { ...job.columns, Zip: 'zip_code' } };
    const { results } = await desk.import(
      await desk.file('a.csv', [Object.keys(clearing.columns), ...rows]),
      clearing,
      { env: { ROWFERRY_CONCURRENCY: '1' } },
    );
    expect(results.filter((row) => row['codes'] === 'not_cleared')).toHaveLength(20);
  });

  it('rows that are refused take no more than their turns, and the others go on', async () => {
    desk = await openDesk();
    insert(40, (at) => (at % 2 ? { room: 'R' } : {}));
    desk.sandbox.setFaults(['PUT /asset nth=2 status=400', 'PUT /asset nth=3 status=400']);
    const result = await desk.import(await file(40), job);
    expect(result.summary.rows).toMatchObject({ updated: 38, rejected: 2 });
  });
});

describe('where the answer to an update holds the record', () => {
  it('a field that is gone in any of them is looked at, and the run stops (29)', async () => {
    desk = await openDesk({ responses: 'full' });
    insert(60, () => ({ room: 'R1' }));
    desk.sandbox.setFaults(['PUT /asset nth=20 drop_field=room']);
    const result = await desk.import(await file(60), job, { env: { ROWFERRY_CONCURRENCY: '4' } });
    expect([result.exitCode, result.summary.status]).toEqual([1, 'failed']);
    expect(result.summary.reason).toContain('did not keep room');
    // The first update, then this one throughout the settle window; nothing else goes out meanwhile.
    expect([without('room'), readBack()]).toEqual([1, 5]);
    expect(result.commits).toBeLessThan(28);
    expect(result.summary.rows.not_attempted).toBe(60 - result.commits);
  });

  it('and shows less than the record holds, it is not believed, at the cost of one request', async () => {
    desk = await openDesk({ responses: 'full' });
    insert(60, () => ({ room: 'R1' }));
    const bodies = Array.from({ length: 60 }, (_, at) => `{"id":${at + 1},"name":"Box ${at + 1}"}`);
    desk.sandbox.setFaults(
      bodies.map((body, at) => `PUT /asset/${at + 1} status=200 execute body="${body.replaceAll('"', '\\"')}"`),
    );
    const result = await desk.import(await file(60), job);
    expect([result.exitCode, result.summary.rows.updated, without('room')]).toEqual([0, 60, 0]);
    expect(readBack()).toBe(1);
  });
});
