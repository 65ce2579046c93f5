import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { RunResult } from '../../runs/conclude.js';
import type { RunContext } from '../../runs/context.js';
import { type ImportRequest, importFile } from '../../runs/import.js';
import { type LoadedJob, loadJob, loadReconcileJob } from '../../runs/job-file.js';
import { linklessCopy } from '../../runs/linkless.js';
import type { Summary } from '../../runs/present.js';
import { reconcileFile } from '../../runs/reconcile.js';
import type { FitData } from './check-data.js';
import { alreadyEnded, endAfterRun, endRefused, endRepeated, moveReports } from './claims.js';
import type { RowsData, RowsOptions, RunData, Scalar } from './data.js';
import { type Delivery, handOn, occasionOf, type Plan, postpone, refusal, type Work } from './delivery.js';
import { failureText } from './failure.js';
import { allowedPlaces, fileBelowRoots } from './roots.js';
import { settledRows } from './state.js';
import { endTicket } from './tickets.js';

/** The first of two files with the same content is waited for. */
const SAME_CONTENT_MS = 2_000;

/** A folder that cannot be moved is tried again. */
const MOVE_AGAIN_MS = 10_000;

/** In what imports and reconciliations differ. */
export interface RowsKind<J extends LoadedJob> extends Pick<Work, 'anewText' | 'deathAdvice'> {
  readonly kind: 'import' | 'reconcile';
  /** The job that came with the data; else it is loaded by its name. */
  readonly inline: J | undefined;
  load(name: string, options: { readonly jobsDir: string }): Promise<J>;
  /** Whether nothing is to be written to the service. */
  dryRun(job: J): boolean;
  begin(request: ImportRequest, context: RunContext): Promise<RunResult>;
}

/** What every run of rows does in its own way: it has a file, perhaps out of the drop folder, and may write to the service. */
function rowsWork<J extends LoadedJob>(data: RowsData, own: RowsKind<J>): Work {
  const { kind, anewText, deathAdvice } = own;
  return {
    kind,
    anewText,
    deathAdvice,
    reached: (state) => settledRows(state.outcomes),
    settleMs({ deps: { settings } }, { handedBack }) {
      const settle = settings.settleWindowMs.reduce((sum, ms) => sum + ms, 0);
      return settle + (handedBack ? 0 : settings.worker.leaseMs);
    },
    async endedBefore({ origin, deps }) {
      const done = origin.claim && (await alreadyEnded(deps.claims, origin.claim, deps.settings.home));
      return done && endedBefore(done);
    },
    async prepare(delivery, plan) {
      const { name, deps } = delivery;
      const loaded = own.inline ?? (await own.load(name, { jobsDir: deps.settings.jobsDir }));
      const file = await fileOf(delivery, data, plan);
      const repeated = await repeatedClaim(delivery, data, plan, loaded);
      if (repeated) return { result: repeated };
      const { run } = plan.state;
      const { force = false, company } = data.options ?? {};
      const { notes } = occasionOf(delivery, plan.state, loaded.job.schedule);
      const request = {
        ...{ run, file, job: loaded, dryRun: own.dryRun(loaded), force, notes },
        ...(company !== undefined && { company }),
        ...(delivery.origin.claim && { reportDir: delivery.origin.claim.dir }),
        // What `fileBelowRoots` found leads through no link, and must not do so later.
        ...(data.rows ? { jsonRows: true } : { makeSource: linklessCopy(file) }),
      };
      return { file, rowsJob: loaded.job, begin: (context) => own.begin(request, context) };
    },
    cleanUp: ({ deps: { settings } }, run) => removeUpload(settings.home, uploadOf(settings.home, data, run)),
    async putAway(delivery, { summary, reportDir }) {
      const { deps, origin, log } = delivery;
      if (!origin.claim) return { dir: reportDir, summary };
      return endAfterRun(deps.claims, origin.claim, deps.settings.home, summary).catch(async (error: unknown) => {
        log.warn(failureText(error, deps.settings.secrets));
        throw await postpone(delivery, MOVE_AGAIN_MS);
      });
    },
    async giveUp({ deps, origin }, reason, run) {
      if (!origin.claim) return undefined;
      const dir = await endRefused(deps.claims, origin.claim, kind, reason, run);
      if (run !== undefined) await moveReports(deps.settings.home, run, dir);
      return dir;
    },
  };
}

