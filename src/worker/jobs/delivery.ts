import { hostname } from 'node:os';
import path from 'node:path';
import { DelayedError, type Job, UnrecoverableError, WaitingError } from 'bullmq';
import type { Logger } from 'pino';
import { RunError, RunInterrupted } from '../../model/error.js';
import type { RowsJob } from '../../model/job.js';
import { redactor } from '../../model/secret-forms.js';
import { approveRun } from '../../runs/approve.js';
import { resumeRun } from '../../runs/resume.js';
import { retryRun } from '../../runs/retry.js';
import type { RunResult } from '../../runs/run/conclude.js';
import { type Progress, type RunContext, STOPPED } from '../../runs/run/context.js';
import { readRequest } from '../../runs/run/earlier-run.js';
import { runFolder } from '../../runs/run/layout.js';
import { freshRunId } from '../../runs/run/list.js';
import type { Summary } from '../../runs/run/present.js';
import type { Schedule } from '../../runs/schedule/slots.js';
import type { Settings } from '../../runs/settings.js';
import { undoRun } from '../../runs/undo.js';
import type { DropFolder } from '../inbox/drop-folder.js';
import { isAway } from '../store/faults.js';
import type { Store } from '../store/port.js';
import { isHere, type RepeatedSummary } from './claims.js';
import { type JobKind, RUNS_QUEUE, type RunData } from './data.js';
import { failureKind, failureText, faultWithoutCells, RunFailed, type WithoutCells, withoutCells } from './failure.js';
import { type Again, againOf, beginTicket, endTicket, readTicket, wasBegunBy } from './home.js';
import { type Lateness, lateNote, lateness, type Origin, originOf } from './ids.js';
import { FileAway, OutsideRoots } from './roots.js';
import type { EndedRun } from './state.js';
import { freshState, type JobState, stateOf, stateWriter } from './state.js';
import type { Stops } from './stops.js';

/** What the processor of queue `rowferry` is given. */
export interface RunDeps {
  readonly settings: Settings;
  readonly store: Pick<Store, 'lease' | 'leased' | 'workers' | 'check'>;
  readonly log: Logger;
  /** Aborted when this process was told to end: runs are handed back. */
  readonly stopping: AbortSignal;
  /** `homeId(settings.home)`. While the worker lives it holds the lease `home.<this>`. */
  readonly homeId: string;
  /** What a run is given besides what the processor knows. */
  context(about: RunAbout): Omit<RunContext, 'listener' | 'log' | 'signal'>;
  readonly dropFolder: DropFolder;
  readonly stops: Pick<Stops, 'watch'>;
  /** After every run, and when a job was refused; not after one that is handed back or tried again. */
  onEnded(ended: EndedRun): void;
  /** A run is taken up; what comes back is told its progress. */
  onBegun?(about: RunAbout & { readonly resumed: boolean }): ((progress: Progress) => void) | undefined;
  /** The run of a schedule's slot begins. */
  onSlot?(slot: { readonly job: string; readonly dueAt: number }): void;
}

export interface RunAbout {
  /** Name of the job file, or `inline`. */
  readonly job: string;
  readonly run: string;
  /** The run that it takes the place of, whose open requests have had their time. */
  readonly insteadOf?: string | undefined;
  readonly log: Logger;
}

/** A run that may begin. */
export interface Prepared {
  /** The file that it reads or writes. */
  readonly file: string;
  /** The job, where rows are taken into the service. */
  readonly rowsJob?: RowsJob;
  begin(context: RunContext): Promise<RunResult>;
}

/** How often it is asked whether the worker that began a run has come back. */
const GRACE_STEP_MS = 2_000;
/** A full disk is tried again so soon. */
const NO_SPACE_MS = 5_000;
/** A run that another delivery works on is asked for again so soon. */
export const SOON_MS = 1_000;
/** When a job that does not come further is given up: so many workers died over it since it last did. */
const MAX_DEATHS = 4;
/** A file that is on another machine is looked for by others, so often and so long apart. */
const AWAY = { times: 30, everyMs: 2_000 };

