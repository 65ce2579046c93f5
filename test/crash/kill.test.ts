import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { FULL } from '../support/full.js';
import { expectTruth } from '../support/truth.js';
import { type Bench, openBench, others, place, RESUME } from './bench.js';

const ROWS = FULL ? 2_000 : 300;
/** The request at that share of the rows. */
const at = (share: number) => Math.ceil(share * ROWS);
const numbers = (count = ROWS) => Array.from({ length: count }, (_, i) => i);

const ASSETS = `resource: asset
match: { key: serial_number, unique_field: serial_number }
columns: { Name: name, Serial: serial_number, Cost: original_cost, Mac: mac_address, Category: category.name }
`;
const assets = (bench: Bench, count = ROWS, cost = '10.50') =>
  place(bench, 'assets', ASSETS, [
    'Name,Serial,Cost,Mac,Category',
    ...numbers(count).map((i) => `Asset ${i},SN-${i},${cost},aa:${i},Laptop`),
  ]);

let bench: Bench;
afterEach(() => bench.close());

/** Resumes until the run is through. */
async function finish(): Promise<void> {
  expect((await bench.inside(RESUME)).code).toBe(0);
}

describe('a run that is killed without a word is resumed: one outcome a row, no record twice, none lost', {
  timeout: 240_000,
}, () => {
  it('new assets: killed at the first request, in the resume, and again in its look-ups', async () => {
    bench = await openBench();
    const argv = await assets(bench);
    bench.killAt('POST', 1);
    expect(await bench.run(argv)).toBe('SIGKILL');
    bench.killAt('POST', at(0.55));
    expect(await bench.run(RESUME)).toBe('SIGKILL');
    // Among the look-ups of the resume, before anything is sent.
    const sent = bench.sandbox.requests.writes;
    bench.killAt('GET', 10);
    expect(await bench.run(RESUME)).toBe('SIGKILL');
    expect(bench.sandbox.requests.writes).toBe(sent);
    await finish();
    const told = await bench.told();
    expect(others(told, 'created')).toEqual([]);
    expectTruth(told, bench.sandbox, 'asset', 'serial_number', ROWS);
    expect(bench.sandbox.commits).toHaveLength(ROWS);
    // What reads do not show is remembered, although processes died over it.
    const later = await place(
      bench,
      'later',
      'resource: asset\nmatch: { key: serial_number }\ncolumns: { Serial: serial_number, Cost: original_cost }\n',
      ['Serial,Cost', ...numbers(ROWS / 10).map((i) => `SN-${i * 10},11.00`)],
    );
    expect((await bench.inside(later)).code).toBe(0);
    expect(bench.sandbox.commits).toHaveLength(ROWS + ROWS / 10);
    expect(bench.sandbox.raw('asset').filter((one) => one['mac_address'] === undefined)).toEqual([]);
  });

  it('records of open rows are known from the list that was read anyway', async () => {
    let single = 0;
    bench = await openBench({
      onRequest({ method, path }) {
        if (method === 'GET' && /^\/asset\/\d+/.test(path)) single++;
      },
    });
    const argv = await place(
      bench,
      'plain',
      'resource: asset\nmatch: { key: serial_number, unique_field: serial_number }\ncolumns: { Name: name, Serial: serial_number }\n',
      ['Name,Serial', ...numbers(600).map((i) => `Asset ${i},SN-${i}`)],
    );
    bench.killAt('POST', 400);
    expect(await bench.run(argv)).toBe('SIGKILL');
    await finish();
    const told = await bench.told();
    expect(others(told, 'created')).toEqual([]);
    expectTruth(told, bench.sandbox, 'asset', 'serial_number', 600);
    expect(bench.sandbox.commits).toHaveLength(600);
    expect(single).toBe(0);
  });

  it('updates: killed at the first, and in the resume; before.ndjson is what it was', async () => {
    bench = await openBench();
    const bodies = numbers().map((i) => ({
      name: `Asset ${i}`,
      serial_number: `SN-${i}`,
      original_cost: 5,
      category: { id: 1 },
      asset_notes: `note ${i}`,
    }));
    bench.sandbox.insert('asset', bodies);
    const argv = await place(
      bench,
      'costs',
      'resource: asset\nmatch: { key: serial_number }\ncolumns: { Serial: serial_number, Cost: original_cost }\n',
      ['Serial,Cost', ...numbers().map((i) => `SN-${i},11.00`)],
    );
    for (const nth of [1, at(0.35)]) {
      bench.killAt('PUT', nth);
      expect(await bench.run(nth === 1 ? argv : RESUME)).toBe('SIGKILL');
    }
    await finish();
    const told = await bench.told();
    expect(others(told, 'updated')).toEqual([]);
    expect(told.results.filter((line) => line['changed_fields'] !== 'original_cost')).toEqual([]);
    expectTruth(told, bench.sandbox, 'asset', 'serial_number', ROWS);
    for (const [i, record] of bench.sandbox.records('asset').entries())
      expect(record).toMatchObject({ original_cost: '11.00', asset_notes: `note ${i}`, category: { id: 1 } });
    const before = (await readFile(join(bench.runDir(), 'before.ndjson'), 'utf8')).trim().split('\n');
    expect(before).toHaveLength(ROWS);
    for (const line of before) expect(JSON.parse(line)).toMatchObject({ record: { original_cost: 5 } });
  });

  it('rows that are appended, without a key: what was open is unknown, and nothing comes twice', async () => {
    bench = await openBench();
    const job = 'resource: asset\nmatch: { key: none }\ncolumns: { Name: name, Category: category.name }\n';
    const argv = await place(bench, 'appended', job, [
      'Name,Category',
      ...numbers(200).map((i) => `Asset ${i},Laptop`),
    ]);
    bench.killAt('POST', 90);
    expect(await bench.run(argv)).toBe('SIGKILL');
    bench.killAt('POST', 40);
    expect(await bench.run(RESUME)).toBe('SIGKILL');
    const { code } = await bench.inside(RESUME);
    const told = await bench.told();
    const unknown = others(told, 'created');
    expect(unknown.filter((line) => !/^\d+ unknown /.test(line))).toEqual([]);
    expect(unknown.length).toBeLessThanOrEqual(2 * 16);
    expect([code, told.results.length]).toEqual([unknown.length > 0 ? 3 : 0, 200]);
    const there = bench.sandbox.records('asset').map((one) => String(one['name']));
    expect(new Set(there).size).toBe(there.length);
    // Rows that are told as created are there; of the others each may be.
    expect(there.length).toBeGreaterThanOrEqual(200 - unknown.length);
    expect((await bench.inside(argv)).code).toBe(2);
    expect(bench.sandbox.records('asset')).toHaveLength(there.length);
  });

  it('suppliers, whose list has no filter', async () => {
    bench = await openBench();
    const argv = await place(
      bench,
      'suppliers',
      'resource: supplier\nmatch: { key: name }\ncolumns: { Name: name, City: city }\n',
      ['Name,City', ...numbers().map((i) => `Supplier ${i},Bern`)],
    );
    bench.killAt('POST', at(0.2 + Math.random() / 2));
    expect(await bench.run(argv)).toBe('SIGKILL');
    bench.killAt('POST', 2);
    expect(await bench.run(RESUME)).toBe('SIGKILL');
    await finish();
    const told = await bench.told();
    expect(others(told, 'created')).toEqual([]);
    expectTruth(told, bench.sandbox, 'supplier', 'name', ROWS);
    expect(bench.sandbox.commits).toHaveLength(ROWS);
  });

  it('contracts whose parents stand in the same file, killed in each generation', async () => {
    bench = await openBench();
    bench.sandbox.insert('supplier', [{ name: 'Globex' }]);
    const parentOf = (i: number) => (i % 4 === 0 ? '' : `C-${i % 4 === 3 ? i - 1 : i - (i % 4)}`);
    const argv = await place(
      bench,
      'contracts',
      `resource: contract
match: { key: number }
columns: { No: number, Title: name, Parent: parent_contract, Vendor: supplier, Start: contract_start_date, End: contract_end_date, Total: total_contract_spend_value }
constants: { contract_type: buy_side, status: active, country: US }
`,
      [
        'No,Title,Parent,Vendor,Start,End,Total',
        ...numbers().map((i) => `C-${i},Contract ${i},${parentOf(i)},Globex,2025-01-01,2026-12-31,100.00`),
      ],
    );
    for (const share of [0.1, 0.45]) {
      bench.killAt('POST', at(share));
      expect(await bench.run(share === 0.1 ? argv : RESUME)).toBe('SIGKILL');
    }
    await finish();
    const told = await bench.told();
    expect(others(told, 'created')).toEqual([]);
    expectTruth(told, bench.sandbox, 'contract', 'number', ROWS);
    expect(bench.sandbox.commits).toHaveLength(ROWS);
    for (const record of bench.sandbox.records('contract')) {
      const i = Number(String(record['number']).slice(2));
      expect((record['parent_contract'] as { number?: string } | null)?.number ?? '').toBe(parentOf(i));
    }
  });

  it('customers, which cannot be looked up: what was in flight is unknown, and never sent again', async () => {
    bench = await openBench();
    const argv = await place(
      bench,
      'customers',
      'resource: customer\nmatch: { key: name }\ncolumns: { Name: name, City: city }\n',
      ['Name,City', ...numbers(300).map((i) => `Customer ${i},Bern`)],
    );
    bench.killAt('POST', 125);
    expect(await bench.run(argv)).toBe('SIGKILL');
    expect((await bench.inside(RESUME)).code).toBe(3);
    const told = await bench.told();
    expectTruth(told, bench.sandbox, 'customer', 'name', 300);
    const unknown = others(told, 'created');
    expect(unknown.every((line) => line.includes(' unknown '))).toBe(true);
    // Two parts of 16 may have been under way.
    expect(unknown.length).toBeGreaterThan(0);
    expect(unknown.length).toBeLessThanOrEqual(32);
    const sent = bench.sandbox.requests.writes;
    expect((await bench.inside(RESUME)).code).toBe(3);
    expect(bench.sandbox.requests.writes).toBe(sent);
    // The next import finds the others again, and asks for nothing twice.
    expect((await bench.inside(argv)).code).toBe(3);
    const again = await bench.told();
    expect(again.summary.rows['unchanged']).toBe(told.summary.rows['created']);
  });
});

