import { PGlite } from '@electric-sql/pglite';
import { createPostgresBackend, DEFAULT_SCHEMA, type PgPool, Queue, runMigrations } from 'bullmq';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Operations, openOperations } from '../../../src/worker/operations/http.js';
import { openMetrics } from '../../../src/worker/operations/metrics.js';

let postgres: PGlite;
let queue: Queue;
let operations: Operations;

beforeAll(async () => {
  postgres = await PGlite.create();
  await postgres.exec(`CREATE SCHEMA IF NOT EXISTS ${DEFAULT_SCHEMA}; SET search_path TO ${DEFAULT_SCHEMA}`);
  const pool = poolOver(postgres);
  await runMigrations(await pool.connect());
  queue = new Queue('rowferry', { connection: pool as never }, createPostgresBackend as never);
  queue.on('error', () => undefined);
  await queue.add('import', { job: 'assets', rows: [{ 'Serial number': 'SECRET-ROW-VALUE' }] });
  operations = await openOperations({
    http: { host: '127.0.0.1', port: 0, stated: true },
    board: true,
    queues: () => [queue],
    ready: async () => ({ ok: true, details: {} }),
    live: () => ({ ok: true, details: {} }),
    metrics: openMetrics(),
    notice: () => undefined,
  });
});

afterAll(async () => {
  await operations.close();
  await queue.close();
  await postgres.close();
});

it.each([
  'board',
  'board/queue/rowferry',
  'board/api/queues?activeQueue=rowferry&status=latest&page=1&jobsPerPage=10',
  'board/api/queues/rowferry/1',
  'board/api/queues/rowferry/1/logs',
  'board/api/queues/rowferry/1/flow',
  'board/api/queues/rowferry/workers',
  'board/api/queues/rowferry/metrics',
  'board/api/job-schedulers',
  'board/api/redis/stats',
])('answers %s on PostgreSQL, without rows', async (path) => {
  const answer = await fetch(`${operations.url}/${path}`);
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  expect(text).not.toContain('SECRET-ROW-VALUE');
});

it('counts the jobs on PostgreSQL', async () => {
  const text = await (await fetch(`${operations.url}/metrics`)).text();
  expect(text).toContain('rowferry_queue_jobs{queue="rowferry",state="waiting"} 1');
});

/** As much of `pg.Pool` as a queue without a worker needs. */
function poolOver(database: PGlite): PgPool {
  const events = { on: () => undefined, removeListener: () => undefined, removeAllListeners: () => undefined };
  const query = async (text: string, params?: readonly unknown[]) => {
    if (params === undefined || params.length === 0) return { rows: (await database.exec(text)).at(-1)?.rows ?? [] };
    return database.query(text, [...params]);
  };
  const client = { ...events, query, release: () => undefined };
  return { ...events, query, connect: async () => client, end: async () => undefined } as unknown as PgPool;
}
