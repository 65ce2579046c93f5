import { createPostgresBackend, DEFAULT_SCHEMA, type PgPool, runMigrations } from 'bullmq';
import { assemble } from '../assembled.js';
import type { Store } from '../port.js';
import type { Reports } from '../reports.js';
import { postgresPrimitives } from './primitives.js';
import { SCHEMA, SCHEMA_LOCK } from './tables.js';

/** BullMQ's own default: programs with a plain BullMQ can put jobs on the queue. */
export const QUEUE_SCHEMA = DEFAULT_SCHEMA;

/**
 * A store over a pool of connections to PostgreSQL, or what behaves like one. The pool is the store's from here on.
 * Rejects with the driver's error.
 */
export async function postgresStore(options: {
  readonly kind: 'postgres' | 'embedded';
  readonly address: string;
  readonly pool: PgPool & { abandon?(): void };
  readonly reports: Reports;
}): Promise<Store> {
  const { kind, address, pool, reports } = options;
  pool.on('error', reports.heard);
  await migrate(pool);
  return assemble({
    kind,
    address,
    primitives: postgresPrimitives(pool),
    reports,
    bull: { options: { connection: pool }, backend: createPostgresBackend },
    async lastEvent(queue) {
      const { rows } = await pool.query<{ last: string }>(
        `SELECT coalesce(max(id), 0) AS last FROM ${QUEUE_SCHEMA}.event WHERE queue = $1`,
        [queue],
      );
      return String(rows[0]?.last ?? '$');
    },
    end: () => pool.end(),
    abandon: () => pool.abandon?.(),
  });
}

/** Makes the tables of BullMQ and our own, or brings them up to date. */
async function migrate(pool: PgPool): Promise<void> {
  const client = await pool.connect();
  try {
    await runMigrations(client, QUEUE_SCHEMA);
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
    await client.query(SCHEMA);
    await client.query('COMMIT');
  } catch (error) {
    client.release(true);
    throw error;
  }
  client.release();
}
