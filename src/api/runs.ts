import { isDeepStrictEqual } from 'node:util';
import type { Queue } from 'bullmq';
import { RunError } from '../model/error.js';
import type { Summary } from '../runs/run/present.js';
import { type JobKind, RUNS_QUEUE } from '../worker/jobs/data.js';
import { toldRoots } from '../worker/jobs/home.js';
import type { JobState } from '../worker/jobs/state.js';
import type { Store } from '../worker/store/port.js';

/** A queue of runs, as it is now. */
export interface QueueView {
  /** For people. */
  readonly address: string;
  /** Processes that work on it. */
  readonly workers: number;
  /** Folders that the worker of this data folder may read; absent where there was none yet. */
  readonly roots?: readonly string[] | undefined;
}

/** What other processes ask of a queue of runs: the verbs of contract, section 12, on whichever store it lies. */
export interface RunsApi {
  queue(): Promise<QueueView>;
  /** Puts a run on the queue and answers its id. With a key it may be said again: the same order is one run. */
  put(order: RunOrder): Promise<string>;
  /** Undefined where there is no such run. */
  look(id: string): Promise<RunView | undefined>;
  close(): Promise<void>;
}

export interface RunOrder {
  readonly kind: JobKind;
  /** Checked: `checkJobData`. */
  readonly data: Readonly<Record<string, unknown>>;
  /** Whether somebody waits for it: else what passes by itself is tried again. */
  readonly once: boolean;
  /** At most 64 letters, digits, `-` and `_`; chosen at random. */
  readonly key?: string;
}

/** A run as its job on the queue tells of it. */
export interface RunView {
  readonly state: string;
  /** Whoever writes on the queue writes this, too. */
  readonly progress: Partial<JobState>;
  /** Of a run that has ended. */
  readonly summary?: Summary;
  /** Why there is none: the message, and details on lines of their own. */
  readonly failed?: string;
}

/** Milliseconds before the second attempt, then twice that. */
const RETRIES = { attempts: 3, backoff: { type: 'exponential', delay: 15_000 } };

/** A key that was given for another order. */
export class KeyReused extends RunError {
  constructor() {
    super('usage', 'This Idempotency-Key was sent before, with another order. Give each order a key of its own.');
  }
}

/** Over a store that this process has open; closing it is left to whoever opened it. */
export function runsOnStore(store: Store, homeId: string, queue: Queue = store.queue(RUNS_QUEUE)): RunsApi {
  return {
    queue: async () => ({
      address: store.address,
      workers: await store.workers(RUNS_QUEUE),
      roots: await toldRoots(store, homeId),
    }),
    async put({ kind, data, once, key }) {
      const jobId = key === undefined ? undefined : `api.${key}`;
      const known = jobId === undefined ? undefined : await queue.getJob(jobId);
      if (known && !(known.name === kind && isDeepStrictEqual(known.data, data))) throw new KeyReused();
      // A job of this id that is there already stays; the queue drops the second one.
      const job = known ?? (await queue.add(kind, data, { ...(jobId && { jobId }), ...(!once && RETRIES) }));
      return job.id ?? '';
    },
    async look(id) {
      // The state first: what is read after it belongs to it, or to a later one.
      const state = await queue.getJobState(id);
      const job = await queue.getJob(id);
      if (!job) return undefined;
      const progress = typeof job.progress === 'object' && job.progress !== null ? job.progress : {};
      return {
        state,
        progress: progress as Partial<JobState>,
        ...(state === 'completed' && { summary: job.returnvalue as Summary }),
        ...(state === 'failed' && { failed: job.failedReason || 'The job failed.' }),
      };
    },
    close: async () => undefined,
  };
}
