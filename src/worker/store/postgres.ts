import {
  createPostgresBackend,
  DEFAULT_SCHEMA,
  type PgPool,
  type PgQueryable,
  runMigrations,
  UnsupportedPostgresVersionError,
} from 'bullmq';
import pg from 'pg';
import { runFailure } from '../../model/error.js';
import type { PostgresAddress } from '../../runs/settings-address.js';
import { withTimeout } from '../rights.js';
import { assembleBull } from './bull.js';
import { classifyError, connectWithRetry, openReports, Unavailable } from './faults.js';
import type { SharedStore, StoreOptions, TextStore } from './port.js';
import { isPassing } from './shared.js';

/**
 * A queue on PostgreSQL 13 or newer. BullMQ's tables lie in its usual schema `bullmq`, so that programs with a plain BullMQ
 * can put jobs on it; ours lie in schema `rowferry`. Both are made at the first opening.
 */
export async function openPostgres(address: PostgresAddress, options: StoreOptions): Promise<SharedStore> {
  const reports = openReports(address.displayUrl, options.notice);
  const attempt = async (): Promise<SharedStore> => {
    const pool = openPool(address);
    pool.on('error', reports.reportError);
    try {
      await migrate(pool);
    } catch (error) {
      await pool.end().catch(() => undefined);
      if (!(error instanceof UnsupportedPostgresVersionError)) throw error;
      const needed = `the queue needs ${error.minimumVersion} or newer`;
      throw runFailure(`The queue at ${address.displayUrl} is PostgreSQL ${error.serverVersion}: ${needed}.`);
    }
    return assembleBull({
      kind: 'postgres',
      address: address.displayUrl,
      texts: postgresTexts(pool),
      reports,
      bull: { options: { connection: pool }, backend: createPostgresBackend },
      async lastEvent(queue) {
        const { rows } = await pool.query<{ last: string }>(
          `SELECT coalesce(max(id), 0) AS last FROM ${DEFAULT_SCHEMA}.event WHERE queue = $1`,
          [queue],
        );
        return String(rows[0]?.last ?? '$');
      },
      end: () => pool.end(),
      abandon: pool.abandon,
    });
  };
  return connectWithRetry(attempt, options, reports);
}

/** Makes the tables of BullMQ and our own, or brings them up to date. */
async function migrate(pool: PgPool): Promise<void> {
  const client = await pool.connect();
  try {
    await runMigrations({ query: (text, values) => client.query(makeMissingSchema(text), values) }, DEFAULT_SCHEMA);
    await client.query('BEGIN');
    await client.query('SELECT pg_advisory_xact_lock($1)', [SCHEMA_LOCK]);
    await client.query(makeMissingSchema(SCHEMA));
    await client.query('COMMIT');
  } catch (error) {
    client.release(true);
    throw error;
  }
  client.release();
}

/** `IF NOT EXISTS` asks for the right to make schemas where it is there, too: for good, and of a user whose schemas somebody made for it. */
const makeMissingSchema = (text: string): string =>
  text.replace(
    /CREATE SCHEMA IF NOT EXISTS "?(\w+)"?/,
    "DO 'BEGIN IF to_regnamespace(''$1'') IS NULL THEN CREATE SCHEMA $1; END IF; END'",
  );

const CONNECT_MS = 5_000;
/** Every worker and every listener for events holds one; the rest are made when needed and ended when idle. */
const MOST_CONNECTIONS = 20;
const KEEP_ALIVE_MS = 10_000;

/**
 * The pool all queues, workers and listeners of a process share. BullMQ pauses before it asks again where a connection is refused,
 * and asks without end after other errors: to it every error that will pass by itself is a refused connection.
 */
