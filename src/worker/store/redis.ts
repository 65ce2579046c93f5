import { isIP } from 'node:net';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { type RunError, runFailure } from '../../model/error.js';
import type { RedisAddress } from '../../runs/settings-address.js';
import { withTimeout } from '../rights.js';
import { assembleBull } from './bull.js';
import { connectWithRetry, isConnectionCut, openReports } from './faults.js';
import type { SharedStore, StoreOptions, TextStore } from './port.js';

/**
 * A queue on Redis 5 or newer, or what speaks its protocol. BullMQ's keys have its usual prefix `bull`, so that programs
 * with a plain BullMQ can put jobs on it; a cluster needs all keys of a queue in one slot, there the prefix is `{bull}`.
 */
export async function openRedis(address: RedisAddress, options: StoreOptions): Promise<SharedStore> {
  const reports = openReports(address.displayUrl, options.notice);
  const aheadMs = await connectWithRetry(() => inspect(address, options), options, reports);
  const own = ownClient(address);
  own.on('error', reports.reportError);
  own.on('ready', reports.noteAnswer);
  await own.connect().catch(reports.reportError);
  // Else its time would begin when the first lease is asked for.
  const begin = () =>
    beginLife(own).then((ageMs) => {
      const waitMs = (options.leaseMs ?? 0) - ageMs;
      if (waitMs <= 0) return;
      options.notice(
        'info',
        `The queue at ${address.displayUrl} is new, or was just restarted or emptied: jobs begin in ${Math.ceil(waitMs / 1000)} s, when no worker can hold a right any more that it has forgotten.`,
      );
    }, reports.reportError);
  await begin();
  own.on('ready', begin);
  const shared = queueClient(address);
  shared.on('error', reports.reportError);
  const copies = trackCopies(shared);

  return assembleBull({
    kind: 'redis',
    address: address.displayUrl,
    texts: {
      ...redisTexts(own),
      // Somebody may change it while the queue is in use.
      ping: () => checkStillFit(address, own),
    },
    reports,
    bull: { options: { connection: shared, ...(address.mode === 'cluster' && { prefix: '{bull}' }) } },
    // The ids of a stream are the server's time.
    lastEvent: () => `${Math.floor(Date.now() + aheadMs)}-0`,
    async end() {
      await Promise.allSettled([own.quit(), shared.quit()]);
    },
    abandon() {
      for (const client of [own, shared, ...copies]) client.disconnect();
    },
  });
}

/** BullMQ makes a copy for every worker and listener, and cannot end one that waits for the server to come back. */
function trackCopies(client: Client): Set<Client> {
  const copies = new Set<Client>();
  const duplicate = client.duplicate.bind(client) as (...values: unknown[]) => Client;
  client.setMaxListeners(0);
  Object.assign(client, {
    duplicate: (...values: unknown[]) => {
      const copy = duplicate(...values);
      copies.add(copy);
      // BullMQ listens until it has closed; errors of the end itself are nobody's.
      copy.on('error', () => undefined);
      copy.once('end', () => copies.delete(copy));
      return copy;
    },
  });
  return copies;
}

/** BullMQ reckons with BZPOPMIN and streams. */
const LEAST_VERSION = 5;
/** Sentinels and nodes of a cluster are tried one after the other. */
const CONNECTED_MS = 20_000;
const LOADING = 'LOADING Redis is loading the dataset in memory';

/**
 * Looks once whether the server is there and fit for a queue. Rejects with the driver's error where it is not there, and
 * with a `RunError` where it is not fit. Returns how many milliseconds its clock is ahead of ours.
 */
async function inspect(address: RedisAddress, options: Pick<StoreOptions, 'notice' | 'strict'>): Promise<number> {
  const client = probeClient(address);
  let last: unknown;
  for (const event of ['error', 'node error']) {
    client.on(event, (error: unknown) => {
      last = error;
    });
  }
  try {
    await waitConnected(client);
    const info = parseInfo(await client.info());
    // Loading servers answer INFO, and nothing else.
    if (info.get('loading') === '1') throw new Error(LOADING);
    checkVersion(address, info);
    checkPolicy(address, info, options);
    const [seconds, microseconds] = await client.time();
    return Number(seconds) * 1000 + Number(microseconds) / 1000 - Date.now();
  } catch (error) {
    // "Connection is closed" says nothing; what closed it came as an event.
    throw isConnectionCut(error) && last !== undefined ? last : error;
  } finally {
    client.disconnect();
  }
}

