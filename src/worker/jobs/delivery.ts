import { rm } from 'node:fs/promises';
import { hostname } from 'node:os';
import path from 'node:path';
import type { Logger } from 'pino';
import { RunError, RunInterrupted } from '../../model/error.js';
import type { RowsJob } from '../../model/job.js';
import { redactor } from '../../model/secret-forms.js';
import { approveRun, resumeRun, retryRun } from '../../runs/follow-up.js';
import { failUnbegun, type RunResult } from '../../runs/run/conclude.js';
import { type Progress, pause, type RunContext, STOPPED } from '../../runs/run/context.js';
import { readRequest } from '../../runs/run/earlier-run.js';
import { runFolder } from '../../runs/run/layout.js';
import { freshRunId } from '../../runs/run/list.js';
import { orphansText, type Summary } from '../../runs/run/present.js';
import { undoRun } from '../../runs/undo.js';
import type { Claim } from '../inbox/claim.js';
import { isJobLost, isStoreUnavailable } from '../store/faults.js';
import {
  DelayedError,
  type Job,
  type Processor,
  type Queue,
  type Store,
  UnrecoverableError,
  WaitingError,
} from '../store/port.js';
import { ClaimArchive, type RepeatedSummary } from './archive.js';
import { checkJobData, type ValidData } from './data.js';
import {
  cellRedactor,
  deathText,
  failureKind,
  failureText,
  type RedactText,
  Requeue,
  RunFailed,
  redactFault,
  redactSummary,
  requeueFirst,
  unrecoverable,
} from './failure.js';
import {
  beginTicket,
  endTicket,
  type FollowUp,
  isBegunHere,
  noteTaken,
  readTicket,
  ticketOf,
  wasBegunBy,
} from './home.js';
import {
  claimJobId,
  type EndedRun,
  freshState,
  type JobState,
  type Origin,
  originOf,
  settledRows,
  stateOf,
  stateWriter,
} from './job.js';
import { type PrepareDeps, type Prepared, prepare, removeUpload, requeueForOthers, whyBound } from './prepare.js';
import type { Stops } from './stops.js';

/** What the processor of queue `rowferry` is given. */
export interface RunDeps extends PrepareDeps {
  readonly store: Pick<Store, 'lease' | 'leased' | 'workers' | 'check' | 'update'>;
  /** The queue that the jobs come from. */
  readonly queue: Pick<Queue, 'getJob'>;
  readonly log: Logger;
  /** Aborted when this process was told to end: runs are handed back. */
  readonly stopping: AbortSignal;
  /** `homeId(settings.home)`. While the worker lives it holds the lease `home.<this>`. */
  readonly homeId: string;
  /** What a run is given besides what the processor knows. */
  context(about: RunInfo): Omit<RunContext, 'listener' | 'log' | 'signal'>;
  readonly stops: Pick<Stops, 'watch'>;
  /** After every run, and when a job was refused; not after one that is handed back or tried again. */
  onEnded(ended: EndedRun): void;
  /** A run is taken up; what comes back is told its progress. */
  onBegun?(about: RunInfo & { readonly resumed: boolean }): ((progress: Progress) => void) | undefined;
}

interface RunInfo {
  /** Name of the job file, or `inline`. */
  readonly job: string;
  readonly run: string;
  /** The run that it takes the place of, whose open requests have had their time. */
  readonly insteadOf?: string | undefined;
  readonly log: Logger;
}

/** How often it is asked whether the worker that began a run has come back. */
const GRACE_STEP_MS = 2_000;
/** So long a run waits for its worker that can go on nowhere else. */
const AWAY_MS = 24 * 3_600_000;
/** A full disk is tried again so soon. */
const NO_SPACE_MS = 5_000;
/** A folder that cannot be moved is tried again. */
const MOVE_AGAIN_MS = 10_000;
/** A run that another delivery works on is asked for again so soon. */
const RETRY_SOON_MS = 1_000;
/** A dropped file asks for its turn after so long for each that is before it, within these limits. */
const TURN = { eachMs: 50, leastMs: 100, mostMs: 60_000 };
/** So soon the drop folder has offered again what the queue knows no job of, where anybody looks through it. */
const OFFERED_WITHIN_MS = 150_000;
/** When a job that does not come further is given up: so many workers died over it since it last did. */
const MAX_DEATHS = 4;

