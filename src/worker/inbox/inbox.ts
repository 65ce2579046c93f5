import type { BigIntStats } from 'node:fs';
import { rename, rmdir, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Queue } from 'bullmq';
import type { Logger } from 'pino';
import { diskWords } from '../../model/error.js';
import { makeSharedFolder, newRunId } from '../../runs/run/layout.js';
import { reached } from '../../trace/milestones.js';
import { type JobFiles, type TakingKind, takesFiles } from '../job-files.js';
import { claimJobId } from '../jobs/job.js';
import { every } from '../rights.js';
import { type Claim, claimedName, claimFolders, claimOf, listClaims, markComplete, segment, shown } from './claim.js';
import { codeOf, lookAtEntry, type Mark, makeFolders, openPlain, sameMark } from './disk.js';
import type { DropFolder } from './drop-folder.js';
import { type Dropped, openFolders, openTroubles, takerNames } from './folders.js';

export interface InboxOptions {
  /** Made where it is missing. */
  readonly folder: DropFolder;
  readonly jobsDir: string;
  /** The job files of `jobsDir` as they are now; rejects where they cannot be read. */
  readonly jobs: () => Promise<JobFiles>;
  /** Absolute paths that the schedules of these jobs read: never taken. */
  readonly scheduled: (jobs: JobFiles) => readonly string[];
  /** Told of every claim once its file is complete, several at a time. What it throws is logged; `listClaims` still has the claim. */
  readonly offer: (claim: Claim) => Promise<void>;
  readonly log: Logger;
  /** For the operator: said once each. */
  readonly notice: (level: 'info' | 'warn', text: string) => void;
  /** False while no more files are to be taken. */
  readonly mayTake: () => boolean;
  /** How long a file must have been left alone; 2000 where absent. Milliseconds. */
  readonly quietMs?: number;
}

export type Inbox = Awaited<ReturnType<typeof openInbox>>;

/** The folders are looked at this often: shares announce nothing, and the rest is soon said by a look. Milliseconds. */
const LOOK_EVERY_MS = 1000;
/** Looking takes a third of the time at most. */
const REST = 2;
/** Claims of processes that are gone are looked for this often. */
const ADOPT_EVERY_MS = 10_000;
/** An empty file is mostly one that is about to be filled: it waits this many times as long. */
const EMPTY = 5;
/** An empty folder is between its making and the rename, for the blink of an eye. */
const EMPTY_FOLDER_MS = 60_000;

/** A file, and since when it has looked as it does; of this process's own clock, which no change of the time moves. */
interface Resting {
  readonly mark: Mark;
  readonly since: number;
}

/** One that looks otherwise than before begins to rest anew. */
function rest(before: Resting | undefined, { ino, size, mtimeNs }: Mark): Resting {
  if (before && sameMark(before.mark, { ino, size, mtimeNs })) return before;
  return { mark: { ino, size, mtimeNs }, since: performance.now() };
}

interface Taken {
  readonly claim: Claim;
  resting: Resting | undefined;
}

/**
 * Watches the drop folder until closed, by looking; contract section 9. Never rejects for a folder that is away: it says so
 * and keeps trying. The life of a dropped file:
 *
 *   waiting   in `<inbox>/<job>/`. Temporary names are ignored; what a schedule reads is left alone.
 *      │      It rests: inode, size and time stay for `quietMs` (an empty file: five times that), or its `.ready` is there and younger.
 *   taken     renamed into `processing/<job>/<run>/`: of several workers one has it. Whoever had it open goes on writing
 *      │      into it there, so it must rest for a quarter of that, or anew where it changed.
 *      │      What is no plain file of one name (a link, a pipe), also one that was swapped in between, or belongs to no
 *      │      job, goes to `failed/`, unread.
 *   complete  a mark lies beside it, made by one process, which puts its job on the queue.
 *      │      The run reads it (`drop-folder.ts`). Its content, for this job and company, is entered in the ledger; where
 *      │      another run had it, it goes to `done/` with a note, where one has it now, it is asked again in a while.
 *   ended     ledger settled, folder moved as a whole with its reports to `done/` or `failed/`.
 *
 * After a death a taken file is adopted by the next process that looks, a complete one is offered again (`listClaims`), and
 * its run is resumed. Every step may be done again.
 */
