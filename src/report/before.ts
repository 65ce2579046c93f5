import { open } from 'node:fs/promises';
import { writeSafely } from '../files/safe-write.js';
import { RunError } from '../model/error.js';
import { readLog } from './append-log.js';
import { PER_READ } from './outcome-index.js';
import { createRowIndex } from './row-index.js';
import { type Piece, readPieces } from './scattered-read.js';

/**
 * A line of before.ndjson: the record as the service had it before the row's write. `row` is null where no row of the file
 * speaks of the record. `set`: the fields that the write sets; `ours`: what an earlier run of ours had left there that reads do
 * not show; both as `pipeline/codec.ts` writes values, and absent in files of older versions. Further members are kept.
 */
export interface BeforeEntry {
  readonly row: number | null;
  readonly id: number;
  readonly record: unknown;
  readonly set?: Readonly<Record<string, unknown>>;
  readonly ours?: Readonly<Record<string, unknown>>;
}

/** A log of records before they were written, and which of its lines count: by row, or by id where no row speaks of them. */
export interface BeforeLog {
  readonly path: string;
  readonly by: 'row' | 'id';
  readonly wanted: (number: number) => boolean;
}

/**
 * Writes before.ndjson from the run's logs, one after the other, each in the order of its rows or ids. What was written
 * again after a crash has several lines; the last is the record as it was before the write that took effect, because nothing
 * is noted once it has. Lines are copied byte by byte, so no digit changes. What `wanted` says no to is left out: what was
 * not updated has nothing to be put back. Returns the number of records; with none, nothing is written.
 */
export async function writeBefore(path: string, ...logs: readonly BeforeLog[]): Promise<number> {
  const found: { readonly log: string; readonly index: Places }[] = [];
  let records = 0;
  for (const log of logs) {
    const index = await indexLog(log);
    records += index.size;
    if (index.size > 0) found.push({ log: log.path, index });
  }
  if (records === 0) return 0;
  await writeSafely(path, async (write) => {
    for (const { log, index } of found) {
      const file = await open(log, 'r');
      try {
        for (const batch of index.batches(PER_READ)) {
          const pieces = await readPieces(file, batch);
          await write(Buffer.concat(pieces.flatMap((piece) => [piece, NEWLINE])));
        }
      } finally {
        await file.close();
      }
    }
  });
  return records;
}

/** Where the last line of each row or record stands. */
interface Places {
  readonly size: number;
  batches(size: number): Iterable<readonly Piece[]>;
}

async function indexLog({ path, by, wanted }: BeforeLog): Promise<Places> {
  const rows = createRowIndex();
  // Ids lie too far apart for the pages of an index of rows, and orphans that were acted on are few.
  const records = new Map<number, Piece>();
  let line = 0;
  for await (const block of readLog(path)) {
    for (const { bytes, offset, length } of block) {
      line++;
      const number = numberOf(bytes, by);
      if (number === undefined) {
        throw new RunError(
          'failed',
          `The log ${path} is damaged in line ${line}: it is no JSON object with a number in "${by}". Restore it from a backup.`,
        );
      }
      if (!wanted(number)) continue;
      if (by === 'row') rows.set(number, 'open', offset, length);
      else records.set(number, { offset, length });
    }
  }
  return by === 'row' ? rows : inOrder(records);
}

function inOrder(records: ReadonlyMap<number, Piece>): Places {
  const pieces = [...records].sort(([a], [b]) => a - b).map(([, piece]) => piece);
  return {
    size: pieces.length,
    *batches(size) {
      for (let from = 0; from < pieces.length; from += size) yield pieces.slice(from, from + size);
    },
  };
}

const NEWLINE = Buffer.from('\n');

function numberOf(line: Buffer, by: 'row' | 'id'): number | undefined {
  try {
    const number = (JSON.parse(line.toString('utf8')) as { row?: unknown; id?: unknown })[by];
    return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : undefined;
  } catch {
    return undefined;
  }
}
