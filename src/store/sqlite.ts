import { closeSync, openSync, rmSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { errorText, RunError, runFailure } from '../model/error.js';

export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

/** What `node:sqlite` and libsql have in common; statements are prepared once and run often. */
export interface Statement {
  run(...values: readonly SqlValue[]): { readonly changes: number | bigint };
  get(...values: readonly SqlValue[]): SqlRow | undefined;
  all(...values: readonly SqlValue[]): SqlRow[];
}

interface Connection {
  exec(sql: string): unknown;
  prepare(sql: string): Statement;
  close(): unknown;
}

type Driver = new (path: string) => Connection;

/**
 * A database file of ours. Everything is written in transactions that are on the disk when `transaction` returns
 * (write-ahead log, `synchronous = FULL`); one that was cut off by a kill or a power cut leaves nothing. Faults are thrown as
 * `RunError`s that say what the file holds and what to do.
 */
export interface Database {
  prepare(sql: string): Statement;
  transaction<T>(work: () => T): T;
  /** A transaction that lasts longer; what it wrote is seen here alone. */
  begin(): void;
  end(how: 'commit' | 'rollback'): void;
  close(): void;
}

interface DatabaseOptions {
  /** Names the file in messages: "The journal of the run …". */
  readonly label: string;
  /** The tables, made where the file is new. */
  readonly schema: string;
  /** Of the schema; a file of another one is refused. */
  readonly version: number;
  /** False: what was written survives the process, and not a power cut. */
  readonly durable?: boolean;
  /** What to do about a file that is damaged or of another version. */
  readonly remedy: string;
  /** Several processes have it open at a time, and often: it stays in the form in which they can. */
  readonly shared?: boolean;
  /** Not read through at opening: it is opened often, or whoever opens it looks at what it holds. */
  readonly skipCheck?: boolean;
  /** Only read: whoever writes it may be at it, and its form is theirs. */
  readonly readOnly?: boolean;
}

/** Opens the file and makes it if it is missing. */
export function openDatabase(
  path: string,
  {
    label,
    schema,
    version,
    durable = true,
    remedy,
    shared = false,
    skipCheck = false,
    readOnly = false,
  }: DatabaseOptions,
): Database {
  const withFault = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw error instanceof RunError ? error : fault(error, path, label, remedy);
    }
  };
  makeFile(path);
  const connection = withFault(() => new (driver())(path));
  const begin = () => withFault(() => void connection.exec('begin immediate'));
  const end = (how: 'commit' | 'rollback') => {
    try {
      withFault(() => connection.exec(how));
    } catch (error) {
      // Where the disk is full it was undone already.
      if (how === 'rollback') return;
      end('rollback');
      throw error;
    }
  };
  const transaction = <T>(work: () => T): T => {
    begin();
    let result: T;
    try {
      result = work();
    } catch (error) {
      end('rollback');
      throw error;
    }
    end('commit');
    return result;
  };
  try {
    const readScalar = (pragma: string) => withFault(() => Object.values(connection.prepare(pragma).get() ?? {})[0]);
    connection.exec(`pragma busy_timeout = ${BUSY_MS}`);
    const isNew = () =>
      readScalar('pragma user_version') === 0 && readScalar('select count(*) from sqlite_schema') === 0;
    const exists = !isNew();
    const found = exists ? readScalar('pragma user_version') : version;
    if (found !== version) {
      throw runFailure(
        `${label} ${path} has format ${found}; this version of rowferry reads format ${version}. ${remedy}`,
      );
    }
    const integrity = exists && !skipCheck && !readOnly ? readScalar('pragma quick_check(1)') : 'ok';
    if (integrity !== 'ok') throw damagedFault(path, label, remedy, integrity);
    if (!readOnly) {
      const pragmas = `pragma journal_mode = wal; pragma synchronous = ${durable ? 'full' : 'off'}`;
      withFault(() => retryWhileBusy(() => connection.exec(pragmas)));
    }
    if (!exists) {
      transaction(() => {
        // Another process may have made them meanwhile.
        if (!isNew()) return;
        withFault(() => connection.exec(schema));
        withFault(() => connection.exec(`pragma user_version = ${version}`));
      });
    }
  } catch (error) {
    connection.close();
    throw error;
  }
  return {
    prepare(sql) {
      const statement = withFault(() => connection.prepare(sql));
      return {
        run: (...values) => withFault(() => statement.run(...values)),
        get: (...values) => withFault(() => statement.get(...values)),
        all: (...values) => withFault(() => statement.all(...values)),
      };
    },
    transaction,
    begin,
    end,
    close() {
      if (!shared && !readOnly) {
        try {
          // The file is whole by itself then. While another process reads it, the log stays beside it.
          connection.exec('pragma journal_mode = delete');
        } catch {}
      }
      connection.close();
    },
  };
}

