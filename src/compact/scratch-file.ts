import { closeSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs';
import { type BlockReader, blockReader, type LineAt, lineBlocks } from './block-reader.js';

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
const TAIL = 64 << 10;
const NEWLINE = 10;

type Fault = (cause: unknown) => unknown;

/** Does something; `fault` makes the error to be thrown of what the system says. */
export function tried<T>(fault: Fault, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw fault(error);
  }
}

/** Begins the file anew, or goes on behind the bytes that it is to `keep`. */
export function openScratchFile(path: string, fault: Fault, keep = 0): ScratchFile {
  const file = tried(fault, () => opened(path, keep));
  const tail = Buffer.allocUnsafeSlow(TAIL);
  const reader = blockReader(file);
  let written = keep;
  let waiting = 0;
  let open = true;

  function write(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at, bytes.length - at, written + at);
    written += bytes.length;
  }

  function flush(): void {
    write(tail.subarray(0, waiting));
    waiting = 0;
  }

  return {
    append(text) {
      const most = text.length * 3;
      if (waiting + most > TAIL) tried(fault, flush);
      const begin = written + waiting;
      if (most > TAIL) tried(fault, () => write(Buffer.from(text, 'utf8')));
      else waiting += tail.write(text, waiting, 'utf8');
      return begin;
    },
    read(from, to) {
      if (from >= written) return tail.subarray(from - written, Math.min(to - written, waiting));
      if (to > written) tried(fault, flush);
      return tried(fault, () => reader.read(from, to));
    },
    line(from) {
      if (from < written) return tried(fault, () => reader.line(from));
      const bytes = tail.subarray(from - written, waiting);
      const end = bytes.indexOf(NEWLINE);
      return end < 0 ? bytes : bytes.subarray(0, end);
    },
    *lines() {
      tried(fault, flush);
      for (const lines of lineBlocks(file)) yield* lines;
    },
    get end() {
      return written + waiting;
    },
    flush() {
      if (open) tried(fault, flush);
    },
    sync() {
      tried(fault, () => {
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

function opened(path: string, keep: number): number {
  if (keep === 0) return openSync(path, 'w+', 0o600);
  const file = openSync(path, 'r+');
  ftruncateSync(file, keep);
  return file;
}
