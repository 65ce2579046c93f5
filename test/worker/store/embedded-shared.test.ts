import { createPostgresBackend, Queue } from 'bullmq';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import type { EmbeddedPool } from '../../../src/worker/store/embedded/pool.js';
import { Homes, type Other, until } from './embedded-homes.js';

// Every test starts processes, which takes much longer where other suites run beside this one.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 });

let homes: Homes;
beforeAll(async () => {
  homes = await Homes.make();
});
afterEach(() => homes.endAll());
afterAll(() => homes.remove());

function queueOf(pool: EmbeddedPool) {
  const queue = new Queue('q', { connection: pool }, createPostgresBackend);
  queue.on('error', () => undefined);
  return queue;
}

/** How many jobs these processes have begun, or completed, and how often. */
function count(what: 'begun' | 'completed', others: readonly Other[]): { jobs: number; times: number } {
  const all = others.flatMap((other) => other.lines).filter((line) => what in line);
  return { jobs: new Set(all.map((line) => line[what])).size, times: all.length };
}

const jobs = (count: number) => Array.from({ length: count }, (_, i) => ({ name: 'job', data: { i } }));

describe('several processes on one home', () => {
  test('three work on one queue, and every job is done once', async () => {
    const home = await homes.home();
    const others = await Promise.all([homes.other(home), homes.other(home), homes.other(home)]);
    const owners = others.filter((other) => other.lines.some((line) => line['owns'] === true));
    expect(owners).toHaveLength(1);
    for (const other of others) await other.do('work', { queue: 'q', ms: 5, concurrency: 2 });

    const pool = await homes.open(home);
    expect(await pool.owns()).toBe(false);
    const queue = queueOf(pool);
    expect(await queue.getWorkersCount()).toBe(3);
    await queue.addBulk(jobs(200));
    await until(async () => (await queue.getCompletedCount()) === 200);
    expect(count('begun', others)).toEqual({ jobs: 200, times: 200 });
    for (const other of others) expect(count('begun', [other]).times).toBeGreaterThan(0);
    await queue.close();
  });

  test('the owner is killed twice in the middle of 500 jobs: all are done', async () => {
    const home = await homes.home();
    const alive = [await homes.other(home), await homes.other(home)];
    const all = [...alive];
    for (const other of alive) await other.do('work', { queue: 'q', ms: 10, concurrency: 3 });
    const giver = await homes.open(home);
    const giving = queueOf(giver);
    await giving.addBulk(jobs(500));
    // From here on only the workers can become the owner.
    await giving.close();
    await giver.end();
    for (const enough of [120, 300]) {
      await until(() => count('completed', all).jobs >= enough);
      const owns = await Promise.all(alive.map((other) => other.do('owns')));
      expect(owns.filter(Boolean)).toHaveLength(1);
      const [victim] = alive.splice(owns.indexOf(true), 1);
      await victim?.kill();
      const next = await homes.other(home);
      await next.do('work', { queue: 'q', ms: 10, concurrency: 3 });
      alive.push(next);
      all.push(next);
    }
    const pool = await homes.open(home);
    const queue = queueOf(pool);
    await until(async () => (await queue.getCompletedCount()) === 500, 60_000);
    const begun = count('begun', all);
    expect(begun.jobs).toBe(500);
    // Only what was in hand at the time is begun again.
    expect(begun.times - 500).toBeLessThanOrEqual(2 * 6);
    expect(await queue.getFailedCount()).toBe(0);
    await queue.close();
  });

  test('a process is killed within its transaction: it is rolled back, and the others go on', async () => {
    const home = await homes.home();
    const pool = await homes.open(home);
    const other = await homes.other(home);
    await other.do('connect');
    await other.do('client', { text: 'BEGIN' });
    await other.do('client', { text: 'UPDATE counter SET n = 77' });
    // Waits for the transaction's end.
    const reading = pool.query<{ n: number }>('SELECT n FROM counter');
    await other.kill();
    expect((await reading).rows).toEqual([{ n: 0 }]);
  });

  test('a notification is there within 100 ms, for those who listen alone', async () => {
    const home = await homes.home();
    const pool = await homes.open(home);
    const [deaf, other] = [await homes.other(home), await homes.other(home)];
    await deaf.do('connect');
    await other.do('connect');
    await other.do('client', { text: '-- why\nLISTEN news;\n' });
    const sent = Date.now();
    await pool.query("SELECT pg_notify('news', 'from the owner')");
    expect(Number((await other.said((line) => line['channel'] === 'news'))['at']) - sent).toBeLessThan(100);

    const client = await pool.connect();
    const heard = new Promise<unknown>((resolve) => client.on('notification', resolve));
    await client.query('LISTEN news');
    await other.do('query', { text: "SELECT pg_notify('news', 'from another')" });
    expect(await heard).toEqual({ channel: 'news', payload: 'from another' });
    expect(deaf.lines.filter((line) => 'channel' in line)).toEqual([]);

    await other.do('client', { text: 'UNLISTEN news' });
    await pool.query("SELECT pg_notify('news', 'later')");
    await other.do('query', { text: 'SELECT 1' });
    expect(other.lines.some((line) => line['payload'] === 'later')).toBe(false);
  });

  test('transactions of two processes never come between each other', async () => {
    const home = await homes.home();
    const pool = await homes.open(home);
    const others = [await homes.other(home), await homes.other(home)];
    await Promise.all(others.map((other) => other.do('count', { times: 60 })));
    expect((await pool.query('SELECT n FROM counter')).rows).toEqual([{ n: 120 }]);
  });

  test('jobs of 40 to 400 KB pass through the socket unharmed', async () => {
    const home = await homes.home();
    const owner = queueOf(await homes.open(home));
    const remote = queueOf(await homes.open(home));
    for (const kilobytes of [40, 400]) {
      const data = { text: 'ä€😀x'.repeat(kilobytes * 100) };
      const { id = '' } = await remote.add('big', data);
      expect((await owner.getJob(id))?.data).toEqual(data);
      expect((await remote.getJob(id))?.data).toEqual(data);
    }
    await Promise.all([owner.close(), remote.close()]);
  });

  test('the owner ends: another process takes over, without a restart', async () => {
    const home = await homes.home();
    const first = await homes.open(home);
    const other = await homes.other(home);
    await other.do('work', { queue: 'q', ms: 1, concurrency: 1 });
    await other.do('connect');
    await first.end();
    await other.said((line) => 'clientError' in line);
    expect(await other.do('owns')).toBe(true);

    const queue = queueOf(await homes.open(home));
    const sent = await queue.add('job', { i: 1 });
    await until(async () => (await sent.getState()) === 'completed');
    await queue.close();
  });

  test('what is under way when the owner is killed rejects, and the next statement is answered', async () => {
    const home = await homes.home();
    const other = await homes.other(home);
    const pool = await homes.open(home);
    const client = await pool.connect();
    const told = new Promise<Error>((resolve) => client.on('error', resolve));
    await client.query('BEGIN');
    await client.query('UPDATE counter SET n = 5');
    const asleep = client.query('SELECT pg_sleep(20)');
    const killed = other.kill();
    await expect(asleep).rejects.toMatchObject({ code: 'ECONNREFUSED', name: 'ConnectionLost' });
    expect(await told).toMatchObject({ code: 'ECONNREFUSED' });
    await expect(client.query('SELECT 1')).rejects.toMatchObject({ name: 'ConnectionLost' });
    await killed;
    expect((await pool.query('SELECT n FROM counter')).rows).toEqual([{ n: 0 }]);
    expect(await pool.owns()).toBe(true);
  });

  test("an error has PostgreSQL's code in every process", async () => {
    const home = await homes.home();
    const pools = [await homes.open(home), await homes.open(home)];
    for (const pool of pools) {
      await expect(pool.query('SELECT 1/$1::int', [0])).rejects.toMatchObject({ code: '22012', name: 'error' });
      await expect(pool.query('SELEC')).rejects.toMatchObject({ code: '42601' });
    }
  });
});
