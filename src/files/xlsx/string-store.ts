import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunError } from '../../model/error.js';
import { asciiText, utf8Text } from '../encoding/byte-text.js';
import { type SourceLimits, sizeText } from '../limits.js';

/**
 * Millions of texts at the cost of little more than their bytes. They stand one after the other, each behind four bytes
 * (its length, and whether it is plain ASCII), in pages; only the place of every 16th is remembered. When the pages
 * take more than the limit for memory, they go to a file, and groups of 16 texts are read back as they are asked for.
 */
export interface StringStore {
  readonly size: number;
  /** Throws `RunError('failed')` where the texts are more than is read, or the file cannot be written. */
  add(bytes: Buffer, from: number, to: number): void;
  /** The text, or undefined where the number is none of the store. */
  get(index: number): string | undefined;
  /** Whether the text that `get` returned last is free of NUL and of what stands for undecodable bytes. */
  readonly clean: boolean;
  /** Frees the file; the store is of no use afterwards. */
  close(): void;
}

const PAGE = 1 << 20;
const GROUP_BITS = 4;
const IN_GROUP = (1 << GROUP_BITS) - 1;
const HEAD = 4;
/** Stands where no further text fits into a page. */
const NEXT_PAGE = 0xffffffff;
const CACHED_TEXTS = 32_768;
/** Texts longer than this are not kept in the cache, which is then some MB at most. */
const CACHED_LENGTH = 256;
const CACHED_GROUP_BYTES = 16 << 20;

/** `taken`: bytes of other texts, which count towards the limits. */
export function createStringStore(path: string, limits: SourceLimits, taken = 0): StringStore {
  const longest = Math.min(limits.cellCharacters * 4 + HEAD, PAGE - 2 * HEAD);
  let pages: Buffer[] = [];
  let page: Buffer = Buffer.alloc(0);
  let pageNumber = -1;
  let used = PAGE;
  let size = 0;
  let groups = new Float64Array(1_024);
  let file: SpillFile | undefined;

  let clean = false;
  const cachedIndex = new Int32Array(CACHED_TEXTS).fill(-1);
  const cachedClean = new Uint8Array(CACHED_TEXTS);
  const cachedText = new Array<string>(CACHED_TEXTS).fill('');
  let readGroups = new Map<number, Buffer>();
  let readBytes = 0;
  // Where the walk through a group stands: texts are mostly asked for in their order.
  let nextIndex = -1;
  let nextAt = 0;

  function newPage(): void {
    if ((pageNumber + 2) * PAGE + taken > limits.sharedStringBytes) {
      throw new RunError(
        'failed',
        `${path}: the texts of the workbook take more than ${sizeText(limits.sharedStringBytes)}. Split the file.`,
      );
    }
    if (page.length > 0 && used + HEAD <= PAGE) page.writeUInt32LE(NEXT_PAGE, used);
    if (file) file.append(page);
    else if (pages.length > 0 && (pages.length + 1) * PAGE + taken > limits.sharedStringMemory) {
      file = spillFile(path, limits);
      for (const full of pages) file.append(full);
      pages = [];
    }
    if (!file || page.length === 0) page = Buffer.allocUnsafeSlow(PAGE);
    if (!file) pages.push(page);
    pageNumber++;
    used = 0;
  }

  /** The bytes that hold the text at `place`, and where in them it begins. */
  function located(index: number, place: number): { bytes: Buffer; at: number } {
    const number = Math.floor(place / PAGE);
    const at = place - number * PAGE;
    if (number === pageNumber) return { bytes: page, at };
    const group = index >> GROUP_BITS;
    const key = group * 1_048_576 + number;
    let bytes = readGroups.get(key);
    const start = Math.max(groups[group]!, number * PAGE);
    if (!bytes) {
      const following = (group + 1) << GROUP_BITS < size ? groups[group + 1]! : Number.POSITIVE_INFINITY;
      bytes = file!.read(start, Math.min(following, (number + 1) * PAGE) - start);
      if (readBytes + bytes.length > CACHED_GROUP_BYTES) {
        readGroups = new Map();
        readBytes = 0;
      }
      readGroups.set(key, bytes);
      readBytes += bytes.length;
    }
    return { bytes, at: place - start };
  }

  function decoded(bytes: Buffer, from: number, packed: number, index: number, slot: number): string {
    const length = packed >>> 1;
    const ascii = (packed & 1) === 1;
    const text = ascii ? asciiText(bytes, from, from + length) : utf8Text(bytes, from, from + length);
    clean = ascii || !(text.includes('\ufffd') || text.includes('\0'));
    if (length <= CACHED_LENGTH) {
      cachedIndex[slot] = index;
      cachedClean[slot] = clean ? 1 : 0;
      cachedText[slot] = text;
    }
    return text;
  }

  /** Walks from the text number `at` at `place` to the one wanted. */
  function fromMemory(index: number, at: number, place: number, slot: number): string {
    let number = Math.floor(place / PAGE);
    let from = place - number * PAGE;
    let bytes = pages[number]!;
    for (let text = at; ; ) {
      if (PAGE - from < HEAD || bytes[from + 3] === 0xff) {
        bytes = pages[++number]!;
        from = 0;
        continue;
      }
      const packed = bytes[from]! | (bytes[from + 1]! << 8) | (bytes[from + 2]! << 16);
      const next = from + HEAD + (packed >>> 1);
      if (text === index) {
        nextIndex = index + 1;
        nextAt = number * PAGE + next;
        return decoded(bytes, from + HEAD, packed, index, slot);
      }
      text++;
      from = next;
    }
  }

  function fromFile(index: number, at: number, place: number, slot: number): string {
    for (let text = at; ; ) {
      const { bytes, at: start } = located(index, place);
      const left = PAGE - (place % PAGE);
      const packed = left < HEAD ? NEXT_PAGE : bytes.readUInt32LE(start);
      if (packed === NEXT_PAGE) {
        place += left;
        continue;
      }
      const next = place + HEAD + (packed >>> 1);
      if (text === index) {
        nextIndex = index + 1;
        nextAt = next;
        return decoded(bytes, start + HEAD, packed, index, slot);
      }
      text++;
      place = next;
    }
  }

  return {
    get size() {
      return size;
    },
    get clean() {
      return clean;
    },
    add(bytes, from, to) {
      // A longer text is a fault of its cell; the rest of it is never looked at.
      const length = Math.min(to - from, longest);
      if (used + HEAD + length > PAGE) newPage();
      if ((size & IN_GROUP) === 0) {
        const group = size >> GROUP_BITS;
        if (group >= groups.length) {
          const larger = new Float64Array(groups.length * 2);
          larger.set(groups);
          groups = larger;
        }
        groups[group] = pageNumber * PAGE + used;
      }
      const start = used + HEAD;
      let odd = 0;
      if (length < 64) {
        for (let i = 0; i < length; i++) {
          const byte = bytes[from + i]!;
          odd |= byte === 0 ? 0x80 : byte;
          page[start + i] = byte;
        }
      } else {
        for (let i = 0; i < length; i++) {
          const byte = bytes[from + i]!;
          odd |= byte === 0 ? 0x80 : byte;
        }
        bytes.copy(page, start, from, from + length);
      }
      const packed = (length << 1) | (odd < 0x80 ? 1 : 0);
      page[used] = packed & 0xff;
      page[used + 1] = (packed >>> 8) & 0xff;
      page[used + 2] = (packed >>> 16) & 0xff;
      page[used + 3] = 0;
      used = start + length;
      size++;
    },
    get(index) {
      if (index >= size) return undefined;
      const slot = index & (CACHED_TEXTS - 1);
      if (cachedIndex[slot] === index) {
        clean = cachedClean[slot] === 1;
        return cachedText[slot];
      }
      let place: number;
      let at: number;
      if (nextIndex >= 0 && index >= nextIndex && index >> GROUP_BITS === (nextIndex - 1) >> GROUP_BITS) {
        at = nextIndex;
        place = nextAt;
      } else {
        at = index & ~IN_GROUP;
        place = groups[at >> GROUP_BITS]!;
      }
      return file ? fromFile(index, at, place, slot) : fromMemory(index, at, place, slot);
    },
    close() {
      file?.close();
    },
  };
}

