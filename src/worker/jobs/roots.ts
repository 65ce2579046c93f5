import { lstat, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import { RunError } from '../../model/error.js';

/** The folders that files of queue jobs may lie in. Absolute. */
export interface AllowedFolders {
  /** Tried in this order where the path is relative. */
  readonly roots: readonly string[];
  /** A relative path that begins with `inbox/` is meant below this folder. */
  readonly inbox: string;
}

/** The file may lie there, but is not on this machine: another worker may have it. */
export class FileAway extends RunError {
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

/** More links than these on one path are a circle. */
const MAX_LINKS = 40;

/**
 * Absolute path of a file that job data names. Links are followed by hand, and nothing outside the allowed folders is
 * looked at: what is answered cannot depend on what exists there.
 * @throws RunError `usage` for a path that may not be read; `FileAway` where the path is allowed and nothing is there.
 */
export async function fileBelowRoots(file: string, folders: AllowedFolders): Promise<string> {
  if (file === '' || file.includes('\0')) throw refused(file, 'is no path');
  const real = await realRoots([...folders.roots, folders.inbox]);
  const candidates = allowedPlaces(file, folders);
  let hidden = false;
  let below = false;
  for (const candidate of candidates) {
    const places = placesBelow(
      candidate,
      real.map(({ named }) => named),
    );
    if (places.length === 0) continue;
    below = true;
    // The data folder may be hidden itself (`.rowferry`): a path that is plain below any allowed folder is plain.
    const plain = places.find(({ segments }) => !segments.some(isHidden));
    if (!plain) {
      hidden = true;
      continue;
    }
    const base = real.find(({ named }) => named === plain.root);
    if (!base) continue;
    const found = await follow(
      base.real,
      plain.segments,
      real.map((one) => one.real),
      file,
    );
    if (found !== undefined) return found;
  }
  if (!below) throw outside(file);
  if (hidden) throw refused(file, 'is hidden: names that begin with a dot are never read');
  throw new FileAway(file);
}

/** Where a file that is named so may lie, by its name alone; the first that exists is meant. Absolute. */
export function allowedPlaces(file: string, { roots, inbox }: AllowedFolders): string[] {
  if (path.isAbsolute(file)) return [path.normalize(file)];
  const plain = path.normalize(file);
  if (plain === '..' || plain.startsWith(`..${path.sep}`)) return [];
  const [first, ...rest] = plain.split(path.sep);
  const dropped = first === 'inbox' && rest.length > 0 ? [path.resolve(inbox, ...rest)] : [];
  return [...new Set([...dropped, ...roots.map((root) => path.resolve(root, file))])];
}

/** Roots that exist, by their names and by what these lead to. */
async function realRoots(roots: readonly string[]): Promise<{ readonly named: string; readonly real: string }[]> {
  const found: { named: string; real: string }[] = [];
  for (const root of new Set(roots.map((one) => path.resolve(one)))) {
    const real = await realpath(root).catch(() => undefined);
    found.push({ named: root, real: real ?? root });
    if (real !== undefined && real !== root) found.push({ named: real, real });
  }
  return found;
}

function placesBelow(file: string, roots: readonly string[]): { readonly root: string; readonly segments: string[] }[] {
  return roots.flatMap((root) => {
    const near = path.relative(root, file);
    const outside = near === '' || near === '..' || near.startsWith(`..${path.sep}`) || path.isAbsolute(near);
    return outside ? [] : [{ root, segments: near.split(path.sep) }];
  });
}

const isHidden = (segment: string): boolean => segment.startsWith('.');

/** Walks down from an allowed folder; undefined where nothing is there. */
async function follow(
  base: string,
  segments: readonly string[],
  roots: readonly string[],
  file: string,
): Promise<string | undefined> {
  let [at, rest, links] = [base, [...segments], 0];
  for (let segment = rest.shift(); segment !== undefined; segment = rest.shift()) {
    const next = path.join(at, segment);
    const info = await lstat(next).catch((error: unknown) => {
      const code = error instanceof Error && 'code' in error ? String(error.code) : '';
      if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
      throw refused(file, `cannot be looked at (${code || String(error)})`);
    });
    if (!info) return undefined;
    if (!info.isSymbolicLink()) {
      at = next;
      if (rest.length === 0 && !info.isFile()) {
        throw refused(file, info.isDirectory() ? 'is a folder; name a spreadsheet' : 'is a pipe or device, not a file');
      }
      continue;
    }
    if (++links > MAX_LINKS) throw refused(file, 'goes through a circle of symbolic links');
    const target = path.resolve(at, await readlink(next));
    if (roots.includes(target)) {
      if (rest.length === 0) throw refused(file, 'is a folder; name a spreadsheet');
      at = target;
      continue;
    }
    const place = placesBelow(target, roots).find((one) => !one.segments.some(isHidden));
    if (!place) throw outside(file);
    [at, rest] = [place.root, [...place.segments, ...rest]];
  }
  return at;
}

function outside(file: string): RunError {
  return new OutsideRoots(
    `The file ${quoted(file)} is not below a folder that this worker may read. Put it into the drop folder or the data ` +
      'folder, or name its folder in ROWFERRY_ROOTS of the worker.',
  );
}

function refused(file: string, why: string): RunError {
  return new RunError('usage', `The file ${quoted(file)} ${why}.`);
}

function quoted(file: string): string {
  return JSON.stringify(file.length > 200 ? `${file.slice(0, 197)}...` : file);
}
