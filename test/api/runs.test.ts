import { mkdtemp, rm, stat } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askOwner, openRuns } from '../../src/api/client.js';
import type { RunOrder, RunsApi } from '../../src/api/runs/orders.js';
import { KeyReused } from '../../src/api/runs/orders.js';
import type { RunView } from '../../src/api/runs/queued.js';
import { serveHome } from '../../src/api/server.js';
import { socketAddress } from '../../src/api/socket.js';
import { resolveSettings } from '../../src/runs/settings.js';
import { restoreJobs } from '../../src/worker/jobs/home.js';
import { apiOf, pagesOf } from './support.js';

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'rowferry-api-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** A queue in memory. */
function fake(): RunsApi & { readonly orders: RunOrder[] } {
  const orders: RunOrder[] = [];
  return {
    orders,
    queue: async () => ({ address: 'embedded in /home', workers: 1, roots: ['/srv/files'] }),
    async put(order) {
      if (order.key === 'taken') throw new KeyReused();
      orders.push(order);
      return `api.${order.key ?? orders.length}`;
    },
    look: async (id): Promise<RunView | undefined> =>
      id === 'api.1' ? { id, state: 'active', progress: null, summary: null, reason: null } : undefined,
    close: async () => undefined,
  };
}

const post = (pages: ReturnType<typeof pagesOf>, body: unknown, headers: Record<string, string> = {}) =>
  pages.request('/api/v1/runs', {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  });

describe('POST /runs', () => {
  it('puts a run on the queue and tells where it is', async () => {
    const runs = fake();
    const answer = await post(pagesOf(runs), '{"kind":"import","job":"assets","rows":[{"__proto__":"x","Name":"a"}]}', {
      'idempotency-key': 'k-1',
    });
    expect([answer.status, answer.headers.get('location'), await answer.json()]).toEqual([
      202,
      '/api/v1/runs/api.k-1',
      { id: 'api.k-1' },
    ]);
    const [{ data, onAccepted: _, ...order }] = runs.orders as [RunOrder];
    expect(order).toEqual({ kind: 'import', once: false, key: 'k-1' });
    expect(JSON.stringify(data)).toBe('{"job":"assets","rows":[{"__proto__":"x","Name":"a"}]}');
  });

  it.each([
    ['no JSON', 'no', {}, 400, /JSON object with `kind`/],
    ['another kind', { kind: 'remove', job: 'a', file: 'a' }, {}, 400, /`kind`/],
    ['a wrong key', { kind: 'import', job: 'a', file: 'a' }, { 'idempotency-key': 'a b' }, 400, /without blanks/],
    ['wrong data', { kind: 'import', job: '../a', fil: 'x' }, {}, 422, /order has faults/],
    [
      'a key of another order',
      { kind: 'import', job: 'a', file: 'a' },
      { 'idempotency-key': 'taken' },
      422,
      /another order/,
    ],
    [
      'amounts that a double would change',
      '{"kind":"import","job":"a","rows":[{"Price":99999999999999.99,"Id":12345678901234567890}]}',
      {},
      422,
      /`rows\[0\]\.Price`: .*send it as text\n.*`rows\[0\]\.Id`: /,
    ],
    [
      'a heading that stands twice',
      '{"kind":"import","job":"a","rows":[{"Name":"First","Name":"Second"}]}',
      {},
      400,
      /Duplicate key 'Name'.*JSON object/,
    ],
    ['a number of no range', '{"kind":"import","job":"a","rows":[{"Price":1e999}]}', {}, 400, /1e999.*JSON object/],
    ['too much', `{"kind":"import","x":"${'y'.repeat(17 * 1024 * 1024)}"}`, {}, 413, /more than \d+ bytes/],
  ])('refuses %s with a problem document', async (_, body, headers, status, words) => {
    const runs = fake();
    const answer = await post(pagesOf(runs), body, headers as Record<string, string>);
    expect(answer.status).toBe(status);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    const told = (await answer.json()) as { detail: string; errors?: string[] };
    expect(told).toMatchObject({ status, code: 'usage' });
    expect([told.detail, ...(told.errors ?? [])].join('\n')).toMatch(words);
    expect(runs.orders).toEqual([]);
  });

  it('lists every fault of the data', async () => {
    const answer = await post(pagesOf(fake()), { kind: 'import', job: '../a', fil: 'x' });
    const { errors } = (await answer.json()) as { errors: string[] };
    expect(errors.join('\n')).toMatch(/`job`.*unknown key `fil`.*exactly one of/s);
    const job = { kind: 'import', resource: 'asset', match: { key: 'name' }, columns: { Name: 'nam', Title: 'name' } };
    const inline = await post(pagesOf(fake()), { kind: 'import', job, file: 'a' });
    expect(await inline.json()).toMatchObject({
      detail: expect.not.stringContaining('queue'),
      errors: [expect.stringMatching(/^`job\.columns\.Name` \(line \d+ as JSON\): .*`nam`/)],
    });
  });
});

