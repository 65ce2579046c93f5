import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect } from 'vitest';
import { type Bench, openBench, others, place, RESUME } from '../crash/bench.js';
import { expectTruth } from '../support/truth.js';
import { itMoves, openWallClock, type WallClock } from './wall-clock.js';

const [HOUR, DAY] = [3_600, 86_400];
const ASSETS = `resource: asset
match: { key: serial_number, unique_field: serial_number }
columns: { Name: name, Serial: serial_number, Cost: original_cost, Category: category.name }
`;
const UNGUARDED = ASSETS.replace(', unique_field: serial_number', '');
const lines = (rows: number, cost = '10.50') => [
  'Name,Serial,Cost,Category',
  ...Array.from({ length: rows }, (_, i) => `Asset ${i},SN-${i},${cost},Laptop`),
];

let bench: Bench;
let clock: WallClock;
afterEach(async () => {
  await bench?.close();
  await clock?.close();
});

describe('the time of day jumps while rows are written', { timeout: 180_000 }, () => {
  itMoves(
    'forward, back and a day ahead: every row once, and no wait for the time that went missing (42)',
    async () => {
      clock = await openWallClock();
      let writes = 0;
      const jumps = new Map([
        [20, HOUR],
        [60, -HOUR],
        [110, DAY],
        [140, 0],
      ]);
      bench = await openBench(
        {
          latencyMs: 5,
          onRequest({ method }) {
            const to = method === 'GET' ? undefined : jumps.get(++writes);
            if (to !== undefined) clock.jump(to);
          },
        },
        { ...clock.env },
      );
      expect(await bench.run(await place(bench, 'a', ASSETS, lines(100)))).toBe(0);
      const created = await bench.told();
      expect(others(created, 'created')).toEqual([]);
      expectTruth(created, bench.sandbox, 'asset', 'serial_number', 100);
      // And the updates of the same records, which are read again where their reading is old.
      expect(await bench.run(await place(bench, 'b', ASSETS, lines(60, '11.00')))).toBe(0);
      expect(bench.sandbox.commits.map(({ method }) => method)).toEqual([
        ...Array.from({ length: 100 }, () => 'POST'),
        ...Array.from({ length: 60 }, () => 'PUT'),
      ]);
      expect(bench.sandbox.records('asset').filter((one) => one['original_cost'] === '11.00')).toHaveLength(60);
    },
  );

  itMoves('runs begun before and after it is put back have ids of their own (42)', async () => {
    clock = await openWallClock();
    bench = await openBench({}, { ...clock.env });
    for (const [i, to] of [0, -HOUR, -HOUR, DAY].entries()) {
      clock.jump(to);
      expect(await bench.run(await place(bench, `f${i}`, ASSETS, lines(3, `${i + 1}.00`)))).toBe(0);
    }
    expect(readdirSync(join(bench.dir, 'home', 'runs'))).toHaveLength(4);
    expect(bench.sandbox.commits).toHaveLength(12);
  });
});

describe('the time of day jumps while the effect of a request is open', { timeout: 180_000 }, () => {
  itMoves.each([
    ['a day ahead', DAY],
    ['an hour back', -HOUR],
  ])('%s inside the settle window: it is as long as ever, and a late commit is found (4, 42)', async (_, to) => {
    clock = await openWallClock();
    // The answer does not come; the record does, 1.5 s after the request was given up.
    bench = await openBench(
      {
        faults: ['POST /asset nth=1 late_commit=2500'],
        onRequest({ method, path }) {
          if (method === 'GET' && path.includes('/asset') && posted) clock.jump(to);
          if (method === 'POST') posted = true;
        },
      },
      { ...clock.env, ROWFERRY_TIMEOUT: '1', ROWFERRY_SETTLE_WINDOW: '0.2,1,3' },
    );
    let posted = false;
    const began = performance.now();
    expect(await bench.run(await place(bench, 'a', ASSETS, lines(1)))).toBe(0);
    expect(performance.now() - began).toBeLessThan(100_000);
    expect(others(await bench.told(), 'created')).toEqual([]);
    expect(bench.sandbox.commits).toHaveLength(1);
  });

  itMoves.each([
    ['a day ahead', DAY],
    ['an hour back', -HOUR],
  ])('%s between a kill and the resume: nothing is sent twice, and the wait is bounded (42)', async (_, to) => {
    clock = await openWallClock();
    bench = await openBench({ latencyMs: 20 }, { ...clock.env, ROWFERRY_SETTLE_WINDOW: '0.2,1,3' });
    const argv = await place(bench, 'a', UNGUARDED, lines(200));
    bench.killAt('POST', 90);
    expect(await bench.run(argv)).toBe('SIGKILL');
    clock.jump(to);
    const began = performance.now();
    expect([0, 3]).toContain(await bench.run(RESUME));
    expect(performance.now() - began).toBeLessThan(100_000);
    const told = await bench.told();
    expect(told.results.filter(({ outcome }) => outcome !== 'created' && outcome !== 'unknown')).toEqual([]);
    const serials = bench.sandbox.records('asset').map((one) => String(one['serial_number']));
    expect(new Set(serials).size).toBe(serials.length);
    expect(bench.sandbox.commits.length).toBe(serials.length);
    const missing = told.results.filter(({ key = '' }) => !serials.includes(key));
    expect(missing.filter(({ outcome }) => outcome !== 'unknown')).toEqual([]);
  });

  itMoves('a Retry-After date that the jump has carried away: nobody waits for a day (7, 9, 42)', async () => {
    clock = await openWallClock();
    bench = await openBench({ faults: ['POST /asset nth=2 status=429 retry_after_date=1'] }, { ...clock.env });
    clock.jump(-DAY);
    const began = performance.now();
    expect(await bench.run(await place(bench, 'a', ASSETS, lines(5)))).toBe(0);
    expect(performance.now() - began).toBeLessThan(100_000);
    expect(bench.sandbox.commits).toHaveLength(5);
  });
});
