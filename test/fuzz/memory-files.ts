import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { Readable } from 'node:stream';

/**
 * Files that exist in this process only, for the readers under test: what they ask of the file system (`stat`, `open` for
 * reading, `createReadStream`) is answered here, everything else by the system. A million inputs then cost no system calls,
 * and what a reader leaves open is known by name.
 */
export interface MemoryFiles {
  /** Puts the bytes at the path, in place of what stood there. */
  put(path: string, bytes: Buffer): void;
  /** Handles and streams on the path that have not been closed. */
  left(path: string): number;
}

interface MemoryFile {
  readonly bytes: Buffer;
  open: number;
}

interface Range {
  readonly start?: number;
  readonly end?: number;
  readonly highWaterMark?: number;
}

/** Answers for the paths that are put, from now on, in this process. */
export function installMemoryFiles(): MemoryFiles {
  const files = new Map<string, MemoryFile>();
  const system = { stat: fs.promises.stat, open: fs.promises.open, createReadStream: fs.createReadStream };
  const patch = <Name extends keyof typeof system>(
    target: object,
    name: Name,
    ours: (file: MemoryFile, options: unknown) => unknown,
  ) => {
    const theirs = system[name] as (...args: unknown[]) => unknown;
    Object.assign(target, {
      [name](...args: unknown[]) {
        const file = files.get(String(args[0]));
        return file ? ours(file, args[1]) : theirs(...args);
      },
    });
  };
  patch(fs.promises, 'stat', async (file) => statOf(file));
  patch(fs.promises, 'open', async (file, flags) => {
    if (flags !== undefined && flags !== 'r') throw new Error(`a reader opens its file to ${String(flags)}`);
    return handleOf(file);
  });
  patch(fs, 'createReadStream', (file, options) => streamOf(file, (options ?? {}) as Range));
  syncBuiltinESMExports();
  return {
    put: (path, bytes) => void files.set(path, { bytes, open: 0 }),
    left: (path) => files.get(path)?.open ?? 0,
  };
}

function statOf({ bytes }: MemoryFile) {
  return { size: bytes.length, isFile: () => true, isDirectory: () => false, isSymbolicLink: () => false };
}

function handleOf(file: MemoryFile) {
  let at = 0;
  let closed = false;
  file.open++;
  return {
    async read(buffer: Buffer, offset: number, length: number, position: number | null) {
      if (closed) throw new Error('a handle is read after it was closed');
      if (offset + length > buffer.length) throw new RangeError('a read goes beyond its buffer');
      const from = position ?? at;
      const bytesRead = from < file.bytes.length ? file.bytes.copy(buffer, offset, from, from + length) : 0;
      if (position === null) at += bytesRead;
      return { bytesRead, buffer };
    },
    stat: async () => statOf(file),
    createReadStream: (options: Range = {}) => streamOf(file, options),
    async close() {
      if (!closed) file.open--;
      closed = true;
    },
  };
}

function streamOf(file: MemoryFile, { start = 0, end = Number.MAX_SAFE_INTEGER, highWaterMark = 64 * 1024 }: Range) {
  const to = Math.min(file.bytes.length, end + 1);
  let at = start;
  file.open++;
  return new Readable({
    highWaterMark,
    read(size) {
      const chunk = at < to ? Buffer.from(file.bytes.subarray(at, Math.min(to, at + size))) : null;
      at += chunk?.length ?? 0;
      this.push(chunk);
    },
    destroy(error, done) {
      file.open--;
      done(error);
    },
  });
}
