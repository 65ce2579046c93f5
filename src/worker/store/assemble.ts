import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Queue, QueueEvents, Worker } from 'bullmq';
import { withTimeout } from '../rights.js';
import { classifyError, type Reports } from './faults.js';
import type { Primitives, Processor, Store, StoreWorkerOptions } from './port.js';
import { exchangePace, isLeased, openPresence, readText, takeLease, updateText } from './shared.js';

/** What one kind of store brings along; the rest is the same for all. */
export interface StoreParts {
  readonly kind: Store['kind'];
  readonly address: string;
  readonly primitives: Primitives;
  readonly reports: Reports;
  /** How BullMQ reaches the store: its `connection`, `prefix`, and the backend, with types that differ by store. */
  readonly bull: { readonly options: BullOptions; readonly backend?: unknown };
  /** The id of a queue's last event so far; later ones are heard. */
  lastEvent(queue: string): string | Promise<string>;
  /** Ends the connections: orderly, or at once where an orderly end takes too long. */
  end(): Promise<void>;
  abandon(): void;
}

type BullOptions = Readonly<Record<string, unknown>>;

/** Closing must not take longer, also where the store is away. */
const CLOSE_MS = 4_000;
/** A full store refuses to hand out jobs; BullMQ would ask again without a pause, as after every error it does not know. */
const PAUSE_MS = 5_000;
/** More errors of one worker than these within a second, of whatever kind, are such asking. */
const MOST_ERRORS = 20;
/** BullMQ looks again for jobs after so long where there was no connection. */
const RETRY_MS = 2_000;
const PATIENCE_MS = 5_000;
const RETRY_AFTER_MS = 200;

export function assemble(parts: StoreParts): Store {
  const { primitives, reports } = parts;
  const member = randomUUID();
  const closers = new Set<() => Promise<unknown>>();
  const workers = new Set<Worker>();
  const presence = openPresence(primitives, member, reports.reportError);
  let closed: Promise<void> | undefined;

  /** Errors of the store as a `RunError`. */
  async function explained<T>(operation: () => Promise<T>): Promise<T> {
    try {
      const answer = await operation();
      reports.noteAnswer();
      return answer;
    } catch (error) {
      throw reports.explain(error);
    }
  }

  /** For questions that may be asked twice: a server that restarts is waited for a little. */
  async function retried<T>(operation: () => Promise<T>): Promise<T> {
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await explained(operation);
      } catch (error) {
        const canRetry = classifyError((error as Error).cause).kind === 'away' && performance.now() < until && !closed;
        if (!canRetry) throw error;
        await pause(RETRY_AFTER_MS);
      }
    }
  }

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

  return {
    kind: parts.kind,
    address: parts.address,

    queue(name, options = {}) {
      const queue = track(new Queue(name, ...(bull({ ...options }) as [never])));
      const add = queue.add.bind(queue);
      return Object.assign(queue, { add: (...job: Parameters<typeof add>) => explained(() => add(...job)) });
    },

    worker(name: string, processor: Processor, options: StoreWorkerOptions) {
      const { lockDuration } = options;
      // Whole milliseconds: every store refuses a fraction.
      const stalledInterval = lockDuration && Math.max(500, Math.round(lockDuration / 3));
      const all = { runRetryDelay: RETRY_MS, ...(stalledInterval && { stalledInterval }), ...options };
      const worker = track(new Worker(name, processor, ...(bull(all) as [never])));
      workers.add(worker);
      worker.once('closing', presence.enter(name));
      worker.on('closed', () => workers.delete(worker));
      const tooMany = rateCounter(MOST_ERRORS, 1_000);
      worker.on('error', (error) => {
        if (tooMany() || classifyError(error).kind === 'full') void pauseWorker(worker);
      });
      return worker;
    },

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

    lease: (name, ttlMs) => retried(() => takeLease(primitives, name, ttlMs, reports.reportError)),
    leased: (name) => retried(() => isLeased(primitives, name)),
    read: (name) => retried(() => readText(primitives, name)),
    update: (name, edit) => explained(() => updateText(primitives, name, edit)),
    pace: (service) => ({ exchange: (report) => explained(() => exchangePace(primitives, service, member, report)) }),
    workers: (queue) => retried(() => presence.count(queue)),
    check: () => explained(() => primitives.ping()),

    close() {
      closed ??= (async () => {
        const orderly = async () => {
          await Promise.allSettled([...[...closers].map((close) => close()), presence.close()]);
          await parts.end();
        };
        await withTimeout(CLOSE_MS, orderly()).catch(() => undefined);
        for (const worker of workers) stopTimers(worker);
        parts.abandon();
      })();
      return closed;
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
