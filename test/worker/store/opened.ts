import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { assemble } from '../../../src/worker/store/assemble.js';
import { embeddedParts, openQueueFile } from '../../../src/worker/store/embedded.js';
import { openReports } from '../../../src/worker/store/faults.js';
import { openStore } from '../../../src/worker/store/open.js';
import { cliPath } from '../../support/build.js';
import { asBull, type BullStore } from '../../support/bull.js';
import { QUICK } from '../../support/process.js';
import type { StoreServer } from '../../support/servers.js';

/** An embedded store has of BullMQ only what `port.ts` names. */
export interface Opened extends BullStore {
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
  return Object.assign(asBull(store), { notices });
}

/** Two members: of an embedded queue, which one process has open at a time, both over that one's file. */
export async function openTwo(server: Pick<StoreServer, 'url' | 'home'>): Promise<readonly [Opened, Opened]> {
  // Both at once: both make its tables, or find them.
  if (server.url !== undefined) return Promise.all([open(server), open(server)]);
  const parts = embeddedParts(await openQueueFile(join(server.home, 'queue.db'), () => undefined));
  const reports = openReports(server.home, () => undefined);
  const member = () => Object.assign(asBull(assemble({ ...parts, address: server.home, reports })), { notices: [] });
  return [member(), member()];
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
