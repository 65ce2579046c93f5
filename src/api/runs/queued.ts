import type { Correction } from '../../model/correction.js';
import type { OutcomeCounts } from '../../model/outcome.js';
import { fileName, rowsForPerson, type Summary } from '../../report/summary.js';
import { isRunId, type RunEntry } from '../../runs/run/list.js';
import { JOB_KINDS } from '../../worker/jobs/data.js';
import { followUpOf } from '../../worker/jobs/home.js';
import { againJobId, isSlotJob, type JobState, runJobId, stateOf } from '../../worker/jobs/job.js';
import type { Job, Queue } from '../../worker/store/port.js';
import type { Run, RunDetail, RunProgress, RunState } from '../schema.js';

/** A run as its job on the queue tells of it. What came with the job is anybody's to choose: nothing but names of it is shown. */

/** What of `RunDetail` somebody needs who waits for its end. */
export type RunView = Pick<RunDetail, 'id' | 'state' | 'progress' | 'summary' | 'reason' | 'failure' | 'host'>;

/** The job of the queue that stands for a run; `wanted` may be its own id, too. */
export async function jobOfRun(queue: Pick<Queue, 'getJob'>, wanted: string): Promise<Job | undefined> {
  // Of a run that was ordered and taken up again the later one.
  const ids = isRunId(wanted) ? [againJobId(wanted), runJobId(wanted)] : [wanted];
  for (const id of ids) {
    const job = await queue.getJob(id);
    if (job) return job;
  }
  return undefined;
}

/** The run that a job says it stands for. */
export function runOfJob(job: Job): string | undefined {
  const run = /^(?:run|again|drop\..+)\.(\d{8}T\d{9}Z-[0-9a-f]+)$/s.exec(job.id ?? '')?.[1];
  return run ?? stateOf(job)?.run;
}

/** Why a job failed. Of a dropped file its name is told, not where it lay while it was read. */
export function whyFailed({ id, data, failedReason }: Job): string {
  const { file } = (data ?? {}) as Partial<OrderedData>;
  const reason = failedReason || 'The job failed.';
  const isDropped = id?.startsWith('drop.') && typeof file === 'string';
  return isDropped ? reason.replaceAll(file, () => fileName(file)) : reason;
}

/** What its job tells of a run that has ended, or failed before there was one. */
export function queueView(job: Job, state: string | undefined): Omit<RunView, 'id' | 'progress'> {
  const summary = state === 'completed' ? (job.returnvalue as Summary) : undefined;
  const { failure, host } = (job.progress ?? {}) as Partial<JobState>;
  const failed = state === 'failed';
  return {
    summary: (summary as unknown as Record<string, unknown>) ?? null,
    reason: summary?.reason ?? (failed ? whyFailed(job) : null),
    ...(state !== undefined && { state }),
    ...(failed && { failure: failure === 'usage' ? failure : 'failed' }),
    ...(typeof host === 'string' && { host }),
  };
}

/** How far the worker that has it came, as it told the queue; undefined where it told nothing yet. */
export function jobProgress(job: Job | undefined): RunProgress | undefined {
  const jobState = job && stateOf(job);
  if (!jobState) return undefined;
  const { total, done, outcomes, phases } = jobState;
  const { phase = 'waiting' } = job.progress as Partial<JobState>;
  return { phase, total, done, outcomes, ...(phases && { phases }) };
}

/** A run as its data folder and the queue tell of it; one of the two may not know it. */
export interface FoundRun {
  readonly run: Run;
  readonly entry?: RunEntry | undefined;
  readonly job?: Job | undefined;
  /** Of the job. */
  readonly state?: string | undefined;
}

/** Whether it runs, or waits to. */
export const isAtWork = ({ status }: Run): boolean => status === 'running' || status === 'waiting';

/** Why a run cannot be stopped by its job; undefined where it can. */
export function whyNotStopped({ run, job }: FoundRun): string | undefined {
  if (!isAtWork(run)) return 'It is not at work.';
  if (!job) return 'It was begun from a command line: end it there.';
  if (isRunId(run.id)) return undefined;
  if (run.status === 'running') return 'It is just being taken up: stop it in a moment.';
  return isSlotJob(job) ? 'It is due by its schedule, and would come again: stop it once it is at work.' : undefined;
}

/** What may lie in the data of a job. */
export interface OrderedData {
  readonly job: string | Record<string, unknown>;
  readonly file: string;
  readonly corrections: readonly Correction[];
  readonly options: { readonly dry_run?: boolean };
}

/** What a run is that takes up another one. */
const FOLLOW_UPS = { retry: { manner: 'retry' }, approve: { manner: 'approved' }, undo: { kind: 'undo' } } as const;

/** What is known of a run that has not begun in this data folder. `id`: of the run; of a job that has none yet, its own. */
export function queuedRun(home: string, job: Job, status: RunState): Run {
  const { job: name, file, options } = (job.data ?? {}) as Partial<OrderedData>;
  const { status: ended, rows: counts, records } = (job.returnvalue ?? {}) as Partial<Summary>;
  const { total = null, ...outcomes } = counts ?? {};
  const id = runOfJob(job) ?? job.id ?? '';
  const again = job.id === againJobId(id) ? followUpOf(home, id) : undefined;
  return {
    id,
    status: ended ?? status,
    kind: JOB_KINDS.find((kind) => kind === job.name) ?? 'import',
    job: typeof name === 'string' ? name : 'inline',
    file: typeof file === 'string' ? fileName(file) : '',
    dry_run: options?.dry_run === true || (again?.verb === 'undo' && again.dryRun),
    ...(again && { of_run: again.of, ...FOLLOW_UPS[again.verb] }),
    started_at: new Date(job.timestamp).toISOString(),
    rows: records ?? total,
    needs_person: counts ? rowsForPerson(counts) : null,
    outcomes: counts ? (outcomes as OutcomeCounts) : null,
  };
}

/** Jobs of each state that are looked at. */
const MOST_JOBS = 100;

/**
 * The runs that the queue knows: those that wait, those at work, the latest that failed, and, where other workers share it, the
 * latest that came to their end.
 */
export async function runsOnQueue(
  home: string,
  queue: Queue,
  isShared: boolean,
  most = MOST_JOBS,
): Promise<FoundRun[]> {
  const read = async (status: RunState, states: Parameters<Queue['getJobs']>[0]) =>
    (await queue.getJobs(states, 0, most - 1, false)).flatMap((job) =>
      job ? [{ run: queuedRun(home, job, status), job }] : [],
    );
  const lists = await Promise.all([
    read('running', ['active']),
    read('waiting', ['waiting', 'delayed', 'prioritized']),
    read('failed', isShared ? ['failed', 'completed'] : ['failed']),
  ]);
  return lists.flat();
}