it('a request of the killed process that takes effect after its death is waited for, and not sent again', {
  timeout: 240_000,
}, async () => {
  let [posts, release] = [0, (): void => undefined];
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  bench = await openBench(
    { onRequest: ({ method }) => (method === 'POST' && ++posts === 5 ? held : undefined) },
    { ROWFERRY_SETTLE_WINDOW: '0.1,6,6.5', ROWFERRY_LOG_LEVEL: 'info' },
  );
  const argv = await place(
    bench,
    'unguarded',
    'resource: asset\nmatch: { key: serial_number }\ncolumns: { Name: name, Serial: serial_number }\n',
    ['Name,Serial', ...numbers(60).map((i) => `Asset ${i},SN-${i}`)],
  );
  bench.killAt('POST', 50);
  expect(await bench.run(argv)).toBe('SIGKILL');
  const resumed = await bench.start(RESUME);
  await resumed.until((_, err) => err.includes('may still be under way'));
  release();
  expect(await resumed.ended).toBe(0);
  const told = await bench.told();
  expect(others(told, 'created')).toEqual([]);
  expectTruth(told, bench.sandbox, 'asset', 'serial_number', 60);
  expect(bench.sandbox.commits).toHaveLength(60);
});

describe('killed between its stages', { timeout: 240_000 }, () => {
  it.each([
    ['while rows are staged', /staged\.ndjson$/],
    ['while names are resolved', /resolved\.ndjson$/],
    ['while records are looked up', /snapshot\.ndjson$/],
    ['while the tables are written', /\.results\.csv\..*tmp$/],
    ['before the summary', /report\.html$/],
  ])('%s: resume completes', async (_, name) => {
    bench = await openBench();
    await bench.start(await assets(bench, 200));
    await bench.killWhenThere(name);
    await finish();
    const told = await bench.told();
    expect(others(told, 'created')).toEqual([]);
    expectTruth(told, bench.sandbox, 'asset', 'serial_number', 200);
    expect(bench.sandbox.commits).toHaveLength(200);
    const names = await readdir(bench.runDir(), { recursive: true });
    expect(names.filter((one) => one.includes('.tmp') || one.startsWith('lock'))).toEqual([]);
  });
});

