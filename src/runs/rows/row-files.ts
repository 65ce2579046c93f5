import { once } from 'node:events';
import { closeSync, createWriteStream, fstatSync, openSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { finished } from 'node:stream/promises';
import { blockReader } from '../../compact/block-reader.js';
import { codesOf, diskWords, RunError } from '../../model/error.js';
import { MAX_LINE_BYTES, MAX_RECORD_BYTES } from '../../model/row.js';
import { decodeHead, type RowCodec, type RowHead, rowCodec, type StoredRow } from '../../pipeline/codec.js';
import type { ResolvedRow } from '../../pipeline/resolve/resolve.js';

/** Writes the rows between two stages. They can be made again, so nothing is flushed unless it is asked for. */
interface LineWriter {
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
    if (!more) await once(stream, 'drain').catch(() => undefined);
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
  for await (const block of lineBlocks(path)) {
    for (const { bytes } of block) yield bytes.toString('utf8');
  }
}

/** Writes a file of rows; its first line names the fields, none where each row may set others. */
export interface RowWriter extends Omit<LineWriter, 'write'> {
  /** The values of a row as one text; made once for a row that is written next. */
  readonly textOf: RowCodec['textOf'];
  write(row: StoredRow, fingerprint?: number): void;
}

export async function rowWriter(path: string, fields: readonly string[] = []): Promise<RowWriter> {
  const codec = rowCodec(fields);
  const out = await lineWriter(path);
  out.write(`${JSON.stringify(fields)}\n`);
  return {
    textOf: codec.textOf,
    write(row, fingerprint) {
      const line = codec.encode(row, fingerprint);
      // A character has at most three bytes.
      if (line.length > MAX_RECORD_BYTES / 3 && Buffer.byteLength(line) > MAX_RECORD_BYTES) throw tooLarge(row);
      out.write(line);
    },
    drained: out.drained,
    close: out.close,
  };
}

/** A row at a time costs as much as the row; of more rows, too many live long enough to be in the way of the collector. */
const ROWS_AT_ONCE = 128;

/** The rows of a file, some hundred at a time. */
export async function* storedRows(path: string): AsyncGenerator<readonly ResolvedRow[]> {
  for await (const { lines, codec } of storedLines(path)) yield parsedLines(lines).map(codec.decode);
}

/** A row by its number, of a file whose rows ascend; undefined where it is not there. */
export function storedRow(path: string, row: number): ResolvedRow | undefined {
  const file = openSync(path, 'r');
  try {
    const { line } = blockReader(file);
    const fields = line(0).toString('utf8');
    const codec = rowCodec(JSON.parse(fields) as string[]);
    let [from, to] = [Buffer.byteLength(fields) + 1, fstatSync(file).size];
    // Its line begins between the two.
    while (from < to) {
      const middle = Math.floor((from + to) / 2);
      const at = middle > from ? middle + line(middle - 1).length : from;
      const bytes = line(at);
      const found = at < to ? Number(bytes.toString('latin1', 1, bytes.indexOf(COMMA))) : row + 1;
      if (found === row) return codec.decode(JSON.parse(bytes.toString('utf8')) as unknown[]);
      if (found < row) from = at + bytes.length + 1;
      else to = middle;
    }
    return undefined;
  } finally {
    closeSync(file);
  }
}

/** The rows of a file, each as what `short` makes of its head alone; of a row of which it makes nothing, the row. */
export async function* storedRowsOr<T>(
  path: string,
  short: (head: RowHead) => T | undefined,
): AsyncGenerator<readonly (T | ResolvedRow)[]> {
  for await (const { lines, codec } of storedLines(path)) {
    const made: (T | ResolvedRow | undefined)[] = parsedHeads(lines).map((head) => short(decodeHead(head)));
    const others = lines.filter((_, at) => made[at] === undefined);
    const rows = parsedTexts(others.map(({ bytes }) => bytes.toString('utf8')));
    let next = 0;
    yield made.map((one) => one ?? codec.decode(rows[next++]!));
  }
}

/** Lines of rows, some hundred at a time, without the one that names the fields. Valid until the next. */
async function* storedLines(
  path: string,
): AsyncGenerator<{ readonly lines: readonly Line[]; readonly codec: RowCodec }> {
  let codec: RowCodec | undefined;
  for await (const block of lineBlocks(path)) {
    const from = codec ? 0 : 1;
    codec ??= rowCodec(parsedLines(block.slice(0, 1))[0] as string[]);
    for (let at = from; at < block.length; at += ROWS_AT_ONCE) {
      yield { lines: block.slice(at, at + ROWS_AT_ONCE), codec };
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

/** What stands before the values of each line. */
function parsedHeads(lines: readonly Line[]): unknown[][] {
  return parsedTexts(lines.map(({ bytes }) => `${bytes.toString('utf8', 0, bytes.indexOf(TAB))}]`));
}

/** One JSON text is read sooner than many. */
function parsedTexts(texts: readonly string[]): unknown[][] {
  return JSON.parse(`[${texts.join(',')}]`) as unknown[][];
}

const [TAB, NEWLINE, COMMA] = [9, 10, 44];

function tooLarge({ ref }: StoredRow): RunError {
  const where = ref.sheet === undefined ? '' : ` of ${ref.sheet}`;
  return new RunError(
    'failed',
    `Row ${ref.row}${where} holds more than ${MAX_RECORD_BYTES >> 20} MB, the most that a record may. Nothing was sent. ` +
      'Shorten its texts and run again.',
  );
}

function diskFault(path: string, error: unknown): RunError {
  return new RunError(
    'failed',
    `The data folder cannot be written to (${path}): ${diskWords(error)}. Make room or choose another ROWFERRY_HOME; nothing was lost.`,
    [],
    { cause: error },
  );
}

/** A line as it stands in the file, without its end. */
interface Line {
  readonly bytes: Buffer;
}

const BLOCK = 256 << 10;

/**
 * The ended lines of a file in order, some hundred at a time; what stands behind the last line end is left out.
 * Reads what the file held when it was opened, so it may be written meanwhile. The bytes are valid until the next block.
 */
async function* lineBlocks(path: string): AsyncGenerator<readonly Line[]> {
  try {
    const handle = await open(path, 'r');
    try {
      const { size } = await handle.stat();
      let buffer: Buffer = Buffer.allocUnsafe(BLOCK);
      let carried = 0;
      let offset = 0;
      while (offset + carried < size) {
        if (carried === buffer.length) {
          if (carried >= MAX_LINE_BYTES) throw tooLong(path, offset);
          const grown = Buffer.allocUnsafe(buffer.length * 2);
          buffer.copy(grown);
          buffer = grown;
        }
        const wanted = Math.min(buffer.length - carried, size - offset - carried);
        const { bytesRead } = await handle.read(buffer, carried, wanted, offset + carried);
        if (bytesRead === 0) return;
        const bytes = buffer.subarray(0, carried + bytesRead);
        const lines: Line[] = [];
        let start = 0;
        for (let end = bytes.indexOf(NEWLINE, carried); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
          lines.push({ bytes: bytes.subarray(start, end) });
          start = end + 1;
        }
        if (lines.length) yield lines;
        bytes.copy(buffer, 0, start);
        carried = bytes.length - start;
        offset += start;
      }
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof RunError) throw error;
    const [code] = codesOf(error);
    throw new RunError(
      'failed',
      `The working file ${path} cannot be read (${code ?? error}). Check the disk and the rights of this user, then try again.`,
      [],
      { cause: error },
    );
  }
}

function tooLong(path: string, offset: number): RunError {
  return new RunError(
    'failed',
    `The working file ${path} is damaged: from byte ${offset} on no line ends within ${MAX_LINE_BYTES >> 20} MB. Restore the file from a backup.`,
  );
}
