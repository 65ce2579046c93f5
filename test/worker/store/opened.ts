import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EmbeddedPool, openFolder } from '../../../src/worker/store/embedded.js';
import { openReports } from '../../../src/worker/store/faults.js';
import { openStore } from '../../../src/worker/store/open.js';
import type { Store } from '../../../src/worker/store/port.js';
import { postgresStore } from '../../../src/worker/store/postgres.js';
import { cliPath } from '../../support/build.js';
import { QUICK } from '../../support/process.js';
import type { StoreServer } from '../../support/servers.js';

export interface Opened extends Store {
  /** What it told, as `level: text`. */
  readonly notices: readonly string[];
}

/** One member's store. */
export async function open(
  server: Pick<StoreServer, 'url' | 'home'>,
  options: {
    readonly patienceMs?: number;
    readonly signal?: AbortSignal;
    readonly notices?: string[];
    readonly leaseMs?: number;
  } = {},
): Promise<Opened> {
  const notices = options.notices ?? [];
  const store = await openStore({
    ...(server.url !== undefined && { url: server.url }),
    home: server.home,
    strict: false,
    patienceMs: options.patienceMs ?? 10_000,
    notice: (level, text) => notices.push(`${level}: ${text}`),
    signal: options.signal ?? new AbortController().signal,
    ...(options.leaseMs !== undefined && { leaseMs: options.leaseMs }),
  });
  return Object.assign(store, { notices });
}

/** Two members: of an embedded queue, which one process has open at a time, both on that one's connection. */
export async function openTwo(server: Pick<StoreServer, 'url' | 'home'>): Promise<readonly [Opened, Opened]> {
  // Both at once: both make its tables, or find them.
  if (server.url !== undefined) return Promise.all([open(server), open(server)]);
  const pool = await EmbeddedPool.create(
    () => openFolder(join(server.home, 'queue'), () => undefined),
    async () => undefined,
  );
  const reports = openReports(server.home, () => undefined);
  const member = async (own: EmbeddedPool) => {
    const store = await postgresStore({ kind: 'embedded', address: server.home, pool: own, reports });
    return Object.assign(store, { notices: [] });
  };
  const lent = new Proxy(pool, {
    get(target, name) {
      if (name === 'end') return async () => undefined;
      const member: unknown = Reflect.get(target, name);
      return typeof member === 'function' ? member.bind(target) : member;
    },
  });
  return [await member(pool), await member(lent)];
}

/** A member in a process of its own, which holds a lease and works on a queue until it is killed. */
export interface OtherProcess {
  readonly child: ChildProcess;
  readonly epoch: number;
  kill(signal: NodeJS.Signals): Promise<void>;
}

export async function otherProcess(
  server: Pick<StoreServer, 'url' | 'home'>,
  hold: { readonly lease: string; readonly ttlMs: number; readonly queue: string },
): Promise<OtherProcess> {
  const module = pathToFileURL(join(dirname(dirname(await cliPath())), 'worker', 'store', 'open.js')).href;
  const script = `
    const { openStore } = await import(${JSON.stringify(module)});
    const store = await openStore({ ...${JSON.stringify({ url: server.url, home: server.home })}, strict: false,
      patienceMs: 20_000, notice: () => undefined, signal: new AbortController().signal });
    const lease = await store.lease(${JSON.stringify(hold.lease)}, ${hold.ttlMs});
    store.worker(${JSON.stringify(hold.queue)}, async () => undefined, { concurrency: 1 });
    await store.workers(${JSON.stringify(hold.queue)});
    console.log(lease.epoch);
    setInterval(() => undefined, 1_000);`;
  const file = join(server.home, `member-${hold.queue.replaceAll(/\W/g, '-')}.mjs`);
  await writeFile(file, script);
  const child = spawn(process.execPath, [...QUICK, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  process.once('exit', () => child.kill('SIGKILL'));
  const [said] = (await Promise.race([once(child.stdout, 'data'), ended])) as [Buffer | number];
  return {
    child,
    epoch: Number(String(said)),
    async kill(signal) {
      child.kill(signal);
      if (signal === 'SIGKILL') await ended;
    },
  };
}
