import { constants, type Stats } from 'node:fs';
import { type FileHandle, lstat, open, readlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { codesOf, RunError } from '../model/error.js';
import { readFault } from './bytes.js';

/** Non-blocking, so that a pipe without a writer is refused rather than waited for. Windows has no O_NOFOLLOW. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK | (constants.O_NOFOLLOW ?? 0);

/** A file may be replaced by another one at that very moment, which is no fault. */
const TRIES = 3;

/**
 * Opens a file whose path was found to lead through no link and to lie where it may: absolute, every link resolved. What
 * is opened lies at that very path: where a link has taken the place of the file or of a folder on the way since,
 * `RunError('failed')`; so for a file of several names, which may be one from a place that is not to be read.
 */
export async function openLinkless(path: string): Promise<FileHandle> {
  for (let left = TRIES; left > 0; left--) {
    const file = await open(path, FLAGS).catch((error: unknown) => {
      if (codesOf(error).includes('ELOOP')) throw swapped(path);
      throw readFault(path, error);
    });
    const info = await file.stat();
    // A folder has several by nature; whoever reads refuses it.
    const names = info.isFile() ? info.nlink : 1;
    if (names <= 1 && (await liesAt(path, file))) return file;
    await file.close();
    if (names > 1) throw severalNames(path, names);
  }
  throw swapped(path);
}

/** Whether an opened file lies at this path, with no link on the way. */
async function liesAt(path: string, file: FileHandle): Promise<boolean> {
  // Linux says where an opened file lies. Looking at the path again would leave room for another swap.
  const place = await readlink(`/proc/self/fd/${file.fd}`).catch(() => undefined);
  if (place === path) return true;
  // Some file systems take names in any case.
  if (place !== undefined && place.toLowerCase() !== path.toLowerCase()) return false;
  for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
    if ((await look(folder))?.isSymbolicLink() !== false) return false;
  }
  const [named, opened] = [await look(path), await file.stat()];
  return named !== undefined && named.ino === opened.ino && named.dev === opened.dev;
}

async function look(path: string): Promise<Stats | undefined> {
  return lstat(path).catch(() => undefined);
}

function severalNames(path: string, names: number): RunError {
  return new RunError(
    'failed',
    `${path}: the file has ${names} names (hard links), so it lies in another place as well and may be changed there while it ` +
      'is read. Nothing was sent. Put a copy there instead of a link.',
  );
}

function swapped(path: string): RunError {
  return new RunError(
    'failed',
    `${path}: a symbolic link took the place of this file or of a folder on its path after it was looked at. Links that ` +
      'appear meanwhile are never followed. Nothing was sent. Put the file itself there and run again.',
  );
}
