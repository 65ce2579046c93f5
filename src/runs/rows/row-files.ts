import { closeSync, fstatSync, openSync, renameSync, rmSync } from 'node:fs';
import { setImmediate as immediate } from 'node:timers/promises';
import { blockReader, type LineAt, lineBlocks, openScratchFile, withFault } from '../../compact/scratch-file.js';
import { diskErrorText, type RunError, runFailure, systemCodes } from '../../model/error.js';
import { MAX_RECORD_BYTES } from '../../model/row.js';
import {
  decodeHead,
  type ResolvedRow,
  type RowCodec,
  type RowHead,
  rowCodec,
  type StoredRow,
} from '../../pipeline/rows.js';

type LineWriter = ReturnType<typeof lineWriter>;

/**
 * Writes the rows between two stages. They can be made again, so nothing is flushed unless it is `durable`: on the disk once it is
 * closed, for what the journal will take for granted. Once it is whole it takes its place.
 */
export function lineWriter(path: string, { durable = false } = {}) {
  const unfinished = `${path}.tmp`;
  const file = openScratchFile(unfinished, (error) => diskFault(path, error));
  return {
    write: (line: string) => void file.append(line),
    /** Once the last line is written, or where it is not to be: `isWhole` false. */
    close(isWhole = true): void {
      try {
        if (durable) file.sync();
        else file.flush();
      } finally {
        file.close();
      }
      if (isWhole) renameSync(unfinished, path);
      else rmSync(unfinished, { force: true });
    },
  };
}

/** Fills a file and closes it, also where that fails. It is not whole where `fill` says so. */
export async function fillRowFile(
  out: Pick<LineWriter, 'close'>,
  fill: () => Promise<boolean | undefined>,
): Promise<void> {
  let isWhole: boolean | undefined;
  try {
    isWhole = await fill();
  } catch (error) {
    try {
      out.close(false);
    } catch {
      // Why it failed before is what counts.
    }
    throw error;
  }
  out.close(isWhole);
}

export async function* readLines(path: string): AsyncGenerator<string> {
  for await (const block of readLineBlocks(path)) {
    for (const { bytes } of block) yield bytes.toString('utf8');
  }
}

/** Writes a file of rows; its first line names the fields, none where each row may set others. */
export interface RowWriter extends Pick<LineWriter, 'close'> {
  /** The values of a row as one text; made once for a row that is written next. */
  readonly textOf: RowCodec['textOf'];
  write(row: StoredRow, fingerprint?: number): void;
}

export function rowWriter(path: string, fields: readonly string[] = []): RowWriter {
  const codec = rowCodec(fields);
  const out = lineWriter(path);
  out.write(`${JSON.stringify(fields)}\n`);
  return {
    textOf: codec.textOf,
    write(row, fingerprint) {
      const line = codec.encode(row, fingerprint);
      // A character has at most three bytes.
      if (line.length > MAX_RECORD_BYTES / 3 && Buffer.byteLength(line) > MAX_RECORD_BYTES) throw tooLargeFault(row);
      out.write(line);
    },
    close: out.close,
  };
}

/** A row at a time costs as much as the row; of more rows, too many live long enough to be in the way of the collector. */
const BATCH_ROWS = 128;

/** The rows of a file, some hundred at a time. */
export async function* readRows(path: string): AsyncGenerator<readonly ResolvedRow[]> {
  for await (const { lines, codec } of readRowLines(path)) yield parseLines(lines).map(codec.decode);
}

/** A row by its number, of a file whose rows ascend; undefined where it is not there. */
export function findRow(path: string, row: number): ResolvedRow | undefined {
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

/** The rows of a file, each as what `fromHead` makes of its head alone; of a row of which it makes nothing, the row. */
export async function* readRowsOr<T>(
  path: string,
  fromHead: (head: RowHead) => T | undefined,
): AsyncGenerator<readonly (T | ResolvedRow)[]> {
  for await (const { lines, codec } of readRowLines(path)) {
    const made: (T | ResolvedRow | undefined)[] = parseHeads(lines).map((head) => fromHead(decodeHead(head)));
    const others = lines.filter((_, at) => made[at] === undefined);
    const rows = parseTexts(others.map(({ bytes }) => bytes.toString('utf8')));
    let next = 0;
    yield made.map((one) => one ?? codec.decode(rows[next++]!));
  }
}

/** Lines of rows, some hundred at a time, without the one that names the fields. Valid until the next. */
async function* readRowLines(
  path: string,
): AsyncGenerator<{ readonly lines: readonly LineAt[]; readonly codec: RowCodec }> {
  let codec: RowCodec | undefined;
  for await (const block of readLineBlocks(path)) {
    const from = codec ? 0 : 1;
    codec ??= rowCodec(parseLines(block.slice(0, 1))[0] as string[]);
    for (let at = from; at < block.length; at += BATCH_ROWS) {
      yield { lines: block.slice(at, at + BATCH_ROWS), codec };
    }
  }
}

/** Neighbouring lines as one JSON list: no line end stands within a line. */
function parseLines(lines: readonly LineAt[]): unknown[][] {
  const first = lines[0]!.bytes;
  const last = lines[lines.length - 1]!.bytes;
  const bytes = Buffer.from(first.buffer, first.byteOffset, last.byteOffset + last.length - first.byteOffset);
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at)) bytes[at] = COMMA;
  return JSON.parse(`[${bytes.toString('utf8')}]`) as unknown[][];
}

/** What stands before the values of each line. */
function parseHeads(lines: readonly LineAt[]): unknown[][] {
  return parseTexts(lines.map(({ bytes }) => `${bytes.toString('utf8', 0, bytes.indexOf(TAB))}]`));
}

/** One JSON text is read sooner than many. */
function parseTexts(texts: readonly string[]): unknown[][] {
  return JSON.parse(`[${texts.join(',')}]`) as unknown[][];
}

const [TAB, NEWLINE, COMMA] = [9, 10, 44];

function tooLargeFault({ ref }: StoredRow): RunError {
  const where = ref.sheet === undefined ? '' : ` of ${ref.sheet}`;
  return runFailure(
    `Row ${ref.row}${where} holds more than ${MAX_RECORD_BYTES >> 20} MB, the most that a record may. Nothing was sent. ` +
      'Shorten its texts and run again.',
  );
}

export function diskFault(path: string, error: unknown): RunError {
  return runFailure(
    `The data folder cannot be written to (${path}): ${diskErrorText(error)}. Make room or choose another ROWFERRY_HOME; nothing was lost.`,
    [],
    { cause: error },
  );
}

/** The ended lines of a file in order, some hundred at a time. The bytes are valid until the next block. */
async function* readLineBlocks(path: string): AsyncGenerator<readonly LineAt[]> {
  const unreadable = (error: unknown) =>
    runFailure(
      `The working file ${path} cannot be read (${systemCodes(error)[0] ?? error}). Check the disk and the rights of this user, then try again.`,
      [],
      { cause: error },
    );
  const file = withFault(unreadable, () => openSync(path, 'r'));
  const blocks = lineBlocks(file);
  try {
    for (;;) {
      const { done, value } = withFault(unreadable, () => blocks.next());
      if (done) return;
      yield value;
      // Whoever goes through many rows without waiting for anything is not to hold up the rest of the process.
      await immediate();
    }
  } finally {
    closeSync(file);
  }
}
