import { RunError } from '../../model/error.js';
import { type SourceLimits, sizeText } from '../limits.js';
import { createRecordScanner, type ScannedRecord } from './scan.js';

/** Chunks in, records out, each with its row number. Bytes of an unfinished record wait for the next chunk. */
export interface RecordFeed {
  /** The chunk's memory must stay as it is until the next is pushed. */
  push(chunk: Buffer): void;
  /** No further chunk follows. */
  finish(): void;
  /** Scans the next record into `record`; false where more bytes are needed or none are left. */
  next(): boolean;
  readonly record: ScannedRecord;
  /** Number of the last record: every record is one row, blank ones too. The line `sep=;` has the number 0. */
  readonly row: number;
  /** Byte position where the last record begins, in the bytes now held. */
  readonly start: number;
  /** Byte position after the last record, in the bytes now held. */
  readonly position: number;
  readonly bytes: Buffer;
  /** Expected cells of the records to come; 0 = not known. Decides only where a row with a stray quote ends. */
  width: number;
}

export interface FeedOptions {
  readonly path: string;
  readonly delimiter: string;
  readonly limits: SourceLimits;
  /**
   * The first line names the delimiter (`sep=;`). Spreadsheet programs obey it and show the line below it as row 1, so
   * that it has no number here either.
   */
  readonly hinted?: boolean;
  /** Whether cells are wanted. */
  readonly collect: boolean;
  /** Without cells: whether they are counted; yes unless stated otherwise. */
  readonly counted?: boolean;
  /**
   * Blank rows that are counted without being scanned: a file may hold millions of them. `lines`: those of a line end alone;
   * `rows`: also those of blanks and delimiters.
   */
  readonly skip?: 'lines' | 'rows';
  /** Whether an open quote at the end is refused; false for a sample that may stop anywhere. */
  readonly whole: boolean;
}

export function createRecordFeed(options: FeedOptions): RecordFeed {
  const { path, limits, collect, whole, counted = true, skip } = options;
  const delimiter = options.delimiter.charCodeAt(0);
  const scanner = createRecordScanner({
    delimiter,
    maxCells: limits.columns + 1,
    maxCharacters: limits.cellCharacters,
  });
  let bytes: Buffer = Buffer.alloc(0);
  let position = 0;
  let start = 0;
  let final = false;
  let row = options.hinted ? -1 : 0;

  /** Memory for an unfinished record and the chunk behind it; two, because the rest may stand in the one last used. */
  const spaces: [Buffer, Buffer] = [Buffer.alloc(0), Buffer.alloc(0)];
  function joined(rest: Buffer, chunk: Buffer): Buffer {
    const length = rest.length + chunk.length;
    spaces.reverse();
    if (spaces[0].length < length) spaces[0] = Buffer.allocUnsafeSlow(Math.ceil(length * 1.25));
    rest.copy(spaces[0], 0);
    chunk.copy(spaces[0], rest.length);
    return spaces[0].subarray(0, length);
  }

  /** Goes to the first line that may hold something. */
  function skipBlank(): void {
    const [blank, tab, separator] = skip === 'rows' ? [0x20, 0x09, delimiter] : [-1, -1, -1];
    for (let at = position; at < bytes.length; ) {
      const byte = bytes[at]!;
      if (byte === 0x0a || byte === 0x0d) {
        // A line feed may follow in the next chunk.
        if (byte === 0x0d && at + 1 === bytes.length && !final) return;
        at += byte === 0x0d && bytes[at + 1] === 0x0a ? 2 : 1;
        position = at;
        row++;
      } else if (byte === blank || byte === tab || byte === separator) at++;
      else return;
    }
  }

  const feed: RecordFeed = {
    record: scanner.record,
    width: 0,
    get row() {
      return row;
    },
    get start() {
      return start;
    },
    get position() {
      return position;
    },
    get bytes() {
      return bytes;
    },
    push(chunk) {
      bytes = position < bytes.length ? joined(bytes.subarray(position), chunk) : chunk;
      position = 0;
    },
    finish() {
      final = true;
    },
    next() {
      if (skip) skipBlank();
      if (position >= bytes.length) return false;
      const next = scanner.scan(bytes, position, bytes.length, final, feed.width, collect, counted);
      const size = (next < 0 ? bytes.length : next) - position;
      if (size > limits.recordBytes) throw tooLong(path, row + 1, bytes.subarray(position), limits.recordBytes);
      if (next < 0) return false;
      row++;
      if (scanner.record.open && whole) throw openQuote(path, row, bytes.subarray(position));
      start = position;
      position = next;
      return true;
    },
  };
  return feed;
}

function beginning(bytes: Buffer): string {
  return bytes
    .subarray(0, 200)
    .toString('utf8')
    .replace(/\ufffd|\p{Cc}/gu, ' ')
    .slice(0, 60);
}

function openQuote(path: string, row: number, bytes: Buffer): RunError {
  return new RunError(
    'failed',
    `${path}: a quotation mark opened in row ${row} is never closed (the row begins "${beginning(bytes)}"). ` +
      'The file is cut off or a quotation mark is missing. It was refused whole, nothing was sent. ' +
      'Export it again, or close the quote in that row.',
  );
}

function tooLong(path: string, row: number, bytes: Buffer, limit: number): RunError {
  return new RunError(
    'failed',
    `${path}: row ${row} is longer than ${sizeText(limit)} (it begins "${beginning(bytes)}"). ` +
      `${bytes.includes(0x22) ? 'A quotation mark opened there is probably not closed' : 'No table has such rows'}. ` +
      'The file was refused whole, nothing was sent. Correct that row.',
  );
}
