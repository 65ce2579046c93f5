import type { Stats } from 'node:fs';
import { lstat, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readRequest } from './run/earlier-run.js';
import { jobKey, type RunFolder, runFolder } from './run/layout.js';
import { listRuns, type RunEntry, readRunSummary } from './run/list.js';
import { LockHeld, takeLock } from './run/lock.js';

const DAY_MS = 86_400_000;

/** What stays of a run: what it was asked to do, how it ended, and who approved its plan. */
const KEPT: ReadonlySet<string> = new Set(['run.json', 'summary.json', 'approved.json', 'lock']);

export interface PruneOptions {
  readonly home: string;
  /** What ended longer ago is removed. */
  readonly keepDays: number;
  /** Only says what would be removed. */
  readonly dryRun: boolean;
  /** Milliseconds since 1970. */
  readonly now?: number;
}

export interface Pruned {
  /** Runs of which something was removed, oldest first. */
  readonly removed: readonly { readonly run: string; readonly bytes: number }[];
  /** Runs that ended long enough ago and stay whole, and why. */
  readonly left: readonly { readonly run: string; readonly why: string }[];
}

/** The moment, in milliseconds since 1970, before which a run has to have ended. */
export const pruneBefore = ({ keepDays, now = Date.now() }: Pick<PruneOptions, 'keepDays' | 'now'>): number =>
  now - keepDays * DAY_MS;

/**
 * Removes what lies of runs that ended long ago: copies of files, rows, plans, `before`, reports. What they were asked to do
 * and their summaries stay. Contract, section 14. Killed in the middle, it goes on where it was.
 */
export async function pruneRuns(options: PruneOptions): Promise<Pruned> {
  const { home, dryRun } = options;
  const before = pruneBefore(options);
  const entries = await listRuns(home);
  const needed = await neededRuns(home, entries);
  const removed: { run: string; bytes: number }[] = [];
  const left: { run: string; why: string }[] = [];
  for (const { run } of entries.reverse()) {
    const ended = await endOf(home, run);
    if (ended !== undefined && ended >= before) continue;
    const why = needed.get(run);
    const folder = runFolder(home, run);
    if (why !== undefined) {
      if (ended !== undefined || (await ageOf(folder)) < before) left.push({ run, why });
      continue;
    }
    const bytes = dryRun ? await sizeOf(folder) : await emptyFolder(folder);
    if (bytes > 0) removed.push({ run, bytes });
  }
  return { removed, left };
}

/** Runs that must stay whole, by why. */
async function neededRuns(home: string, entries: readonly RunEntry[]): Promise<Map<string, string>> {
  const needed = new Map<string, string>();
  const latest = new Set<string>();
  // Newest first.
  for (const entry of entries) {
    const { run, kind, status } = entry;
    const why = await whyOpen(home, entry);
    if (why !== undefined) needed.set(run, why);
    if (why !== undefined && entry.ofRun !== undefined) needed.set(entry.ofRun, `the run ${run} goes on with it`);
    if (kind !== 'reconcile') continue;
    const request = await readRequest(runFolder(home, run));
    const job = request && `${jobKey(request.job, home)} ${request.company}`;
    if (job === undefined || latest.has(job)) continue;
    latest.add(job);
    const waits = status === 'braked' || entry.dryRun;
    if (waits && !needed.has(run)) needed.set(run, 'it is the last night of its job, and may be approved');
  }
  return needed;
}

/** Why a run has not come to its end; undefined where it has. */
async function whyOpen(home: string, { run, kind, status, dryRun }: RunEntry): Promise<string | undefined> {
  if (status === 'running') return 'a process is at work on it';
  if (status === 'unfinished' || status === 'interrupted') return `it is ${status}, and can be resumed`;
  if (status !== 'failed' || kind === 'export' || dryRun) return undefined;
  const summary = await readRunSummary(home, run);
  return summary && summary.requests.writes > 0 ? 'it failed while it was writing, and can be resumed' : undefined;
}

/** Milliseconds since 1970; undefined where the run has no summary. */
async function endOf(home: string, run: string): Promise<number | undefined> {
  const summary = await readRunSummary(home, run);
  return summary && Date.parse(summary.finished_at);
}

async function ageOf({ dir }: RunFolder): Promise<number> {
  return (await stat(dir)).mtimeMs;
}

async function sizeOf({ dir }: RunFolder): Promise<number> {
  let bytes = 0;
  for (const name of await readdir(dir)) if (!KEPT.has(name)) bytes += await bytesOf(join(dir, name));
  return bytes;
}

/** The store last: while it is there, the run counts as whole. */
async function emptyFolder(folder: RunFolder): Promise<number> {
  let unlock: () => Promise<void>;
  try {
    unlock = await takeLock(folder.lock, `The run ${folder.run}`);
  } catch (error) {
    if (error instanceof LockHeld) return 0;
    throw error;
  }
  try {
    const bytes = await sizeOf(folder);
    const names = (await readdir(folder.dir)).filter((name) => !KEPT.has(name) && !name.startsWith('lock'));
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
export async function bytesOf(path: string): Promise<number> {
  const info: Stats | undefined = await lstat(path).catch(() => undefined);
  if (!info?.isDirectory()) return info?.size ?? 0;
  let bytes = 0;
  for (const name of await readdir(path)) bytes += await bytesOf(join(path, name));
  return bytes;
}
