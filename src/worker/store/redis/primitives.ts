import type { Cluster, Redis } from 'ioredis';
import { PACE_AHEAD_MS, PACE_MEMBER_MS, PACE_MEMORY_MS, PRESENT_MS, type Primitives } from '../port.js';

export type Client = Redis | Cluster;

/** All keys of ours in one slot of a cluster. */
const KEY = '{rowferry}';

/** What the server knows of its present life; see `TAKE`. */
const SERVER = `${KEY}:server`;

/** From now on the server is known: leases that it may have forgotten are given their time. For how many milliseconds it has been. */
export async function beginLife(client: Client): Promise<number> {
  return Number(await client.eval(BEGIN, 1, SERVER));
}

/** Keys: `{rowferry}:server`, `:lease:<name>`, `:epoch:<name>`, `:text:<name>`, `:pace:<service>`, `:pacers:<service>`, `:workers:<queue>`. */
export function redisPrimitives(client: Client): Primitives {
  const run = (script: string, keys: readonly string[], values: readonly (string | number)[]): Promise<unknown> =>
    client.eval(script, keys.length, ...keys, ...values);
  const lease = (name: string) => [`${KEY}:lease:${name}`, `${KEY}:epoch:${name}`];

  return {
    async ping() {
      await client.ping();
    },
    async take(name, token, ttlMs) {
      const epoch = await run(TAKE, [...lease(name), SERVER], [token, ttlMs]);
      return epoch === null ? undefined : Number(epoch);
    },
    async renew(name, token, epoch, ttlMs) {
      return (await run(RENEW, lease(name), [token, epoch, ttlMs])) === 1;
    },
    async release(name, token) {
      await run(RELEASE, [`${KEY}:lease:${name}`], [token]);
    },
    async held(name) {
      return (await client.exists(`${KEY}:lease:${name}`)) === 1;
    },
    async read(name) {
      return (await client.get(`${KEY}:text:${name}`)) ?? undefined;
    },
    async swap(name, text) {
      return (await client.getset(`${KEY}:text:${name}`, text)) ?? undefined;
    },
    async exchange(service, member, report) {
      const answer = await run(
        EXCHANGE,
        [`${KEY}:pace:${service}`, `${KEY}:pacers:${service}`],
        [
          member,
          report.successes,
          report.throttled,
          report.overloaded,
          report.holdMs ?? 0,
          report.slots?.count ?? 0,
          report.slots?.intervalMs ?? 0,
        ],
      );
      const [successes = 0, throttled = 0, overloaded = 0, heldMs = 0, slotInMs = 0, members = 1] = (
        answer as (string | number)[]
      ).map(Number);
      return {
        successes,
        throttled,
        overloaded,
        heldMs,
        members,
        ...(report.slots && report.slots.count > 0 && { slotInMs }),
      };
    },
    async present(queue, member) {
      await run(PRESENT, [`${KEY}:workers:${queue}`], [member]);
    },
    async absent(queue, member) {
      await client.zrem(`${KEY}:workers:${queue}`, member);
    },
    async count(queue) {
      return Number(await run(COUNT, [`${KEY}:workers:${queue}`], []));
    },
  };
}

/** Lua, one step each. Time is the server's, in milliseconds. Numbers are written out in full: Lua's own form cuts them. */

const NOW = `local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local function full(n) return string.format('%.3f', n) end`;

/** Long enough for no holder to be alive; epochs go on from the clock after it. */
const EPOCH_MEMORY_MS = 7 * 24 * 3_600_000;

/**
 * `since`: when this server was first asked, in its present life. A server that was restarted, promoted or emptied may have
 * forgotten leases that their holders still count on: it has another id, or no memory of its own.
 */
