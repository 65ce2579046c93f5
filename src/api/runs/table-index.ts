import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as breath, setTimeout as pause } from 'node:timers/promises';
import { openSource } from '../../files/open.js';
import { RunError } from '../../model/error.js';
import { displayText } from '../../model/row.js';
import type { OpenSource, SourceMeta, SourceOptions } from '../../model/source.js';
import { HOME, makeFolder } from '../../runs/run/layout.js';
import { type Database, openDatabase } from '../../store/sqlite.js';
import { headingsOf } from '../files/tables.js';

/** Tables that are held open; the one that was asked for longest ago goes. Each holds a few MB, and its index on the disk. */
const MOST_OPEN = 8;
/** So often a page looks for rows that are not there yet. */
const POLL_MS = 10;

/** Every table that people of this process look at. */
export class Tables {
  private readonly open = new Map<string, Promise<TableIndex>>();

  /**
   * The table in a file that stays as it is, opened once for all who ask. Its index is filled in the background.
   * @param folder where the index is put; it is removed with the file.
   * @throws RunError as `openSource` does.
   */
  async openTable(file: string, options: SourceOptions, folder: string): Promise<TableIndex> {
    const key = JSON.stringify([file, options]);
    let found = this.open.get(key);
    this.open.delete(key);
    found ??= openSource(file, options).then((source) => TableIndex.create(source, folder));
    this.open.set(key, found);
    for (const oldest of [...this.open.keys()].slice(0, -MOST_OPEN)) void this.forget(oldest);
    try {
      return await found;
    } catch (error) {
      if (this.open.get(key) === found) this.open.delete(key);
      throw error;
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.open.keys()].map((key) => this.forget(key)));
  }

  private async forget(key: string): Promise<void> {
    const opened = this.open.get(key);
    this.open.delete(key);
    await (await opened?.catch(() => undefined))?.close();
  }
}

/**
 * The cells of a table in a database beside the file, so that those of any row of a million can be shown without being held. It
 * is filled from the first row on and can be asked meanwhile, as far as it is filled. It lives as long as it is open: whoever
 * opens the file again fills another one.
 */
export class TableIndex {
  private state: 'filling' | 'whole' | 'closed' = 'filling';
  private failure: unknown;
  private readonly filled: Promise<void>;
  private last = 0;

  private constructor(
    readonly meta: SourceMeta,
    private readonly path: string,
    private readonly database: Database,
    source: OpenSource,
  ) {
    this.filled = this.fill(source);
  }

  static async create(source: OpenSource, folder: string): Promise<TableIndex> {
    await makeFolder(folder, HOME);
    const path = join(folder, `table-${randomUUID()}.db`);
    const database = openDatabase(path, {
      label: 'The index of a table',
      schema: 'create table line (row integer primary key, cells text not null) strict;',
      version: 1,
      durable: false,
      shared: true,
      remedy: 'It is made again when the table is opened again.',
    });
    // Nobody opens it again: where the system lets it, it goes with this process, however that ends.
    await removeDatabase(path);
    return new TableIndex(source.meta, path, database, source);
  }

  /** As jobs and corrections name the columns. */
  get headings(): string[] {
    return headingsOf(this.meta);
  }

  /** The cells of rows that ascend; waits until they were read. */
  async cells(rows: readonly number[]): Promise<string[][]> {
    const last = rows.at(-1) ?? 0;
    while (this.state === 'filling' && this.last < last) await pause(POLL_MS);
    if (this.failure !== undefined) throw this.failure;
    if (this.state === 'closed') throw new RunError('failed', 'The table was closed meanwhile. Ask again.');
    const select = this.database.prepare('select cells from line where row = ?');
    return rows.map((row) => JSON.parse(String(select.get(row)?.['cells'] ?? '[]')) as string[]);
  }

  /** Ends the filling and removes the index. */
  async close(): Promise<void> {
    this.state = 'closed';
    await this.filled;
    this.database.close();
    await removeDatabase(this.path);
  }

  private async fill(source: OpenSource): Promise<void> {
    try {
      const insert = this.database.prepare('insert or replace into line (row, cells) values (?, ?)');
      for await (const batch of source.rows()) {
        if (this.state !== 'filling') return;
        this.database.transaction(() => {
          for (const { row, cells } of batch) insert.run(row, JSON.stringify(cells.map(displayText)));
        });
        this.last = batch.at(-1)?.row ?? this.last;
        await breath();
      }
    } catch (error) {
      this.failure = error;
    }
    this.state = 'whole';
  }
}

async function removeDatabase(path: string): Promise<void> {
  for (const end of ['', '-wal', '-shm']) await rm(`${path}${end}`, { force: true }).catch(() => undefined);
}
