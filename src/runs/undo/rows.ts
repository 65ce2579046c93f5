import { createHash } from 'node:crypto';
import { writeSafely } from '../../files/safe-write.js';
import { parseJson, stringifyBody } from '../../service/json.js';
import type { RunFolder } from '../layout.js';
import { lines } from '../row-files.js';
import type { WrittenRecord } from './what-was-written.js';

/** What an undo is made from, as it stood when it began. */
export interface UndoRows {
  /** SHA-256 of the source, in hex. */
  readonly sha256: string;
  readonly rows: number;
}

/**
 * Writes the rows of an undo: its source, one JSON object a line, on the very line whose number the row had in the file of
 * the run that is undone (the lines between are blank), so that every report numbers rows as that file does; and what the undo
 * needs of each record, in its folder alone: what happens to the run's own folder does not matter any more.
 */
export async function writeUndoRows(
  source: string,
  folder: RunFolder,
  written: AsyncIterable<readonly WrittenRecord[]>,
): Promise<UndoRows> {
  const hash = createHash('sha256');
  let rows = 0;
  let line = 0;
  await writeSafely(source, (writeSource) =>
    writeSafely(folder.staged, async (write) => {
      for await (const batch of written) {
        for (const record of batch) {
          const text = `${'\n'.repeat(record.row - line - 1)}${JSON.stringify(shownRow(record))}\n`;
          hash.update(text);
          await writeSource(text);
          await write(`${stringifyBody(record)}\n`);
          line = record.row;
          rows++;
        }
      }
    }),
  );
  return { sha256: hash.digest('hex'), rows };
}

/** What an undo's `rejected.ndjson` shows of a record. */
function shownRow({ row, key, outcome, id, diff, before }: WrittenRecord) {
  const fields = diff.length > 0 ? diff.map(({ field }) => field) : Object.keys(before?.set ?? {});
  return { row, id: id ?? null, key, run_outcome: outcome, fields: fields.join('; ') };
}

/** The records of an undo, in the order of its rows. */
export async function* undoRows(folder: RunFolder): AsyncGenerator<WrittenRecord> {
  for await (const line of lines(folder.staged)) yield parseJson(line) as WrittenRecord;
}