const SINCE = (key: string) => `
local told, info = pcall(redis.call, 'INFO', 'server')
local id = told and string.match(info, 'run_id:(%x+)') or 'unknown'
local known = redis.call('HMGET', ${key}, 'id', 'since')
local since = tonumber(known[2])
if known[1] ~= id or not since then
  since = now
  redis.call('HSET', ${key}, 'id', id, 'since', full(now))
end`;

/** KEYS server. How long ago, in milliseconds, it was first asked in its present life. */
export const BEGIN = `${NOW}${SINCE('KEYS[1]')}
return math.floor(now - since)`;

/**
 * KEYS lease, epoch, server; ARGV token, ttl. An epoch is at least the time, so that it grows also where the server has
 * lost the last one. Nothing is handed out before a lease that was forgotten has either been renewed or has ended for its
 * holder too.
 */
const TAKE = `${NOW}${SINCE('KEYS[3]')}
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return false end
if now - since < tonumber(ARGV[2]) then return false end
local epoch = math.max((tonumber(redis.call('GET', KEYS[2])) or 0) + 1, math.floor(now))
local text = string.format('%.0f', epoch)
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('SET', KEYS[2], text, 'PX', ${EPOCH_MEMORY_MS})
return text`;

/** KEYS lease, epoch; ARGV token, epoch, ttl. A server that has lost the lease is told of it again, unless somebody took it. */
const RENEW = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
if not holder then
  local epoch = redis.call('GET', KEYS[2])
  if epoch and epoch ~= ARGV[2] then return 0 end
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[3])
redis.call('SET', KEYS[2], ARGV[2], 'PX', ${EPOCH_MEMORY_MS})
return 1`;

/** KEYS lease; ARGV token. */
const RELEASE = `
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`;

/**
 * KEYS pace, members; ARGV member, successes, throttled, overloaded, hold, count, interval.
 * `next`: the next free slot. `spacing`: the mean distance of the slots granted up to there, so that
 * (next - now) / spacing of them are still to come.
 */
const EXCHANGE = `${NOW}
local had = redis.call('HMGET', KEYS[1], 's', 't', 'o', 'held', 'next', 'spacing')
local s = (tonumber(had[1]) or 0) + ARGV[2]
local t = (tonumber(had[2]) or 0) + ARGV[3]
local o = (tonumber(had[3]) or 0) + ARGV[4]
local held = math.max(tonumber(had[4]) or 0, now + ARGV[5])
local free = tonumber(had[5]) or 0
local spacing = tonumber(had[6]) or 0
local count = tonumber(ARGV[6])
local interval = tonumber(ARGV[7])
local slot = -1
if count > 0 then
  local ahead = math.max(free - now, 0)
  local granted = 0
  if ahead > 0 and spacing > 0 then granted = ahead / spacing end
  if ahead > ${PACE_AHEAD_MS} and interval < spacing then ahead = granted * interval end
  slot = ahead
  free = now + ahead + count * interval
  spacing = (ahead + count * interval) / (granted + count)
end
redis.call('HSET', KEYS[1], 's', full(s), 't', full(t), 'o', full(o), 'held', full(held), 'next', full(free), 'spacing', full(spacing))
redis.call('PEXPIRE', KEYS[1], string.format('%.0f', ${PACE_MEMORY_MS} + math.max(0, free - now, held - now)))
redis.call('ZADD', KEYS[2], full(now), ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. full(now - ${PACE_MEMBER_MS}))
redis.call('PEXPIRE', KEYS[2], ${2 * PACE_MEMBER_MS})
return {full(s), full(t), full(o), full(math.max(0, held - now)), full(slot), redis.call('ZCARD', KEYS[2])}`;

/** KEYS workers; ARGV member. */
const PRESENT = `${NOW}
redis.call('ZADD', KEYS[1], full(now), ARGV[1])
redis.call('PEXPIRE', KEYS[1], ${2 * PRESENT_MS})
return 1`;

/** KEYS workers. */
export const COUNT = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', '(' .. full(now - ${PRESENT_MS}))
return redis.call('ZCARD', KEYS[1])`;
