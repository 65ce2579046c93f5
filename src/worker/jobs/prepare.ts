import { createHash } from 'node:crypto';
import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Job } from 'bullmq';
import { RunError } from '../../model/error.js';
import type { RowsJob } from '../../model/job.js';
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
import type { RunContext } from '../../runs/run/context.js';
import { runFolder } from '../../runs/run/layout.js';
import { linklessCopy } from '../../runs/run/run.js';
import type { Schedule } from '../../runs/schedule/slots.js';
import type { Settings } from '../../runs/settings.js';
import type { Claim } from '../inbox/claim.js';
import { placeText } from '../inbox/disk.js';
import type { DropFolder, FirstRun } from '../inbox/drop-folder.js';
import type { Store } from '../store/port.js';
import { type FitData, type RowsData, type RowsOptions, RUNS_QUEUE, type RunData } from './data.js';
import { PutBack } from './failure.js';
import { type JobState, type Lateness, lateNote, lateness, type Origin } from './job.js';
import { allowedPlaces, FileAway, fileBelowRoots, makeTarget, OutsideRoots, uploadsDir } from './roots.js';

export interface PrepareDeps {
  readonly settings: Settings;
  readonly store: Pick<Store, 'workers'>;
  readonly dropFolder: DropFolder;
}

/** A job of the queue as far as it is known before its run begins. */
export interface Order extends PrepareDeps {
  readonly job: Pick<Job, 'id' | 'timestamp'>;
  readonly checked: FitData;
  readonly name: string;
  readonly origin: Origin;
  readonly state: JobState;
}

/** A run that may begin. */
export interface Prepared {
  /** The file that it reads or writes. */
  readonly file: string;
  /** The job, where rows are taken into the service. */
  readonly rowsJob?: RowsJob;
  begin(context: RunContext): Promise<RunResult>;
}

/** A dropped file whose content was run before: no run is needed. */
interface Repeated {
  readonly claim: Claim;
  readonly first: FirstRun;
}

/**
 * Finds out what is to be run, and makes ready what that needs. Nothing is begun yet.
 * @throws RunError, and `PutBack` where the job is not to be done now.
 */
export async function prepare(order: Order): Promise<Prepared | Repeated> {
  const { checked } = order;
  return checked.kind === 'export' ? prepareExport(order, checked) : prepareRows(order, checked);
}