/** The file that the job names, or the rows that it holds as one; handed on to other machines where it is not on this one. */
async function fileOf(delivery: Delivery, data: RowsData, plan: Plan): Promise<string> {
  const { home, worker } = delivery.deps.settings;
  if (data.rows) return writeRows(home, plan.state.run, data.rows);
  const { file = '' } = data;
  try {
    return await fileBelowRoots(file, worker);
  } catch (error) {
    const [place = ''] = allowedPlaces(file, worker);
    const advice =
      delivery.origin.trigger === 'schedule'
        ? `The schedule reads ${place}: put the file there before the next time.`
        : 'Put it there and send the job again.';
    throw await handOn(delivery, plan.state, error, advice);
  }
}

/** A claim whose content was run before is put away instead of being run. */
async function repeatedClaim(delivery: Delivery, data: RowsData, plan: Plan, loaded: LoadedJob) {
  const { job, deps, origin, log } = delivery;
  const { settings, claims } = deps;
  if (!origin.claim) return undefined;
  const company = data.options?.company ?? loaded.job.company ?? settings.company;
  const seen = await claims.check(origin.claim, loaded, company);
  if (seen.verdict === 'wait') throw await postpone(delivery, SAME_CONTENT_MS);
  if (seen.verdict !== 'repeated') return undefined;
  const { dir, summary } = await endRepeated(claims, origin.claim, settings.home, seen.first);
  await endTicket(settings.home, job, plan.state.run);
  log.info(`the same content was run before as ${seen.first.run}; put away in ${dir}`);
  return summary;
}

/** A claim that an earlier delivery put away without coming to say so. */
function endedBefore({ dir, summary }: { readonly dir: string; readonly summary?: Summary }): object {
  if (summary) return summary;
  if (path.basename(path.dirname(path.dirname(dir))) === 'done') return { dir };
  throw refusal(`The file was refused; it lies in ${dir}, with the reason in ERROR.txt.`);
}

/** Where files lie until a run has its private copy of them: `<home>/uploads/`. */
export function uploadsDir(home: string): string {
  return path.join(home, 'uploads');
}

/** Writes the rows of a job as NDJSON, one object a line; row numbers are then positions in the list, from 1. Returns its path. */
export async function writeRows(
  home: string,
  run: string,
  rows: readonly Readonly<Record<string, Scalar>>[],
): Promise<string> {
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`);
  await mkdir(uploadsDir(home), { recursive: true });
  const file = uploadOf(home, {}, run);
  await writeFile(`${file}.tmp`, lines.join(''), { mode: 0o600 });
  await rename(`${file}.tmp`, file);
  return file;
}

/** Where the file of a job lies, or would lie if it had been put into `<home>/uploads`. */
function uploadOf(home: string, data: Pick<RunData, 'file'>, run: string): string {
  return data.file === undefined ? path.join(uploadsDir(home), `${run}.ndjson`) : path.resolve(home, data.file);
}

/** Names that rows and copies are given: of one job each, and removed after it. */
const OURS = /^[0-9a-f]{16}-.|^\d{8}T\d{9}Z-[0-9a-f]+\.ndjson$/s;

/** Removes what was put into `<home>/uploads` for one job; other files are left alone. */
async function removeUpload(home: string, file: string): Promise<void> {
  if (path.dirname(file) === uploadsDir(home) && OURS.test(path.basename(file))) await rm(file, { force: true });
}

/** An import: what is not asked to be a dry run writes. */
export function importWork({ ok: data, inline }: Extract<FitData, { readonly kind: 'import' }>): Work {
  return rowsWork(data, {
    kind: 'import',
    anewText: 'Rows that it wrote are unchanged here; its own reports lie there, if anywhere.',
    deathAdvice:
      'import the file by itself: rowferry import FILE --job JOB. What was written stays written; importing the file again repeats nothing.',
    inline,
    load: loadJob,
    dryRun: () => data.options?.dry_run ?? false,
    begin: importFile,
  });
}

/** A reconciliation: it writes where the data or else the job say so. */
export function reconcileWork({ ok: data, inline }: Extract<FitData, { readonly kind: 'reconcile' }>): Work {
  return rowsWork(data, {
    kind: 'reconcile',
    anewText: 'What it wrote is unchanged here; its own reports lie there, if anywhere.',
    deathAdvice:
      'reconcile the file by itself: rowferry reconcile FILE --job JOB. What was written stays written; reconciling the file again repeats nothing.',
    inline,
    load: loadReconcileJob,
    dryRun: ({ job }) => !(asked(data.options) ?? job.apply),
    begin: reconcileFile,
  });
}

/** Whether the data ask for the differences to be written, or not to be; undefined where they leave it to the job. */
export function asked({ apply, dry_run: dryRun }: RowsOptions = {}): boolean | undefined {
  return apply ?? (dryRun === undefined ? undefined : !dryRun);
}
