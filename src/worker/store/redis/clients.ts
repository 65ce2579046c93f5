import { isIP } from 'node:net';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import type { RedisAddress } from '../address.js';

export type Client = Redis | Cluster;

/** Replies in the form all of us know. */
type Options = Omit<RedisOptions, 'replyMapping'>;

const CONNECT_MS = 5_000;
/** A server that says nothing at all for so long is gone; the longest command that waits for jobs takes 10 s. */
const SILENT_MS = 30_000;
const ANSWER_MS = 5_000;
const MOST_RETRY_MS = 2_000;

const retry = (times: number): number => Math.min(100 * 2 ** Math.min(times, 10), MOST_RETRY_MS);

/** One connection, made at `connect` and never again: to look whether the server is there. */
export function probeClient(address: RedisAddress): Client {
  return client(address, { ...ownOptions, retryStrategy: () => null }, false);
}

/** For the store's own commands: it reconnects for ever, but a command fails at once where there is no connection. */
export function ownClient(address: RedisAddress): Client {
  return client(address, ownOptions, true);
}

const ownOptions: Options = {
  lazyConnect: true,
  enableReadyCheck: false,
  enableOfflineQueue: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  commandTimeout: ANSWER_MS,
};

/** For BullMQ: its commands wait for the server to come back, for ever. */
export function queueClient(address: RedisAddress): Client {
  return client(address, { maxRetriesPerRequest: null, socketTimeout: SILENT_MS }, true);
}

function client(address: RedisAddress, options: Options, again: boolean): Client {
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
  if (mode === 'cluster') return cluster(hosts, common, again);
  if (mode === 'single') return new Redis({ ...common, host: first.host, port: first.port, db: address.db });
  return new Redis({
    ...common,
    sentinels: [...hosts],
    name: address.master ?? '',
    db: address.db,
    sentinelRetryStrategy: again ? retry : () => null,
    ...(address.tls && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
    ...(sentinelPassword !== undefined && { sentinelPassword }),
  });
}

/** Its nodes have no queue of commands of their own, the cluster has. */
function cluster(hosts: RedisAddress['hosts'], options: Options, again: boolean): Cluster {
  const { lazyConnect = false, enableOfflineQueue = true, retryStrategy: _, ...redisOptions } = options;
  return new Cluster([...hosts], {
    lazyConnect,
    enableOfflineQueue,
    redisOptions,
    clusterRetryStrategy: again ? retry : () => null,
    slotsRefreshTimeout: CONNECT_MS,
    // Commands of ours do not wait for the end of a failover.
    ...(enableOfflineQueue ? {} : { maxRedirections: 4 }),
  });
}
