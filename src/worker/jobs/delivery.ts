import path from 'node:path';
import { DelayedError, type Job, UnrecoverableError, WaitingError } from 'bullmq';
import type { Logger } from 'pino';
import { RunError } from '../../model/error.js';
import type { RowsJob } from '../../model/job.js';
import type { RunResult } from '../../runs/conclude.js';
import type { RunContext } from '../../runs/context.js';
import type { Summary } from '../../runs/present.js';
import type { Progress } from '../../runs/progress.js';
import type { Schedule } from '../../runs/schedule/slots.js';
import type { Settings } from '../../runs/settings.js';
import { type Claim, droppedName } from '../inbox/claim.js';
import type { EndedRun, Trigger } from '../operations/ended.js';
import { type Lateness, lateness, safeName } from '../schedule/slot-job.js';
import { isAway } from '../store/faults.js';
import type { Store } from '../store/port.js';
import type { Claims, RepeatedSummary } from './claims.js';
import { type JobKind, RUNS_QUEUE, type RunData } from './data.js';
import { FileAway, OutsideRoots } from './roots.js';
import type { JobState } from './state.js';
import { readElsewhere } from './told-roots.js';

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

interface RunAbout {
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

/** Where a job of the queue came from, as its id tells. */
interface Origin {
  readonly trigger: Trigger;
  /** Set where the id names the run. */
  readonly run?: string;
  readonly claim?: Claim;
  /** A file taken from the drop folder of another worker, under a path that is not this worker's: left to that one. */
  readonly elsewhere?: true;
}

const RUN = String.raw`\d{8}T\d{9}Z-[0-9a-f]+`;
const DROP = new RegExp(`^drop\\.(.+)\\.(${RUN})$`, 's');
const AGAIN = new RegExp(`^again\\.(${RUN})$`);
const NIGHT = /^night\.(.+)\.[^.]+$/s;

/**
 * Reads a job's id: `drop.<job>.<run id>`, `night.<job>.<slot>`, `again.<run id>` or anybody's own. An id of ours over
 * data that do not fit it proves nothing, and the job counts as anybody's. No export reads what is dropped.
 */
export function originOf(id: string | undefined, kind: JobKind, data: RunData, inbox: string): Origin {
  const again = AGAIN.exec(id ?? '')?.[1];
  if (again !== undefined) return { trigger: 'queue', run: again };
  if (typeof data.job !== 'string') return { trigger: 'queue' };
  const { job } = data;
  const named = (found: string | undefined) => found === job || found === safeName(job);
  const [, dropped, run] = DROP.exec(id ?? '') ?? [];
  if (kind !== 'export' && run !== undefined && named(dropped) && data.file !== undefined) {
    const dir = path.join(inbox, 'processing', job, run);
    const file = path.resolve(dir, data.file);
    if (path.dirname(file) === dir)
      return { trigger: 'drop', run, claim: { job, run, dir, file, name: droppedName(path.basename(file)) } };
    if (data.file.endsWith(path.join('processing', job, run, path.basename(data.file))))
      return { trigger: 'drop', run, elsewhere: true };
  }
  return { trigger: named(NIGHT.exec(id ?? '')?.[1]) ? 'schedule' : 'queue' };
}

/** A file that is on another machine is looked for by others, so often and so long apart. */
const AWAY = { times: 30, everyMs: 2_000 };

/**
 * What is to be thrown for a file that this worker cannot have: the job is handed on to the workers that may, and fails,
 * with `advice`, where there are none. Any other error comes back as it is.
 */
export async function handOn(delivery: Delivery, state: JobState, error: unknown, advice: string): Promise<unknown> {
  const { data, deps } = delivery;
  const away =
    error instanceof FileAway ||
    (error instanceof OutsideRoots && (await readElsewhere(deps.store, deps.homeId, data.file ?? '')));
  if (!away) return error;
  const times = (state.away ?? 0) + 1;
  // Where no other worker is there, nobody else can have it.
  const alone = (await deps.store.workers(RUNS_QUEUE)) === 1;
  if (!alone && times <= AWAY.times) return postpone(delivery, AWAY.everyMs, { ...state, away: times });
  const looked = alone ? '' : ` No worker that took the job within ${(AWAY.times * AWAY.everyMs) / 1000} s has it.`;
  return new RunError('failed', `${error.message}${looked} ${advice}`, [], { cause: error });
}

/** Why a run begins here and now, as far as that is worth telling. */
export interface Occasion {
  /** The slot of the job's schedule that it stands for. */
  readonly slot?: Lateness;
  /** Sentences for the warnings of its summary. */
  readonly notes: readonly string[];
}

/** Looks at what led to the run; who watches the schedules is told that the run of a slot begins. */
export function occasionOf(delivery: Delivery, state: JobState, schedule: Schedule | undefined): Occasion {
  const { job, deps, name, work } = delivery;
  const slot = schedule && job.id !== undefined ? lateness(job.id, schedule, job.timestamp) : undefined;
  if (slot) deps.onSlot?.({ job: name, run: state.run, ...slot });
  const notes = [lateNote(job, schedule, Date.now()), anewNote(state, work.anewText)];
  return { ...(slot && { slot }), notes: notes.filter((note) => note !== undefined) };
}

function anewNote({ insteadOf }: JobState, text: string): string | undefined {
  return (
    insteadOf &&
    `Begun anew: run ${insteadOf.run} of the same job was begun on ${insteadOf.host}, whose worker is gone. ${text}`
  );
}

/** `Late: due 2026-11-21 02:00 Europe/Berlin, begun 07:12.`; undefined for a job that is no slot's, or in time. */
function lateNote(job: Pick<Job, 'id' | 'timestamp'>, schedule: Schedule | undefined, now: number): string | undefined {
  const slot = schedule && job.id !== undefined ? lateness(job.id, schedule, job.timestamp) : undefined;
  if (!schedule || !slot?.late) return undefined;
  const due = wallTime(slot.dueAt, schedule.timezone);
  const begun = wallTime(now, schedule.timezone);
  const sameDay = due.slice(0, 10) === begun.slice(0, 10);
  return `Late: due ${due} ${schedule.timezone}, begun ${sameDay ? begun.slice(11) : begun}.`;
}

/** `2026-11-21 02:00` */
function wallTime(at: number, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(at);
}
