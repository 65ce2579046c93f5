import path from 'node:path';
import { afterEach, expect } from 'vitest';
import { type Started, start } from '../../support/process.js';
import { itWith, privateRedis } from '../../support/servers.js';
import { type Bench, openBench, runsOf, sheet } from './bench.js';

const it = await itWith('redis');

let bench: Bench;
const workers: Started[] = [];
afterEach(async () => {
  for (const { child } of workers) child.kill('SIGKILL');
  await Promise.all(workers.splice(0).map(({ ended }) => ended));
  await bench.close();
});

it('a worker killed again and again loses nothing and writes nothing twice', async () => {
  let url = '';
  bench = await openBench({ latencyMs: 20 }, async () => {
    const server = await privateRedis();
    url = server.url;
    return server;
  });
  const home = path.join(bench.dir, 'home');
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
  await bench.file('a.csv', sheet(300));
  const added = await bench.add({ job: 'assets', file: 'a.csv' });
  for (const rows of [50, 150]) {
    const worker = await start(['worker', '--queue-only'], { cwd: bench.dir, env });
    workers.push(worker);
    while (bench.sandbox.commits.length < rows) {
      if (worker.child.exitCode !== null) throw new Error(worker.err());
      await new Promise((next) => setTimeout(next, 10));
    }
    worker.child.kill('SIGKILL');
    await worker.ended;
  }
  workers.push(await start(['worker', '--queue-only'], { cwd: bench.dir, env }));
  const job = await bench.settled(added);
  expect(job.returnvalue).toMatchObject({ status: 'succeeded', rows: { created: 300, total: 300 } });
  expect(bench.sandbox.commits).toHaveLength(300);
  expect(await runsOf(home)).toEqual([job.returnvalue.run]);
});