/** A cluster whose nodes cannot be used ends without a word. */
async function waitConnected(client: Client): Promise<void> {
  const closed = new Promise<never>((_, reject) => {
    client.once('end', () => reject(new Error('Connection is closed.')));
  });
  const connection = client.connect().then(() => true);
  if (!(await withTimeout(CONNECTED_MS, Promise.race([connection, closed])))) throw new Error('ETIMEDOUT');
}

function parseInfo(info: string): Map<string, string> {
  return new Map(
    info.split(/\r?\n/).flatMap((line): [string, string][] => {
      const at = line.indexOf(':');
      return at > 0 ? [[line.slice(0, at), line.slice(at + 1)]] : [];
    }),
  );
}

/** Relatives of Redis state the version of Redis they are compatible with. */
function checkVersion(address: RedisAddress, info: ReadonlyMap<string, string>): void {
  const version = info.get('redis_version');
  if (version === undefined || Number.parseInt(version, 10) >= LEAST_VERSION) return;
  throw runFailure(
    `The queue at ${address.displayUrl} is Redis ${version}: the queue needs ${LEAST_VERSION}.0 or newer, and 6.2 or newer is better.`,
  );
}

function checkPolicy(
  address: RedisAddress,
  info: ReadonlyMap<string, string>,
  options: Pick<StoreOptions, 'notice' | 'strict'>,
): void {
  const policy = info.get('maxmemory_policy');
  if (policy === 'noeviction') return;
  if (policy === undefined) {
    const text =
      `The queue at ${address.displayUrl} does not tell its maxmemory-policy. It must be noeviction: with any other, ` +
      'Redis removes jobs when its memory is full.';
    if (options.strict) throw runFailure(`${text} ROWFERRY_STRICT is set: not started.`);
    options.notice('warn', text);
    return;
  }
  throw evictionError(address, policy);
}

/** Rejects where the server has been made unfit since it was opened, or takes no writes: full, or a replica by now. */
async function checkStillFit(address: RedisAddress, client: Client): Promise<void> {
  await client.set(`${KEY}:check`, '', 'PX', 1);
  const policy = parseInfo(await client.info('memory')).get('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') throw evictionError(address, policy);
}

function evictionError(address: RedisAddress, policy: string): RunError {
  return runFailure(
    `The queue at ${address.displayUrl} has maxmemory-policy ${policy}: Redis would remove jobs when its memory is full. ` +
      'It must be noeviction. Run `CONFIG SET maxmemory-policy noeviction` there and put it into redis.conf, or change it in ' +
      "your provider's console.",
  );
}

/** Replies in the form all of us know. */
type Options = Omit<RedisOptions, 'replyMapping'>;

const CONNECT_MS = 5_000;
/** A server that says nothing at all for so long is gone; the longest command that waits for jobs takes 10 s. */
const SILENT_MS = 30_000;
const ANSWER_MS = 5_000;
const MOST_RETRY_MS = 2_000;

const retry = (times: number): number => Math.min(100 * 2 ** Math.min(times, 10), MOST_RETRY_MS);

const OWN_OPTIONS: Options = {
  lazyConnect: true,
  enableReadyCheck: false,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  commandTimeout: ANSWER_MS,
};

/** One connection, made at `connect` and never again: to look whether the server is there. */
const probeClient = (address: RedisAddress) => client(address, { ...OWN_OPTIONS, retryStrategy: () => null }, false);
/** For the store's own commands: it reconnects for ever, but a command fails at once where there is no connection. */
const ownClient = (address: RedisAddress) => client(address, OWN_OPTIONS, true);
/** For BullMQ: its commands wait for the server to come back, for ever. */
const queueClient = (address: RedisAddress) =>
  client(address, { maxRetriesPerRequest: null, socketTimeout: SILENT_MS }, true);

