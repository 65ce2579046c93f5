import { Queue } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DelayedError, UnrecoverableError, WaitingError } from '../../../src/worker/store/port.js';
import { cliPath } from '../../support/build.js';
import { availableStores, type StoreServer } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { type Opened, open, openTwo, otherProcess } from './opened.js';

/** What every store promises; `rights.test.ts` has the other half, `away.test.ts` what differs. */
describe.each(await availableStores())('a queue on $name', ({ name, start }) => {
  let server: StoreServer;
  let store: Opened;
  let other: Opened;
  let serial = 0;
  const fresh = () => `queue-${++serial}`;

  beforeAll(async () => {
    // Other processes run what is compiled here, which takes its time once.
    await cliPath();
    server = await start();
    [store, other] = await openTwo(server);
  });
  afterAll(async () => {
    await Promise.all([store?.close(), other?.close()]);
    await server?.stop();
  });

  it('carries a job, its progress and its answer between two processes', async () => {
    const queue = store.queue(fresh());
    // What happens on an embedded queue happens in its process.
    const events = name === 'embedded' ? undefined : store.events(queue.name);
    const progress: unknown[] = [];
    events?.on('progress', ({ data }) => progress.push(data));
    await events?.waitUntilReady();
    other.worker(
      queue.name,
      async (job) => {
        await job.updateProgress({ phase: 'writing', total: 2, done: 1 });
        return { rows: (job.data as { rows: unknown[] }).rows.length };
      },
      { concurrency: 2 },
    );
    const job = await queue.add('import', { job: 'assets', rows: [{ Name: 'Bürostuhl 📎' }, {}] });
    if (events) {
      expect(await job.waitUntilFinished(events, 60_000)).toEqual({ rows: 2 });
      await until(() => progress.length > 0);
      expect(progress).toContainEqual({ phase: 'writing', total: 2, done: 1 });
    }
    const { id = '' } = job;
    await until(async () => (await queue.getJobState(id)) === 'completed');
    const found = await queue.getJob(id);
    expect(found?.returnvalue).toEqual({ rows: 2 });
    expect(found?.progress).toEqual({ phase: 'writing', total: 2, done: 1 });
    expect(found?.data.rows[0]).toEqual({ Name: 'Bürostuhl 📎' });
  });

  it('keeps a finished job for who asks later', async () => {
    const queue = store.queue(fresh());
    other.worker(queue.name, async () => ({ status: 'succeeded' }), {});
    await queue.add('import', {}, { jobId: 'drop.assets.1' });
    await until(async () => (await queue.getJobState('drop.assets.1')) === 'completed');
    const job = await queue.getJob('drop.assets.1');
    expect(job?.returnvalue).toEqual({ status: 'succeeded' });
    expect(job?.finishedOn).toBeGreaterThan(0);
  });

  it('takes a job id once', async () => {
    const queue = store.queue(fresh());
    await Promise.all([
      queue.add('import', {}, { jobId: 'night.assets.1' }),
      queue.add('import', {}, { jobId: 'night.assets.1' }),
    ]);
    expect(await queue.getJobCounts('waiting')).toEqual({ waiting: 1 });
  });

  it('holds a delayed job back for its time', async () => {
    const queue = store.queue(fresh());
    const began = performance.now();
    let ran = 0;
    other.worker(
      queue.name,
      async () => {
        ran = performance.now();
      },
      {},
    );
    await queue.add('import', {}, { delay: 600 });
    await until(() => ran > 0);
    expect(ran - began).toBeGreaterThan(550);
    expect(ran - began).toBeLessThan(5_000);
  });

  it('runs a schedule, and changes it in place', async () => {
    // Programs with a plain BullMQ may have schedules of their own; the embedded queue is not for them.
    if (name === 'embedded') return;
    const queue = store.queue(fresh());
    await queue.upsertJobScheduler(
      'assets',
      { pattern: '0 2 * * *', tz: 'Europe/Berlin' },
      { name: 'import', data: {} },
    );
    await queue.upsertJobScheduler('assets', { every: 200 }, { name: 'import', data: { job: 'assets' } });
    const schedulers = await queue.getJobSchedulers();
    expect(schedulers.map(({ key, every }) => [key, Number(every)])).toEqual([['assets', 200]]);
    const seen: unknown[] = [];
    other.worker(queue.name, async (job) => void seen.push(job.data), {});
    await until(() => seen.length >= 2);
    expect(seen[0]).toEqual({ job: 'assets' });
    expect(await queue.removeJobScheduler('assets')).toBe(true);
  });

  it('tries a job again, later each time, as often as it was told, and not where that is of no use', async () => {
    const queue = store.queue(fresh());
    const began: number[] = [];
    other.worker(
      queue.name,
      async (job) => {
        if (job.name === 'wrong') throw new UnrecoverableError('it is wrong');
        began.push(performance.now());
        throw new Error(`attempt ${job.attemptsMade + 1}`);
      },
      {},
    );
    const backoff = { type: 'exponential', delay: 150 };
    const { id = '' } = await queue.add('import', {}, { attempts: 3, backoff });
    const wrong = await queue.add('wrong', {}, { attempts: 3 });
    await until(async () => (await queue.getJobState(id)) === 'failed');
    await until(async () => (await queue.getJobState(wrong.id ?? '')) === 'failed');
    expect(await queue.getJob(id)).toMatchObject({ attemptsMade: 3, failedReason: 'attempt 3' });
    expect(await queue.getJob(wrong.id ?? '')).toMatchObject({ attemptsMade: 1, failedReason: 'it is wrong' });
    const [first = 0, second = 0, third = 0] = began;
    expect(began).toHaveLength(3);
    expect(second - first).toBeGreaterThan(140);
    expect(third - second).toBeGreaterThan(290);
  });

  it('hands a job out again that was put back: at once before all others, or when it is due; neither is an attempt', async () => {
    const queue = store.queue(fresh());
    const ran: string[] = [];
    for (const one of ['first', 'later', 'last']) await queue.add(one, {}, { jobId: one });
    other.worker(
      queue.name,
      async (job, token) => {
        const again = ran.includes(job.name);
        ran.push(job.name);
        if (again) return job.attemptsMade;
        if (job.name === 'first') {
          await job.moveToWait(token);
          throw new WaitingError();
        }
        if (job.name === 'later') {
          await job.moveToDelayed(Date.now() + 500, token);
          throw new DelayedError();
        }
        return 0;
      },
      {},
    );
    await until(async () => (await queue.getJobState('later')) === 'completed');
    // On PostgreSQL BullMQ puts it behind the others.
    const atOnce = name === 'postgres' ? ['later', 'last', 'first'] : ['first', 'later', 'last'];
    expect(ran).toEqual(['first', ...atOnce, 'later']);
    for (const id of ['first', 'later']) expect((await queue.getJob(id))?.returnvalue).toBe(0);
  });

  it('lists jobs by state, lets a delayed one go on, and keeps one that is at work', async () => {
    const queue = store.queue(fresh());
    for (const one of ['a', 'b', 'c']) await queue.add(one, {}, { jobId: one });
    await queue.add('d', {}, { jobId: 'd', delay: 3_600_000 });
    // On PostgreSQL BullMQ's lists are in an order of their own.
    const ids = async (...values: Parameters<typeof queue.getJobs>) => {
      const found = (await queue.getJobs(...values)).map(({ id }) => id);
      return name === 'postgres' ? found.sort() : found;
    };
    if (name !== 'postgres') {
      expect(await ids(['waiting'], 0, 1, true)).toEqual(['a', 'b']);
      expect(await ids(['waiting'], 0, 1)).toEqual(['c', 'b']);
      expect(await ids(['delayed', 'waiting'], 0, -1, true)).toEqual(['d', 'a', 'b', 'c']);
    }
    expect((await ids()).sort()).toEqual(['a', 'b', 'c', 'd']);
    await (await queue.getJob('d'))?.promote();
    expect(await ids(['waiting'], 0, -1, true)).toEqual(['a', 'b', 'c', 'd']);
    await queue.remove('b');
    let end = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      end = resolve;
    });
    other.worker(queue.name, () => gate, {});
    await until(async () => (await queue.getJobState('a')) === 'active');
    await expect((await queue.getJob('a'))?.remove()).rejects.toThrow(/could not be removed/);
    expect(await queue.getJobCounts('active', 'waiting', 'delayed')).toEqual({ active: 1, waiting: 2, delayed: 0 });
    // A job of an id that is known, in whatever state, is not added.
    await queue.add('again', {}, { jobId: 'a' });
    end();
    await until(async () => (await queue.getJobState('d')) === 'completed');
    await queue.add('again', {}, { jobId: 'd' });
    expect((await queue.getJob('d'))?.name).toBe('d');
    expect(await ids(['completed'], 0, -1, true)).toEqual(['a', 'c', 'd']);
    await (await queue.getJob('d'))?.remove();
    expect(await queue.getJobState('d')).toBe('unknown');
    await expect((await queue.getJob('c'))?.moveToDelayed(Date.now())).rejects.toThrow(/job c/i);
  });

  it('forgets jobs that ended but for the last', async () => {
    const queue = store.queue(fresh(), { defaultJobOptions: { removeOnComplete: { age: 3_600, count: 2 } } });
    other.worker(queue.name, async (job) => job.name === 'fails' && Promise.reject(new Error('no')), {
      removeOnFail: { count: 1 },
    });
    for (const one of ['a', 'b', 'c']) await queue.add(one, {}, { jobId: one });
    for (const one of ['x', 'y']) await queue.add('fails', {}, { jobId: one });
    await until(async () => (await queue.getJobState('y')) === 'failed');
    const ids = (await queue.getJobs(['completed', 'failed'], 0, -1, true)).map(({ id }) => id);
    expect(ids).toEqual(['b', 'c', 'y']);
  });

  it('counts who works on it, once however often, and leaves out who was killed', async () => {
    const queue = fresh();
    expect(await store.workers(queue)).toBe(0);
    const worker = store.worker(queue, async () => undefined, {});
    store.worker(queue, async () => undefined, {});
    expect(await store.workers(queue)).toBe(1);
    // One process at a time has the embedded queue.
    if (name !== 'embedded') {
      const killed = await otherProcess(server, { lease: `count.${queue}`, ttlMs: 5_000, queue });
      await until(async () => (await store.workers(queue)) === 2);
      await killed.kill('SIGKILL');
      const at = performance.now();
      await until(async () => (await store.workers(queue)) === 1);
      expect(performance.now() - at).toBeLessThan(12_000);
    }
    await worker.close();
    expect(await store.workers(queue)).toBe(1);
  });

  it('takes orders of programs that know only BullMQ', async () => {
    if (server.url === undefined || name !== 'redis') return;
    const queue = fresh();
    const got = new Promise((resolve) => store.worker(queue, async (job) => resolve(job.data), {}));
    const plain = new Queue(queue, { connection: { url: server.url } });
    await plain.add('import', { job: 'assets' });
    expect(await got).toEqual({ job: 'assets' });
    await plain.close();
  });

  it('answers a health check', async () => {
    await store.check();
    expect(store.address).not.toContain('let-me-in');
  });

  it('goes on after the server was away, and closes while it is', async () => {
    if (!server.server) return;
    const member = await open(server);
    const queue = member.queue(fresh());
    const ran: unknown[] = [];
    const worker = member.worker(queue.name, async (job) => void ran.push(job.name), {});
    await worker.waitUntilReady();
    const events = member.events(queue.name);
    const heard: string[] = [];
    events.on('added', ({ jobId }) => heard.push(jobId));
    await events.waitUntilReady();
    await queue.add('before', {});
    await until(() => ran.includes('before'));
    await server.server.kill();
    await expect(member.check()).rejects.toThrow(/cannot be reached/);
    await until(() => member.notices.some((text) => /cannot be reached/.test(text)));
    await server.server.restart();
    // What happens while a listener comes back is heard when it is back.
    const back = await open(server);
    await back.queue(queue.name).add('meanwhile', {}, { jobId: 'meanwhile' });
    await back.close();
    await until(async () => {
      await member.check().catch(() => undefined);
      return member.notices.some((text) => /there again/.test(text));
    });
    await queue.add('after', {});
    await until(() => ran.includes('after') && ran.includes('meanwhile'));
    await until(() => heard.includes('meanwhile'));
    // Everybody's notices together stay few: each text once in ten seconds.
    expect(member.notices.length).toBeLessThan(12);
    await server.server.kill();
    await until(() =>
      member.check().then(
        () => false,
        () => true,
      ),
    );
    const at = performance.now();
    await member.close();
    expect(performance.now() - at).toBeLessThan(5_000);
    await server.server.restart();
  });
});
