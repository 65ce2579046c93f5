import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { headBytes, isGzip } from '../files/bytes.js';
import { openSource } from '../files/open.js';
import { RunError } from '../model/error.js';
import { type SheetRow, shownText } from '../model/row.js';
import type { OpenSource, SourceMeta, SourceOptions } from '../model/source.js';
import { HOME, makeFolder } from '../runs/run/layout.js';
import { isAlive } from '../runs/run/lock.js';
import { type Database, openDatabase, type Statement } from '../store/sqlite.js';
import { within } from '../worker/within.js';
import type { GridRow } from './schema.js';

/** A table whose rows are asked for at any place. */
export interface TableWanted {
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
/** Rows that lie together, and characters after which they end. */
const BLOCK_ROWS = 40;
const BLOCK_CHARACTERS = 100_000;
/** Characters of the cells in one page of rows. */
const PAGE_CHARACTERS = 2_000_000;

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

/** Where a block of rows begins. */
interface Block {
  /** The number of its first row. */
  readonly row: number;
  /** How many rows stand in the blocks before it. */
  readonly place: number;
}

/**
 * The rows of a table in a database beside the file, in blocks, so that a million of them can be scrolled through without being
 * held. It is filled from the first row on and can be asked meanwhile, as far as it is filled. It lives as long as it is open:
 * whoever opens the file again fills another one.
 */
export class TableIndex {
  /** The numbers of blocks are their places in this list. */
  private readonly blocks: Block[] = [];
  /** Rows that are in no block yet. */
  private pending: GridRow[] = [];
  private characters = 0;
  private state: 'filling' | 'whole' | 'closed' = 'filling';
  private failure: unknown;
  private readonly waiting = new Set<() => void>();
  private readonly filled: Promise<void>;
  /** In the blocks. */
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
      schema: 'create table block (number integer primary key, rows text not null) strict',
      version: 1,
      durable: false,
      shared: true,
      unchecked: true,
      remedy: 'It is made again when the table is opened again.',
    });
    return new TableIndex(source.meta, folder, path, database, source);
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
    // How many rows stand before one is not known: blank rows have numbers, too, and are left out.
    await this.until(() => ('place' in from ? this.count >= from.place + limit : this.last >= from.after + limit));
    const number = Math.max(0, 'place' in from ? this.find('place', from.place) : this.find('row', from.after));
    const begins = (row: number, at: number) =>
      'place' in from ? (this.blocks[number]?.place ?? 0) + at >= from.place : row > from.after;
    const rows: GridRow[] = [];
    let characters = 0;
    for (let block = number, at = 0; block < this.blocks.length; block++) {
      for (const one of this.read(block)) {
        if (!begins(one.row, at++)) continue;
        rows.push(one);
        if (rows.length >= limit) return rows;
        for (const cell of one.cells) characters += cell.length;
        if (characters > PAGE_CHARACTERS) return rows;
      }
    }
    return rows;
  }

  /** The cells of some rows, as far as these are there; waits a little for them. */
  async cells(rows: readonly number[]): Promise<ReadonlyMap<number, readonly string[]>> {
    const wanted = [...rows].sort((one, other) => one - other);
    await this.until(() => this.last >= (wanted.at(-1) ?? 0));
    const found = new Map<number, readonly string[]>();
    let block = -1;
    let read = new Map<number, readonly string[]>();
    for (const row of wanted) {
      const number = this.find('row', row);
      if (number !== block) read = new Map(this.read(number).map((one) => [one.row, one.cells]));
      block = number;
      const cells = read.get(row);
      if (cells) found.set(row, cells);
    }
    return found;
  }

  /** Ends the filling and removes the index. */
  async close(): Promise<void> {
    this.state = 'closed';
    await this.filled;
    this.database.close();
    await removeDatabase(this.path);
  }

  /** The last block that begins at a number or place, or before it; -1 where none does. */
  private find(by: keyof Block, wanted: number): number {
    let [low, high] = [0, this.blocks.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.blocks[middle]?.[by] ?? 0) <= wanted) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  private read(block: number): GridRow[] {
    const found = this.database.prepare('select rows from block where number = ?').get(block);
    return found ? (JSON.parse(String(found['rows'])) as GridRow[]) : [];
  }

  /** Until it is filled so far, to its end, or for as long as somebody who scrolls will wait. */
  private async until(reached: () => boolean, patienceMs = 800): Promise<void> {
    const end = performance.now() + patienceMs;
    while (this.state === 'filling' && !reached()) {
      const left = end - performance.now();
      if (left <= 0) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(go, left);
        const { waiting } = this;
        waiting.add(go);
        function go(): void {
          clearTimeout(timer);
          waiting.delete(go);
          resolve();
        }
      });
    }
    if (this.failure !== undefined) throw this.failure;
    if (this.state === 'closed') throw new RunError('failed', 'The table was closed meanwhile. Ask again.');
  }

  private async fill(source: OpenSource): Promise<void> {
    try {
      const insert = this.database.prepare('insert into block (number, rows) values (?, ?)');
      for await (const batch of source.rows()) {
        for (let at = 0; at < batch.length && this.state === 'filling'; ) {
          at = this.database.transaction(() => this.put(insert, batch, at));
          for (const go of this.waiting) go();
          await new Promise((resolve) => setImmediate(resolve));
        }
        if (this.state !== 'filling') return;
      }
      this.end(insert);
    } catch (error) {
      this.failure = error;
    }
    this.state = 'whole';
    for (const go of this.waiting) go();
  }

  /** Puts down rows of a batch for as long as one may; returns where the next is. */
  private put(insert: Statement, batch: readonly SheetRow[], from: number): number {
    const end = performance.now() + SLICE_MS;
    let at = from;
    while (at < batch.length && performance.now() < end) {
      const { row, cells: found } = batch[at++]!;
      const cells = found.map(shownText);
      this.pending.push({ row, cells });
      for (const cell of cells) this.characters += cell.length;
      if (this.pending.length >= BLOCK_ROWS || this.characters >= BLOCK_CHARACTERS) this.end(insert);
    }
    return at;
  }

  /** Ends a block. */
  private end(insert: Statement): void {
    const [first] = this.pending;
    if (!first) return;
    insert.run(this.blocks.length, JSON.stringify(this.pending));
    this.blocks.push({ row: first.row, place: this.count });
    this.count += this.pending.length;
    this.last = this.pending.at(-1)?.row ?? this.last;
    this.pending = [];
    this.characters = 0;
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