/** Errors that say the job lies where it belongs already. */
const PLACED = new Set(['DelayedError', 'WaitingError', 'UnrecoverableError']);

/**
 * One delivery of a job of queue `rowferry`, from top to bottom: contract, section 10.
 *
 *   run held by another delivery, or begun where a worker lives ─> later
 *   begun on a machine whose worker is gone ── after a wait ────> begun anew here
 *   run ── ended ──────────────────────────────────────────────> completed, with its summary
 *       ── failed, attempts left ──────────────────────────────> tried again: the run is continued
 *       ── stopped by somebody ──────────────────────────────────> completed, with its summary: interrupted
 *       ── this worker is told to end ─────────────────────────> waiting: any worker continues it
 *       ── nothing will be different next time ────────────────> failed
 *
 * What runs of one kind do in their own way is abstract here; all else is the same for every kind.
 */
export abstract class Delivery<D extends RunData = RunData, J = unknown> {
  abstract readonly kind: JobKind;
  /** What is said in a run that takes the place of one that was begun where no worker lives any more. */
  protected abstract readonly anewText: string;
  /** What a person is told to do after workers died over the job. */
  protected abstract readonly deathAdvice: string;
  /** How far a run has come: grows while it comes further. */
  protected abstract reached(state: JobState): number;
  /** So long, in milliseconds, requests of a worker that is gone may still take effect. */
  protected abstract settleMs(): number;
  /**
   * Finds out what is to be run, and makes ready what that needs; or ends a job that needs no run. Nothing is begun yet.
   * @throws RunError, and what `postpone` returns where the job is not to be done now.
   */
  abstract prepare(): Promise<Prepared | { readonly result: RepeatedSummary }>;

  /** Name for people and metrics. A plain name, never a path: the check has seen to it. */
  protected readonly name: string;
  protected readonly origin: Origin;
  protected log: Logger;
  /** Set where the run takes up an earlier one. */
  private again: Again | undefined;
  /** What the queue is told of the run; the same in every delivery that continues it. */
  protected state: JobState = freshState('');

  /** `inline`: the job that came with the data; else it is loaded by its name. */
  constructor(
    protected readonly deps: RunDeps,
    protected readonly job: Job,
    private readonly token: string | undefined,
    protected readonly data: D,
    protected readonly inline: J | undefined,
  ) {
    this.name = typeof data.job === 'string' ? data.job : 'inline';
    this.origin = originOf(job, data, deps.settings.inbox);
    this.log = deps.log.child({ job: this.name, queueJob: job.id });
  }

  /** Returns what the queue keeps as the result of the job. `taken`: another worker has the job. */
  async deliver(taken: AbortSignal | undefined): Promise<object> {
    const { deps, origin } = this;
    // Handed back a moment ago and taken once more by the worker that is ending: left to others.
    if (deps.stopping.aborted) throw await this.postpone(SOON_MS);
    if (origin.elsewhere) throw await this.postpone(AWAY.everyMs);
    this.state = await this.runOfJob();
    const lease = await deps.store.lease(`run.${this.state.run}`, deps.settings.leaseMs);
    if (!lease) throw await this.postpone(SOON_MS);
    this.log = this.log.child({ run: this.state.run });
    try {
      const result = (await this.endedBefore()) ?? (await this.runUnder([lease.lost, ...(taken ? [taken] : [])]));
      return await this.withoutQuotes(result);
    } finally {
      await lease.release().catch(() => undefined);
    }
  }

  /** What an earlier delivery that brought the job to its end did not come to say; undefined where there was none. */
  protected async endedBefore(): Promise<object | undefined> {
    return undefined;
  }

  /** Removes what was put aside for the run, which has its own by now, or never needs it. */
  protected async cleanUp(): Promise<void> {}

