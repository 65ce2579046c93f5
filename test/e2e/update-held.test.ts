import { afterEach, describe, expect, it, vi } from 'vitest';
import { type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { storedOne } from '../support/records.js';

/** Milliseconds for which a read is good enough. */
const fresh = vi.hoisted(() => ({ ms: 1_000 }));
vi.mock('../../src/pipeline/apply/apply.js', async (original) => {
  const real = await original<typeof import('../../src/pipeline/apply/apply.js')>();
  class Writer extends real.Writer {
    constructor(options: ConstructorParameters<typeof real.Writer>[0]) {
      super({ ...options, freshMs: fresh.ms });
    }
  }
  return { ...real, Writer };
});

let desk: Desk;
afterEach(() => {
  fresh.ms = 1_000;
});

const JOB = importOf('asset', 'serial_number', { Serial: 'serial_number', City: 'city' });
const HELD = ['PUT /asset/2 nth=1 status=429 retry_after=2'];

/**
 * Two assets are to be moved to Bonn. The first PUT of the second is answered with 429 and a pause that is longer than a
 * read is good for; `meanwhile` happens in the pause. `at`: the PUT of the second asset, from 1, at which it does.
 */
async function heldRun(meanwhile: () => void, faults: readonly string[] = HELD, at = 1) {
  const seen: string[] = [];
  desk = await openDesk({
    onRequest({ method, path }) {
      if (!path.startsWith('/asset/2')) return;
      seen.push(`${method} ${path}`);
      if (method === 'PUT' && seen.filter((one) => one === 'PUT /asset/2').length === at) meanwhile();
    },
  });
  const asset = { category: { id: 3, subcategory: 'Rack' }, city: 'Ulm', room: 'R1' };
  desk.sandbox.insert(
    'asset',
    [1, 2].map((n) => ({ ...asset, name: `Box ${n}`, serial_number: `S-${n}` })),
  );
  desk.sandbox.setFaults(faults);
  const rows = [
    ['Serial', 'City'],
    ['S-1', 'Bonn'],
    ['S-2', 'Bonn'],
  ];
  const result = await desk.import(await desk.file('a.csv', rows), JOB);
  return { result, seen };
}

describe('a PUT that waits longer than its record may be old', () => {
  it('is made anew from the record as it is then: a change of another field survives (31, 33)', async () => {
    const { result, seen } = await heldRun(() => desk.sandbox.edit('asset', 2, { room: 'R2' }));
    expect(result.outcomes).toEqual(['2 updated', '3 updated']);
    expect(seen).toEqual(['PUT /asset/2', 'GET /asset/2/', 'PUT /asset/2']);
    expect(storedOne(desk.sandbox, 'asset', 2)).toMatchObject({ city: 'Bonn', room: 'R2' });
    expect(result.plan.filter((one) => one['row'] === '3').map((one) => `${one['field']} ${one['kind']}`)).toEqual([
      'city set',
    ]);
  });

  it('is not sent where somebody changed what the row sets: conflict (32, 33)', async () => {
    const { result, seen } = await heldRun(() => desk.sandbox.edit('asset', 2, { city: 'Trier' }));
    expect([result.outcomes, result.commits]).toEqual([['2 updated', '3 conflict'], 1]);
    expect(seen).toEqual(['PUT /asset/2', 'GET /asset/2/']);
    expect(storedOne(desk.sandbox, 'asset', 2)).toMatchObject({ city: 'Trier' });
    expect(result.faults[0]!['message']).toContain('Nothing was sent');
  });

  it('is not sent where the record is gone, nor where it holds the value by now', async () => {
    const gone = await heldRun(() => desk.sandbox.remove('asset', 2));
    expect([gone.result.outcomes, gone.seen.length]).toEqual([['2 updated', '3 conflict'], 2]);
    await desk.close();
    const same = await heldRun(() => desk.sandbox.edit('asset', 2, { city: 'Bonn' }));
    expect([same.result.outcomes, same.seen.length]).toEqual([['2 updated', '3 unchanged'], 2]);
  });

  it('is given up after a number of times, and the run stops to be resumed', async () => {
    fresh.ms = -1;
    const { result, seen } = await heldRun(() => undefined, []);
    expect([result.commits, result.exitCode, result.summary.status]).toEqual([0, 1, 'failed']);
    expect(result.summary.rows).toMatchObject({ updated: 0, total: 2 });
    expect(result.summary.rows.failed).toBeGreaterThan(0);
    expect(seen.filter((one) => one.startsWith('PUT'))).toEqual([]);
    fresh.ms = 1_000;
    expect((await desk.resume()).outcomes).toEqual(['2 updated', '3 updated']);
  });
});

describe('a PUT whose effect is open is sent again', () => {
  it('from the record as it was seen last: a change of another field in between survives (31)', async () => {
    const { result, seen } = await heldRun(
      () => desk.sandbox.edit('asset', 2, { room: 'R2' }),
      ['PUT /asset/2 nth=1 close_before'],
    );
    expect(result.outcomes).toEqual(['2 updated', '3 updated']);
    expect(seen.filter((one) => one.startsWith('PUT'))).toHaveLength(2);
    expect(storedOne(desk.sandbox, 'asset', 2)).toMatchObject({ city: 'Bonn', room: 'R2' });
  });

  it('unless somebody changed what the row sets while it waited: conflict, and it is said that one was sent', async () => {
    const faults = ['PUT /asset/2 nth=1 close_before', 'PUT /asset/2 nth=2 status=429 retry_after=2'];
    const { result, seen } = await heldRun(() => desk.sandbox.edit('asset', 2, { city: 'Trier' }), faults, 2);
    expect(result.outcomes).toEqual(['2 updated', '3 conflict']);
    expect(seen.filter((one) => one.startsWith('PUT'))).toHaveLength(2);
    expect(storedOne(desk.sandbox, 'asset', 2)).toMatchObject({ city: 'Trier' });
    expect(result.faults[0]!['message']).toContain('its effect was open');
  });
});
