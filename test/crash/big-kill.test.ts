import { afterEach, expect, it } from 'vitest';
import { FULL } from '../support/full.js';
import { seeded } from '../support/seeded.js';
import { expectTruth } from '../support/truth.js';
import { type Bench, openBench, others, place, RESUME } from './bench.js';

const ROWS = FULL ? 5_000 : 2_000;

let bench: Bench;
afterEach(() => bench.close());

it('thousands of rows, new ones among records to update, killed at moments drawn by lot: one outcome a row, no record twice', async () => {
  const seed = Math.floor(Math.random() * 1_000_000);
  const draw = seeded(seed);
  bench = await openBench();
  const old = Array.from({ length: ROWS }, (_, i) => i).filter((i) => i % 5 === 0);
  bench.sandbox.insert(
    'asset',
    old.map((i) => ({ name: 'Old', serial_number: `SN-${i}`, category: { id: 1 }, asset_notes: `note ${i}` })),
  );
  const argv = await place(
    bench,
    'big',
    'resource: asset\nmatch: { key: serial_number, unique_field: serial_number }\ncolumns: { Name: name, Serial: serial_number }\n',
    ['Name,Serial', ...Array.from({ length: ROWS }, (_, i) => `Asset ${i},SN-${i}`)],
  );
  for (let time = 0; time < 2; time++) {
    bench.killAt(time === 1 ? 'PUT' : 'POST', 1 + Math.floor(draw() * (time === 1 ? 300 : 1_200)));
    expect(await bench.run(time === 0 ? argv : RESUME), `seed ${seed}`).toBe('SIGKILL');
  }
  expect((await bench.inside(RESUME)).code, `seed ${seed}`).toBe(0);
  const told = await bench.told();
  expect(told.summary.rows, `seed ${seed}`).toMatchObject({ created: ROWS * 0.8, updated: ROWS * 0.2, total: ROWS });
  expectTruth(told, bench.sandbox, 'asset', 'serial_number', ROWS);
  expect(bench.sandbox.commits.filter((one) => one.method === 'POST')).toHaveLength(ROWS * 0.8);
  const kept = bench.sandbox.records('asset').filter((record) => record['asset_notes']);
  expect(kept).toHaveLength(old.length);
  expect((await bench.inside(argv)).code).toBe(0);
  expect(others(await bench.told(), 'unchanged')).toEqual([]);
});