  /** Puts away what belongs to a run that came to its end; `dir` is where its reports then lie. */
  protected async putAway({ reportDir, summary }: RunResult): Promise<{ dir: string; summary: Summary }> {
    return { dir: reportDir, summary };
  }

  /** Puts away what belongs to a job that is given up. `begun`: its run was. Returns where its reports lie. */
  protected async putAwayGivenUp(_reason: string, _begun: boolean): Promise<string | undefined> {
    return undefined;
  }

  /** Where a job that is not done is put; the caller throws what comes back. With a state that state is told. */
  protected async postpone(ms: number, state?: JobState): Promise<Error> {
    if (state) await this.job.updateProgress(state);
    await this.job.moveToDelayed(Date.now() + ms, this.token);
    return new DelayedError();
  }

  /** At the head of the queue, for whichever worker asks next. */
  private async handBack(state: JobState): Promise<Error> {
    await this.job.updateProgress({ ...state, handedBack: true });
    await this.job.moveToWait(this.token);
    this.log.info('handed back to the queue');
    return new WaitingError();
  }

  /**
   * The run that the job stands for: what its id, an earlier delivery or this data folder says, else a new one, which is kept at
   * once. Anybody may write the id of a run on the queue: one of this data folder is continued only by the job that began it.
   */
  private async runOfJob(): Promise<JobState> {
    const { job, origin } = this;
    const { home } = this.deps.settings;
    const before = stateOf(job);
    const said = before && (origin.run === undefined || origin.run === before.run) ? before : undefined;
    const named = said?.run ?? origin.run ?? readTicket(home, job);
    const ofAnother = named !== undefined && (await isHere(home, named)) && !wasBegunBy(home, job, named);
    if (ofAnother && origin.claim) throw refusal(`The job names run ${named}, which it has not begun.`);
    if (ofAnother) this.log.warn({ run: named }, 'the job names a run that it has not begun: it gets one of its own');
    if (said && !ofAnother) return said;
    const state = freshState(named === undefined || ofAnother ? await freshRunId(home) : named);
    await job.updateProgress(state);
    return state;
  }

  private async runUnder(ends: readonly AbortSignal[]): Promise<object> {
    const { job, deps } = this;
    const before = this.state;
    const deaths = job.stalledCounter - (before.mark?.stalls ?? 0);
    const rows = this.reached(before);
    const came = before.mark === undefined || before.waited || rows > before.mark.rows;
    if (!came && deaths > MAX_DEATHS) throw await this.giveUp(deathText(deaths, this.deathAdvice));
    if (came) this.state = { ...before, mark: { stalls: job.stalledCounter, rows } };
    const resumed = await isHere(deps.settings.home, before.run);
    const elsewhere = resumed ? undefined : await this.begunElsewhere();
    if (elsewhere) throw elsewhere;
    const { handedBack: _, notBefore: __, waited: ___, ...state } = this.state;
    this.state = state;
    this.again = againOf(deps.settings.home, state.run);
    beginTicket(deps.settings.home, job, state.run);

    const stop = deps.stops.watch(state.run, [
      [deps.stopping, 'SIGTERM'],
      ...ends.map((one) => [one, 'taken away'] as const),
    ]);
    try {
      if (deps.stopping.aborted) throw await this.handBack(state);
      return await this.run(resumed, stop.signal);
    } catch (error) {
      throw await this.afterFault(error, stop.signal);
    } finally {
      stop.release();
    }
  }

