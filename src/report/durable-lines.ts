import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { RunError } from '../model/error.js';
import { reached } from '../trace/milestones.js';

/**
 * Lines appended to a file and made durable in groups: whatever is buffered when a sync starts shares that sync,
 * so a thousand callers waiting for their line cost one fdatasync, not a thousand.
 */
export interface DurableLines {
  /** Buffers the bytes that `write` puts at the given place. Throws the first failure of an earlier flush. */
  append(maxBytes: number, write: (buffer: Buffer, at: number) => number): void;
  /** Resolves once everything appended before the call is on the disk. Rejects with a `RunError`, then and ever after. */
  flush(): Promise<void>;
  /** Flushes and closes. */
  close(): Promise<void>;
}

/** Above this many buffered bytes a flush starts by itself, so that appending alone cannot fill the memory. */
const FLUSH_AT = 1 << 20;

/** How such a file is opened: `openDurableLines`, or what stands in its place in a simulation. */
export type OpenDurableLines = (path: string, keep: number, what: string) => Promise<DurableLines>;

/** Opens for appending. Whatever stands behind `keep` bytes is cut off first. `what` names the file in messages. */
export async function openDurableLines(path: string, keep: number, what: string): Promise<DurableLines> {
  let opened: FileHandle | undefined;
  try {
    const handle = await open(path, 'a');
    opened = handle;
    const stat = await handle.stat();
    if (stat.size > keep) await handle.truncate(keep);
    await handle.datasync().catch(ignoreUnsupported);
    if (stat.size === 0) await syncFolder(dirname(path));
  } catch (error) {
    await opened?.close().catch(() => {});
    throw diskError(path, what, error);
  }
  const handle = opened;

  let buffer: Buffer = Buffer.allocUnsafe(64 << 10);
  let used = 0;
  let spare: Buffer | undefined;
  let failure: RunError | undefined;
  let closed = false;
  let running: Promise<void> = Promise.resolve();
  let queued: Promise<void> | undefined;

  const sync = async (): Promise<void> => {
    queued = undefined;
    if (failure) throw failure;
    if (used === 0) return;
    const bytes = buffer.subarray(0, used);
    const full = buffer;
    buffer = spare ?? Buffer.allocUnsafe(64 << 10);
    spare = undefined;
    used = 0;
    try {
      await writeAll(handle, bytes);
      reached('lines-written');
      await handle.datasync();
      reached('lines-durable');
    } catch (error) {
      failure = diskError(path, what, error);
      // Nothing will be written any more, and a worker lives on.
      await handle.close().catch(() => {});
      throw failure;
    }
    if (full.length <= 2 * FLUSH_AT) spare = full;
  };

  const flush = (): Promise<void> => {
    if (failure) return Promise.reject(failure);
    if (queued) return queued;
    if (used === 0) return running;
    queued = running.then(sync);
    running = queued;
    // A caller that never awaits (the self-started flush) must not turn a failure into an unhandled rejection:
    // the failure is kept and every later call reports it.
    running.catch(() => {});
    return queued;
  };

  return {
    append(maxBytes, write) {
      if (failure) throw failure;
      if (closed) throw new Error(`${what} is closed`);
      if (used + maxBytes > buffer.length) {
        const grown = Buffer.allocUnsafe(Math.max(buffer.length * 2, used + maxBytes));
        buffer.copy(grown, 0, 0, used);
        buffer = grown;
      }
      used += write(buffer, used);
      if (used >= FLUSH_AT) void flush().catch(() => {});
    },
    flush,
    async close() {
      if (closed) return;
      closed = true;
      await flush();
      await handle.close();
    },
  };
}

async function writeAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await handle.write(bytes, done, bytes.length - done);
    done += bytesWritten;
  }
}

/** A new file is durable only once its name is: the folder is synced too, where the system can. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  if (!handle) return;
  await handle
    .sync()
    .catch(() => {})
    .finally(() => handle.close());
}

function ignoreUnsupported(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EINVAL' && error.code !== 'ENOTSUP') throw error;
}

function diskError(path: string, what: string, cause: unknown): RunError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
  const reason =
    {
      ENOSPC: 'the disk is full. Free some space',
      EDQUOT: 'the disk quota of this user is used up. Free some space',
      EFBIG: 'the file has reached the largest size allowed here. Raise the limit',
      EIO: 'the disk reports an input/output error. Check the disk',
      EROFS: 'the disk is read-only. Make it writable',
      EACCES: 'this user may not write there. Grant the right to write',
      EPERM: 'this user may not write there. Grant the right to write',
      ENOENT: 'the folder does not exist. Make it',
      EISDIR: 'a folder stands where the file should be. Move it away',
    }[code] ?? `the system reports ${code}. Put that right`;
  return new RunError(
    'failed',
    `${what} ${path} cannot be written: ${reason}, then resume the run. Nothing more is sent until what is sent can be recorded.`,
    [],
    { cause },
  );
}
