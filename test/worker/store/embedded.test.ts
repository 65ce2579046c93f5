import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDatabase } from '../../../src/store/sqlite.js';
import { openSmallDisk } from '../../crash/small-disk.js';
import { cliPath } from '../../support/build.js';
import { QUICK } from '../../support/process.js';
import { until } from '../../support/until.js';
import { open, otherProcess } from './opened.js';

/** What the embedded queue alone promises; `store.test.ts` and `rights.test.ts` have what it shares with the others. */
let root: string;
let last = 0;
beforeAll(async () => {
  // Other processes run what is compiled here, which takes its time once.
  await cliPath();
  root = await mkdtemp(join(tmpdir(), 'rowferry-queue-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

const freshHome = (): string => join(root, `home-${++last}`);
const opened = (home: string) => open({ url: undefined, home });

test('its file is for its owner alone, and a home that had none gets one', async () => {
  const home = freshHome();
  const store = await opened(home);
  expect((await stat(join(home, 'queue.db'))).mode & 0o777).toBe(0o600);
  await store.close();
  expect((await readdir(home)).sort()).toEqual(['queue.db']);
});

test('is held by one process at a time: another is refused, until the first is killed', async () => {
  const home = freshHome();
  await mkdir(home);
  const holder = await otherProcess({ url: undefined, home }, { lease: 'one', ttlMs: 1_000, queue: 'q' });
  await expect(opened(home)).rejects.toThrow(
    `Process ${holder.child.pid} has the embedded queue in ${home} open, and one worker can.`,
  );
  await holder.kill('SIGKILL');
  const store = await opened(home);
  // Its leases have ended with it.
  expect(await store.leased('one')).toBe(false);
  expect((await store.lease('one', 1_000))?.valid).toBe(true);
  await store.check();
  await store.close();
  expect(existsSync(join(home, 'queue.lock'))).toBe(false);
});

describe('a worker that is killed with jobs at work', () => {
  test('leaves them to the next, before all that wait, with what they told; each death is counted', async () => {
    const home = freshHome();
    await mkdir(home);
    const module = pathToFileURL(join(dirname(dirname(await cliPath())), 'worker', 'store', 'open.js')).href;
    const work = join(home, 'work.mjs');
    await writeFile(
      work,
      `const { openStore } = await import('${module}');
      const store = await openStore({ home: '${home}', strict: false, patienceMs: 0, notice() {}, signal: new AbortController().signal });
      const queue = store.queue('q');
      for (const jobId of ['a', 'b', 'c', 'd']) await queue.add('import', { jobId }, { jobId });
      await queue.add('import', {}, { jobId: 'later', delay: 1 });
      store.worker('q', async (job) => {
        await job.updateProgress({ of: job.id });
        console.log('at work: ' + job.id);
        await new Promise(() => {});
      }, { concurrency: 2 });`,
    );
    for (const deaths of [1, 2]) {
      const worker = spawn(process.execPath, [...QUICK, work], { stdio: ['ignore', 'pipe', 'inherit'] });
      const ended = once(worker, 'exit');
      let said = '';
      worker.stdout.on('data', (chunk: Buffer) => {
        said += chunk.toString('utf8');
      });
      await until(() => said.includes('at work: a') && said.includes('at work: b'));
      worker.kill('SIGKILL');
      await ended;
      const store = await opened(home);
      const queue = store.queue('q');
      const waiting = await queue.getJobs(['waiting'], 0, -1, true);
      expect(waiting.map(({ id }) => id).filter((id) => id !== 'later')).toEqual(['a', 'b', 'c', 'd']);
      expect(waiting[0]).toMatchObject({
        stalledCounter: deaths,
        progress: { of: 'a' },
        data: { jobId: 'a' },
        attemptsMade: 0,
      });
      expect(await queue.getJob('c')).toMatchObject({ stalledCounter: 0, progress: 0 });
      await store.close();
    }
    const store = await opened(home);
    const queue = store.queue('q');
    const ran: unknown[] = [];
    store.worker('q', async ({ id }) => ran.push(id), { maxStalledCount: 1 });
    await until(async () => (await queue.getJobCounts('completed'))['completed'] === 3);
    // Those over which more died than may.
    expect(ran.slice().sort()).toEqual(['c', 'd', 'later']);
    const failed = await queue.getJobs(['failed'], 0, -1, true);
    expect(failed.map(({ id, failedReason }) => [id, failedReason])).toEqual([
      ['a', 'job stalled more than allowable limit'],
      ['b', 'job stalled more than allowable limit'],
    ]);
    await store.close();
  });
});

test('runs thousands of jobs in the order in which they came, each once', async () => {
  const COUNT = 2_000;
  const store = await opened(freshHome());
  const queue = store.queue('q', { defaultJobOptions: { removeOnComplete: { count: 10 } } });
  const ids = Array.from({ length: COUNT }, (_, i) => `job-${i}`);
  await Promise.all(ids.map((jobId) => queue.add('import', { jobId }, { jobId })));
  const ran: unknown[] = [];
  store.worker('q', async ({ data }) => void ran.push(data.jobId), { concurrency: 4 });
  await until(() => ran.length >= COUNT, { withinMs: 300_000 });
  expect(ran).toEqual(ids);
  await until(async () => (await queue.getJobCounts('active'))['active'] === 0);
  expect(await queue.getJobCounts('completed')).toEqual({ completed: 10 });
  await store.close();
}, 400_000);

test('what two ask at once leaves timers their turn', async () => {
  const store = await opened(freshHome());
  const queue = store.queue('q');
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  for (const end = performance.now() + 5_000; turns < 5 && performance.now() < end; ) await queue.getJobState('a');
  clearInterval(timer);
  expect(turns).toBeGreaterThanOrEqual(5);
  await store.close();
});

describe('a file that cannot be read', () => {
  const notices = async (home: string) => {
    const store = await opened(home);
    await store.queue('q').add('import', {});
    await store.close();
    return store.notices;
  };

  test('is put aside when it is damaged, which is told, and the home stays as it is', async () => {
    const home = freshHome();
    await notices(home);
    await writeFile(join(home, 'queue.db'), Buffer.alloc(40_000, 'torn'));
    expect((await notices(home)).at(-1)).toMatch(
      /^warn: The embedded queue .*queue\.db is damaged\. It starts empty: .* The old one lies in .*queue\.db\.damaged-\d+T\d+Z\.$/,
    );
    expect((await readdir(home)).filter((name) => name.startsWith('queue.db.damaged-'))).toHaveLength(1);
  });

  test('is put aside when another version wrote it', async () => {
    const home = freshHome();
    await mkdir(home);
    const other = { label: 'It', schema: 'create table job (id text) strict', version: 99, remedy: '' };
    openDatabase(join(home, 'queue.db'), other).close();
    expect((await notices(home)).at(-1)).toMatch(/has format 99; .* It starts empty: /);
  });

  test('is nothing that the home itself is to blame for', async () => {
    const home = freshHome();
    await writeFile(home, '');
    await expect(opened(home)).rejects.toThrow(/embedded queue in .* cannot be opened: .*Check that the disk/);
    const taken = freshHome();
    await mkdir(join(taken, 'queue.db'), { recursive: true });
    await expect(opened(taken)).rejects.toThrow(/embedded queue in .* cannot be opened: .*Check that the disk/);
    expect(await readdir(taken)).toEqual(['queue.db']);
  });
});

test('on a full disk it says so, and goes on once there is room', async ({ skip }) => {
  const disk = await openSmallDisk();
  if (disk === undefined) return skip('mounting a small disk needs root');
  const store = await opened(join(disk.path, 'home'));
  try {
    const queue = store.queue('q');
    const ran: unknown[] = [];
    let end = (): void => undefined;
    const gate = new Promise<void>((resolve) => {
      end = resolve;
    });
    store.worker(
      'q',
      async ({ id }) => {
        await gate;
        ran.push(id);
      },
      {},
    );
    await queue.add('import', {}, { jobId: 'a' });
    await until(async () => (await queue.getJobState('a')) === 'active');
    disk.fill();
    await expect(queue.add('import', { rows: ['x'.repeat(10_000_000)] })).rejects.toMatchObject({
      message: expect.stringMatching(
        /^The queue at .*queue\.db is full \(.*full.*\)\. .*work goes on when there is room\.$/,
      ),
      code: 'queue_unreachable',
    });
    // What its log has room for can still be written.
    await until(async () =>
      store
        .update('text', (text = '') => `${text}${'x'.repeat(50_000)}`)
        .then(
          () => false,
          () => true,
        ),
    );
    await expect(store.check()).rejects.toThrow(/is full/);
    end();
    await until(() => ran.length === 1);
    await until(() => store.notices.some((text) => /^warn: The queue at .* is full/.test(text)));
    expect(await queue.getJobState('a')).toBe('active');
    disk.free();
    await until(async () => (await queue.getJobState('a')) === 'completed');
    await store.check();
    await queue.add('import', {}, { jobId: 'b' });
    await until(async () => (await queue.getJobState('b')) === 'completed');
    expect(ran).toEqual(['a', 'b']);
  } finally {
    await store.close();
    await disk.remove();
  }
});
