import { type FileHandle, open } from 'node:fs/promises';
import { RunError } from '../../model/error.js';
import { reached } from '../../trace/milestones.js';
import { parseJson } from '../json.js';
import type { Json } from '../port.js';
import type { Place } from './slots.js';

/** A page as the log keeps it. `texts`: the records that were new or had changed, as JSON in UTF-8; `at`: their places on the page. */
export interface LoggedPage {
  readonly pass: number;
  readonly page: number;
  readonly count: number;
  readonly keys: readonly number[];
  readonly at: readonly number[];
  readonly texts: readonly Buffer[];
}

/**
 * The pages that a read was given, in the order in which it took them: after a first line that says what is read, one
 * line a page, `{"p":pass,"n":page,"c":count,"ids":[…],"i":[…],"l":[…],"r":[…]}`: places on the page, lengths in bytes
 * and JSON of the records that were new or had changed. Not synced to the disk: what is lost can be read again.
 */
export interface PageLog {
  /**
   * The next page of a log that was there already; undefined after the last, and where it is not this page of this pass.
   * From there on the log is cut off and written anew. Its texts are good until the next is asked for.
   */
  next(
    pass: number,
    page: number,
  ): Promise<{ readonly line: LoggedPage; readonly places: readonly Place[] } | undefined>;
  /** Where the texts will stand. Waits only where the disk is slower than the service. Throws a `RunError` once a write has failed. */
  append(line: LoggedPage): readonly Place[] | Promise<readonly Place[]>;
  /** Resolves when everything appended is in the file. */
  flush(): Promise<void>;
  /** The records at these places, in this order. What lies close together is read in one go. */
  read(places: readonly Place[]): Promise<Json[]>;
  close(): Promise<void>;
}

const NEWLINE = 10;
const COMMA = 44;
const BLOCK = 256 << 10;
/** A write costs more than what is done with a page: pages wait for others, until there are so many bytes, or so long. */
const WRITE_AT = 256 << 10;
const WRITE_AFTER_MS = 10;
/** More bytes than this wait for the disk, and the reading waits too. */
const MOST_PENDING = 1 << 20;
/** Records closer than this are read in one go, up to a block of this size. */
const GAP = 32 << 10;
const READ_AT_ONCE = 2 << 20;
const RECORDS = Buffer.from('"r":[');

/** Opens the log of what `head` names and makes it where it is missing; a log of something else is replaced. */
export async function openPageLog(path: string, head: string): Promise<PageLog> {
  const file = await open(path, 'a+').catch((error: unknown) => {
    throw diskError(path, error);
  });
  const lines = readLines(file);
  /** Bytes that are kept and written, those still on their way included. */
  let end = 0;
  let replaying = true;
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let writing: Promise<void> | undefined;
  let waiting: NodeJS.Timeout | undefined;
  let failure: RunError | undefined;
  let closed = false;

  async function write(): Promise<void> {
    const bytes = pending.length === 1 ? (pending[0] as Buffer) : Buffer.concat(pending);
    pending = [];
    try {
      await writeAll(file, bytes);
      pendingBytes -= bytes.length;
      reached('page-kept');
    } catch (error) {
      failure = diskError(path, error);
    }
    writing = undefined;
    writeSoon();
  }

  function push(bytes: Buffer): void {
    if (failure) throw failure;
    end += bytes.length;
    pending.push(bytes);
    pendingBytes += bytes.length;
    writeSoon();
  }

  function writeSoon(): void {
    if (writing || failure || pending.length === 0) return;
    if (pendingBytes >= WRITE_AT) begin();
    else waiting ??= setTimeout(begin, WRITE_AFTER_MS);
  }

  /** Only where there is something to write. */
  function begin(): void {
    clearTimeout(waiting);
    waiting = undefined;
    writing ??= write();
  }

  async function flush(): Promise<void> {
    while (!failure && pendingBytes > 0) {
      begin();
      await writing;
    }
    if (failure) throw failure;
  }

  /** What stands behind `end` is not gone on with. */
  async function cutOff(): Promise<void> {
    replaying = false;
    await lines.return(undefined);
    try {
      if ((await file.stat()).size > end) await file.truncate(end);
    } catch (error) {
      throw diskError(path, error);
    }
  }

  try {
    const first = await lines.next();
    if (first.done || first.value.toString('utf8') !== head) {
      await cutOff();
      push(Buffer.from(`${head}\n`));
    } else {
      end = first.value.length + 1;
    }
  } catch (error) {
    await file.close();
    throw error instanceof RunError ? error : diskError(path, error);
  }

  return {
    async next(pass, page) {
      if (!replaying) return undefined;
      const { value: bytes } = await lines.next();
      const found = bytes && readLine(bytes, end);
      if (found?.line.pass === pass && found.line.page === page) {
        end += (bytes as Buffer).length + 1;
        return found;
      }
      await cutOff();
      return undefined;
    },
    append(line) {
      const lengths = line.texts.map((text) => text.length);
      const { pass, page, count, keys, at, texts } = line;
      const front = `{"p":${pass},"n":${page},"c":${count},"ids":[${keys}],"i":[${at}],"l":[${lengths}],"r":[`;
      const places = placesOf(end + front.length, lengths);
      push(joined(front, texts, ']}\n'));
      return pendingBytes > MOST_PENDING ? flush().then(() => places) : places;
    },
    flush,
    read: (places) => readRecords(file, path, places),
    async close() {
      if (closed) return;
      closed = true;
      try {
        await flush();
      } finally {
        await file.close();
      }
    },
  };
}

