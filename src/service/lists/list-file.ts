import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hash53 } from '../../compact/hash-index.js';
import { parseJson, stringifyBody } from '../../model/json.js';
import { type Database, openDatabase, type SqlValue } from '../../store/sqlite.js';
import { reached } from '../../trace/milestones.js';
import type { Json, MirrorRecord, Readable } from '../port.js';

/** What is known of the last certain reading. */
export interface ListState {
  readonly resource: Readable;
  /** Of `StoredRecords`. */
  readonly table: number;
  /** Milliseconds since 1970: when the last reading of the whole list began. */
  readonly fullAt: number;
  /** Delta readings since. */
  readonly deltas: number;
  readonly size: number;
  /** The latest modification date that the service showed when the reading began; null where it cannot be told. */
  readonly watermark: string | null;
  /** Ids of page 1 in that order when the reading began; null where the service does not honour it, or shows dates that cannot be compared. */
  readonly front: readonly number[] | null;
}

/** A record as it is kept and compared: the fingerprint is of its whole JSON. */
export type HashedRecord = ReturnType<typeof hashRecord>;

export function hashRecord(record: Json) {
  const text = stringifyBody(record);
  return { text, hash: hash53(text) };
}

/** The records of a list as they were last read. */
export type StoredRecords = ReturnType<typeof storedRecordsIn>;
export type ListFile = ReturnType<typeof listIn>;

const SCHEMA = `
  create table state (only integer primary key check (only = 1), value text not null, hash integer not null) strict;
  create table written (id integer primary key) strict;
`;
const FILE = 'list.db';
const BATCH = 500;
/** Records that one statement adds: most of its cost is that of the call. */
const ROWS_PER_INSERT = 25;
const COLUMNS = 4;

/** Whatever is wrong with what lies in the folder, it is begun anew. Throws a `RunError` where the disk cannot be written. */
export async function openListFile(dir: string, resource: Readable): Promise<ListFile> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  try {
    return listIn(join(dir, FILE), resource);
  } catch {
    return beginListFile(dir, resource);
  }
}

/** An empty one in the place of what lies there. */
export async function beginListFile(dir: string, resource: Readable): Promise<ListFile> {
  for (const end of ['', '-wal', '-shm', '-journal']) await rm(join(dir, `${FILE}${end}`), { force: true });
  return listIn(join(dir, FILE), resource);
}

/**
 * A list in a file of its own: one table of records a reading, and which of them is the last certain one. Only a cache: it is
 * always in a transaction, and what is not kept leaves the last certain reading as it was, however the process ends. One
 * process at a time may use it.
 */
function listIn(path: string, resource: Readable) {
  const database = openDatabase(path, {
    label: 'The list of what was read from the service',
    schema: SCHEMA,
    version: 2,
    remedy: 'Delete it and start again.',
    skipCheck: true,
  });
  const tables = () =>
    database
      .prepare(`select name from sqlite_schema where type = 'table' and name glob 'reading_*'`)
      .all()
      .map(({ name }) => Number(String(name).slice('reading_'.length)));
  let state: ListState | undefined;
  try {
    database.begin();
    state = readState(database, resource);
    for (const table of tables()) if (table !== state?.table) database.prepare(`drop table reading_${table}`).run();
  } catch (error) {
    database.close();
    throw error;
  }

  return {
    get state() {
      return state;
    },
    stored: (table: number) => storedRecordsIn(database, table),
    newReading() {
      const table = Math.max(0, ...tables()) + 1;
      database
        .prepare(
          `create table reading_${table} (id integer primary key, hash integer not null, read_at real not null, text text not null) strict`,
        )
        .run();
      return storedRecordsIn(database, table);
    },
    /** Makes this reading the last certain one. */
    commit(next: ListState): void {
      for (const table of tables()) if (table !== next.table) database.prepare(`drop table reading_${table}`).run();
      if (next.table !== state?.table || next.deltas !== state.deltas) database.prepare('delete from written').run();
      const value = JSON.stringify(next);
      database.prepare('insert or replace into state (only, value, hash) values (1, ?, ?)').run(value, hash53(value));
      database.end('commit');
      database.begin();
      state = next;
      reached('mirror-kept');
    },
    /** Ids of what this program was to write after the last certain reading. */
    get written() {
      const found = database.prepare('select id from written').all();
      return new Set(found.map(({ id }) => Number(id)));
    },
    /** Durable when it returns, with all that was read since `commit`. */
    noteWritten(ids: Iterable<number>): void {
      database
        .prepare('insert or ignore into written (id) select value from json_each(?)')
        .run(JSON.stringify([...ids]));
      database.end('commit');
      database.begin();
    },
    /** Leaves nothing of what was read since `commit`. */
    rollback(): void {
      database.end('rollback');
      database.begin();
    },
    close(): void {
      database.end('rollback');
      database.close();
    },
  };
}

