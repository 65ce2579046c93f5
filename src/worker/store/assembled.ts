import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Queue, QueueEvents, Worker } from 'bullmq';
import { within } from '../within.js';
import { faultOf, type Reports } from './faults.js';
import type { Lease, Primitives, Processor, Store, StoreWorkerOptions } from './port.js';

/** What one kind of store brings along; the rest is the same for all. */
export interface Parts {
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
const REST_MS = 5_000;
/** More errors of one worker than these within a second, of whatever kind, are such asking. */
const MOST_ERRORS = 20;
/** BullMQ looks again for jobs after so long where there was no connection. */
const RETRY_MS = 2_000;
const PATIENCE_MS = 5_000;
const AGAIN_MS = 200;

export function assemble(parts: Parts): Store {
  const { primitives, reports } = parts;
  const member = randomUUID();
  const opened = new Set<() => Promise<unknown>>();
  const workers = new Set<Worker>();
  const presence = openPresence(primitives, member, reports.heard);
  let closed: Promise<void> | undefined;

  /** Errors of the store as a `RunError`. */
  async function asked<T>(question: () => Promise<T>): Promise<T> {
    try {
      const answer = await question();
      reports.answered();
      return answer;
    } catch (error) {
      throw reports.explain(error);
    }
  }

  /** For questions that may be asked twice: a server that restarts is waited for a little. */
  async function askedAgain<T>(question: () => Promise<T>): Promise<T> {
    const until = performance.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await asked(question);
      } catch (error) {
        const again = faultOf((error as Error).cause).kind === 'away' && performance.now() < until && !closed;
        if (!again) throw error;
        await pause(AGAIN_MS);
      }
    }
  }

  /** An 'error' event that nobody hears would end the process. */
  function kept<T extends Queue | QueueEvents | Worker>(one: T): T {
    const emitter: NodeJS.EventEmitter = one;
    emitter.on('error', (error: unknown) => {
      if (!closed) reports.heard(error);
    });
    opened.add(() => one.close());
    return one;
  }

  /** The arguments of BullMQ's constructors: their types bind options and backend together for one kind of store. */
  const bull = <T>(options: BullOptions): T[] => [{ ...parts.bull.options, ...options }, parts.bull.backend] as T[];

  return {
    kind: parts.kind,
    address: parts.address,

    queue(name, options = {}) {
      const queue = kept(new Queue(name, ...(bull({ ...options }) as [never])));
      for (const method of ['add', 'addBulk', 'upsertJobScheduler'] as const) {
        const plain = queue[method].bind(queue) as (...values: unknown[]) => Promise<unknown>;
        Object.assign(queue, { [method]: (...values: unknown[]) => asked(() => plain(...values)) });
      }
      return queue;
    },

    worker(name: string, processor: Processor, options: StoreWorkerOptions) {
      const worker = kept(new Worker(name, processor, ...(bull({ runRetryDelay: RETRY_MS, ...options }) as [never])));
      workers.add(worker);
      const leave = presence.enter(name);
      worker.on('closing', leave);
      worker.on('closed', () => workers.delete(worker));
      const tooMany = counter(MOST_ERRORS, 1_000);
      worker.on('error', (error) => {
        if (tooMany() || faultOf(error).kind === 'full') void rest(worker);
      });
      return worker;
    },

    events(name) {
      const events = kept(new QueueEvents(name, ...(bull({ autorun: false }) as [never])));
      // By itself BullMQ begins anew with what comes next whenever it looks, and would miss what came while it did not.
      const begun = Promise.resolve(parts.lastEvent(name)).then((lastEventId) => {
        Object.assign(events.opts, { lastEventId });
      }, reports.heard);
      begun
        .then(() => (events.closing ? undefined : events.run()))
        .catch((error: unknown) => (closed || events.closing ? undefined : reports.heard(error)));
      const connected = events.waitUntilReady.bind(events);
      return Object.assign(events, { waitUntilReady: async () => void (await Promise.all([connected(), begun])) });
    },

    lease(name, ttlMs) {
      const token = randomUUID();
      return askedAgain(async () => {
        const sentAt = performance.now();
        const epoch = await primitives.take(name, token, ttlMs);
        if (epoch === undefined) return undefined;
        return keepLease(primitives, { name, token, epoch, sentAt }, ttlMs, reports.heard);
      });
    },
    leased: (name) => askedAgain(() => primitives.held(name)),
    read: (name) => askedAgain(() => primitives.read(name)),
    swap: (name, text) => asked(() => primitives.swap(name, text)),
    pace: (service) => ({ exchange: (report) => asked(() => primitives.exchange(service, member, report)) }),
    workers: (queue) => askedAgain(() => presence.count(queue)),
    check: () => asked(() => primitives.ping()),

    close() {
      closed ??= (async () => {
        const orderly = async () => {
          await Promise.allSettled([...[...opened].map((close) => close()), presence.close()]);
          await parts.end();
        };
        await within(CLOSE_MS, orderly()).catch(() => undefined);
        for (const worker of workers) stopTimers(worker);
        parts.abandon();
      })();
      return closed;
    },
  };
}

