import { symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Job, Queue } from 'bullmq';
import { afterEach, expect, it } from 'vitest';
import { pack, partsQueue } from '../../../src/worker/parts/protocol.js';
import { privateRedis, sharedStores } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { ASSETS, assetSheet, type Crew, openCrew, type RunningWorker } from '../../support/worker.js';
import { open } from '../store/opened.js';

let crew: Crew;
afterEach(() => crew?.close());

const INLINE = { ...JSON.parse(ASSETS), kind: 'reconcile' };

/** What anybody who reaches the queue may put on it, and a word of each fault that is to be told. */
const FORGED: readonly [name: string, data: unknown, ...faults: RegExp[]][] = [
  ['import', { job: 'assets', file: '/etc/passwd' }, /not below a folder that this worker may read/],
  ['import', { job: 'assets', file: '../../../../etc/passwd' }, /not below a folder/],
  ['import', { job: 'assets', file: 'way-out.csv' }, /not below a folder/],
  ['import', { job: '../../etc/passwd', file: 'good.csv' }, /`job`.*without folder and ending/],
  ['import', { job: 'assets', file: 7, options: { company: 'x' } }, /`file`.*must be text/, /`options.company`/],
  ['import', { job: 'assets', file: 'good.csv', rows: [{ Name: 'a' }] }, /exactly one of/],
  ['import', { job: 'assets', rows: [{ Name: { deep: 1 } }, 7] }, /rows\[0\].Name/, /rows\[1\]/],
  ['import', { job: 'assets', fil: 'good.csv', shell: 'rm' }, /unknown key `fil`/, /unknown key `shell`/, /neither is/],
  ['import', 'not an object', /must be an object/],
  ['import', { job: { kind: 'import', resource: 'rocket' }, file: 'good.csv' }, /rocket/],
  ['imprt', { job: 'assets', file: 'good.csv' }, /job name is "imprt".*import/],
  ['import', { job: 'assets', file: 'good.csv', options: { apply: true } }, /unknown key `options.apply`/],
  ['reconcile', { job: 'assets', file: '/etc/passwd', options: { apply: true } }, /is of kind import, not reconcile/],
  ['reconcile', { job: INLINE, file: '../../../../etc/passwd', options: { apply: true } }, /not below a folder/],
  ['reconcile', { job: INLINE, file: 'good.csv', options: { apply: true, dry_run: true } }, /are both true/],
  ['reconcile', { job: INLINE, rows: [{ Name: { deep: 1 } }], apply: true }, /rows\[0\].Name/, /unknown key `apply`/],
  ['import', { job: 'no-such-job', file: 'good.csv' }, /no-such-job/],
];

it.each(await sharedStores())(
  'forged jobs fail at once on $name, and the next one is run (56)',
  async ({ start }) => {
    crew = await openCrew({ server: await start() });
    await writeFile(join(crew.dir, 'good.csv'), assetSheet(20));
    await symlink('/etc/passwd', join(crew.dir, 'way-out.csv'));
    const worker = await crew.worker('one', { argv: ['--queue-only'] });
    const store = await open(crew.server);
    try {
      const { url } = crew.server;
      // On Redis as any program with a plain BullMQ does it.
      const plain = url?.startsWith('redis') ? new Queue('rowferry', { connection: { url } }) : undefined;
      const queue = plain ?? store.queue('rowferry');
      const jobs: Job[] = [];
      for (const [name, data] of FORGED) jobs.push(await queue.add(name, data, { attempts: 5, backoff: 1 }));
      const good = await queue.add('import', { job: 'assets', file: 'good.csv' });
      const ended = async (id = '') => (await queue.getJob(id))?.finishedOn !== undefined;
      await until(async () => (await Promise.all([...jobs, good].map(({ id }) => ended(id)))).every(Boolean), {
        what: 'the end of every job',
      });
      for (const [at, job] of jobs.entries()) {
        const [name, data, ...faults] = FORGED[at] ?? ['', ''];
        const now = await queue.getJob(job.id ?? '');
        const shown = `${name} ${JSON.stringify(data)}`;
        expect([shown, await now?.getState(), now?.attemptsMade]).toEqual([shown, 'failed', 1]);
        for (const fault of faults) expect(now?.failedReason).toMatch(fault);
        expect(now?.failedReason).not.toMatch(/root:x:|\n\s+at /);
      }
      const run = await queue.getJob(good.id ?? '');
      expect(run?.returnvalue).toMatchObject({ status: 'succeeded', rows: { created: 20, total: 20 } });
      expect(crew.sandbox.commits).toHaveLength(20);
      expect(await worker.metric(/^rowferry_runs_total\{job="unknown",/)).toBeGreaterThan(0);
      expect(await worker.metric(/no-such-job/)).toBe(0);
      expect(worker.err()).not.toMatch(/root:x:/);
      await plain?.close();
    } finally {
      await store.close();
    }
  },
  120_000,
);

it('forged parts, and those of a worker with another secret, are sent by nobody; a run loses nothing by them (92)', async () => {
  const redis = await privateRedis();
  crew = await openCrew({ server: { url: redis.url, home: '', stop: () => redis.stop() } });
  const ROWS = 1_200;
  await writeFile(join(crew.dir, 'good.csv'), assetSheet(ROWS));
  const argv = ['--queue-only'];
  const one = await crew.worker('one', { argv });
  const other = await crew.worker('other', { argv, env: { ROWFERRY_QUEUE_SECRET: 'what nobody else here knows' } });
  const connection = { url: redis.url };
  const parts = new Queue(partsQueue(crew.sandbox.url), { connection });
  const runs = new Queue('rowferry', { connection });
  const ended = async (queue: Queue, job: Job) => (await queue.getJob(job.id ?? ''))?.finishedOn !== undefined;
  try {
    const requests = [{ op: 'update', resource: 'asset', id: '../../../admin/users/7', method: 'DELETE', body: {} }];
    const data = { v: 4, run: 'forged', company: 1, resource: 'asset', count: 1, packed: pack(requests) };
    const sig = 'x'.repeat(43);
    const forged = await parts.addBulk(
      [data, { ...data, sig }, {}, 'none'].map((one) => ({ name: 'part', data: one })),
    );
    await until(async () => (await Promise.all(forged.map((job) => ended(parts, job)))).every(Boolean));
    expect(crew.sandbox.requests.total).toBe(0);

    const job = await runs.add('import', { job: 'assets', file: join(crew.dir, 'good.csv') });
    await until(async () => ended(runs, job), { what: 'the end of the run' });
    const { returnvalue } = (await runs.getJob(job.id ?? '')) ?? {};
    expect(returnvalue).toMatchObject({ status: 'succeeded', rows: { created: ROWS, total: ROWS } });
    expect(crew.sandbox.commits).toHaveLength(ROWS);
    const told = (worker: RunningWorker) => worker.err().split('rowferry_queue_refused_total').length - 1;
    const refused = (worker: RunningWorker) => worker.metric(/^rowferry_queue_refused_total\{what="part"\}/);
    expect((await refused(one)) + (await refused(other))).toBeGreaterThan(forged.length);
    for (const worker of [one, other]) expect(told(worker)).toBeLessThanOrEqual(3);
    expect(told(one) + told(other)).toBeGreaterThan(0);
  } finally {
    await parts.close();
    await runs.close();
  }
});
