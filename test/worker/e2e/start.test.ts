import { afterEach, describe, expect, it } from 'vitest';
import { addKey, openKeys } from '../../../src/api/access/credentials.js';
import { redisServer } from '../../support/binaries.js';
import { freePort } from '../../support/server-process.js';
import { availableStores, privatePostgres, privateRedis } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { assetSheet, type Crew, openCrew, type RunningWorker } from '../../support/worker.js';

let crew: Crew;
const servers: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  await crew?.close();
  for (const server of servers.splice(0)) await server.stop().catch(() => undefined);
});

/** A crew with settings alone: whatever it names is started, or not, by the test. */
async function crewAt(queueUrl: string): Promise<Crew> {
  const server = { url: queueUrl, home: '', stop: async () => undefined };
  crew = await openCrew({ server });
  return crew;
}

/** What a worker said that is to end by itself. */
async function refused(queueUrl: string): Promise<{ code: unknown; err: string }> {
  const worker = await (await crewAt(queueUrl)).worker('one', { early: true });
  await until(() => worker.child.exitCode !== null, { what: `its end: ${worker.err()}` });
  return { code: await worker.ended, err: worker.err() };
}

const TRACE = /^\s+at |node:internal|\.js:\d+/m;
const stores = new Set((await availableStores()).map(({ name }) => name));

describe('workers on one queue that spell the address of the service differently', () => {
  it.runIf(stores.has('redis'))('the second ends and names both: they could not take turns', async () => {
    const server = await privateRedis();
    servers.push(server);
    await crewAt(server.url);
    const first = await crew.worker('one');
    const other = { ROWFERRY_API_URL: crew.sandbox.url.replace('127.0.0.1', 'localhost') };
    const second = await crew.worker('two', { early: true, env: other });
    await until(() => second.child.exitCode !== null, { what: `its end: ${second.err()}` });
    expect(await second.ended).toBe(2);
    expect(second.err()).toContain(crew.sandbox.url);
    expect(second.err()).toContain(other.ROWFERRY_API_URL);
    expect(first.child.exitCode).toBeNull();
  });
});

describe('a worker with a wrong queue', () => {
  it.each(['rediss//nowhere', 'http://127.0.0.1:1', 'redis://:hunter2-hunter2@', 'amqp://user:hunter2-hunter2@h/'])(
    'ends at once over the address %s',
    async (url) => {
      const { code, err } = await refused(url);
      expect(err).toMatch(/ROWFERRY_QUEUE_URL/);
      expect(code).toBe(2);
      expect(err).not.toMatch(TRACE);
      expect(err).not.toContain('hunter2');
    },
  );

  it.runIf(stores.has('redis'))('ends over a wrong password, and one that is missing (Redis)', async () => {
    const server = await privateRedis({ password: 'right-password' });
    servers.push(server);
    for (const login of [':wrong-password@', '']) {
      const { code, err } = await refused(`redis://${login}127.0.0.1:${server.port}`);
      expect(code).toBe(1);
      expect(err).toMatch(/answered with an error.*ROWFERRY_QUEUE_URL/s);
      expect(err).not.toMatch(TRACE);
      expect(err).not.toMatch(/wrong-password|right-password/);
      await crew.close();
    }
  });

  it.runIf(stores.has('postgres'))('ends over a wrong password, and a missing database (PostgreSQL)', async () => {
    const server = await privatePostgres();
    servers.push(server);
    const wrong = await refused(`postgres://rowferry:wrong-password@127.0.0.1:${server.port}/postgres`);
    expect(wrong.err).toMatch(/answered with an error/);
    await crew.close();
    const missing = await refused(server.url.replace(/postgres$/, 'nowhere'));
    expect(missing.err).toMatch(/does not exist.*ROWFERRY_QUEUE_URL/s);
    for (const { code, err } of [wrong, missing]) {
      expect(code).toBe(1);
      expect(err).not.toMatch(TRACE);
      expect(err).not.toMatch(/wrong-password|let-me-in/);
    }
  });

  it.runIf(stores.has('redis'))('ends over a Redis that may forget jobs (51)', async () => {
    const server = await privateRedis({ policy: 'allkeys-lru' });
    servers.push(server);
    const { code, err } = await refused(server.url);
    expect(code).not.toBe(0);
    expect(err).toMatch(/allkeys-lru/);
    expect(err).toMatch(/noeviction/);
    expect(err).not.toMatch(TRACE);
  });
});

const ready = async (worker: RunningWorker): Promise<number> => (await fetch(`${worker.http}/readyz`)).status;

it.runIf(!('missing' in (await redisServer())))(
  'a worker waits for a queue that is away at its start, and says that it is not ready (55)',
  async () => {
    const port = await freePort();
    await crewAt(`redis://127.0.0.1:${port}`);
    const worker = await crew.worker('one', { early: true });
    await until(() => /cannot be reached.*waiting until it is there/.test(worker.err()));
    expect(worker.err().split('\n')[0]).toContain('The worker starts and opens its queue.');
    expect(await ready(worker)).toBe(503);
    expect((await fetch(`${worker.http}/healthz`)).status).toBe(200);

    const server = await privateRedis({ port });
    servers.push(server);
    await until(async () => (await ready(worker)) === 200, { what: 'readiness' });
    await crew.drop('assets.csv', assetSheet(10));
    const run = await crew.only(30_000);
    expect(run.summary.rows).toMatchObject({ created: 10, total: 10 });

    // It goes away while nothing is to be done, and comes back.
    await server.kill();
    await until(async () => (await ready(worker)) === 503, { what: 'that it is missed' });
    const key = await addKey(openKeys(crew.home('one')), 'tests', 'operator');
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const order = { kind: 'import', job: 'assets', rows: [{ Name: 'n', Serial: 'refused' }] };
    for (const [path, more] of [
      ['queue', {}],
      ['runs', { method: 'POST', body: JSON.stringify(order) }],
    ] as const) {
      const asked = await fetch(`${worker.http}/api/v1/${path}`, { headers, ...more });
      expect([asked.status, await asked.text()]).toEqual([503, expect.stringContaining('cannot be reached')]);
    }
    await server.restart();
    await until(async () => (await ready(worker)) === 200, { what: 'readiness again' });
    await crew.drop('more.csv', assetSheet(10, 100));
    await until(async () => (await crew.ended()).length === 2, { what: 'the second run' });
    // What was refused is not carried out.
    const { runs } = (await (await fetch(`${worker.http}/api/v1/runs`, { headers })).json()) as { runs: unknown[] };
    expect(runs).toHaveLength(2);
    expect((await worker.terminate()).code).toBe(0);
  },
  180_000,
);

it.runIf(stores.has('redis'))('a worker that waits for its queue ends when it is told to (55)', async () => {
  await crewAt(`redis://127.0.0.1:${await freePort()}`);
  const worker = await crew.worker('one', { early: true });
  await until(() => /waiting until it is there/.test(worker.err()));
  const { ms, code } = await worker.terminate();
  expect(code).toBe(0);
  expect(ms).toBeLessThan(10_000);
  expect(worker.err()).not.toMatch(TRACE);
});
