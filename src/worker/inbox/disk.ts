import { randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { INBOX, makeFolder, makeSharedFolder, shareLikeFolder } from '../../runs/run/layout.js';

/** The code of a fault of the file system, such as `ENOENT`; '' where it is another fault. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** Undefined where there is nothing. Never follows a link. */
export async function lstatIfExists(path: string): Promise<Stats | undefined> {
  return lstat(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return undefined;
    throw error;
  });
}

/** A small text; undefined where there is none. */
export async function readIfExists(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
}

export async function isFolder(path: string): Promise<boolean> {
  return (await lstatIfExists(path))?.isDirectory() ?? false;
}

/** Opens a plain file to read it: never a link, and never waiting for the other end of a pipe. */
export function openPlain(path: string) {
  return open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
}

/** Makes a folder and those above it that are missing. A link or file in its place is a fault. */
export async function makeFolders(path: string): Promise<void> {
  if (!(await lstatIfExists(path))) await makeFolder(path, { ...INBOX, what: 'folder' });
  if (!(await isFolder(path))) throw new Error(`${path} must be a folder of its own, no link and no file`);
}

/** Makes a small text with the rights of its folder; rejects with EEXIST where something has that name. */
async function writeShared(path: string, text: string, flush = false): Promise<void> {
  await writeFile(path, text, { flag: 'wx', flush });
  await shareLikeFolder(path);
}

/** Replaces a small text in one step. */
export async function replaceText(path: string, text: string, { flush = false } = {}): Promise<void> {
  const temporary = temporaryPath(path);
  try {
    await writeShared(temporary, text, flush);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Makes a small text; false where something has that name already. Of several processes one succeeds. */
export async function writeOnce(path: string, text: string): Promise<boolean> {
  return writeShared(path, text).then(
    () => true,
    (error: unknown) => {
      if (errorCode(error) === 'EEXIST') return false;
      throw error;
    },
  );
}

/** Moves a folder; false where there is one of that name, which holds something: a rename never replaces that. */
export async function moveFolder(from: string, to: string): Promise<boolean> {
  return rename(from, to).then(
    () => true,
    (error: unknown) => {
      if (['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(errorCode(error))) return false;
      throw error;
    },
  );
}

/** Makes a folder with a small text in it; false where it is there already. Of several processes one succeeds, in one step. */
export async function makeFolderWith(path: string, name: string, text: string): Promise<boolean> {
  const temporary = temporaryPath(path);
  try {
    await makeSharedFolder(temporary);
    await writeShared(join(temporary, name), text);
    return await moveFolder(temporary, path);
  } finally {
    await rm(temporary, { recursive: true, force: true }).catch(() => undefined);
  }
}

const temporaryPath = (path: string): string => join(dirname(path), `.rowferry-${randomBytes(6).toString('hex')}.tmp`);
