import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { RunError } from '../../model/error.js';
import { newRunId, runFolder } from '../../runs/run/layout.js';
import { freshRunId } from '../../runs/run/list.js';
import { withHome } from '../../store/home.js';
import { reached } from '../../trace/milestones.js';
import { type JobKind, RUNS_QUEUE } from '../../worker/jobs/data.js';
import { beginTicket, enqueueForHome, homeId, isBegunHere, registeredRoots } from '../../worker/jobs/home.js';
import { runJobId, stateOf } from '../../worker/jobs/job.js';
import type { Queue, Store } from '../../worker/store/port.js';
import { jobOfRun, jobProgress, queueView, type RunView } from './queued.js';

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
  /** Puts a run on the queue and answers the run's id. With a key it may be said again: the same order is one run. */
  put(order: RunOrder): Promise<string>;
  /** By the id of the run, or of its job on the queue. Undefined where the queue knows none. */
  look(id: string): Promise<RunView | undefined>;
  close(): Promise<void>;
}

export interface RunOrder {
  readonly kind: JobKind;
  /** Checked: `checkJobData`. */
  readonly data: Readonly<Record<string, unknown>>;
  /** The same as it was said, where that is another way to name a file: the same words are the same order. */
  readonly said?: Readonly<Record<string, unknown>>;
  /** Whether somebody waits for it: else what passes by itself is tried again. */
  readonly once: boolean;
  /** Left to the worker of this data folder, while it lives: there is looked for what it leaves behind. */
  readonly here?: boolean;
  /** At most 255 characters; chosen at random. */
  readonly key?: string;
  /** Told of the run before it is put: where that fails there is none. */
  onAccepted?(run: string): Promise<void>;
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
export function runsOnStore(store: Store, home: string, queue: Queue = store.queue(RUNS_QUEUE)): RunsApi {
  const id = homeId(home);
  return {
    queue: async () => ({
      address: store.address,
      workers: await store.workers(RUNS_QUEUE),
      roots: await registeredRoots(store, id),
    }),
    async put({ kind, data, said = data, once, here = false, key = randomBytes(8).toString('hex'), onAccepted }) {
      const run = await orderedRun(home, key, JSON.stringify([kind, said, once], sortKeys));
      reached('order-noted');
      await onAccepted?.(run);
      // The same order once more: a job of this id that is there already stays, and what was begun is not begun again.
      if (await isKnownHere(home, run)) return run;
      const options = { jobId: runJobId(run), ...(!once && RETRIES) };
      if (!here) await queue.add(kind, data, options);
      else if (!(await queue.getJob(options.jobId))) await enqueueForHome(home, run, queue, kind, data, options);
      return run;
    },
    async look(wanted) {
      const job = await jobOfRun(queue, wanted);
      if (!job?.id) return undefined;
      // The state first: what is read after it belongs to it, or to a later one.
      const state = await queue.getJobState(job.id);
      const now = await queue.getJob(job.id);
      return now && { ...queueView(now, state), id: stateOf(now)?.run ?? wanted, progress: jobProgress(now) ?? null };
    },
    close: async () => undefined,
  };
}

/** Leaves an order in a data folder whose embedded queue nobody has open: the next worker puts it there. Returns the run's id. */
export async function leaveOrder(
  home: string,
  { kind, data, once, key }: RunOrder & { readonly key: string },
): Promise<string> {
  const run = await orderedRun(home, key, JSON.stringify([kind, data, once], sortKeys));
  const ticket = { id: runJobId(run), name: kind, data, timestamp: Date.now(), opts: once ? {} : RETRIES };
  if (!(await isKnownHere(home, run))) beginTicket(home, ticket, run);
  return run;
}

/** Whether a run was begun in this data folder, or ended before it began. */
export async function isKnownHere(home: string, run: string): Promise<boolean> {
  return (await isBegunHere(home, run)) || existsSync(join(runFolder(home, run).dir, 'summary.json'));
}

const KEY_KEPT_MS = 14 * 86_400_000;

/** In JSON the order of keys says nothing. */
const sortKeys = (_: string, value: unknown): unknown =>
  value instanceof Object && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** The run that an order stands for: chosen when its key is said first. Throws `KeyReused` where that was said with another order. */
async function orderedRun(home: string, key: string, order: string, fresh?: string): Promise<string> {
  const id = fresh ?? (await freshRunId(home));
  const hash = createHash('sha256').update(order).digest('hex');
  const row = withHome(home, (db) =>
    db.transaction(() => {
      const now = Date.now();
      db.prepare('delete from api_order where at < ?').run(now - KEY_KEPT_MS);
      // Two that were ordered within a millisecond may have drawn the same number: the second draws again.
      db.prepare('insert or ignore into api_order (key, run, hash, at) values (?, ?, ?, ?)').run(key, id, hash, now);
      return db.prepare('select run, hash from api_order where key = ?').get(key);
    }),
  );
  if (!row) return orderedRun(home, key, order, newRunId());
  if (row['hash'] !== hash) throw new KeyReused();
  return String(row['run']);
}
