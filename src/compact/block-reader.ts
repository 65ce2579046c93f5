import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * Reads pieces of an open file without waiting: a piece takes microseconds, most come in order, and what lies behind one is
 * read along.
 */
export interface BlockReader {
  /** The bytes from one place to another, fewer where the file ends before; valid until the next call. */
  read(from: number, to: number): Buffer;
  /** The line that begins there, without its end; valid until the next call. */
  line(from: number): Buffer;
}

const AHEAD = 8 << 10;
/** The same where all lines are read. */
const LINES = 256 << 10;
const NEWLINE = 10;

/** What was read once must not change. */
export function blockReader(file: number): BlockReader {
  let space: Buffer = Buffer.allocUnsafeSlow(AHEAD);
  let block = space.subarray(0, 0);
  let blockAt = 0;

  function load(from: number, size: number): void {
    if (space.length < size) space = Buffer.allocUnsafeSlow(Math.max(size, 2 * space.length));
    let held = 0;
    for (let more = -1; held < size && more !== 0; held += more) {
      more = readSync(file, space, held, size - held, from + held);
    }
    block = space.subarray(0, held);
    blockAt = from;
  }

  function read(from: number, to: number): Buffer {
    if (from < blockAt || to > blockAt + block.length) load(from, Math.max(to - from, AHEAD));
    return block.subarray(from - blockAt, to - blockAt);
  }

  return {
    read,
    line(from) {
      if (from >= blockAt && from < blockAt + block.length) {
        const end = block.indexOf(NEWLINE, from - blockAt);
        if (end >= 0) return block.subarray(from - blockAt, end);
      }
      for (let size = AHEAD; ; size *= 2) {
        const bytes = read(from, from + size);
        const end = bytes.indexOf(NEWLINE);
        if (end >= 0) return bytes.subarray(0, end);
        if (bytes.length < size) return bytes;
      }
    },
  };
}

/** A line without its end, and where it begins. */
export interface LineAt {
  readonly at: number;
  readonly bytes: Buffer;
}

/**
 * The ended lines of an open file from its beginning, neighbours together; what stands behind the last line end is left out. The
 * bytes of neighbours lie side by side, and are valid until the next ones.
 */
export function* lineBlocks(file: number): Generator<readonly LineAt[]> {
  let space = Buffer.allocUnsafeSlow(LINES);
  let held = 0;
  let at = 0;
  for (;;) {
    if (held === space.length) space = Buffer.concat([space], space.length * 2);
    const more = readSync(file, space, held, space.length - held, at + held);
    if (more === 0) return;
    const bytes = space.subarray(0, held + more);
    const lines: LineAt[] = [];
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE, held); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      lines.push({ at: at + from, bytes: bytes.subarray(from, end) });
      from = end + 1;
    }
    if (lines.length > 0) yield lines;
    space.copyWithin(0, from, bytes.length);
    held = bytes.length - from;
    at += from;
  }
}

/** Where the last line that has its end ends; 0 where there is no such file. */
export function endOfLines(path: string): number {
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return 0;
    throw error;
  }
  try {
    const block = Buffer.allocUnsafeSlow(LINES);
    for (let to = fstatSync(file).size; to > 0; to -= LINES) {
      const from = Math.max(0, to - LINES);
      const bytes = readSync(file, block, 0, to - from, from);
      const end = block.subarray(0, bytes).lastIndexOf(NEWLINE);
      if (end >= 0) return from + end + 1;
    }
    return 0;
  } finally {
    closeSync(file);
  }
}
