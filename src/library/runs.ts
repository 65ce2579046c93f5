import { resolve } from 'node:path';
import { usageError } from '../model/error.js';
import type { ExportJobText, ImportJobText, ReconcileJobText, RowsJob } from '../model/job.js';
import { EXPORTABLE, type ExportableName } from '../model/resource-names.js';
import type { ExportRequest } from '../runs/export.js';
import type { ImportRequest } from '../runs/run/run.js';
import type { Sandbox, SandboxOptions } from '../sandbox/index.js';
import {
  beginRun,
  type CallContext,
  type CallOptions,
  inputFile,
  pickDefined,
  type RunHandle,
  requireOption,
} from './open.js';
import type { EnqueueOptions, QueuedRun } from './queue.js';

interface RowsOptions extends CallOptions {
  /** Spreadsheet: .xlsx, .ods, .csv or .ndjson, each also .gz. */
  readonly file: string;
  /** Go on although a brake of the job would stop the run. */
  readonly force?: boolean;
  /** Folder of the reports. Default: that of the run, in the data folder. */
  readonly reportDir?: string;
}

export interface ImportOptions extends RowsOptions {
  /** Path of a job file, name of one in the jobs folder, or the job itself. */
  readonly job: string | ImportJobText;
  /** Say what would happen; nothing is written to the service. */
  readonly dryRun?: boolean;
}

const ROWS_OPTIONS = ['file', 'job', 'force', 'reportDir'];

/** Imports a spreadsheet: creates and updates records, one outcome a row. A run that a brake stopped resolves, too: `status` says so. */
export function importFile(options: ImportOptions): RunHandle {
  return beginRun(options, [...ROWS_OPTIONS, 'dryRun'], async (opened) => {
    const { importFile: run } = await import('../runs/import.js');
    return run(await rowsRequest('import', options, opened, options.dryRun === true), opened.context);
  });
}

export interface ReconcileOptions extends RowsOptions {
  /** Path of a job file of kind reconcile, name of one in the jobs folder, or the job itself. */
  readonly job: string | ReconcileJobText;
  /** Write the differences; without it they are only reported. */
  readonly apply?: boolean;
}

/** Compares a spreadsheet with the service, field by field, and makes them agree where `apply` is true. */
export function reconcileFile(options: ReconcileOptions): RunHandle {
  return beginRun(options, [...ROWS_OPTIONS, 'apply'], async (opened) => {
    const { reconcileFile: run } = await import('../runs/reconcile.js');
    return run(await rowsRequest('reconcile', options, opened, options.apply !== true), opened.context);
  });
}

async function rowsRequest(
  kind: RowsJob['kind'],
  { file, job, force, reportDir, company }: ImportOptions | ReconcileOptions,
  opened: CallContext,
  dryRun: boolean,
): Promise<ImportRequest> {
  const { loadJob } = await import('../runs/job-file.js');
  const { cwd } = opened;
  const source = requireOption(job, 'job', 'it says which column is which field');
  return {
    job: await loadJob(kind, source, jobsFolder(opened)),
    file: await inputFile(requireOption(file, 'file', 'it names the spreadsheet'), cwd),
    dryRun,
    force: force === true,
    ...pickDefined({ reportDir: reportDir === undefined ? undefined : resolve(cwd, reportDir), company }),
  };
}

type FilterValue = string | number | boolean | null;

interface ExportChoices extends CallOptions {
  /** Headings or fields, in this order; all where absent. */
  readonly columns?: readonly string[];
  /** Field to value, null for none: of several values any one, of several fields all. As text: `field=value`. */
  readonly filter?: Readonly<Record<string, FilterValue | readonly FilterValue[]>> | readonly string[];
  /** A field, with `-` before it for descending; by id where absent. */
  readonly order?: string;
  /** To be changed and imported again: a job file that does so is written beside it. */
  readonly editable?: boolean;
}

/** By resource, or by a job; what is given beside a job wins over it. */
export type ExportOptions = ExportChoices &
  (
    | {
        readonly resource: ExportableName;
        /** File to write: .xlsx, .csv or .ndjson, each also .gz. */
        readonly output: string;
        readonly job?: undefined;
      }
    | {
        /** Path of an export job file, name of one in the jobs folder, or the job itself. */
        readonly job: string | ExportJobText;
        readonly resource?: ExportableName;
        readonly output?: string;
      }
  );

const EXPORT_OPTIONS = ['job', 'resource', 'output', 'columns', 'filter', 'order', 'editable'];

/** Writes the records of a resource to a file, complete also while they change. */
export function exportRecords(options: ExportOptions): RunHandle {
  return beginRun(options, EXPORT_OPTIONS, async (opened) => {
    const { exportRecords: run } = await import('../runs/export.js');
    return run(await exportRequestOf(options, opened), opened.context);
  });
}

async function exportRequestOf(options: ExportOptions, opened: CallContext): Promise<ExportRequest> {
  const { output, columns, filter, order, editable, company, resource } = options;
  const { parseFilter } = await import('../runs/export.js');
  const overrides = pickDefined({
    target: output === undefined ? undefined : resolve(opened.cwd, output),
    columns,
    filter: Array.isArray(filter) ? parseFilter(filter) : (filter as ExportRequest['filter'] | undefined),
    order,
    editable,
    company,
  });
  if (options.job !== undefined) {
    const { exportRequest, loadJob } = await import('../runs/job-file.js');
    const job = await loadJob('export', options.job, jobsFolder(opened));
    if (resource !== undefined && resource !== job.job.resource) {
      throw usageError(
        `The job ${job.name} exports ${job.job.resource} records, not ${resource}. Leave the resource out, or the job.`,
      );
    }
    const request = exportRequest(job, overrides, { cwd: opened.cwd });
    // A job names a place that need not be there yet, as for the worker; a name that is given for one run may be a slip.
    return output === undefined ? { ...request, makeFolder: true } : request;
  }
  const name = EXPORTABLE.find((one) => one === requireOption(resource, 'resource', 'it says what is exported'));
  if (name === undefined) {
    throw usageError(`There is no resource \`${resource}\`. There are: ${EXPORTABLE.join(', ')}.`);
  }
  const target = requireOption(overrides.target, 'output', 'it names the file to write');
  return { filter: {}, editable: false, job: { name }, ...overrides, resource: name, target };
}

export interface ResumeOptions extends Omit<CallOptions, 'company'> {
  /** Id of a run of the data folder, the beginning of one, or `last`. */
  readonly run: string;
}

/** Goes on with a run that was interrupted, or whose process was killed; no row is written twice. */
export function resumeRun(options: ResumeOptions): RunHandle {
  return beginRun(options, ['run'], async ({ context }) => {
    const { resumeRun: run } = await import('../runs/follow-up.js');
    return run(requireOption(options.run, 'run', 'it is the id of the run, or `last`'), context);
  });
}

/** Puts a run on the queue, for a worker to carry out. */
export async function enqueue(options: EnqueueOptions): Promise<QueuedRun> {
  const [{ enqueueOn }, { openRuns }] = await Promise.all([import('./queue.js'), import('../api/client.js')]);
  return enqueueOn(options, openRuns);
}

/** Starts a service to try things on, in this process: it keeps everything in memory, and forgets it when it is closed. */
export async function openSandbox(options: SandboxOptions = {}): Promise<Sandbox> {
  const { openCheckedSandbox } = await import('./sandbox.js');
  return openCheckedSandbox(options);
}

function jobsFolder({ settings: { jobsDir }, cwd }: CallContext) {
  return { jobsDir, cwd };
}
