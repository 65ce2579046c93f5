import { chmod, lstat } from 'node:fs/promises';
import { extname } from 'node:path';
import { createGzip } from 'node:zlib';
import { RunInterrupted, usageError } from '../model/error.js';
import type { TableAbout, TableColumn, TableKind, TableRows } from '../model/table.js';
import { createAtomically } from './atomic-write.js';
import { csvEncoder } from './csv/write.js';
import { isDecimalText, isIntegerText } from './number/cell-value.js';
import { BUFFER_OPTIONS, type ByteSink, fillFile, writeCompressed } from './table-sink.js';
import { assertFits, type WrittenSheet, writeBook } from './workbook/table.js';

export { DATA_ROWS } from './workbook/table.js';

/** What was written: the data rows, and of a workbook its sheet, too. The caller warns of texts that were cut. */
type Written = Pick<WrittenSheet, 'rows'> & Partial<WrittenSheet>;

export interface WrittenTable extends Written {
  readonly bytes: number;
  /** Of the file as it lies on the disk, packed where it is. */
  readonly sha256: string;
}

interface TableWriteOptions {
  readonly signal?: AbortSignal;
  /** Called with the number of rows written so far, after each batch. */
  readonly onRows?: (done: number) => void;
  /** Who writes, in the name of the unfinished file: what the same writer left there when it was killed is replaced. */
  readonly writer?: string;
}

/**
 * Writes a table to a file in the form that its name says (`tableFormat`). At every moment the file is the old one or
 * the complete new one. The same table gives the same bytes. Memory does not grow with the rows.
 *
 * - CSV: UTF-8 without mark, comma, CRLF; text that a spreadsheet program would run is escaped as `escapeFormula` does.
 * - NDJSON: `ndjsonEncoder`. XLSX: `writeBook`. With `.gz`, gzip without name and time.
 *
 * Throws `RunError('usage')` for a name or a table that the form cannot hold, `RunError('failed')` where the file cannot
 * be written, `RunInterrupted` when `signal` is raised. What `rows` throws passes through; the target then stays as it was.
 */
export async function writeTable(
  path: string,
  columns: readonly TableColumn[],
  rows: TableRows,
  about: TableAbout,
  options: TableWriteOptions = {},
): Promise<WrittenTable> {
  const { format, gzip } = tableFormat(path);
  if (columns.length === 0) throw usageError(`${path}: a table needs at least one column. Name columns.`);
  if (format === 'xlsx') assertFits(path, columns);
  let written: Written = { rows: 0 };
  const watched = watch(rows, options);
  const { bytes, sha256 } = await placeTable(path, options.writer, async (file) => {
    const produce = async (sink: ByteSink) => {
      if (format === 'xlsx') written = await writeBook(sink, columns, watched, about);
      else written = await writeLines(sink, columns, format, watched);
    };
    await (gzip
      ? writeCompressed(createGzip({ chunkSize: 64 * 1024, ...BUFFER_OPTIONS }), file, produce)
      : produce(file));
  });
  return { bytes, sha256, ...written };
}

/** Passes batches on, counts them, and stops when it is told to. */
async function* watch(rows: TableRows, { signal, onRows }: TableWriteOptions): TableRows {
  const throwIfAborted = () => {
    if (signal?.aborted) throw new RunInterrupted();
  };
  let done = 0;
  throwIfAborted();
  for await (const batch of rows) {
    throwIfAborted();
    yield batch;
    done += batch.length;
    onRows?.(done);
  }
  throwIfAborted();
}

/** Rows that are encoded at once; between two pieces other work of the process gets its turn. */
const PIECE = 500;

async function writeLines(
  sink: ByteSink,
  columns: readonly TableColumn[],
  format: 'csv' | 'ndjson',
  rows: TableRows,
): Promise<Written> {
  const encode = format === 'csv' ? csvEncoder({ newline: '\r\n' }) : ndjsonEncoder(columns);
  let count = 0;
  if (format === 'csv') await sink.write(encode([columns.map(({ heading }) => heading)]));
  for await (const batch of rows) {
    for (let from = 0; from < batch.length; from += PIECE) {
      await sink.write(encode(batch.length > PIECE ? batch.slice(from, from + PIECE) : batch));
    }
    count += batch.length;
  }
  return { rows: count };
}

/**
 * Turns rows into NDJSON: one object a line, the headings as keys in their order, LF. Blank cells are null; numbers are
 * bare with exactly their digits; text without the form of its kind is a string. No key is special (`__proto__`).
 */
function ndjsonEncoder(columns: readonly TableColumn[]): (rows: readonly (readonly string[])[]) => Buffer {
  const keys = columns.map(({ heading }, i) => `${i === 0 ? '{' : ','}${JSON.stringify(heading)}:`);
  const values = columns.map(({ kind }) => VALUE[kind]);
  return (rows) => {
    let lines = '';
    for (const row of rows) {
      for (let i = 0; i < keys.length; i++) {
        const text = row[i]!;
        lines += text === '' ? `${keys[i]}null` : keys[i]! + values[i]!(text);
      }
      lines += '}\n';
    }
    return Buffer.from(lines, 'utf8');
  };
}

const integer = (text: string) => (isIntegerText(text) ? text : JSON.stringify(text));
const decimal = (text: string) => (isDecimalText(text) ? text : JSON.stringify(text));

/** The JSON of a cell that is not blank. */
const VALUE: Readonly<Record<TableKind, (text: string) => string>> = {
  text: JSON.stringify,
  date: JSON.stringify,
  id: integer,
  integer,
  decimal,
  money: decimal,
  boolean: (text) => (text === 'true' || text === 'false' ? text : JSON.stringify(text)),
  // As it is, so that no number in it is rounded. Line ends can stand only between its values, where a blank is as good.
  json: (text) => (isJsonText(text) ? text.replace(/[\r\n]+/g, ' ') : JSON.stringify(text)),
};

/**
 * Makes a file of what `produce` writes, complete or not at all: `createAtomically`. A file that was there keeps who may read and
 * write it; a link is replaced, never followed.
 */
async function placeTable(path: string, writer: string | undefined, produce: (sink: ByteSink) => Promise<void>) {
  const before = await lstat(path).catch(() => undefined);
  const old = before?.isFile() ? before : undefined;
  return createAtomically(
    path,
    async (temporary) => {
      const result = await fillFile(temporary, produce, old ? 0o600 : 0o666);
      if (old) await chmod(temporary, old.mode & 0o777);
      return result;
    },
    { writer, keepMode: old !== undefined },
  );
}

/** What the name of a file says about its form. */
interface TableFormat {
  readonly format: 'csv' | 'xlsx' | 'ndjson';
  readonly gzip: boolean;
}

const FORMS = 'Tables are written as .csv, .xlsx or .ndjson, each also with .gz (assets.csv.gz).';

/** Format by name. Throws `RunError('usage')` for a name that says none, naming those there are. */
export function tableFormat(path: string): TableFormat {
  const gzip = /\.gz$/i.test(path);
  const end = extname(gzip ? path.slice(0, -3) : path).toLowerCase();
  switch (end) {
    case '.csv':
    case '.xlsx':
    case '.ndjson':
      return { format: end.slice(1) as TableFormat['format'], gzip };
  }
  const found = end === '' ? 'the name has no ending that says its form' : `${end} is not written`;
  throw usageError(`${path}: ${found}. ${FORMS}`);
}

/** A list or an object, as JSON. */
function isJsonText(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
