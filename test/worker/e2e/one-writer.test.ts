import { afterEach, describe, expect, it } from 'vitest';
import { redisServer } from '../../support/binaries.js';
import { importOf } from '../../support/jobs.js';
import { sharedStores } from '../../support/servers.js';
import { expectTruth } from '../../support/truth.js';
import { until } from '../../support/until.js';
import { ASSETS, assetSheet, type Crew, openCrew } from '../../support/worker.js';
import { type Own, ownWorker, repeated } from './two-folders.js';

let crew: Crew;
afterEach(() => crew?.close());

const ROWS = 60;
const JOBS = {
  assets: ASSETS,
  suppliers: JSON.stringify(importOf('supplier', 'name', { Name: 'name', City: 'city' })),
  contracts: JSON.stringify({
    kind: 'import',
    resource: 'contract',
    match: { key: 'number' },
    columns: {
      No: 'number',
      Title: 'name',
      Vendor: 'supplier',
      Start: 'contract_start_date',
      End: 'contract_end_date',
      Total: 'total_contract_spend_value',
    },
    constants: { contract_type: 'buy_side', status: 'active', country: 'US' },
  }),
};

/** Sheets with the same records in another order, so that the files differ. */
const SHEETS: Readonly<Record<keyof typeof JOBS, readonly [heading: string, row: (i: number) => string]>> = {
  assets: ['Name,Serial', (i) => `n${i},S${i}`],
  suppliers: ['Name,City', (i) => `Supplier ${i},Bern`],
  contracts: ['No,Title,Vendor,Start,End,Total', (i) => `C-${i},Contract ${i},Globex,2025-01-01,2026-12-31,100.00`],
};

function sheet(job: keyof typeof JOBS, backwards: boolean): string {
  const [heading, row] = SHEETS[job];
  const rows = Array.from({ length: ROWS }, (_, i) => row(i));
  return [heading, ...(backwards ? rows.reverse() : rows)].join('\r\n');
}

// On Redis: the tests below.
const stores = (await sharedStores()).filter(({ name }) => name === 'postgres');
describe.each(stores)('two workers with different files of the same new keys, on $name', (kind) => {
  it('write one after the other: every key once, and what the first wrote is unchanged for the second (46)', async () => {
    crew = await openCrew({ server: await kind.start(), jobs: JOBS, sandbox: { latencyMs: 10 } });
    crew.sandbox.insert('supplier', [{ name: 'Globex' }]);
    const workers = await Promise.all([ownWorker(crew, 'one'), ownWorker(crew, 'two')]);
    const jobs = Object.keys(JOBS) as (keyof typeof JOBS)[];
    await Promise.all(
      jobs.flatMap((job) => workers.map((worker, i) => worker.drop(`${job}.csv`, sheet(job, i === 1), job))),
    );
    for (const [job, resource, field] of [
      ['assets', 'asset', 'serial_number'],
      ['suppliers', 'supplier', 'name'],
      ['contracts', 'contract', 'number'],
    ] as const) {
      const runs = await Promise.all(workers.map((worker) => worker.only(120_000, job)));
      const keys = crew.sandbox.records(resource).map((record) => record[field]);
      expect(repeated(keys)).toEqual([]);
      expect(keys.filter((key) => key !== 'Globex')).toHaveLength(ROWS);
      const rows = runs.map(({ summary }) => [summary.status, summary.rows['created'], summary.rows['unchanged']]);
      expect(rows.sort()).toEqual([
        ['succeeded', 0, ROWS],
        ['succeeded', ROWS, 0],
      ]);
    }
    expect(crew.sandbox.commits).toHaveLength(3 * ROWS);
  }, 200_000);
});

const redis = (await sharedStores()).filter(({ name }) => name === 'redis');

