import { readFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { DelayedError, type Job } from 'bullmq';
import { z } from 'zod';
import { RunError, RunInterrupted } from '../../model/error.js';
import type { RowsJob } from '../../model/job.js';
import type { RunResult } from '../../runs/conclude.js';
import { readRequest } from '../../runs/earlier-run.js';
import { runFolder } from '../../runs/layout.js';
import { freshRunId } from '../../runs/list.js';
import type { Summary } from '../../runs/present.js';
import type { Progress } from '../../runs/progress.js';
import { resumeRun } from '../../runs/resume.js';
import { isAway } from '../store/faults.js';
import type { Processor } from '../store/port.js';
import { checkJobData, type FitData } from './check-data.js';
import { isHere, type RepeatedSummary } from './claims.js';
import {
  type Delivery,
  deathText,
  handBack,
  MAX_DEATHS,
  originOf,
  type Plan,
  type Prepared,
  postpone,
  type RunDeps,
  refusal,
  tellEnd,
  type Work,
} from './delivery.js';
import { exportWork } from './export-work.js';
import {
  failureKind,
  failureText,
  faultWithoutCells,
  RunFailed,
  type WithoutCells,
  withoutCells,
  withoutSecrets,
} from './failure.js';
import { importWork, reconcileWork } from './rows-work.js';
import { freshState, type JobState, stateOf, stateWriter } from './state.js';
import { beginTicket, endTicket, readTicket, wasBegunBy } from './tickets.js';

export type { RunDeps } from './delivery.js';

/** How often it is asked whether the worker that began a run has come back. */
const GRACE_STEP_MS = 2_000;
/** A worker that has not come for its dropped files in so long does not come. */
const ELSEWHERE_MS = 7 * 86_400_000;
/** A full disk is tried again so soon. */
const NO_SPACE_MS = 5_000;
/** A run that another delivery works on is asked for again so soon. */
const SOON_MS = 1_000;

/**
 * The processor of queue `rowferry`: contract, section 10. One delivery of a job from top to bottom.
 *
 *   wrong data ────────────────────────────────────────────────> failed, with every fault
 *   run held by another delivery, or begun where a worker lives ─> later
 *   begun on a machine whose worker is gone ── after a wait ────> begun anew here
 *   run ── ended ──────────────────────────────────────────────> completed, with its summary
 *       ── failed, attempts left ──────────────────────────────> tried again: the run is continued
 *       ── this worker is told to end ─────────────────────────> waiting: any worker continues it
 *
 * The worker that runs it sets `maxStalledCount` high: jobs that kill their workers are found out here.
 */
export function runProcessor(deps: RunDeps): Processor {
  const deliver = delivery(deps);
  return async (job, token, signal) => {
    try {
      return await deliver(job, token, signal);
    } catch (error) {
      if (!isAway(error)) throw error;
      deps.log.warn({ queueJob: job.id, err: error }, 'the queue was away; the job is taken up again when it is back');
      await storeIsBack(deps);
      await job.moveToDelayed(Date.now() + SOON_MS, token);
      throw new DelayedError();
    }
  };
}

/** A store that stays away takes the job's lock with it: then the job is found by whoever looks for jobs without one. */
async function storeIsBack({ store, stopping }: RunDeps): Promise<void> {
  while (!stopping.aborted) {
    const back = await store.check().then(
      () => true,
      () => false,
    );
    if (back) return;
    await pause(SOON_MS);
  }
}

function delivery(deps: RunDeps): Processor {
  return async (job, token, signal) => {
    const checked = checkJobData(job.name, job.data);
    if ('faults' in checked) throw await refusedData(deps, job, checked.faults);
    const data = checked.ok;
    // A plain name, never a path: the check has seen to it.
    const name = typeof data.job === 'string' ? data.job : 'inline';
    const delivery: Delivery = {
      job,
      token,
      data,
      work: workOf(checked),
      deps,
      name,
      origin: originOf(job.id, checked.kind, data, deps.settings.worker.inbox),
      log: deps.log.child({ job: name, queueJob: job.id }),
      lastAttempt: job.attemptsMade + 1 >= (job.opts.attempts ?? 1),
    };
    // Handed back a moment ago and taken once more by the worker that is ending: left to others.
    if (deps.stopping.aborted) throw await postpone(delivery, SOON_MS);
    if (delivery.origin.elsewhere) throw await leaveToOthers(delivery);
    const state = await runOf(delivery);
    const lease = await deps.store.lease(`run.${state.run}`, deps.settings.worker.leaseMs);
    if (!lease) throw await postpone(delivery, SOON_MS);
    try {
      const stop = [lease.lost, ...(signal ? [signal] : [])];
      const result = await underLease({ ...delivery, log: delivery.log.child({ run: state.run }) }, state, stop);
      return await withoutQuotes(result, deps.settings.home);
    } finally {
      await lease.release().catch(() => undefined);
    }
  };
}

function workOf(checked: FitData): Work {
  switch (checked.kind) {
    case 'import':
      return importWork(checked);
    case 'reconcile':
      return reconcileWork(checked);
    case 'export':
      return exportWork(checked);
  }
}

/** Another worker took the file out of its own drop folder, and carries it out when it comes by. */
async function leaveToOthers(delivery: Delivery): Promise<Error> {
  const { job, data, log } = delivery;
  if (Date.now() - job.timestamp > ELSEWHERE_MS) {
    return refusal(`The file ${data.file} was taken from a drop folder of which no worker was heard for a week.`);
  }
  log.debug({ file: data.file }, 'left to the worker of that drop folder');
  return postpone(delivery, SOON_MS);
}

/**
 * The run that the job stands for: what its id, an earlier delivery or this data folder says, else a new one, which is kept at
 * once. Anybody may write the id of a run on the queue: one of this data folder is continued only by the job that began it.
 */
async function runOf({ job, origin, deps, log }: Delivery): Promise<JobState> {
  const { home } = deps.settings;
  const before = stateOf(job);
  const said = before && (origin.run === undefined || origin.run === before.run) ? before : undefined;
  const named = said?.run ?? origin.run ?? (await readTicket(home, job))?.run;
  const ofAnother = named !== undefined && (await isHere(home, named)) && !(await wasBegunBy(home, job, named));
  if (ofAnother && origin.claim) throw refusal(`The job names run ${named}, which it has not begun.`);
  if (ofAnother) log.warn({ run: named }, 'the job names a run that it has not begun: it gets one of its own');
  if (said && !ofAnother) return said;
  const state = freshState(named === undefined || ofAnother ? await freshRunId(home) : named);
  await job.updateProgress(state);
  return state;
}

async function underLease(delivery: Delivery, before: JobState, ends: readonly AbortSignal[]): Promise<object> {
  const { job, deps, work } = delivery;
  const { home } = deps.settings;
  const done = await work.endedBefore(delivery);
  if (done) return done;
  const deaths = job.stalledCounter - (before.mark?.stalls ?? 0);
  const reached = work.reached(before);
  const came = before.mark === undefined || before.waited || reached > before.mark.rows;
  if (!came && deaths > MAX_DEATHS) throw await giveUp(delivery, before, deathText(deaths, work.deathAdvice));
  const mark = came ? { stalls: job.stalledCounter, rows: reached } : before.mark;
  const known = { ...before, ...(mark && { mark }) };

  const resumed = await isHere(home, known.run);
  const elsewhere = resumed ? undefined : await begunElsewhere(delivery, known);
  if (elsewhere) throw elsewhere;
  const { handedBack: _, notBefore: __, waited: ___, ...state } = known;
  await beginTicket(home, job, state.run);

  const stop = new AbortController();
  const stopAs = (reason: string) => () => stop.abort(reason);
  const asked = deps.stopping;
  const listeners = [asked, ...ends].map((one, i) => ({
    one,
    listen: stopAs(i === 0 ? 'SIGTERM' : 'taken away'),
  }));
  for (const { one, listen } of listeners) {
    if (one.aborted) listen();
    else one.addEventListener('abort', listen, { once: true });
  }
  try {
    if (asked.aborted) throw await handBack(delivery, state);
    const plan = { state, resumed, signal: stop.signal };
    return await runOnce(delivery, plan).catch(async (error: unknown) => {
      throw await afterFault(delivery, state, error, stop.signal);
    });
  } finally {
    for (const { one, listen } of listeners) one.removeEventListener('abort', listen);
  }
}

/**
 * A run that this data folder does not hold may have been begun on another machine. A worker there may continue it; where
 * none is left, the job stands for a new run, once what the lost one sent has taken effect. Undefined: begin it here.
 */
async function begunElsewhere(delivery: Delivery, state: JobState): Promise<Error | undefined> {
  const { deps, origin, work, log } = delivery;
  const { home, host = 'another machine', notBefore: known, ...rest } = state;
  if (home === undefined || home === deps.homeId) return undefined;
  if (await deps.store.leased(`home.${home}`)) return postpone(delivery, SOON_MS, { ...rest, home, host });
  const wait = work.settleMs(delivery, state);
  const notBefore = known ?? Date.now() + wait;
  if (Date.now() < notBefore) {
    if (known === undefined) {
      log.warn(
        `the worker on ${host} that began this run is away; unless it comes back, it is begun anew here in ${Math.ceil(wait / 1000)} s`,
      );
    }
    // In small steps, so that the worker that began it finds it soon when it comes back.
    return postpone(delivery, Math.min(GRACE_STEP_MS, notBefore - Date.now()), { ...rest, home, host, notBefore });
  }
  // The folder of a claimed file bears the run's id. Taken up again at once, under the lease of the new run.
  const run = origin.claim ? state.run : await freshRunId(deps.settings.home);
  const { mark } = state;
  return postpone(delivery, 0, { ...freshState(run), insteadOf: { run: state.run, host }, ...(mark && { mark }) });
}

/** Errors that say the job lies where it belongs already. */
const PLACED = new Set(['DelayedError', 'WaitingError', 'UnrecoverableError']);

/** The error that the queue is to be told for a run that did not come to an end. */
async function afterFault(delivery: Delivery, state: JobState, error: unknown, stop: AbortSignal): Promise<unknown> {
  const { log, deps, lastAttempt } = delivery;
  if (error instanceof Error && PLACED.has(error.name)) return error;
  const here = { ...state, home: deps.homeId, host: hostname() };
  if (stop.aborted || error instanceof RunInterrupted) {
    return stop.reason === 'SIGTERM' ? handBack(delivery, here) : postpone(delivery, SOON_MS, here);
  }
  if (isAway(error)) return error;
  const kind = failureKind(error, !lastAttempt);
  if (kind === 'later') return postpone(delivery, SOON_MS);
  const text = failureText(error, deps.settings.secrets);
  if (kind === 'full') {
    log.warn(`${text} The job waits and goes on by itself once there is space.`);
    return postpone(delivery, NO_SPACE_MS, here);
  }
  log[kind === 'final' ? 'error' : 'warn'](text);
  return kind === 'retry' ? new RunFailed(text) : giveUp(delivery, here, text, error);
}

/** Fails the job for good: there is no run, or none that can go on. */
async function giveUp(delivery: Delivery, state: JobState, reason: string, error?: unknown): Promise<Error> {
  const { job, data, deps, origin, name, work } = delivery;
  const { run } = state;
  const { home } = deps.settings;
  const begun = await isHere(home, run);
  const reports = await work.giveUp(delivery, reason, begun ? run : undefined);
  await work.cleanUp(delivery, run);
  await endTicket(home, job, run);
  const failure = error instanceof RunError && error.kind === 'usage' ? 'usage' : 'failed';
  await tellEnd(delivery, { ...state, phase: 'done', failure });
  deps.onEnded({
    kind: work.kind,
    job: name,
    ...(typeof data.job === 'string' ? {} : { inline: true }),
    trigger: origin.trigger,
    status: begun ? 'failed' : 'refused',
    reason,
    ...(begun && { run }),
    ...(reports !== undefined && { reports }),
  });
  return refusal(reason);
}

/** No run, no claim, no name: what forged data say of themselves is not repeated anywhere. */
async function refusedData(deps: RunDeps, job: Job, faults: readonly string[]): Promise<Error> {
  const reason = faultsText(faults);
  deps.log.error({ queueJob: job.id }, reason);
  const { run: _, ...blank } = freshState('');
  await job.updateProgress({ ...blank, phase: 'done', failure: 'usage' });
  deps.onEnded({ job: 'inline', inline: true, trigger: 'queue', status: 'refused', reason });
  return refusal(reason);
}

function faultsText(faults: readonly string[]): string {
  const count = faults.length === 1 ? 'a fault' : 'faults';
  return `The data of this job has ${count}; nothing was sent, and it is not tried again.\n${faults.join('\n')}`;
}

/** Begins or continues the run and brings it to its end. Returns what the queue keeps as the result of the job. */
async function runOnce(delivery: Delivery, plan: Plan): Promise<Summary | RepeatedSummary> {
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

/** A summary as it leaves this machine, by the queue: what it quotes may be cells. The one on the disk is whole. */
async function withoutQuotes(result: Partial<Summary>, home: string): Promise<object> {
  const { run = '', reason, warnings, kind } = result;
  if (kind === 'export') return result;
  const clean = withoutCells((await storedJob(home, run)) ?? { columns: {}, source: {} });
  return {
    ...result,
    ...(warnings && { warnings: warnings.map(clean) }),
    ...(reason !== undefined && { reason: clean(reason) }),
  };
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

/** The part of run.json that tells what the job does where nobody says otherwise. */
const stored = z.object({ job: z.object({ job: z.object({ apply: z.boolean() }) }) });

/**
 * Whether somebody asked for this run not to write, though its job does. A reconcile job that only reports does all its
 * work in report-only runs; they are no rehearsals.
 */
export async function isRehearsal(home: string, { run, kind, dry_run: dryRun }: Summary): Promise<boolean> {
  if (!dryRun || kind !== 'reconcile') return dryRun;
  const text = await readFile(runFolder(home, run).request, 'utf8').catch(() => undefined);
  // Our own file, complete or not there.
  const { data } = stored.safeParse(text === undefined ? undefined : JSON.parse(text));
  return data?.job.job.apply ?? false;
}
