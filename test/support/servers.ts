import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown, mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import pg from 'pg';
import { describe, it } from 'vitest';
import { postgresServer, redisServer } from './binaries.js';
import { freePort, type ServerProcess, startServer } from './server-process.js';

const run = promisify(execFile);
/** Data folders of PostgreSQL as a first start makes them, to be copied. */
const KEPT = path.join(import.meta.dirname, '../../node_modules/.cache/rowferry-stores');

/** A real server of one suite alone, on its own port, in a folder of its own. */
export interface PrivateServer {
  readonly url: string;
  readonly port: number;
  readonly pid: number | undefined;
  /** Ends it in an orderly way and removes its folder. */
  stop(): Promise<void>;
  /** Ends it as a crash would; `restart` starts it anew. */
  kill(): Promise<void>;
  /** The same port and folder; orderly where it still runs. */
  restart(): Promise<void>;
}

export interface RedisServerOptions {
  readonly password?: string;
  /** Keeps every write over a crash; else nothing outlives the process. */
  readonly appendonly?: boolean;
  readonly policy?: string;
  /** As in `--maxmemory 4mb`. */
  readonly maxmemory?: string;
  readonly port?: number;
  /** As it is right after its installation: no worker has ever seen it. */
  readonly fresh?: boolean;
  /** A cluster of this one node. */
  readonly cluster?: boolean;
  /** A sentinel that watches the server on that port under the name `mymaster`. */
  readonly sentinelOf?: { readonly port: number; readonly password?: string };
}

/** Throws where there is no `redis-server`; `itWith` and `availableStores` see to that beforehand. */
export async function privateRedis(options: RedisServerOptions = {}): Promise<PrivateServer> {
  const found = await redisServer();
  if ('missing' in found) throw new Error(found.missing);
  const port = options.port ?? (await freePort());
  const dir = await mkdtemp(path.join(tmpdir(), 'rowferry-redis-'));
  const { password } = options;
  if (options.sentinelOf) return privateSentinel(found.path, port, dir, options.sentinelOf);
  const args = [
    ...['--port', String(port), '--bind', '127.0.0.1', '--dir', dir, '--save', '', '--daemonize', 'no'],
    ...(options.cluster ? await clusterArgs() : []),
    ...['--maxmemory-policy', options.policy ?? 'noeviction'],
    ...(options.appendonly ? ['--appendonly', 'yes', '--appendfsync', 'always'] : []),
    ...(password === undefined ? [] : ['--requirepass', password]),
    ...(options.maxmemory === undefined ? [] : ['--maxmemory', options.maxmemory]),
  ];
  const url = `redis://${password === undefined ? '' : `:${encodeURIComponent(password)}@`}127.0.0.1:${port}`;
  const ready = async () => {
    await redisAnswers(url);
    if (options.cluster) await asCluster(url);
  };
  const made = await server({
    url,
    port,
    dir,
    start: () => startServer(found.path, args, ready),
    orderly: 'SIGTERM',
    crash: 'SIGKILL',
  });
  if (!options.fresh) await asked(url, asKnownForLong);
  return made;
}

/** A server that nobody knows yet hands out no lease for as long as one lasts: tests need not wait for that each time. */
async function asKnownForLong(client: Redis): Promise<void> {
  const id = /run_id:(\w+)/.exec(await client.info('server'))?.[1] ?? '';
  await client.hset('{rowferry}:server', 'id', id, 'since', '0.000');
}

async function redisAnswers(url: string): Promise<void> {
  await asked(url, (client) => client.ping());
}

async function clusterArgs(): Promise<string[]> {
  return [
    ...['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1'],
    ...['--cluster-port', String(await freePort())],
  ];
}

/** The node takes all slots; it says so once it is ready. */
async function asCluster(url: string): Promise<void> {
  const info = await asked(url, async (client) => {
    await client.cluster('ADDSLOTSRANGE', 0, 16_383).catch(() => undefined);
    return client.cluster('INFO');
  });
  if (!info.includes('cluster_state:ok')) throw new Error(info);
}

async function asked<T>(url: string, question: (client: Redis) => Promise<T>): Promise<T> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null, enableReadyCheck: false });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await question(client);
  } finally {
    client.disconnect();
  }
}

async function privateSentinel(
  command: string,
  port: number,
  dir: string,
  master: NonNullable<RedisServerOptions['sentinelOf']>,
): Promise<PrivateServer> {
  const config = path.join(dir, 'sentinel.conf');
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${dir}`,
    `sentinel monitor mymaster 127.0.0.1 ${master.port} 1`,
    ...(master.password === undefined ? [] : [`sentinel auth-pass mymaster ${master.password}`]),
  ];
  await writeFile(config, `${lines.join('\n')}\n`);
  const url = `redis://127.0.0.1:${port}`;
  const start = () => startServer(command, [config, '--sentinel'], () => redisAnswers(url));
  return server({ url, port, dir, start, orderly: 'SIGTERM', crash: 'SIGKILL' });
}

const POSTGRES_PASSWORD = 'let-me-in';