export async function openInbox(options: InboxOptions) {
  const { folder, jobsDir, log, mayTake, quietMs = 2000 } = options;
  const { dir } = folder;
  const troubles = openTroubles(options.notice);
  const lookAround = openFolders(dir, troubles);
  const takens = new Map<string, Taken>();
  let waiting = new Map<string, Resting>();
  let adoptedAt = Number.NEGATIVE_INFINITY;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;

  async function readJobs(): Promise<JobFiles | undefined> {
    try {
      const jobs = await options.jobs();
      troubles.over('jobs', `The jobs folder ${jobsDir} can be read again.`);
      return jobs;
    } catch (error) {
      const text = `The jobs folder ${jobsDir} cannot be read: ${diskWords(error)}. Nothing is taken from the drop folder.`;
      troubles.tell('jobs', text);
      return undefined;
    }
  }

  async function lookOnce(): Promise<void> {
    const jobs = await readJobs();
    const dropped = await lookAround(jobs, jobs ? options.scheduled(jobs) : []);
    if (!dropped) return;
    const due = noteWaiting(dropped);
    for (const one of due) {
      if (!jobs || closed || !mayTake()) break;
      await takeOne(one);
    }
    const now = performance.now();
    if (now - adoptedAt >= ADOPT_EVERY_MS) {
      adoptedAt = now;
      await adopt();
    }
    if (jobs) await Promise.all([...takens.values()].map((taken) => step(taken, jobs)));
    troubles.over('look');
  }

  const keyOf = ({ path }: Dropped): string => path.toString('latin1');
  const dueAt = ({ mark, since }: Resting): number => since + (mark.size === 0n ? EMPTY * quietMs : quietMs);

  /** Returns those that were left alone long enough, or have their marker, the oldest first. */
  function noteWaiting(dropped: readonly Dropped[]): Dropped[] {
    const before = waiting;
    waiting = new Map();
    const due: Dropped[] = [];
    for (const one of dropped) {
      const entry = rest(before.get(keyOf(one)), one.info);
      waiting.set(keyOf(one), entry);
      if (one.marker?.young || performance.now() >= dueAt(entry)) due.push(one);
    }
    for (const key of before.keys()) if (!waiting.has(key)) troubles.over(`take:${key}`);
    return due.sort((a, b) => (a.info.mtimeNs < b.info.mtimeNs ? -1 : a.info.mtimeNs > b.info.mtimeNs ? 1 : 0));
  }

  async function takeOne(dropped: Dropped): Promise<void> {
    const { path, info, marker } = dropped;
    try {
      const now = await lookAtEntry(path);
      if (!now || !sameMark(info, now)) return;
      const claim = await take(dir, dropped);
      // It has rested but for a quarter: whoever had it open may go on writing.
      const since = marker?.young ? Number.NEGATIVE_INFINITY : performance.now() - 0.75 * quietMs;
      if (claim) takens.set(claim.dir, { claim, resting: { ...rest(undefined, info), since } });
      waiting.delete(keyOf(dropped));
    } catch (error) {
      const file = shown(path.toString('utf8'));
      const text = `The file ${file} cannot be taken into ${dir}/processing: ${diskWords(error)}. It is tried again every few seconds.`;
      troubles.tell(`take:${keyOf(dropped)}`, text);
    }
  }

  /** Finds claims whose process is gone, and removes folders that were left empty. */
  async function adopt(): Promise<void> {
    for (const { dir: place, claim, complete } of await claimFolders(dir)) {
      if (complete || takens.has(place)) continue;
      if (claim) takens.set(place, { claim, resting: undefined });
      else {
        const info = await lookAtEntry(place);
        // It may not be empty, or have ended meanwhile.
        if (info && Date.now() - Number(info.mtimeMs) > EMPTY_FOLDER_MS) await rmdir(place).catch(() => undefined);
      }
    }
  }

  /** A fault leaves the claim for the next look. */
  async function step(taken: Taken, jobs: JobFiles): Promise<void> {
    const { claim } = taken;
    const key = `settle:${claim.dir}`;
    try {
      if (await settle(taken, jobs)) {
        takens.delete(claim.dir);
        troubles.over(key);
      }
    } catch (error) {
      const why = error instanceof Error && error.name === 'RunError' ? error.message : `${diskWords(error)}.`;
      troubles.tell(key, `The file ${shown(claim.file)} was taken and cannot go on: ${why} It is tried again.`);
    }
  }

  /** True where the claim is not to be looked after any more. */
  async function settle(taken: Taken, jobs: JobFiles): Promise<boolean> {
    const { claim } = taken;
    const info = await lookAtEntry(claim.file);
    if (!info) {
      await rmdir(claim.dir).catch(() => undefined);
      return true;
    }
    const reason = kindFault(info) ?? jobFault(claim.job, jobs);
    if (reason !== undefined) {
      await refuse(claim, reason, jobs);
      return true;
    }
    taken.resting = rest(taken.resting, await freshMark(claim.file).catch(() => info));
    if (performance.now() - taken.resting.since < quietMs) return false;
    if (await markComplete(claim)) offer(claim);
    return true;
  }

  async function refuse(claim: Claim, reason: string, jobs: JobFiles): Promise<void> {
    const done = jobs.get(claim.job)?.kind === 'reconcile' ? 'reconciled' : 'imported';
    const text = `"${shown(claim.name)}" was not ${done}. Nothing was read and nothing was sent.\n\n${reason}\n`;
    const note = { name: 'ERROR.txt', text } as const;
    const ended = await folder.end(claim, { place: 'failed', result: 'refused', finished: false, note });
    const about = { job: claim.job, run: claim.run, file: claim.name, folder: ended };
    log.warn(about, `Refused: ${reason.split('\n')[0]}`);
  }

  /** Not waited for: the queue may be away for long. */
  function offer(claim: Claim): void {
    reached('claim-noted');
    void Promise.resolve()
      .then(() => options.offer(claim))
      .catch((error: unknown) => log.warn({ job: claim.job, run: claim.run, err: error }, 'inbox.not_offered'));
  }

  function look(): Promise<void> {
    const begun = performance.now();
    looking ??= lookOnce()
      .catch((error: unknown) => {
        troubles.tell('look', `The drop folder ${dir} cannot be looked at: ${diskWords(error)}. It is tried again.`);
      })
      .finally(() => {
        looking = undefined;
        clearTimeout(timer);
        const ms = Math.max(20, REST * (performance.now() - begun), untilNext());
        if (!closed) timer = setTimeout(() => void look(), ms);
      });
    return looking;
  }

  function untilNext(): number {
    const now = performance.now();
    let soonest = Math.min(LOOK_EVERY_MS, takens.size > 0 ? quietMs / 8 : quietMs / 2);
    for (const one of waiting.values()) if (dueAt(one) > now) soonest = Math.min(soonest, dueAt(one) - now);
    return soonest;
  }

  await look();
  return {
    /** Looks at once, and resolves when that look is done. */
    async rescan(): Promise<void> {
      await looking;
      if (!closed) await look();
    },
    /** Stops taking files. Claims whose file was not yet known to be complete are picked up at the next start. */
    async close(): Promise<void> {
      closed = true;
      clearTimeout(timer);
      await looking;
    },
    /** `ok`: the folder can be used now. `waiting`: files that were seen and not yet taken. */
    health(): { readonly ok: boolean; readonly problem?: string; readonly waiting: number } {
      const { problem } = troubles;
      return { ok: problem === undefined, ...(problem !== undefined && { problem }), waiting: waiting.size };
    },
  };
}