it('two workers with data folders of their own create what their rows name once, in turn with a file of suppliers', async () => {
  const [store] = redis;
  if (!store) throw new Error('no Redis');
  const creating = (job: string) => JSON.stringify({ ...JSON.parse(job), references: { missing: 'create' } });
  crew = await openCrew({
    server: await store.start(),
    jobs: { suppliers: JOBS.suppliers, contracts: creating(JOBS.contracts) },
    sandbox: { latencyMs: 10 },
  });
  const [one, two] = await Promise.all([ownWorker(crew, 'one'), ownWorker(crew, 'two')]);
  const contracts = (from: number) =>
    ['No,Title,Vendor,Start,End,Total']
      .concat(Array.from({ length: 30 }, (_, i) => `C-${from + i},C,Supplier ${i % 9},2025-01-01,2026-12-31,100.00`))
      .join('\r\n');
  const suppliers = ['Name,City', ...Array.from({ length: 12 }, (_, i) => `Supplier ${i},Bern`)].join('\r\n');
  await Promise.all([
    one.drop('contracts.csv', contracts(0), 'contracts'),
    two.drop('contracts.csv', contracts(100), 'contracts'),
    two.drop('suppliers.csv', suppliers, 'suppliers'),
  ]);
  const runs = await Promise.all([
    one.only(120_000, 'contracts'),
    two.only(120_000, 'contracts'),
    two.only(120_000, 'suppliers'),
  ]);
  expect(runs.map(({ summary }) => summary.status)).toEqual(['succeeded', 'succeeded', 'succeeded']);
  const names = crew.sandbox.records('supplier').map(({ name }) => name);
  expect([names.length, repeated(names)]).toEqual([12, []]);
  expect(crew.sandbox.records('contract')).toHaveLength(60);
}, 200_000);

/** A service that keeps the requests of the first worker, from its tenth on, until it is told to carry them out. */
function keeping(): { onRequest(seen: { method: string }): Promise<void> | undefined; kept(): number; go(): void } {
  let [posts, kept] = [0, 0];
  let go: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  return {
    onRequest({ method }) {
      if (method !== 'POST' || ++posts <= 10 || posts > 14) return undefined;
      kept++;
      return held;
    },
    kept: () => kept,
    go,
  };
}

async function workersOver(service: ReturnType<typeof keeping>): Promise<readonly [Own, Own]> {
  const [store] = redis;
  if (!store) throw new Error('no Redis');
  crew = await openCrew({
    server: await store.start(),
    sandbox: { onRequest: (seen) => service.onRequest(seen) },
    // After its lease, what a worker sent is given 2 + 3 s.
    env: {
      ROWFERRY_CONCURRENCY: '4',
      ROWFERRY_TIMEOUT: '2',
      ROWFERRY_SETTLE_WINDOW: '0.5,1.5,3',
      ROWFERRY_LEASE: '2',
    },
  });
  const [one, two] = [await ownWorker(crew, 'one'), await ownWorker(crew, 'two')];
  await one.drop('a.csv', assetSheet(ROWS));
  await until(() => service.kept() === 4, { what: 'requests under way' });
  return [one, two];
}

async function eachOnce(): Promise<void> {
  expect(repeated(crew.sandbox.records('asset').map((record) => record['serial_number']))).toEqual([]);
  expect(crew.sandbox.commits).toHaveLength(ROWS);
}

describe.skipIf('missing' in (await redisServer()))('what the holder of the right had sent before it lost it', () => {
  it('and takes effect later, is waited for by the next one; the first sends nothing more (47, 53)', async () => {
    const service = keeping();
    const [one, two] = await workersOver(service);
    one.child.kill('SIGSTOP');
    await two.drop('b.csv', assetSheet(ROWS));
    await until(() => /ended without a word/.test(two.err()), { what: 'the second to have the right' });
    const before = crew.sandbox.commits.length;
    service.go();
    await until(() => crew.sandbox.commits.length === before + 4);
    const second = await two.only(60_000);
    await eachOnce();
    expectTruth(second, crew.sandbox, 'asset', 'serial_number', ROWS);
    expect(second.summary.rows).toMatchObject({ created: ROWS - 14, unchanged: 14, total: ROWS });

    one.child.kill('SIGCONT');
    const first = await one.only(60_000);
    await eachOnce();
    const { created = 0, unchanged = 0 } = first.summary.rows;
    expect([first.summary.status, created + unchanged]).toEqual(['succeeded', ROWS]);
    expect(created).toBeLessThanOrEqual(14);
  }, 150_000);

  it('is waited for also where it was killed, and where the one who waited dies over it (46)', async () => {
    const service = keeping();
    const [one, two] = await workersOver(service);
    await one.kill();
    await two.drop('b.csv', assetSheet(ROWS));
    await until(() => /ended without a word/.test(two.err()), { what: 'the second to have the right' });
    await two.kill();
    const again = await ownWorker(crew, 'two');
    await until(() => /ended without a word/.test(again.err()), { what: 'it to have the right again' });
    service.go();
    await again.only(60_000);
    await eachOnce();
    const first = await (await ownWorker(crew, 'one')).only(60_000);
    expect(first.summary.status).toBe('succeeded');
    await eachOnce();
  }, 150_000);
});