/**
 * A private file for what a workbook holds too much of for memory. It has no name from the moment it is open, so
 * nothing stays behind, however the process ends; the system frees it with the handle. The handle is closed by `close`,
 * or when nobody holds the file any more.
 */
export interface SpillFile {
  append(bytes: Buffer): void;
  /** Up to `length` bytes from `at`, fewer at the end. */
  read(at: number, length: number): Buffer;
  close(): void;
}

const forgotten = new FinalizationRegistry<{ fd: number }>((held) => release(held));

function release(held: { fd: number }): void {
  if (held.fd < 0) return;
  closeSync(held.fd);
  held.fd = -1;
}

/** `path` names the workbook in messages. Throws `RunError('failed')` where the folder cannot be written to. */
export function spillFile(path: string, limits: SourceLimits): SpillFile {
  const folder = limits.spillFolder ?? tmpdir();
  const fault = (error: unknown): RunError => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    const why = code === 'ENOSPC' || code === 'EDQUOT' ? 'its disk is full' : `it cannot be written to (${code})`;
    return new RunError(
      'failed',
      `${path}: the texts of the workbook are too many for memory and go to the folder ${folder}, but ${why}. ` +
        'Nothing was sent. Make room there, or name another folder in TMPDIR.',
      [],
      { cause: error },
    );
  };
  const held = { fd: -1 };
  let size = 0;
  try {
    const name = join(folder, `rowferry-${process.pid}-${randomUUID()}.tmp`);
    held.fd = openSync(name, 'wx+', 0o600);
    unlinkSync(name);
  } catch (error) {
    release(held);
    throw fault(error);
  }
  const file: SpillFile = {
    append(bytes) {
      try {
        for (let done = 0; done < bytes.length; )
          done += writeSync(held.fd, bytes, done, bytes.length - done, size + done);
      } catch (error) {
        throw fault(error);
      }
      size += bytes.length;
    },
    read(at, length) {
      const bytes = Buffer.allocUnsafeSlow(Math.max(0, Math.min(length, size - at)));
      let done = 0;
      while (done < bytes.length) {
        const count = readSync(held.fd, bytes, done, bytes.length - done, at + done);
        if (count === 0) break;
        done += count;
      }
      return bytes;
    },
    close() {
      forgotten.unregister(held);
      release(held);
    },
  };
  forgotten.register(file, held, held);
  return file;
}
