import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as breath, setTimeout as pause } from 'node:timers/promises';
import { headBytes, isGzip } from '../../files/bytes.js';
import { openSource } from '../../files/open.js';
import { RunError } from '../../model/error.js';
import { type SheetRow, shownText } from '../../model/row.js';
import type { OpenSource, SourceMeta, SourceOptions } from '../../model/source.js';
import { columnNames } from '../../runs/map-file.js';
import { HOME, makeFolder } from '../../runs/run/layout.js';
import { isAlive } from '../../runs/run/lock.js';
import { type Database, openDatabase, type Statement } from '../../store/sqlite.js';
import { within } from '../../worker/rights.js';
import type { GridRow } from '../schema.js';

/** A table whose rows are asked for at any place. */
interface TableWanted {
  /** Absolute. */
  readonly file: string;
  readonly options: SourceOptions;
  /** Where its index is put: a folder that is removed with the file. */
  readonly folder: string;
}

/** Tables that are held open; the one that was asked for longest ago goes. Each holds a few MB, and its index on the disk. */
const MOST_OPEN = 8;
/** So long the filling of an index may keep others waiting. */
const SLICE_MS = 8;
/** Rows that are read at a time, and characters after which a page of them ends. */
const READ_ROWS = 40;
const PAGE_CHARACTERS = 2_000_000;
/** So long a page waits for rows that are not there yet, and so often it looks. */
const PATIENCE_MS = 800;
const LOOK_MS = 10;
/** So long every page waits: a small table is whole by then, and its rows are counted. */
const GRACE_MS = 100;

/** Of a large file: what is judged by itself, where the whole takes longer. */
const HEAD_BYTES = 512 * 1024;
const HEAD_AFTER_MS = 400;

/** Every table that people of this process look at. */
export class Tables {
  private readonly open = new Map<string, Promise<TableIndex>>();

  /**
   * The table, opened once for all who ask. Its index is filled in the background.
   * @throws RunError as `openSource` does.
   */
  async of({ file, options, folder }: TableWanted): Promise<TableIndex> {
    // At once, so that whoever closes these tables right after finds it among them.
    const { size, mtimeMs } = statSync(file, { throwIfNoEntry: false }) ?? {};
    const key = createHash('sha256')
      .update(JSON.stringify([file, size, mtimeMs, options]))
      .digest('hex')
      .slice(0, 24);
    let found = this.open.get(key);
    this.open.delete(key);
    found ??= openSource(file, options).then((source) => TableIndex.over(source, folder, key));
    this.open.set(key, found);
    for (const [oldest] of [...this.open].slice(0, -MOST_OPEN)) void this.forget(oldest);
    try {
      return await found;
    } catch (error) {
      if (this.open.get(key) === found) this.open.delete(key);
      throw error;
    }
  }

  /**
   * The table; of a large file of text, which is looked through to its end before it counts as opened, until then what its first
   * rows tell.
   */
  async soon(
    wanted: TableWanted,
    afterMs = HEAD_AFTER_MS,
  ): Promise<{ readonly index: TableIndex; readonly judged: 'whole' | 'head' }> {
    const opening = this.of(wanted);
    const whole = opening.then((index) => ({ index, judged: 'whole' as const }));
    const opened = await within(afterMs, whole);
    const file = opened ? undefined : await headOf(wanted).catch(() => undefined);
    if (file === undefined) return whole;
    // The end of what was cut off may be damaged for that alone.
    const head = this.of({ ...wanted, file }).then((index) => ({ index, judged: 'head' as const }));
    return Promise.race([whole, head.catch(() => whole)]);
  }

  /** Before a folder is removed. */
  async close(folder?: string): Promise<void> {
    const ended = [...this.open].map(async ([key, opened]) => {
      const index = await opened.catch(() => undefined);
      if (folder === undefined || index?.folder === folder) await this.forget(key);
    });
    await Promise.all(ended);
  }

  private async forget(key: string): Promise<void> {
    const opened = this.open.get(key);
    this.open.delete(key);
    await (await opened?.catch(() => undefined))?.close();
  }
}

/** The first lines of a large file of text, as a file beside its index; undefined where it is none. */
async function headOf({ file, folder }: TableWanted): Promise<string | undefined> {
  const { size } = await stat(file);
  const head = await headBytes(file, HEAD_BYTES);
  const end = head.lastIndexOf('\n') + 1;
  if (size < 8 * HEAD_BYTES || end === 0 || isGzip(head) || head.includes(0)) return undefined;
  await makeFolder(folder, HOME);
  const path = join(folder, 'head');
  await writeFile(path, head.subarray(0, end), { flag: 'wx' }).catch(() => undefined);
  return path;
}

/**
 * The rows of a table in a database beside the file, so that a million of them can be scrolled through without being held. It is
 * filled from the first row on and can be asked meanwhile, as far as it is filled. It lives as long as it is open: whoever opens
 * the file again fills another one.
 */
export class TableIndex {
  private state: 'filling' | 'whole' | 'closed' = 'filling';
  private failure: unknown;
  private readonly filled: Promise<void>;
  private count = 0;
  private last = 0;