/**
 * The processor of queue `rowferry`: contract, section 10. Wrong data fail at once, with every fault; else the delivery
 * decides what becomes of the job. The worker that runs it sets `maxStalledCount` high: jobs that kill their workers are
 * found out here.
 */
export function runProcessor(deps: RunDeps): Processor {
  const atWork = new Map<string, Promise<void>>();
  return async (job, token, signal) => {
    try {
      const checked = checkJobData(job.name, job.data);
      if ('faults' in checked) throw await refusedData(deps, job, checked.faults);
      return await new Delivery(deps, job, token, checked, atWork).deliver(signal);
    } catch (error) {
      if (!isStoreUnavailable(error)) throw error;
      deps.log.warn({ queueJob: job.id, err: error }, 'the queue was away; the job is taken up again when it is back');
      await waitForStore(deps);
      await job.moveToDelayed(Date.now() + RETRY_SOON_MS, token);
      throw new DelayedError();
    }
  };
}

/** A store that stays away takes the job's lock with it: then the job is found by whoever looks for jobs without one. */
async function waitForStore({ store, stopping }: RunDeps): Promise<void> {
  const isBack = () =>
    store.check().then(
      () => true,
      () => false,
    );
  while (!stopping.aborted && !(await isBack())) await pause(RETRY_SOON_MS, stopping);
}

/** No run, no claim, no name: what forged data say of themselves is not repeated anywhere. */
async function refusedData(deps: RunDeps, job: Job, faults: readonly string[]): Promise<Error> {
  const count = faults.length === 1 ? 'a fault' : 'faults';
  const reason = `The data of this job has ${count}; nothing was sent, and it is not tried again.\n${faults.join('\n')}`;
  deps.log.error({ queueJob: job.id }, reason);
  const { run: _, ...blank } = freshState('');
  await job.updateProgress({ ...blank, phase: 'done', failure: 'usage' });
  deps.onEnded({ job: 'inline', inline: true, trigger: 'queue', status: 'refused', reason });
  return unrecoverable(reason);
}

/**
 * One delivery of a job of queue `rowferry`, from top to bottom: contract, section 10.
 *
 *   run held by another delivery, or begun where a worker lives ─> later
 *   begun on a machine whose worker is gone ── after a wait ────> begun anew here
 *       ── what it sent cannot be looked up, or the file is there ─> later, for a day
 *   run ── ended ──────────────────────────────────────────────> completed, with its summary
 *       ── failed, attempts left ──────────────────────────────> tried again: the run is continued
 *       ── stopped by somebody ──────────────────────────────────> completed, with its summary: interrupted
 *       ── this worker is told to end ─────────────────────────> waiting: any worker continues it
 *       ── nothing will be different next time ────────────────> failed
 *
 * Whatever finds out that a job is not to be done now throws `Requeue`; `deliver` puts it there. All of it in one file: each
 * step goes by what those before it found.
 */
class Delivery {
  /** Name for people and metrics. A plain name, never a path: the check has seen to it. */
  private readonly name: string;
  private readonly origin: Origin;
  /** Of the dropped file that the job is for. */
  private readonly archive: ClaimArchive | undefined;
  private log: Logger;
  /** Set where the run takes up an earlier one. */
  private followUp: FollowUp | undefined;
  /** What the queue is told of the run; the same in every delivery that continues it. */
  private state: JobState = freshState('');

  constructor(
    private readonly deps: RunDeps,
    private readonly job: Job,
    private readonly token: string | undefined,
    private readonly checked: ValidData,
    /** Until when the dropped files are worked on that this worker has, by their runs. */
    private readonly atWork: Map<string, Promise<void>>,
  ) {
    const { ok: data } = checked;
    this.name = typeof data.job === 'string' ? data.job : 'inline';
    const { dropFolder, settings } = deps;
    this.origin = originOf(job, data, settings.inbox);
    const { claim } = this.origin;
    this.archive = claim && new ClaimArchive(dropFolder, claim, settings.home);
    this.log = deps.log.child({ job: this.name, queueJob: job.id });
  }

