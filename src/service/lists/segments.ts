import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { RunError } from '../../model/error.js';
import type { Place } from './slots.js';

/** A file of the mirror that is complete. Its name is used once and never again. */
export interface Segment {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
}

/**
 * The files that hold a mirror's lines, seen as one long text: a place counts from the beginning of the first. A file is
 * written once and never changed, so whatever ends the process, the files of the last reading are as they were.
 */
export interface Segments {
  /** Where the line, which ends with a line break, will stand. */
  append(line: Buffer): Place;
  /** Resolves when what waits for the disk is little: appending may go on. */
  drained(): Promise<void>;
  /** Resolves when everything appended can be read. */
  flush(): Promise<void>;
  /** Makes everything appended durable; what is appended from now on goes to another file. All files, oldest first. */
  seal(): Promise<readonly Segment[]>;
  /** The lines at these places, in this order. What lies close together is read in one go. */
  read(places: readonly Place[]): Promise<Buffer[]>;
  readonly bytes: number;
  readonly files: number;
  /** Closes the files and removes the one that was not sealed. */
  close(): Promise<void>;
}

interface Open {
  readonly name: string;
  readonly file: FileHandle;
  readonly start: number;
  bytes: number;
  sha256: string;
}

const NEWLINE = 10;
const BLOCK = 1 << 20;
const WRITE_AT = 256 << 10;
/** More bytes than this wait for the disk: the reading should wait, too. */
const MOST_PENDING = 4 << 20;
/** Lines closer than this are read in one go, up to a block of this size. */
const GAP = 32 << 10;
const READ_AT_ONCE = 4 << 20;

/** Opens no file; the first line makes one. `newName` gives names that were never used. */
export function createSegments(dir: string, newName: () => string): Segments {
  return segmentsOf(dir, newName, []);
}

/**
 * Opens what `seal` gave, and shows each line. Undefined where a file is missing, shorter, longer or another, or where
 * `visit` does not know a line.
 */
export async function openSegments(
  dir: string,
  newName: () => string,
  known: readonly Segment[],
  visit: (line: Buffer, place: Place) => boolean,
): Promise<Segments | undefined> {
  const files: Open[] = [];
  let start = 0;
  try {
    for (const segment of known) {
      const file = await open(join(dir, segment.name), 'r');
      files.push({ ...segment, file, start });
      if ((await file.stat()).size !== segment.bytes) throw new Error('another length');
      const hash = createHash('sha256');
      await readLines(file, segment.bytes, hash, (line, offset) => {
        if (!visit(line, { offset: start + offset, length: line.length })) throw new Error('an unknown line');
      });
      if (hash.digest('hex') !== segment.sha256) throw new Error('another content');
      start += segment.bytes;
    }
    return segmentsOf(dir, newName, files);
  } catch {
    for (const { file } of files) await file.close().catch(() => undefined);
    return undefined;
  }
}

function segmentsOf(dir: string, newName: () => string, files: Open[]): Segments {
  let end = files.reduce((sum, { bytes }) => sum + bytes, 0);
  let current: { readonly open: Open; readonly hash: Hash } | undefined;
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let writing: Promise<void> | undefined;
  let failure: RunError | undefined;

  async function write(): Promise<void> {
    try {
      while (pending.length > 0) {
        const bytes = Buffer.concat(pending);
        pending = [];
        current ??= await begin();
        const { open: target, hash } = current;
        for (let at = 0; at < bytes.length; ) {
          const { bytesWritten } = await target.file.write(bytes, at, bytes.length - at, target.bytes + at);
          at += bytesWritten;
        }
        hash.update(bytes);
        target.bytes += bytes.length;
        pendingBytes -= bytes.length;
      }
    } catch (error) {
      failure = diskError(dir, error);
    }
    writing = undefined;
  }

  async function begin(): Promise<{ open: Open; hash: Hash }> {
    const name = newName();
    const file = await open(join(dir, name), 'wx+', 0o600);
    const start = files.reduce((sum, { bytes }) => sum + bytes, 0);
    const made = { name, file, start, bytes: 0, sha256: '' };
    files.push(made);
    return { open: made, hash: createHash('sha256') };
  }

  async function flush(): Promise<void> {
    while (!failure && (writing || pending.length > 0)) {
      writing ??= write();
      await writing;
    }
    if (failure) throw failure;
  }

  return {
    append(line) {
      if (failure) throw failure;
      const place = { offset: end, length: line.length - 1 };
      end += line.length;
      pending.push(line);
      pendingBytes += line.length;
      if (pendingBytes >= WRITE_AT) writing ??= write();
      return place;
    },
    drained: () => (pendingBytes > MOST_PENDING ? flush() : Promise.resolve()),
    flush,
    async seal() {
      await flush();
      if (current) {
        try {
          await current.open.file.sync();
        } catch (error) {
          throw diskError(dir, error);
        }
        current.open.sha256 = current.hash.digest('hex');
        current = undefined;
      }
      return files.map(({ name, bytes, sha256 }) => ({ name, bytes, sha256 }));
    },
    read: async (places) => {
      await flush();
      return readPlaces(dir, files, places);
    },
    get bytes() {
      return end;
    },
    get files() {
      return files.length;
    },
    async close() {
      await flush().catch(() => undefined);
      for (const { file } of files) await file.close().catch(() => undefined);
      if (current) await rm(join(dir, current.open.name), { force: true }).catch(() => undefined);
    },
  };
}

