import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { bytesOf, changedAt, type Pruned, type PruneOptions, pruneBefore, pruneRuns } from '../../runs/prune.js';
import { isRunId, readSummary } from '../../runs/run/list.js';
import { ordered } from '../jobs/home.js';
import { PLACES, RESULT } from './claim.js';
import { DropFolder } from './drop-folder.js';

/** A folder that was removed, relative to the drop folder. */
export interface PrunedFolder {
  readonly path: string;
  readonly bytes: number;
}

/** Removes what lies of runs that ended long ago, in the data folder and in the drop folder. Contract, section 14. */
export async function prune(inbox: string, options: PruneOptions): Promise<Pruned & { folders: PrunedFolder[] }> {
  const runs = await pruneRuns({ ...options, ordered: ordered(options.home) });
  const folders = await pruneInbox(inbox, new Set(runs.left.map(({ run }) => run)), options);
  if (!options.dryRun) await new DropFolder(inbox).ledger.prune();
  return { ...runs, folders };
}

/** What was put away in `done/` and `failed/`: a folder a run, with its file, its reports or a note. */
async function pruneInbox(inbox: string, needed: ReadonlySet<string>, options: PruneOptions): Promise<PrunedFolder[]> {
  const before = pruneBefore(options);
  const removed: PrunedFolder[] = [];
  for (const job of await foldersIn(inbox)) {
    for (const name of await readdir(join(inbox, job)).catch(() => [])) {
      const path = join(inbox, job, name);
      const isOldNote =
        name.endsWith(RESULT) &&
        (await lstat(path).then(
          ({ mtimeMs }) => mtimeMs < before,
          () => false,
        ));
      if (isOldNote && !options.dryRun) await removeWhole(path);
    }
  }
  for (const place of PLACES.filter((one) => one !== 'processing')) {
    for (const job of await foldersIn(join(inbox, place))) {
      // What is named otherwise was put there by somebody else.
      for (const name of (await foldersIn(join(inbox, place, job))).filter((one) => ENDED.test(one))) {
        const path = join(place, job, name);
        if (!(await isOld(join(inbox, path), before, needed).catch(() => false))) continue;
        const bytes = await bytesOf(join(inbox, path));
        const gone = options.dryRun || (await removeWhole(join(inbox, path)));
        if (gone) removed.push({ path, bytes });
      }
    }
  }
  return removed;
}

/** False where it may not be removed, or not yet: the others are. */
const removeWhole = (path: string): Promise<boolean> =>
  rm(path, { recursive: true, force: true }).then(
    () => true,
    () => false,
  );

/** How names of folders begin in which claims end: `endedPrefix`. */
const ENDED = /^\d{4}-\d\d-\d\d \d\d\.\d\d /;

/** A folder is as old as the last thing that was put into it: people correct rejected rows where they lie. */
async function isOld(path: string, before: number, needed: ReadonlySet<string>): Promise<boolean> {
  const summary = await readSummary(path).catch(() => undefined);
  if (isRunId(summary?.run) && needed.has(summary.run)) return false;
  const ended = summary ? Date.parse(summary.finished_at) : (await lstat(path)).mtimeMs;
  return Math.max(ended, await changedAt(path)) < before;
}

/** Links are no folders. */
async function foldersIn(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
