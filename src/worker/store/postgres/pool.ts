import type { PgPool, PgPoolClient, PgQueryResult } from 'bullmq';
import pg from 'pg';
import type { PostgresAddress } from '../address.js';
import { Away, faultOf } from '../faults.js';

const CONNECT_MS = 5_000;
/** Every worker and every listener for events holds one; the rest are made when needed and ended when idle. */
const MOST_CONNECTIONS = 20;
const KEEP_ALIVE_MS = 10_000;

/** The pool all queues, workers and listeners of a process share. `schema`: where names without one are looked for. */
export function openPool(address: PostgresAddress, schema: string): PatientPool {
  const url = new URL(address.url);
  const asked = url.searchParams.get('options');
  url.searchParams.set('options', [...(asked === null ? [] : [asked]), `-c search_path=${schema}`].join(' '));
  const pool = new pg.Pool({
    connectionString: url.href,
    application_name: 'rowferry',
    max: MOST_CONNECTIONS,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    allowExitOnIdle: true,
  });
  // Every queue, worker and listener of BullMQ listens to the pool's errors.
  pool.setMaxListeners(0);
  // One that is lent and breaks would end the process where its borrower does not listen; what it is asked rejects anyway.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return new PatientPool(pool);
}

/**
 * BullMQ pauses before it asks again where a connection is refused, and asks without end after other errors: to it every
 * error that will pass by itself is a refused connection.
 */
export class PatientPool implements PgPool {
  /** BullMQ: a lost connection shows soon, so that a worker may wait for long. */
  readonly options = { keepAlive: true } as const;
  readonly #pool: pg.Pool;
  readonly #lent = new Set<PgPoolClient>();

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  async query<R>(text: string, params: readonly unknown[] = []): Promise<PgQueryResult<R>> {
    return (await patient(this.#pool.query(text, [...params]))) as PgQueryResult<unknown> as PgQueryResult<R>;
  }

  async connect(): Promise<PgPoolClient> {
    const client = (await patient(this.#pool.connect())) as unknown as PgPoolClient;
    const release = client.release.bind(client);
    this.#lent.add(client);
    client.release = (destroy) => {
      this.#lent.delete(client);
      release(destroy);
    };
    return client;
  }

  /** Cuts the connections that are still lent: their borrowers wait for a server that is away. */
  abandon(): void {
    for (const client of this.#lent) client.release(true);
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  on(event: 'error' | 'connect', listener: (value: never) => void): this {
    this.#pool.on(event as 'error', listener as () => void);
    return this;
  }

  removeAllListeners(event?: string): this {
    this.#pool.removeAllListeners(event as 'error');
    return this;
  }
}

async function patient<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    const { kind, reason } = faultOf(error);
    throw kind === 'away' ? new Away(reason, { cause: error }) : error;
  }
}