function client(address: RedisAddress, options: Options, reconnects: boolean): Client {
  const { mode, hosts, username, password, sentinelPassword } = address;
  const [first] = hosts;
  const common: Options = {
    connectTimeout: CONNECT_MS,
    retryStrategy: retry,
    // What every server since 5 speaks.
    protocol: 2,
    disableClientInfo: true,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(address.tls && { tls: isIP(first.host) === 0 ? { servername: first.host } : {} }),
    ...options,
  };
  if (mode === 'cluster') return cluster(hosts, common, reconnects);
  if (mode === 'single') return new Redis({ ...common, host: first.host, port: first.port, db: address.db });
  return new Redis({
    ...common,
    sentinels: [...hosts],
    name: address.master ?? '',
    db: address.db,
    sentinelRetryStrategy: reconnects ? retry : () => null,
    ...(address.tls && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
  });
}

/** Its nodes have no queue of commands of their own, the cluster has. */
function cluster(hosts: RedisAddress['hosts'], options: Options, reconnects: boolean): Cluster {
  const { lazyConnect = false, enableOfflineQueue = true, retryStrategy: _, ...redisOptions } = options;
  return new Cluster([...hosts], {
    lazyConnect,
    enableOfflineQueue,
    redisOptions,
    clusterRetryStrategy: reconnects ? retry : () => null,
    slotsRefreshTimeout: CONNECT_MS,
    // Commands of ours do not wait for the end of a failover.
    ...(enableOfflineQueue ? {} : { maxRedirections: 4 }),
  });
}

export type Client = Redis | Cluster;

/** All keys of ours in one slot of a cluster. */
const KEY = '{rowferry}';

/** What the server knows of its present life; see `SINCE`. */
const SERVER = `${KEY}:server`;

/** From now on the server is known: leases that it may have forgotten are given their time. For how many milliseconds it has been. */
async function beginLife(client: Client): Promise<number> {
  const [, now, since] = await look(client, '');
  return Number(now) - Number(since);
}

async function look(client: Client, name: string): Promise<[text: string | null, now: string, since: string]> {
  return (await client.eval(LOOK, 2, `${KEY}:${name}`, SERVER)) as [string | null, string, string];
}

/** Keys: `{rowferry}:server`, and `{rowferry}:<name>`. */
function redisTexts(client: Client): TextStore {
  return {
    async ping() {
      await client.ping();
    },
    async look(name) {
      const [text, now, since] = await look(client, name);
      return { text: text ?? undefined, now: Number(now), ageMs: Number(now) - Number(since) };
    },
    async replace(name, { text: before, now, ageMs }, text, keepMs = 0) {
      const seen = before === undefined ? [0, ''] : [1, before];
      // The life in which it was seen: what it had forgotten since may be somebody's.
      const values = [...seen, text, Math.ceil(keepMs), Math.round(now - ageMs)];
      return (await client.eval(REPLACE, 2, `${KEY}:${name}`, SERVER, ...values)) === 1;
    },
  };
}

/**
 * Lua, one step each. Time is the server's, in milliseconds; numbers are written out in full, as Lua's own form cuts them.
 *
 * `since`: when this server was first asked, in its present life. A server that was restarted, promoted or emptied may have
 * forgotten leases that their holders still count on: it has another id, or no memory of its own.
 */
const SINCE = `local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local told, info = pcall(redis.call, 'INFO', 'server')
local id = told and string.match(info, 'run_id:(%x+)') or 'unknown'
local known = redis.call('HMGET', KEYS[2], 'id', 'since')
local since = tonumber(known[2])
if known[1] ~= id or not since then
  since = math.floor(now)
  redis.call('HSET', KEYS[2], 'id', id, 'since', string.format('%.0f', since))
end`;

/** KEYS name, server. */
const LOOK = `${SINCE}
return {redis.call('GET', KEYS[1]), string.format('%.3f', now), string.format('%.0f', since)}`;

/** KEYS name, server; ARGV whether there was a text, that text, the new one, for how long it is kept (0: for good), since. */
const REPLACE = `${SINCE}
local found = redis.call('GET', KEYS[1])
if (found and '1' or '0') ~= ARGV[1] or (found or '') ~= ARGV[2] then return 0 end
if string.format('%.0f', since) ~= ARGV[5] then return 0 end
if ARGV[4] == '0' then redis.call('SET', KEYS[1], ARGV[3]) else redis.call('SET', KEYS[1], ARGV[3], 'PX', ARGV[4]) end
return 1`;
