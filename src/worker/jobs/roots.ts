import { lstat, readlink, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { RunError, usageError } from '../../model/error.js';
import { makeFolder } from '../../runs/run/layout.js';
import type { Settings } from '../../runs/settings.js';
import { errorCode } from '../inbox/disk.js';

/**
 * The folders that files of queue jobs may lie in: those in `roots`, tried in this order where the path is relative, and `inbox`,
 * below which one that begins with `inbox/` is meant. `ownFiles` rowferry keeps to itself, whatever name leads to them.
 */
type AllowedFolders = Pick<Settings, 'roots' | 'inbox' | 'ownFiles'>;

/** The file may lie there, but is not on this machine: another worker may have it. */
export class FileUnavailable extends RunError {
  constructor(file: string) {
    super('failed', `There is no file ${quoted(file)} below the folders that this worker may read.`);
  }
}

/** The path leads out of the allowed folders of this worker; another worker may have others. */
export class OutsideRoots extends RunError {
  constructor(message: string) {
    super('usage', message);
  }
}

/**
 * Absolute path of a file that job data names, links followed. What is answered does not depend on what exists outside the
 * allowed folders.
 * @throws RunError `usage` for a path that may not be read; `FileUnavailable` where the path is allowed and nothing is there.
 */
export async function fileBelowRoots(file: string, folders: AllowedFolders): Promise<string> {
  if (file === '' || file.includes('\0')) throw pathError(file, 'is no path');
  let [hidden, below] = [false, false];
  for (const candidate of candidatePaths(file, folders)) {
    const place = await resolveBelow(folders, candidate, file, unreadable);
    below ||= place !== 'outside';
    hidden ||= place === 'hidden';
    if (typeof place === 'string' || place.missing.length > 0) continue;
    if (place.kind === 'folder') throw pathError(file, 'is a folder; name a spreadsheet');
    if (place.kind === 'other') throw pathError(file, 'is a pipe or device, not a file');
    if (await isOneOf(place.at, folders.ownFiles))
      throw pathError(file, 'is one of rowferry’s own, and no spreadsheet');
    return place.at;
  }
  if (!below) throw unreadable(file);
  if (hidden) throw pathError(file, 'is hidden: names that begin with a dot are never read');
  throw new FileUnavailable(file);
}

/** Whether a file is one of others, by another name or a hard link, too. */
async function isOneOf(file: string, others: readonly string[]): Promise<boolean> {
  const idOf = async (one: string) => {
    const info = await stat(one, { bigint: true }).catch(() => undefined);
    return info && `${info.dev} ${info.ino}`;
  };
  const id = await idOf(file);
  return id !== undefined && (await Promise.all(others.map(idOf))).includes(id);
}

/** Where a path leads, every link on it followed. */
interface ResolvedPath {
  /** The last folder or file on the way that is there. Absolute. */
  readonly at: string;
  /** The names after it, of which nothing is there. */
  readonly missing: readonly string[];
  /** Why it cannot be told what comes after `at`. */
  readonly fault?: string | undefined;
}

/**
 * Where a path leads that lies, by its name, below one of the folders; `outside` and `hidden` where it does not, or a
 * name on the way begins with a dot. Throws what `outsideError` makes where a link leads out, whether anything is there or not.
 */
async function resolveBelow(
  { roots, inbox }: Pick<AllowedFolders, 'roots' | 'inbox'>,
  candidate: string,
  file: string,
  outsideError: (file: string) => RunError,
): Promise<(ResolvedPath & { readonly kind: 'file' | 'folder' | 'other' }) | 'outside' | 'hidden'> {
  const configured = [...roots, inbox].map((root) => path.resolve(root));
  const real = await Promise.all(configured.map((root) => realpath(root).catch(() => root)));
  const position = positionOf(candidate, [...configured, ...real]);
  if (position !== 'below') return position;
  const place = await resolveLinks(candidate);
  const full = fullPath(place);
  if (positionOf(full, real) !== 'below' && !real.includes(full)) throw outsideError(file);
  if (place.fault === 'ELOOP') throw pathError(file, 'goes through a circle of symbolic links');
  if (place.fault !== undefined) throw pathError(file, `cannot be looked at (${place.fault})`);
  const info = await lstat(place.at);
  return { ...place, kind: info.isFile() ? 'file' : info.isDirectory() ? 'folder' : 'other' };
}

/** How a path stands to folders, by its name. They may be hidden themselves (`.rowferry`): what is plain below any of them is plain. */
function positionOf(file: string, folders: readonly string[]): 'below' | 'hidden' | 'outside' {
  const relatives = folders
    .map((folder) => path.relative(folder, file).split(path.sep))
    .filter(([first = '']) => first !== '' && first !== '..');
  if (relatives.length === 0) return 'outside';
  return relatives.some((names) => !names.some((name) => name.startsWith('.'))) ? 'below' : 'hidden';
}

async function resolveLinks(file: string): Promise<ResolvedPath> {
  let code: string;
  try {
    return { at: await realpath(file), missing: [] };
  } catch (error) {
    code = errorCode(error) || String(error);
  }
  const above = path.dirname(file);
  // A link to what is not there yet.
  const link = code === 'ENOENT' ? await readlink(file).catch(() => undefined) : undefined;
  if (link !== undefined) return resolveLinks(path.resolve(await realpath(above), link));
  const { at, missing, fault } = await resolveLinks(above);
  const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
  return { at, missing: [...missing, path.basename(file)], fault: fault ?? (isMissing ? undefined : code) };
}

/** Where a file that is named so may lie, by its name alone; the first that exists is meant. Absolute. */
export function candidatePaths(file: string, { roots, inbox }: Omit<AllowedFolders, 'ownFiles'>): string[] {
  if (path.isAbsolute(file)) return [path.normalize(file)];
  const plain = path.normalize(file);
  if (plain === '..' || plain.startsWith(`..${path.sep}`)) return [];
  const [first, ...rest] = plain.split(path.sep);
  const dropped = first === 'inbox' && rest.length > 0 ? [path.resolve(inbox, ...rest)] : [];
  return [...new Set([...dropped, ...roots.map((root) => path.resolve(root, file))])];
}

function unreadable(file: string): RunError {
  return new OutsideRoots(
    `The file ${quoted(file)} is not below a folder that this worker may read. Put it into the drop folder or the data ` +
      'folder, or name its folder in ROWFERRY_ROOTS of the worker.',
  );
}

function pathError(file: string, why: string): RunError {
  return usageError(`The file ${quoted(file)} ${why}.`);
}

function quoted(file: string): string {
  return JSON.stringify(file.length > 200 ? `${file.slice(0, 197)}...` : file);
}

/** Where exports of the queue may be written: below `roots`, and not in the folders that have another purpose. */
export type TargetFolders = Pick<Settings, 'roots' | 'home' | 'inbox' | 'jobsDir' | 'ownFiles'>;

/** Folders of the data folder that hold what rowferry itself relies on; `ownFiles` are the files. */
const OWN_FOLDERS = ['runs', 'uploads', 'service'];

/**
 * Absolute path of the file that an export is to write, its folders not made yet. Links are followed as they are for files that
 * are read (`fileBelowRoots`). A relative path is meant below the first folder of ROWFERRY_ROOTS.
 * @throws RunError `usage` for a path that may not be written; `OutsideRoots` where another worker may have that folder.
 */
export async function targetBelowRoots(file: string, folders: TargetFolders): Promise<string> {
  if (file === '' || file.includes('\0')) throw pathError(file, 'is no path');
  if (/[/\\]$/.test(file)) throw pathError(file, 'is a folder; name a file to write');
  const place = await resolveBelow(folders, targetPath(file, folders), file, unwritable);
  if (place === 'outside') throw unwritable(file);
  if (place === 'hidden') throw pathError(file, 'is hidden: names that begin with a dot are never written');
  const target = fullPath(place);
  if (await isReserved(target, folders)) {
    const where = 'in the drop folder, in the jobs folder or among what rowferry keeps in its data folder';
    throw pathError(file, `lies ${where}; name another folder`);
  }
  if (place.missing.length > 0 && place.kind !== 'folder') {
    throw pathError(file, `has a file where a folder should be: ${path.basename(place.at)}`);
  }
  if (place.missing.length === 0 && place.kind === 'folder') throw pathError(file, 'is a folder; name a file to write');
  if (place.missing.length === 0 && place.kind === 'other') throw pathError(file, 'is a pipe or device, not a file');
  return target;
}

/** The same, and makes the folders on the way that are missing. */
export async function makeTarget(file: string, folders: TargetFolders): Promise<string> {
  const target = await targetBelowRoots(file, folders);
  await makeFolder(path.dirname(target), {
    what: 'folder for the export',
    namedBy: '`file` or the `output` of the job',
  });
  // Somebody may have put a link where there was nothing a moment ago.
  const real = await realpath(path.dirname(target)).catch(() => undefined);
  if (real !== path.dirname(target)) throw unwritable(file);
  return target;
}

/** Where the file is meant, by its name alone. */
function targetPath(file: string, { roots, home, inbox }: TargetFolders): string {
  const [first, ...rest] = path.normalize(file).split(path.sep);
  // In data of jobs this is the name of the drop folder, wherever that is.
  if (first === 'inbox') return path.resolve(inbox, ...rest);
  return path.resolve(roots.find((root) => root !== home && root !== inbox) ?? home, file);
}

/** A file there would be imported, be taken for a job, or replace what a run relies on. */
async function isReserved(target: string, { home, inbox, jobsDir, ownFiles }: TargetFolders): Promise<boolean> {
  const real = async (folder: string) => realpath(folder).catch(() => folder);
  const base = await real(home);
  const own = [inbox, await real(inbox), ...OWN_FOLDERS.map((name) => path.join(base, name))];
  // By name also those that are not there yet; those that are by any name, such as one in other case where the disk takes both.
  own.push(
    ...(await Promise.all(
      ownFiles.map(async (file) => path.join(await real(path.dirname(file)), path.basename(file))),
    )),
  );
  if (own.includes(target) || (await isOneOf(target, ownFiles))) return true;
  // Job files lie directly in their folder; what lies deeper is none.
  const jobs = [jobsDir, await real(jobsDir)];
  return jobs.includes(path.dirname(target)) || own.some((folder) => target.startsWith(folder + path.sep));
}

function fullPath({ at, missing }: ResolvedPath): string {
  return path.join(at, ...missing);
}

function unwritable(file: string): RunError {
  return new OutsideRoots(
    `The file ${quoted(file)} is not below a folder that this worker may write to. Name one below its working folder or ` +
      'its data folder, or name the folder in ROWFERRY_ROOTS of the worker.',
  );
}

/** Where files lie until a run has its private copy of them: `<home>/uploads/`. */
export function uploadsDir(home: string): string {
  return path.join(home, 'uploads');
}
