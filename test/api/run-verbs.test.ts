import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Queue } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isAwaited } from '../../src/api/files/operations.js';
import type { DiffText } from '../../src/model/change.js';
import { availableStores } from '../support/servers.js';
import { until } from '../support/until.js';
import { type ApiBench, JOB, openApiBench, sheet } from './worker.js';

const hasRedis = (await availableStores()).some(({ name }) => name === 'redis');
let bench: ApiBench;
/** Writing requests wait while it is set. */
let held: Promise<void> | undefined;
let release: () => void;
function hold(): void {
  held = new Promise((resolve) => {
    release = () => {
      held = undefined;
      resolve();
    };
  });
}
beforeAll(async () => {
  bench = await openApiBench(
    { onRequest: async ({ method }: { method: string }) => (method === 'GET' ? undefined : held) },
    { ROWFERRY_CONCURRENCY: '2', ROWFERRY_TIMEOUT: '30' },
  );
});
afterAll(async () => {
  release?.();
  await bench.close();
});

const detail = async (run: string) => (await bench.call('GET', `/runs/${run}`)).body;
const order = async (name: string, rows: number, more: object = {}, from = 0) => {
  const lines = sheet(rows).replaceAll('S-', `${name}-${from}-`);
  return bench.order({ kind: 'import', job: 'assets', file: await bench.file(`${name}.csv`, lines), ...more });
};

describe('stop and resume', () => {
  it('ends a run at work with its reports, and its job; resume goes on under the same id, and nothing is twice', async () => {
    hold();
    const run = await order('stopped', 40);
    await until(async () => (await detail(run)).progress?.phase === 'writing');
    expect((await detail(run)).actions).toMatchObject({ stop: { allowed: true }, resume: { allowed: false } });
    expect((await bench.call('POST', `/runs/${run}/stop`, {})).status).toBe(202);
    release();
    const stopped = await bench.ended(run);
    expect(stopped).toMatchObject({
      status: 'interrupted',
      state: 'completed',
      actions: { resume: { allowed: true } },
    });
    const { not_attempted: left = 0, created = 0 } = stopped.outcomes ?? {};
    expect([left > 0, left + created]).toEqual([true, 40]);
    expect((await bench.call('GET', `/runs/${run}/reports/results.csv`)).body).toContain('run_stopped');
    const { body } = await bench.call('GET', `/runs/${run}/rows?outcome=not_attempted`);
    expect(body.total).toBe(left);
    const { status, body: told } = await bench.call('POST', `/runs/${run}/resume`, {});
    expect([status, told]).toEqual([202, { id: run }]);
    expect(await bench.ended(run)).toMatchObject({ status: 'succeeded', outcomes: { created: 40, not_attempted: 0 } });
    expect(bench.sandbox.records('asset').filter((one) => JSON.stringify(one).includes('"stopped-')).length).toBe(40);
    expect((await bench.call('POST', `/runs/${run}/resume`, {})).status).toBe(409);
    expect((await bench.call('POST', `/runs/${run}/stop`, {})).status).toBe(409);
  });

  it('takes a run that waits off the queue: it stays known, also to whoever orders it again', async () => {
    hold();
    const busy = await Promise.all(['w1', 'w2', 'w3', 'w4'].map((name) => order(name, 2)));
    await until(async () => (await bench.call('GET', '/queue')).body.counts.active === 4);
    const body = {
      kind: 'import',
      job: 'assets',
      file: await bench.file('waits.csv', sheet(2).replaceAll('S-', 'waits-')),
    };
    const again = () => bench.order(body, { 'idempotency-key': 'stopped-while-it-waited' });
    const run = await again();
    expect(await detail(run)).toMatchObject({ status: 'waiting', here: false, actions: { stop: { allowed: true } } });
    const { body: list } = await bench.call('GET', '/runs?status=waiting');
    expect(list.runs.map(({ id }: { id: string }) => id)).toEqual([run]);
    expect((await bench.call('POST', `/runs/${run}/stop`, {})).status).toBe(202);
    expect(await detail(run)).toMatchObject({
      status: 'interrupted',
      ...{ file: 'waits.csv', rows: 0 },
      reason: expect.stringContaining('stopped it before it began'),
      actions: { resume: { allowed: true }, retry: { allowed: false }, stop: { allowed: false } },
    });
    expect(await again()).toBe(run);
    expect((await bench.call('POST', `/runs/${run}/resume`, {})).status).toBe(202);
    // Stopped while it waits once more, it is as it was.
    expect((await bench.call('POST', `/runs/${run}/stop`, {})).status).toBe(202);
    expect(await detail(run)).toMatchObject({ status: 'interrupted', actions: { resume: { allowed: true } } });
    expect((await bench.call('POST', `/runs/${run}/resume`, {})).status).toBe(202);
    release();
    for (const one of [...busy, run]) expect(await bench.ended(one)).toMatchObject({ status: 'succeeded' });
    expect(bench.sandbox.records('asset').filter((one) => JSON.stringify(one).includes('"waits-'))).toHaveLength(2);
  });
});