  /**
   * A run that this data folder does not hold may have been begun on another machine. A worker there may continue it; where
   * none is left, the job stands for a new run, once what the lost one sent has taken effect. Undefined: begin it here.
   */
  private async begunElsewhere(): Promise<Error | undefined> {
    const { deps, state } = this;
    const { home, host = 'another machine', notBefore: known, ...rest } = state;
    if (home === undefined || home === deps.homeId) return undefined;
    if (await deps.store.leased(`home.${home}`)) return this.postpone(SOON_MS, { ...rest, home, host });
    const wait = this.settleMs();
    const notBefore = known ?? Date.now() + wait;
    if (Date.now() < notBefore) {
      if (known === undefined) {
        this.log.warn(
          `the worker on ${host} that began this run is away; unless it comes back, it is begun anew here in ${Math.ceil(wait / 1000)} s`,
        );
      }
      // In small steps, so that the worker that began it finds it soon when it comes back.
      return this.postpone(Math.min(GRACE_STEP_MS, notBefore - Date.now()), { ...rest, home, host, notBefore });
    }
    // The job's id may name the run. Taken up again at once, under the lease of the new run.
    const run = this.origin.run === undefined ? await freshRunId(deps.settings.home) : state.run;
    const { mark } = state;
    return this.postpone(0, { ...freshState(run), insteadOf: { run: state.run, host }, mark });
  }

  /** The error that the queue is to be told for a run that did not come to an end. */
  private async afterFault(error: unknown, stop: AbortSignal): Promise<unknown> {
    const { log, deps } = this;
    if (error instanceof Error && PLACED.has(error.name)) return error;
    this.state = this.begunHere();
    // It had not come so far that there could be reports.
    if (stop.reason === STOPPED) return this.giveUp('The run was stopped by somebody before it had begun.');
    if (stop.aborted || error instanceof RunInterrupted) {
      return stop.reason === 'SIGTERM' ? this.handBack(this.state) : this.postpone(SOON_MS, this.state);
    }
    if (isAway(error)) return error;
    const kind = failureKind(error, !this.lastAttempt);
    if (kind === 'later') return this.postpone(SOON_MS);
    const text = failureText(error, deps.settings.secrets);
    if (kind === 'full') {
      log.warn(`${text} The job waits and goes on by itself once there is space.`);
      return this.postpone(NO_SPACE_MS, this.state);
    }
    log[kind === 'final' ? 'error' : 'warn'](text);
    return kind === 'retry' ? new RunFailed(text) : this.giveUp(text, error);
  }

  private begunHere(): JobState {
    return { ...this.state, home: this.deps.homeId, host: hostname() };
  }

  private get lastAttempt(): boolean {
    return this.job.attemptsMade + 1 >= (this.job.opts.attempts ?? 1);
  }

  /** Fails the job for good: there is no run, or none that can go on. */
  private async giveUp(reason: string, error?: unknown): Promise<Error> {
    const { run } = this.state;
    const { home } = this.deps.settings;
    const begun = await isHere(home, run);
    const reports = await this.putAwayGivenUp(reason, begun).catch((left: unknown) => {
      this.log.error(failureText(left, this.deps.settings.secrets));
      throw left;
    });
    await this.cleanUp();
    endTicket(home, run);
    const failure = error instanceof RunError && error.kind === 'usage' ? 'usage' : 'failed';
    await this.tellEnd({ ...this.state, phase: 'done', failure });
    this.ended({ status: begun ? 'failed' : 'refused', reason, run: begun ? run : undefined, reports });
    return refusal(reason);
  }

  private ended(end: Omit<EndedRun, 'kind' | 'job' | 'inline' | 'trigger'>): void {
    const { kind, name: job, origin, data } = this;
    // That something is put back is neither a success nor a failure of the job.
    if (this.again?.verb === 'undo') return;
    const { dropFolder } = this.deps;
    const file = origin.claim?.name ?? (data.file === undefined ? undefined : path.basename(data.file));
    const inline = typeof data.job !== 'string';
    const { claim, trigger } = origin;
    const reason = claim && end.reason !== undefined ? dropFolder.forPeople(claim, end.reason) : end.reason;
    const reports = claim && end.reports !== undefined ? dropFolder.asSeen(end.reports) : end.reports;
    this.deps.onEnded({ kind, job, inline, trigger, file, ...end, reason, reports });
  }

  /** The last that is said of a job. A queue that has lost the job meanwhile changes nothing in what its run has done. */
  private async tellEnd(state: JobState): Promise<void> {
    await this.job.updateProgress(state).catch((error: unknown) => {
      if (isAway(error)) throw error;
      this.log.warn({ err: error }, 'the end of the run could not be told to the queue');
    });
  }

