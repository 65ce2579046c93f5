import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, expect } from 'vitest';
import { type Started, start } from '../../support/process.js';
import { itWith, privateRedis } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { type Bench, insertAssets, JOB, openBench, runsOf, sheet } from './bench.js';

const it = await itWith('redis');

let bench: Bench;
let home: string;
let begin: () => Promise<Started>;
const workers: Started[] = [];
afterEach(async () => {
  for (const { child } of workers) child.kill('SIGKILL');
  await Promise.all(workers.splice(0).map(({ ended }) => ended));
  await bench.close();
});

async function open(): Promise<void> {
  let url = '';
  bench = await openBench({ latencyMs: 20 }, async () => {
    const server = await privateRedis();
    url = server.url;
    return server;
  });
  home = path.join(bench.dir, 'home');
  const env = {
    ROWFERRY_API_URL: bench.sandbox.url,
    ROWFERRY_API_TOKEN: 'test-token',
    ROWFERRY_HOME: home,
    ROWFERRY_QUEUE_URL: url,
    ROWFERRY_SETTLE_WINDOW: '0.05,0.1,0.2',
    ROWFERRY_CONCURRENCY: '4',
    ROWFERRY_LEASE: '1',
    ROWFERRY_HTTP: 'off',
  };
  begin = async () => {
    const worker = await start(['worker', '--queue-only'], { cwd: bench.dir, env });
    workers.push(worker);
    return worker;
  };
}

/** Kills a worker at each of these numbers of writes, and begins one that is left alive. */
async function killAt(...writes: readonly number[]): Promise<void> {
  for (const count of writes) {
    const worker = await begin();
    await until(
      () => {
        if (worker.child.exitCode !== null) throw new Error(worker.err());
        return bench.sandbox.commits.length >= count;
      },
      { what: `${count} writes` },
    );
    worker.child.kill('SIGKILL');
    await worker.ended;
  }
  await begin();
}

it('a worker killed again and again loses nothing and writes nothing twice', async () => {
  await open();
  await bench.file('a.csv', sheet(300));
  const added = await bench.add({ job: 'assets', file: 'a.csv' });
  await killAt(50, 150);
  const job = await bench.settled(added);
  expect(job.returnvalue).toMatchObject({ status: 'succeeded', rows: { created: 300, total: 300 } });
  expect(bench.sandbox.commits).toHaveLength(300);
  expect(await runsOf(home)).toEqual([job.returnvalue.run]);
});

const ROWS = 240;

it('a worker killed while it applies a reconciliation: another one carries out exactly the plan, nothing twice', async () => {
  await open();
  // Every second record differs, and the last twenty rows are new.
  const held = Array.from({ length: ROWS - 20 }, (_, i) => ({
    name: i % 2 ? `n${i}` : 'old',
    serial_number: `S-${i}`,
  }));
  insertAssets(bench.sandbox, held);
  const job = { ...JOB, kind: 'reconcile', apply: true, brakes: { max_updates: '100%', max_change: '100%' } };
  await writeFile(path.join(bench.dir, 'jobs', 'erp.yaml'), JSON.stringify(job));
  await bench.file('erp.csv', sheet(ROWS));
  const added = await bench.add({ job: 'erp', file: 'erp.csv' }, {}, 'reconcile');
  await killAt(20, 70);
  const ended = await bench.settled(added);
  const updated = held.filter(({ name }) => name === 'old').length;
  const rows = { updated, created: 20, unchanged: held.length - updated, total: ROWS };
  expect(ended.returnvalue).toMatchObject({ kind: 'reconcile', status: 'succeeded', rows });
  const { commits } = bench.sandbox;
  expect(commits).toHaveLength(updated + 20);
  expect(new Set(commits.map(({ id }) => id)).size).toBe(commits.length);
  const names = bench.sandbox.records('asset').map(({ name, serial_number }) => `${name} ${serial_number}`);
  expect(names.sort()).toEqual(Array.from({ length: ROWS }, (_, i) => `n${i} S-${i}`).sort());
  expect(await runsOf(home)).toEqual([ended.returnvalue.run]);
});