it.skipIf(!hasRedis)(
  'a job of another program that waits is taken off the queue, and can be taken up again',
  async () => {
    const queue = new Queue('rowferry', { connection: { url: bench.queueUrl! } });
    try {
      const rows = [{ Name: 'n', Serial: 'foreign-1' }];
      const { id = '' } = await queue.add('import', { job: 'assets', rows }, { delay: 3_600_000 });
      expect(await detail(id)).toMatchObject({ id, status: 'waiting', actions: { stop: { allowed: true } } });
      const { status, body } = await bench.call('POST', `/runs/${id}/stop`, {});
      expect([status, await queue.getJob(id)]).toEqual([202, undefined]);
      expect(await detail(body.id)).toMatchObject({ status: 'interrupted', actions: { resume: { allowed: true } } });
      expect((await bench.call('POST', `/runs/${body.id}/resume`, {})).status).toBe(202);
      expect(await bench.ended(body.id)).toMatchObject({ status: 'succeeded', outcomes: { created: 1 } });
      // What is due by a schedule would come again.
      const slot = await queue.add(
        'import',
        { job: 'assets', rows },
        { delay: 3_600_000, jobId: 'night.assets.2026-03-29T0230' },
      );
      expect((await bench.call('POST', `/runs/${slot.id}/stop`, {})).status).toBe(409);
      expect(await detail(slot.id!)).toMatchObject({
        actions: { stop: { allowed: false, why: expect.stringMatching(/schedule/) } },
      });
      await slot.remove();
    } finally {
      await queue.close();
    }
  },
);

it('a run that was stopped while it waited keeps its file, and takes an earlier one up once', async () => {
  const done = await order('put-back', 2);
  expect(await bench.ended(done)).toMatchObject({ status: 'succeeded' });
  hold();
  const busy = await Promise.all(['v1', 'v2', 'v3', 'v4'].map((name) => order(name, 2)));
  await until(async () => (await bench.call('GET', '/queue')).body.counts.active === 4);
  const { body: sent } = await bench.call('POST', '/files?name=kept.csv', 'Name,Serial,Cost\nn,kept-1,1\n', {
    headers: { 'content-type': 'application/octet-stream' },
  });
  const kept = await bench.order({ kind: 'import', job: 'assets', file: sent.id });
  const { body: first } = await bench.call('POST', `/runs/${done}/undo`, {});
  for (const run of [kept, first.id]) expect((await bench.call('POST', `/runs/${run}/stop`, {})).status).toBe(202);
  const nothing = { getJobs: async () => [] };
  expect(await isAwaited(nothing, bench.home, path.join(bench.home, sent.file))).toBe(true);
  const { body: second } = await bench.call('POST', `/runs/${done}/undo`, {});
  expect((await bench.call('POST', `/runs/${first.id}/resume`, {})).status).toBe(409);
  expect((await bench.call('POST', `/runs/${kept}/resume`, {})).status).toBe(202);
  release();
  for (const run of [...busy, kept]) expect(await bench.ended(run)).toMatchObject({ status: 'succeeded' });
  await bench.ended(second.id);
});

