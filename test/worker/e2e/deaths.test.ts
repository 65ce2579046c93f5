import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { FULL } from '../../support/full.js';
import { sharedStores } from '../../support/servers.js';
import { expectTruth } from '../../support/truth.js';
import { until } from '../../support/until.js';
import { assetSheet, type Crew, openCrew, type RunningWorker } from '../../support/worker.js';

let crew: Crew;
afterEach(() => crew?.close());

/** One size that takes seconds, and one on the fastest store that keeps many parts on their way. */
const ROWS = { postgres: 2_000, redis: FULL ? 50_000 : 4_000 };
const WRITES = /rowferry_requests_total\{kind="write"/;

/** Begins a run of several parts with two workers; answers who coordinates it, and who helps. */
async function begin(rows: number): Promise<{ coordinator: RunningWorker; helper: RunningWorker }> {
  const workers = await Promise.all([crew.worker('one'), crew.worker('two')]);
  await crew.drop('assets.csv', assetSheet(rows));
  await until(() => workers.some((worker) => worker.coordinates()), { what: 'the beginning' });
  const [first, second] = workers;
  return first.coordinates() ? { coordinator: first, helper: second } : { coordinator: second, helper: first };
}

async function share(part: number, rows: number): Promise<void> {
  await until(() => crew.sandbox.commits.length >= part * rows, {
    withinMs: 120_000,
    what: `${part} of ${rows} rows`,
  }).catch((error: unknown) => {
    throw new Error(`${(error as Error).message}; there are ${crew.sandbox.commits.length}`);
  });
}

async function expectWhole(rows: number): Promise<void> {
  const run = await crew.only(180_000);
  expect(run.summary).toMatchObject({ status: 'succeeded', rows: { created: rows, total: rows } });
  expectTruth(run, crew.sandbox, 'asset', 'serial_number', rows);
  expect(crew.sandbox.commits).toHaveLength(rows);
  expect(await readdir(join(crew.inbox, 'processing', 'assets')).catch(() => [])).toEqual([]);
}

describe.each(await sharedStores())('a run of several parts on $name', ({ name, start }) => {
  const env = name === 'redis' ? {} : { ROWFERRY_CONCURRENCY: '8' };
  // Time for the third worker to come up costs no processor where the service takes it.
  const sandbox = { latencyMs: FULL && name === 'redis' ? 0 : 30, keepBodies: false };

  it('loses and repeats nothing when the helper is killed and the queue breaks down (49)', async () => {
    const rows = ROWS[name];
    crew = await openCrew({ server: await start(), sandbox, env });
    const { helper } = await begin(rows);
    await share(0.15, rows);
    await helper.kill();
    await share(0.3, rows);
    const third = await crew.worker('three');
    await share(0.5, rows);
    await crew.server.server?.restart();
    await share(0.7, rows);
    await crew.server.server?.kill();
    await crew.server.server?.restart();
    await expectWhole(rows);
    // Of the few parts on the slower stores the coordinator may have had the rest before the third came up.
    if (name === 'redis') expect(await third.metric(WRITES)).toBeGreaterThan(0);
  }, 400_000);

  // Who takes a run over is up to the leases: test/worker/store/rights.test.ts, on each store.
  if (name === 'redis') return;

  it('loses and repeats nothing when its coordinator is killed and started again', async () => {
    const rows = 1_200;
    crew = await openCrew({
      server: await start(),
      sandbox: { latencyMs: 20, keepBodies: false },
      // It is back, on a slow machine too, before the other worker takes the run over.
      env: { ROWFERRY_CONCURRENCY: '8', ROWFERRY_LEASE: '15' },
    });
    const { coordinator } = await begin(rows);
    await share(0.4, rows);
    await coordinator.kill();
    await crew.worker(coordinator.name);
    await expectWhole(rows);
  }, 400_000);
});
