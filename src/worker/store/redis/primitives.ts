import type { Primitives } from '../primitives.js';
import type { Client } from './clients.js';
import { BEGIN, COUNT, EXCHANGE, PRESENT, RELEASE, RENEW, TAKE } from './scripts.js';

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
