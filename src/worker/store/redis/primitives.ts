import type { Cluster, Redis } from 'ioredis';
import type { Primitives } from '../port.js';

export type Client = Redis | Cluster;

/** All keys of ours in one slot of a cluster. */
const KEY = '{rowferry}';

/** What the server knows of its present life; see `SINCE`. */
const SERVER = `${KEY}:server`;

/** From now on the server is known: leases that it may have forgotten are given their time. For how many milliseconds it has been. */
export async function beginLife(client: Client): Promise<number> {
  const [, now, since] = await look(client, '');
  return Number(now) - Number(since);
}

async function look(client: Client, name: string): Promise<[text: string | null, now: string, since: string]> {
  return (await client.eval(LOOK, 2, `${KEY}:${name}`, SERVER)) as [string | null, string, string];
}

/** Keys: `{rowferry}:server`, and `{rowferry}:<name>`. */
export function redisPrimitives(client: Client): Primitives {
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