  /** Begins or continues the run and brings it to its end. */
  private async run(resumed: boolean, stop: AbortSignal): Promise<Summary | RepeatedSummary> {
    const { deps, origin, name } = this;
    const bySchedule = origin.trigger === 'schedule';
    const right = bySchedule ? await deps.store.lease(`schedule.${name}`, deps.settings.leaseMs) : undefined;
    if (bySchedule && !right) throw await this.postpone(SOON_MS);
    try {
      const prepared = resumed ? undefined : ((await this.takenUp()) ?? (await this.prepare()));
      if (prepared && 'result' in prepared) return prepared.result;
      this.state = this.begunHere();
      await this.job.updateProgress(this.state);
      const signal = right ? AbortSignal.any([stop, right.lost]) : stop;
      const rowsJob = prepared?.rowsJob ?? (await storedJob(deps.settings.home, this.state.run));
      const clean = rowsJob ? withoutCells(rowsJob) : (text: string) => text;
      const result = await this.carryOut(prepared, signal, clean);
      if (result.summary.status === 'interrupted' && signal.reason !== STOPPED) throw new RunInterrupted();
      return await this.conclude(result, clean);
    } finally {
      await right?.release().catch(() => undefined);
    }
  }

  /** Exactly what was asked to be done with an earlier run. */
  private async takenUp(): Promise<Prepared | undefined> {
    const { again, state, deps } = this;
    if (!again) return undefined;
    const rowsJob = await storedJob(deps.settings.home, again.of);
    const begin = (context: RunContext) => {
      const { run } = state;
      if (again.verb === 'retry') return retryRun(again.of, { ...again, run }, context);
      return again.verb === 'undo'
        ? undoRun(again.of, { ...again, run }, context)
        : approveRun(again.of, { ...again, run }, context);
    };
    return { file: again.of, ...(rowsJob && { rowsJob }), begin };
  }

  private async carryOut(prepared: Prepared | undefined, signal: AbortSignal, clean: WithoutCells): Promise<RunResult> {
    const { deps, log, state } = this;
    const { run } = state;
    const about = { job: this.name, run, insteadOf: state.insteadOf?.run, log };
    const writer = stateWriter(this.job, state, (err) => log.warn({ err }, 'the progress could not be told'));
    const told = deps.onBegun?.({ ...about, resumed: !prepared });
    const context: RunContext = {
      ...deps.context(about),
      log,
      signal,
      listener: {
        progress(progress) {
          writer.note(progress);
          told?.(progress);
        },
        notice: ({ level, text }) => log[level](clean(text)),
      },
    };
    log.info({ file: prepared?.file }, prepared ? 'run begun' : 'run taken up again');
    try {
      return prepared ? await prepared.begin(context) : await resumeRun(run, context);
    } catch (error) {
      throw faultWithoutCells(error, clean);
    } finally {
      await writer.close();
      if (await isHere(deps.settings.home, run)) await this.cleanUp();
    }
  }

  private async conclude(result: RunResult, clean: WithoutCells): Promise<Summary> {
    const { home, secrets } = this.deps.settings;
    const { status } = result.summary;
    const reason = result.summary.reason === undefined ? undefined : clean(result.summary.reason);
    if (status === 'failed' && !this.lastAttempt) {
      throw new RunFailed(redactor(secrets)(reason ?? 'The run failed.'));
    }
    const told = { ...result.summary, ...(reason !== undefined && { reason }) };
    const { dir, summary } = await this.putAway({ ...result, summary: told });
    endTicket(home, this.state.run);
    const { rows, records, target, seconds, company } = summary;
    const { total, ...outcomes } = rows;
    const reached = records ?? total;
    await this.tellEnd({ ...this.state, phase: 'done', total: reached, done: reached, outcomes });
    const isExport = this.kind === 'export';
    const what = isExport ? { records, target: target?.path } : { rows };
    this.log.info({ status, ...what, seconds, reports: dir }, 'run ended');
    const doubtful = isExport && status === 'partial';
    if (summary.kind !== 'undo')
      this.ended({
        status,
        run: this.state.run,
        company,
        counts: outcomes,
        seconds,
        reports: dir,
        dryRun: await isRehearsal(home, summary),
        reportOnly: summary.dry_run,
        reason: doubtful ? doubtText(summary) : reason,
        doubtful,
      });
    return summary;
  }