/** What SQLite does not wait for by itself: the form of a file is changed while nobody else is at it. */
function retryWhileBusy(work: () => void): void {
  for (let tries = 1; ; tries++) {
    try {
      work();
      return;
    } catch (error) {
      if (resultCode(error) !== BUSY || tries * PAUSE_MS > BUSY_MS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
    }
  }
}

/** For its owner alone, as is what SQLite puts beside it. */
function makeFile(path: string): void {
  try {
    // Not of a file that is there: to close it would end the locks that this process has on it.
    closeSync(openSync(path, 'wx', 0o600));
  } catch {
    // It is there, or SQLite says why it cannot be.
  }
}

/** Kept from the collector, which would let go of them. */
const heldLocks = new Set<Connection>();

/**
 * Holds an empty file for this connection alone, over all processes of the machine; the system lets go of it when its process
 * dies. Returns how to let go, which removes the file; undefined where another one holds it, also one of this process.
 */
export function lockFile(path: string): (() => void) | undefined {
  for (;;) {
    makeFile(path);
    const identity = identityOf(path);
    let connection: Connection | undefined;
    try {
      connection = new (driver())(path);
      // Without a journal beside it: nothing is ever written.
      connection.exec('pragma busy_timeout = 0; pragma journal_mode = memory');
      connection.exec('begin exclusive');
    } catch (error) {
      connection?.close();
      if (resultCode(error) === BUSY) return undefined;
      throw fault(error, path, 'The lock', 'Delete it while nothing runs.');
    }
    const lock = connection;
    // Who let go of it meanwhile has removed the file that is held here: another one may stand in its place.
    if (identity === undefined || identityOf(path) !== identity) {
      lock.close();
      continue;
    }
    heldLocks.add(lock);
    return () => {
      heldLocks.delete(lock);
      try {
        rmSync(path, { force: true });
      } finally {
        lock.close();
      }
    };
  }
}

/** Tells a file from another one in its place; undefined where there is none. */
function identityOf(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.ino} ${found.ctimeNs}`;
}

let driverClass: Driver | undefined;

/** SQLite as Node brings it, or where it does not yet, from libsql. */
function driver(): Driver {
  if (!driverClass) {
    // Node calls it experimental on the terminal of people who have nothing to do with it.
    const { emitWarning } = process;
    process.emitWarning = () => undefined;
    try {
      const own = process.getBuiltinModule?.('node:sqlite' as 'node:fs') as unknown as
        | { DatabaseSync: Driver }
        | undefined;
      driverClass = own?.DatabaseSync ?? (createRequire(import.meta.url)('libsql') as Driver);
    } finally {
      process.emitWarning = emitWarning;
    }
  }
  return driverClass;
}

const BUSY = 5;
/** How long another process is waited for, and how often it is looked again where SQLite itself would not wait. */
const BUSY_MS = 10_000;
const PAUSE_MS = 5;
/** Primary result codes of SQLite, https://sqlite.org/rescode.html, with the code of the system that comes nearest. */
const REASONS: Readonly<Record<number, readonly [code: string, words: string]>> = {
  [BUSY]: ['EBUSY', 'another process holds it. Let that process end'],
  8: ['EROFS', 'this user may not write there, or the disk is read-only. Grant the right to write'],
  10: ['EIO', 'the disk reports an input/output error (or a quota, or a limit on the size of files). Put that right'],
  13: ['ENOSPC', 'the disk is full. Free some space'],
  14: ['EACCES', 'it cannot be opened. Check that its folder exists and that this user may write there'],
};

function damagedFault(path: string, label: string, remedy: string, cause: unknown): RunError {
  return runFailure(`${label} ${path} is damaged. ${remedy}`, [], { cause });
}

/** The primary result code of a fault. */
function resultCode(cause: unknown): number {
  const { rawCode, errcode } = cause as { rawCode?: number; errcode?: number };
  // Where libsql cannot open a file, the number stands in its words alone.
  return (rawCode ?? errcode ?? Number(/database .*: (\d+)"?\)$/.exec(errorText(cause))?.[1] ?? 0)) & 0xff;
}

function fault(cause: unknown, path: string, label: string, remedy: string): RunError {
  const { code } = cause as { code?: unknown };
  const words = errorText(cause);
  const number = resultCode(cause);
  if (number === 11 || number === 26) return damagedFault(path, label, remedy, cause);
  const [system, reason] = REASONS[number] ?? [String(code ?? ''), `SQLite reports: ${words}. Put that right`];
  return runFailure(
    `${label} ${path} cannot be written: ${reason}, then resume the run. Nothing more is sent until what is sent can be recorded.`,
    [],
    { cause: Object.assign(new Error(words, { cause }), { code: system }) },
  );
}
