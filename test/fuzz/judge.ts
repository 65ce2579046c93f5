import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { gunzipSync, inflateRawSync } from 'node:zlib';
import type { SheetRow } from '../../src/model/row.js';
import type { OpenSource } from '../../src/model/source.js';

/** What became of an input. `fault`: what must never happen, in words. */
export interface Verdict {
  readonly outcome: 'read' | 'refused' | 'fault';
  /** The refusal without what is particular to the input; the fault with it. */
  readonly words: string;
}

type Open = (path: string) => Promise<OpenSource>;

const CODES = new Set(['ragged_row', 'stray_quote', 'nul_character', 'invalid_encoding', 'cell_too_long']);
const ACCIDENT =
  /TypeError|RangeError|ReferenceError|is not a function|is not iterable|Cannot read prop|\bundefined\b|\bNaN\b|\[object |\n\s+at |ERR_[A-Z]|out of range|out of memory|Invalid array length|Maximum call stack/;

/** Opens a file and reads it to its end. A file is read, or refused in words before its first row; anything else is a fault. */
export async function judge(open: Open, path: string): Promise<Verdict> {
  let source: OpenSource;
  try {
    source = await open(path);
  } catch (error) {
    return refusal(path, error);
  }
  try {
    let last = 0;
    const width = source.meta.headings.length;
    for await (const batch of source.rows()) {
      for (const row of batch) {
        const fault =
          row.row <= last
            ? `row ${row.row} stands after row ${last}`
            : (rowFault(row, width, source.meta.format === 'ndjson') ?? (await shownFault(row, path)));
        if (fault) return { outcome: 'fault', words: fault };
        last = row.row;
      }
    }
    return { outcome: 'read', words: source.meta.format };
  } catch (error) {
    return { outcome: 'fault', words: `refused only while its rows were read: ${String(error)}` };
  }
}

function refusal(path: string, error: unknown): Verdict {
  const fault = (words: string): Verdict => ({ outcome: 'fault', words });
  if (!(error instanceof Error) || error.name !== 'RunError') {
    return fault(`no refusal: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  }
  const message = error.message.replaceAll(path, 'FILE');
  if (!message.includes('FILE')) return fault(`does not name the file: ${message}`);
  // Words quoted from the file prove nothing about the program.
  const own = message.replace(/"[^"]*"/g, '""').replace(/text number \S+/, 'text number');
  if (ACCIDENT.test(own)) return fault(`reads like an accident: ${message}`);
  if (error.cause instanceof TypeError || error.cause instanceof RangeError) {
    return fault(`hides ${error.cause.stack ?? error.cause.message}`);
  }
  if (message.length > 1_500 || !/[.?!)]$/.test(message)) return fault(`is no short text: ${message}`);
  return { outcome: 'refused', words: own.replace(/\d[\d,.]*/g, '0').slice(0, 160) };
}

function rowFault({ row, cells, faults }: SheetRow, width: number, mayLack: boolean): string | undefined {
  if (!Number.isInteger(row) || row < 1) return `a row is numbered ${row}`;
  if (cells.length < width) return `row ${row} has ${cells.length} cells for ${width} headings`;
  for (const { code } of faults ?? []) if (!CODES.has(code)) return `row ${row} has the unknown fault ${code}`;
  for (const [index, cell] of cells.entries()) {
    // What could not be decoded is shown, and its row refused for it.
    const refused = faults?.some((one) => one.index === index || one.code === 'ragged_row');
    const undecodable = refused ? /\p{Surrogate}/u : /[\ufffd\p{Surrogate}]/u;
    if (typeof cell === 'string') {
      if (undecodable.test(cell)) return `row ${row} holds undecodable text: ${JSON.stringify(cell.slice(0, 80))}`;
      continue;
    }
    // A key that an object lacks.
    if (cell === undefined && mayLack) continue;
    if (cell === undefined || cell === null) return `row ${row} has a cell that is ${String(cell)}`;
    if (cell.t === 'n' && !/^-?\d+(?:\.\d+)?$/.test(cell.value)) return `row ${row} has the number ${cell.value}`;
    if (cell.t === 'd' && !isDate(cell.value)) return `row ${row} has the date ${cell.value}`;
    if (cell.t === 'e' && undecodable.test(cell.value)) return `row ${row} holds the undecodable error ${cell.value}`;
    if ((cell.t === 'n' || cell.t === 'd') && typeof cell.shown !== 'string') {
      return `row ${row} shows a number as ${String(cell.shown)}`;
    }
  }
  return undefined;
}

/** A number whose text reads like an accident, unless the words stand in the file: as its text, or in its format. */
async function shownFault({ row, cells }: SheetRow, path: string): Promise<string | undefined> {
  for (const cell of cells) {
    if (typeof cell !== 'object' || (cell.t !== 'n' && cell.t !== 'd')) continue;
    const words = ACCIDENT.exec(cell.shown)?.[0];
    if (words !== undefined && !(await stands(words, path))) return `row ${row} shows a number as ${cell.shown}`;
  }
  return undefined;
}

/** Whether the words stand in the file, packed or not. */
async function stands(words: string, path: string): Promise<boolean> {
  const read = await buffer(createReadStream(path));
  const bytes = read[0] === 0x1f && read[1] === 0x8b ? gunzipSync(read) : read;
  if (bytes.includes(words)) return true;
  // Entry by entry, because the list at the end of a damaged zip file may say anything.
  for (let at = bytes.indexOf('PK\x03\x04'); at >= 0; at = bytes.indexOf('PK\x03\x04', at + 1)) {
    if (unpacked(bytes, at).includes(words)) return true;
  }
  return false;
}

/** The zip entry that begins at `at`; of one that is not packed, or cannot be unpacked, nothing. */
function unpacked(bytes: Buffer, at: number): Buffer {
  try {
    const from = at + 30 + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28);
    return inflateRawSync(bytes.subarray(from), { maxOutputLength: 32 * 1024 * 1024 });
  } catch {
    return Buffer.alloc(0);
  }
}

function isDate(text: string): boolean {
  const match = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d):(\d\d))?$/.exec(text);
  if (!match) return false;
  const [year, month, day, hour = 0, minute = 0, second = 0] = match.slice(1).map((part) => Number(part ?? 0));
  const date = new Date(Date.UTC(2000, month! - 1, day));
  date.setUTCFullYear(year!, month! - 1, day);
  return date.getUTCMonth() === month! - 1 && date.getUTCDate() === day && hour < 24 && minute < 60 && second < 60;
}