  /** A summary as it leaves this machine, by the queue: what it quotes may be cells. The one on the disk is whole. */
  private async withoutQuotes(result: Partial<Summary>): Promise<object> {
    const { run = '', reason, warnings, detected, top_faults: faults, references, kind } = result;
    if (kind === 'export') return result;
    const clean = withoutCells((await storedJob(this.deps.settings.home, run)) ?? { columns: {}, source: {} });
    return {
      ...result,
      ...(warnings && { warnings: warnings.map(clean) }),
      ...(detected && { detected: detected.map(clean) }),
      ...(faults && { top_faults: faults.map(({ example: _, ...fault }) => fault) }),
      ...(references && { references: references.map((one) => ({ ...one, first: [] })) }),
      ...(reason !== undefined && { reason: clean(reason) }),
    };
  }

  /**
   * What is to be thrown for a file that this worker cannot have: the job is left to the others for a while, and fails, with
   * `advice`, where none of them has it. Any other error comes back as it is.
   */
  protected async handOn(error: unknown, advice: string): Promise<unknown> {
    if (!(error instanceof FileAway || error instanceof OutsideRoots)) return error;
    const { state } = this;
    const times = (state.away ?? 0) + 1;
    const alone = (await this.deps.store.workers(RUNS_QUEUE)) === 1;
    if (!alone && times <= AWAY.times) return this.postpone(AWAY.everyMs, { ...state, away: times });
    if (error instanceof OutsideRoots) return error;
    const looked = alone ? '' : ` No worker that took the job within ${(AWAY.times * AWAY.everyMs) / 1000} s has it.`;
    return new RunError('failed', `${error.message}${looked} ${advice}`, [], { cause: error });
  }

  /**
   * Looks at what led to the run; who watches the schedules is told that the run of a slot begins. `notes`: sentences for the
   * warnings of its summary.
   */
  protected occasion(schedule: Schedule | undefined): {
    readonly slot: Lateness | undefined;
    readonly notes: string[];
  } {
    const { job, deps, name, state } = this;
    const slot = schedule && lateness(job.id ?? '', schedule, job.timestamp);
    const notes: string[] = [];
    if (schedule && slot) {
      deps.onSlot?.({ job: name, dueAt: slot.dueAt });
      if (slot.late) notes.push(lateNote(slot.dueAt, Date.now(), schedule.timezone));
    }
    if (state.insteadOf) {
      const { run, host } = state.insteadOf;
      notes.push(`Begun anew: run ${run} of the same job was begun on ${host}, whose worker is gone. ${this.anewText}`);
    }
    return { slot, notes };
  }
}

/** What is said to the queue of a job that is not tried again. */
export function refusal(text: string): UnrecoverableError {
  const error = new UnrecoverableError(text);
  // A stack would be kept in the queue and say nothing.
  error.stack = `UnrecoverableError: ${text}`;
  return error;
}

function deathText(deaths: number, advice: string): string {
  return (
    `${deaths} workers died, one after another, while they worked on this job, and it came no further: it is not tried again. ` +
    `Look into the logs of the workers for how they ended (out of memory, killed, a crash), and ${advice}`
  );
}

/** The job of a run that takes rows, as it was begun. */
async function storedJob(home: string, run: string): Promise<RowsJob | undefined> {
  const { job } = (await readRequest(runFolder(home, run)))?.job ?? {};
  return job && 'match' in job ? job : undefined;
}

function doubtText({ records = 0, target }: Summary): string {
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