async function rest(worker: Worker): Promise<void> {
  if (worker.isPaused()) return;
  await worker.pause(true);
  await pause(REST_MS, undefined, { ref: false });
  if (!worker.closing) worker.resume();
}

/** Tells at each call whether there were more than so many within so many milliseconds. */
function counter(most: number, withinMs: number): () => boolean {
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

/**
 *   held → (renewed every third of the time) → held
 *        → (somebody else has it, or it was not renewed in time) → lost
 *        → (released) → over
 *
 * Its time is reckoned on the monotonic clock from the moment before the last successful renewal was sent, so it ends
 * here no later than in the store: a process that was paused knows, as soon as it runs, that its right has ended.
 */
export function keepLease(
  store: Pick<Primitives, 'renew' | 'release'>,
  taken: { readonly name: string; readonly token: string; readonly epoch: number; readonly sentAt: number },
  ttlMs: number,
  failed: (error: unknown) => void,
): Lease {
  const lost = new AbortController();
  let until = taken.sentAt + ttlMs;
  let over = false;
  let renewal: NodeJS.Timeout | undefined;
  let expiry: NodeJS.Timeout | undefined;

  const stop = () => {
    over = true;
    clearTimeout(renewal);
    clearTimeout(expiry);
  };
  const lose = () => {
    if (over) return;
    stop();
    lost.abort(new Error(`The lease ${taken.name} is lost.`));
  };
  const armExpiry = () => {
    clearTimeout(expiry);
    expiry = setTimeout(() => (performance.now() < until ? armExpiry() : lose()), until - performance.now());
    expiry.unref();
  };
  const armRenewal = (delayMs: number) => {
    renewal = setTimeout(renew, delayMs);
    renewal.unref();
  };

  async function renew(): Promise<void> {
    const sentAt = performance.now();
    // One that has ended may have been somebody else's meanwhile.
    if (sentAt >= until) return lose();
    try {
      const still = await store.renew(taken.name, taken.token, taken.epoch, ttlMs);
      if (over) return;
      if (!still) return lose();
      until = sentAt + ttlMs;
      armExpiry();
      armRenewal(Math.max(0, sentAt + ttlMs / 3 - performance.now()));
    } catch (error) {
      if (over) return;
      failed(error);
      armRenewal(Math.min(1_000, ttlMs / 10));
    }
  }

  armExpiry();
  armRenewal(ttlMs / 3);
  return {
    epoch: taken.epoch,
    get valid() {
      return !over && performance.now() < until;
    },
    lost: lost.signal,
    async release() {
      if (over) return;
      stop();
      await store.release(taken.name, taken.token);
    },
  };
}

/** Three beats may be missed before a member counts as gone. */
const BEAT_MS = 3_000;

/** Tells the store which queues this process works on, so that all can count who is there. */
function openPresence(
  store: Pick<Primitives, 'present' | 'absent' | 'count'>,
  member: string,
  failed: (error: unknown) => void,
) {
  const working = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let beating: Promise<void> = Promise.resolve();

  async function beat(): Promise<void> {
    try {
      await Promise.all([...working.keys()].map((queue) => store.present(queue, member)));
    } catch (error) {
      failed(error);
    }
  }
  /** One after the other, so that a late beat never follows a farewell. */
  const next = (step: () => Promise<void>): Promise<void> => {
    beating = beating.then(step, step);
    return beating;
  };
  const leave = async (queue: string) => {
    if (!working.has(queue)) await store.absent(queue, member).catch(failed);
  };

  return {
    /** Until the returned function is called. */
    enter(queue: string): () => void {
      working.set(queue, (working.get(queue) ?? 0) + 1);
      void next(beat);
      timer ??= setInterval(() => void next(beat), BEAT_MS).unref();
      let left = false;
      return () => {
        if (left) return;
        left = true;
        const others = (working.get(queue) ?? 1) - 1;
        if (others > 0) working.set(queue, others);
        else working.delete(queue);
        void next(() => leave(queue));
      };
    },
    async count(queue: string): Promise<number> {
      await beating;
      return Math.max(await store.count(queue), working.has(queue) ? 1 : 0);
    },
    async close(): Promise<void> {
      clearInterval(timer);
      const queues = [...working.keys()];
      working.clear();
      await next(async () => void (await Promise.all(queues.map(leave))));
    },
  };
}
