import { closeSync, openSync, writeSync } from 'node:fs';
import { type BlockReader, blockReader } from './block-reader.js';

/**
 * Text that is written once, and read back piece by piece while more is written: what would fill the memory lies here. It is
 * of use to this process alone, so nothing of it is made durable.
 */
export interface ScratchFile extends BlockReader {
  /** Appends a text and returns where it begins, in bytes. */
  append(text: string): number;
  /** Where the next text will begin. */
  readonly end: number;
  /** Once more does nothing. */
  close(): void;
}

/** What waits to be written. */
const TAIL = 64 << 10;
const NEWLINE = 10;

/** Begins the file anew. `fault` makes the error to be thrown of what the system says. */
export function openScratchFile(path: string, fault: (cause: unknown) => unknown): ScratchFile {
  const tried = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw fault(error);
    }
  };
  const file = tried(() => openSync(path, 'w+', 0o600));
  const tail = Buffer.allocUnsafeSlow(TAIL);
  const reader = blockReader(file);
  let written = 0;
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
      if (waiting + most > TAIL) tried(flush);
      const begin = written + waiting;
      if (most > TAIL) tried(() => write(Buffer.from(text, 'utf8')));
      else waiting += tail.write(text, waiting, 'utf8');
      return begin;
    },
    read(from, to) {
      if (from >= written) return tail.subarray(from - written, Math.min(to - written, waiting));
      if (to > written) tried(flush);
      return tried(() => reader.read(from, to));
    },
    line(from) {
      if (from < written) return tried(() => reader.line(from));
      const bytes = tail.subarray(from - written, waiting);
      const end = bytes.indexOf(NEWLINE);
      return end < 0 ? bytes : bytes.subarray(0, end);
    },
    get end() {
      return written + waiting;
    },
    close() {
      if (open) closeSync(file);
      open = false;
    },
  };
}
