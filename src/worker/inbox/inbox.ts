import type { Stats } from 'node:fs';
import { rename, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { diskErrorText } from '../../model/error.js';
import { makeSharedFolder, newRunId } from '../../runs/run/layout.js';
import { reached } from '../../trace/milestones.js';
import { type JobFiles, takesFiles } from '../job-files.js';
import { claimJobId } from '../jobs/job.js';
import { repeatEvery } from '../rights.js';
import type { Queue } from '../store/port.js';
import { type Claim, claimedName, claimOf, displayName, listClaims, safeSegment } from './claim.js';
import { errorCode, lstatIfExists, makeFolders } from './disk.js';
import type { DropFolder } from './drop-folder.js';
import { type Dropped, openAlerts, openFolderScan } from './folders.js';

export interface InboxOptions {
  /** Made where it is missing. */
  readonly folder: DropFolder;
  readonly jobsDir: string;
  /** The job files of `jobsDir` as they are now; rejects where they cannot be read. */
  readonly jobs: () => Promise<JobFiles>;
  /** Absolute paths that the schedules of these jobs read: never taken. */
  readonly scheduled: (jobs: JobFiles) => readonly string[];
  /** Whether the run of a claim was begun: then it goes on, whatever became of its job file since. Never, where absent. */
  readonly isBegun?: (run: string) => Promise<boolean>;
  /** `homeId` of this worker's data folder, and whether others share its queue. */
  readonly home?: { readonly id: string; readonly shared: boolean };
  /** Gets a job for every claim. */
  readonly queue: Pick<Queue, 'add' | 'getJob'>;
  readonly log: Logger;
  /** For the operator: said once each. */
  readonly notice: (level: 'info' | 'warn', text: string) => void;
  /** How long a file must have been left alone; 2000 where absent. Milliseconds. */
  readonly quietMs?: number;
}

export type Inbox = Awaited<ReturnType<typeof openInbox>>;

/** The folders are looked at this often: shares announce nothing. Milliseconds. */
const SCAN_EVERY_MS = 1000;
/** How often claims are looked through for those that no job stands for, in milliseconds. */
const RECHECK_EVERY_MS = 60_000;
/** An empty file is mostly one that is about to be filled: it waits this many times as long. */
const EMPTY_FACTOR = 5;

/** What tells that a file is still the same and was left alone. */
const fileVersion = ({ ino, size, mtimeMs }: Stats): string => `${ino} ${size} ${mtimeMs}`;

/**
 * Watches the drop folder until closed, by looking; contract section 9. Never rejects for a folder that is away: it says so
 * and keeps trying. The life of a dropped file:
 *
 *   waiting   in `<inbox>/<job>/`. Temporary names are ignored; what a schedule reads is left alone.
 *      │      It rests: inode, size and time stay for `quietMs` (an empty file: five times that), or its `.ready` is there and younger.
 *   taken     renamed into `processing/<job>/<run>/`: of several workers one has it, and puts its job on the queue.
 *      │      What is no plain file of one name (a link, a pipe), also one that was swapped in between, or belongs to no
 *      │      job, goes to `failed/`, unread.
 *      │      The run reads it (`drop-folder.ts`). Its content, for this job and company, is entered in the ledger; where
 *      │      another run had it, it goes to `done/` with a note, where one has it now, it is asked again in a while.
 *   ended     ledger settled, folder moved as a whole with its reports to `done/` or `failed/`.
 *
 * After a death, or where the queue has forgotten its job, a taken file is found by the next process that looks through
 * `processing/`, the folder being the truth, and its run is resumed. Every step may be done again.
 */
export async function openInbox(options: InboxOptions) {
  const { folder, jobsDir, home, queue, log, isBegun = async () => false, quietMs = 2000 } = options;
  const { dir } = folder;
  const alerts = openAlerts(options.notice);
  const scanFolders = openFolderScan(dir, alerts);
  /** Claims whose step is being done: the look that took one and the looking through may meet. */
  const inProgress = new Set<string>();
  /** How a file looks, and since when; of this process's own clock, which no change of the time moves. */
  let waiting = new Map<string, { readonly version: string; readonly since: number }>();
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let scanning: Promise<void> = Promise.resolve();

  async function readJobs(): Promise<JobFiles | undefined> {
    try {
      const jobs = await options.jobs();
      alerts.clear('jobs', `The jobs folder ${jobsDir} can be read again.`);
      return jobs;
    } catch (error) {
      const text = `The jobs folder ${jobsDir} cannot be read: ${diskErrorText(error)}. Nothing is taken from the drop folder.`;
      alerts.raise('jobs', text);
      return undefined;
    }
  }

  async function scanOnce(): Promise<void> {
    const jobs = await readJobs();
    const dropped = await scanFolders(jobs, jobs ? options.scheduled(jobs) : []);
    if (!dropped) return;
    const due = updateWaiting(dropped);
    for (const one of due) if (jobs && !closed) await tryClaim(one, jobs);
    alerts.clear('look');
  }

  /** Returns those that were left alone long enough, or have their marker, the oldest first. */
  function updateWaiting(dropped: readonly Dropped[]): Dropped[] {
    const before = waiting;
    waiting = new Map();
    const due: Dropped[] = [];
    for (const one of dropped) {
      const version = fileVersion(one.info);
      const seen = before.get(one.path);
      const since = seen?.version === version ? seen.since : performance.now();
      waiting.set(one.path, { version, since });
      const isStable = performance.now() - since >= (one.info.size === 0 ? EMPTY_FACTOR * quietMs : quietMs);
      if (isStable || one.marker?.isCurrent) due.push(one);
    }
    for (const path of before.keys()) if (!waiting.has(path)) alerts.clear(`take:${path}`);
    return due.sort((a, b) => a.info.mtimeMs - b.info.mtimeMs);
  }

  async function tryClaim(dropped: Dropped, jobs: JobFiles): Promise<void> {
    const { path, info } = dropped;
    try {
      const now = await lstatIfExists(path);
      if (!now || fileVersion(now) !== fileVersion(info)) return;
      const claim = await claimFile(dir, dropped, {
        note: async (one) => home && folder.ledger.recordHome(one, { taken: home.id, shared: home.shared }),
        forget: folder.ledger.forget,
      });
      waiting.delete(path);
      if (claim) await enqueueOrRefuse(claim, jobs);
    } catch (error) {
      const text = `The file ${displayName(path)} cannot be taken into ${dir}/processing: ${diskErrorText(error)}. It is tried again every few seconds.`;
      alerts.raise(`take:${path}`, text);
    }
  }

  /** Refuses what may not be read, and puts everything else on the queue. A fault leaves the claim for the next time. */
  async function enqueueOrRefuse(claim: Claim, jobs: JobFiles): Promise<void> {
    if (inProgress.has(claim.dir)) return;
    inProgress.add(claim.dir);
    const key = `claim:${claim.dir}`;
    try {
      const info = await lstatIfExists(claim.file);
      const isNew = info && !(await isBegun(claim.run));
      const reason = isNew && (fileKindFault(info) ?? jobFault(claim.job, jobs));
      if (reason) await refuse(claim, reason, jobs);
      else if (info) enqueueClaim(claim, jobs);
      alerts.clear(key);
    } catch (error) {
      const why = error instanceof Error && error.name === 'RunError' ? error.message : `${diskErrorText(error)}.`;
      alerts.raise(key, `The file ${displayName(claim.file)} was taken and cannot go on: ${why} It is tried again.`);
    } finally {
      inProgress.delete(claim.dir);
    }
  }

  async function refuse(claim: Claim, reason: string, jobs: JobFiles): Promise<void> {
    const done = jobs.get(claim.job)?.kind === 'reconcile' ? 'reconciled' : 'imported';
    const text = `"${displayName(claim.name)}" was not ${done}. Nothing was read and nothing was sent.\n\n${reason}\n`;
    const note = { name: 'ERROR.txt', text } as const;
    const ended = await folder.end(claim, { place: 'failed', result: 'refused', finished: false, note });
    const about = { job: claim.job, run: claim.run, file: claim.name, folder: ended };
    log.warn(about, `Refused: ${reason.split('\n')[0]}`);
  }

  /** Not waited for: the queue may be away for long. It drops a second job of the same id. */
  function enqueueClaim(claim: Claim, jobs: JobFiles): void {
    reached('claim-noted');
    const kind = jobs.get(claim.job)?.kind === 'reconcile' ? 'reconcile' : 'import';
    queue.add(kind, { job: claim.job, file: claim.file }, { jobId: claimJobId(claim) }).then(
      () => reached('offered'),
      (error: unknown) => log.warn({ job: claim.job, run: claim.run, err: error }, 'inbox.not_offered'),
    );
  }

  /** What a worker with a queue of its own has is at work there, for all that can be known here. */
  async function isForeign(claim: Claim): Promise<boolean> {
    const { taken, shared, begun = taken } = await folder.ledger.homesOf(claim);
    if (!home || begun === undefined || begun === home.id || (shared && home.shared)) return false;
    const text =
      `A worker with another data folder and another queue has the file ${displayName(claim.file)}: it is left to that worker. ` +
      `Where that one is gone for good, move the file back into ${claim.job}/ and delete the folder it was in. Workers on one drop folder share a queue on Redis or PostgreSQL.`;
    alerts.raise(`claim:${claim.dir}`, text);
    return true;
  }

  /** Offers again what lies in `processing/` and has no job: the queue may have forgotten it, or its process have died. */
  async function recheckClaims(): Promise<void> {
    try {
      const jobs = await readJobs();
      if (!jobs || closed) return;
      for (const claim of await listClaims(dir)) {
        if (await isForeign(claim)) continue;
        const job = await queue.getJob(claimJobId(claim));
        if (job && job.finishedOn === undefined) continue;
        // What ended without being put away had bad luck on its last step.
        await job?.remove();
        await enqueueOrRefuse(claim, jobs);
      }
    } catch (error) {
      log.warn({ err: error }, 'inbox.look_through');
    }
  }

  function scan(): Promise<void> {
    scanning = scanning.then(scanOnce).catch((error: unknown) => {
      alerts.raise('look', `The drop folder ${dir} cannot be looked at: ${diskErrorText(error)}. It is tried again.`);
    });
    return scanning;
  }

  async function watch(): Promise<void> {
    await scan();
    if (!closed) timer = setTimeout(() => void watch(), Math.min(SCAN_EVERY_MS, quietMs / 2));
  }

  await watch();
  // Not waited for: the queue may be away.
  void recheckClaims();
  const stopRecheck = repeatEvery(RECHECK_EVERY_MS, recheckClaims);
  return {
    async rescan(): Promise<void> {
      await scan();
      await recheckClaims();
    },
    async close(): Promise<void> {
      closed = true;
      clearTimeout(timer);
      stopRecheck();
      await scanning;
    },
    /** `ok`: the folder can be used now. `waiting`: files that were seen and not yet taken. */
    health(): { readonly ok: boolean; readonly problem?: string; readonly waiting: number } {
      const { problem } = alerts;
      return { ok: problem === undefined, ...(problem !== undefined && { problem }), waiting: waiting.size };
    },
  };
}

/** Ids of this process never fall into the same millisecond: many files come at once, and are run in their order. */
let lastRun = 0;

/**
 * Takes a file by renaming it into a folder of its own: of several workers one succeeds. Undefined where another one, or
 * whoever dropped it, was faster. Noted in `record` before, and forgotten where it is not taken. Rejects with the fault of the
 * file system; the file is then where it was.
 */
export async function claimFile(
  inbox: string,
  { job, path, name, marker }: Dropped,
  record?: { note(claim: Claim): Promise<void>; forget(claim: Claim): Promise<void> },
): Promise<Claim | undefined> {
  const parent = join(inbox, 'processing', safeSegment(job));
  await makeFolders(parent);
  lastRun = Math.max(Date.now(), lastRun + 1);
  const claim = claimOf(inbox, job, newRunId(new Date(lastRun)), claimedName(name));
  await makeSharedFolder(claim.dir);
  try {
    await record?.note(claim);
    // The marker first: it is of this file, and not of the next one of that name.
    if (marker) await unlink(marker.path);
    await rename(path, claim.file);
    reached('claimed');
  } catch (error) {
    await rmdir(claim.dir).catch(() => undefined);
    await record?.forget(claim).catch(() => undefined);
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
  return claim;
}

/** Why what was dropped is not read, as ERROR.txt says it; undefined for a plain file. */
function fileKindFault(info: Stats): string | undefined {
  if (info.isSymbolicLink()) {
    return 'It is a symbolic link, and links are never followed: they may lead to any file of this machine.\nCopy the file itself into the drop folder.';
  }
  const kind =
    (info.isFIFO() && 'a named pipe') ||
    (info.isSocket() && 'a socket') ||
    (info.isDirectory() && 'a folder') ||
    (!info.isFile() && 'a device');
  if (kind) return `It is ${kind}, not a file. Put the file itself into the drop folder.`;
  if (info.nlink > 1) {
    return (
      `The file has ${info.nlink} names (hard links): it lies in another place as well, and may be changed there while it is read.\n` +
      'Copy the file into the drop folder instead of linking it.'
    );
  }
  return undefined;
}

/** A job file with faults is told of by the run. */
function jobFault(name: string, jobs: JobFiles): string | undefined {
  const job = jobs.get(name);
  if (job && (job.faulty || takesFiles(job))) return undefined;
  const why = job
    ? `The job "${displayName(name)}" is an export, and takes no files from the drop folder.`
    : `The folder "${displayName(name)}" belongs to no job: a folder of the drop folder has the name of a job.`;
  const takers = [...jobs.values()]
    .filter((one) => takesFiles(one) && !one.faulty)
    .map((one) => `  ${displayName(one.name)}\n`);
  return `${why}\nJobs that take files:\n${takers.sort().join('') || '  none\n'}Put the file into the folder of one of them.`;
}
