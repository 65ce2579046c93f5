import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Job } from 'bullmq';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { WriteAnswer, WriteRequest } from '../../../src/runs/context.js';
import { resolveSettings } from '../../../src/runs/settings.js';
import { partExecutor } from '../../../src/worker/parts/executor.js';
import type { PartListener } from '../../../src/worker/parts/letters.js';
import { pack, unpack } from '../../../src/worker/parts/pack.js';
import { privateRedis } from '../../support/servers.js';
import { until } from '../../support/until.js';
import { creates, LEASE_MS, openPartsTeam, type PartsTeam } from './team.js';

let redis: Awaited<ReturnType<typeof privateRedis>>;
let team: PartsTeam;
let service: Server;
const seen: string[] = [];
/** Answers to the first requests; then 200. */
let statuses: number[] = [];

beforeAll(async () => {
  redis = await privateRedis();
  service = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      seen.push(`${request.method} ${request.url?.replace('/api/v2', '')}`);
      const status = statuses.shift() ?? 200;
      response.writeHead(status, status === 429 ? { 'retry-after': '2' } : {}).end();
    });
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
});
afterAll(async () => {
  service.closeAllConnections();
  await new Promise((resolve) => service.close(resolve));
  await redis?.stop();
});
beforeEach(async () => {
  team = await openPartsTeam(redis.url);
  seen.length = 0;
  statuses = [];
});
afterEach(() => team.close());

const update = (id: number, freshUntil?: number): WriteRequest => ({
  op: 'update',
  resource: 'supplier',
  id,
  method: 'PUT',
  body: { name: `Supplier ${id}` },
  ...(freshUntil === undefined ? {} : { freshUntil }),
});

/** The answers of a real executor to a part that is granted by a coordinator whose clock shows `now`. */
async function carryOut(
  requests: readonly WriteRequest[],
  now: number,
  onGrant: (job: Job) => void = () => undefined,
  signal = new AbortController().signal,
): Promise<(WriteAnswer | null)[]> {
  const { port } = service.address() as AddressInfo;
  const settings = resolveSettings(
    {
      ROWFERRY_API_URL: `http://127.0.0.1:${port}`,
      ROWFERRY_API_TOKEN: 'test-token',
      ROWFERRY_CONCURRENCY: '1',
      ROWFERRY_PATIENCE: '0.05',
    },
    {},
    '/nowhere',
  );
  const { letters } = team;
  const execute = partExecutor({ settings, letters, signal, leaseMs: LEASE_MS, log: pino({ level: 'silent' }) });
  const result = new Promise<string | undefined>((resolve, reject) => {
    void team
      .executor(async (job, token) => {
        const listener: PartListener = {
          message(message) {
            if (!('ask' in message)) return;
            onGrant(job);
            void letters.send(job, { grant: message.ask, now });
          },
        };
        letters.listen(job.id ?? '', listener);
        const ended = await execute(job, token).finally(() => letters.forget(job.id ?? '', listener));
        resolve(ended.answers);
        return ended;
      })
      .catch(reject);
  });
  await team.queue.add('part', { v: 1, run: 'run', company: 1, count: requests.length, packed: pack(requests) });
  const pairs = unpack((await result) ?? '') as [number, WriteAnswer | null][];
  expect(pairs).toHaveLength(requests.length);
  return pairs.sort(([a], [b]) => a - b).map(([, answer]) => answer);
}

it('reckons by the clock of the coordinator, whatever its own shows', async () => {
  const hour = 3_600_000;
  for (const now of [Date.now() + hour, Date.now() - hour]) {
    seen.length = 0;
    const answers = await carryOut([update(1, now + 30_000), update(2, now - 1), update(3)], now);
    expect(answers.map((answer) => answer?.kind)).toEqual(['done', undefined, 'done']);
    expect(seen).toEqual(['PUT /supplier/1', 'PUT /supplier/3']);
    await team.close();
    team = await openPartsTeam(redis.url);
  }
});

it('hands back what becomes stale while it waits; creates do not', async () => {
  statuses = [429];
  const now = Date.now();
  const [create] = creates(1);
  const answers = await carryOut([update(1, now + 1_000), update(2, now + 60_000), create as WriteRequest], now);
  expect(answers.map((answer) => answer?.kind)).toEqual([undefined, 'done', 'done']);
  expect(seen).toEqual(['PUT /supplier/1', 'PUT /supplier/2', 'POST /supplier']);
});

it('sends nothing more once it cannot be sure of its lock, also what waited in the gate (47, 53)', async () => {
  statuses = [429];
  const answers = await carryOut([update(1), update(2)], Date.now(), () => {
    void until(() => seen.length === 1).then(() => {
      // As a paused process: no timer of it runs.
      const end = performance.now() + LEASE_MS + 1_500;
      while (performance.now() < end);
    });
  });
  expect(answers).toEqual([null, null]);
  expect(seen).toEqual(['PUT /supplier/1']);
});
