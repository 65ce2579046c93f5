import { resolve } from 'node:path';
import { RunError } from '../model/error.js';
import type { ExportJobText, ImportJobText, ReconcileJobText } from '../model/job.js';
import { HOME, makeFolder } from '../runs/run/layout.js';
import type { RunsOptions } from '../worker/api/client.js';
import type { RunsApi } from '../worker/api/runs.js';
import { type RunHandle, runHandle } from './handle.js';
import { type CallOptions, call, inputFile, needed, type Opened } from './open.js';
import type { PreparedJob } from './queue-job.js';

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
  /** Its id on the queue. */
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

/** Opens a queue of runs. */
export type OpenRuns = (settings: Opened['settings'], options: RunsOptions) => Promise<RunsApi>;

/** A queue that is away is waited for so long, in milliseconds. */
const PATIENCE_MS = 10_000;

/** Puts a run on the queue, for a worker to carry out. */
export function enqueue(options: EnqueueOptions): Promise<QueuedRun> {
  return enqueueOn(options, async (...given) => (await import('../worker/api/client.js')).openRuns(...given));
}

/** The same on a queue that is opened otherwise. */
export function enqueueOn(options: EnqueueOptions, open: OpenRuns): Promise<QueuedRun> {
  return call(options, async (opened) => {
    const prepared = await prepare(options, opened);
    await makeFolder(opened.settings.home, HOME);
    return onQueue(opened, open, async (runs) => {
      const data = await prepared.place(runs);
      const id = await runs
        .put({ kind: options.kind, data, once: options.retry === false })
        .catch(async (error: unknown) => {
          await prepared.takeBack();
          throw error;
        });
      const { address, workers } = await runs.queue();
      if (workers === 0) {
        opened.context.listener.notice({
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
}

function waitOn(options: CallOptions, id: string, open: OpenRuns): RunHandle {
  return runHandle((progress) =>
    call(options, async (opened) => {
      const { settings, context } = opened;
      const { waitForJob } = await import('./queue-wait.js');
      const listener = { ...context.listener, progress };
      return onQueue(opened, open, (runs) =>
        waitForJob(runs, id, { listener, home: settings.home, signal: context.signal }),
      );
    }),
  );
}

async function onQueue<T>(
  { settings, context }: Opened,
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

/** What is asked for, checked as a worker would. */
async function prepare(options: EnqueueOptions, { settings, cwd }: Opened): Promise<PreparedJob> {
  const { prepareExport, prepareRows } = await import('./queue-job.js');
  const { kind, company } = options;
  const job = needed(options.job, 'job', 'it names the job');
  const forCompany = { ...(company !== undefined && { company }) };
  if (kind === 'export') {
    const given = { ...(options.file !== undefined && { file: resolve(cwd, options.file) }) };
    return prepareExport({ job, given, settings, cwd }, forCompany);
  }
  if (kind !== 'import' && kind !== 'reconcile') {
    throw new RunError('usage', `\`kind\` is ${JSON.stringify(kind)}; it must be import, export or reconcile.`);
  }
  const { file, rows, dryRun, force } = options;
  if ((file === undefined) === (rows === undefined)) {
    throw new RunError(
      'usage',
      'Give either `file` or `rows`: the one names the spreadsheet, the other is in its place.',
    );
  }
  const given = rows === undefined ? { file: await inputFile(file ?? '', cwd) } : { rows };
  return prepareRows(
    kind,
    { job, given, settings, cwd },
    {
      ...(dryRun !== undefined && { dry_run: dryRun }),
      ...(kind === 'reconcile' && options.apply !== undefined && { apply: options.apply }),
      ...(force !== undefined && { force }),
      ...forCompany,
    },
  );
}
