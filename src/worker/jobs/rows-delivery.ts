import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { type ImportRequest, importFile } from '../../runs/import.js';
import { type LoadedJob, loadJob, loadReconcileJob } from '../../runs/job-file.js';
import { reconcileFile } from '../../runs/reconcile.js';
import type { RunResult } from '../../runs/run/conclude.js';
import type { RunContext } from '../../runs/run/context.js';
import type { Summary } from '../../runs/run/present.js';
import { linklessCopy } from '../../runs/run/run.js';
import { placeText } from '../inbox/disk.js';
import { alreadyEnded, endAfterRun, endRefused, endRepeated, moveReports, type RepeatedSummary } from './claims.js';
import type { RowsData, RunData } from './data.js';
import { Delivery, type Prepared, refusal } from './delivery.js';
import { failureText } from './failure.js';
import { allowedPlaces, fileBelowRoots } from './roots.js';
import { type JobState, settledRows } from './state.js';
import { endTicket } from './tickets.js';

/** The first of two files with the same content is waited for. */
const SAME_CONTENT_MS = 2_000;
/** A folder that cannot be moved is tried again. */
const MOVE_AGAIN_MS = 10_000;

/** A run of rows: it has a file, perhaps out of the drop folder, and may write to the service. */
abstract class RowsDelivery extends Delivery<RowsData, LoadedJob> {
  abstract override readonly kind: 'import' | 'reconcile';
  /** The job of this name in the jobs folder. */
  protected abstract load(): Promise<LoadedJob>;
  /** Whether nothing is to be written to the service. */
  protected abstract dryRun(job: LoadedJob): boolean;
  protected abstract begin(request: ImportRequest, context: RunContext): Promise<RunResult>;

  protected reached(state: JobState): number {
    return settledRows(state.outcomes);
  }

  protected settleMs(): number {
    const { settleWindowMs, worker } = this.deps.settings;
    const settle = settleWindowMs.reduce((sum, ms) => sum + ms, 0);
    return settle + (this.state.handedBack ? 0 : worker.leaseMs);
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
    const loaded = this.inline ?? (await this.load());
    const file = await this.file();
    const repeated = await this.repeatedClaim(loaded);
    if (repeated) return { result: repeated };
    const { force = false, company } = data.options ?? {};
    const { notes } = this.occasion(loaded.job.schedule);
    const request = {
      ...{ run: state.run, file, job: loaded, dryRun: this.dryRun(loaded), force, notes },
      ...(company !== undefined && { company }),
      ...(origin.claim && { reportDir: origin.claim.dir }),
      // What `fileBelowRoots` found leads through no link, and must not do so later.
      ...(data.rows ? { jsonRows: true } : { makeSource: linklessCopy(file) }),
    };
    return { file, rowsJob: loaded.job, begin: (context) => this.begin(request, context) };
  }

  /** The file that the job names, or the rows that it holds as one; handed on to other machines where it is not on this one. */
  private async file(): Promise<string> {
    const { home, worker } = this.deps.settings;
    const { rows, file = '' } = this.data;
    if (rows) return writeRows(home, this.state.run, rows);
    try {
      return await fileBelowRoots(file, worker);
    } catch (error) {
      const [place = ''] = allowedPlaces(file, worker);
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
    return endAfterRun(dropFolder, claim, settings.home, result.summary).catch(async (error: unknown) => {
      this.log.warn(failureText(error, settings.secrets));
      throw await this.postpone(MOVE_AGAIN_MS);
    });
  }

  protected override async putAwayGivenUp(reason: string, begun: boolean): Promise<string | undefined> {
    const { dropFolder, settings } = this.deps;
    const { claim } = this.origin;
    if (!claim) return undefined;
    const dir = await endRefused(dropFolder, claim, this.kind, reason, begun);
    if (begun) await moveReports(settings.home, claim.run, dir);
    return dir;
  }
}

/** An import: what is not asked to be a dry run writes. */
export class ImportDelivery extends RowsDelivery {
  readonly kind = 'import';
  protected readonly anewText = 'Rows that it wrote are unchanged here; its own reports lie there, if anywhere.';
  protected readonly deathAdvice =
    'import the file by itself: rowferry import FILE --job JOB. What was written stays written; importing the file again repeats nothing.';
  protected readonly begin = importFile;

  protected load(): Promise<LoadedJob> {
    return loadJob(this.name, { jobsDir: this.deps.settings.jobsDir });
  }

  protected dryRun(): boolean {
    return this.data.options?.dry_run ?? false;
  }
}

/** A reconciliation: it writes where the data or else the job say so. */
export class ReconcileDelivery extends RowsDelivery {
  readonly kind = 'reconcile';
  protected readonly anewText = 'What it wrote is unchanged here; its own reports lie there, if anywhere.';
  protected readonly deathAdvice =
    'reconcile the file by itself: rowferry reconcile FILE --job JOB. What was written stays written; reconciling the file again repeats nothing.';
  protected readonly begin = reconcileFile;

  protected load(): Promise<LoadedJob> {
    return loadReconcileJob(this.name, { jobsDir: this.deps.settings.jobsDir });
  }

  protected dryRun({ job }: LoadedJob): boolean {
    const { apply, dry_run: dryRun } = this.data.options ?? {};
    const asked = apply ?? (dryRun === undefined ? undefined : !dryRun);
    return !(asked ?? ('apply' in job && job.apply));
  }
}

/** Where files lie until a run has its private copy of them: `<home>/uploads/`. */
export function uploadsDir(home: string): string {
  return path.join(home, 'uploads');
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