describe('SIGTERM, and SIGKILL for one that does not end (40, 41)', { timeout: 240_000 }, () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('%s: exit code %i, the reports are there, and the message names the way on', async (signal, code) => {
    bench = await openBench({ latencyMs: 3 });
    const argv = await assets(bench, 300);
    bench.killAt('POST', 120, signal);
    const started = await bench.start(argv);
    expect(await started.ended).toBe(code);
    expect(started.err()).toMatch(/rowferry runs resume \d{8}T/);
    const told = await bench.told();
    expect(told.status).toBe('interrupted');
    expect(told.summary.rows['created']).toBe(bench.sandbox.commits.length);
    expectTruth(told, bench.sandbox, 'asset', 'serial_number', 300);
    await finish();
    expectTruth(await bench.told(), bench.sandbox, 'asset', 'serial_number', 300);
    expect(bench.sandbox.commits).toHaveLength(300);
  });

  it('and so are updates of customers', async () => {
    bench = await openBench();
    const importOf = (city: string) =>
      place(bench, 'customers', 'resource: customer\nmatch: { key: name }\ncolumns: { Name: name, City: city }\n', [
        'Name,City',
        ...numbers(60).map((i) => `Customer ${i},${city}`),
      ]);
    expect((await bench.inside(await importOf('Bern'))).code).toBe(0);
    bench.killAt('PUT', 25);
    expect(await bench.run(await importOf('Basel'))).toBe('SIGKILL');
    expect((await bench.inside(RESUME)).code).toBe(3);
    const unknown = others(await bench.told(), 'updated');
    expect(unknown.length).toBeGreaterThan(0);
    expect(unknown.every((line) => line.includes(' unknown '))).toBe(true);
    const updates = bench.sandbox.commits.filter((one) => one.method === 'PUT').map((one) => one.id);
    expect(updates).toHaveLength(new Set(updates).size);
  });

  it('SIGTERM while an answer is overdue, then SIGKILL: resume completes', async () => {
    bench = await openBench(
      { faults: ['POST /asset nth=50 timeout_after'] },
      {
        ROWFERRY_TIMEOUT: '60',
        ROWFERRY_LOG_LEVEL: 'warn',
      },
    );
    const argv = await assets(bench, 200);
    bench.killAt('POST', 50, 'SIGTERM');
    const started = await bench.start(argv);
    await started.until((_, err) => err.includes('SIGTERM'));
    started.child.kill('SIGKILL');
    expect(await started.ended).toBe('SIGKILL');
    await finish();
    const told = await bench.told();
    expect(others(told, 'created')).toEqual([]);
    expectTruth(told, bench.sandbox, 'asset', 'serial_number', 200);
    expect(bench.sandbox.commits).toHaveLength(200);
  });
});
