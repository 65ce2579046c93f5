import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';

/**
 * Text that is written once, and read back piece by piece while more is written: what would fill the memory lies here. Nothing
 * of it is made durable without being asked for.
 */
export interface ScratchFile extends BlockReader {
  /** Appends a text and returns where it begins, in bytes. */
  append(text: string): number;
  /** All ended lines from the beginning; each is valid until the next call. */
  lines(): Iterable<LineAt>;
  /** Where the next text will begin. */
  readonly end: number;
  /** Hands everything to the system, for files that are read again later. */
  flush(): void;
  /** The same, and to the disk. */
  sync(): void;
  /** Once more does nothing. */
  close(): void;
}

/** What waits to be written. */
const TAIL_BYTES = 64 << 10;
const NEWLINE = 10;

type ToFault = (cause: unknown) => unknown;

/** Does something; `fault` makes the error to be thrown of what the system says. */
export function withFault<T>(fault: ToFault, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw fault(error);
  }
}

/** Begins the file anew. */
export function openScratchFile(path: string, fault: ToFault): ScratchFile {
  const file = withFault(fault, () => openSync(path, 'w+', 0o600));
  const tail = Buffer.allocUnsafeSlow(TAIL_BYTES);
  const reader = blockReader(file);
  let written = 0;
  let pending = 0;
  let open = true;

  function write(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, written + at);
    written += bytes.length;
  }

  function flush(): void {
    write(tail.subarray(0, pending));
    pending = 0;
  }

  return {
    append(text) {
      const maxBytes = text.length * 3;
      if (pending + maxBytes > TAIL_BYTES) withFault(fault, flush);
      const begin = written + pending;
      if (maxBytes > TAIL_BYTES) withFault(fault, () => write(Buffer.from(text, 'utf8')));
      else pending += tail.write(text, pending, 'utf8');
      return begin;
    },
    read(from, to) {
      if (from >= written) return tail.subarray(from - written, Math.min(to - written, pending));
      if (to > written) withFault(fault, flush);
      return withFault(fault, () => reader.read(from, to));
    },
    line(from) {
      if (from < written) return withFault(fault, () => reader.line(from));
      const bytes = tail.subarray(from - written, pending);
      const end = bytes.indexOf(NEWLINE);
      return end < 0 ? bytes : bytes.subarray(0, end);
    },
    *lines() {
      withFault(fault, flush);
      for (const lines of lineBlocks(file)) yield* lines;
    },
    get end() {
      return written + pending;
    },
    flush() {
      if (open) withFault(fault, flush);
    },
    sync() {
      withFault(fault, () => {
        flush();
        fsyncSync(file);
      });
    },
    close() {
      if (open) closeSync(file);
      open = false;
    },
  };
}

/**
 * Reads pieces of an open file without waiting: a piece takes microseconds, most come in order, and what lies behind one is
 * read along.
 */
interface BlockReader {
  /** The bytes from one place to another, fewer where the file ends before; valid until the next call. */
  read(from: number, to: number): Buffer;
  /** The line that begins there, without its end; valid until the next call. */
  line(from: number): Buffer;
}

const READ_AHEAD = 8 << 10;
/** The same where all lines are read. */
const LINE_BLOCK = 256 << 10;

/** What was read once must not change. */
export function blockReader(file: number): BlockReader {
  let space: Buffer = Buffer.allocUnsafeSlow(READ_AHEAD);
  let block = space.subarray(0, 0);
  let blockAt = 0;

  function load(from: number, size: number): void {
    if (space.length < size) space = Buffer.allocUnsafeSlow(Math.max(size, 2 * space.length));
    let filled = 0;
    for (let bytesRead = -1; filled < size && bytesRead !== 0; filled += bytesRead) {
      bytesRead = readSync(file, space, filled, size - filled, from + filled);
    }
    block = space.subarray(0, filled);
    blockAt = from;
  }

  function read(from: number, to: number): Buffer {
    if (from < blockAt || to > blockAt + block.length) load(from, Math.max(to - from, READ_AHEAD));
    return block.subarray(from - blockAt, to - blockAt);
  }

  return {
    read,
    line(from) {
      if (from >= blockAt && from < blockAt + block.length) {
        const end = block.indexOf(NEWLINE, from - blockAt);
        if (end >= 0) return block.subarray(from - blockAt, end);
      }
      for (let size = READ_AHEAD; ; size *= 2) {
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
  let space = Buffer.allocUnsafeSlow(LINE_BLOCK);
  let filled = 0;
  let at = 0;
  for (;;) {
    if (filled === space.length) space = Buffer.concat([space], space.length * 2);
    const bytesRead = readSync(file, space, filled, space.length - filled, at + filled);
    if (bytesRead === 0) return;
    const bytes = space.subarray(0, filled + bytesRead);
    const lines: LineAt[] = [];
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE, filled); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      lines.push({ at: at + from, bytes: bytes.subarray(from, end) });
      from = end + 1;
    }
    if (lines.length > 0) yield lines;
    space.copyWithin(0, from, bytes.length);
    filled = bytes.length - from;
    at += from;
  }
}