  /** Returns what the queue keeps as the result of the job. `lockLost`: another worker has the job. */
  async deliver(lockLost: AbortSignal | undefined): Promise<object> {
    const { claim } = this.origin;
    let end = (): void => undefined;
    if (claim) this.atWork.set(claim.run, new Promise((resolve) => (end = resolve)));
    try {
      return await this.deliverUnderLease(lockLost ? [lockLost] : []);
    } catch (error) {
      throw error instanceof Requeue ? await this.requeue(error) : error;
    } finally {
      end();
      if (claim) this.atWork.delete(claim.run);
    }
  }

  private async requeue({ after, state }: Requeue): Promise<Error> {
    if (state) await this.job.updateProgress(state);
    if (after !== 'first') {
      await this.job.moveToDelayed(Date.now() + after, this.token);
      return new DelayedError();
    }
    await this.job.moveToWait(this.token);
    this.log.info('handed back to the queue');
    return new WaitingError();
  }

  private async deliverUnderLease(endSignals: readonly AbortSignal[]): Promise<object> {
    const { store, settings, stopping } = this.deps;
    // Handed back a moment ago and taken once more by the worker that is ending: left to others.
    if (stopping.aborted) throw new Requeue(RETRY_SOON_MS);
    if (this.origin.elsewhere) throw requeueForOthers();
    if (this.origin.claim) await this.assertInTurn(this.origin.claim);
    this.state = await this.resolveRun();
    const { run } = this.state;
    const lease = await store.lease(`run.${run}`, settings.leaseMs);
    if (!lease) throw new Requeue(RETRY_SOON_MS);
    this.log = this.log.child({ run });
    try {
      const result = (await this.earlierResult()) ?? (await this.runWithStops([lease.lost, ...endSignals]));
      return await this.redactResult(result);
    } finally {
      await lease.release().catch(() => undefined);
    }
  }

  /**
   * An older file of a job is not to write over a newer one: a file waits while one before it lies in `processing/` and its
   * job is to come, to whichever worker; the next one here, and those behind it in the queue, where they hold no place. For a
   * job that failed and left its file there nobody waits.
   */
  private async assertInTurn(claim: Claim): Promise<void> {
    const { dropFolder, queue } = this.deps;
    const before = await dropFolder.claimsBefore(claim);
    for (const one of before) {
      if (await dropFolder.isOver(one)) continue;
      const job = await queue.getJob(claimJobId(one));
      const isToCome = job ? job.finishedOn === undefined : Date.now() - this.job.timestamp < OFFERED_WITHIN_MS;
      if (!isToCome) continue;
      const ended = before.length === 1 ? this.atWork.get(one.run) : undefined;
      if (!ended) throw new Requeue(Math.max(TURN.leastMs, Math.min(before.length * TURN.eachMs, TURN.mostMs)));
      await ended;
      return this.assertInTurn(claim);
    }
  }

  /**
   * The run that the job stands for: what its id, an earlier delivery or this data folder says, else a new one, which is kept at
   * once. Anybody may write the id of a run on the queue: one of this data folder is continued only by the job that began it.
   */
  private async resolveRun(): Promise<JobState> {
    const { job, origin } = this;
    const { home } = this.deps.settings;
    const before = stateOf(job);
    const trusted = before && (origin.run === undefined || origin.run === before.run) ? before : undefined;
    const named = trusted?.run ?? origin.run ?? readTicket(home, job);
    const isForeign = named !== undefined && (await isBegunHere(home, named)) && !wasBegunBy(home, job, named);
    if (isForeign && origin.claim) throw unrecoverable(`The job names run ${named}, which it has not begun.`);
    if (isForeign) this.log.warn({ run: named }, 'the job names a run that it has not begun: it gets one of its own');
    if (trusted && !isForeign) return trusted;
    const fresh = freshState(named === undefined || isForeign ? await freshRunId(home) : named);
    // The drop folder knows where a run was begun of whose job the queue knows nothing any more.
    const begun = origin.claim && (await this.deps.dropFolder.ledger.homesOf(origin.claim)).begun;
    const state = { ...fresh, ...(begun !== undefined && { home: begun }) };
    await job.updateProgress(state);
    return state;
  }

