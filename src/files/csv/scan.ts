import { sizeText } from '../../model/count-text.js';
import { type RunError, runFailure } from '../../model/error.js';
import type { CellFaultCode } from '../cell-faults.js';
import { asciiText, escapeInvalidUtf8, utf8Text } from '../encoding/byte-text.js';
import type { SourceLimits } from '../limits.js';

/**
 * Splits CSV bytes (UTF-8, or any single-byte superset of ASCII) into records, one call a record.
 *
 *     cell start ──"──▶ quoted ──""──▶ quoted            a doubled quote is a quote
 *                        │ "  then blanks, delimiter or line end ──▶ cell end
 *                        │ "  then anything else ──▶ stray: the row is a fault
 *     cell start ──other──▶ plain ── delimiter, CR, LF, CRLF ──▶ cell end
 *                            " is an ordinary character, except after leading blanks only: stray
 *
 * A stray quote has two readings: (A) it closed the cell, and the row ends at the next line end; (B) it is text, and
 * the cell goes on to the next proper closing quote. The row is a fault in both. B decides where the row ends only if
 * it gives exactly the expected number of cells and A does not.
 */

const PLAIN = 0;
const DELIMITER = 1;
const QUOTE = 2;
const CR = 3;
const LF = 4;
const NUL = 5;
const HIGH = 6;

/** A fault of a cell, by position in the record. */
interface ScannedFault {
  readonly index: number;
  readonly code: CellFaultCode;
  /** `cell_too_long`: the whole text. */
  readonly text?: string;
}

/** How far reading B may run before it is given up, and how often that may happen: a hostile file costs no more. */
const STRAY_REACH = 64 * 1024;
const STRAY_ATTEMPTS = 200;

/** How a file is parted into rows and cells. */
export interface CsvShape {
  readonly delimiter: string;
  /**
   * The first line names the delimiter (`sep=;`). Spreadsheet programs obey it and show the line below it as row 1, so
   * that it has no number here either.
   */
  readonly hinted: boolean;
  /** Of the heading; 0 where there is none. */
  readonly headerRow: number;
  /** Cells of the heading, expected of the rows below it; 0 = not known. Decides only where a row with a stray quote ends. */
  readonly width: number;
}

interface FeedOptions extends Partial<CsvShape> {
  readonly path: string;
  readonly delimiter: string;
  readonly limits: SourceLimits;
  /** Whether cells are wanted. */
  readonly collect: boolean;
  /**
   * Blank rows that are counted without being scanned: a file may hold millions of them. `lines`: those of a line end alone;
   * `rows`: also those of blanks and delimiters.
   */
  readonly skip?: 'lines' | 'rows';
  /** Whether an open quote at the end is refused; false for a sample that may stop anywhere. */
  readonly complete: boolean;
}

export type RecordFeed = ReturnType<typeof createRecordFeed>;