function openPool(address: PostgresAddress): PgPool & { abandon(): void } {
  const url = new URL(address.url);
  const urlOptions = url.searchParams.get('options');
  const options = [...(urlOptions === null ? [] : [urlOptions]), `-c search_path=${DEFAULT_SCHEMA}`].join(' ');
  url.searchParams.set('options', options);
  const pool = new pg.Pool({
    connectionString: url.href,
    application_name: 'rowferry',
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    // BullMQ looks at it: a lost connection shows soon, so that a worker may wait for long.
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    allowExitOnIdle: true,
  });
  // Every queue, worker and listener of BullMQ listens to the pool's errors.
  pool.setMaxListeners(0);
  // One that is lent and breaks would end the process where its borrower does not listen; what it is asked rejects anyway.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const lent = new Set<pg.Client>();
  pool.on('acquire', (client) => lent.add(client as unknown as pg.Client));
  pool.on('release', (_, client) => lent.delete(client as unknown as pg.Client));
  for (const method of ['query', 'connect'] as const) {
    const original = pool[method].bind(pool) as (...values: unknown[]) => Promise<unknown>;
    Object.assign(pool, { [method]: (...values: unknown[]) => withUnavailable(original(...values)) });
  }
  return Object.assign(pool as unknown as PgPool, {
    /** Cuts the connections that are still lent: their borrowers wait for a server that is away, and give them back then. */
    abandon() {
      for (const client of lent) void client.end();
    },
  });
}

async function withUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { kind, reason } = classifyError(error);
    throw kind === 'away' ? new Unavailable(reason, { cause: error }) : error;
  }
}

/** A connection that has died silently would keep the question for minutes. */
const ANSWER_MS = 5_000;

/** Over the tables of `SCHEMA`, one statement each. */
function postgresTexts(database: PgQueryable): TextStore {
  async function queryFirst<R>(text: string, values: readonly unknown[] = []): Promise<R | undefined> {
    const answer = await withTimeout(ANSWER_MS, database.query<R>(text, values));
    if (!answer) throw new Unavailable('no answer in time');
    return answer.rows[0];
  }

  return {
    async ping() {
      // A write: the server may be a standby by now, its disk full, or the tables gone.
      await queryFirst(
        `INSERT INTO rowferry.passing VALUES ('check', '', clock_timestamp())
         ON CONFLICT (name) DO UPDATE SET forget = excluded.forget`,
      );
    },
    async look(name) {
      const row = await queryFirst<{ content: string | null; now: number }>(
        `SELECT extract(epoch FROM clock_timestamp())::double precision * 1000 AS now,
           (SELECT content FROM ${tableOf(name)} WHERE name = $1 AND ${NOT_EXPIRED}) AS content`,
        [name],
      );
      if (!row) throw new Error('no answer to a look');
      return { text: row.content ?? undefined, now: row.now, ageMs: Number.POSITIVE_INFINITY };
    },
    async replace(name, { text: before }, text, keepMs) {
      const table = tableOf(name);
      const row = await queryFirst(
        `INSERT INTO ${table} AS cell VALUES ($1, $3, clock_timestamp() + $4 * interval '1 ms')
         ON CONFLICT (name) DO UPDATE SET content = excluded.content, forget = excluded.forget
         WHERE cell.content = $2 OR ($2 IS NULL AND NOT (${NOT_EXPIRED.replace('forget', 'cell.forget')}))
         RETURNING name`,
        [name, before ?? null, text, keepMs ?? null],
      );
      if (row && before === undefined) {
        await queryFirst(
          `DELETE FROM ${table} WHERE name IN
             (SELECT name FROM ${table} WHERE forget < clock_timestamp() LIMIT 100 FOR UPDATE SKIP LOCKED)`,
        );
      }
      return row !== undefined;
    },
  };
}

const NOT_EXPIRED = 'coalesce(forget > clock_timestamp(), true)';

/** What may be forgotten in a crash is unlogged: it spares the disk a write for every report. */
const tableOf = (name: string): string => (isPassing(name) ? 'rowferry.passing' : 'rowferry.kept');

/** What the store keeps besides BullMQ's schema, in a schema of its own. Safe to run again, and by several at once under the lock. */
export const SCHEMA = `
CREATE SCHEMA IF NOT EXISTS rowferry;
CREATE TABLE IF NOT EXISTS rowferry.kept (name text PRIMARY KEY, content text NOT NULL, forget timestamptz);
CREATE UNLOGGED TABLE IF NOT EXISTS rowferry.passing (name text PRIMARY KEY, content text NOT NULL, forget timestamptz);
`;

/** Serialises those who make the schema at once; any number will do that nobody else uses. */
const SCHEMA_LOCK = 0x726f_7766;
