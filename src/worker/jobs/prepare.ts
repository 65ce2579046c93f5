import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { runFailure, usageError } from '../../model/error.js';
import { type RowsJob, sourceOptions } from '../../model/job.js';
import { isUnverifiable } from '../../model/outcome.js';
import { exportRecords } from '../../runs/export.js';
import { importFile } from '../../runs/import.js';
import {
  exportRequest,
  JobUnavailable,
  type LoadedExportJob,
  type LoadedJob,
  loadJob,
  localDate,
  outputOf,
  withDate,
} from '../../runs/job-file.js';
import { reconcileFile } from '../../runs/reconcile.js';
import type { RunResult } from '../../runs/run/conclude.js';
import type { RunContext } from '../../runs/run/context.js';
import { runFolder } from '../../runs/run/layout.js';
import { noFollowCopy } from '../../runs/run/run.js';
import type { Schedule } from '../../runs/schedule/slots.js';
import type { Settings } from '../../runs/settings.js';
import { replaceText } from '../inbox/disk.js';
import type { DropFolder, FirstRun } from '../inbox/drop-folder.js';
import type { Job, Store } from '../store/port.js';
import { type RowsData, type RowsOptions, RUNS_QUEUE, type RunData, type ValidData } from './data.js';
import { Requeue } from './failure.js';
import { type JobState, lateNote, lateness, type Origin } from './job.js';
import { candidatePaths, FileUnavailable, fileBelowRoots, makeTarget, OutsideRoots, uploadsDir } from './roots.js';

export interface PrepareDeps {
  readonly settings: Settings;
  readonly store: Pick<Store, 'workers'>;
  readonly dropFolder: DropFolder;
}

/** A job of the queue as far as it is known before its run begins. */
export interface PendingRun extends PrepareDeps {
  readonly job: Pick<Job, 'id' | 'timestamp'>;
  readonly checked: ValidData;
  readonly name: string;
  readonly origin: Origin;
  readonly state: JobState;
}

export interface Prepared {
  /** The file that it reads or writes. */
  readonly file: string;
  /** The job, where rows are taken into the service. */
  readonly rowsJob?: RowsJob;
  begin(context: RunContext): Promise<RunResult>;
}

/** A dropped file whose content was run before: no run is needed. */
interface Repeated {
  readonly first: FirstRun;
}

/**
 * Finds out what is to be run, and makes ready what that needs. Nothing is begun yet.
 * @throws RunError, and `Requeue` where the job is not to be done now.
 */
export async function prepare(pending: PendingRun): Promise<Prepared | Repeated> {
  const { checked } = pending;
  return checked.kind === 'export' ? prepareExport(pending, checked) : prepareRows(pending, checked);
}

/** What led to the run. `notes`: sentences for the warnings of its summary. */
function slotAndNotes({ job, state, checked }: PendingRun, schedule: Schedule | undefined) {
  const slot = schedule && lateness(job.id ?? '', schedule, job.timestamp);
  const notes: string[] = [];
  if (schedule && slot?.late) notes.push(lateNote(slot.dueAt, Date.now(), schedule.timezone));
  if (state.insteadOf) {
    const { run, host } = state.insteadOf;
    const done =
      checked.kind === 'export' ? 'All is read again.' : 'What it wrote is unchanged here; its own reports lie there.';
    notes.push(`Begun anew: run ${run} of the same job was begun on ${host}, whose worker is gone. ${done}`);
  }
  return { slot, notes };
}

/** What is on another machine is looked for by others, so often and so long apart. */
const HANDOVER = { times: 30, everyMs: 2_000 };

/** Why a run that was begun in another data folder cannot be begun anew here; undefined where it can. */
export async function whyBound({
  settings,
  checked,
  name,
}: Pick<PendingRun, 'settings' | 'checked' | 'name'>): Promise<string | undefined> {
  if (checked.kind === 'export') return undefined;
  const { kind, inline, ok: data } = checked;
  const loaded: LoadedJob | undefined = inline ?? (await loadJob(kind, name, settings).catch(() => undefined));
  const hasFile = data.rows !== undefined || (await fileBelowRoots(data.file ?? '', settings).catch(() => undefined));
  if (!loaded || !hasFile || !hasPlan(settings, data.options)) return 'what it needs is not here';
  const { match, resource } = loaded.job;
  if (isDryRun(data.options ?? {}, loaded)) return undefined;
  return isUnverifiable({ append: match.key.length === 0, resource })
    ? 'what it has sent cannot be looked up in the service, and would be written twice'
    : undefined;
}

