import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, copyFile, rm, stat } from 'node:fs/promises';
import path, { resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { RunsOptions } from '../api/client.js';
import type { RunsApi } from '../api/runs/orders.js';
import type { RunView } from '../api/runs/queued.js';
import { EXIT, EXIT_BY_STATUS, RunError, runFailure, usageError } from '../model/error.js';
import type { ExportJobText, ImportJobText, ReconcileJobText } from '../model/job.js';
import { readJobYaml } from '../runs/job/yaml.js';
import { type JobSource, loadJob } from '../runs/job-file.js';
import type { RunResult } from '../runs/run/conclude.js';
import type { Progress, RunListener } from '../runs/run/context.js';
import { HOME, makeFolder } from '../runs/run/layout.js';
import { isRunId, readRun, readRunSummary, readSummary } from '../runs/run/list.js';
import type { Summary } from '../runs/run/present.js';
import type { Settings } from '../runs/settings.js';
import { checkJobData, JOB_KINDS, type JobKind } from '../worker/jobs/data.js';
import { fileBelowRoots, targetBelowRoots, uploadsDir } from '../worker/jobs/roots.js';
import {
  type CallContext,
  type CallOptions,
  call,
  inputFile,
  pickDefined,
  type RunHandle,
  requireOption,
  runHandle,
} from './open.js';

interface OrderOptions extends CallOptions {
  /** Whether a run that could not do its work is tried again by itself. Default: true. */
  readonly retry?: boolean;
}

interface RowsOrder<J> extends OrderOptions {
  /** Name of a job file in the jobs folder of the worker; the job of a path, or given as an object, is sent whole. */
  readonly job: string | J;
  /** Spreadsheet; one that no worker may read where it lies is copied into the data folder. */
  readonly file?: string;
  /** In place of a file: heading to value. */
  readonly rows?: readonly Readonly<Record<string, string | number | boolean | null>>[];
  /** Say what would happen; nothing is written to the service. */
  readonly dryRun?: boolean;
  /** Go on although a brake of the job would stop the run. */
  readonly force?: boolean;
}

export type EnqueueOptions =
  | ({ readonly kind: 'import' } & RowsOrder<ImportJobText>)
  | ({
      readonly kind: 'reconcile';
      /** Write the differences. Where neither it nor `dryRun` is stated, the job decides. */
      readonly apply?: boolean;
    } & RowsOrder<ReconcileJobText>)
  | ({
      readonly kind: 'export';
      readonly job: string | ExportJobText;
      /** File to write, in place of that of the job. */
      readonly file?: string;
    } & OrderOptions);

/** A run that is on the queue. */
export interface QueuedRun {
  /** Of the run; its job on the queue is `run.<id>`. */
  readonly id: string;
  /** The queue, in words. */
  readonly queue: string;
  /** Processes that worked on the queue a moment ago; of 0 the run waits until one is started. */
  readonly workers: number;
  /** What was put there. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Follows the run to its end. `signal` ends the waiting, not the run. Default: the signal of the call. */
  wait(options?: { readonly signal?: AbortSignal }): RunHandle;
}

type OpenRuns = (settings: CallContext['settings'], options: RunsOptions) => Promise<RunsApi>;

/** A queue that is away is waited for so long, in milliseconds. */
const PATIENCE_MS = 10_000;

const ENQUEUE_OPTIONS = ['kind', 'job', 'file', 'rows', 'dryRun', 'apply', 'force', 'retry'];

/** Puts a run on a queue, which is opened for as long as that takes. */
export async function enqueueOn(options: EnqueueOptions, open: OpenRuns): Promise<QueuedRun> {
  let mayBeQueued = false;
  try {
    return await call(options, ENQUEUE_OPTIONS, async (opened) => {
      const { settings, context } = opened;
      const payload = await buildJobData(options, opened);
      await makeFolder(settings.home, HOME);
      return onQueue(opened, open, async (runs) => {
        const { address, workers, roots = settings.roots } = await runs.queue();
        const { data, copy } = await placeFile(options.kind, payload, settings, roots);
        mayBeQueued = true;
        const order = { kind: options.kind, data, once: options.retry === false };
        const id = await runs.put(order).catch(async (error: unknown) => {
          if (copy !== undefined) await rm(copy, { force: true });
          throw error;
        });
        if (workers === 0) {
          context.listener.notice({
            level: 'warn',
            text: 'No worker is connected to the queue: the job waits until one is started with `rowferry worker`.',
          });
        }
        return {
          ...{ id, queue: address, workers, data },
          wait: ({ signal } = {}) => waitOn({ ...options, ...(signal && { signal }) }, id, open),
        };
      });
    });
  } catch (error) {
    if (!(error instanceof RunError) || error.code !== 'interrupted') throw error;
    throw runFailure(mayBeQueued ? MAYBE_ENQUEUED : NOT_ENQUEUED, [], { code: 'interrupted' });
  }
}

const NOT_ENQUEUED = 'Interrupted before the queue was open; nothing was put on it.';
const MAYBE_ENQUEUED =
  'Interrupted while the run was put on the queue: it may be there. `rowferry runs` shows it where the worker is.';

function waitOn(options: CallOptions, id: string, open: OpenRuns): RunHandle {
  return runHandle(async (progress) => {
    try {
      return await call(options, ENQUEUE_OPTIONS, (opened) => {
        const { settings, context } = opened;
        const listener = { ...context.listener, progress };
        return onQueue(opened, open, (runs) =>
          waitForJob(runs, id, { listener, home: settings.home, signal: context.signal }),
        );
      });
    } catch (error) {
      // Whenever the signal came: the run is on the queue.
      throw error instanceof RunError && error.code === 'interrupted' ? stoppedWaitingError(id) : error;
    }
  });
}

async function onQueue<T>(
  { settings, context }: CallContext,
  open: OpenRuns,
  work: (runs: RunsApi) => Promise<T>,
): Promise<T> {
  const notice = (level: 'info' | 'warn', text: string) => context.listener.notice({ level, text });
  const runs = await open(settings, { patienceMs: PATIENCE_MS, notice, signal: context.signal });
  try {
    return await work(runs);
  } finally {
    await runs.close();
  }
}

/** How often the job is looked at, in milliseconds. */
const POLL_MS = 200;

/** A run that is on the queue no more may be put back by its worker, or end there, within this time. */
const GONE_MS = 60_000;

/** What is waited for is said after so many looks that showed no run at work. */
const NOTICE_AFTER_POLLS = 4;

/** Looking is never given up for a queue that is away for a while; said once. */
const QUEUE_UNAVAILABLE = 'The queue does not answer; still waiting. The job is not lost.';

/**
 * Waits for a job of the queue and tells its progress.
 * @throws RunError with the reason of a job that failed: `usage` where its data, job or file were refused; `interrupted` where
 * `signal` ended the waiting.
 */
export async function waitForJob(
  runs: Pick<RunsApi, 'look'>,
  id: string,
  options: { readonly listener: RunListener; readonly home: string; readonly signal: AbortSignal },
): Promise<RunResult> {
  const { listener, home, signal } = options;
  let unavailable = false;
  let idle = 0;
  let goneAt: number | undefined;
  while (!signal.aborted) {
    try {
      const run = await runs.look(id);
      unavailable = false;
      if (run?.summary) return await resultOf(run.summary as unknown as Summary, run, home);
      if (run?.state === 'failed') throw failureOf(run);
      if (!run) {
        const summary = isRunId(id) ? await readRunSummary(home, id).catch(() => undefined) : undefined;
        if (summary) return await resultOf(summary, {}, home);
        goneAt ??= performance.now();
        if (performance.now() - goneAt > GONE_MS) throw goneError(id);
      } else if (reportProgress(run, listener)) idle = 0;
      else if (++idle === NOTICE_AFTER_POLLS) {
        listener.notice({
          level: 'info',
          text: `The run has not begun yet (${run.state ?? 'waiting'}): still waiting.`,
        });
      }
      if (run) goneAt = undefined;
    } catch (error) {
      if (error instanceof RunError) throw error;
      if (!unavailable) listener.notice({ level: 'warn', text: QUEUE_UNAVAILABLE });
      unavailable = true;
    }
    await pause(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
  throw stoppedWaitingError(id);
}

function goneError(id: string): RunError {
  const text = `The run ${id} is on the queue no more: it was taken off, or the queue has lost it. A worker that has begun it goes on with it: \`rowferry runs\` shows it where that worker is. Look there before it is ordered again.`;
  return runFailure(text);
}

/** The signal ended the waiting, not the run. */
function stoppedWaitingError(id: string): RunError {
  const text = `Stopped waiting. The run ${id} stays on the queue and is carried out all the same.`;
  return runFailure(text, [], { code: 'interrupted' });
}

async function resultOf(summary: Summary, { host }: Pick<RunView, 'host'>, home: string): Promise<RunResult> {
  // Whoever writes on the queue writes this, too.
  const localRun = isRunId(summary.run) ? await readRun(home, summary.run).catch(() => undefined) : undefined;
  // What came by the queue quotes no heading that the job does not name.
  const fullSummary = localRun && (await readSummary(localRun.report_dir).catch(() => undefined));
  // The run may have been on another machine; a folder there is told as such.
  const reportDir =
    localRun && localRun.rows !== undefined
      ? localRun.report_dir
      : `data folder of ${host ?? 'the worker'}, runs/${summary.run}`;
  return {
    summary: fullSummary?.run === summary.run ? fullSummary : summary,
    exitCode: summary.status === 'interrupted' ? EXIT.failed : (EXIT_BY_STATUS[summary.status] ?? EXIT.failed),
    reportDir,
  };
}

function failureOf({ reason, failure = 'failed' }: RunView): RunError {
  const [message = '', ...details] = (reason ?? 'The job failed.').split('\n');
  return new RunError(failure, message, details);
}

/** False where no run is at work. */
function reportProgress({ id: run, progress }: RunView, listener: RunListener): boolean {
  if (!progress || progress.phase === 'waiting' || progress.phase === 'done') return false;
  const { phase, done, total, outcomes } = progress;
  listener.progress({ run, phase: phase as Progress['phase'], done, outcomes, ...(total !== null && { total }) });
  return true;
}

/** What a job of the queue holds. Files are absolute; those to read are there. */
interface JobData {
  readonly job: unknown;
  readonly file?: string;
  readonly rows?: readonly object[];
  readonly options?: object;
}

/** What any kind may be asked; what has no meaning for it is refused with its data. */
type EnqueueFlags = Pick<EnqueueOptions, 'kind' | 'company'> & {
  readonly dryRun?: boolean;
  readonly apply?: boolean;
  readonly force?: boolean;
};

/**
 * What is asked for, checked as a worker would; the file of an export is what it writes, in place of the one that the job names.
 * @throws RunError `usage` with every fault.
 */
async function buildJobData(options: EnqueueOptions, { settings, cwd }: CallContext): Promise<JobData> {
  const { kind, company, dryRun, apply, force }: EnqueueFlags = options;
  const job = requireOption(options.job, 'job', 'it names the job');
  if (!JOB_KINDS.includes(kind)) {
    throw usageError(`\`kind\` is ${JSON.stringify(kind)}; it must be import, export or reconcile.`);
  }
  const runOptions = pickDefined({ dry_run: dryRun, apply, force, company });
  const data = {
    job: await resolveJob(kind, job, { jobsDir: settings.jobsDir, cwd }),
    ...(options.kind === 'export'
      ? pickDefined({ file: typeof options.file === 'string' ? resolve(cwd, options.file) : options.file })
      : await rowsOf(options, cwd)),
    ...(Object.keys(runOptions).length > 0 && { options: runOptions }),
  };
  const checked = checkJobData(kind, data);
  if (!('faults' in checked)) return data;
  throw usageError('This is no job for the queue; nothing was put on it.', checked.faults);
}

async function rowsOf({ file, rows }: Exclude<EnqueueOptions, { kind: 'export' }>, cwd: string) {
  return pickDefined({ file: typeof file === 'string' ? await inputFile(file, cwd) : file, rows });
}

/** The same with the file where workers may read it: in its place, or as a copy in the data folder. */
async function placeFile(
  kind: JobKind,
  data: JobData,
  settings: Settings,
  roots: readonly string[],
): Promise<{ readonly data: Readonly<Record<string, unknown>>; readonly copy?: string }> {
  const { file } = data;
  if (file === undefined) return { data: { ...data } };
  if (kind === 'export') {
    await targetBelowRoots(file, { ...settings, roots });
    return { data: { ...data } };
  }
  const allowedPath = await fileBelowRoots(file, { ...settings, roots }).catch((error: unknown) => {
    if (error instanceof RunError) return undefined;
    throw error;
  });
  if (allowedPath !== undefined) return { data: { ...data, file: allowedPath } };
  const { home } = settings;
  // The ending tells the kind of file; names of copies stay within what file systems take.
  const copy = path.join(uploadsDir(home), `${randomBytes(8).toString('hex')}-${path.basename(file).slice(-100)}`);
  await makeFolder(path.dirname(copy), HOME);
  await copyFile(file, copy, constants.COPYFILE_EXCL);
  // A copy has the rights of what it was made of.
  await chmod(copy, 0o600);
  // Not absolute: workers with another data folder then leave the job to those with this one.
  return { data: { ...data, file: path.relative(home, copy) }, copy };
}

interface JobsLocation {
  readonly jobsDir: string;
  readonly cwd: string;
}

/** A name goes as it is, checked where the file is here too; the job of a path, or given as data, goes whole. */
async function resolveJob(kind: JobKind, job: JobSource, location: JobsLocation): Promise<unknown> {
  if (typeof job !== 'string') return job;
  const isPath = job.includes('/') || job.includes(path.sep) || /\.ya?ml$/i.test(job);
  if (isPath) return readJobYaml((await loadJob(kind, job, location)).text).value;
  for (const ending of ['yaml', 'yml']) {
    const file = path.join(location.jobsDir, `${job}.${ending}`);
    if (await stat(file).catch(() => undefined)) await loadJob(kind, file, location);
  }
  return job;
}
