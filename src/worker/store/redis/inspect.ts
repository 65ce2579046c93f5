import { RunError } from '../../../model/error.js';
import type { RedisAddress } from '../address.js';
import { faultOf } from '../faults.js';
import type { StoreOptions } from '../port.js';
import { type Client, probeClient } from './clients.js';

/** What the server is like. */
export interface Inspected {
  /** Milliseconds that its clock is ahead of ours. */
  readonly aheadMs: number;
}

/** BullMQ reckons with BZPOPMIN and streams. */
const LEAST_VERSION = 5;
/** Sentinels and nodes of a cluster are tried one after the other. */
const CONNECTED_MS = 20_000;
const LOADING = 'LOADING Redis is loading the dataset in memory';

/**
 * Looks once whether the server is there and fit for a queue. Rejects with the driver's error where it is not there, and
 * with a `RunError` where it is not fit.
 */
export async function inspect(
  address: RedisAddress,
  options: Pick<StoreOptions, 'notice' | 'strict'>,
): Promise<Inspected> {
  const client = probeClient(address);
  let last: unknown;
  for (const event of ['error', 'node error']) {
    client.on(event, (error: unknown) => {
      last = error;
    });
  }
  try {
    await connected(client);
    const info = fields(await client.info());
    // Loading servers answer INFO, and nothing else.
    if (info.get('loading') === '1') throw new Error(LOADING);
    checkVersion(address, info);
    await checkPolicy(address, client, info, options);
    const [seconds, microseconds] = await client.time();
    return { aheadMs: Number(seconds) * 1000 + Number(microseconds) / 1000 - Date.now() };
  } catch (error) {
    // "Connection is closed" says nothing; what closed it came as an event.
    throw faultOf(error).reason === CUT && last !== undefined ? last : error;
  } finally {
    client.disconnect();
  }
}

/** A cluster whose nodes cannot be used ends without a word. */
async function connected(client: Client): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_, reject) => {
    client.once('end', () => reject(new Error('Connection is closed.')));
    timer = setTimeout(() => reject(new Error('ETIMEDOUT')), CONNECTED_MS);
  });
  try {
    await Promise.race([client.connect(), over]);
  } finally {
    clearTimeout(timer);
  }
}

const CUT = faultOf(new Error('Connection is closed.')).reason;

function fields(info: string): Map<string, string> {
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
  throw new RunError(
    'failed',
    `The queue at ${address.shown} is Redis ${version}: the queue needs ${LEAST_VERSION}.0 or newer, and 6.2 or newer is better.`,
  );
}

async function checkPolicy(
  address: RedisAddress,
  client: Client,
  info: ReadonlyMap<string, string>,
  options: Pick<StoreOptions, 'notice' | 'strict'>,
): Promise<void> {
  const policy = info.get('maxmemory_policy') ?? (await configured(client));
  if (policy === 'noeviction') return;
  if (policy === undefined) {
    const text =
      `The queue at ${address.shown} does not tell its maxmemory-policy. It must be noeviction: with any other, ` +
      'Redis removes jobs when its memory is full.';
    if (options.strict) throw new RunError('failed', `${text} ROWFERRY_STRICT is set: not started.`);
    options.notice('warn', text);
    return;
  }
  throw evicting(address, policy);
}

/** Rejects where the server has been made unfit since it was opened. */
export async function checkStillFit(address: RedisAddress, client: Client): Promise<void> {
  const policy = fields(await client.info('memory')).get('maxmemory_policy');
  if (policy !== undefined && policy !== 'noeviction') throw evicting(address, policy);
}

function evicting(address: RedisAddress, policy: string): RunError {
  return new RunError(
    'failed',
    `The queue at ${address.shown} has maxmemory-policy ${policy}: Redis would remove jobs when its memory is full. ` +
      'It must be noeviction. Run `CONFIG SET maxmemory-policy noeviction` there and put it into redis.conf, or change it in ' +
      "your provider's console.",
  );
}

async function configured(client: Client): Promise<string | undefined> {
  try {
    const answer = await client.config('GET', 'maxmemory-policy');
    return Array.isArray(answer) && typeof answer[1] === 'string' ? answer[1] : undefined;
  } catch (error) {
    // Managed servers hide CONFIG.
    if (faultOf(error).kind === 'away') throw error;
    return undefined;
  }
}