/** Undefined where nothing is kept, or something else than was written. */
function readState(database: Database, resource: Readable): ListState | undefined {
  const { value, hash } = database.prepare('select value, hash from state').get() ?? {};
  if (typeof value !== 'string' || hash53(value) !== hash) return undefined;
  const state = JSON.parse(value) as ListState;
  return state.resource === resource ? state : undefined;
}

function storedRecordsIn(database: Database, number: number) {
  const table = `reading_${number}`;
  const selectHash = database.prepare(`select hash from ${table} where id = ?`);
  const insertion = (count: number) =>
    database.prepare(
      `insert or replace into ${table} (id, hash, read_at, text) values ${Array(count).fill('(?, ?, ?, ?)').join()}`,
    );
  const insert = insertion(1);
  const insertMany = insertion(ROWS_PER_INSERT);
  const get = database.prepare(`select read_at, text from ${table} where id = ?`);
  const page = database.prepare(`select id, hash, read_at, text from ${table} where id > ? order by id limit ${BATCH}`);
  let size = Number(database.prepare(`select count(*) as n from ${table}`).get()?.['n']);
  let waiting: SqlValue[] = [];

  const values = (id: number, { text, hash }: HashedRecord, readAt: number): SqlValue[] => [id, hash, readAt, text];

  function* pages() {
    for (let last = Number.MIN_SAFE_INTEGER; ; ) {
      const rows = page.all(last);
      if (rows.length === 0) return;
      yield rows;
      last = Number(rows.at(-1)?.['id']);
    }
  }

  return {
    table: number,
    get size() {
      return size;
    },
    /** The fingerprint of a record; undefined where it is not held. */
    hashOf: (id: number) => selectHash.get(id)?.['hash'],
    /** A record that is not held yet. Looked up it can be after `flush`. */
    add(id: number, hashed: HashedRecord, readAt: number): void {
      size++;
      waiting.push(...values(id, hashed, readAt));
      if (waiting.length < ROWS_PER_INSERT * COLUMNS) return;
      insertMany.run(...waiting);
      waiting = [];
    },
    flush(): void {
      for (let at = 0; at < waiting.length; at += COLUMNS) insert.run(...waiting.slice(at, at + COLUMNS));
      waiting = [];
    },
    /** Adds or replaces. */
    put(id: number, hashed: HashedRecord, readAt: number): void {
      if (!selectHash.get(id)) size++;
      insert.run(...values(id, hashed, readAt));
    },
    /** Ascending by id, in batches of up to 500. */
    async *records(): AsyncGenerator<readonly MirrorRecord[]> {
      for (const rows of pages()) yield rows.map(({ read_at, text }) => recordOf(String(text), Number(read_at)));
    },
    /** In the order of the ids, which must be held. */
    read: (ids: readonly number[]) =>
      ids.map((id) => {
        const found = get.get(id);
        if (!found) throw new RangeError(`record ${id} is not held`);
        return recordOf(String(found['text']), Number(found['read_at']));
      }),
    /** Ids by their places in ascending order, from 0. */
    slice: (from: number, to: number) =>
      database
        .prepare(`select id from ${table} order by id limit ? offset ?`)
        .all(to - from, from)
        .map(({ id }) => Number(id)),
    /** Whether every record is as it was kept. */
    isIntact(): boolean {
      try {
        for (const rows of pages()) if (rows.some(({ hash, text }) => hash53(String(text)) !== hash)) return false;
        return true;
      } catch {
        return false;
      }
    },
    drop(): void {
      database.prepare(`drop table ${table}`).run();
    },
  };
}

const recordOf = (text: string, readAt: number): MirrorRecord => ({ record: parseJson(text) as Json, readAt, text });