  /** What an earlier delivery that put the dropped file away did not come to say; undefined where there was none. */
  private async earlierResult(): Promise<object | undefined> {
    const done = await this.archive?.find();
    if (!done) return undefined;
    const { dir, summary } = done;
    if (summary) return summary;
    if (path.basename(path.dirname(path.dirname(dir))) === 'done') return { dir };
    throw unrecoverable(`The file was refused; it lies in ${dir}, with the reason in ERROR.txt.`);
  }

  private async runWithStops(endSignals: readonly AbortSignal[]): Promise<object> {
    const { job } = this;
    const { settings, stops, stopping } = this.deps;
    const before = this.state;
    const deaths = job.stalledCounter - (before.mark?.stalls ?? 0);
    const rows = this.checked.kind === 'export' ? before.done : settledRows(before.outcomes);
    const hasProgressed = before.mark === undefined || before.waited || rows > before.mark.rows;
    if (!hasProgressed && deaths > MAX_DEATHS) throw await this.giveUp(deathText(deaths, this.checked.kind));
    if (hasProgressed) this.state = { ...before, mark: { stalls: job.stalledCounter, rows } };
    const resumed = await isBegunHere(settings.home, before.run);
    if (!resumed) await this.assertNotElsewhere();
    const { handedBack: _, awaySince: __, waited: ___, ...state } = this.state;
    this.state = state;
    this.followUp = ticketOf(settings.home, state.run)?.again;
    await rm(runFolder(settings.home, state.run).aside, { force: true });

    const stop = stops.watch(state.run, stopping, ...endSignals);
    try {
      if (stopping.aborted) throw requeueFirst(state);
      return await this.run(resumed, stop.signal);
    } catch (error) {
      throw await this.handleFault(error, stop.signal);
    } finally {
      stop.release();
    }
  }

  /**
   * A run that this data folder does not hold may have been begun on another machine. A worker there may continue it; where
   * none is left, the job stands for a new run, once what the lost one sent has taken effect; one that has to stay where it is waits
   * for that worker.
   */
  private async assertNotElsewhere(): Promise<void> {
    const { store, homeId, settings } = this.deps;
    const { home, host = 'another machine', awaySince: recorded, ...rest } = this.state;
    if (home === undefined || home === homeId) return;
    if (await store.leased(`home.${home}`)) throw new Requeue(RETRY_SOON_MS, { ...rest, home, host });
    const { run, mark } = this.state;
    const bound = await whyBound({ ...this.deps, checked: this.checked, name: this.name });
    const wait = bound === undefined ? this.settleMs() : AWAY_MS;
    const awaySince = recorded ?? Date.now();
    const left = awaySince + wait - Date.now();
    if (left > 0) {
      if (recorded === undefined) {
        const then = bound ? `it is waited for: ${bound}` : `it is begun anew here in ${Math.ceil(wait / 1000)} s`;
        this.log.warn(`the worker on ${host} that began this run is away; unless it comes back, ${then}`);
      }
      // In small steps, so that the worker that began it finds it soon when it comes back.
      throw new Requeue(Math.min(GRACE_STEP_MS, left), { ...rest, home, host, awaySince });
    }
    if (bound !== undefined)
      throw await this.giveUp(
        `The run ${run} was begun on ${host}, whose worker has been away for a day, and it cannot be begun anew elsewhere: ${bound}. Start that worker, then go on there with: rowferry runs resume ${run}`,
      );
    // The job's id may name the run. Taken up again at once, under the lease of the new run.
    const fresh = freshState(this.origin.run === undefined ? await freshRunId(settings.home) : run);
    await noteTaken(store, { run, home, by: fresh.run, host: hostname() });
    throw new Requeue(0, { ...fresh, insteadOf: { run, host }, mark });
  }

