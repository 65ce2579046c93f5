import { EventEmitter } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { PGlite } from '@electric-sql/pglite';
import { DEFAULT_SCHEMA, type PgPool, type PgPoolClient, type PgQueryResult } from 'bullmq';
import pg from 'pg';
import { errorText, RunError } from '../../model/error.js';
import { LockedError, takeLock } from '../../runs/run/lock.js';
import { openReports, Unavailable } from './faults.js';
import type { Store, StoreOptions } from './port.js';
import { postgresStore } from './postgres.js';

/**
 * The queue of a home folder: PostgreSQL inside this process (PGlite), with its data in `<home>/queue/`. One process has it
 * at a time, under the lock `<home>/queue.lock`. One machine only. It does not flush to the disk: after a power cut the journals are the
 * truth.
 */
export async function openEmbedded(options: StoreOptions): Promise<Store> {
  const { home, notice } = options;
  const folder = join(home, 'queue');
  const reports = openReports(folder, notice);
  const release = await lockQueue(home).catch((error: unknown) => {
    if (error instanceof RunError) throw error;
    throw cannotOpen(folder, errorText(error), error);
  });
  const pool = await EmbeddedPool.create(() => openFolder(folder, notice), release);
  try {
    return await postgresStore({ kind: 'embedded', address: `embedded in ${home}`, pool, reports });
  } catch (error) {
    await pool.end();
    throw reports.explain(error);
  }
}

async function lockQueue(home: string): Promise<() => Promise<void>> {
  await mkdir(home, { recursive: true });
  try {
    return await takeLock(join(home, 'queue.lock'), `The embedded queue in ${home}`);
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    const text = `Process ${error.pid} has the embedded queue in ${home} open, and one worker can. End that one first, or name a queue for several in ROWFERRY_QUEUE_URL.`;
    throw new RunError('failed', text, [], { code: error.code });
  }
}

type Notice = StoreOptions['notice'];

/**
 * Opens the queue's data folder; only the process that holds the queue's lock may. A folder that is not there is made, one
 * that cannot be read is put aside: the journals and the processing folder tell what is to be done, the queue only
 * carries it. After a kill PostgreSQL replays its log, so that what was answered is there. PGlite does not flush to the
 * disk: after a power cut the last seconds may be missing, or the folder unreadable.
 */
export async function openFolder(folder: string, notice: Notice): Promise<PGlite> {
  await removeUnfinished(folder);
  const isNew = !existsSync(folder);
  notice('info', `Opening the embedded queue in ${folder}; this takes some seconds${isNew ? ' the first time' : ''}.`);
  if (!isNew) {
    try {
      return await open(folder);
    } catch (error) {
      const why = reasonOf(error);
      // The folder is as good as it was: what is wrong is the machine.
      if (isMachineFault(why)) throw cannotOpen(folder, why, error);
      await moveAside(folder, `it cannot be opened (${why})`, notice);
    }
  }
  try {
    await initialise(folder);
    return await open(folder);
  } catch (error) {
    throw cannotOpen(folder, reasonOf(error), error);
  }
}

async function open(folder: string): Promise<PGlite> {
  // Loaded here alone: it takes time and memory that a plain command does not have to spend.
  const { PGlite } = await import('@electric-sql/pglite');
  const errorLines: string[] = [];
  let pg: PGlite | undefined;
  try {
    pg = await PGlite.create({
      dataDir: folder,
      parsers: parsersOfPg(),
      startParams: [...PGlite.defaultStartParams, ...SETTINGS.flatMap((setting) => ['-c', setting])],
      onStdout: () => true,
      onStderr: (text) => errorLines.push(text) > 0,
    });
    // A folder that opens may still have lost pages.
    await pg.exec('SELECT count(*) FROM pg_class');
    return pg;
  } catch (error) {
    await pg?.close().catch(() => undefined);
    const last = errorLines.filter((line) => /FATAL|PANIC|ERROR|space/.test(line)).at(-1);
    if (last === undefined) throw error;
    // Without the time and the number that PostgreSQL puts before it.
    throw new Error(last.replace(/^.*?(?=FATAL|PANIC|ERROR)/, '').trim(), { cause: error });
  }
}

/** A queue is small: a server's buffers would only take memory. */
const SETTINGS = [`search_path=${DEFAULT_SCHEMA}`, 'shared_buffers=16MB', 'max_connections=10', 'jit=off'];

async function moveAside(folder: string, why: string, notice: Notice): Promise<void> {
  const stamp = new Date().toISOString().replaceAll(/[-:]|\.\d+/g, '');
  const aside = `${folder}.damaged-${stamp}`;
  await rename(folder, aside);
  notice(
    'warn',
    `The embedded queue in ${folder} starts empty: ${why}. The old one lies in ${aside}. Runs that had begun and files ` +
      'in the processing folder are taken up again from their journals; what was only queued has to be put on the queue again.',
  );
}

