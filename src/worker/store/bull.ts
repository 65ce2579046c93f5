import { setTimeout as pause } from 'node:timers/promises';
import { Queue, QueueEvents, Worker } from 'bullmq';
import { assemble, type Queues, type StoreParts } from './assemble.js';
import { classifyError } from './faults.js';
import type { SharedStore } from './port.js';

/** A store whose jobs BullMQ carries. */
export interface BullParts extends Omit<StoreParts<SharedStore['kind']>, 'queues'> {
  /** How BullMQ reaches the store: its `connection`, `prefix`, and the backend, with types that differ by store. */
  readonly bull: { readonly options: BullOptions; readonly backend?: unknown };
  /** The id of a queue's last event so far; later ones are heard. */
  lastEvent(queue: string): string | Promise<string>;
}

type BullOptions = Readonly<Record<string, unknown>>;

/** A full store refuses to hand out jobs; BullMQ would ask again without a pause, as after every error it does not know. */
const PAUSE_MS = 5_000;
/** More errors of one worker than these within a second, of whatever kind, are such asking. */
const MOST_ERRORS = 20;
/** BullMQ looks again for jobs after so long where there was no connection. */
const RETRY_MS = 2_000;

export function assembleBull(parts: BullParts): SharedStore {
  const { reports } = parts;
  const closers = new Set<() => Promise<unknown>>();
  const workers = new Set<Worker>();
  let closed = false;

  /** An 'error' event that nobody hears would end the process. */
  function track<T extends Queue | QueueEvents | Worker>(one: T): T {
    const emitter: NodeJS.EventEmitter = one;
    emitter.on('error', (error: unknown) => {
      if (!closed) reports.reportError(error);
    });
    closers.add(() => one.close());
    return one;
  }

  /** The arguments of BullMQ's constructors: their types bind options and backend together for one kind of store. */
  const bull = <T>(options: BullOptions): T[] => [{ ...parts.bull.options, ...options }, parts.bull.backend] as T[];

  const queues: Queues = {
    queue: (name, options = {}) => track(new Queue(name, ...(bull({ ...options }) as [never]))),
    worker(name, processor, options) {
      const { lockDuration } = options;
      // Whole milliseconds: every store refuses a fraction.
      const stalledInterval = lockDuration && Math.max(500, Math.round(lockDuration / 3));
      const all = { runRetryDelay: RETRY_MS, ...(stalledInterval && { stalledInterval }), ...options };
      const worker = track(new Worker(name, processor, ...(bull(all) as [never])));
      workers.add(worker);
      worker.on('closed', () => workers.delete(worker));
      const tooMany = rateCounter(MOST_ERRORS, 1_000);
      worker.on('error', (error) => {
        if (tooMany() || classifyError(error).kind === 'full') void pauseWorker(worker);
      });
      return worker;
    },
    close() {
      closed = true;
      return Promise.allSettled([...closers].map((close) => close()));
    },
  };

  const abandon = () => {
    for (const worker of workers) stopTimers(worker);
    parts.abandon();
  };

  return {
    ...assemble({ ...parts, queues, abandon }),
    events(name) {
      const events = track(new QueueEvents(name, ...(bull({ autorun: false }) as [never])));
      // By itself BullMQ begins anew with what comes next whenever it looks, and would miss what came while it did not.
      const begun = Promise.resolve(parts.lastEvent(name)).then((lastEventId) => {
        Object.assign(events.opts, { lastEventId });
      }, reports.reportError);
      begun
        .then(() => (events.closing ? undefined : events.run()))
        .catch((error: unknown) => (closed || events.closing ? undefined : reports.reportError(error)));
      const connected = events.waitUntilReady.bind(events);
      return Object.assign(events, { waitUntilReady: async () => void (await Promise.all([connected(), begun])) });
    },
  };
}

async function pauseWorker(worker: Worker): Promise<void> {
  if (worker.isPaused()) return;
  await worker.pause(true);
  await pause(PAUSE_MS, undefined, { ref: false });
  if (!worker.closing) worker.resume();
}

/** Tells at each call whether there were more than so many within so many milliseconds. */
function rateCounter(most: number, withinMs: number): () => boolean {
  let [count, since] = [0, 0];
  return () => {
    const now = performance.now();
    if (now - since > withinMs) [count, since] = [0, now];
    return ++count > most;
  };
}

/** A worker that cannot finish its closing goes on renewing locks and looking for stalled jobs, and keeps the process alive. */
function stopTimers(worker: Worker): void {
  const inner = worker as unknown as { lockManager?: { close(): Promise<void> }; stalledCheckStopper?: () => void };
  inner.stalledCheckStopper?.();
  void inner.lockManager?.close().catch(() => undefined);
}
