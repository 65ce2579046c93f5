import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { diskWords, RunError } from '../model/error.js';
import { type RowCodec, rowCodec, type StoredRow } from '../pipeline/codec.js';
import type { ResolvedRow } from '../pipeline/resolve.js';
import { type Line, lineBlocks } from '../report/line-blocks.js';

/** Writes the rows between two stages. They can be made again, so nothing is flushed unless it is asked for. */
export interface LineWriter {
  write(line: string): void;
  /** Resolves when the disk has caught up; called now and then so that memory stays small. */
  drained(): Promise<void>;
  close(): Promise<void>;
}

/** Bytes that may wait for the disk: whoever writes goes on meanwhile. */
const WAITING = 1 << 20;

/** `durable`: on the disk once it is closed, for what the journal will take for granted. */
export async function lineWriter(path: string, { durable = false } = {}): Promise<LineWriter> {
  const stream = createWriteStream(path, { flush: durable, highWaterMark: WAITING });
  await once(stream, 'open');
  let failure: Error | undefined;
  let buffered: string[] = [];
  stream.on('error', (error) => {
    failure = error;
  });
  const flush = async () => {
    // A stream that has failed never drains.
    if (failure) throw diskFault(path, failure);
    const more = stream.write(buffered.join(''));
    buffered = [];
    if (!more) await once(stream, 'drain');
    if (failure) throw diskFault(path, failure);
  };
  return {
    write: (line) => void buffered.push(line),
    drained: flush,
    async close() {
      await flush().catch((error: unknown) => {
        stream.destroy();
        throw error;
      });
      stream.end();
      await finished(stream).catch((error: unknown) => {
        throw diskFault(path, error);
      });
    },
  };
}

/** Fills a file and closes it, also where that fails. */
export async function filling(out: Pick<LineWriter, 'close'>, fill: () => Promise<void>): Promise<void> {
  try {
    await fill();
  } catch (error) {
    await out.close().catch(() => undefined);
    throw error;
  }
  await out.close();
}

export async function* lines(path: string): AsyncGenerator<string> {
  for await (const block of lineBlocks(path, 'The working file', 'error')) {
    for (const { bytes } of block) yield bytes.toString('utf8');
  }
}

/** Writes a file of rows; its first line names the fields, none where each row may set others. */
export interface RowWriter extends Omit<LineWriter, 'write'> {
  /** The values of a row as one text; made once for a row that is written next. */
  readonly textOf: RowCodec['textOf'];
  write(row: StoredRow): void;
}

export async function rowWriter(path: string, fields: readonly string[] = []): Promise<RowWriter> {
  const codec = rowCodec(fields);
  const out = await lineWriter(path);
  out.write(`${JSON.stringify(fields)}\n`);
  return {
    textOf: codec.textOf,
    write: (row) => out.write(codec.encode(row)),
    drained: out.drained,
    close: out.close,
  };
}

/** A row at a time costs as much as the row; of more rows, too many live long enough to be in the way of the collector. */
const ROWS_AT_ONCE = 128;

/** The rows of a file, some hundred at a time. */
export async function* storedRows(path: string): AsyncGenerator<readonly ResolvedRow[]> {
  let codec: RowCodec | undefined;
  for await (const block of lineBlocks(path, 'The working file', 'error')) {
    for (let at = 0; at < block.length; at += ROWS_AT_ONCE) {
      const rows = parsedLines(block.slice(at, at + ROWS_AT_ONCE));
      const from = codec ? 0 : 1;
      codec ??= rowCodec(rows[0] as string[]);
      const decoded = new Array<ResolvedRow>(rows.length - from);
      for (let i = from; i < rows.length; i++) decoded[i - from] = codec.decode(rows[i]!);
      if (decoded.length > 0) yield decoded;
    }
  }
}

/** Neighbouring lines as one JSON list: no line end stands within a line. */
function parsedLines(lines: readonly Line[]): unknown[][] {
  const first = lines[0]!.bytes;
  const last = lines[lines.length - 1]!.bytes;
  const bytes = Buffer.from(first.buffer, first.byteOffset, last.byteOffset + last.length - first.byteOffset);
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at)) bytes[at] = COMMA;
  return JSON.parse(`[${bytes.toString('utf8')}]`) as unknown[][];
}

const NEWLINE = 10;
const COMMA = 44;

function diskFault(path: string, error: unknown): RunError {
  return new RunError(
    'failed',
    `The data folder cannot be written to (${path}): ${diskWords(error)}. Make room or choose another ROWFERRY_HOME; nothing was lost.`,
    [],
    { cause: error },
  );
}
