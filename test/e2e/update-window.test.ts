import { describe, expect, it } from 'vitest';
import type { ReceivedRequest } from '../../src/sandbox/server.js';
import { type Desk, type ImportOptions, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';
import { storedOne } from '../support/records.js';

/**
 * An edit that reaches the service after a record was read and before its PUT does is overwritten: there is no ETag. How
 * long that window is, measured at the service, with 16 requests in flight.
 */

const PAGE = 25;
const ROWS = 300;
const FRESH_MS = 60_000;

let desk: Desk;

const job = (more: object = {}) => importOf('asset', 'serial_number', { Serial: 'serial_number', City: 'city' }, more);

/** Windows in milliseconds, one for each PUT: from the answer that last showed the record to the PUT's arrival. */
async function windows(latencyMs: number, work: (file: string) => Promise<unknown>): Promise<number[]> {
  const shown = new Map<number, number>();
  const measured: number[] = [];
  const idOf = (path: string) => Number(/^\/asset\/(\d+)/.exec(path)?.[1]);
  desk = await openDesk({
    latencyMs,
    onRequest({ method, path }: ReceivedRequest) {
      if (method === 'PUT') measured.push(performance.now() - (shown.get(idOf(path)) ?? Number.NaN));
    },
    onAnswer({ method, path, query }: ReceivedRequest) {
      if (method !== 'GET' || !path.startsWith('/asset/')) return;
      const at = performance.now();
      const serial = query.get('serial_number');
      const page = Number(query.get('page') ?? 1);
      if (path !== '/asset/') shown.set(idOf(path), at);
      else if (serial !== null) shown.set(Number(serial.slice(2)), at);
      else for (let id = (page - 1) * PAGE + 1; id <= page * PAGE; id++) shown.set(id, at);
    },
  });
  desk.sandbox.insert(
    'asset',
    Array.from({ length: ROWS }, (_, at) => ({
      name: `Box ${at + 1}`,
      serial_number: `S-${at + 1}`,
      category: { id: 3 },
    })),
  );
  const rows = Array.from({ length: ROWS }, (_, at) => [`S-${at + 1}`, 'Bonn']);
  await work(await desk.file('a.csv', [['Serial', 'City'], ...rows]));
  return measured.sort((a, b) => a - b);
}

const at = (sorted: readonly number[], share: number) =>
  Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? 0);
const told = (sorted: readonly number[]) =>
  `median ${at(sorted, 0.5)} ms, 99 of 100 within ${at(sorted, 0.99)} ms, longest ${at(sorted, 1)} ms`;

describe('the window between the last reading of a record and its PUT', () => {
  const options: ImportOptions = { env: { ROWFERRY_CONCURRENCY: '16' } };

  it('in an import is never longer than a record may be old (33)', async ({ annotate }) => {
    const sorted = await windows(5, async (file) => {
      const result = await desk.import(file, job(), options);
      expect(result.summary.rows.updated).toBe(ROWS);
    });
    expect(sorted).toHaveLength(ROWS);
    expect(at(sorted, 1)).toBeLessThan(FRESH_MS);
    await annotate(`import of ${ROWS} rows: ${told(sorted)}`);
  });

  it('in a plan that a person approved neither (33)', async ({ annotate }) => {
    const sorted = await windows(5, async (file) => {
      const night = job({ kind: 'reconcile', brakes: { max_updates: '20%' } });
      const braked = await desk.reconcile(file, night, { apply: true, ...options });
      expect([braked.exitCode, braked.commits]).toEqual([4, 0]);
      const result = await desk.approve(braked.summary.run, 'Ada Park', options);
      expect(result.summary.rows.updated).toBe(ROWS);
    });
    expect(sorted).toHaveLength(ROWS);
    expect(at(sorted, 1)).toBeLessThan(FRESH_MS);
    await annotate(`approved plan of ${ROWS} rows: ${told(sorted)}`);
  });

  it('an edit within it is overwritten where it is in the field that the row sets or carries: what is stated (33)', async () => {
    desk = await openDesk({
      onRequest({ method, path }: ReceivedRequest) {
        if (method === 'PUT' && path === '/asset/1') desk.sandbox.edit('asset', 1, { room: 'by hand' });
      },
    });
    desk.sandbox.insert('asset', [{ name: 'Box', serial_number: 'S-1', category: { id: 3 }, room: 'R1' }]);
    const file = await desk.file('a.csv', 'Serial,City\r\nS-1,Bonn');
    const result = await desk.import(file, job());
    expect(result.outcomes).toEqual(['2 updated']);
    expect(storedOne(desk.sandbox, 'asset', 1)).toMatchObject({ city: 'Bonn', room: 'R1' });
  });
});
