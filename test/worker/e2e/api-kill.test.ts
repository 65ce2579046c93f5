import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addKey, openKeys } from '../../../src/api/access/credentials.js';
import type { RunDetail } from '../../../src/api/schema.js';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.js';
import { importOf } from '../../support/jobs.js';
import { type Started, start } from '../../support/process.js';
import { freePort } from '../../support/server-process.js';
import { availableStores, type StoreServer } from '../../support/servers.js';
import { until } from '../../support/until.js';

const PRELOAD = pathToFileURL(path.join(import.meta.dirname, '../../crash/kill-at.mjs')).href;
const JOB = importOf('asset', 'serial_number', { Name: 'name', Serial: 'serial_number' });
const sheet = (rows: number) =>
  ['Name,Serial', ...Array.from({ length: rows }, (_, i) => `n${i},S-${i}`), ''].join('\r\n');

const stores = (await availableStores()).filter(({ name }) => name !== 'postgres');
describe.each(stores)('a worker that is killed, on $name', (store) => {
  let queue: StoreServer;
  let sandbox: Sandbox;
  let dir: string;
  let url: string;
  let key: string;
  let env: Record<string, string>;
  let worker: Started | undefined;
  beforeEach(async () => {
    queue = await store.start();
    sandbox = await startSandbox({ seed: 'empty', token: 'test-token', latencyMs: 20 });
    dir = await mkdtemp(path.join(tmpdir(), 'rowferry-api-'));
    await mkdir(path.join(dir, 'jobs'));
    await writeFile(path.join(dir, 'jobs', 'assets.yaml'), JSON.stringify(JOB));
    await writeFile(path.join(dir, 'jobs', 'braked.yaml'), JSON.stringify({ ...JOB, brakes: { max_creates: 1 } }));
    await writeFile(path.join(dir, 'a.csv'), sheet(200));
    key = await addKey(openKeys(queue.home), 'tests', 'approver');
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    env = {
      ROWFERRY_API_URL: sandbox.url,
      ROWFERRY_API_TOKEN: 'test-token',
      ROWFERRY_HOME: queue.home,
      ROWFERRY_ROOTS: dir,
      ...(queue.url !== undefined && { ROWFERRY_QUEUE_URL: queue.url }),
      ROWFERRY_SETTLE_WINDOW: '0.05,0.1,0.2',
      ROWFERRY_CONCURRENCY: '4',
      ROWFERRY_LEASE: '1',
      ROWFERRY_HTTP: `127.0.0.1:${port}`,
    };
  });
  afterEach(async () => {
    worker?.child.kill('SIGKILL');
    await worker?.ended;
    await queue.stop();
    await sandbox.close();
    await rm(dir, { recursive: true, force: true });
  });

  async function begin(more: Record<string, string> = {}): Promise<void> {
    const begun = await start(['worker', '--queue-only'], { cwd: dir, env: { ...env, ...more } });
    worker = begun;
    await until(async () => {
      if (begun.child.exitCode !== null) throw new Error(begun.err());
      return (await call('GET', '/queue')).status === 200;
    }).catch((error: unknown) => {
      throw new Error(begun.err(), { cause: error });
    });
  }
  async function kill(): Promise<void> {
    worker?.child.kill('SIGKILL');
    await worker?.ended;
  }
  async function call(method: string, at: string, body?: object, more: Record<string, string> = {}) {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...more };
    const answer = await fetch(`${url}/api/v1${at}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    }).catch(() => undefined);
    // biome-ignore lint/suspicious/noExplicitAny: of every form
    return { status: answer?.status ?? 0, body: (await answer?.json().catch(() => undefined)) as any };
  }
  /** How a run ended; `seen` is told of what was said until then. */
  const ended = async (run: string, seen: (detail: RunDetail) => void = () => undefined) => {
    // biome-ignore lint/suspicious/noExplicitAny: of every form
    let found: any;
    await until(
      async () => {
        ({ body: found } = await call('GET', `/runs/${run}`));
        if (found?.status === 'waiting' || found?.status === 'running' || found?.status === 'unfinished') seen(found);
        return found !== undefined && !['waiting', 'running', 'unfinished'].includes(found.status);
      },
      { what: `the end of ${run}: ${JSON.stringify(found)}` },
    );
    return found;
  };

  it('in the middle of a run that was ordered over the API goes on with it under the same id, and writes nothing twice', async () => {
    await begin();
    const { body } = await call('POST', '/runs', { kind: 'import', job: 'assets', file: 'a.csv' });
    await until(() => sandbox.commits.length > 60);
    await kill();
    await begin();
    expect(await ended(body.id)).toMatchObject({ id: body.id, status: 'succeeded', outcomes: { created: 200 } });
    expect(sandbox.commits).toHaveLength(200);
    expect((await call('GET', '/runs')).body.runs).toMatchObject([{ id: body.id }]);
  }, 240_000);

  it('between choosing the id of an order and putting it on the queue has one run of it when it is ordered again', async () => {
    const order = { kind: 'import', job: 'assets', file: 'a.csv' };
    await begin({ NODE_OPTIONS: `--import=${PRELOAD}`, KILL_AT: 'order-noted:1' });
    expect((await call('POST', '/runs', order, { 'idempotency-key': 'the-order' })).status).toBe(0);
    await worker?.ended;
    await begin();
    const first = await call('POST', '/runs', order, { 'idempotency-key': 'the-order' });
    const second = await call('POST', '/runs', order, { 'idempotency-key': 'the-order' });
    expect([first.status, second.body]).toEqual([202, first.body]);
    expect(await ended(first.body.id)).toMatchObject({ status: 'succeeded' });
    expect(sandbox.commits).toHaveLength(200);
  }, 240_000);

  it.each(['stop-noted', 'job-removed'])(
    'while a run that waits is stopped, at %s: it is there, and can be gone on with',
    async (at) => {
      await begin({ NODE_OPTIONS: `--import=${PRELOAD}`, KILL_AT: `${at}:1` });
      const rows = (name: string) => Array.from({ length: 60 }, (_, i) => ({ Name: 'n', Serial: `${name}-${i}` }));
      const order = async (name: string) =>
        (await call('POST', '/runs', { kind: 'import', job: 'assets', rows: rows(name) })).body.id;
      const others = await Promise.all(['a', 'b', 'c', 'd'].map(order));
      const run = await order('last');
      expect((await call('GET', `/runs/${run}`)).body).toMatchObject({ status: 'waiting' });
      expect((await call('POST', `/runs/${run}/stop`, {})).status).toBe(0);
      await worker?.ended;
      await begin();
      expect(await ended(run)).toMatchObject({ status: 'interrupted', actions: { resume: { allowed: true } } });
      expect((await call('POST', `/runs/${run}/resume`, {})).status).toBe(202);
      for (const one of [...others, run])
        expect(await ended(one)).toMatchObject({ status: 'succeeded', outcomes: { created: 60 } });
      expect(sandbox.commits).toHaveLength(300);
    },
    240_000,
  );

  // The store has no part in what follows.
  if (store.name !== 'embedded') return;

  it('in the middle of a plan that was approved over the API goes on with it by itself', async () => {
    await begin();
    const { body } = await call('POST', '/runs', { kind: 'import', job: 'braked', file: 'a.csv' });
    expect(await ended(body.id)).toMatchObject({ status: 'braked' });
    const approved = await call('POST', `/runs/${body.id}/approve`, { by: 'Mara' });
    expect(approved.status).toBe(202);
    await until(() => sandbox.commits.length > 60);
    await kill();
    await begin();
    const offered = new Set<unknown>();
    const said = ({ status, actions }: RunDetail) => offered.add(`${status}: ${actions.resume.allowed}`);
    expect(await ended(approved.body.id, said)).toMatchObject({
      manner: 'approved',
      of_run: body.id,
      outcomes: { created: 200 },
    });
    // It goes on by itself: nobody is offered to go on with it, and refused.
    expect([...offered].filter((one) => !/^(waiting|running): false$/.test(String(one)))).toEqual([]);
    expect(sandbox.commits).toHaveLength(200);
  }, 240_000);

  it('right after a run was to be resumed goes on with it by itself', async () => {
    await begin();
    const { body } = await call('POST', '/runs', { kind: 'import', job: 'assets', file: 'a.csv' });
    await until(() => sandbox.commits.length > 40);
    await call('POST', `/runs/${body.id}/stop`, {});
    expect(await ended(body.id)).toMatchObject({ status: 'interrupted', actions: { resume: { allowed: true } } });
    const { length: before } = sandbox.commits;
    expect((await call('POST', `/runs/${body.id}/resume`, {})).status).toBe(202);
    await until(() => sandbox.commits.length > before);
    await kill();
    await begin();
    expect((await call('POST', `/runs/${body.id}/resume`, {})).body).toMatchObject({
      status: 409,
      detail: expect.stringMatching(/goes on by itself|waits on the queue|is at work/),
    });
    expect(await ended(body.id)).toMatchObject({ status: 'succeeded', outcomes: { created: 200 } });
    expect(sandbox.commits).toHaveLength(200);
  }, 240_000);
});
