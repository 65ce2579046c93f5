import { describe, expect, it } from 'vitest';
import { csv, type Desk, openDesk } from '../support/desk.js';
import { importOf } from '../support/jobs.js';

let desk: Desk;

const JOB = importOf('asset', 'serial_number', { Name: 'name', Serial: 'serial_number' });
const sheet = (rows: number) =>
  csv([['Name', 'Serial'], ...Array.from({ length: rows }, (_, i) => [`n${i}`, `TW-${i}`])]);

describe('two imports at the same time on one home', () => {
  it('create every record once: the second waits, says so, and finds them', async () => {
    desk = await openDesk({ latencyMs: 5 });
    const file = await desk.file('two.csv', sheet(300));
    const runs = await Promise.all([desk.import(file, JOB), desk.import(file, JOB), desk.import(file, JOB)]);
    expect(desk.sandbox.records('asset')).toHaveLength(300);
    expect(runs.map(({ summary }) => summary.rows.created).sort((a, b) => a - b)).toEqual([0, 0, 300]);
    expect(runs.map(({ summary }) => summary.rows.unchanged).sort((a, b) => a - b)).toEqual([0, 300, 300]);
    expect(
      runs.filter(({ notices }) => notices.some((text) => text.includes('Another run writes asset records'))),
    ).toHaveLength(2);
  });

  it('create every customer once, although customers cannot be looked up: the second knows what the first has created', async () => {
    desk = await openDesk({ latencyMs: 20 });
    const names = Array.from({ length: 40 }, (_, i) => [`Customer ${i}`]);
    const file = await desk.file('two.csv', [['Name'], ...names]);
    const job = { kind: 'import', resource: 'customer', match: { key: 'name' }, columns: { Name: 'name' } };
    const runs = await Promise.all([desk.import(file, job), desk.import(file, job)]);
    expect(runs.flatMap(({ notices }) => notices).filter((text) => text.includes('Another run'))).toHaveLength(1);
    const counts = runs.map(({ summary: { rows } }) => [rows.created, rows.unchanged]);
    expect(counts.sort()).toEqual([
      [0, 40],
      [40, 0],
    ]);
    expect(desk.sandbox.requests.writes).toBe(40);
  });

  it('do not wait for one another in a rehearsal', async () => {
    desk = await openDesk();
    const file = await desk.file('two.csv', sheet(20));
    const runs = await Promise.all([
      desk.import(file, JOB, { dryRun: true }),
      desk.import(file, JOB, { dryRun: true }),
    ]);
    expect(runs.flatMap(({ notices }) => notices).filter((text) => text.includes('Another run'))).toEqual([]);
    expect(runs.map(({ summary }) => summary.rows.created)).toEqual([20, 20]);
  });
});

describe('the requests of a run that was continued', () => {
  it('are those of all its processes', async () => {
    const stop = new AbortController();
    desk = await openDesk({
      onRequest: ({ method }) => {
        if (method === 'POST' && desk.sandbox.commits.length === 30) stop.abort('SIGINT');
      },
    });
    const first = await desk.import(await desk.file('a.csv', sheet(100)), JOB, {
      signal: stop.signal,
      env: { ROWFERRY_CONCURRENCY: '2' },
    });
    expect(first.summary.status).toBe('interrupted');
    const whole = await desk.resume();
    expect(whole.summary.rows.created).toBe(100);
    expect(whole.summary.requests.writes).toBe(100);
    expect(whole.summary.requests.total).toBe(whole.summary.requests.reads + whole.summary.requests.writes);
    expect(whole.summary.requests.reads).toBeGreaterThan(first.summary.requests.reads);
  });

  it('and a finished run that is continued writes its reports again without a single request', async () => {
    desk = await openDesk();
    const first = await desk.import(await desk.file('a.csv', sheet(10)), JOB);
    desk.sandbox.resetRequests();
    const again = await desk.resume();
    expect(desk.sandbox.requests.total).toBe(0);
    expect(again.results).toEqual(first.results);
    const { finished_at: _, seconds: __, ...facts } = again.summary;
    expect(first.summary).toMatchObject(facts);
  });
});
