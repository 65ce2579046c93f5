import { existsSync, type Stats } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { errorText, isDiskFull } from '../model/error.js';
import { readRequest } from './run/earlier-run.js';
import { jobKey, type RunFolder, runFolder } from './run/layout.js';
import { type RunEntry, readRun, readRunSummary, runIds } from './run/list.js';
import { LockedError, takeLock } from './run/lock.js';
import type { StoredRequest } from './run/run.js';
import { queryStore, readAsOf } from './run/table.js';

const DAY_MS = 86_400_000;

/** What stays of a run: what it was asked to do, how it ended, and who approved its plan. */
const KEPT_FILES: ReadonlySet<string> = new Set(['run.json', 'summary.json', 'approved.json', 'lock']);

export interface PruneOptions {
  readonly home: string;
  /** What ended longer ago is removed. */
  readonly keepDays: number;
  /** Only says what would be removed. */
  readonly dryRun: boolean;
  /** Milliseconds since 1970. */
  readonly now?: number;
  /** Runs that somebody ordered to be taken up, each with the run that is to do it. */
  readonly ordered?: ReadonlyMap<string, string>;
}

export interface Pruned {
  /** Runs of which something was removed, oldest first. */
  readonly removed: readonly { readonly run: string; readonly bytes: number }[];
  /** Runs that ended long enough ago and stay whole, and why. */
  readonly left: readonly { readonly run: string; readonly why: string }[];
}

/** The moment, in milliseconds since 1970, before which a run has to have ended. */
export const pruneCutoff = ({ keepDays, now = Date.now() }: Pick<PruneOptions, 'keepDays' | 'now'>): number =>
  now - keepDays * DAY_MS;

/**
 * Removes what lies of runs that ended long ago: copies of files, rows, plans, `before`, reports. What they were asked to do
 * and their summaries stay. Contract, section 14. Killed in the middle, it goes on where it was.
 */
export async function pruneRuns(options: PruneOptions): Promise<Pruned> {
  const { home, dryRun, ordered = new Map<string, string>() } = options;
  const cutoff = pruneCutoff(options);
  const removed: { run: string; bytes: number }[] = [];
  const left: { run: string; why: string }[] = [];
  /** Runs that must stay whole, by why. */
  const needed = new Map([...ordered].map(([of, run]) => [of, `the run ${run} is to take it up`]));
  const latest = new Set<string>();
  const old: RunFolder[] = [];
  // Newest first: what a run needs is older than it.
  for (const run of await runIds(home)) {
    const folder = runFolder(home, run);
    // What is no folder of ours is nothing to be removed.
    if (!(await lstat(folder.dir).catch(() => undefined))?.isDirectory()) continue;
    const needs: (string | undefined)[] = [];
    try {
      const entry = await readRun(home, run);
      const request = entry.kind === 'export' ? undefined : readRequest(folder);
      const open = await openReason(home, entry);
      const approvable = approvalReason(home, entry, request, latest);
      const why = open ?? needed.get(run) ?? approvable;
      needs.push((open ?? approvable) && entry.of_run, editedFrom(request), open && request?.lineage?.plannedBy);
      const ended = await endOf(home, entry);
      const isOld = ended === undefined || ended < cutoff;
      if (isOld && why === undefined) {
        old.push(folder);
        continue;
      }
      if (isOld && why !== undefined && (ended !== undefined || (await changedAt(folder.dir)) < cutoff))
        left.push({ run, why });
    } catch (error) {
      left.push({ run, why: errorText(error) });
    }
    for (const other of [...needs, handedBackBy(folder)])
      if (other !== undefined) needed.set(other, `the run ${run} needs it`);
  }
  for (const folder of old) {
    const { run } = folder;
    try {
      const bytes = dryRun ? await prunableBytes(folder) : await pruneFolder(folder);
      if (bytes > 0) removed.push({ run, bytes });
    } catch (error) {
      left.push({ run, why: errorText(error) });
    }
  }
  return { removed: removed.reverse(), left: left.sort((a, b) => (a.run < b.run ? -1 : 1)) };
}