/**
 * Takes a file by renaming it into a folder of its own: of several workers one succeeds. Undefined where another one, or
 * whoever dropped it, was faster. Rejects with the fault of the file system; the file is then where it was.
 */
export async function take(inbox: string, { job, path, raw, marker }: Dropped): Promise<Claim | undefined> {
  const parent = join(inbox, 'processing', segment(job));
  await makeFolders(parent);
  const claim = claimOf(inbox, job, await freshRun(parent), claimedName(raw));
  try {
    // The marker first: it is of this file, and not of the next one of that name.
    if (marker) await unlink(marker.path);
    await rename(path, claim.file);
    reached('claimed');
  } catch (error) {
    await rmdir(claim.dir).catch(() => undefined);
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  return claim;
}

let lastRun = 0;

/** Makes the folder of a run. Ids of this process never fall into the same millisecond: many files come at once. */
async function freshRun(parent: string): Promise<string> {
  for (;;) {
    lastRun = Math.max(Date.now(), lastRun + 1);
    const run = newRunId(new Date(lastRun));
    try {
      await makeSharedFolder(join(parent, run));
      return run;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
  }
}

/** A share may answer from memory until the file is opened. */
async function freshMark(path: string): Promise<Mark> {
  const handle = await openPlain(path);
  try {
    return await handle.stat({ bigint: true });
  } finally {
    await handle.close();
  }
}

/** Why what was dropped is not read, as ERROR.txt says it; undefined for a plain file. */
function kindFault(info: BigIntStats): string | undefined {
  if (info.isSymbolicLink()) {
    return 'It is a symbolic link, and links are never followed: they may lead to any file of this machine.\nCopy the file itself into the drop folder.';
  }
  const kind =
    (info.isFIFO() && 'a named pipe') ||
    (info.isSocket() && 'a socket') ||
    (info.isDirectory() && 'a folder') ||
    (!info.isFile() && 'a device');
  if (kind) return `It is ${kind}, not a file. Put the file itself into the drop folder.`;
  if (info.nlink > 1n) {
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
  const names = takerNames(jobs);
  const there =
    names.length > 0
      ? `Jobs that take files:\n${names.map((one) => `  ${one}`).join('\n')}\nPut the file into the folder of one of them.`
      : 'There is no job that takes files. Ask whoever runs rowferry in your house.';
  if (job) return `The job "${shown(name)}" is an export, and takes no files from the drop folder.\n${there}`;
  return `The folder "${shown(name)}" belongs to no job: a folder of the drop folder has the name of a job.\n${there}`;
}

/** Files that were taken and wait for their run. */
const MOST_WAITING = 500;
/** How often claims are looked through for those that no job stands for, in milliseconds. */
const LOOK_THROUGH_MS = 60_000;

interface OffersOptions {
  readonly queue: Queue;
  readonly inbox: string;
  /** The kind of run for a file that was dropped for a job. */
  kindOf(job: string): Promise<TakingKind>;
  warn(text: string): void;
}

/** Puts what was taken from the drop folder on the queue. */
export function openOffers({ queue, inbox, kindOf, warn }: OffersOptions) {
  let waiting = 0;
  let looking: Promise<void> | undefined;

  /** A job of this id that is there already stands for the claim; the queue drops the second one. */
  async function put(claim: Claim): Promise<void> {
    await queue.add(await kindOf(claim.job), { job: claim.job, file: claim.file }, { jobId: claimJobId(claim) });
    reached('offered');
  }

  async function look(): Promise<void> {
    try {
      const claims = await listClaims(inbox);
      waiting = claims.length;
      for (const claim of claims) {
        const job = await queue.getJob(claimJobId(claim));
        // What ended without being put away had bad luck on its last step.
        if (job?.finishedOn !== undefined) await job.remove();
        if (!job || job.finishedOn !== undefined) await put(claim);
      }
    } catch (error) {
      warn(`What was taken from the drop folder could not be looked through: ${(error as Error).message}`);
    }
  }

  /** One look at a time: two would each put the same job back. */
  function lookThrough(): Promise<void> {
    looking ??= look().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  return {
    /** Files that were taken and have no end yet, as far as is known here. */
    get waiting(): number {
      return waiting;
    },
    /** False while enough that was taken waits for its run; it is counted anew then. */
    mayOffer(): boolean {
      if (waiting < MOST_WAITING) return true;
      void lookThrough();
      return false;
    },
    async offer(claim: Claim): Promise<void> {
      waiting++;
      await put(claim);
    },
    /** Offers again what lies in `processing/`: the folder is the truth, the queue may have forgotten. */
    lookThrough,
    close: every(LOOK_THROUGH_MS, lookThrough),
  };
}
