import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { RunError } from '../../model/error.js';
import { makeSharedFolder } from '../../runs/run/layout.js';
import type { Settings } from '../../runs/settings.js';
import { codeOf } from '../inbox/disk.js';
import { OutsideRoots, type Place, placeIn, quoted, realRoots, refused } from './roots.js';

/** Where exports of the queue may be written: below `roots`, and not in the folders that have another purpose. */
export interface TargetFolders {
  /** Absolute. */
  readonly roots: readonly string[];
  readonly home: string;
  readonly inbox: string;
  readonly jobsDir: string;
}

export function targetFolders({ worker, home, jobsDir }: Settings, roots = worker.roots): TargetFolders {
  return { roots, home, inbox: worker.inbox, jobsDir };
}

/** Folders and files of the data folder that hold what rowferry itself relies on. */
const OWN = ['runs', 'uploads', 'queue', 'jobs', 'service', 'home.db', 'home.db-wal', 'home.db-shm'];

/**
 * Absolute path of the file that an export is to write, its folders not made yet. Links are followed by hand, as they are
 * for files that are read (`fileBelowRoots`): nothing outside the allowed folders is looked at.
 *
 * A relative path is meant below the first allowed folder that has its folder already, else below the first; the data
 * folder comes last.
 * @throws RunError `usage` for a path that may not be written; `OutsideRoots` where another worker may have that folder.
 */
export async function targetBelowRoots(file: string, folders: TargetFolders): Promise<string> {
  return wholePath(await placeOf(file, folders));
}

/** The same, and makes the folders on the way that are missing. */
export async function makeTarget(file: string, folders: TargetFolders): Promise<string> {
  const place = await placeOf(file, folders);
  let folder = place.at;
  for (const name of place.missing.slice(0, -1)) {
    folder = path.join(folder, name);
    try {
      await makeSharedFolder(folder);
    } catch (error) {
      if (codeOf(error) === 'EEXIST') continue;
      throw new RunError('failed', `The folder ${folder} for the export cannot be made (${codeOf(error)}).`, [], {
        cause: error,
      });
    }
  }
  const target = wholePath(place);
  // Somebody may have put a link where there was nothing a moment ago.
  const real = await realpath(path.dirname(target)).catch(() => undefined);
  if (real !== path.dirname(target)) throw outside(file);
  return target;
}

async function placeOf(file: string, folders: TargetFolders): Promise<Place> {
  if (file === '' || file.includes('\0')) throw refused(file, 'is no path');
  if (/[/\\]$/.test(file)) throw refused(file, 'is a folder; name a file to write');
  const real = await realRoots([...folders.roots, folders.inbox]);
  const found: (Place & { readonly own: boolean })[] = [];
  let hidden = false;
  for (const candidate of candidates(file, folders)) {
    const place = await placeIn(real, candidate, file, outside);
    hidden ||= place === 'hidden';
    if (typeof place !== 'string') found.push({ ...place, own: await isOwn(wholePath(place), folders) });
  }
  const fit = found.filter(({ own }) => !own);
  // The data folder's own folders are nobody's first thought where the same name may lie in another folder.
  const chosen = found.at(-1)?.own && fit.length > 0 ? found.slice(0, -1) : found;
  const place = chosen.find(({ missing }) => missing.length <= 1) ?? chosen[0];
  if (!place) throw hidden ? refused(file, 'is hidden: names that begin with a dot are never written') : outside(file);
  if (place.own) throw refused(file, `lies ${OWN_TEXT}; name another folder`);
  if (place.missing.length === 0 && place.kind === 'folder') throw refused(file, 'is a folder; name a file to write');
  if (place.missing.length === 0 && place.kind === 'other') throw refused(file, 'is a pipe or device, not a file');
  if (place.missing.length > 0 && place.kind !== 'folder') {
    throw refused(file, `has a file where a folder should be: ${path.basename(place.at)}`);
  }
  return place;
}

/** Where the file may be meant, by its name alone, the likeliest first. */
function candidates(file: string, { roots, home, inbox }: TargetFolders): string[] {
  if (path.isAbsolute(file)) return [path.normalize(file)];
  const [first, ...rest] = path.normalize(file).split(path.sep);
  if (first === '..') return [];
  // In data of jobs this is the name of the drop folder, wherever that is.
  if (first === 'inbox') return [path.resolve(inbox, ...rest)];
  const others = roots.filter((root) => root !== home && root !== inbox);
  return [...new Set([...others, home])].map((root) => path.resolve(root, file));
}

const OWN_TEXT = 'in the drop folder, in the jobs folder or among what rowferry keeps in its data folder';

/** A file there would be imported, be taken for a job, or replace what a run relies on. */
async function isOwn(target: string, { home, inbox, jobsDir }: TargetFolders): Promise<boolean> {
  const real = async (folder: string) => realpath(folder).catch(() => folder);
  const base = await real(home);
  const own = [inbox, await real(inbox), ...OWN.map((name) => path.join(base, name))];
  // Job files lie directly in their folder; what lies deeper is none.
  const jobs = [jobsDir, await real(jobsDir)];
  return jobs.includes(path.dirname(target)) || own.some((folder) => target.startsWith(folder + path.sep));
}

function wholePath({ at, missing }: Place): string {
  return path.join(at, ...missing);
}

function outside(file: string): RunError {
  return new OutsideRoots(
    `The file ${quoted(file)} is not below a folder that this worker may write to. Name one below its working folder or ` +
      'its data folder, or name the folder in ROWFERRY_ROOTS of the worker.',
  );
}