it('GET /runs/{id} and /queue tell where a run and the queue stand; other addresses are problems, too', async () => {
  const pages = pagesOf(fake());
  const get = async (path: string) => {
    const answer = await pages.request(`/api/v1${path}`);
    return [answer.status, await answer.json()];
  };
  expect(await get('/runs/a-job')).toEqual([
    200,
    expect.objectContaining({
      ...{ id: '20261121T081502123Z-3f9a', status: 'running', job: 'assets', file: 'a.csv', here: false },
      ...{ state: 'active', progress: expect.objectContaining({ phase: 'writing', done: 3 }) },
    }),
  ]);
  expect(await get('/runs/none')).toEqual([404, expect.objectContaining({ status: 404 })]);
  expect(await get('/queue')).toMatchObject([200, { address: 'embedded in /home', workers: 1, roots: ['/srv/files'] }]);
  expect(await get('/nothing')).toEqual([404, expect.objectContaining({ status: 404 })]);
});

describe('the socket of a home', () => {
  const clientOf = (home: string) =>
    openRuns(resolveSettings({ ROWFERRY_HOME: home }, {}, root), {
      patienceMs: 0,
      notice: () => undefined,
      signal: new AbortController().signal,
    });

  it('is this user’s alone, replaces one that was left, and serves what a client asks', async () => {
    const home = await mkdtemp(join(root, 'home-'));
    expect(await askOwner(home)).toBeUndefined();
    const runs = fake();
    await (await serveHome(home, apiOf(runs)))();
    const close = await serveHome(home, apiOf(runs));
    expect((await stat(join(home, 'queue.sock'))).mode & 0o777).toBe(0o600);
    const client = await clientOf(home);
    expect(await client.queue()).toMatchObject({ workers: 1, roots: ['/srv/files'] });
    const id = await client.put({ kind: 'import', data: { job: 'assets', file: 'a.csv' }, once: true });
    // A key of its own: it may be said again to the next owner.
    expect(id).toMatch(/^api\.[0-9a-f]{12}$/);
    expect(runs.orders).toMatchObject([{ kind: 'import', once: true, data: { job: 'assets', file: 'a.csv' } }]);
    expect(await client.look('a-job')).toMatchObject({ state: 'active', progress: { phase: 'writing' } });
    expect(await client.look('none')).toBeUndefined();
    await expect(client.put({ kind: 'import', data: {}, once: true })).rejects.toMatchObject({
      kind: 'usage',
      details: expect.arrayContaining([expect.stringContaining('exactly one of')]),
    });
    expect(await askOwner(home)).toMatchObject({ address: 'embedded in /home', workers: 1, roots: ['/srv/files'] });
    await close();
    // Nobody has the queue open: the run waits for whoever comes, and is one however often it is said.
    expect(await client.queue()).toEqual({ address: `embedded in ${home}`, workers: 0 });
    const order = { kind: 'import', data: { job: 'assets', file: 'b.csv' }, once: false, key: 'k-2' } as const;
    const left = await client.put(order);
    expect(await client.put(order)).toBe(left);
    await expect(client.put({ ...order, data: { job: 'other', file: 'b.csv' } })).rejects.toThrow(KeyReused);
    const put: unknown[] = [];
    const queue = {
      getJob: async () => undefined,
      add: async (...job: unknown[]) => put.push(job),
    } as unknown as Parameters<typeof restoreJobs>[1];
    expect(await restoreJobs(home, queue, { read: async () => undefined })).toEqual([left]);
    const retries = { attempts: 3, backoff: { type: 'exponential', delay: 15_000 } };
    expect(put).toEqual([['import', order.data, { jobId: `run.${left}`, ...retries }]]);
    expect(await client.look('a-job')).toEqual(expect.objectContaining({ id: 'a-job', progress: null, summary: null }));
  });

  it('lies elsewhere where the path of the home is too long, and says who may be asked', async () => {
    const home = await mkdtemp(join(root, `${'x'.repeat(90)}-`));
    const close = await serveHome(home, apiOf(fake()));
    const address = await socketAddress(home);
    expect(address.startsWith(home)).toBe(false);
    expect((await stat(join(address, '..'))).mode & 0o777).toBe(0o700);
    const status = await new Promise((resolve) => {
      request({ socketPath: address, path: '/api/v1/queue' }, (answer) => resolve(answer.resume().statusCode)).end();
    });
    expect(status).toBe(200);
    await close();
  });
});
