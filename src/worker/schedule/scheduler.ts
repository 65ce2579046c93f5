import type { Queue, Worker } from 'bullmq';
import { checkSchedule } from '../../runs/schedule/slots.js';
import type { Lease, Store } from '../store/port.js';
import { alignFires, fireOf, SCHEDULE_QUEUE } from './fires.js';
import { putDue, type ScheduledJob } from './put-due.js';

/** Time as schedules see it; tests pass their own. */
export interface ScheduleClock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Runs something later; the answer takes it back. */
  after(ms: number, run: () => void): () => void;
}

export interface SchedulesOptions {
  readonly store: Store;
  /** The jobs that have a schedule, read anew at every look. */
  jobs(): Promise<readonly ScheduledJob[]>;
  /** The queue that carries runs. */
  readonly queue: Queue;
  readonly notice: (level: 'info' | 'warn', text: string) => void;
  /** Told of the job of a slot that is refused because the run before it has not ended. */
  readonly refused?: (job: string) => void;
  /** How long after the death of the process that decides another one takes over. */
  readonly leaseMs: number;
  readonly clock?: ScheduleClock;
}

export interface Schedules {
  /** Whether this process is the one, of all workers on the queue, that puts slots on the queue. */
  readonly deciding: boolean;
  /** Looks now what is due; resolves when that is done. Never rejects. */
  look(): Promise<void>;
  /** Hands the deciding over. Ends within 3 s, also while the store is away. */
  close(): Promise<void>;
}

const LOOK_MS = 60_000;
const CLOSE_MS = 1500;
/** After the lease was lost: where the store is too slow to keep one, it is not to be asked without a pause. */
const AGAIN_MS = 500;

const systemClock: ScheduleClock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Puts the slots of schedules on the queue; contract section 4.
 *
 *     waiting  → holds the lease `schedules`      → deciding
 *     deciding → the lease is lost, or let go of  → waiting
 *
 * Who decides looks at once, every minute, and at every fire of a BullMQ job scheduler. The fires make it punctual; the
 * looks are what can be relied on: they find what was due while no worker ran, what the store lost, and the nights on
 * which the library's idea of a change of the clock differs. Looks and fires take turns.
 */
export function openSchedules(options: SchedulesOptions): Schedules {
  const { store, notice, clock = systemClock } = options;
  const fires = store.queue(SCHEDULE_QUEUE);
  const tell = onceEach(notice);
  let jobs: readonly ScheduledJob[] = [];
  let absent: ReadonlySet<string> = new Set();
  let lease: Lease | undefined;
  let worker: Worker | undefined;
  let closed = false;
  let cancel = (): void => undefined;
  let turn: Promise<unknown> = Promise.resolve();

  const mayDecide = (): boolean => !closed && lease?.valid === true;
  const inTurn = (work: () => Promise<void>): Promise<void> => {
    const mine = turn.then(work).catch((error: unknown) => {
      if (!closed) tell('', `Schedules cannot be looked at now: ${wordsOf(error)}. The next look is within a minute.`);
    });
    turn = mine;
    return mine;
  };

  const settle = async (job: ScheduledJob): Promise<void> => {
    try {
      const { refused, queue } = options;
      await putDue(job, clock.now(), { store, queue, notice, mayDecide, ...(refused && { refused }) });
      tell(job.name, undefined);
    } catch (error) {
      if (mayDecide()) tell(job.name, `The schedule of the job ${job.name} cannot be followed now: ${wordsOf(error)}.`);
    }
  };

  /** Ends by itself: a fire under way waits for its turn, so nothing here may wait for the worker to end. */
  const stepDown = (): void => {
    worker?.close().catch(() => undefined);
    worker = undefined;
    lease = undefined;
  };

  const takeLease = async (): Promise<void> => {
    if (lease?.valid) return;
    stepDown();
    const taken = await store.lease('schedules', options.leaseMs);
    if (taken && closed) await taken.release();
    else if (taken) {
      lease = taken;
      taken.lost.addEventListener('abort', () => {
        if (lease === taken) stepDown();
        plan(AGAIN_MS);
      });
    }
  };

  const lookNow = async (): Promise<void> => {
    if (closed) return;
    await takeLease();
    if (!mayDecide()) return;
    const listed = await options.jobs().catch((error: unknown) => {
      tell('jobs', `The job files cannot be read now: ${wordsOf(error)}. Schedules go on as they were read before.`);
      return undefined;
    });
    if (listed) jobs = listed.filter((job) => isUsable(job, tell));
    for (const job of jobs) await settle(job);
    if (!mayDecide()) return;
    worker ??= store.worker(SCHEDULE_QUEUE, ({ data }) => fired(data), { concurrency: 1 });
    if (listed) {
      tell('jobs', undefined);
      const present = listed.map(({ name }) => name);
      absent = await alignFires(fires, store, jobs, present, absent);
    }
    tell('', undefined);
  };

  const fired = async (data: unknown): Promise<void> => {
    const job = jobs.find(({ name }) => name === fireOf(data));
    // What is not put on the queue here is found by the next look, whoever has it.
    if (job) await inTurn(async () => (mayDecide() ? settle(job) : undefined));
  };

  const plan = (ms: number): void => {
    cancel();
    if (closed) return;
    cancel = clock.after(ms, () => {
      void inTurn(lookNow).then(() => plan(mayDecide() ? LOOK_MS : Math.min(LOOK_MS, options.leaseMs)));
    });
  };
  plan(0);

  return {
    get deciding() {
      return mayDecide();
    },
    look: () => inTurn(lookNow),
    async close() {
      if (closed) return;
      closed = true;
      cancel();
      const ended = [turn, worker?.close(), lease?.release()].map((one) => Promise.resolve(one));
      await atMost(CLOSE_MS, Promise.allSettled(ended));
      await atMost(CLOSE_MS, Promise.allSettled([fires.close()]));
    },
  };
}

function isUsable(job: ScheduledJob, tell: (about: string, text: string | undefined) => void): boolean {
  const wrong = checkSchedule(job.schedule);
  if (wrong !== undefined) tell(job.name, `The job ${job.name} does not run by its schedule: ${wrong}.`);
  return wrong === undefined;
}

/** A warning about the same thing once, until it is another one or all is well again. */
function onceEach(notice: SchedulesOptions['notice']): (about: string, text: string | undefined) => void {
  const told = new Map<string, string>();
  return (about, text) => {
    if (text === undefined) told.delete(about);
    else if (told.get(about) !== text) {
      told.set(about, text);
      notice('warn', text);
    }
  };
}

function wordsOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '');
}

async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, over]).catch(() => undefined);
  clearTimeout(timer);
}