/** Throws where there is no `postgres`. A start takes some 2 s: one server for a test file is enough. */
export async function privatePostgres(): Promise<PrivateServer> {
  const found = await postgresServer();
  if ('missing' in found) throw new Error(found.missing);
  const port = await freePort();
  const dir = await mkdtemp(path.join(tmpdir(), 'rowferry-postgres-'));
  // PostgreSQL refuses to run as root.
  const user = process.getuid?.() === 0 ? await plainUser() : {};
  const [data, passwordFile] = [path.join(dir, 'data'), path.join(dir, 'password')];
  await mkdir(data);
  await writeFile(passwordFile, POSTGRES_PASSWORD);
  if (user.uid !== undefined) {
    for (const one of [dir, data, passwordFile]) await chown(one, user.uid, user.gid ?? user.uid);
  }
  const { stdout: version } = await run(found.path, ['--version']);
  const kept = path.join(KEPT, `cluster-${/[\d.]+/.exec(version)?.[0]}-${user.uid ?? process.getuid?.() ?? ''}`);
  // With its owner, and without the second that making one takes.
  if (existsSync(kept)) await run('cp', ['-a', `${kept}/.`, data]);
  else {
    await run(
      path.join(path.dirname(found.path), 'initdb'),
      [
        ...['-D', data, '-U', 'rowferry', '--auth', 'scram-sha-256', '--pwfile', passwordFile],
        ...['--no-sync', '-E', 'UTF8', '--locale', 'C'],
      ],
      { ...user, cwd: dir },
    );
    await keep((fresh) => run('cp', ['-a', data, fresh]), kept);
  }
  const url = `postgres://rowferry:${POSTGRES_PASSWORD}@127.0.0.1:${port}/postgres`;
  const ready = async () => {
    const client = new pg.Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
    } finally {
      await client.end().catch(() => undefined);
    }
  };
  const args = ['-D', data, '-p', String(port), '-h', '127.0.0.1', '-k', dir, '-F'];
  return server({
    url,
    port,
    dir,
    start: () => startServer(found.path, args, ready, { ...user, cwd: dir }),
    // SIGTERM would wait for every client to go; SIGQUIT leaves the data as a crash does, and no process behind.
    orderly: 'SIGINT',
    crash: 'SIGQUIT',
  });
}

async function plainUser(): Promise<{ uid?: number; gid?: number }> {
  const users = (await readFile('/etc/passwd', 'utf8')).split('\n').map((line) => line.split(':'));
  const user = users.find(([name]) => name === 'postgres') ?? users.find(([name]) => name === 'nobody');
  if (!user) return {};
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

async function server(what: {
  readonly url: string;
  readonly port: number;
  readonly dir: string;
  readonly start: () => Promise<ServerProcess>;
  readonly orderly: NodeJS.Signals;
  readonly crash: NodeJS.Signals;
}): Promise<PrivateServer> {
  let running = await what.start();
  return {
    url: what.url,
    port: what.port,
    get pid() {
      return running.pid;
    },
    async stop() {
      await running.end(what.orderly);
      await rm(what.dir, { recursive: true, force: true });
    },
    kill: () => running.end(what.crash),
    async restart() {
      await running.end(what.orderly);
      running = await what.start();
    },
  };
}

/** Somewhere to open a store. */
export interface StoreServer {
  /** Undefined: embedded, in `home`. */
  readonly url: string | undefined;
  /** A folder of its own, for any store. */
  readonly home: string;
  /** Ends the server, where there is one, and removes the folder. Close the stores first. */
  stop(): Promise<void>;
  /** As of `PrivateServer`; absent for embedded, which is no process of its own. */
  readonly server?: PrivateServer;
}

export interface AvailableStore {
  readonly name: 'embedded' | 'redis' | 'postgres';
  start(): Promise<StoreServer>;
}

/** Stores that several workers share; the embedded one has one worker at a time. */
export async function sharedStores(): Promise<(AvailableStore & { readonly name: 'redis' | 'postgres' })[]> {
  const all = await availableStores();
  return all.flatMap(({ name, start }) => (name === 'embedded' ? [] : [{ name, start }]));
}

/**
 * For `describe.each(await availableStores())('… on $name', ({ start }) => …)`. What is missing here shows as a skipped
 * suite that says why.
 */
export async function availableStores(): Promise<AvailableStore[]> {
  const all = [
    { name: 'embedded', found: { path: '' } },
    // Every write is kept over a crash, as PostgreSQL does.
    { name: 'redis', found: await redisServer(), open: () => privateRedis({ appendonly: true }) },
    { name: 'postgres', found: await postgresServer(), open: privatePostgres },
  ] as const;
  return all.flatMap((one): AvailableStore[] => {
    if ('missing' in one.found) {
      const reason = one.found.missing;
      describe(`on ${one.name}`, () => it.skip(reason, () => undefined));
      return [];
    }
    return [{ name: one.name, start: () => startStore('open' in one ? one.open : undefined) }];
  });
}

async function startStore(open: (() => Promise<PrivateServer>) | undefined): Promise<StoreServer> {
  const [home, server] = [await mkdtemp(path.join(tmpdir(), 'rowferry-home-')), await open?.()];
  return {
    url: server?.url,
    home,
    async stop() {
      await server?.stop();
      await rm(home, { recursive: true, force: true });
    },
    ...(server && { server }),
  };
}

/** Makes a folder for all who copy it. */
async function keep(make: (fresh: string) => Promise<unknown>, folder: string): Promise<void> {
  await mkdir(KEPT, { recursive: true });
  const place = await mkdtemp(path.join(KEPT, 'new-'));
  await make(path.join(place, 'made'));
  // Another process may have been as quick; its folder is as good.
  await rename(path.join(place, 'made'), folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
  await rm(place, { recursive: true, force: true });
}

/**
 * `it` for tests that need a server of their own: skipped where there is none, beside a test whose name says why.
 * For whole suites: `describe.skipIf((await itWith('redis')) !== it)`.
 */
export async function itWith(name: 'redis' | 'postgres'): Promise<typeof it> {
  const found = await (name === 'redis' ? redisServer() : postgresServer());
  if (!('missing' in found)) return it;
  it.skip(found.missing, () => undefined);
  return it.skip as typeof it;
}