/** Chunks in, records out, each with its row number. Bytes of an unfinished record wait for the next chunk. */
export function createRecordFeed(options: FeedOptions) {
  const { path, limits, collect, complete, skip, headerRow = 0, width = 0 } = options;
  const delimiter = options.delimiter.charCodeAt(0);
  const [maxCells, maxCharacters] = [limits.columns + 1, limits.cellCharacters];
  const classOf = new Uint8Array(256).fill(HIGH, 128);
  classOf[0] = NUL;
  classOf[0x0d] = CR;
  classOf[0x0a] = LF;
  classOf[0x22] = QUOTE;
  classOf[delimiter] = DELIMITER;
  let buffer: Buffer = Buffer.alloc(0);
  let position = 0;
  let start = 0;
  let final = false;
  let row = options.hinted ? -1 : 0;
  let expected = headerRow === 0 ? width : 0;

  /** The record last scanned. `cells` is a fresh array each time; everything else is overwritten by the next call. */
  const record = {
    cells: [] as string[],
    /** Cells of the record; of more than a table may have, some are kept to show that there are more. */
    count: 0,
    /** 0-based cell with a stray quote, or -1. */
    strayCell: -1,
    /** The file ended inside quotes. */
    unclosed: false,
    faults: [] as ScannedFault[],
    /** No cell holds anything but blanks. */
    blank: true,
    /** Whether a quoted cell holds a line end. */
    multiline: false,
  };

  function addCell(from: number, to: number, high: boolean, nul: boolean, doubled: boolean): void {
    // A cell a delimiter would cost far more memory than the bytes of a hostile record do.
    if (record.count >= maxCells) {
      record.blank &&= from === to;
      return;
    }
    const bytes = buffer;
    let text = from === to ? '' : high ? utf8Text(bytes, from, to) : asciiText(bytes, from, to);
    if (doubled) text = text.replaceAll('""', '"');
    const index = record.count;
    if (nul) record.faults.push({ index, code: 'nul_character' });
    if (high && text.includes('\ufffd')) {
      record.faults.push({ index, code: 'invalid_encoding' });
      text = escapeInvalidUtf8(bytes.subarray(from, to));
    }
    if (text.length > maxCharacters) {
      record.faults.push({ index, code: 'cell_too_long', text });
      text = text.slice(0, maxCharacters);
    }
    if (record.blank && text !== '') {
      const first = text.charCodeAt(0);
      if ((first > 0x20 && first < 0x7f) || text.trim() !== '') record.blank = false;
    }
    record.cells[index] = text;
  }

  let attempts = STRAY_ATTEMPTS;

  /** `asText`: reading B of stray quotes. */
  function readRecord(from: number, end: number, final: boolean, asText: boolean): number {
    const bytes = buffer;
    record.cells = [];
    record.count = 0;
    record.strayCell = -1;
    record.unclosed = false;
    record.blank = true;
    record.multiline = false;
    if (record.faults.length > 0) record.faults = [];
    let i = from;
    for (;;) {
      let start = i;
      let stop = -1;
      let high = false;
      let nul = false;
      let doubled = false;
      if (i < end && bytes[i] === 0x22) {
        start = ++i;
        for (;;) {
          let kind = PLAIN;
          while (i < end) {
            kind = classOf[bytes[i]!]!;
            if (kind === QUOTE || kind === NUL) break;
            if (kind === HIGH) high = true;
            else if (kind === LF || kind === CR) record.multiline = true;
            i++;
          }
          if (i >= end) {
            if (!final) return -1;
            record.unclosed = true;
            stop = end;
            break;
          }
          if (kind === NUL) {
            nul = true;
            i++;
            continue;
          }
          if (i + 1 >= end && !final) return -1;
          if (bytes[i + 1] === 0x22 && i + 1 < end) {
            doubled = true;
            i += 2;
            continue;
          }
          stop = i++;
          let after = i;
          while (after < end && bytes[after] === 0x20) after++;
          if (after >= end) {
            if (!final) return -1;
            i = after;
            break;
          }
          const next = classOf[bytes[after]!]!;
          if (next === DELIMITER || next === CR || next === LF) {
            i = after;
            break;
          }
          record.strayCell = record.count;
          if (asText) continue;
          break;
        }
      }
      if (stop < 0 || (record.strayCell === record.count && !asText)) {
        // A plain cell, or under reading A what follows a stray quote.
        for (; i < end; i++) {
          const kind = classOf[bytes[i]!]!;
          if (kind === PLAIN) continue;
          if (kind === HIGH) high = true;
          else if (kind === NUL) nul = true;
          else if (kind === QUOTE) {
            if (isBlankBetween(bytes, start, i)) record.strayCell = record.count;
          } else break;
        }
        if (i >= end && !final) return -1;
        stop = i;
      }
      if (collect) addCell(start, stop, high, nul, doubled);
      record.count++;
      if (i >= end) return end;
      const kind = classOf[bytes[i]!]!;
      if (kind === DELIMITER) {
        i++;
        continue;
      }
      if (kind === LF) return i + 1;
      if (i + 1 >= end) return final ? end : -1;
      return bytes[i + 1] === 0x0a ? i + 2 : i + 1;
    }
  }

  /** Reads a record, with a stray quote in it the way that gives the expected number of cells. */
  function readEither(from: number): number {
    const end = buffer.length;
    const next = readRecord(from, end, final, false);
    if (next < 0 || record.strayCell < 0 || expected === 0 || record.count === expected || attempts === 0) return next;
    const stray = record.strayCell;
    const reach = Math.min(end, from + STRAY_REACH);
    const other = readRecord(from, reach, final && reach === end, true);
    if (other < 0 && reach === end && end - from < STRAY_REACH) return -1;
    if (other >= 0 && record.count === expected && !record.unclosed) {
      record.strayCell = stray;
      return other;
    }
    attempts--;
    return readRecord(from, end, final, false);
  }

  /** Scans the record at `position`; returns the position after it, or -1 where the bytes do not hold it whole. */
  function scan(): number {
    // A byte order mark stands in front of it where files were put one behind the other; no cell holds it.
    const hasBom = buffer[position] === 0xef && buffer[position + 1] === 0xbb && buffer[position + 2] === 0xbf;
    return readEither(hasBom ? Math.min(buffer.length, position + 3) : position);
  }

  /** Goes to the first line that may hold something. */
  function skipBlank(): void {
    const [blank, tab, separator] = skip === 'rows' ? [0x20, 0x09, delimiter] : [-1, -1, -1];
    const bytes = buffer;
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

  return {
    record,
    /** Number of the last record: every record is one row, blank ones too. The line `sep=;` has the number 0. */
    get row() {
      return row;
    },
    /** Byte position where the last record begins, in the bytes now held. */
    get start() {
      return start;
    },
    /** Byte position after the last record, in the bytes now held. */
    get position() {
      return position;
    },
    get bytes() {
      return buffer;
    },
    push(chunk: Buffer): void {
      buffer = position < buffer.length ? Buffer.concat([buffer.subarray(position), chunk]) : chunk;
      position = 0;
    },
    /** No further chunk follows. */
    finish(): void {
      final = true;
    },
    /** Scans the next record into `record`; false where more bytes are needed or none are left. */
    next(): boolean {
      if (skip) skipBlank();
      if (position >= buffer.length) return false;
      const next = scan();
      const size = (next < 0 ? buffer.length : next) - position;
      if (size > limits.recordBytes) throw recordTooLong(path, row + 1, buffer.subarray(position), limits.recordBytes);
      if (next < 0) return false;
      row++;
      if (row === headerRow) expected = width;
      if (record.unclosed && complete) throw unclosedQuote(path, row, buffer.subarray(position));
      start = position;
      position = next;
      return true;
    },
  };
}

function isBlankBetween(bytes: Buffer, from: number, to: number): boolean {
  for (let i = from; i < to; i++) if (bytes[i] !== 0x20 && bytes[i] !== 0x09) return false;
  return true;
}

function startText(bytes: Buffer): string {
  return bytes
    .subarray(0, 200)
    .toString('utf8')
    .replace(/\ufffd|\p{Cc}/gu, ' ')
    .slice(0, 60);
}

function unclosedQuote(path: string, row: number, bytes: Buffer): RunError {
  return runFailure(
    `${path}: a quotation mark opened in row ${row} is never closed (the row begins "${startText(bytes)}"). ` +
      'The file is cut off or a quotation mark is missing. It was refused whole, nothing was sent. ' +
      'Export it again, or close the quote in that row.',
  );
}

function recordTooLong(path: string, row: number, bytes: Buffer, limit: number): RunError {
  return runFailure(
    `${path}: row ${row} is longer than ${sizeText(limit)} (it begins "${startText(bytes)}"). ` +
      `${bytes.includes(0x22) ? 'A quotation mark opened there is probably not closed' : 'No table has such rows'}. ` +
      'The file was refused whole, nothing was sent. Correct that row.',
  );
}