/** A first start that was killed leaves its half-made folder under another name. */
async function removeUnfinished(folder: string): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  await rm(`${folder}.new`, { recursive: true, force: true });
  // An empty folder is in the way of the finished one.
  if (existsSync(folder) && (await readdir(folder)).length === 0) await rm(folder, { recursive: true });
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
}

function isMachineFault(why: string): boolean {
  return /no space left|ENOSPC|permission denied|EACCES|EPERM|EROFS|read-only file|EMFILE|ENFILE|out of memory|cannot allocate|ENOMEM|could not allocate/i.test(
    why,
  );
}

/** For what is wrong with the machine or the home, not with the queue's data. */
function cannotOpen(folder: string, why: string, cause: unknown): RunError {
  return new RunError(
    'failed',
    `The embedded queue in ${folder} cannot be opened: ${why}. Check that the disk has room and the folder can be ` +
      'written, or name another queue in ROWFERRY_QUEUE_URL.',
    [],
    { cause },
  );
}

/** Makes the data folder of a queue, some seconds of work, under another name: the folder is there complete or not at all. */
export async function initialise(folder: string): Promise<void> {
  const fresh = `${folder}.new`;
  // It holds the rows of queued jobs: nobody else's to read.
  await mkdir(fresh, { mode: 0o700 });
  const pg = await open(fresh);
  await pg.close();
  await rename(fresh, folder);
}

/**
 * PGlite works on this thread, and its answers come without the event loop turning once: after so long sockets and timers
 * get their turn. Else a flood keeps others out, and one who asks again as soon as there is an answer stops every timer.
 */
const YIELD_AFTER_MS = 5;
/** Tables are tidied after so many statements, or so much data. */
const TIDY_STATEMENTS = 5_000;
const TIDY_BYTES = 64 * 1024 * 1024;

/**
 * What BullMQ takes for a pool of PostgreSQL connections, and the store for its own statements: all of them share PGlite's
 * one connection, one statement at a time, in the order in which they came. Nobody begins a transaction of several statements
 * but who makes the tables, before anybody else is let in; channels are listened to by all, and BullMQ looks at the names of
 * channel and queue itself.
 *
 * Where PGlite itself fails (its disk was full, its memory ran out), what was asked rejects with `Unavailable`, clients get 'error'
 * and listen anew, and the next statement opens the folder again.
 */
export class EmbeddedPool extends EventEmitter implements PgPool {
  /** BullMQ: a lost connection shows at once, so that a worker may wait for long. */
  readonly options = { keepAlive: true } as const;
  /** What BullMQ checked out to listen. */
  readonly #clients = new Set<EventEmitter>();
  #pg: PGlite | undefined;
  /** The last statement of those that wait. */
  #last: Promise<unknown> = Promise.resolve();
  /** When the first statement ran since the event loop last turned. */
  #busySince: number | undefined;
  readonly #untidy = { statements: 0, bytes: 0, tidying: false };
  #ended: Promise<void> | undefined;

  private constructor(
    private readonly open: () => Promise<PGlite>,
    private readonly closed: () => Promise<void>,
  ) {
    super();
    // Every queue, worker and listener of BullMQ listens to the pool's errors.
    this.setMaxListeners(0);
  }

  /** `open` is called again after PGlite has failed; `closed` once it is closed, or could not be opened at first. */
  static async create(open: () => Promise<PGlite>, closed: () => Promise<void>): Promise<EmbeddedPool> {
    const pool = new EmbeddedPool(open, closed);
    try {
      pool.#listen(await open());
    } catch (error) {
      await closed();
      throw error;
    }
    return pool;
  }