  /** So long, in milliseconds, requests of a worker that is gone may still take effect: an export sends none that do. */
  private settleMs(): number {
    if (this.checked.kind === 'export') return 0;
    const { settleWindowMs, leaseMs } = this.deps.settings;
    const settle = settleWindowMs.reduce((sum, ms) => sum + ms, 0);
    return settle + (this.state.handedBack ? 0 : leaseMs);
  }

  /** Begins or continues the run and brings it to its end. */
  private async run(resumed: boolean, stop: AbortSignal): Promise<Summary | RepeatedSummary> {
    const { store, settings } = this.deps;
    const bySchedule = this.origin.trigger === 'schedule';
    const scheduleLease = bySchedule ? await store.lease(`schedule.${this.name}`, settings.leaseMs) : undefined;
    if (bySchedule && !scheduleLease) throw new Requeue(RETRY_SOON_MS);
    try {
      const { deps, job, checked, name, origin, state } = this;
      const prepareNow = () =>
        this.followUp ? this.prepareFollowUp(this.followUp) : prepare({ ...deps, job, checked, name, origin, state });
      const prepared = resumed ? undefined : await prepareNow();
      if (prepared && 'first' in prepared) {
        const { first } = prepared;
        // Only a dropped file is held against those before it.
        const { dir, summary } = await this.archive!.endRepeated(first);
        endTicket(settings.home, this.state.run);
        this.log.info(`the same content was run before as ${first.run}; put away in ${dir}`);
        return summary;
      }
      // Not before: a job that is left to other workers is not to be put back by this one when the queue knows it no more.
      beginTicket(settings.home, this.job, this.state.run);
      const homes = { begun: deps.homeId, shared: settings.queueUrl !== undefined };
      if (origin.claim) await deps.dropFolder.ledger.recordHome(origin.claim, homes);
      this.state = this.ownedState();
      await this.job.updateProgress(this.state);
      const signal = scheduleLease ? AbortSignal.any([stop, scheduleLease.lost]) : stop;
      const rowsJob = prepared?.rowsJob ?? (await storedJob(settings.home, this.state.run));
      const redact = rowsJob ? cellRedactor(rowsJob) : (text: string) => text;
      const result = await this.carryOut(prepared, signal, redact);
      if (result.summary.status === 'interrupted' && signal.reason !== STOPPED) throw new RunInterrupted();
      return await this.conclude(result, redact);
    } finally {
      await scheduleLease?.release().catch(() => undefined);
    }
  }

  /** Exactly what was asked to be done with an earlier run. */
  private async prepareFollowUp(followUp: FollowUp): Promise<Prepared> {
    const { run } = this.state;
    const rowsJob = await storedJob(this.deps.settings.home, followUp.of);
    const begin = (context: RunContext) => {
      if (followUp.verb === 'retry') return retryRun(followUp.of, { ...followUp, run }, context);
      return followUp.verb === 'undo'
        ? undoRun(followUp.of, { ...followUp, run }, context)
        : approveRun(followUp.of, { ...followUp, run }, context);
    };
    return { file: followUp.of, ...(rowsJob && { rowsJob }), begin };
  }

  private async carryOut(prepared: Prepared | undefined, signal: AbortSignal, redact: RedactText): Promise<RunResult> {
    const { deps, log, state } = this;
    const { run } = state;
    const about = { job: this.name, run, insteadOf: state.insteadOf?.run, log };
    const writer = stateWriter(this.job, state, (err) => log.debug({ err }, 'the progress could not be told'));
    const onProgress = deps.onBegun?.({ ...about, resumed: !prepared });
    const context: RunContext = {
      ...deps.context(about),
      log,
      signal,
      listener: {
        progress(progress) {
          writer.report(progress);
          onProgress?.(progress);
        },
        notice: ({ level, text }) => log[level](redact(text)),
      },
    };
    log.info({ file: prepared?.file }, prepared ? 'run begun' : 'run taken up again');
    try {
      return prepared ? await prepared.begin(context) : await resumeRun(run, context);
    } catch (error) {
      throw redactFault(error, redact);
    } finally {
      await writer.close();
      // The run has a copy of its own by now.
      if (await isBegunHere(deps.settings.home, run)) await this.removeUpload();
    }
  }