/** Shows the ended lines, without their ends. Throws where the last is not ended. */
async function readLines(
  file: FileHandle,
  size: number,
  hash: Hash,
  visit: (line: Buffer, offset: number) => void,
): Promise<void> {
  let buffer: Buffer = Buffer.allocUnsafe(Math.min(BLOCK, Math.max(size, 1)));
  let held = 0;
  let offset = 0;
  while (offset < size) {
    if (held === buffer.length) {
      const grown = Buffer.allocUnsafe(buffer.length * 2);
      buffer.copy(grown);
      buffer = grown;
    }
    const { bytesRead } = await file.read(buffer, held, Math.min(buffer.length - held, size - offset), offset);
    if (bytesRead === 0) throw new Error('shorter than it was');
    hash.update(buffer.subarray(held, held + bytesRead));
    const bytes = buffer.subarray(0, held + bytesRead);
    const base = offset - held;
    let start = 0;
    for (let line = bytes.indexOf(NEWLINE, held); line >= 0; line = bytes.indexOf(NEWLINE, start)) {
      visit(bytes.subarray(start, line), base + start);
      start = line + 1;
    }
    offset += bytesRead;
    held = bytes.length - start;
    bytes.copy(buffer, 0, start);
  }
  if (held > 0) throw new Error('a torn line');
}

async function readPlaces(dir: string, files: readonly Open[], places: readonly Place[]): Promise<Buffer[]> {
  const lines: Buffer[] = new Array(places.length);
  const order = [...places.keys()].sort((a, b) => (places[a] as Place).offset - (places[b] as Place).offset);
  const at = (index: number): Place => places[order[index] as number] as Place;
  let segment = 0;
  for (let from = 0; from < order.length; ) {
    const first = at(from).offset;
    while (first >= (files[segment] as Open).start + (files[segment] as Open).bytes) segment++;
    const { file, start, bytes } = files[segment] as Open;
    let end = first + at(from).length;
    let to = from + 1;
    for (; to < order.length; to++) {
      const { offset, length } = at(to);
      if (offset >= start + bytes || offset - end > GAP || offset + length - first > READ_AT_ONCE) break;
      end = Math.max(end, offset + length);
    }
    const block = Buffer.allocUnsafe(end - first);
    for (let done = 0; done < block.length; ) {
      const { bytesRead } = await file.read(block, done, block.length - done, first - start + done);
      if (bytesRead === 0) throw damaged(dir);
      done += bytesRead;
    }
    for (; from < to; from++) {
      const { offset, length } = at(from);
      lines[order[from] as number] = block.subarray(offset - first, offset - first + length);
    }
  }
  return lines;
}

export function damaged(dir: string, cause?: unknown): RunError {
  return new RunError(
    'failed',
    `What was read from the service and lies in ${dir} was changed by somebody else meanwhile. Delete that folder and start again.`,
    [],
    { cause },
  );
}

/** A folder or file of the mirror that the system does not let us write. */
export function diskError(dir: string, cause: unknown): RunError {
  if (cause instanceof RunError) return cause;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  const advice =
    code === 'ENOSPC' || code === 'EDQUOT'
      ? 'the disk is full. Free some space, then start again'
      : code === 'EIO'
        ? 'the disk reports an input/output error. Check the disk, then start again'
        : `the system reports ${code}. Check the disk and the rights of this user, then start again`;
  return new RunError('failed', `What is read from the service cannot be kept in ${dir}: ${advice}.`, [], { cause });
}