describe('approve', () => {
  it('carries a braked plan out once: of two people who approve at the same time the second is told', async () => {
    const braked = { ...JOB, brakes: { max_creates: 1 } };
    await writeFile(path.join(bench.dir, 'jobs', 'braked.yaml'), JSON.stringify(braked));
    const run = await order('braked', 12, { job: 'braked' });
    expect(await bench.ended(run)).toMatchObject({ status: 'braked', actions: { approve: { allowed: true } } });
    const { body: plan } = await bench.call('GET', `/runs/${run}/plan`);
    expect(plan.brakes).toContainEqual({
      name: 'max_creates',
      limit: '1',
      found: '12 of 12 rows would be created',
      tripped: true,
    });
    expect(plan).toMatchObject({
      created: 12,
      creates: expect.arrayContaining([expect.objectContaining({ row: 2, key: 'braked-0-0' })]),
    });
    const { body: story } = await bench.call('GET', `/runs/${run}/rows/3`);
    expect(story.changes).toContainEqual({ field: 'serial_number', old: '', new: 'braked-0-1', kind: 'set' });
    expect(plan.creates[1].values).toEqual(
      story.changes.map((one: DiffText) => ({ field: one.field, value: one.new })),
    );
    expect((await bench.call('POST', `/runs/${run}/approve`, { by: 'Mara' }, { role: 'operator' })).status).toBe(403);
    const answers = await Promise.all([
      bench.call('POST', `/runs/${run}/approve`, { by: 'Mara' }),
      bench.call('POST', `/runs/${run}/approve`, { by: 'Tom' }),
    ]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409]);
    const first = answers.find(({ status }) => status === 202);
    const second = answers.find(({ status }) => status === 409);
    expect(second?.body).toMatchObject({
      code: 'usage',
      detail: expect.stringMatching(/just taking up this run|approved it already/),
    });
    expect(await bench.ended(first?.body.id)).toMatchObject({
      manner: 'approved',
      of_run: run,
      outcomes: { created: 12 },
    });
    const { body: written } = await bench.call('GET', `/runs/${first?.body.id}/rows/3`);
    expect([written.outcome, written.changes]).toEqual(['created', story.changes]);
    const { body: done } = await bench.call('GET', `/runs/${first?.body.id}/plan`);
    expect(done.brakes).toContainEqual(
      expect.objectContaining({ name: 'max_creates', tripped: false, overridden: true }),
    );
    const again = await bench.call('POST', `/runs/${run}/approve`, {});
    expect([again.status, again.body.detail]).toEqual([409, expect.stringContaining('approved it already')]);
    const audit = (await readFile(path.join(bench.home, 'audit.ndjson'), 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(audit).toContainEqual(
      expect.objectContaining({
        who: 'approver',
        what: 'approve begun',
        run: first?.body.id,
        of: run,
        by: expect.stringMatching(/Mara|Tom/),
      }),
    );
  });
});

describe('what is refused', () => {
  it.each([
    ['POST', '/runs', { kind: 'import', job: 'assets', rows: [{ Serial: 'x' }] }, 'viewer', 403],
    [
      'POST',
      '/runs',
      { kind: 'import', job: 'assets', rows: [{ Serial: 'x' }], options: { force: true } },
      'operator',
      403,
    ],
    ['GET', '/runs/20200101T000000000Z-abcd', undefined, 'viewer', 404],
    ['POST', '/runs/20200101T000000000Z-abcd/resume', {}, 'operator', 404],
    ['GET', '/runs/..%2f..%2fkeys.json', undefined, 'viewer', 404],
    ['GET', '/runs?after=forged', undefined, 'viewer', 400],
    ['GET', '/runs?limit=201', undefined, 'viewer', 400],
    ['GET', '/runs?kind=none', undefined, 'viewer', 400],
  ] as const)('%s %s as it is', async (method, at, body, role, status) => {
    const answer = await bench.call(method, at, body, { role });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([status, 'application/problem+json']);
    expect(answer.body).toMatchObject({ status, code: 'usage', detail: expect.any(String) });
    expect(JSON.stringify(answer.body)).not.toMatch(/\bat .*\.(js|ts):\d+|node_modules/);
  });

  it('filters and places that rows do not have', async () => {
    const run = (await bench.call('GET', '/runs?limit=1')).body;
    expect((await bench.call('GET', `/runs?limit=1&after=${run.next}`)).status).toBe(200);
    const { id } = run.runs[0];
    for (const query of ['after=forged', 'outcome=all', 'limit=501', 'offset=-1'])
      expect((await bench.call('GET', `/runs/${id}/rows?${query}`)).status, query).toBe(400);
  });
});

describe('Idempotency-Key', () => {
  it('the same order is the same run, also while it is at work and after its end; another order is refused', async () => {
    const body = { kind: 'import', job: 'assets', rows: [{ Name: 'a', Serial: 'once' }] };
    const runs = await Promise.all([1, 2, 3].map(() => bench.order(body, { 'idempotency-key': 'k-1' })));
    expect(new Set(runs).size).toBe(1);
    await bench.ended(runs[0] ?? '');
    const reordered = { rows: [{ Serial: 'once', Name: 'a' }], job: 'assets', kind: 'import' };
    for (const same of [body, reordered]) expect(await bench.order(same, { 'idempotency-key': 'k-1' })).toBe(runs[0]);
    const other = await bench.call(
      'POST',
      '/runs',
      { ...body, job: 'braked' },
      { headers: { 'idempotency-key': 'k-1' } },
    );
    expect([other.status, other.body.detail]).toEqual([422, expect.stringContaining('another order')]);
    const keyed = bench.sandbox.records('asset').filter((one) => JSON.stringify(one).includes('"once"'));
    expect(keyed.length).toBe(1);
  });
});

describe('retry', () => {
  it('takes up what failed, with its corrections; nothing to retry is said', async () => {
    const run = await order('fine', 1);
    await bench.ended(run);
    const { status, body } = await bench.call('POST', `/runs/${run}/retry`, {});
    expect([status, body.detail]).toEqual([409, expect.stringContaining('nothing to retry')]);
  });

  it('does not take up rows without a key that were left unknown: nobody but a person can look them up', async () => {
    bench.sandbox.setFaults(['POST /asset nth=1 close_after']);
    const job = { ...JOB, match: { key: 'none' } };
    const run = await bench.order({ kind: 'import', job, rows: [{ Name: 'blind', Serial: 'b-1' }] });
    const ended = await bench.ended(run);
    bench.sandbox.setFaults([]);
    expect(ended).toMatchObject({ outcomes: { unknown: 1 }, actions: { retry: { allowed: false } } });
    const { status, body } = await bench.call('POST', `/runs/${run}/retry`, {});
    expect([status, body.detail]).toEqual([409, expect.stringContaining('cannot be looked up')]);
  });
});