/** The ended lines of the file, without their ends; what is torn at its end is no line. Valid until the next is asked for. */
async function* readLines(file: FileHandle): AsyncGenerator<Buffer, undefined> {
  const { size } = await file.stat();
  let buffer: Buffer = Buffer.allocUnsafe(BLOCK);
  let held = 0;
  let offset = 0;
  while (offset < size) {
    if (held === buffer.length) {
      const grown = Buffer.allocUnsafe(buffer.length * 2);
      buffer.copy(grown);
      buffer = grown;
    }
    const { bytesRead } = await file.read(buffer, held, Math.min(buffer.length - held, size - offset), offset);
    if (bytesRead === 0) return undefined;
    const bytes = buffer.subarray(0, held + bytesRead);
    let start = 0;
    for (let line = bytes.indexOf(NEWLINE, held); line >= 0; line = bytes.indexOf(NEWLINE, start)) {
      yield bytes.subarray(start, line);
      start = line + 1;
    }
    offset += bytesRead;
    held = bytes.length - start;
    bytes.copy(buffer, 0, start);
  }
  return undefined;
}

/** Undefined where the line is damaged. */
function readLine(bytes: Buffer, offset: number): { line: LoggedPage; places: Place[] } | undefined {
  const mark = bytes.indexOf(RECORDS);
  // JSON holds no NUL; a disk that lost power may leave blocks of them.
  if (mark < 0 || bytes.includes(0)) return undefined;
  const from = mark + RECORDS.length;
  try {
    const front = JSON.parse(`${bytes.toString('latin1', 0, from)}]}`) as Record<string, unknown>;
    const { p: pass, n: page, c: count, ids: keys, i: at, l: lengths } = front;
    if (![pass, page, count].every(isWhole) || ![keys, at, lengths].every(areWhole)) return undefined;
    const sizes = lengths as number[];
    if ((at as number[]).some((place) => place < 0 || place >= (keys as number[]).length)) return undefined;
    const places = placesOf(from, sizes);
    const last = places.at(-1);
    const expected = last ? last.offset + last.length : from;
    if (sizes.length !== (at as number[]).length || bytes.toString('latin1', expected) !== ']}') return undefined;
    const texts = places.map((place) => bytes.subarray(place.offset, place.offset + place.length));
    const line = { pass, page, count, keys, at, texts } as LoggedPage;
    return { line, places: places.map((place) => ({ offset: offset + place.offset, length: place.length })) };
  } catch {
    return undefined;
  }
}

const isWhole = (value: unknown): boolean => Number.isSafeInteger(value);
const areWhole = (value: unknown): boolean => Array.isArray(value) && value.every(isWhole);

/** Texts of these lengths, with a comma between each two. */
function placesOf(from: number, lengths: readonly number[]): Place[] {
  let offset = from;
  return lengths.map((length) => {
    const place = { offset, length };
    offset += length + 1;
    return place;
  });
}

async function writeAll(file: FileHandle, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; ) at += (await file.write(bytes, at)).bytesWritten;
}

/** The texts with a comma between each two. `front` and `back` are ASCII. */
function joined(front: string, texts: readonly Buffer[], back: string): Buffer {
  const commas = Math.max(0, texts.length - 1);
  const bytes = Buffer.allocUnsafe(
    texts.reduce((sum, { length }) => sum + length, front.length + commas + back.length),
  );
  let at = bytes.write(front, 'latin1');
  for (const [index, text] of texts.entries()) {
    if (index > 0) bytes[at++] = COMMA;
    bytes.set(text, at);
    at += text.length;
  }
  bytes.write(back, at, 'latin1');
  return bytes;
}

async function readRecords(file: FileHandle, path: string, places: readonly Place[]): Promise<Json[]> {
  const records: Json[] = new Array(places.length);
  const order = [...places.keys()].sort((a, b) => (places[a] as Place).offset - (places[b] as Place).offset);
  const at = (index: number): Place => places[order[index] as number] as Place;
  for (let from = 0; from < order.length; ) {
    const start = at(from).offset;
    let end = start + at(from).length;
    let to = from + 1;
    for (; to < order.length; to++) {
      const { offset, length } = at(to);
      if (offset - end > GAP || offset + length - start > READ_AT_ONCE) break;
      end = Math.max(end, offset + length);
    }
    const block = Buffer.allocUnsafe(end - start);
    let done = 0;
    while (done < block.length) {
      const { bytesRead } = await file.read(block, done, block.length - done, start + done);
      if (bytesRead === 0) throw damaged(path);
      done += bytesRead;
    }
    for (; from < to; from++) {
      const { offset, length } = at(from);
      try {
        records[order[from] as number] = parseJson(
          block.toString('utf8', offset - start, offset - start + length),
        ) as Json;
      } catch (error) {
        throw damaged(path, error);
      }
    }
  }
  return records;
}

function damaged(path: string, cause?: unknown): RunError {
  return new RunError(
    'failed',
    `The log ${path} of what was read from the service was changed by somebody else or is damaged. Delete it and start again.`,
    [],
    { cause },
  );
}

function diskError(path: string, cause: unknown): RunError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  const advice =
    code === 'ENOSPC' || code === 'EDQUOT'
      ? 'the disk is full. Free some space, then start again: what was read so far is not read again'
      : code === 'ENOENT'
        ? 'its folder does not exist. Make it, then start again'
        : `the system reports ${code}. Check the disk and the rights of this user, then start again`;
  return new RunError('failed', `The log ${path} of what is read from the service cannot be written: ${advice}.`, [], {
    cause,
  });
}
