import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Desk, type Imported, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { stored } from '../support/records.js';

let desk: Desk;

const COLUMNS = { Name: 'name', Serial: 'serial_number', Cost: 'original_cost' };
const JOB = importOf('asset', 'serial_number', COLUMNS, {
  constants: { 'category.name': 'Server', 'category.subcategory': 'Rack' },
});
const FAST = { env: { ROWFERRY_TIMEOUT: '5', ROWFERRY_CONCURRENCY: '1' } };
const ROWS = 30;
const assets = (cost = '10.00', rows = ROWS) =>
  desk.file('a.csv', [
    Object.keys(COLUMNS),
    ...Array.from({ length: rows }, (_, at) => [`Box ${at}`, `S-${at}`, cost]),
  ]);
const of = ({ results }: Imported, ...kinds: string[]) =>
  results.filter(({ outcome = '' }) => kinds.includes(outcome)).map(({ row }) => row);
const costs = () => desk.sandbox.records('asset').map((record) => record['original_cost']);

const WIDE = { env: { ...FAST.env, ROWFERRY_CONCURRENCY: '4' } };

/**
 * From the third write on every connection is cut, and nothing can be looked up: the run stops, and what was under way is
 * open. `before`: what is done at the sandbox beforehand.
 */
async function deskWithUnknown(
  method: 'POST' | 'PUT',
  action: string,
  cost: string,
  { before = async () => {}, job = JOB }: { before?: () => Promise<void>; job?: object } = {},
) {
  let writes = 0;
  let armed = false;
  desk = await openDesk({
    onRequest(request) {
      if (!armed || request.method !== method || ++writes !== 3) return;
      desk.sandbox.setFaults([`${method} * ${action}`, 'GET * status=403']);
    },
  });
  await before();
  armed = true;
  const run = await desk.import(await assets(cost), job, WIDE);
  armed = false;
  desk.sandbox.setFaults([]);
  expect(run.summary.status).toBe('failed');
  expect(of(run, 'unknown').length).toBeGreaterThan(0);
  return run;
}

describe('rows that were left unknown', () => {
  it('and are in the service: found, told as created, nothing is sent', async () => {
    const run = await deskWithUnknown('POST', 'close_after', '10.00');
    const open = of(run, 'unknown');
    const undo = await desk.undo('last', { dryRun: true, retire: { lifecycle_stage: 'Retired' } });
    expect(of(undo, 'updated')).toEqual(of(run, 'created'));
    expect(undo.summary.warnings.join()).toContain('it is not known whether');
    const retry = await desk.retry(run.summary.run);
    expect([of(retry, 'created'), retry.results.length, retry.commits]).toEqual([open, open.length, 0]);
    expect(retry.results.every(({ id }) => id !== '')).toBe(true);
    expect(retry.summary).toMatchObject({ kind: 'import', of_run: run.summary.run, status: 'succeeded' });
    await expect(desk.retry('last')).rejects.toThrow('nothing to retry');
    // The first run is retried by its own logs, and what the retry found out does no harm there.
    expect((await desk.retry(run.summary.run)).commits).toBe(0);
    expect((await desk.import(await assets(), JOB)).summary.rows).toMatchObject({ total: ROWS, failed: 0, unknown: 0 });
    expect(costs()).toHaveLength(ROWS);
  });

  it('and are not in the service: sent once', async () => {
    const run = await deskWithUnknown('POST', 'close_before', '10.00');
    const open = of(run, 'unknown');
    const retry = await desk.retry('last');
    expect([of(retry, 'created'), retry.commits]).toEqual([open, open.length]);
    expect((await desk.import(await assets(), JOB)).summary.rows.unchanged).toBe(
      open.length + of(run, 'created').length,
    );
    expect(costs()).toHaveLength(ROWS);
  });

  it.each([
    ['carried out', 'close_after'],
    ['not carried out', 'close_before'],
  ])('updates, %s: each ends once, and the retry can be undone', async (_, action) => {
    let before = new Map<number, unknown>();
    const run = await deskWithUnknown('PUT', action, '11.00', {
      before: async () => {
        await desk.import(await assets(), JOB);
        before = stored(desk.sandbox, 'asset');
      },
    });
    const open = of(run, 'unknown');
    const retry = await desk.retry('last');
    expect(of(retry, 'updated')).toEqual(open);
    expect(retry.commits).toBe(action === 'close_after' ? 0 : open.length);
    const undo = await desk.undo('last');
    expect([of(undo, 'updated'), undo.commits]).toEqual([open, open.length]);
    const undone = await desk.undo(run.summary.run);
    expect(of(undone, 'updated')).toEqual(of(run, 'updated'));
    expect(of(undone, 'unchanged')).toEqual(open);
    expect(stored(desk.sandbox, 'asset')).toEqual(before);
  });

  it('a retry that was interrupted is resumed', async () => {
    const run = await deskWithUnknown('POST', 'close_after', '10.00');
    const stopped = await desk.retry('last', { signal: AbortSignal.abort('SIGINT') });
    expect([stopped.summary.status, stopped.summary.rows.total]).toEqual(['interrupted', of(run, 'unknown').length]);
    const resumed = await desk.resume();
    expect([of(resumed, 'created'), resumed.commits]).toEqual([of(run, 'unknown'), 0]);
  });

  it('customers, which cannot be looked up, stay unknown and are not sent again', async () => {
    desk = await openDesk({ faults: ['POST /customer nth=2 close_after', 'POST /customer nth=4 close_before'] });
    const columns = { Name: 'name', City: 'city' };
    const rows = Array.from({ length: 5 }, (_, at) => [`Party ${at}`, 'Bern']);
    const file = await desk.file('c.csv', [Object.keys(columns), ...rows]);
    const job = { kind: 'import', resource: 'customer', match: { key: 'name' }, columns };
    const run = await desk.import(file, job, FAST);
    const open = of(run, 'unknown');
    expect(open).toHaveLength(2);
    desk.sandbox.setFaults([]);
    await expect(desk.retry('last')).rejects.toThrow('unknown and cannot be looked up (2)');
    // Nor by the file of the rows that need a person, as long as nobody has looked.
    const again = await desk.import(join(run.reportDir, 'rejected.csv'), job, FAST);
    expect([of(again, 'unknown'), again.commits, again.exitCode]).toEqual([['2', '3'], 0, 3]);
  });

  it('beside rows that failed those that cannot be looked up stay unknown, as often as it is retried', async () => {
    desk = await openDesk({ faults: ['POST /customer nth=2 close_after', 'POST /customer from=3 status=429'] });
    const columns = { Name: 'name', City: 'city' };
    const rows = Array.from({ length: 3 }, (_, at) => [`Party ${at}`, 'Bern']);
    const file = await desk.file('c.csv', [Object.keys(columns), ...rows]);
    const job = { kind: 'import', resource: 'customer', match: { key: 'name' }, columns };
    const env = { ...FAST.env, ROWFERRY_PATIENCE: '0.05', ROWFERRY_CONCURRENCY: '1' };
    const run = await desk.import(file, job, { env });
    expect([of(run, 'unknown'), of(run, 'failed')]).toEqual([['3'], ['4']]);
    const still = await desk.retry('last', { env });
    expect([of(still, 'unknown'), of(still, 'failed'), still.commits]).toEqual([['3'], ['4'], 0]);
    desk.sandbox.setFaults([]);
    // A later run that has nothing to be retried is not the last one to retry.
    await desk.import(file, job, { ...FAST, dryRun: true });
    const retry = await desk.retry('last', FAST);
    expect([of(retry, 'unknown'), of(retry, 'created'), retry.commits]).toEqual([['3'], ['4'], 1]);
  });
});

