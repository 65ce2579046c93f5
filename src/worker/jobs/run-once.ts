import { hostname } from 'node:os';
import { RunError } from '../../model/error.js';
import type { RowsJob } from '../../model/job.js';
import type { RunResult } from '../../runs/conclude.js';
import { readRequest } from '../../runs/earlier-run.js';
import { runFolder } from '../../runs/layout.js';
import type { Summary } from '../../runs/present.js';
import type { Progress } from '../../runs/progress.js';
import { resumeRun } from '../../runs/resume.js';
import { isHere, type RepeatedSummary } from './claims.js';
import { type Delivery, type Plan, type Prepared, postpone, tellEnd } from './delivery.js';
import { faultWithoutCells, RunFailed, type WithoutCells, withoutCells, withoutSecrets } from './failure.js';
import { isRehearsal } from './rehearsal.js';
import { type JobState, stateWriter } from './state.js';
import { endTicket } from './tickets.js';

/** Begins or continues the run and brings it to its end. Returns what the queue keeps as the result of the job. */
export async function runOnce(delivery: Delivery, plan: Plan): Promise<Summary | RepeatedSummary> {
  const { job, deps, origin, name, work } = delivery;
  const right =
    origin.trigger === 'schedule'
      ? await deps.store.lease(`schedule.${name}`, deps.settings.worker.leaseMs)
      : undefined;
  if (origin.trigger === 'schedule' && !right) throw await postpone(delivery, 1_000);
  try {
    const prepared = plan.resumed ? undefined : await work.prepare(delivery, plan);
    if (prepared && 'result' in prepared) return prepared.result;
    const state = { ...plan.state, home: deps.homeId, host: hostname() };
    await job.updateProgress(state);
    const signal = right ? AbortSignal.any([plan.signal, right.lost]) : plan.signal;
    const asked = prepared?.rowsJob ?? (await storedJob(deps.settings.home, state.run));
    const clean = asked ? withoutCells(asked) : (text: string) => text;
    const result = await carryOut(delivery, { ...plan, state, signal }, prepared, clean);
    const { reason } = result.summary;
    const told = reason === undefined ? result.summary : { ...result.summary, reason: clean(reason) };
    return await conclude(delivery, state, { ...result, summary: told });
  } finally {
    await right?.release().catch(() => undefined);
  }
}

/** The job of a run that takes rows, as it was begun. */
async function storedJob(home: string, run: string): Promise<RowsJob | undefined> {
  const { job } = (await readRequest(runFolder(home, run)))?.job ?? {};
  return job && 'match' in job ? job : undefined;
}

async function carryOut(
  delivery: Delivery,
  plan: Plan,
  prepared: Prepared | undefined,
  clean: WithoutCells,
): Promise<RunResult> {
  const { job, deps, log, name, work } = delivery;
  const { run } = plan.state;
  const about = { job: name, run, insteadOf: plan.state.insteadOf?.run, log };
  const writer = stateWriter(job, plan.state, (error) => log.warn({ err: error }, 'the progress could not be told'));
  const told = deps.onBegun?.({ ...about, resumed: plan.resumed });
  const context = {
    ...deps.context(about),
    log,
    signal: plan.signal,
    listener: {
      progress(progress: Progress) {
        writer.note(progress);
        told?.(progress);
      },
      notice: ({ level, text }: { readonly level: 'info' | 'warn'; readonly text: string }) => log[level](clean(text)),
    },
  };
  log.info({ file: prepared?.file }, prepared ? 'run begun' : 'run taken up again');
  try {
    return prepared ? await prepared.begin(context) : await resumeRun(run, context);
  } catch (error) {
    throw faultWithoutCells(error, clean);
  } finally {
    await writer.close();
    if (await isHere(deps.settings.home, run)) await work.cleanUp(delivery, run);
  }
}

async function conclude(delivery: Delivery, state: JobState, result: RunResult): Promise<Summary> {
  const { job, deps, origin, name, data, work, log, lastAttempt } = delivery;
  const { home, secrets } = deps.settings;
  const { status, reason } = result.summary;
  if (status === 'interrupted') throw new RunError('failed', 'The run was interrupted.');
  if (status === 'failed' && !lastAttempt) throw new RunFailed(withoutSecrets(reason ?? 'The run failed.', secrets));
  const { dir, summary } = await work.putAway(delivery, result);
  await endTicket(home, job, state.run);
  const { rows, records, target, seconds, company } = summary;
  const { total, ...outcomes } = rows;
  const reached = records ?? total;
  await tellEnd(delivery, { ...state, phase: 'done', total: reached, done: reached, outcomes });
  const facts = work.kind === 'export' ? { records, target: target?.path } : { rows };
  log.info({ status, ...facts, seconds, reports: dir }, 'run ended');
  const rehearsal = await isRehearsal(home, summary);
  const doubt = work.kind === 'export' && status === 'partial' ? doubtText(summary) : undefined;
  deps.onEnded({
    kind: work.kind,
    job: name,
    ...(typeof data.job === 'string' ? {} : { inline: true }),
    trigger: origin.trigger,
    status,
    run: state.run,
    company,
    counts: outcomes,
    seconds,
    reports: dir,
    ...(rehearsal && { dryRun: true }),
    ...(reason !== undefined && { reason }),
    ...(doubt !== undefined && { reason: doubt, doubtful: true }),
  });
  return summary;
}

/** An export that cannot be shown to be whole. */
function doubtText({ records = 0, target }: Summary): string {
  return (
    `the list changed while it was read, and it could not be established that the ${records} records in ` +
    `${target?.path ?? 'the file'} are all of them. The summary says more; export again when less is going on.`
  );
}
