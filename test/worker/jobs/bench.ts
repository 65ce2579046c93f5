import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Job, JobsOptions, Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import pino from 'pino';
import { resolveSettings, type Settings } from '../../../src/runs/settings.js';
import { type Sandbox, type SandboxOptions, startSandbox } from '../../../src/sandbox/index.js';
import { DropFolder } from '../../../src/worker/inbox/drop-folder.js';
import { type RunDeps, runProcessor } from '../../../src/worker/jobs/delivery.js';
import { homeId, registerHome } from '../../../src/worker/jobs/home.js';
import type { EndedRun } from '../../../src/worker/jobs/job.js';
import { openStops } from '../../../src/worker/jobs/stops.js';
import { openStore } from '../../../src/worker/store/open.js';
import type { Lease } from '../../../src/worker/store/port.js';
import { asBull, type BullStore } from '../../support/bull.js';
import { importOf } from '../../support/jobs.js';
import { privateRedis } from '../../support/servers.js';

/** A queue of its own, a service, a jobs folder and a drop folder, and workers with a home each. */
export interface Bench {
  readonly dir: string;
  readonly sandbox: Sandbox;
  readonly queue: Queue;
  readonly store: BullStore;
  /** The queue's own memory, to damage it. */
  readonly redis: Redis;
  worker(options?: WorkerOptions): Promise<Bound>;
  add(data: unknown, options?: JobsOptions, name?: string): Promise<Job>;
  /** Resolves when the job is completed or failed. */
  settled(job: Job): Promise<Job>;
  file(name: string, content: string): Promise<string>;
  close(): Promise<void>;
}

export interface WorkerOptions {
  readonly home?: string;
  readonly env?: Record<string, string>;
  readonly deps?: Partial<RunDeps>;
  readonly lockDuration?: number;
  readonly stalledInterval?: number;
}

export interface Bound {
  readonly worker: Worker;
  readonly settings: Settings;
  readonly ended: EndedRun[];
  /** As SIGTERM does: runs are handed back, and the worker ends. */
  stop(): Promise<void>;
}

export const JOB = importOf('asset', 'serial_number', { Name: 'name', Serial: 'serial_number' });

export const sheet = (rows: number, from = 0): string =>
  ['Name,Serial', ...Array.from({ length: rows }, (_, i) => `n${i + from},S-${i + from}`)].join('\r\n');

/** Puts assets into the service that an update may take as they are: it insists on a category. */
export function insertAssets(sandbox: Sandbox, assets: readonly { name: string; serial_number: string }[]): void {
  sandbox.putLookup('category', 1, { id: 1, category: 'Laptop', subcategories: ['Business'] });
  sandbox.insert(
    'asset',
    assets.map((one) => ({ ...one, category: { id: 1, subcategory: 'Business' } })),
  );
}

export async function openBench(
  options: SandboxOptions = {},
  start: () => Promise<{ readonly url: string | undefined; stop(): Promise<void> }> = () => privateRedis(),
): Promise<Bench> {
  const server = await start();
  const redis = new Redis(server.url ?? '', { lazyConnect: true });
  const sandbox = await startSandbox({ responses: 'bare', seed: 'empty', token: 'test-token', ...options });
  const dir = await mkdtemp(path.join(tmpdir(), 'rowferry-jobs-'));
  const running: Bound[] = [];
  const open = async () =>
    asBull(
      await openStore({
        ...(server.url !== undefined && { url: server.url }),
        home: dir,
        strict: false,
        patienceMs: 10_000,
        notice: () => undefined,
        signal: new AbortController().signal,
      }),
    );
  const store = await open();
  const queue = store.queue('rowferry');
  await mkdir(path.join(dir, 'jobs'));
  await writeFile(path.join(dir, 'jobs', 'assets.yaml'), JSON.stringify(JOB));

  return {
    dir,
    sandbox,
    queue,
    store,
    redis,
    async worker(more = {}) {
      const settings = resolveSettings(
        {
          ROWFERRY_API_URL: sandbox.url,
          ROWFERRY_API_TOKEN: 'test-token',
          ROWFERRY_HOME: path.join(dir, more.home ?? 'home'),
          ROWFERRY_INBOX: path.join(dir, 'drop'),
          ROWFERRY_SETTLE_WINDOW: '0.05,0.1,0.2',
          ROWFERRY_TIMEOUT: '2',
          ROWFERRY_PATIENCE: '0.01',
          ROWFERRY_LEASE: '2',
          ...more.env,
        },
        {},
        dir,
      );
      const bound = await bind(
        server.url === undefined ? { ...store, close: async () => undefined } : await open(),
        settings,
        more,
      );
      running.push(bound);
      return bound;
    },
    add: (data, options, name = 'import') => queue.add(name, data, options),
    async settled(job) {
      for (;;) {
        const state = await queue.getJobState(job.id ?? '');
        const now = state === 'completed' || state === 'failed' ? await queue.getJob(job.id ?? '') : undefined;
        if (now) return now;
        await new Promise((next) => setTimeout(next, 20));
      }
    },
    async file(name, content) {
      const file = path.join(dir, name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, content);
      return file;
    },
    async close() {
      await Promise.all(running.map((one) => one.stop()));
      await store.close();
      redis.disconnect();
      await server.stop();
      await sandbox.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

async function bind(store: BullStore, settings: Settings, options: WorkerOptions): Promise<Bound> {
  await mkdir(settings.home, { recursive: true });
  const stopping = new AbortController();
  const ended: EndedRun[] = [];
  const id = homeId(settings.home);
  const alive: Lease | undefined = await store.lease(`home.${id}`, 2_000);
  await registerHome(store, { id, roots: [...settings.roots], service: settings.apiUrl ?? '' });
  const processor = runProcessor({
    settings,
    store,
    queue: store.queue('rowferry'),
    log: pino({ level: process.env['JOBS_LOG'] ?? 'silent' }),
    stopping: stopping.signal,
    homeId: id,
    stops: openStops(store),
    context: () => ({ settings }),
    dropFolder: new DropFolder(settings.inbox, [settings.jobsDir, settings.home]),
    onEnded: (one) => ended.push(one),
    ...options.deps,
  });
  const { lockDuration = 30_000, stalledInterval = 30_000 } = options;
  const worker = store.worker('rowferry', processor, {
    concurrency: 4,
    maxStalledCount: 1_000,
    lockDuration,
    stalledInterval,
  });
  let stopped: Promise<void> | undefined;
  return {
    worker,
    settings,
    ended,
    stop() {
      stopped ??= (async () => {
        const closed = worker.close();
        stopping.abort();
        await closed;
        await alive?.release();
        await store.close();
      })();
      return stopped;
    },
  };
}

export async function runsOf(home: string): Promise<string[]> {
  return readdir(path.join(home, 'runs')).catch(() => []);
}

export async function jsonOf(...parts: string[]): Promise<Record<string, unknown>> {
  return JSON.parse(await readFile(path.join(...parts), 'utf8')) as Record<string, unknown>;
}
