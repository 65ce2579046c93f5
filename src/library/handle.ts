import type { ExportJobText, ImportJobText, ReconcileJobText } from '../model/job.js';
import type { Log, Notice, Progress } from '../model/progress.js';
import type { RunResult } from '../report/summary.js';
import type { GivenSettings } from '../runs/settings.js';

/**
 * A run at work: a promise of its result, and its progress while it lasts. Iterating is optional, and may begin at any time. A
 * slow reader sees the latest state and none in between; the iteration ends, without throwing, when the run has ended, whatever
 * its end. Leaving it early leaves the run alone.
 */
export interface RunHandle extends Promise<RunResult>, AsyncIterable<Progress> {}

/** `work` is given where to tell its progress. */
export function runHandle(work: (tell: (progress: Progress) => void) => Promise<RunResult>): RunHandle {
  let latest: Progress | undefined;
  let told = 0;
  let wake = resolvers();
  let ended = false;
  const ring = () => {
    wake.resolve();
    wake = resolvers();
  };
  const result = work((progress) => {
    latest = progress;
    told++;
    ring();
  }).finally(() => {
    ended = true;
    ring();
  });
  async function* progress(): AsyncGenerator<Progress, void, undefined> {
    // Whoever iterates learns of a fault from the promise.
    result.catch(() => undefined);
    for (let seen = 0; ; ) {
      if (seen < told && latest) {
        seen = told;
        yield latest;
      } else if (ended) return;
      else await wake.promise;
    }
  }
  return Object.assign(result, { [Symbol.asyncIterator]: progress });
}

/** `Promise.withResolvers`, which Node 20 lacks. */
function resolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** What every call may be given. */
export interface CallOptions {
  /** Settings of this call; they win over the environment. */
  readonly settings?: GivenSettings;
  /** In place of the environment of the process. `.env` is then read only where `envFile` names it: `{}` is a clean room. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** File of settings, which need not be there; false: none. Default: `.env`. */
  readonly envFile?: string | false;
  /** The folder in which relative paths are meant. Default: that of the process. */
  readonly cwd?: string;
  /** Company to act for; wins over the job. */
  readonly company?: number;
  /** Ends the run in order: requests in flight finish, nothing new is sent, and it can be resumed. */
  readonly signal?: AbortSignal;
  /** Sentences for people while the run goes on: whose data changes, what was detected, what is waited for. */
  readonly onNotice?: (notice: Notice) => void;
  /** Lines for programs, such as a pino logger or `console`. */
  readonly log?: Log;
}

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
