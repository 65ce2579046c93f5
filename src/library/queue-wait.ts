import { setTimeout as pause } from 'node:timers/promises';
import type { RunsApi, RunView } from '../api/runs.js';
import { EXIT, RunError } from '../model/error.js';
import type { RunResult } from '../runs/run/conclude.js';
import type { Progress, RunListener } from '../runs/run/context.js';
import { isRunId, readRun, readSummary } from '../runs/run/list.js';
import type { Summary } from '../runs/run/present.js';

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
 * Waits for a job of the queue and tells its progress.
 * @throws RunError with the reason of a job that failed: `usage` where its data, job or file were refused; `interrupted` where
 * `signal` ended the waiting.
 */
export async function waitForJob(
  runs: Pick<RunsApi, 'look'>,
  id: string,
  options: { readonly listener: RunListener; readonly home: string; readonly signal: AbortSignal },
): Promise<RunResult> {
  const { listener, home, signal } = options;
  let away = false;
  let idle = 0;
  while (!signal.aborted) {
    try {
      const run = await runs.look(id);
      away = false;
      if (!run) throw new RunError('failed', `The run ${id} was removed from the queue before it ended.`);
      if (run.summary) return await resultOf(run.summary, run, home);
      if (run.failed !== undefined) throw failureOf(run.failed, run);
      if (tellProgress(run, listener)) idle = 0;
      else if (++idle === SAY_AFTER) {
        listener.notice({ level: 'info', text: WAITS[run.state] ?? `The job is ${run.state}.` });
      }
    } catch (error) {
      if (error instanceof RunError) throw error;
      if (!away) listener.notice({ level: 'warn', text: AWAY });
      away = true;
    }
    await pause(LOOK_EVERY, undefined, { signal }).catch(() => undefined);
  }
  throw stoppedWaiting(id);
}

/** The signal ended the waiting, not the run. */
export function stoppedWaiting(id: string): RunError {
  const text = `Stopped waiting. The run ${id} stays on the queue and is carried out all the same.`;
  return new RunError('failed', text, [], { code: 'interrupted' });
}

async function resultOf(summary: Summary, { progress: { host } }: RunView, home: string): Promise<RunResult> {
  // Whoever writes on the queue writes this, too.
  const here = isRunId(summary.run) ? await readRun(home, summary.run).catch(() => undefined) : undefined;
  // What came by the queue quotes no heading that the job does not name.
  const whole = here && (await readSummary(here.reportDir).catch(() => undefined));
  // The run may have been on another machine; a folder there is told as such.
  const reportDir =
    here && here.rows !== undefined ? here.reportDir : `data folder of ${host ?? 'the worker'}, runs/${summary.run}`;
  return {
    summary: whole?.run === summary.run ? whole : summary,
    exitCode: EXITS[summary.status] ?? EXIT.failed,
    reportDir,
  };
}

const EXITS: Readonly<Record<Summary['status'], number>> = {
  succeeded: EXIT.ok,
  partial: EXIT.needsPerson,
  braked: EXIT.braked,
  failed: EXIT.failed,
  interrupted: EXIT.failed,
};

function failureOf(failed: string, { progress }: RunView): RunError {
  const [message = failed, ...details] = failed.split('\n');
  return new RunError(progress.failure ?? 'failed', message, details);
}

/** False where no run is at work. */
function tellProgress({ progress: found }: RunView, listener: RunListener): boolean {
  const { run, phase, done, total, outcomes } = found;
  if (run === undefined || phase === undefined || phase === 'waiting' || phase === 'done' || !outcomes) return false;
  const progress: Progress = { run, phase, done: done ?? 0, outcomes, ...(typeof total === 'number' && { total }) };
  listener.progress(progress);
  return true;
}
