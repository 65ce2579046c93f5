import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { bytesOf, type Pruned, type PruneOptions, pruneBefore, pruneRuns } from '../../runs/prune.js';
import { isRunId, readSummary } from '../../runs/run/list.js';
import { PLACES } from './claim.js';
import { DropFolder } from './drop-folder.js';

/** A folder or note that was removed, relative to the drop folder. */
export interface PrunedFolder {
  readonly path: string;
  readonly bytes: number;
}

/** Removes what lies of runs that ended long ago, in the data folder and in the drop folder. Contract, section 14. */
export async function prune(inbox: string, options: PruneOptions): Promise<Pruned & { folders: PrunedFolder[] }> {
  const runs = await pruneRuns(options);
  const folders = await pruneInbox(inbox, new Set(runs.left.map(({ run }) => run)), options);
  if (!options.dryRun) await new DropFolder(inbox).ledger.prune();
  return { ...runs, folders };
}

/** What was put away in `done/` and `failed/`: files, their reports, and notes. */
async function pruneInbox(inbox: string, needed: ReadonlySet<string>, options: PruneOptions): Promise<PrunedFolder[]> {
  const before = pruneBefore(options);
  const removed: PrunedFolder[] = [];
  for (const place of PLACES.filter((one) => one !== 'processing')) {
    for (const job of await foldersIn(join(inbox, place))) {
      for (const name of await readdir(join(inbox, place, job))) {
        const path = join(place, job, name);
        if (!(await isOld(join(inbox, path), before, needed))) continue;
        removed.push({ path, bytes: await bytesOf(join(inbox, path)) });
        if (!options.dryRun) await rm(join(inbox, path), { recursive: true, force: true });
      }
    }
  }
  return removed;
}

async function isOld(path: string, before: number, needed: ReadonlySet<string>): Promise<boolean> {
  const info = await lstat(path).catch(() => undefined);
  if (!info || info.isSymbolicLink()) return false;
  // A folder is as old as the last thing that was put into it.
  const summary = info.isDirectory() ? await readSummary(path).catch(() => undefined) : undefined;
  if (isRunId(summary?.run) && needed.has(summary.run)) return false;
  return (summary ? Date.parse(summary.finished_at) : info.mtimeMs) < before;
}

async function foldersIn(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