  query<R = unknown>(text: string, params: readonly unknown[] = []): Promise<PgQueryResult<R>> {
    // BullMQ knows an ended pool by these words, which are pg's.
    if (this.#ended) return Promise.reject(new Error('Cannot use a pool after calling end on the pool'));
    const answer = this.#last.then(async () => {
      await this.#breathe();
      return this.#send(text, params);
    });
    this.#last = answer.catch(() => undefined);
    this.#countAs(params);
    return answer as Promise<PgQueryResult<R>>;
  }

  async connect(): Promise<PgPoolClient> {
    const client = new EventEmitter().setMaxListeners(0);
    this.#clients.add(client);
    return Object.assign(client, {
      query: <R>(text: string, params?: readonly unknown[]) => this.query<R>(text, params),
      release: () => void this.#clients.delete(client),
    });
  }

  /** Waits for statements that were asked, and closes PGlite: its folder is consistent then. */
  end(): Promise<void> {
    this.#ended ??= this.#last.then(async () => {
      await this.#pg?.close().catch(() => undefined);
      await this.closed();
      this.#clients.clear();
      this.removeAllListeners();
    });
    return this.#ended;
  }

  #listen(pglite: PGlite): void {
    this.#pg = pglite;
    pglite.onNotification((channel, payload) => {
      for (const client of [...this.#clients]) client.emit('notification', { channel, payload });
    });
  }

  async #send(text: string, params: readonly unknown[]): Promise<PgQueryResult<unknown>> {
    if (!this.#pg) await this.open().then((reopened) => this.#listen(reopened), throwUnavailable);
    const pglite = this.#pg as PGlite;
    try {
      // Only the simple protocol takes several statements in one text: migrations are such.
      const result =
        params.length === 0 ? (await pglite.exec(text)).at(-1) : await pglite.query(text, params.map(toParameter));
      return { rows: result?.rows ?? [], rowCount: result?.rowCount ?? result?.affectedRows ?? null };
    } catch (error) {
      if (!isBeyondRepair(error)) throw new DatabaseFault(error);
      this.#pg = undefined;
      const lost = new Unavailable('the embedded queue has failed and is opened anew', {
        cause: new DatabaseFault(error),
      });
      const clients = [...this.#clients];
      this.#clients.clear();
      // An 'error' event that nobody hears would end the process.
      for (const client of clients) if (client.listenerCount('error') > 0) client.emit('error', lost);
      throw lost;
    }
  }

  /** Reckoned over pauses between statements too: they are none where each answer brings the next question. */
  async #breathe(): Promise<void> {
    if (this.#busySince === undefined) {
      this.#busySince = performance.now();
      setImmediate(() => {
        this.#busySince = undefined;
      });
    } else if (performance.now() - this.#busySince > YIELD_AFTER_MS) {
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  #countAs(params: readonly unknown[]): void {
    const untidy = this.#untidy;
    untidy.statements++;
    for (const param of params) if (typeof param === 'string') untidy.bytes += param.length;
    if (untidy.tidying || (untidy.statements < TIDY_STATEMENTS && untidy.bytes < TIDY_BYTES)) return;
    Object.assign(untidy, { statements: 0, bytes: 0, tidying: true });
    // Where the pool is ending, or has failed, whoever opens it next counts anew.
    void this.#tidy()
      .catch(() => undefined)
      .finally(() => {
        untidy.tidying = false;
      });
  }

  /**
   * What a PostgreSQL server does by processes of its own, which PGlite does not have: it vacuums tables, else every update
   * of a job makes them longer and slower, and it makes checkpoints, else the write-ahead log grows without end and is
   * replayed whole after a kill. Each step takes its turn like any statement.
   */
  async #tidy(): Promise<void> {
    const { rows } = await this.query<{ name: string }>(
      `SELECT format('%I.%I', schemaname, relname) AS name FROM pg_stat_user_tables
       WHERE schemaname NOT LIKE 'pg_%' AND relname <> 'migration'`,
    );
    for (const { name } of rows) await this.query(`VACUUM (ANALYZE, TRUNCATE FALSE) ${name}`);
    await this.query('CHECKPOINT');
  }
}

/** BullMQ pauses before it asks again where a connection is refused, and asks without end after other errors. */
function throwUnavailable(error: unknown): never {
  throw new Unavailable(errorText(error), { cause: error });
}

/** PGlite itself has failed, not the statement: its memory is in an unknown state, and it has to be opened anew. */
function isBeyondRepair(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error.name === 'RuntimeError' || error.name === 'ExitStatus') return true;
  const severity = 'severity' in error ? error.severity : undefined;
  return severity === 'FATAL' || severity === 'PANIC' || /^PGlite (?:is closed|failed to)/.test(error.message);
}

/** An error of PostgreSQL with pg's names. PGlite's own also carries the statement and its values, which are nobody's business. */
class DatabaseFault extends Error {
  override readonly name = 'error';
  constructor(error: unknown) {
    super(errorText(error));
    for (const field of ['severity', 'code', 'detail', 'hint', 'constraint', 'routine']) {
      const value: unknown = error instanceof Error ? Reflect.get(error, field) : undefined;
      if (typeof value === 'string') Object.assign(this, { [field]: value });
    }
  }
}

/** The types whose values PGlite would give otherwise than pg does: BullMQ expects pg's. Arrays of them follow. */
const PG_TYPES = [17, 20, 21, 23, 26, 114, 700, 701, 1082, 1114, 1184, 1700, 3802];

/** Readers of results, for PGlite's option `parsers`: 64-bit integers and decimals stay text, as in pg. */
function parsersOfPg(): Record<number, (text: string) => unknown> {
  return Object.fromEntries(PG_TYPES.map((oid) => [oid, pg.types.getTypeParser(oid, 'text')]));
}

/** A parameter as PGlite takes it, for what pg would have turned into text by itself. */
function toParameter(value: unknown): unknown {
  if (value === undefined) return null;
  if (typeof value !== 'object' || value === null || value instanceof Date || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map(toParameter);
  return JSON.stringify(value);
}
