import path from 'node:path';
import { z } from 'zod';
import { noOutcomes, OUTCOMES, type OutcomeCounts } from '../../model/outcome.js';
import { type Progress, pause } from '../../runs/run/context.js';
import { isRunId } from '../../runs/run/list.js';
import { checkTimeZone, type Schedule, slotOf } from '../../runs/schedule/slots.js';
import { type Claim, claimFolder, claimOf } from '../inbox/claim.js';
import type { Job } from '../store/port.js';
import type { RunData } from './data.js';

/**
 * The ids of our jobs say what they stand for: `drop.<job>.<run>` a file of the drop folder, `night.<job>.<slot>` a slot of
 * a schedule, `again.<run>` a run whose job the queue had lost, `run.<run>` one that was ordered under that id. A queue holds one job of an id, so each is run once.
 */
export const claimJobId = ({ job, run }: Pick<Claim, 'job' | 'run'>): string => `drop.${queueSafe(job)}.${run}`;
export const slotJobId = (job: string, slot: string): string => `night.${queueSafe(job)}.${slot}`;
export const againJobId = (run: string): string => `again.${run}`;
export const runJobId = (run: string): string => `run.${run}`;

/** A queue's ids may hold no colon. Different names stay different. */
function queueSafe(job: string): string {
  return job.replace(/[%:]/g, encodeURIComponent);
}

const RUN_ID = String.raw`\d{8}T\d{9}Z-[0-9a-f]+`;
const DROP_ID = new RegExp(`^drop\\.(.+)\\.(${RUN_ID})$`, 's');
const RUN_JOB_ID = new RegExp(`^(?:again|run)\\.(${RUN_ID})$`);
const SLOT_ID = /^night\.(.+)\.([^.]+)$/s;

/** Whether a job is put on the queue again by a schedule, for as long as its slot is due. */
export const isSlotJob = ({ id = '' }: Pick<Job, 'id'>): boolean => SLOT_ID.test(id);

/** Where a job of the queue came from. */
export interface Origin {
  readonly trigger: Trigger;
  /** Set where the id names the run. */
  readonly run?: string;
  readonly claim?: Claim;
  /** A file taken from the drop folder of another worker, under a path that is not this worker's: left to that one. */
  readonly elsewhere?: true;
}

/**
 * Reads a job's id, which is anybody's to choose: over data that do not fit it, it proves nothing, and the job counts as
 * anybody's. No export reads what is dropped.
 */
export function originOf({ id = '', name }: Pick<Job, 'id' | 'name'>, data: RunData, inbox: string): Origin {
  const namedRun = RUN_JOB_ID.exec(id)?.[1];
  if (namedRun !== undefined) return { trigger: 'queue', run: namedRun };
  const { job, file } = data;
  if (typeof job !== 'string') return { trigger: 'queue' };
  const isThisJob = (found: string | undefined) => found === job || found === queueSafe(job);
  const [, droppedJob, run] = DROP_ID.exec(id) ?? [];
  if (name !== 'export' && run !== undefined && isThisJob(droppedJob) && file !== undefined) {
    const dir = claimFolder(inbox, { job, run });
    const at = path.resolve(dir, file);
    if (path.dirname(at) === dir) return { trigger: 'drop', run, claim: claimOf(inbox, job, run, path.basename(at)) };
    if (file.endsWith(path.join('processing', job, run, path.basename(file)))) {
      return { trigger: 'drop', run, elsewhere: true };
    }
  }
  return { trigger: isThisJob(SLOT_ID.exec(id)?.[1]) ? 'schedule' : 'queue' };
}

/** A run is late where it was put on the queue more than this after its slot was due. */
export const LATE_MS = 10 * 60_000;

/**
 * The slot that a job of the queue stands for: its key (`2026-03-29T0230`), and when it was due. `startedAt`: when it was put on
 * the queue (the job's `timestamp`). Both are milliseconds since 1970. Undefined where the id is none of `slotJobId`. A zone that
 * is unknown by now: reckoned in UTC.
 */
export function lateness(jobId: string, { timezone }: Schedule, startedAt: number) {
  const key = SLOT_ID.exec(jobId)?.[2] ?? '';
  const slot = slotOf(key, checkTimeZone(timezone) === undefined ? timezone : 'UTC');
  return slot && { slot: slot.key, dueAt: slot.dueAt, late: startedAt - slot.dueAt > LATE_MS };
}

/** `Late: due 2026-11-21 02:00 Europe/Berlin, begun 07:12.` */
export function lateNote(dueAt: number, now: number, timeZone: string): string {
  const wallTime = (at: number) =>
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(at);
  const [due, begun] = [wallTime(dueAt), wallTime(now)];
  const sameDay = due.slice(0, 10) === begun.slice(0, 10);
  return `Late: due ${due} ${timeZone}, begun ${sameDay ? begun.slice(11) : begun}.`;
}

const WAITING: Progress['phase'] = 'waiting for its turn';
const count = z.int().nonnegative().catch(0);
const ifValid = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);

