import { shown } from './claim.js';
import { codeOf, lookAtEntry, reasonOf, sameMark } from './disk.js';
import { openFolders } from './folders.js';
import { type Jobs, openJobs } from './jobs.js';
import { openForWriting } from './open-files.js';
import type { Inbox, InboxOptions } from './port.js';
import { openPulse } from './pulse.js';
import { readScheduled } from './scheduled.js';
import { openSettling } from './settle.js';
import { shareKind } from './share.js';
import { take } from './take.js';
import { openTroubles } from './trouble.js';
import { type Candidate, openWaiting } from './waiting.js';
import { openWatching } from './watch.js';

export type { Inbox, InboxHealth, InboxOptions } from './port.js';

/** Events may be lost; a share announces none. Milliseconds between two looks without any reason. */
const LOOK_EVERY_MS = 10_000;
const POLL_EVERY_MS = 1_000;
/** Most claims between the rename and the queue: what is taken is to be run soon, or left to other workers. */
const MOST_UNDER_WAY = 200;
/**
 * While files are left that may be taken, the folders are not looked at all over again before that much time, or this
 * many times what the last look took.
 */
const LOOK_AGAIN_MS = 500;
const LOOK_AGAIN = 10;
/** A file that cannot be taken is tried again after this many times the quiet time. */
const TRY_AGAIN = 5;
/** A file that some program keeps open for longer is told of. */
const LONG_OPEN_MS = 60_000;

