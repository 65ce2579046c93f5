import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, unlinkSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunError } from '../../model/error.js';
import type { SourceLimits } from '../limits.js';

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
