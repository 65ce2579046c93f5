import { randomBytes } from 'node:crypto';
import { constants, mkdirSync } from 'node:fs';
import { chmod, mkdir, open, rm, rmdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { codesOf, diskWords, RunError } from '../model/error.js';

/** What a folder is to people, and how they name another one. */
interface FolderPurpose {
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

/** Gives a file that was just made the rights of its folder, as far as the user's umask and `most` let them through. Never through a link. */
export async function shareLikeFolder(path: string, most = 0o666): Promise<void> {
  if (umask === undefined || process.platform === 'win32') return;
  const rights = (await stat(dirname(path))).mode & most & ~umask;
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    // Some shares know no rights.
    if (rights & 0o077) await file.chmod(rights | 0o600).catch(() => undefined);
  } finally {
    await file.close();
  }
}

const SETGID = 0o2000;

/**
 * Makes a folder with the rights of the one it lies in, as far as the user's umask lets them through. Where what is made in it
 * belongs to a group that is not this user's (setgid), a change of its rights would take that away: such a folder is made under
 * the umask itself, which for that moment holds for all threads of this process.
 */
export async function makeSharedFolder(path: string): Promise<void> {
  if (umask === undefined || process.platform === 'win32') return mkdir(path);
  const { mode, gid } = await stat(dirname(path));
  const rights = mode & 0o777 & ~umask;
  if ((mode & SETGID) === 0 || isOwnGroup(gid)) {
    await mkdir(path, 0o700);
    // Some shares know no rights.
    if (rights & 0o077) await chmod(path, (mode & SETGID) | rights | 0o700).catch(() => undefined);
    return;
  }
  const own = process.umask(umask);
  try {
    mkdirSync(path, mode & 0o777);
  } finally {
    process.umask(own);
  }
}

function isOwnGroup(gid: number): boolean {
  return process.geteuid?.() === 0 || process.getegid?.() === gid || process.getgroups?.().includes(gid) === true;
}

/**
 * Makes a folder and those above it that are missing, one at a time: Node's recursive `mkdir` never ends where a level
 * exists and takes no folders, such as below /proc. Returns the topmost folder that was made; undefined where it was there.
 * @throws RunError `failed` naming the folder, what is in the way and how to name another.
 */
export async function makeFolder(path: string, purpose: FolderPurpose): Promise<string | undefined> {
  const missing: string[] = [];
  let at = resolve(path);
  try {
    while (!(await isFolder(at))) {
      missing.push(at);
      if (dirname(at) === at) break;
      at = dirname(at);
    }
    for (at of missing.toReversed()) await makeOne(at, purpose);
  } catch (error) {
    throw folderFault(`${path} cannot be made`, purpose, error, at);
  }
  return missing.at(-1);
}

/**
 * Finds out whether a folder is there or can be made, and can be written to. Leaves nothing behind that was not there.
 * @throws RunError `failed` as `makeFolder`.
 */
export async function tryFolder(path: string, purpose: FolderPurpose): Promise<void> {
  const made = await makeFolder(path, purpose);
  const probe = join(path, `.rowferry-${randomBytes(6).toString('hex')}`);
  try {
    await writeFile(probe, '');
  } catch (error) {
    throw folderFault(`${path} cannot be written`, purpose, error, probe);
  } finally {
    await rm(probe, { force: true });
    if (made !== undefined) await removeEmpty(resolve(path), made);
  }
}

/** Removes a folder and those above it up to `top`; one that somebody else uses by now stays. */
async function removeEmpty(path: string, top: string): Promise<void> {
  for (let at = path; at.length >= top.length; at = dirname(at)) {
    const removed = await rmdir(at).then(
      () => true,
      () => false,
    );
    if (!removed) return;
  }
}

/** False where there is nothing; throws ENOTDIR where something else is. */
async function isFolder(path: string): Promise<boolean> {
  try {
    if ((await stat(path)).isDirectory()) return true;
  } catch (error) {
    // Below a file; the file is found on the way up.
    if (codesOf(error)[0] === 'ENOENT' || codesOf(error)[0] === 'ENOTDIR') return false;
    throw error;
  }
  throw Object.assign(new Error(`${path} is no folder`), { code: 'ENOTDIR' });
}

async function makeOne(path: string, { isPrivate }: FolderPurpose): Promise<void> {
  try {
    await (isPrivate ? mkdir(path, 0o700) : makeSharedFolder(path));
  } catch (error) {
    // Another process was faster, or a link leads nowhere.
    if (codesOf(error)[0] !== 'EEXIST' || !(await isFolder(path))) throw error;
  }
}

/** `at`: the folder or file that could not be made. */
function folderFault(what: string, purpose: FolderPurpose, error: unknown, at: string): RunError {
  const text = `The ${purpose.what} ${what}: ${reasonOf(error, at)}. Name another folder with ${purpose.namedBy}.`;
  return new RunError('failed', text, [], { cause: error });
}

function reasonOf(error: unknown, at: string): string {
  switch (codesOf(error)[0]) {
    case 'ENOTDIR':
      return `${at} is a file`;
    case 'EEXIST':
      return `${at} is a link that leads nowhere`;
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return `this user may not write to ${dirname(at)}`;
    case 'ENOENT':
      return `${dirname(at)} takes no folders`;
    case 'ENAMETOOLONG':
      return `the name of ${at} is too long`;
    case 'ELOOP':
      return `links lead round in a circle at ${at}`;
    default:
      return diskWords(error);
  }
}