/** Watches the drop folder until closed. Never rejects for a folder that is away: it says so and keeps trying. */
export async function openInbox(options: InboxOptions): Promise<Inbox> {
  const { dir, jobsDir, log, mayTake, quietMs = 2000 } = options;
  const troubles = openTroubles(options.notice);
  const readJobs = openJobs(jobsDir);
  const look = openFolders(dir, troubles, log);
  const waiting = openWaiting(quietMs);
  const settling = openSettling({ ...options, quietMs, troubles });
  const watching = openWatching(() => pulse.soon(), watchFailed);
  let polling = options.polling === 'always';
  /** Files that are due and could not be taken yet. */
  let left: Candidate[] = [];
  /** Something may have happened since the last look. */
  let stale = false;
  let looked = { at: Number.NEGATIVE_INFINITY, ms: 0 };
  let share: string | undefined;
  let adoptedAt = Number.NEGATIVE_INFINITY;

  function watchFailed(folder: string, error: unknown): void {
    log.debug({ folder, err: error }, 'inbox.watch');
    // A folder that has just gone is no fault of the system's.
    if (polling || options.polling === 'never' || codeOf(error) === 'ENOENT') return;
    polling = true;
    options.notice(
      'info',
      `The system announces no changes in ${folder} (${reasonOf(error)}): the drop folder is looked at every second.`,
    );
  }

  const pulse = openPulse(lookOnce, nextLook, (error) =>
    troubles.tell('cycle', `The drop folder ${dir} cannot be looked at: ${reasonOf(error)}. It is tried again.`),
  );

  /** Claims are looked at often; files that are due, and were not taken, now and then. */
  function nextLook(): number {
    const idle = polling ? POLL_EVERY_MS : LOOK_EVERY_MS;
    const claims = settling.count > 0 ? quietMs / 8 : idle;
    const due = left.length > 0 ? quietMs / 4 : idle;
    const again = stale ? (left.length > 0 ? LOOK_AGAIN_MS : 0) : idle;
    return Math.min(idle, claims, due, again, waiting.next() ?? idle);
  }

  async function lookOnce(): Promise<void> {
    const begun = performance.now();
    const jobs = await readJobs();
    tellOfJobs(jobs);
    if (left.length === 0 || begun - looked.at > Math.max(LOOK_AGAIN_MS, LOOK_AGAIN * looked.ms)) {
      const paths = typeof options.scheduled === 'function' ? options.scheduled() : options.scheduled;
      const around = await look(jobs, await readScheduled(paths, dir));
      looked = { at: begun, ms: performance.now() - begun };
      [left, stale] = [[], false];
      if (!around) return;
      if (options.polling === undefined || options.polling === 'auto') await choosePolling();
      watching.keep(polling ? new Map() : around.folders);
      left = waiting.look(around.candidates);
      troubles.keep('take:', new Set(around.candidates.map(({ key }) => `take:${key}`)));
      troubles.keep('open:', new Set(around.candidates.map(({ key }) => `open:${key}`)));
    } else stale = true;
    left = jobs.fault === undefined ? await takeFrom(left) : [];
    if (begun - adoptedAt >= LOOK_EVERY_MS) {
      adoptedAt = begun;
      await settling.adopt();
    }
    await settling.step(jobs);
    troubles.over('cycle');
  }

  function tellOfJobs({ fault }: Jobs): void {
    if (fault === undefined) {
      troubles.over('jobs', `The jobs folder ${jobsDir} can be read again.`);
      return;
    }
    const text = `The jobs folder ${jobsDir} cannot be read: ${reasonOf(fault)}. Nothing is taken from the drop folder.`;
    troubles.tell('jobs', text);
  }

  async function choosePolling(): Promise<void> {
    const kind = await shareKind(dir);
    if (kind === undefined || share === kind) return;
    share = kind;
    polling = true;
    log.info({ dir, kind }, 'The drop folder lies on a network share: it is looked at every second.');
  }

  /** Takes what may be taken now. Returns what is left for later. */
  async function takeFrom(due: readonly Candidate[]): Promise<Candidate[]> {
    const closable = due.filter(({ ready, info }) => !ready && info.isFile());
    const writers = await openForWriting(closable);
    const later: Candidate[] = [];
    for (const [i, candidate] of due.entries()) {
      if (pulse.closed || settling.count >= MOST_UNDER_WAY || !mayTake()) return [...later, ...due.slice(i)];
      const writer = candidate.ready ? undefined : writers.get(candidate.info.ino);
      if (writer === undefined) await takeOne(candidate);
      else {
        tellOfWriter(candidate, writer);
        later.push(candidate);
      }
    }
    return later;
  }

  async function takeOne(candidate: Candidate): Promise<void> {
    try {
      const now = await lookAtEntry(candidate.path);
      if (!now || !sameMark(candidate.info, now)) {
        // Written since it was looked at: it begins to rest anew.
        stale = true;
        return;
      }
      const claim = await take(dir, candidate);
      if (claim) settling.add(claim, candidate.info, candidate.ready !== undefined);
    } catch (error) {
      const path = shown(candidate.path.toString('utf8'));
      troubles.tell(
        `take:${candidate.key}`,
        `The file ${path} cannot be taken into ${dir}/processing: ${reasonOf(error)}. It is tried again every few seconds.`,
      );
      waiting.postpone(candidate.key, TRY_AGAIN * quietMs);
    }
  }

  function tellOfWriter(candidate: Candidate, writer: number): void {
    log.debug({ job: candidate.job, file: candidate.name, pid: writer }, 'inbox.open');
    if (waiting.overdue(candidate.key) < LONG_OPEN_MS) return;
    troubles.tell(
      `open:${candidate.key}`,
      `The file "${shown(candidate.name)}" of "${shown(candidate.job)}" is not taken: process ${writer} still has it open for writing. Close it there.`,
    );
  }

  await pulse.now();
  return {
    rescan() {
      adoptedAt = Number.NEGATIVE_INFINITY;
      looked.at = Number.NEGATIVE_INFINITY;
      return pulse.now();
    },
    async close() {
      watching.close();
      await pulse.close();
    },
    health() {
      const { problem } = troubles;
      return { ok: problem === undefined, ...(problem !== undefined && { problem }), waiting: waiting.count, polling };
    },
  };
}