  private async removeUpload(): Promise<void> {
    const { kind, ok: data } = this.checked;
    if (kind !== 'export') await removeUpload(this.deps.settings.home, data);
  }

  private async conclude(result: RunResult, redact: RedactText): Promise<Summary> {
    const { home, secrets } = this.deps.settings;
    const { status } = result.summary;
    const reason = result.summary.reason === undefined ? undefined : redact(result.summary.reason);
    if (status === 'failed' && !this.isLastAttempt) {
      throw new RunFailed(redactor(secrets)(reason ?? 'The run failed.'));
    }
    const { dir, summary } = await this.archiveResult(
      { ...result.summary, ...(reason !== undefined && { reason }) },
      result,
    );
    endTicket(home, this.state.run);
    const { rows, records, target, seconds, company } = summary;
    const { total, ...outcomes } = rows;
    const rowCount = records ?? total;
    await this.reportEnd({ ...this.state, phase: 'done', total: rowCount, done: rowCount, outcomes });
    const isExport = this.checked.kind === 'export';
    const what = isExport ? { records, target: target?.path } : { rows };
    this.log.info({ status, ...what, seconds, reports: dir }, 'run ended');
    const unverified = isExport && status === 'partial';
    if (summary.kind !== 'undo')
      this.notifyEnded({
        status,
        run: this.state.run,
        company,
        counts: outcomes,
        orphans: orphansText(summary)[0],
        seconds,
        reports: dir,
        dryRun: await isRehearsal(home, summary),
        reportOnly: summary.dry_run,
        reason: unverified ? unverifiedText(summary) : reason,
        unverified,
      });
    return summary;
  }

  /** Puts the dropped file of a run away that came to its end. Returns where its reports lie, and its summary there. */
  private async archiveResult(summary: Summary, { reportDir }: RunResult): Promise<{ dir: string; summary: Summary }> {
    if (!this.archive) return { dir: reportDir, summary };
    try {
      const archived = await this.archive.end(summary);
      if (archived.warning !== undefined) this.log.warn(archived.warning);
      return { dir: archived.dir, summary: archived.summary ?? summary };
    } catch (error) {
      this.log.warn(failureText(error, this.deps.settings.secrets));
      throw new Requeue(MOVE_AGAIN_MS);
    }
  }

  /** What the queue is to be told of a run that did not come to an end. */
  private async handleFault(error: unknown, stop: AbortSignal): Promise<unknown> {
    if (error instanceof Requeue || error instanceof UnrecoverableError) return error;
    const { stopping, settings } = this.deps;
    this.state = this.ownedState();
    // It had not come so far that there could be reports.
    if (stop.reason === STOPPED) return this.giveUp('The run was stopped by somebody before it had begun.');
    if (stop.aborted || error instanceof RunInterrupted) {
      const isEnding = stopping.aborted && stop.reason === stopping.reason;
      return isEnding ? requeueFirst(this.state) : new Requeue(RETRY_SOON_MS, this.state);
    }
    if (isStoreUnavailable(error) || isJobLost(error)) return error;
    const kind = failureKind(error, !this.isLastAttempt);
    if (kind === 'later') return new Requeue(RETRY_SOON_MS);
    const text = failureText(error, settings.secrets);
    if (kind === 'full') {
      this.log.warn(`${text} The job waits and goes on by itself once there is space.`);
      return new Requeue(NO_SPACE_MS, this.state);
    }
    this.log[kind === 'final' ? 'error' : 'warn'](text);
    return kind === 'retry' ? new RunFailed(text) : this.giveUp(text, error);
  }