/** Why a run may still be approved: it is the last of its job. Asked of the latest run first. */
function approvalReason(
  home: string,
  { kind, status, dry_run: dryRun, manner }: RunEntry,
  request: StoredRequest | undefined,
  latest: Set<string>,
): string | undefined {
  // A rehearsal of an import does not stand for it, and waits for nobody.
  if (!request || (kind === 'import' && dryRun) || manner === 'retry') return undefined;
  const job = `${kind} ${jobKey(request.job, home)} ${request.company}`;
  if (latest.has(job)) return undefined;
  latest.add(job);
  const waits = status === 'braked' || (kind === 'reconcile' && dryRun);
  return waits ? `it is the last ${kind === 'reconcile' ? 'night' : 'run'} of its job, and may be approved` : undefined;
}

/** The export whose file a run imports: it knows what was written into it. */
const editedFrom = (request: StoredRequest | undefined): string | undefined =>
  request?.job.job.kind === 'import' ? request.job.job.edited_from : undefined;

/** The run that handed back the rows that a run imports: their texts are read as that run read them. */
const handedBackBy = (folder: RunFolder): string | undefined => queryStore(folder, readAsOf)?.handedBackBy;

/** Why a run has not come to its end; undefined where it has. */
async function openReason(home: string, { run, kind, status, dry_run: dryRun }: RunEntry): Promise<string | undefined> {
  if (status === 'running') return 'a process is at work on it';
  if (status === 'unfinished' || status === 'interrupted') return `it is ${status}, and can be resumed`;
  if (status !== 'failed' || kind === 'export' || dryRun) return undefined;
  const summary = await readRunSummary(home, run);
  return summary && summary.requests.writes > 0 ? 'it failed while it was writing, and can be resumed' : undefined;
}

/**
 * When it was last worked with, in milliseconds since 1970; undefined where the run has no summary. People correct rejected
 * rows where they lie, and imports of an edited export note in it what they wrote.
 */
async function endOf(home: string, entry: RunEntry): Promise<number | undefined> {
  const { run, report_dir: reports, reports_of: other } = entry;
  const summary = await readRunSummary(home, run);
  if (!summary) return undefined;
  const ended = Date.parse(summary.finished_at);
  if (Number.isNaN(ended)) throw new Error(`its summary does not say when it ended: "${summary.finished_at}"`);
  const dirs = [runFolder(home, run).dir, ...(other === undefined && existsSync(reports) ? [reports] : [])];
  return Math.max(ended, ...(await Promise.all(dirs.map((dir) => changedAt(dir, /^(?:rejected\.\w+|base\.db)$/)))));
}

/** When the last of the entries of a folder was changed, in milliseconds since 1970; 0 where there is none. */
export async function changedAt(dir: string, names = /./): Promise<number> {
  let latest = 0;
  for (const name of await readdir(dir)) {
    if (!names.test(name)) continue;
    const info = await lstat(join(dir, name)).catch(() => undefined);
    latest = Math.max(latest, info?.mtimeMs ?? 0);
  }
  return latest;
}

async function prunableBytes({ dir }: RunFolder): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(dir)) if (!KEPT_FILES.has(name)) bytes += await diskUsage(join(dir, name));
  return bytes;
}

/** The store last: while it is there, the run counts as whole. */
async function pruneFolder(folder: RunFolder): Promise<number> {
  let unlock = async (): Promise<void> => {};
  try {
    unlock = await takeLock(folder.lock, `The run ${folder.run}`);
  } catch (error) {
    if (error instanceof LockedError) return 0;
    // A full disk is what people prune for: there is no room for a lock, and nobody works on a run that has ended.
    if (!isDiskFull(error)) throw error;
  }
  try {
    const bytes = await prunableBytes(folder);
    const names = (await readdir(folder.dir)).filter((name) => !KEPT_FILES.has(name) && !name.startsWith('lock'));
    const isStore = (name: string) => join(folder.dir, name).startsWith(folder.store);
    for (const name of names.sort((a, b) => Number(isStore(a)) - Number(isStore(b)))) {
      await rm(join(folder.dir, name), { recursive: true, force: true });
    }
    return bytes;
  } finally {
    await unlock();
  }
}

/** Bytes of a file, or of all files below a folder; links are not followed. */
export async function diskUsage(path: string): Promise<number> {
  const info: Stats | undefined = await lstat(path).catch(() => undefined);
  if (!info?.isDirectory()) return info?.size ?? 0;
  let bytes = 0;
  // Another process may remove it at the same time.
  for (const name of await readdir(path).catch(() => [])) bytes += await diskUsage(join(path, name));
  return bytes;
}
