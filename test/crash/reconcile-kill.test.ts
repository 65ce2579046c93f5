import { existsSync, readdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { csvText } from '../e2e/reconcile-night.js';
import { table } from '../support/desk.js';
import { seeded } from '../support/seeded.js';
import { type Bench, openBench, RESUME } from './bench.js';

/**
 * A reconciliation that is killed without a word at any moment, and resumed: what it leaves is what an undisturbed one leaves.
 * `TEST_KILLS=60` runs as many more kills at random moments; `TEST_SEED` repeats them.
 */

const COUNT = 480;
const UPDATED = 120;
const CREATED = 60;
const ORPHANS = 40;
/** Of the reading alone: pages of the list, once. */
const PAGES = (COUNT + ORPHANS) / 25;

const JOB = {
  kind: 'reconcile',
  resource: 'asset',
  match: { key: 'serial_number', unique_field: 'serial_number' },
  columns: { Serial: 'serial_number', Name: 'name', Cost: 'original_cost', Notes: 'asset_notes', Mac: 'mac_address' },
  compare: { authority: { asset_notes: 'service' } },
  orphans: { action: { set: { lifecycle_stage: 'Retired' } }, after: 1 },
  brakes: { max_updates: '100%', max_orphans: '100%' },
};

const serial = (i: number) => `SN-${1000 + i}`;
const body = (i: number) => ({
  serial_number: serial(i),
  name: `Asset ${i}`,
  original_cost: 5,
  asset_notes: `note ${i}`,
  city: 'Bern',
  category: { id: 1, subcategory: 'Rugged' },
});
const rows = () =>
  [...Array(COUNT + CREATED).keys()].map((i) => [
    serial(i),
    `Asset ${i}`,
    // Spread over the whole file, not one after another.
    i % 6 === 0 && i / 6 < UPDATED ? '7.50' : '5.00',
    i % 50 === 1 ? 'the ERP says' : `note ${i}`,
    i < COUNT ? '' : `aa:${i}`,
  ]);
const updatedRows = rows().filter((cells, i) => cells[2] === '7.50' && i < COUNT).length;

let bench: Bench;
afterEach(() => bench.close());

async function begin(): Promise<string[]> {
  bench = await openBench();
  bench.sandbox.insert('asset', [...Array(COUNT).keys()].map(body));
  bench.sandbox.insert(
    'asset',
    [...Array(ORPHANS).keys()].map((i) => body(10_000 + i)),
  );
  await writeFile(join(bench.dir, 'erp.csv'), csvText([['Serial', 'Name', 'Cost', 'Notes', 'Mac'], ...rows()]));
  await writeFile(join(bench.dir, 'erp.yaml'), stringify(JOB));
  return ['reconcile', 'erp.csv', '--job', 'erp.yaml', '--json', '--apply'];
}

interface Left {
  /** Stored records by serial number; ids of new ones depend on the order of the writes. */
  readonly world: readonly string[];
  /** `METHOD serial` of every write that took effect. */
  readonly commits: readonly string[];
  readonly results: readonly string[];
  readonly orphans: readonly string[];
  readonly rows: Readonly<Record<string, number>>;
}

async function left(): Promise<Left> {
  const raw = bench.sandbox.raw('asset');
  const serials = new Map(raw.map((one) => [one['id'], one['serial_number'] as string]));
  const told = await bench.told();
  const orphans = await table(join(bench.runDir(), 'orphans.csv'));
  return {
    world: raw
      .map(({ id, ...rest }) => JSON.stringify({ ...rest, id: Number(id) > COUNT + ORPHANS ? 'new' : id }))
      .sort(),
    commits: bench.sandbox.commits.map((one) => `${one.method} ${serials.get(one.id)}`).sort(),
    results: told.results.map((line) => `${line['row']} ${line['outcome']} ${line['key']} ${line['changed_fields']}`),
    orphans: orphans.map((line) => `${line['id']} ${line['state']} ${line['outcome']}`),
    rows: told.summary.rows,
  };
}

let undisturbed: Left;
let requests: { reads: number; writes: number };
beforeAll(async () => {
  const argv = await begin();
  expect((await bench.inside(argv)).code).toBe(0);
  undisturbed = await left();
  const { reads, writes } = bench.sandbox.requests;
  requests = { reads, writes };
  await bench.close();
});

/** Resumes until the run is through; more often than it is killed is no use. */
async function finish(): Promise<void> {
  expect((await bench.inside(RESUME)).code).toBe(0);
}

/** Kills the process at work as soon as the run's folder holds such a file. */
async function killAtFile(argv: readonly string[], name: RegExp): Promise<void> {
  const { child, ended } = await bench.start(argv);
  let over = false;
  void ended.then(() => {
    over = true;
  });
  const there = () =>
    existsSync(bench.dir) &&
    readdirSync(bench.dir, { recursive: true, encoding: 'utf8' }).some((path) => name.test(path));
  while (!over && !there()) await setTimeout(1);
  child.kill('SIGKILL');
  await ended;
}

async function expectUndisturbed(): Promise<void> {
  const now = await left();
  expect(now.commits).toEqual(undisturbed.commits);
  expect(now.world).toEqual(undisturbed.world);
  expect(now.results).toEqual(undisturbed.results);
  expect(now.orphans).toEqual(undisturbed.orphans);
  expect(now.rows).toEqual(undisturbed.rows);
}

describe('a reconciliation that is killed and resumed does what an undisturbed one does', () => {
  it('undisturbed, it does what the file says', () => {
    expect(undisturbed.rows).toMatchObject({
      total: COUNT + CREATED,
      updated: updatedRows,
      created: CREATED,
      unchanged: COUNT - updatedRows,
    });
    expect(undisturbed.orphans).toEqual([...Array(ORPHANS).keys()].map((i) => `${COUNT + 1 + i} act updated`));
    expect(undisturbed.commits).toHaveLength(updatedRows + CREATED + ORPHANS);
    expect(new Set(undisturbed.commits).size).toBe(undisturbed.commits.length);
  });

  it('killed while it reads the list, and again in the resume', async () => {
    const argv = await begin();
    bench.killAt('GET', Math.floor(PAGES / 2));
    expect(await bench.run(argv)).toBe('SIGKILL');
    bench.killAt('GET', 4);
    expect(await bench.run(RESUME)).toBe('SIGKILL');
    expect(bench.sandbox.requests.writes).toBe(0);
    await finish();
    await expectUndisturbed();
  });

  it('killed as its plan is being written, and as it stands', async () => {
    const argv = await begin();
    await killAtFile(argv, /work.plan\.ndjson\.tmp$/);
    await killAtFile(RESUME, /work.plan\.ndjson$/);
    await finish();
    await expectUndisturbed();
  });

  it('killed at the first update, in the middle of them, and at the last', async () => {
    const argv = await begin();
    for (const [at, nth] of [1, 40, updatedRows - 60].entries()) {
      bench.killAt('PUT', nth);
      expect(await bench.run(at === 0 ? argv : RESUME)).toBe('SIGKILL');
    }
    await finish();
    await expectUndisturbed();
  });

  it('killed at the first new record, and among them', async () => {
    const argv = await begin();
    bench.killAt('POST', 1);
    expect(await bench.run(argv)).toBe('SIGKILL');
    bench.killAt('POST', 20);
    expect(await bench.run(RESUME)).toBe('SIGKILL');
    await finish();
    await expectUndisturbed();
  });

  it('killed among the orphans, twice', async () => {
    const argv = await begin();
    bench.killAt('PUT', updatedRows + 1);
    expect(await bench.run(argv)).toBe('SIGKILL');
    expect(bench.sandbox.commits.filter((one) => one.method === 'POST')).toHaveLength(CREATED);
    bench.killAt('PUT', 15);
    expect(await bench.run(RESUME)).toBe('SIGKILL');
    await finish();
    await expectUndisturbed();
  });

  it('killed while it writes its reports', async () => {
    const argv = await begin();
    await killAtFile(argv, /differences\.csv(\..*)?$/);
    await bench.inside(RESUME);
    await expectUndisturbed();
  });

  it('the night after a killed one has nothing to do', async () => {
    const argv = await begin();
    bench.killAt('PUT', 50);
    expect(await bench.run(argv)).toBe('SIGKILL');
    await finish();
    const sent = bench.sandbox.requests.writes;
    await writeFile(
      join(bench.dir, 'erp.csv'),
      csvText([['Serial', 'Name', 'Cost', 'Notes', 'Mac'], ...rows().reverse()]),
    );
    expect((await bench.inside(argv)).code).toBe(0);
    expect(bench.sandbox.requests.writes).toBe(sent);
    expect((await bench.told()).summary.rows).toMatchObject({ unchanged: COUNT + CREATED });
  });

  const kills = Number(process.env['TEST_KILLS'] ?? 2);
  const seed = Number(process.env['TEST_SEED']);
  it.each([...Array(kills).keys()].map((n) => seed + n))('killed at random moments, seed %i', async (from) => {
    const random = seeded(from);
    const argv = await begin();
    const times = 1 + Math.floor(random() * 4);
    for (let n = 0; n < times; n++) {
      const kind = random() < 0.4 ? 'GET' : random() < 0.7 ? 'PUT' : 'POST';
      const most = kind === 'GET' ? requests.reads : kind === 'PUT' ? updatedRows + ORPHANS : CREATED;
      bench.killAt(kind, 1 + Math.floor(random() * most));
      if ((await bench.run(n === 0 ? argv : RESUME)) === 0) break;
    }
    await bench.inside(RESUME);
    await expectUndisturbed();
  });
});
