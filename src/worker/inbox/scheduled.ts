import { realpath } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';

/** Files that schedules read: whoever puts them there means the schedule, not the drop folder. */
export interface Scheduled {
  has(folder: string, name: string): boolean;
  /** Whether a schedule reads anything in a folder, or below it. */
  within(folder: string): boolean;
}

/** Links on the way are followed: the same file may be named in two ways. `dir` is where later questions begin. */
export async function readScheduled(paths: readonly string[], dir: string): Promise<Scheduled> {
  const real = async (path: string) => realpath(path).catch(() => resolve(path));
  const files = new Set<string>();
  for (const path of paths) {
    files.add(resolve(path));
    files.add(join(await real(dirname(resolve(path))), basename(path)));
  }
  const root = await real(dir);
  const both = (path: string) => [path, path.startsWith(dir) ? root + path.slice(dir.length) : path];
  return {
    has: (folder, name) => both(join(folder, name)).some((path) => files.has(path)),
    within: (folder) => both(folder).some((path) => [...files].some((file) => file.startsWith(path + sep))),
  };
}