const hasPlan = ({ home }: Settings, { plan_of: run }: RowsOptions = {}): boolean =>
  run === undefined || existsSync(runFolder(home, run).plan);

/** A job whose file is that of another worker is left to that one. */
export const requeueForOthers = (state?: JobState): Requeue => new Requeue(HANDOVER.everyMs, state);

/**
 * What is to be thrown for a file that this worker cannot have, or for the job of a slot, which was there a moment ago: it is
 * looked for by all for a while, a file not by a worker that is alone, and fails, with `advice`, where none of them has it. Any
 * other error comes back as it is.
 */
async function handOver(error: unknown, { state, store, origin }: PendingRun, advice: string): Promise<unknown> {
  const lacksJob = error instanceof JobUnavailable && origin.trigger === 'schedule';
  if (!(lacksJob || error instanceof FileUnavailable || error instanceof OutsideRoots)) return error;
  const times = (state.away ?? 0) + 1;
  const isOnlyWorker = (await store.workers(RUNS_QUEUE)) === 1;
  if ((lacksJob || !isOnlyWorker) && times <= HANDOVER.times) return requeueForOthers({ ...state, away: times });
  if (!(error instanceof FileUnavailable)) return error;
  const searched = isOnlyWorker
    ? ''
    : ` No worker that took the job within ${(HANDOVER.times * HANDOVER.everyMs) / 1000} s has it.`;
  return runFailure(`${error.message}${searched} ${advice}`, [], { cause: error });
}

const namedJob = <K extends ValidData['kind']>(kind: K, pending: PendingRun) =>
  loadJob(kind, pending.name, pending.settings).catch(async (error: unknown) => {
    throw await handOver(error, pending, '');
  });

/** The first of two files with the same content is waited for. */
const SAME_CONTENT_MS = 2_000;

/** The file of a schedule must lie still for so long before it is read; that is waited for so long. */
const STABLE = { ms: 2_000, atMostMs: 15 * 60_000 };

/** Whoever delivers a file by a plan of their own may still be writing it when its slot is due. */
async function assertStable(file: string, state: JobState): Promise<void> {
  const info = await stat(file, { bigint: true }).catch(() => undefined);
  const mark = info ? `${info.size} ${info.mtimeNs}` : 'away';
  const { resting } = state;
  if (resting?.mark === mark) return;
  const since = resting?.since ?? Date.now();
  if (Date.now() - since > STABLE.atMostMs) {
    throw runFailure(
      `${file}: the file is still being written ${STABLE.atMostMs / 60_000} minutes after its slot was taken up. Nothing was sent. ` +
        'Let the schedule begin later, or the file be written under another name and renamed when it is complete.',
    );
  }
  throw new Requeue(STABLE.ms, { ...state, resting: { mark, since } });
}

/** A run of rows: it has a file, perhaps out of the drop folder, and may write to the service. */
async function prepareRows(
  pending: PendingRun,
  { kind, ok: data, inline }: Exclude<ValidData, { kind: 'export' }>,
): Promise<Prepared | Repeated> {
  const { settings, dropFolder } = pending;
  const { claim } = pending.origin;
  const stated: LoadedJob = inline ?? (await namedJob(kind, pending));
  const { run } = pending.state;
  const { rows } = data;
  const loaded = rows ? forJsonRows(stated) : stated;
  // Of rows it is a name: they are nowhere but in the run.
  const file = rows ? path.join(runFolder(settings.home, run).dir, `${run}.ndjson`) : await rowsFile(pending, data);
  if (pending.origin.trigger === 'schedule') await assertStable(file, pending.state);
  const { force = false, company, plan_of: plannedBy, ...options } = data.options ?? {};
  if (!hasPlan(settings, data.options)) {
    const text = `The plan of the run ${plannedBy} is not in the data folder of this worker. Nothing was sent; make a dry run anew.`;
    throw await handOver(new OutsideRoots(text), pending, '');
  }
  if (claim) {
    const contentCheck = await dropFolder.check(claim, loaded, company ?? loaded.job.company ?? settings.company);
    if (contentCheck.verdict === 'wait') throw new Requeue(SAME_CONTENT_MS);
    if (contentCheck.verdict === 'repeated') return { first: contentCheck.first };
  }
  const { notes } = slotAndNotes(pending, loaded.job.schedule);
  const request = {
    ...{ run, file, job: loaded, dryRun: isDryRun(options, loaded), force, notes },
    ...(company !== undefined && { company }),
    ...(plannedBy !== undefined && { lineage: { plannedBy } }),
    ...(data.corrections && { corrections: data.corrections }),
    ...(claim && { reportDir: claim.dir }),
    // What `fileBelowRoots` found leads through no link, and must not do so later.
    ...(rows ? { jsonRows: true, makeSource: writeRows(rows) } : { makeSource: noFollowCopy(file) }),
  };
  const begin = kind === 'import' ? importFile : reconcileFile;
  return { file, rowsJob: loaded.job, begin: (context) => begin(request, context) };
}