const storedState = z.object({
  phase: z.unknown().optional(),
  /** Rows of the file; null until they have been counted. */
  total: z.number().nullable().catch(null),
  done: count,
  outcomes: z.record(z.enum(OUTCOMES), count).catch(noOutcomes()),
  /** When each phase began, the last of them; also in deliveries before. */
  phases: ifValid(z.array(z.object({ phase: z.string(), at: z.string() }))),
  /** Id of the run, the same in every delivery that continues it. */
  run: z.custom<string>(isRunId),
  /** Data folder that the run was begun in, and the machine. Absent until it is begun. */
  home: ifValid(z.string()),
  host: ifValid(z.string()),
  /** How often it was handed on because its file was not to be found. */
  away: ifValid(z.number()),
  /** How the file of a schedule looked when it was last looked at, and since when it is waited for, milliseconds since 1970. */
  resting: ifValid(z.object({ mark: z.string(), since: z.number() })),
  /** Since when the worker that began it is away, milliseconds since 1970: requests of it may be under way for a while. */
  awaySince: ifValid(z.number()),
  /** The worker that had it was told to end and kept everything. */
  handedBack: ifValid(z.literal(true)),
  /** The run that this one takes the place of, and the machine that has it. */
  insteadOf: ifValid(z.object({ run: z.string(), host: z.string() })),
  /** Workers that had died over this job when it last came further, and how many rows had an outcome then. */
  mark: ifValid(z.object({ stalls: count, rows: count })),
});

/** The progress of a BullMQ job: contract, section 10, and what a later delivery must know. */
export type JobState = Readonly<Omit<z.output<typeof storedState>, 'phase'>> & {
  readonly phase: 'waiting' | Progress['phase'] | 'done';
  /** The job failed for good: its data, job file or file were wrong (`usage`), or the work could not be done (`failed`). */
  readonly failure?: 'usage' | 'failed';
  /** When it was told last, the run waited for its turn: that its worker died is not its doing. */
  readonly waited?: boolean | undefined;
};

export function freshState(run: string): JobState {
  return { phase: 'waiting', total: null, done: 0, outcomes: noOutcomes(), run };
}

/** What an earlier delivery left; undefined in the first one, and where somebody else wrote something else there. */
export function stateOf(job: Pick<Job, 'progress'>): JobState | undefined {
  const { data } = storedState.safeParse(job.progress);
  return data && { ...data, phase: 'waiting', waited: data.phase === WAITING || undefined };
}

export function settledRows(outcomes: Readonly<OutcomeCounts>): number {
  return OUTCOMES.reduce((sum, kind) => sum + outcomes[kind], 0);
}

/** At most one message in so many milliseconds, and one at each change of phase. */
const SEND_EVERY_MS = 500;
/** Of a run that goes back and forth between phases the last of them are told. */
const MOST_PHASES = 50;

/**
 * Sends where a run stands to the queue, one message at a time and the latest only. A message that cannot be sent is told to
 * `failed` and not repeated: the next one says more.
 */
export function stateWriter(
  job: Pick<Job, 'updateProgress'>,
  base: JobState,
  failed: (error: unknown) => void,
): { report(progress: Progress): void; close(): Promise<void> } {
  let latest: JobState | undefined;
  let phase: JobState['phase'] | undefined;
  let phases = base.phases ?? [];
  let sending: Promise<void> | undefined;
  let pauseEnd = new AbortController();
  let closed = false;
  async function send(): Promise<void> {
    while (latest && !closed) {
      const state = latest;
      latest = undefined;
      phase = state.phase;
      pauseEnd = new AbortController();
      await job.updateProgress(state).catch(failed);
      if (!closed) await pause(SEND_EVERY_MS, pauseEnd.signal);
    }
    sending = undefined;
  }
  return {
    report({ phase: now, done, total, outcomes }) {
      if (phases.at(-1)?.phase !== now)
        phases = [...phases, { phase: now, at: new Date().toISOString() }].slice(-MOST_PHASES);
      latest = { ...base, phase: now, done, total: total ?? null, outcomes: { ...outcomes }, phases };
      if (now !== phase) pauseEnd.abort();
      sending ??= send();
    },
    /** Waits for what is under way; nothing is sent afterwards. */
    async close() {
      closed = true;
      pauseEnd.abort();
      await sending;
    },
  };
}

/** What set a run off: a slot of its schedule, a file in the drop folder, or a job put on the queue. */
export type Trigger = 'schedule' | 'drop' | 'queue';

/**
 * How a run of a job ended; metrics and notifications are told the same. `refused`: there was no run, because the job
 * file, its data or its file was refused before anything was sent.
 */
export interface EndedRun {
  /** Absent where there was no telling, as the data of the job were refused. */
  readonly kind?: 'import' | 'export' | 'reconcile';
  /** Name of the job file. */
  readonly job: string;
  /** The job came with its data, not from a job file: its name is anybody's. Counted under one label, never notified. */
  readonly inline?: boolean;
  /**
   * Somebody asked for a rehearsal: neither a success nor a failure of the job. A reconcile job whose nights only report
   * does its work by that, so its report-only runs are none.
   */
  readonly dryRun?: boolean;
  /** Of a reconcile job: nothing was written, and its counts are of what would be. */
  readonly reportOnly?: boolean;
  /**
   * An export that is there but cannot be shown to be whole: somebody has to look, and the job has not done its work.
   * `reason` says why.
   */
  readonly unverified?: boolean;
  readonly trigger: Trigger;
  /** Name of the file that the run was about, as it was dropped or named. */
  readonly file?: string | undefined;
  readonly status: 'succeeded' | 'partial' | 'braked' | 'failed' | 'interrupted' | 'refused';
  /** Absent where the job was refused before a run began. */
  readonly run?: string | undefined;
  /** By which the console shows what was refused. */
  readonly page?: string | undefined;
  readonly company?: number | undefined;
  readonly counts?: Partial<OutcomeCounts> | undefined;
  /** Of a reconcile job, in words: they are no rows. */
  readonly orphans?: string | undefined;
  /** One sentence for people; needed where the status is braked, failed or refused. */
  readonly reason?: string | undefined;
  /** Folder of the reports, where they lie after the run was put away; of a dropped file, from the drop folder. */
  readonly reports?: string | undefined;
  readonly seconds?: number | undefined;
  /** Milliseconds since 1970; now, where absent. */
  readonly endedAt?: number | undefined;
}