describe('rows that failed', () => {
  it('are read as the whole file shows that it is to be read', async () => {
    desk = await openDesk();
    const clear = Array.from({ length: 6 }, (_, at) => `A;S-${at};1.000,50`);
    const lines = ['Name;Serial;Cost', ...clear, 'B;S-B;12,345', ''];
    const file = await desk.file('a.csv', lines.join('\n'));
    desk.sandbox.setFaults(['POST * from=7 status=503']);
    const run = await desk.import(file, JOB, { env: { ...FAST.env, ROWFERRY_PATIENCE: '0.05' } });
    desk.sandbox.setFaults([]);
    expect(of(run, 'failed', 'unknown')).toEqual(['8']);
    const retry = await desk.retry('last', FAST);
    expect(retry.summary.rows).toMatchObject({ created: 1, total: 1 });
    expect(desk.sandbox.records('asset').at(-1)).toMatchObject({ original_cost: '12.345' });
  });

  it('are sent, and no others', async () => {
    desk = await openDesk();
    await desk.import(await assets(), JOB);
    desk.sandbox.setFaults(['PUT * from=3 status=503']);
    const run = await desk.import(await assets('11.00'), JOB, { env: { ...FAST.env, ROWFERRY_PATIENCE: '0.05' } });
    desk.sandbox.setFaults([]);
    const left = of(run, 'failed', 'unknown');
    expect(left.length).toBeGreaterThan(0);
    const sent = desk.sandbox.commits.length;
    const retry = await desk.retry('last', FAST);
    expect(of(retry, 'updated')).toEqual(left);
    expect(desk.sandbox.commits.length - sent).toBeLessThanOrEqual(left.length);
    expect(retry.summary.source?.rows).toBe(left.length);
  });

  it('brakes for whole files do not stop the few rows of a retry', async () => {
    const brakes = { min_rows: ROWS, max_creates: '100%', max_change: '1%', max_rejected: 0 };
    const run = await deskWithUnknown('POST', 'close_before', '10.00', { job: { ...JOB, brakes } });
    const open = of(run, 'unknown').length;
    const retry = await desk.retry('last');
    expect(retry.summary.rows).toMatchObject({ created: open, total: open });
    // And they are no measure for the next file.
    expect((await desk.import(await assets(), { ...JOB, brakes })).summary.status).toBe('succeeded');
  });
});
