import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { DelayedError, type Job } from 'bullmq';
import { RunError } from '../../model/error.js';
import { exportRecords } from '../../runs/export.js';
import { importFile } from '../../runs/import.js';
import {
  dateOf,
  exportRequest,
  type LoadedExportJob,
  type LoadedJob,
  loadExportJob,
  loadJob,
  loadReconcileJob,
  outputOf,
  withDate,
} from '../../runs/job-file.js';
import { reconcileFile } from '../../runs/reconcile.js';
import type { RunResult } from '../../runs/run/conclude.js';
import type { Summary } from '../../runs/run/present.js';
import { linklessCopy } from '../../runs/run/run.js';
import { placeText } from '../inbox/disk.js';
import { isAway } from '../store/faults.js';
import type { Processor } from '../store/port.js';
import { alreadyEnded, endAfterRun, endRefused, endRepeated, type RepeatedSummary } from './claims.js';
import type { ExportData, RowsData, RowsOptions, RunData } from './data.js';
import { checkJobData } from './data.js';
import { Delivery, type Prepared, type RunDeps, refusal, SOON_MS } from './delivery.js';
import { failureText } from './failure.js';
import { endTicket } from './home.js';
import { allowedPlaces, fileBelowRoots, makeTarget, targetFolders, uploadsDir } from './roots.js';
import { freshState, type JobState, settledRows } from './state.js';

/**
 * The processor of queue `rowferry`: contract, section 10. Wrong data fail at once, with every fault; else the delivery
 * decides what becomes of the job. The worker that runs it sets `maxStalledCount` high: jobs that kill their workers are
 * found out here.
 */
