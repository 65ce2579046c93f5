import { Queue } from 'bullmq';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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
    const events = store.events(queue.name);
    const progress: unknown[] = [];
    events.on('progress', ({ data }) => progress.push(data));
    await events.waitUntilReady();
    other.worker(
      queue.name,
      async (job) => {
        await job.updateProgress({ phase: 'writing', total: 2, done: 1 });
        return { rows: (job.data as { rows: unknown[] }).rows.length };
      },
      { concurrency: 2 },
    );
    const job = await queue.add('import', { job: 'assets', rows: [{ Name: 'Bürostuhl 📎' }, {}] });
    expect(await job.waitUntilFinished(events, 60_000)).toEqual({ rows: 2 });
    await until(() => progress.length > 0);
    expect(progress).toContainEqual({ phase: 'writing', total: 2, done: 1 });
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
    expect(await queue.getWaitingCount()).toBe(1);
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
