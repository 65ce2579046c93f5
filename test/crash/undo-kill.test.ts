import { readFile } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { stored } from '../support/records.js';
import { type Bench, openBench, others, place, RESUME } from './bench.js';

const upTo = (rows: number) => Array.from({ length: rows }, (_, i) => i);
const JOB = `resource: asset
match: { key: serial_number }
columns: { Serial: serial_number, Name: name, Cost: original_cost, Tag: ssb_tag }
constants: { category.name: Server, category.subcategory: Rack }
retire: { lifecycle_stage: Retired }
`;
const UNDO = ['runs', 'undo', 'last', '--json'];

let bench: Bench;
afterEach(() => bench.close());

/** Half of the rows update records that are there, half of them create some. Answers what they were, and what they came to. */
async function imported(rows: number) {
  bench = await openBench();
  const bodies = upTo(rows / 2).map((i) => ({
    name: `Asset ${i}`,
    serial_number: `SN-${i}`,
    original_cost: 5,
    category: { id: 3, subcategory: 'Rack' },
    asset_notes: `note ${i}`,
  }));
  bench.sandbox.insert('asset', bodies);
  const before = stored(bench.sandbox, 'asset');
  const lines = ['Serial,Name,Cost,Tag', ...upTo(rows).map((i) => `SN-${i},Asset ${i},11.25,`)];
  expect((await bench.inside(await place(bench, 'assets', JOB, lines))).code).toBe(0);
  const wanted = stored(bench.sandbox, 'asset');
  for (const [id, record] of wanted) wanted.set(id, before.get(id) ?? { ...record, lifecycle_stage: 'Retired' });
  return wanted;
}

describe('an undo that is killed without a word is resumed, and sends nothing twice', () => {
  it('at its first PUT, in the middle, in the resume and among its look-ups', async () => {
    // Two parts.
    const ROWS = 700;
    const wanted = await imported(ROWS);
    const done = bench.sandbox.commits.length;
    bench.killAt('PUT', 1);
    expect(await bench.run(UNDO)).toBe('SIGKILL');
    bench.killAt('PUT', 300);
    expect(await bench.run(RESUME)).toBe('SIGKILL');
    bench.killAt('GET', 5);
    expect(await bench.run(RESUME)).toBe('SIGKILL');
    bench.killAt('PUT', 200);
    expect(await bench.run(RESUME)).toBe('SIGKILL');
    expect((await bench.inside(RESUME)).code).toBe(0);
    const told = await bench.told();
    expect(others(told, 'updated')).toEqual([]);
    expect(told.results.map((line) => line['row'])).toEqual(upTo(ROWS).map((i) => String(i + 2)));
    expect(stored(bench.sandbox, 'asset')).toEqual(wanted);
    const sent = bench.sandbox.commits.slice(done).map((one) => one.id);
    expect(sent).toHaveLength(ROWS);
    expect(new Set(sent).size).toBe(ROWS);
    const before = (await readFile(`${bench.runDir()}/before.ndjson`, 'utf8')).trim().split('\n');
    expect(before).toHaveLength(ROWS);
    // Its reports are written again, and nothing else happens.
    expect((await bench.inside(RESUME)).code).toBe(0);
    expect(bench.sandbox.commits).toHaveLength(done + ROWS);
  });

  it.each([
    ['while its records are listed', /staged\.ndjson/],
    ['while they are looked up', /snapshot\.ndjson$/],
    ['while its tables are written', /\.results\.csv\..*tmp$/],
  ])('%s', async (_, name) => {
    const wanted = await imported(100);
    const first = bench.runDir();
    await bench.start(UNDO);
    await bench.killWhenThere(name);
    // Killed before it had taken over what it is about, it left nothing to resume.
    if ((await bench.inside(RESUME)).code !== 0)
      expect((await bench.inside(['runs', 'undo', first.split('/').at(-1) ?? '', '--json'])).code).toBe(0);
    expect(stored(bench.sandbox, 'asset')).toEqual(wanted);
    expect(bench.sandbox.commits).toHaveLength(200);
  });
});

it('what was created for the rows is retired after them, once, wherever it is killed', {
  timeout: 90_000,
}, async () => {
  bench = await openBench();
  const job = `resource: asset
match: { key: serial_number }
columns: { Serial: serial_number, Name: name, Vendor: attached_supplier }
references: { missing: create, retire: { general_description: not needed } }
retire: { lifecycle_stage: Retired }
`;
  const lines = ['Serial,Name,Vendor', ...upTo(6).map((i) => `SN-${i},Asset ${i},Vendor ${i % 4}`)];
  expect(await bench.run(await place(bench, 'vendors', job, lines))).toBe(0);
  const done = bench.sandbox.commits.length;
  expect(done).toBe(10);
  for (const [nth, argv] of [
    [2, UNDO],
    [1, RESUME],
  ] as const) {
    bench.killAt('PUT', nth);
    expect(await bench.run(argv)).toBe('SIGKILL');
  }
  bench.killAt('GET', 2);
  expect(await bench.run(RESUME)).toBe('SIGKILL');
  expect(await bench.run(RESUME)).toBe(0);
  const sent = bench.sandbox.commits.slice(done).map(({ resource, id }) => `${resource} ${id}`);
  expect(sent.slice(0, 6).every((one) => one.startsWith('asset'))).toBe(true);
  expect([sent.length, new Set(sent).size]).toEqual([10, 10]);
  expect(bench.sandbox.records('supplier').map((one) => one['general_description'])).toEqual(
    upTo(4).map(() => 'not needed'),
  );
});