export function runProcessor(deps: RunDeps): Processor {
  return async (job, token, signal) => {
    try {
      const checked = checkJobData(job.name, job.data);
      if ('faults' in checked) throw await refusedData(deps, job, checked.faults);
      const delivery =
        checked.kind === 'export'
          ? new ExportDelivery(deps, job, token, checked.ok, checked.inline)
          : new RowsDelivery(checked.kind, deps, job, token, checked.ok, checked.inline);
      return await delivery.deliver(signal);
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

/** No run, no claim, no name: what forged data say of themselves is not repeated anywhere. */
async function refusedData(deps: RunDeps, job: Job, faults: readonly string[]): Promise<Error> {
  const count = faults.length === 1 ? 'a fault' : 'faults';
  const reason = `The data of this job has ${count}; nothing was sent, and it is not tried again.\n${faults.join('\n')}`;
  deps.log.error({ queueJob: job.id }, reason);
  const { run: _, ...blank } = freshState('');
  await job.updateProgress({ ...blank, phase: 'done', failure: 'usage' });
  deps.onEnded({ job: 'inline', inline: true, trigger: 'queue', status: 'refused', reason });
  return refusal(reason);
}

/** The first of two files with the same content is waited for. */
const SAME_CONTENT_MS = 2_000;
/** A folder that cannot be moved is tried again. */
const MOVE_AGAIN_MS = 10_000;

/** What the two kinds of run do each in their own way. */
const KINDS = {
  import: {
    /** The job of this name in the jobs folder. */
    load: (name: string, from: { readonly jobsDir: string }): Promise<LoadedJob> => loadJob(name, from),
    begin: importFile,
    /** Whether nothing is to be written to the service. */
    dryRun: ({ dry_run: dryRun = false }: RowsOptions, _: LoadedJob) => dryRun,
    anewText: 'Rows that it wrote are unchanged here; its own reports lie there, if anywhere.',
    deathAdvice:
      'import the file by itself: rowferry import FILE --job JOB. What was written stays written; importing the file again repeats nothing.',
  },
  reconcile: {
    load: (name: string, from: { readonly jobsDir: string }): Promise<LoadedJob> => loadReconcileJob(name, from),
    begin: reconcileFile,
    dryRun({ apply, dry_run: dryRun }: RowsOptions, { job }: LoadedJob) {
      const asked = apply ?? (dryRun === undefined ? undefined : !dryRun);
      return !(asked ?? ('apply' in job && job.apply));
    },
    anewText: 'What it wrote is unchanged here; its own reports lie there, if anywhere.',
    deathAdvice:
      'reconcile the file by itself: rowferry reconcile FILE --job JOB. What was written stays written; reconciling the file again repeats nothing.',
  },
};

/** A run of rows: it has a file, perhaps out of the drop folder, and may write to the service. */
export class RowsDelivery extends Delivery<RowsData, LoadedJob> {
  constructor(
    override readonly kind: 'import' | 'reconcile',
    ...delivered: ConstructorParameters<typeof Delivery<RowsData, LoadedJob>>
  ) {
    super(...delivered);
  }

  protected get anewText(): string {
    return KINDS[this.kind].anewText;
  }

  protected get deathAdvice(): string {
    return KINDS[this.kind].deathAdvice;
  }

  protected reached(state: JobState): number {
    return settledRows(state.outcomes);
  }

  protected settleMs(): number {
    const { settleWindowMs, leaseMs } = this.deps.settings;
    const settle = settleWindowMs.reduce((sum, ms) => sum + ms, 0);
    return settle + (this.state.handedBack ? 0 : leaseMs);
  }

  protected override async endedBefore(): Promise<object | undefined> {
    const { claim } = this.origin;
    const done = claim && (await alreadyEnded(this.deps.dropFolder, claim, this.deps.settings.home));
    if (!done) return undefined;
    const { dir, summary } = done;
    if (summary) return summary;
    if (path.basename(path.dirname(path.dirname(dir))) === 'done') return { dir };
    throw refusal(`The file was refused; it lies in ${dir}, with the reason in ERROR.txt.`);
  }

  async prepare(): Promise<Prepared | { readonly result: RepeatedSummary }> {
    const { data, origin, state } = this;
    const { load, begin, dryRun } = KINDS[this.kind];
    const loaded = this.inline ?? (await load(this.name, { jobsDir: this.deps.settings.jobsDir }));
    const file = await this.file();
    const repeated = await this.repeatedClaim(loaded);
    if (repeated) return { result: repeated };
    const { force = false, company } = data.options ?? {};
    const { notes } = this.occasion(loaded.job.schedule);
    const request = {
      ...{ run: state.run, file, job: loaded, dryRun: dryRun(data.options ?? {}, loaded), force, notes },
      ...(company !== undefined && { company }),
      ...(data.corrections && { corrections: data.corrections }),
      ...(origin.claim && { reportDir: origin.claim.dir }),
      // What `fileBelowRoots` found leads through no link, and must not do so later.
      ...(data.rows ? { jsonRows: true } : { makeSource: linklessCopy(file) }),
    };
    return { file, rowsJob: loaded.job, begin: (context) => begin(request, context) };
  }

  /** The file that the job names, or the rows that it holds as one; handed on to other machines where it is not on this one. */
  private async file(): Promise<string> {
    const { settings } = this.deps;
    const { rows, file = '' } = this.data;
    if (rows) return writeRows(settings.home, this.state.run, rows);
    try {
      return await fileBelowRoots(file, settings);
    } catch (error) {
      const [place = ''] = allowedPlaces(file, settings);
      const advice =
        this.origin.trigger === 'schedule'
          ? `The schedule reads ${place}: put the file there before the next time.`
          : 'Put it there and send the job again.';
      throw await this.handOn(error, advice);
    }
  }

  /** A claim whose content was run before is put away instead of being run. */
  private async repeatedClaim(loaded: LoadedJob): Promise<RepeatedSummary | undefined> {
    const { settings, dropFolder } = this.deps;
    const { claim } = this.origin;
    if (!claim) return undefined;
    const company = this.data.options?.company ?? loaded.job.company ?? settings.company;
    const seen = await dropFolder.check(claim, loaded, company);
    if (seen.verdict === 'wait') throw await this.postpone(SAME_CONTENT_MS);
    if (seen.verdict === 'run') return undefined;
    const { dir, summary } = await endRepeated(dropFolder, claim, settings.home, seen.first);
    endTicket(settings.home, this.state.run);
    this.log.info(`the same content was run before as ${seen.first.run}; put away in ${dir}`);
    return summary;
  }

  /** Removes what was put into `<home>/uploads` for this job; other files there are left alone. */
  protected override async cleanUp(): Promise<void> {
    const { home } = this.deps.settings;
    const file = uploadOf(home, this.data, this.state.run);
    if (path.dirname(file) === uploadsDir(home) && OURS.test(path.basename(file))) await rm(file, { force: true });
  }

  protected override async putAway(result: RunResult): Promise<{ dir: string; summary: Summary }> {
    const { dropFolder, settings } = this.deps;
    const { claim } = this.origin;
    if (!claim) return super.putAway(result);
    const { dir, summary = result.summary } = await endAfterRun(dropFolder, claim, settings.home, result.summary).catch(
      async (error: unknown) => {
        this.log.warn(failureText(error, settings.secrets));
        throw await this.postpone(MOVE_AGAIN_MS);
      },
    );
    return { dir, summary };
  }

  protected override async putAwayGivenUp(reason: string, begun: boolean): Promise<string | undefined> {
    const { dropFolder, settings } = this.deps;
    const { claim } = this.origin;
    return claim && (await endRefused(dropFolder, claim, settings.home, { kind: this.kind, reason, begun })).dir;
  }
}

/** Writes the rows of a job as NDJSON, one object a line; row numbers are then positions in the list, from 1. Returns its path. */
async function writeRows(home: string, run: string, rows: NonNullable<RowsData['rows']>): Promise<string> {
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`);
  await mkdir(uploadsDir(home), { recursive: true });
  const file = uploadOf(home, {}, run);
  await placeText(file, lines.join(''));
  return file;
}

/** Where the file of a job lies, or would lie if it had been put into `<home>/uploads`. */
function uploadOf(home: string, data: Pick<RunData, 'file'>, run: string): string {
  return data.file === undefined ? path.join(uploadsDir(home), `${run}.ndjson`) : path.resolve(home, data.file);
}

/** Names that rows and copies are given: of one job each, and removed after it. */
const OURS = /^[0-9a-f]{16}-.|^\d{8}T\d{9}Z-[0-9a-f]+\.ndjson$/s;

/** An export: it has a file to write, and changes nothing in the service. */
class ExportDelivery extends Delivery<ExportData, LoadedExportJob> {
  readonly kind = 'export';
  protected readonly anewText = 'All is read again; nothing of it is lost.';
  protected readonly deathAdvice = 'export by itself: rowferry export --job JOB. Nothing was changed in the service.';

  protected reached(state: JobState): number {
    return state.done;
  }

  /** Nothing that was sent can take effect. */
  protected settleMs(): number {
    return 0;
  }

  async prepare(): Promise<Prepared> {
    const { settings } = this.deps;
    const loaded = this.inline ?? (await loadExportJob(this.name, { jobsDir: settings.jobsDir }));
    const { slot, notes } = this.occasion(loaded.job.schedule);
    const target = await this.target(loaded, slot?.slot);
    const company = this.data.options?.company;
    const request = exportRequest(
      loaded,
      { target, run: this.state.run, notes, ...(company !== undefined && { company }) },
      { cwd: settings.home },
    );
    return { file: target, begin: (context) => exportRecords(request, context) };
  }

  /** The file to write, in a folder that is there; handed on to other machines where it is not below a folder of this one. */
  private async target({ job, name }: LoadedExportJob, slot: string | undefined): Promise<string> {
    const stated = this.data.file ?? outputOf(job);
    if (stated === undefined) {
      throw new RunError(
        'usage',
        `The job ${name} does not say which file to write. Give it a line such as \`output: exports/${job.resource}s-{date}.xlsx\`, or send \`file\` with the job of the queue.`,
      );
    }
    // The date of the slot also where its run begins after midnight.
    const date = slot?.slice(0, 10) ?? dateOf(Date.now(), job.schedule?.timezone);
    try {
      return await makeTarget(withDate(stated, date), targetFolders(this.deps.settings));
    } catch (error) {
      throw await this.handOn(error, 'Name a folder that the worker may write to.');
    }
  }
}
