import { setTimeout as pause } from 'node:timers/promises';
import type { Job, Queue } from 'bullmq';
import { EXIT, RunError } from '../model/error.js';
import type { RunResult } from '../runs/import.js';
import { isRunId, readRun } from '../runs/list.js';
import type { Summary } from '../runs/present.js';
import type { Progress, RunListener } from '../runs/progress.js';
import type { JobState } from '../worker/jobs/state.js';

/** How often the job is looked at, in milliseconds. */
const LOOK_EVERY = 200;

/** What is waited for is said after so many looks that showed no run at work. */
const SAY_AFTER = 4;
const WAITS: Readonly<Record<string, string>> = {
  waiting: 'The job waits on the queue until a worker takes it.',
  delayed:
    'A worker has seen the job and cannot begin it yet: the right to run it is not free. It is tried again every second.',
  active: 'A worker has taken the job and makes its run ready.',
};

/** Looking is never given up for a queue that is away for a while; said once. */
const AWAY = 'The queue does not answer; still waiting. The job is not lost.';

/**
 * Waits for a job of the queue and tells its progress. Undefined where `signal` ended the waiting.
 * @throws RunError with the reason of a job that failed: `usage` where its data, job or file were refused.
 */
export async function waitForJob(
  queue: Pick<Queue, 'getJob' | 'getJobState'>,
  id: string,
  options: { readonly listener: RunListener; readonly home: string; readonly signal: AbortSignal },
): Promise<RunResult | undefined> {
  const { listener, home, signal } = options;
  let away = false;
  let idle = 0;
  while (!signal.aborted) {
    try {
      // The state first: what is read after it belongs to it, or to a later one.
      const state = await queue.getJobState(id);
      const job: Job | undefined = await queue.getJob(id);
      away = false;
      if (!job) throw new RunError('failed', `The job ${id} was removed from the queue before it ended.`);
      if (state === 'completed') return await resultOf(job, home);
      if (state === 'failed') throw failureOf(job);
      if (tellProgress(job.progress, listener)) idle = 0;
      else if (++idle === SAY_AFTER) listener.notice({ level: 'info', text: WAITS[state] ?? `The job is ${state}.` });
    } catch (error) {
      if (error instanceof RunError) throw error;
      if (!away) listener.notice({ level: 'warn', text: AWAY });
      away = true;
    }
    await pause(LOOK_EVERY, undefined, { signal }).catch(() => undefined);
  }
  return undefined;
}

async function resultOf(job: Job, home: string): Promise<RunResult> {
  const summary = job.returnvalue as Summary;
  // Whoever writes on the queue writes this, too.
  const here = isRunId(summary.run) ? await readRun(home, summary.run).catch(() => undefined) : undefined;
  const { host } = stateIn(job.progress);
  // The run may have been on another machine; a folder there is told as such.
  const reportDir =
    here && here.rows !== undefined ? here.reportDir : `data folder of ${host ?? 'the worker'}, runs/${summary.run}`;
  return { summary, exitCode: EXITS[summary.status] ?? EXIT.failed, reportDir };
}

const EXITS: Readonly<Record<Summary['status'], number>> = {
  succeeded: EXIT.ok,
  partial: EXIT.needsPerson,
  braked: EXIT.braked,
  failed: EXIT.failed,
  interrupted: EXIT.failed,
};

function failureOf(job: Job): RunError {
  const [message = 'The job failed.', ...details] = (job.failedReason || 'The job failed.').split('\n');
  return new RunError(stateIn(job.progress).failure ?? 'failed', message, details);
}

/** False where no run is at work. */
function tellProgress(found: unknown, listener: RunListener): boolean {
  const { run, phase, done, total, outcomes } = stateIn(found);
  if (run === undefined || phase === undefined || phase === 'waiting' || phase === 'done' || !outcomes) return false;
  const progress: Progress = { run, phase, done: done ?? 0, outcomes, ...(typeof total === 'number' && { total }) };
  listener.progress(progress);
  return true;
}

function stateIn(progress: unknown): Partial<JobState> {
  return typeof progress === 'object' && progress !== null ? (progress as Partial<JobState>) : {};
}