/** What led to the run. `notes`: sentences for the warnings of its summary. */
function occasion(order: Order, schedule: Schedule | undefined): { slot: Lateness | undefined; notes: string[] } {
  const { job, state, checked } = order;
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

/** A file that is on another machine is looked for by others, so often and so long apart. */
const AWAY = { times: 30, everyMs: 2_000 };

/** A job whose file is that of another worker is left to that one. */
export const leftToOthers = (state?: JobState): PutBack => new PutBack(AWAY.everyMs, state);

/**
 * What is to be thrown for a file that this worker cannot have: the job is left to the others for a while, and fails, with
 * `advice`, where none of them has it. Any other error comes back as it is.
 */
async function handOn(error: unknown, { state, store }: Order, advice: string): Promise<unknown> {
  if (!(error instanceof FileAway || error instanceof OutsideRoots)) return error;
  const times = (state.away ?? 0) + 1;
  const alone = (await store.workers(RUNS_QUEUE)) === 1;
  if (!alone && times <= AWAY.times) return leftToOthers({ ...state, away: times });
  if (error instanceof OutsideRoots) return error;
  const looked = alone ? '' : ` No worker that took the job within ${(AWAY.times * AWAY.everyMs) / 1000} s has it.`;
  return new RunError('failed', `${error.message}${looked} ${advice}`, [], { cause: error });
}

/** The first of two files with the same content is waited for. */
const SAME_CONTENT_MS = 2_000;

/** The file of a schedule must lie still for so long before it is read; that is waited for so long. */
const REST = { ms: 2_000, atMostMs: 15 * 60_000 };

/** Whoever delivers a file by a plan of their own may still be writing it when its slot is due. */
async function assertRested(file: string, state: JobState): Promise<void> {
  const info = await stat(file, { bigint: true }).catch(() => undefined);
  const mark = info ? `${info.size} ${info.mtimeNs}` : 'away';
  const { resting } = state;
  if (resting?.mark === mark) return;
  const since = resting?.since ?? Date.now();
  if (Date.now() - since > REST.atMostMs) {
    throw new RunError(
      'failed',
      `${file}: the file is still being written ${REST.atMostMs / 60_000} minutes after its slot was taken up. Nothing was sent. ` +
        'Let the schedule begin later, or the file be written under another name and renamed when it is complete.',
    );
  }
  throw new PutBack(REST.ms, { ...state, resting: { mark, since } });
}

/** A run of rows: it has a file, perhaps out of the drop folder, and may write to the service. */
async function prepareRows(
  order: Order,
  { kind, ok: data, inline }: Exclude<FitData, { kind: 'export' }>,
): Promise<Prepared | Repeated> {
  const { settings, dropFolder } = order;
  const { claim } = order.origin;
  const [load, begin] = kind === 'import' ? [loadJob, importFile] : [loadReconcileJob, reconcileFile];
  const loaded: LoadedJob = inline ?? (await load(order.name, settings));
  const { run } = order.state;
  const { rows } = data;
  // Of rows it is a name: they are nowhere but in the run.
  const file = rows ? path.join(runFolder(settings.home, run).dir, `${run}.ndjson`) : await rowsFile(order, data);
  if (order.origin.trigger === 'schedule') await assertRested(file, order.state);
  const { force = false, company, ...options } = data.options ?? {};
  if (claim) {
    const seen = await dropFolder.check(claim, loaded, company ?? loaded.job.company ?? settings.company);
    if (seen.verdict === 'wait') throw new PutBack(SAME_CONTENT_MS);
    if (seen.verdict === 'repeated') return { claim, first: seen.first };
  }
  const { notes } = occasion(order, loaded.job.schedule);
  const request = {
    ...{ run, file, job: loaded, dryRun: isDryRun(options, loaded), force, notes },
    ...(company !== undefined && { company }),
    ...(data.corrections && { corrections: data.corrections }),
    ...(claim && { reportDir: claim.dir }),
    // What `fileBelowRoots` found leads through no link, and must not do so later.
    ...(rows ? { jsonRows: true, makeSource: copyOf(rows) } : { makeSource: linklessCopy(file) }),
  };
  return { file, rowsJob: loaded.job, begin: (context) => begin(request, context) };
}

/** Whether nothing is to be written to the service. Where it was not said, the job of a reconciliation decides. */
function isDryRun({ apply, dry_run: dryRun }: RowsOptions, { job }: LoadedJob): boolean {
  if (apply !== undefined) return !apply;
  return dryRun ?? (job.kind === 'reconcile' && !('apply' in job && job.apply));
}

/** The file that the job names; handed on to other machines where it is not on this one. */
async function rowsFile(order: Order, { file = '' }: RowsData): Promise<string> {
  const { settings } = order;
  try {
    return await fileBelowRoots(file, settings);
  } catch (error) {
    const [place = ''] = allowedPlaces(file, settings);
    const advice =
      order.origin.trigger === 'schedule'
        ? `The schedule reads ${place}: put the file there before the next time.`
        : 'Put it there and send the job again.';
    throw await handOn(error, order, advice);
  }
}

/** The rows of a job as NDJSON, one object a line; row numbers are then positions in the list, from 1. */
function copyOf(rows: NonNullable<RowsData['rows']>) {
  const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  return async (copy: string) => {
    await placeText(copy, text, { flush: true });
    return { sha256: createHash('sha256').update(text).digest('hex') };
  };
}

/** Names that copies are given: of one job each, and removed after it. */
const OURS = /^[0-9a-f]{16}-./s;

/** Removes what was put into `<home>/uploads` for a job that needs it no more; other files there are left alone. */
export async function removeUpload(home: string, { file = '' }: RunData): Promise<void> {
  const copy = path.resolve(home, file);
  if (path.dirname(copy) === uploadsDir(home) && OURS.test(path.basename(copy))) await rm(copy, { force: true });
}

/** An export: it has a file to write, and changes nothing in the service. */
async function prepareExport(
  order: Order,
  { ok: data, inline }: Extract<FitData, { kind: 'export' }>,
): Promise<Prepared> {
  const { settings } = order;
  const loaded = inline ?? (await loadExportJob(order.name, settings));
  const { slot, notes } = occasion(order, loaded.job.schedule);
  const target = await exportTarget(order, data, loaded, slot?.slot);
  const company = data.options?.company;
  const request = exportRequest(
    loaded,
    { target, run: order.state.run, notes, ...(company !== undefined && { company }) },
    { cwd: settings.home },
  );
  return { file: target, begin: (context) => exportRecords(request, context) };
}

/** The file to write, in a folder that is there; handed on to other machines where it is not below a folder of this one. */
async function exportTarget(
  order: Order,
  data: RunData,
  { job, name }: LoadedExportJob,
  slot: string | undefined,
): Promise<string> {
  const stated = data.file ?? outputOf(job);
  if (stated === undefined) {
    throw new RunError(
      'usage',
      `The job ${name} does not say which file to write. Give it a line such as \`output: exports/${job.resource}s-{date}.xlsx\`, or send \`file\` with the job of the queue.`,
    );
  }
  // The date of the slot also where its run begins after midnight.
  const date = slot?.slice(0, 10) ?? dateOf(Date.now(), job.schedule?.timezone);
  try {
    return await makeTarget(withDate(stated, date), order.settings);
  } catch (error) {
    throw await handOn(error, order, 'Name a folder that the worker may write to.');
  }
}
