import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, mkdir, open, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { diskErrorText, RunError, runFailure, systemCodes } from '../model/error.js';

/** What a folder is to people, and how they name another one. */
export interface FolderPurpose {
  /** `data folder` */
  readonly what: string;
  /** `--home or ROWFERRY_HOME` */
  readonly namedBy: string;
  /** Of this user alone. */
  readonly isPrivate?: true;
}

/** The user's own umask; undefined where `makePrivate` was not called. */
let umask: number | undefined;

/**
 * What this process makes from now on is its user's alone, whatever the umask: the data folder holds copies of files and
 * records. What others are to read is made by
 * `makeSharedFolder` and `shareLikeFolder`. For the whole process, so before anything is made.
 */
export function makePrivate(): void {
  umask = process.umask(0o077);
}

/** Gives a file that was just made the rights of its folder, as far as the user's umask lets them through. Never through a link. */
export async function shareLikeFolder(path: string): Promise<void> {
  if (umask === undefined || process.platform === 'win32') return;
  const rights = (await stat(dirname(path))).mode & 0o666 & ~umask;
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    // Some shares know no rights.
    if (rights & 0o077) await file.chmod(rights | 0o600).catch(() => undefined);
  } finally {
    await file.close();
  }
}

/** Makes a folder with the rights of the one it lies in, as far as the user's umask lets them through, setgid among them. */
export async function makeSharedFolder(path: string): Promise<void> {
  if (umask === undefined || process.platform === 'win32') return mkdir(path);
  const rights = (await stat(dirname(path))).mode & 0o2777 & ~umask;
  await mkdir(path, 0o700);
  // Some shares know no rights.
  if (rights & 0o077) await chmod(path, rights | 0o700).catch(() => undefined);
}

/**
 * Makes a folder and those above it that are missing, one at a time: Node's recursive `mkdir` never ends where a level
 * exists and takes no folders, such as below /proc. Returns the topmost folder that was made; undefined where it was there.
 * @throws RunError `failed` naming the folder, what is in the way and how to name another.
 */
export async function makeFolder(path: string, purpose: FolderPurpose): Promise<string | undefined> {
  const at = resolve(path);
  try {
    if (await isFolder(at)) return undefined;
    const above = await makeFolder(dirname(at), purpose);
    try {
      await (purpose.isPrivate ? mkdir(at, 0o700) : makeSharedFolder(at));
    } catch (error) {
      // Another process was faster, or a link leads nowhere.
      if (systemCodes(error)[0] !== 'EEXIST' || !(await isFolder(at))) throw error;
    }
    return above ?? at;
  } catch (error) {
    throw error instanceof RunError ? error : folderFault(`${at} cannot be made`, purpose, error);
  }
}

/**
 * Finds out whether a folder is there or can be made, and can be written to. Leaves nothing behind that was not there.
 * @throws RunError `failed` as `makeFolder`.
 */
export async function probeFolder(path: string, purpose: FolderPurpose): Promise<void> {
  const topmost = await makeFolder(path, purpose);
  const probe = join(path, `.rowferry-${randomBytes(6).toString('hex')}`);
  try {
    await writeFile(probe, '');
  } catch (error) {
    throw folderFault(`${path} cannot be written`, purpose, error);
  } finally {
    // Where no file can be made, none can be looked for.
    await rm(probe, { force: true }).catch(() => undefined);
    // One that somebody else uses by now stays.
    for (let at = resolve(path); topmost !== undefined && at.length >= topmost.length; at = dirname(at))
      await rmdir(at).catch(() => undefined);
  }
}

/** False where there is nothing; throws ENOTDIR where something else is. */
async function isFolder(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    // Below a file; the file is found on the way up.
    if (systemCodes(error)[0] === 'ENOENT' || systemCodes(error)[0] === 'ENOTDIR') return false;
    throw error;
  }
  throw Object.assign(new Error(`${path} is no folder`), { code: 'ENOTDIR' });
}

function folderFault(what: string, purpose: FolderPurpose, error: unknown): RunError {
  const text = `The ${purpose.what} ${what}: ${diskErrorText(error)}. Name another folder with ${purpose.namedBy}.`;
  return runFailure(text, [], { cause: error });
}
