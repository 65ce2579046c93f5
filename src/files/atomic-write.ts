import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, open, readdir, readlink, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { sizeText } from '../model/count-text.js';
import { diskErrorText, type RunError, runFailure, systemCodes } from '../model/error.js';
import { reached } from '../trace/milestones.js';
import { assertFile, readFault } from './bytes.js';
import { shareLikeFolder } from './make-folder.js';
import { fillFile } from './table-sink.js';

const COPY_LIMIT = 8 * 1024 * 1024 * 1024;
const CHUNK = 1024 * 1024;

/** Faults of the place where a file is written; others are those of whoever makes it. */
const DISK = /^(?:ENOSPC|EDQUOT|EFBIG|EIO|EROFS|EACCES|EPERM|ENOENT|ENOTDIR|EISDIR|ENAMETOOLONG)$/;

function writeFault(path: string, error: unknown): unknown {
  const [code = ''] = systemCodes(error);
  if (!DISK.test(code)) return error;
  const why = code === 'ENOENT' ? `the folder ${dirname(path)} does not exist` : diskErrorText(error);
  const text = `${path}: could not be written because ${why}. Nothing unfinished is left behind. Put that right, or name another folder, and run again.`;
  return runFailure(text, [], { cause: error });
}

/**
 * Makes a file appear complete or not at all: `make` fills a temporary file in the same folder, which is flushed to
 * disk, renamed over `path`, and the folder flushed. On any fault the temporary file is removed and the old one stays.
 * `writer`: in its name, where what the same one left when it was killed is replaced. `keepMode`: those that `make` gave it
 * stay. Returns what `make` returned.
 */
export async function createAtomically<Made>(
  path: string,
  make: (temporary: string) => Promise<Made>,
  { writer, keepMode = false }: { readonly writer?: string | undefined; readonly keepMode?: boolean } = {},
): Promise<Made> {
  const temporary = join(dirname(path), `.${basename(path)}.${writer ?? randomBytes(6).toString('hex')}.tmp`);
  try {
    if (writer !== undefined) await rm(temporary, { force: true });
    const made = await make(temporary);
    if (!keepMode) await shareLikeFolder(temporary);
    await flushFile(temporary);
    reached('file-made');
    await rename(temporary, path);
    // Windows cannot open a folder; there a rename is durable by itself.
    if (process.platform !== 'win32') await flushFile(dirname(path), 'r');
    reached('file-renamed');
    return made;
  } catch (error) {
    // Where no file can be made, none can be looked for.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw writeFault(path, error);
  }
}

const UNFINISHED = /^\..+\.[0-9a-f]{12}\.tmp$/;

/** Removes what killed processes left of files they were making here. Only where nobody makes one now: under the folder's lock. */
export async function removeUnfinished(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) if (UNFINISHED.test(name)) await rm(join(folder, name), { force: true });
}

/** Onto the disk, so that it is there as it is also after a power cut. `flags`: of a folder `r`. */
export async function flushFile(path: string, flags = 'r+'): Promise<void> {
  const file = await open(path, flags);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}

/** `createAtomically` for what is produced piece by piece; `write` waits where the disk is slower than the producer. */
export async function writeAtomically(
  path: string,
  produce: (write: (chunk: string | Buffer) => Promise<void>) => Promise<void>,
): Promise<void> {
  await createAtomically(path, async (temporary) => {
    await fillFile(temporary, (sink) =>
      produce((chunk) => sink.write(typeof chunk === 'string' ? Buffer.from(chunk, 'utf8') : chunk)),
    );
  });
}

/**
 * Copies a file for this process alone while hashing it, so that what is imported is what was hashed. Refuses with
 * `RunError('failed')` what is no plain file, is larger than 8 GB, or changes while it is copied. `noFollow`: `from` was found to lead through no link, and one that has
 * appeared on it since is refused (`openNoFollow`).
 */
export async function copyPrivately(
  from: string,
  to: string,
  { noFollow = false }: { readonly noFollow?: boolean } = {},
): Promise<{ sha256: string; bytes: number }> {
  const source = await (noFollow ? openNoFollow(from) : openForReading(from));
  try {
    const before = await source.stat({ bigint: true });
    assertFile(from, before);
    if (before.size > BigInt(COPY_LIMIT)) {
      throw runFailure(`${from}: the file is larger than ${sizeText(COPY_LIMIT)}. Split it.`);
    }
    return await createAtomically(
      to,
      async (temporary) => {
        const copied = await fillFile(
          temporary,
          async (sink) => {
            for await (const chunk of bytesOf(source, from, before.size)) await sink.write(chunk);
          },
          0o600,
        );
        const after = await source.stat({ bigint: true });
        if (copied.bytes !== Number(before.size) || after.size !== before.size || after.mtimeNs !== before.mtimeNs) {
          throw runFailure(
            `${from}: the file changed while it was read; it is still being written. Nothing was sent. ` +
              'Run again when it is complete.',
          );
        }
        return copied;
      },
      { keepMode: true },
    );
  } finally {
    await source.close();
  }
}

/** Opens a file to read. Non-blocking, so that a pipe without a writer is not waited for. */
async function openForReading(path: string, flags = 0): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NONBLOCK | flags).catch((error: unknown) => {
    throw flags !== 0 && systemCodes(error).includes('ELOOP') ? swappedFault(path) : readFault(path, error);
  });
}

/** From the beginning; of a file that has grown beyond `size` at least a byte more than that. */
async function* bytesOf(source: FileHandle, from: string, size: bigint): AsyncGenerator<Buffer> {
  for (let at = 0; at <= size; ) {
    const buffer = Buffer.allocUnsafe(CHUNK);
    const { bytesRead } = await source.read(buffer, 0, CHUNK, at).catch((error: unknown) => {
      throw readFault(from, error);
    });
    if (bytesRead === 0) return;
    at += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

/** Windows has none. */
const NO_LINK = constants.O_NOFOLLOW ?? 0;

/**
 * Opens a file whose path was found to lead through no link and to lie where it may: absolute, every link resolved. What
 * is opened lies at that very path: where a link has taken the place of the file or of a folder on the way since,
 * `RunError('failed')`; so for a file of several names, which may be one from a place that is not to be read.
 */
async function openNoFollow(path: string): Promise<FileHandle> {
  const file = await openForReading(path, NO_LINK);
  try {
    const info = await file.stat();
    // A folder has several by nature; whoever reads refuses it.
    if (info.isFile() && info.nlink > 1) {
      throw runFailure(
        `${path}: the file has ${info.nlink} names (hard links), so it lies in another place as well and may be changed there ` +
          'while it is read. Nothing was sent. Put a copy there instead of a link.',
      );
    }
    // Linux says where an opened file lies. Looking at the path again would leave room for another swap.
    if ((await readlink(`/proc/self/fd/${file.fd}`).catch(() => realpath(path))) !== path) throw swappedFault(path);
    return file;
  } catch (error) {
    await file.close();
    throw error;
  }
}

function swappedFault(path: string): RunError {
  return runFailure(
    `${path}: a symbolic link took the place of this file or of a folder on its path after it was looked at. Links that ` +
      'appear meanwhile are never followed. Nothing was sent. Put the file itself there and run again.',
  );
}
