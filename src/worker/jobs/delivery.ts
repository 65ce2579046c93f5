import { DelayedError, type Job, UnrecoverableError, WaitingError } from 'bullmq';
import type { Logger } from 'pino';
import type { RowsJob } from '../../model/job.js';
import type { RunResult } from '../../runs/conclude.js';
import type { RunContext } from '../../runs/context.js';
import type { Summary } from '../../runs/present.js';
import type { Progress } from '../../runs/progress.js';
import type { Settings } from '../../runs/settings.js';
import type { EndedRun } from '../operations/ended.js';
import type { Lateness } from '../schedule/slot-job.js';
import { isAway } from '../store/faults.js';
import type { Store } from '../store/port.js';
import type { Claims, RepeatedSummary } from './claims.js';
import type { RunData } from './data.js';
import type { Origin } from './origin.js';
import type { JobState } from './state.js';

/** What the processor of queue `rowferry` is given. */
export interface RunDeps {
  readonly settings: Settings;
  readonly store: Pick<Store, 'lease' | 'leased' | 'workers' | 'check' | 'read'>;
  readonly log: Logger;
  /** Aborted when this process was told to end: runs are handed back. */
  readonly stopping: AbortSignal;
  /** `homeId(settings.home)`. While the worker lives it holds the lease `home.<this>`. */
  readonly homeId: string;
  /** What a run is given besides what the processor knows. */
  context(about: RunAbout): Omit<RunContext, 'listener' | 'log' | 'signal'>;
  /** `inboxClaims` of the drop folder. */
  readonly claims: Claims;
  /** After every run, and when a job was refused; not after one that is handed back or tried again. */
  onEnded(ended: EndedRun): void;
  /** A run is taken up; what comes back is told its progress. */
  onBegun?(about: RunAbout & { readonly resumed: boolean }): ((progress: Progress) => void) | undefined;
  /** The run of a schedule's slot begins. */
  onSlot?(slot: Lateness & { readonly job: string; readonly run: string }): void;
}

export interface RunAbout {
  /** Name of the job file, or `inline`. */
  readonly job: string;
  readonly run: string;
  /** The run that it takes the place of, whose open requests have had their time. */
  readonly insteadOf?: string | undefined;
  readonly log: Logger;
}

/** One job of the queue as this worker was handed it. */
export interface Delivery {
  readonly job: Job;
  readonly token: string | undefined;
  readonly data: RunData;
  readonly work: Work;
  readonly origin: Origin;
  /** Name for people and metrics. */
  readonly name: string;
  readonly deps: RunDeps;
  readonly log: Logger;
  readonly lastAttempt: boolean;
}

/** What a delivery is to do, once it is clear that it is to be done here and now. */
export interface Plan {
  readonly state: JobState;
  /** The run is in this data folder: it is continued, and neither job file nor file are looked at. */
  readonly resumed: boolean;
  /** Aborted when the run must stop here: `SIGTERM`, or another reason. */
  readonly signal: AbortSignal;
}

/** A run that may begin. */
export interface Prepared {
  /** The file that it reads or writes. */
  readonly file: string;
  /** The job, where rows are taken into the service. */
  readonly rowsJob?: RowsJob;
  begin(context: RunContext): Promise<RunResult>;
}

/** What runs of one kind do in their own way. All else about a job of the queue is the same for every kind. */
export interface Work {
  readonly kind: 'import' | 'export' | 'reconcile';
  /** What is said in a run that takes the place of one that was begun where no worker lives any more. */
  readonly anewText: string;
  /** What a person is told to do after workers died over the job. */
  readonly deathAdvice: string;
  /** How far a run has come: grows while it comes further. */
  reached(state: JobState): number;
  /** So long, in milliseconds, requests of a worker that is gone may still take effect. */
  settleMs(delivery: Delivery, state: JobState): number;
  /** What an earlier delivery that brought the job to its end did not come to say; undefined where there was none. */
  endedBefore(delivery: Delivery): Promise<object | undefined>;
  /**
   * Finds out what is to be run, and makes ready what that needs; or ends a job that needs no run. Nothing is begun yet.
   * @throws RunError, and what `postpone` returns where the job is not to be done now.
   */
  prepare(delivery: Delivery, plan: Plan): Promise<Prepared | { readonly result: RepeatedSummary }>;
  /** Removes what was put aside for the run, which has its own by now, or never needs it. */
  cleanUp(delivery: Delivery, run: string): Promise<void>;
  /** Puts away what belongs to a run that came to its end; `dir` is where its reports then lie. */
  putAway(delivery: Delivery, result: RunResult): Promise<{ readonly dir: string; readonly summary: Summary }>;
  /** Puts away what belongs to a job that is given up. `run`: the run that was begun. Returns where its reports lie. */
  giveUp(delivery: Delivery, reason: string, run: string | undefined): Promise<string | undefined>;
}

/** Where a job that is not done is put; the caller throws what comes back. */
export async function postpone({ job, token }: Delivery, ms: number, state?: JobState): Promise<Error> {
  if (state) await job.updateProgress(state);
  await job.moveToDelayed(Date.now() + ms, token);
  return new DelayedError();
}

/** At the head of the queue, for whichever worker asks next. */
export async function handBack({ job, token, log }: Delivery, state: JobState): Promise<Error> {
  await job.updateProgress({ ...state, handedBack: true });
  await job.moveToWait(token);
  log.info('handed back to the queue');
  return new WaitingError();
}

/** The last that is said of a job. A queue that has lost the job meanwhile changes nothing in what its run has done. */
export async function tellEnd({ job, log }: Delivery, state: JobState): Promise<void> {
  await job.updateProgress(state).catch((error: unknown) => {
    if (isAway(error)) throw error;
    log.warn({ err: error }, 'the end of the run could not be told to the queue');
  });
}

/** Fails the job for good. */
export function refusal(text: string): Error {
  const error = new UnrecoverableError(text);
  // A stack would be kept in the queue and say nothing.
  error.stack = `UnrecoverableError: ${text}`;
  return error;
}

/** When a job that does not come further is given up: so many workers died over it since it last did. */
export const MAX_DEATHS = 4;

export function deathText(deaths: number, advice: string): string {
  return (
    `${deaths} workers died, one after another, while they worked on this job, and it came no further: it is not tried again. ` +
    `Look into the logs of the workers for how they ended (out of memory, killed, a crash), and ${advice}`
  );
}
