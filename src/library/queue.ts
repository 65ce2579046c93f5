import { resolve } from 'node:path';
import type { RunsOptions } from '../api/client.js';
import type { RunsApi } from '../api/runs.js';
import { RunError } from '../model/error.js';
import { HOME, makeFolder } from '../runs/run/layout.js';
import { type RunHandle, runHandle } from './handle.js';
import { call, inputFile, needed, type Opened } from './open.js';
import type { CallOptions, EnqueueOptions, QueuedRun } from './options.js';
import type { PreparedJob } from './queue-job.js';

/** Opens a queue of runs. */
export type OpenRuns = (settings: Opened['settings'], options: RunsOptions) => Promise<RunsApi>;

/** A queue that is away is waited for so long, in milliseconds. */
const PATIENCE_MS = 10_000;

/** Puts a run on a queue, which is opened for as long as that takes. */
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
  return runHandle(async (progress) => {
    const { stoppedWaiting, waitForJob } = await import('./queue-wait.js');
    try {
      return await call(options, (opened) => {
        const { settings, context } = opened;
        const listener = { ...context.listener, progress };
        return onQueue(opened, open, (runs) =>
          waitForJob(runs, id, { listener, home: settings.home, signal: context.signal }),
        );
      });
    } catch (error) {
      // Whenever the signal came: the run is on the queue.
      throw error instanceof RunError && error.code === 'interrupted' ? stoppedWaiting(id) : error;
    }
  });
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
