import { afterEach, describe, expect, it } from 'vitest';
import type { Progress } from '../../src/runs/run/context.js';
import { csv, type Desk, openDesk } from '../support/desk.js';

const job = (more: object = {}) => ({
  kind: 'import',
  resource: 'asset',
  match: { key: 'serial_number' },
  columns: { Name: 'name', Serial: 'serial_number', Notes: 'asset_notes' },
  ...more,
});
const serial = (n: number) => `SN-${String(n).padStart(6, '0')}`;
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
const record = (n: number) => ({ name: `Asset ${n}`, serial_number: serial(n), category: { id: 1 } });
const sheet = (numbers: readonly number[], notes: (n: number) => string = () => '') =>
  csv([['Name', 'Serial', 'Notes'], ...numbers.map((n) => [`Asset ${n}`, serial(n), notes(n)])]);

let desk: Desk;
afterEach(() => desk.close());

const told = (notices: readonly string[]) => notices.filter((text) => text.includes('at the current pace'));

describe('a run tells what it is going to take', () => {
  it('before its first write, and holds to it', async () => {
    let firstWrite = false;
    const seen: Progress[] = [];
    desk = await openDesk({
      onRequest({ method }) {
        if (method === 'POST') firstWrite = true;
        return undefined;
      },
    });
    const file = await desk.file('new.csv', sheet(range(1, 300)));
    const run = await desk.import(file, job(), {
      onProgress: (progress) => seen.push(progress),
    });
    expect(firstWrite).toBe(true);
    expect(told(run.notices)).toEqual([
      expect.stringMatching(/^To be done: about 300 requests, .+ at the current pace\.$/),
    ]);
    const { estimate } = run.summary;
    expect(estimate).toMatchObject({ requests: 300 });
    expect(estimate?.at_most).toBeUndefined();
    // The ids behind empty answers are read from the end of the list, 25 in a request.
    expect(estimate?.came_to?.requests).toBeGreaterThanOrEqual(300);
    expect(estimate?.came_to?.requests).toBeLessThanOrEqual(300 * 1.05 + 2);
    const left = seen.flatMap(({ phase, requests }) => (phase === 'writing' && requests ? [requests.left] : []));
    expect(left.length).toBeGreaterThan(0);
    expect(left).toEqual([...left].sort((a, b) => b - a));
    expect(left.at(-1)).toBe(0);
    // How many rows there are is not known while they are read: nothing looks done that is not.
    expect(seen.filter(({ phase }) => phase === 'reading').map(({ total }) => total)).toEqual([undefined]);
    expect(seen.filter(({ phase }) => phase !== 'writing').every(({ requests }) => requests === undefined)).toBe(true);
  });

  it('as a bound where rows are planned while others are written', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', range(1, 1_000).map(record));
    const file = await desk.file(
      'same.csv',
      sheet(range(1, 1_000), (n) => (n % 100 === 0 ? 'new' : '')),
    );
    const run = await desk.import(file, job());
    expect(run.summary.rows).toMatchObject({ updated: 10, unchanged: 990 });
    expect(told(run.notices)).toEqual([
      expect.stringMatching(
        /^To be done: at most 1,001 requests, .+ at the current pace; how many of the records differ from their rows shows as they are compared\.$/,
      ),
    ]);
    expect(run.summary.estimate).toMatchObject({ requests: 1_001, at_most: true, came_to: { requests: 11 } });
  });

  it('exactly where a brake has the whole plan made first', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', range(1, 1_000).map(record));
    const file = await desk.file(
      'some.csv',
      sheet(range(1, 1_000), (n) => (n % 5 === 0 ? 'new' : '')),
    );
    const run = await desk.import(file, job({ brakes: { max_updates: '50%' } }));
    expect(told(run.notices)).toEqual([expect.stringMatching(/^To be done: about 201 requests, /)]);
    expect(run.summary.estimate).toMatchObject({ requests: 201, came_to: { requests: 201 } });
  });

  it('in a dry run for the real one as a whole', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', range(1, 1_000).map(record));
    const file = await desk.file(
      'some.csv',
      sheet(range(1, 1_000), (n) => (n % 5 === 0 ? 'new' : '')),
    );
    const rehearsal = await desk.import(file, job(), { dryRun: true });
    expect(told(rehearsal.notices)).toEqual([expect.stringMatching(/^The real run would take about 2\d\d requests, /)]);
    expect(rehearsal.summary.estimate?.came_to).toBeUndefined();
    const real = await desk.import(file, job());
    expect(real.summary.requests.total).toBe(rehearsal.summary.estimate?.requests);
  });

  it('with the writes of orphans in a reconciliation', async () => {
    desk = await openDesk();
    desk.sandbox.insert('asset', range(1, 1_000).map(record));
    const file = await desk.file(
      'erp.csv',
      sheet(range(1, 990), (n) => (n % 5 === 0 ? 'new' : '')),
    );
    const reconcile = {
      resource: 'asset',
      match: { key: 'serial_number' },
      columns: { Name: 'name', Serial: 'serial_number', Notes: 'asset_notes' },
      orphans: { action: 'set', set: { lifecycle_stage: 'Retired' }, after: 1 },
    };
    const looked = await desk.reconcile(file, reconcile);
    expect(told(looked.notices)).toEqual([expect.stringMatching(/^The real run would take about 2\d\d requests, /)]);
    const run = await desk.reconcile(file, reconcile, { apply: true });
    expect(run.summary.rows.updated).toBe(198);
    // The rows, the orphans, the first update read back.
    expect(run.summary.estimate?.requests).toBe(209);
    expect(told(run.notices)).toEqual([expect.stringMatching(/^To be done: about 209 requests, /)]);
    // What has changed since, and the orphans read once more.
    const came = run.summary.estimate?.came_to?.requests ?? 0;
    expect(came).toBeGreaterThanOrEqual(209);
    expect(came).toBeLessThanOrEqual(209 + 20);
  });

  it('in few words: nothing where it is over at once, nothing that was not planned', async () => {
    desk = await openDesk();
    const run = await desk.import(await desk.file('few.csv', sheet([1, 2, 3])), job());
    expect(told(run.notices)).toEqual([]);
    expect(run.summary.estimate).toMatchObject({ requests: 3 });
    const braked = await desk.import(
      await desk.file('braked.csv', sheet(range(1, 200))),
      job({ brakes: { max_creates: 5 } }),
    );
    expect(braked.summary.status).toBe('braked');
    expect(told(braked.notices)).toEqual([]);
    expect(braked.summary.estimate).toBeUndefined();
  });
});
