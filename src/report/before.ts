import { open } from 'node:fs/promises';
import { writeSafely } from '../files/safe-write.js';
import { RunError } from '../model/error.js';
import { readLog } from './append-log.js';
import { PER_READ } from './outcome-index.js';
import { createRowIndex } from './row-index.js';
import { readPieces } from './scattered-read.js';

/** A line of before.ndjson: the record as the service had it before the row's write. Further members are kept. */
export interface BeforeEntry {
  readonly row: number;
  readonly id: number;
  readonly record: unknown;
}

/**
 * Writes before.ndjson from the run's log, in input order. A row that was written again after a crash has several
 * lines; the last is the record as it was before the write that took effect, because nothing is noted once it has. Lines are copied byte by byte, so no digit changes.
 * Rows that `wanted` says no to are left out: what was not updated has nothing to be put back.
 * Returns the number of records; with none, nothing is written.
 */
export async function writeBefore(
  path: string,
  log: string,
  wanted: (row: number) => boolean = () => true,
): Promise<number> {
  const index = createRowIndex();
  let number = 0;
  for await (const block of readLog(log)) {
    for (const { bytes, offset, length } of block) {
      number++;
      const row = rowOf(bytes);
      if (row === undefined) {
        throw new RunError(
          'failed',
          `The log ${log} is damaged in line ${number}: it is no JSON object with a row number. Restore it from a backup.`,
        );
      }
      if (wanted(row)) index.set(row, 'open', offset, length);
    }
  }
  if (index.size === 0) return 0;
  const file = await open(log, 'r');
  try {
    await writeSafely(path, async (write) => {
      for (const batch of index.batches(PER_READ)) {
        const pieces = await readPieces(file, batch);
        await write(Buffer.concat(pieces.flatMap((piece) => [piece, NEWLINE])));
      }
    });
  } finally {
    await file.close();
  }
  return index.size;
}

const NEWLINE = Buffer.from('\n');

function rowOf(line: Buffer): number | undefined {
  try {
    const { row } = JSON.parse(line.toString('utf8')) as { row?: unknown };
    return typeof row === 'number' && Number.isSafeInteger(row) && row > 0 ? row : undefined;
  } catch {
    return undefined;
  }
}
