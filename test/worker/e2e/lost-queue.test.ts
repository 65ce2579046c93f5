import { readdir, stat, truncate } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { redisServer } from '../../support/binaries.js';
import { type PrivateServer, privateRedis, type RedisServerOptions } from '../../support/servers.js';
import { expectTruth } from '../../support/truth.js';
import { until } from '../../support/until.js';
import { assetSheet, type Crew, openCrew } from '../../support/worker.js';
import { type Own, ownWorker, repeated } from './two-folders.js';

/** Of several parts, so that both workers send. */
const ROWS = 1_200;

let crew: Crew;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  await crew?.close();
  for (const close of closers.splice(0).reverse()) await close();
});

async function redis(options: RedisServerOptions): Promise<PrivateServer> {
  const server = await privateRedis(options);
  closers.push(() => server.stop());
  return server;
}

/** A queue that forgets a lease of so many seconds could give it to another one long before its holder would notice. */
const LONG_LEASE_S = 8;

/** Two workers, in the middle of a run that one of them coordinates and both send. */
async function inTheMiddle(url: string, part: number, leaseS = 3): Promise<{ coordinator: Own; other: Own }> {
  crew = await openCrew({
    server: { url, home: '', stop: async () => undefined },
    sandbox: { latencyMs: 40, keepBodies: false },
    env: { ROWFERRY_CONCURRENCY: '6', ROWFERRY_LEASE: String(leaseS) },
  });
  const [coordinator, other] = await Promise.all([ownWorker(crew, 'one'), ownWorker(crew, 'two')]);
  await coordinator.drop('a.csv', assetSheet(ROWS));
  await until(() => crew.sandbox.commits.length >= part * ROWS, { what: 'the middle of the run' });
  return { coordinator, other };
}

/** Every row once, in the service and in the reports. */
async function expectWhole(worker: Own): Promise<void> {
  const run = await worker.only(120_000);
  expect(repeated(crew.sandbox.records('asset').map((record) => record['serial_number']))).toEqual([]);
  expect(run.summary).toMatchObject({ status: 'succeeded', rows: { created: ROWS, total: ROWS } });
  expectTruth(run, crew.sandbox, 'asset', 'serial_number', ROWS);
  expect(crew.sandbox.commits).toHaveLength(ROWS);
}

/** A run of the other worker over the same keys, put on the queue that has just lost everything. */
async function expectUnchanged(worker: Own): Promise<void> {
  const run = await worker.only(120_000);
  expect(run.summary).toMatchObject({ status: 'succeeded', rows: { unchanged: ROWS, total: ROWS } });
  expect(crew.sandbox.commits).toHaveLength(ROWS);
}

async function asked<T>(url: string, question: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url);
  try {
    return await question(client);
  } finally {
    client.disconnect();
  }
}

/** A way to a server that leads to another one from a moment on, as an address does after a failover. */
async function switchable(first: PrivateServer): Promise<{ url: string; switchTo(next: PrivateServer): void }> {
  let { port } = first;
  const open = new Set<Socket>();
  const server = createServer((from) => {
    const to = connect(port, '127.0.0.1');
    for (const [one, two] of [
      [from, to],
      [to, from],
    ] as const) {
      open.add(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        open.delete(one);
        two.destroy();
      });
      one.pipe(two);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(async () => {
    for (const one of open) one.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('no port');
  return {
    url: `redis://127.0.0.1:${address.port}`,
    switchTo(next) {
      port = next.port;
      for (const one of open) one.destroy();
    },
  };
}

describe.skipIf('missing' in (await redisServer()))('a queue in the middle of a run', () => {
  it('that restarts without its last moments: the run goes on from the journal, nothing twice (49)', async () => {
    const server = await redis({ appendonly: true });
    const { coordinator, other } = await inTheMiddle(server.url, 0.4);
    const [, dir = ''] = (await asked(server.url, (client) => client.config('GET', 'dir'))) as string[];
    await coordinator.kill();
    await server.kill();
    const folder = join(dir, 'appendonlydir');
    const log = (await readdir(folder)).find((name) => name.endsWith('.incr.aof')) ?? '';
    // The first quarter of what was written: the job is waiting there, and nobody has taken it yet.
    const { size } = await stat(join(folder, log));
    await truncate(join(folder, log), Math.floor(size / 4));
    await server.restart();
    const again = await ownWorker(crew, 'one');
    await expectWhole(again);
    await other.drop('b.csv', `${assetSheet(ROWS)}\r\n`);
    await expectUnchanged(other);
  }, 240_000);

  it('that loses everything: its run goes on, and another one with the same keys waits for it (49)', async () => {
    const server = await redis({});
    const { coordinator, other } = await inTheMiddle(server.url, 0.3, LONG_LEASE_S);
    await asked(server.url, (client) => client.flushall());
    await other.drop('b.csv', `${assetSheet(ROWS)}\r\n`);
    await expectWhole(coordinator);
    await expectUnchanged(other);
  }, 240_000);

  it('that fails over to a server without its jobs: the run goes on, and another one waits for it (50)', async () => {
    const [first, second] = [await redis({}), await redis({ fresh: true })];
    const way = await switchable(first);
    const { coordinator, other } = await inTheMiddle(way.url, 0.3, LONG_LEASE_S);
    way.switchTo(second);
    await other.drop('b.csv', `${assetSheet(ROWS)}\r\n`);
    await expectWhole(coordinator);
    await expectUnchanged(other);
  }, 240_000);

  it('that is full: it is said, and the run ends whole when there is room again (52)', async () => {
    const server = await redis({});
    const { coordinator, other } = await inTheMiddle(server.url, 0.2);
    await asked(server.url, (client) => client.config('SET', 'maxmemory', '1mb'));
    const isTold = () => /is full/.test(coordinator.err()) || /is full/.test(other.err());
    await until(isTold, { what: 'word of the full queue' });
    await asked(server.url, (client) => client.config('SET', 'maxmemory', '0'));
    await expectWhole(coordinator);
  }, 240_000);
});
