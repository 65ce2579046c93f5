import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate as breath, setTimeout as pause } from 'node:timers/promises';
import { openSource } from '../../files/open.js';
import { runFailure } from '../../model/error.js';
import { displayText } from '../../model/row.js';
import type { OpenSource, SourceOptions } from '../../model/source.js';
import { HOME, makeFolder } from '../../runs/run/layout.js';
import { openDatabase } from '../../store/sqlite.js';
import { Cache } from '../cache.js';
import { headingsOf } from '../files/tables.js';

/** Tables that are held open; the one that was asked for longest ago goes. Each holds a few MB, and its index on the disk. */
const MOST_OPEN = 8;
/** So often a page looks for rows that are not there yet. */
const POLL_MS = 10;

/** Every table that people of this process look at. */
export class Tables extends Cache<TableIndex> {
  constructor() {
    super(MOST_OPEN, (table) => table.close());
  }

  /**
   * The table in a file that stays as it is, opened once for all who ask.
   * @param folder where its index is put; it is removed with the file.
   * @throws RunError as `openSource` does.
   */
  openTable(file: string, options: SourceOptions, folder: string): Promise<TableIndex> {
    return this.get(JSON.stringify([file, options]), async () => indexTable(await openSource(file, options), folder));
  }
}

export type TableIndex = Awaited<ReturnType<typeof indexTable>>;

/**
 * The cells of a table in a database beside the file, so that those of any row of a million can be shown without being held. It
 * is filled in the background, from the first row on, and can be asked meanwhile, as far as it is filled. It lives as long as it is
 * open: whoever opens the file again fills another one.
 */
async function indexTable(source: OpenSource, folder: string) {
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
  let state: 'filling' | 'whole' | 'closed' = 'filling';
  let failure: unknown;
  let lastRow = 0;

  async function fill(): Promise<void> {
    const insert = database.prepare('insert or replace into line (row, cells) values (?, ?)');
    for await (const batch of source.rows()) {
      if (state !== 'filling') return;
      database.transaction(() => {
        for (const { row, cells } of batch) insert.run(row, JSON.stringify(cells.map(displayText)));
      });
      lastRow = batch.at(-1)?.row ?? lastRow;
      await breath();
    }
    state = 'whole';
  }
  const filled = fill().catch((error: unknown) => {
    state = 'whole';
    failure = error;
  });

  return {
    meta: source.meta,
    /** As jobs and corrections name the columns. */
    headings: headingsOf(source.meta),
    /** The cells of rows that ascend; waits until they were read. */
    async cells(rows: readonly number[]): Promise<string[][]> {
      const last = rows.at(-1) ?? 0;
      while (state === 'filling' && lastRow < last) await pause(POLL_MS);
      if (failure !== undefined) throw failure;
      if (state === 'closed') throw runFailure('The table was closed meanwhile. Ask again.');
      const select = database.prepare('select cells from line where row = ?');
      return rows.map((row) => JSON.parse(String(select.get(row)?.['cells'] ?? '[]')) as string[]);
    },
    /** Ends the filling and removes the index. */
    async close(): Promise<void> {
      state = 'closed';
      await filled;
      database.close();
      await removeDatabase(path);
    },
  };
}

async function removeDatabase(path: string): Promise<void> {
  for (const end of ['', '-wal', '-shm']) await rm(`${path}${end}`, { force: true }).catch(() => undefined);
}
