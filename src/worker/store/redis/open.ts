import type { RedisAddress } from '../address.js';
import { assemble } from '../assembled.js';
import type { Store, StoreOptions } from '../port.js';
import { openReports } from '../reports.js';
import { whenThere } from '../waiting.js';
import { type Client, ownClient, queueClient } from './clients.js';
import { checkStillFit, inspect } from './inspect.js';
import { beginLife, redisPrimitives } from './primitives.js';

/**
 * A queue on Redis 5 or newer, or what speaks its protocol. BullMQ's keys have its usual prefix `bull`, so that programs
 * with a plain BullMQ can put jobs on it; a cluster needs all keys of a queue in one slot, there the prefix is `{bull}`.
 */
export async function openRedis(address: RedisAddress, options: StoreOptions): Promise<Store> {
  const reports = openReports({ name: 'Redis', address: address.shown }, options.notice);
  const { aheadMs } = await whenThere(address.shown, () => inspect(address, options), options, reports.explain);
  const own = ownClient(address);
  own.on('error', reports.heard);
  own.on('ready', reports.answered);
  await own.connect().catch(reports.heard);
  // Else its time would begin when the first lease is asked for.
  const begin = () =>
    beginLife(own).then((ageMs) => {
      const waitMs = (options.leaseMs ?? 0) - ageMs;
      if (waitMs <= 0) return;
      options.notice(
        'info',
        `The queue at ${address.shown} is new, or was just restarted or emptied: jobs begin in ${Math.ceil(waitMs / 1000)} s, when no worker can hold a right any more that it has forgotten.`,
      );
    }, reports.heard);
  await begin();
  own.on('ready', begin);
  const shared = queueClient(address);
  shared.on('error', reports.heard);
  const copies = rememberCopies(shared);

  return assemble({
    kind: 'redis',
    address: address.shown,
    primitives: {
      ...redisPrimitives(own),
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
function rememberCopies(client: Client): Set<Client> {
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