  private ownedState(): JobState {
    return { ...this.state, home: this.deps.homeId, host: hostname() };
  }

  private get isLastAttempt(): boolean {
    return this.job.attemptsMade + 1 >= (this.job.opts.attempts ?? 1);
  }

  /** Fails the job for good: there is no run, or none that can go on. */
  private async giveUp(reason: string, error?: unknown): Promise<Error> {
    const { run } = this.state;
    const { home } = this.deps.settings;
    const begun = await isBegunHere(home, run);
    const reports = await this.archiveGivenUp(reason, begun);
    if (!begun) await failUnbegun(home, run, reason);
    await this.removeUpload();
    endTicket(home, run);
    const failure = error instanceof RunError && error.kind === 'usage' ? 'usage' : 'failed';
    await this.reportEnd({ ...this.state, phase: 'done', failure });
    this.notifyEnded({ ...(begun ? { status: 'failed', run } : { status: 'refused', page: run }), reason, reports });
    return unrecoverable(reason);
  }

  /** Puts the dropped file of a job away that is given up. `begun`: its run was. Returns where it lies. */
  private async archiveGivenUp(reason: string, begun: boolean): Promise<string | undefined> {
    const { kind } = this.checked;
    if (!this.archive || kind === 'export') return undefined;
    try {
      return (await this.archive.refuse(kind, reason, begun)).dir;
    } catch (error) {
      this.log.error(failureText(error, this.deps.settings.secrets));
      throw error;
    }
  }

  private notifyEnded(end: Omit<EndedRun, 'kind' | 'job' | 'inline' | 'trigger'>): void {
    // That something is put back is neither a success nor a failure of the job.
    if (this.followUp?.verb === 'undo') return;
    const { dropFolder, onEnded } = this.deps;
    const { kind, ok: data } = this.checked;
    const { claim, trigger } = this.origin;
    const file = claim?.name ?? (data.file === undefined ? undefined : path.basename(data.file));
    const inline = typeof data.job !== 'string';
    const reason = claim && end.reason !== undefined ? dropFolder.withoutPaths(claim, end.reason) : end.reason;
    // Also of a run whose file was dropped, and which was gone on with since.
    const reports = end.reports && (dropFolder.contains(end.reports) ? dropFolder.sharePath(end.reports) : end.reports);
    onEnded({ kind, job: this.name, inline, trigger, file, ...end, reason, reports });
  }

  /** The last that is said of a job. A queue that has lost the job meanwhile changes nothing in what its run has done. */
  private async reportEnd(state: JobState): Promise<void> {
    await this.job.updateProgress(state).catch((error: unknown) => {
      if (isStoreUnavailable(error)) throw error;
      this.log.warn({ err: error }, 'the end of the run could not be told to the queue');
    });
  }

  private async redactResult(result: Partial<Summary>): Promise<object> {
    if (result.kind === 'export') return result;
    const job = await storedJob(this.deps.settings.home, result.run ?? '');
    return redactSummary(result, cellRedactor(job ?? { columns: {}, source: {} }));
  }
}

/** The job of a run that takes rows, as it was begun. */
async function storedJob(home: string, run: string): Promise<RowsJob | undefined> {
  const { job } = readRequest(runFolder(home, run))?.job ?? {};
  return job && 'match' in job ? job : undefined;
}

function unverifiedText({ records = 0, target }: Summary): string {
  return (
    `the list changed while it was read, and it could not be established that the ${records} records in ` +
    `${target?.path ?? 'the file'} are all of them. The summary says more; export again when less is going on.`
  );
}

/**
 * Whether somebody asked for this run not to write, though its job does. A reconcile job that only reports does all its
 * work in report-only runs; they are no rehearsals.
 */
async function isRehearsal(home: string, { run, kind, dry_run: dryRun }: Summary): Promise<boolean> {
  if (!dryRun || kind !== 'reconcile') return dryRun;
  const job = await storedJob(home, run);
  return job !== undefined && 'apply' in job && job.apply === true;
}