  private constructor(
    readonly meta: SourceMeta,
    readonly folder: string,
    private readonly path: string,
    private readonly database: Database,
    source: OpenSource,
  ) {
    this.filled = this.fill(source);
  }

  static async over(source: OpenSource, folder: string, key: string): Promise<TableIndex> {
    await makeFolder(folder, HOME);
    await removeAbandoned(folder);
    const path = join(folder, `table-${process.pid}-${key}.db`);
    await removeDatabase(path);
    const database = openDatabase(path, {
      what: 'The index of a table',
      // Blank rows have numbers, and no place.
      schema: `create table line (place integer primary key, row integer not null, cells text not null) strict;
        create index line_row on line (row);`,
      version: 1,
      durable: false,
      shared: true,
      unchecked: true,
      remedy: 'It is made again when the table is opened again.',
    });
    return new TableIndex(source.meta, folder, path, database, source);
  }

  /** As jobs and corrections name the columns: a blank one by its letter, and those that are alike told apart. */
  get headings(): string[] {
    return columnNames(this.meta.headings).map((name, at) => name ?? this.meta.headings[at] ?? '');
  }
  /** Rows that can be asked for now. */
  get rows(): number {
    return this.count;
  }
  /** Whether these are all. */
  get whole(): boolean {
    return this.state === 'whole';
  }

  /**
   * Rows in order, beginning with the one after a row's number, or at a place counted from 0. Waits a little where they are
   * not there yet. Fewer than asked for where the cells are very long.
   */
  async page(from: { readonly after: number } | { readonly place: number }, limit: number): Promise<GridRow[]> {
    await this.until(() => ('place' in from ? this.count >= from.place + limit : this.last >= from.after + limit));
    const select = this.database.prepare('select row, cells from line where place >= ? order by place limit ?');
    const rows: GridRow[] = [];
    let place = 'place' in from ? from.place : this.placeAfter(from.after);
    for (let characters = 0; rows.length < limit && characters <= PAGE_CHARACTERS; ) {
      const some = select.all(place, Math.min(READ_ROWS, limit - rows.length));
      if (some.length === 0) break;
      place += some.length;
      for (const { row, cells } of some) {
        rows.push({ row: Number(row), cells: JSON.parse(String(cells)) as string[] });
        characters += String(cells).length;
        if (characters > PAGE_CHARACTERS) break;
      }
    }
    return rows;
  }

  /** The cells of some rows, as far as these are there; waits a little for them. */
  async cells(rows: readonly number[]): Promise<ReadonlyMap<number, readonly string[]>> {
    await this.until(() => this.last >= Math.max(...rows));
    const select = this.database.prepare('select cells from line where row = ?');
    return new Map(
      rows.flatMap((row) => {
        const found = select.get(row);
        return found ? [[row, JSON.parse(String(found['cells'])) as string[]]] : [];
      }),
    );
  }

  /** Ends the filling and removes the index. */
  async close(): Promise<void> {
    this.state = 'closed';
    await this.filled;
    this.database.close();
    await removeDatabase(this.path);
  }

  private placeAfter(row: number): number {
    const before = this.database.prepare('select place from line where row <= ? order by row desc limit 1').get(row);
    return before ? Number(before['place']) + 1 : 0;
  }

  /** Until it is filled so far, to its end, or for as long as somebody who scrolls will wait. */
  private async until(reached: () => boolean): Promise<void> {
    const begun = performance.now();
    const isDue = (ms: number) => performance.now() - begun > ms;
    while (this.state === 'filling' && !isDue(reached() ? GRACE_MS : PATIENCE_MS)) await pause(LOOK_MS);
    if (this.failure !== undefined) throw this.failure;
    if (this.state === 'closed') throw new RunError('failed', 'The table was closed meanwhile. Ask again.');
  }

  private async fill(source: OpenSource): Promise<void> {
    try {
      const insert = this.database.prepare('insert into line (place, row, cells) values (?, ?, ?)');
      for await (const batch of source.rows()) {
        for (let at = 0; at < batch.length && this.state === 'filling'; ) {
          at = this.database.transaction(() => this.put(insert, batch, at));
          await breath();
        }
        if (this.state !== 'filling') return;
      }
    } catch (error) {
      this.failure = error;
    }
    this.state = 'whole';
  }

  /** Puts down rows of a batch for as long as one may; returns where the next is. */
  private put(insert: Statement, batch: readonly SheetRow[], from: number): number {
    const end = performance.now() + SLICE_MS;
    let at = from;
    while (at < batch.length && performance.now() < end) {
      const { row, cells } = batch[at++]!;
      insert.run(this.count++, row, JSON.stringify(cells.map(shownText)));
      this.last = row;
    }
    return at;
  }
}

async function removeDatabase(path: string): Promise<void> {
  for (const end of ['', '-wal', '-shm']) await rm(`${path}${end}`, { force: true }).catch(() => undefined);
}

/** Those of processes that are gone. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const pid = /^table-(\d+)-[0-9a-f]+\.db$/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await removeDatabase(join(folder, name));
  }
}