/** A job as it takes rows that came with it: what it says of a file is not said of them. */
function forJsonRows(loaded: LoadedJob): LoadedJob {
  const { dates, decimal, null_values } = loaded.job.source;
  const source = sourceOptions.parse({ format: 'ndjson', encoding: 'utf-8', dates, decimal, null_values });
  return { ...loaded, job: { ...loaded.job, source } };
}

/** Whether nothing is to be written to the service. Where it was not said, the job of a reconciliation decides. */
function isDryRun({ apply, dry_run: dryRun }: RowsOptions, { job }: LoadedJob): boolean {
  if (apply !== undefined) return !apply;
  return dryRun ?? (job.kind === 'reconcile' && !('apply' in job && job.apply));
}

/** The file that the job names; handed on to other machines where it is not on this one. */
async function rowsFile(pending: PendingRun, { file = '' }: RowsData): Promise<string> {
  const { settings } = pending;
  try {
    return await fileBelowRoots(file, settings);
  } catch (error) {
    const [place = ''] = candidatePaths(file, settings);
    const advice =
      pending.origin.trigger === 'schedule'
        ? `The schedule reads ${place}: put the file there before the next time.`
        : 'Put it there and send the job again.';
    throw await handOver(error, pending, advice);
  }
}

/** The rows of a job as NDJSON, one object a line; row numbers are then positions in the list, from 1. */
function writeRows(rows: NonNullable<RowsData['rows']>) {
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  return async (copy: string) => {
    await replaceText(copy, text, { flush: true });
    return { sha256: createHash('sha256').update(text).digest('hex') };
  };
}

/** Names that copies are given: of one job each, and removed after it. */
const UPLOAD_COPY = /^[0-9a-f]{16}-./s;

/** Removes what was put into `<home>/uploads` for a job that needs it no more; other files there are left alone. */
export async function removeUpload(home: string, { file = '' }: RunData): Promise<void> {
  const copy = path.resolve(home, file);
  if (path.dirname(copy) === uploadsDir(home) && UPLOAD_COPY.test(path.basename(copy))) await rm(copy, { force: true });
}

/** An export: it has a file to write, and changes nothing in the service. */
async function prepareExport(
  pending: PendingRun,
  { ok: data, inline }: Extract<ValidData, { kind: 'export' }>,
): Promise<Prepared> {
  const { settings } = pending;
  const loaded = inline ?? (await namedJob('export', pending));
  const { slot, notes } = slotAndNotes(pending, loaded.job.schedule);
  const target = await exportTarget(pending, data, loaded, slot?.slot);
  const company = data.options?.company;
  const request = exportRequest(
    loaded,
    { target, run: pending.state.run, notes, ...(company !== undefined && { company }) },
    { cwd: settings.home },
  );
  return { file: target, begin: (context) => exportRecords(request, context) };
}

/** The file to write, in a folder that is there; handed on to other machines where it is not below a folder of this one. */
async function exportTarget(
  pending: PendingRun,
  data: RunData,
  { job, name }: LoadedExportJob,
  slot: string | undefined,
): Promise<string> {
  const output = data.file ?? outputOf(job);
  if (output === undefined) {
    throw usageError(
      `The job ${name} does not say which file to write. Give it a line such as \`output: exports/${job.resource}s-{date}.xlsx\`, or send \`file\` with the job of the queue.`,
    );
  }
  // The date of the slot also where its run begins after midnight.
  const date = slot?.slice(0, 10) ?? localDate(Date.now(), job.schedule?.timezone);
  try {
    return await makeTarget(withDate(output, date), pending.settings);
  } catch (error) {
    throw await handOver(error, pending, 'Name a folder that the worker may write to.');
  }
}
