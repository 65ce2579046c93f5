import { openSchedules, type ScheduleClock, type ScheduledJob, type Schedules } from '../../../src/worker/schedules.js';
import type { Queue, Store } from '../../../src/worker/store/port.js';

export const at = (text: string): number => Date.parse(text);

/** A clock that stands still unless it is set; it may jump either way. What is due runs only by `pass`. */
export interface HandClock extends ScheduleClock {
  time: number;
  /** Lets time pass and runs what falls due. */
  pass(ms: number): void;
}

export function handClock(start: string): HandClock {
  const waiting = new Set<{ at: number; run: () => void }>();
  const clock: HandClock = {
    time: at(start),
    wall: () => clock.time,
    after(ms, run) {
      const entry = { at: clock.time + ms, run };
      waiting.add(entry);
      return () => waiting.delete(entry);
    },
    pass(ms) {
      clock.time += ms;
      for (const entry of [...waiting]) {
        if (entry.at > clock.time) continue;
        waiting.delete(entry);
        entry.run();
      }
    },
  };
  return clock;
}

/** A clock on which a second is a minute. */
export function fastClock(): ScheduleClock {
  const begun = Date.now();
  return {
    wall: () => begun + (Date.now() - begun) * 60,
    after(ms, run) {
      const timer = setTimeout(run, ms / 60);
      return () => clearTimeout(timer);
    },
  };
}

export const nightly = (cron = '0 2 * * *', timezone = 'Europe/Berlin'): ScheduledJob => ({
  name: 'assets',
  kind: 'import',
  schedule: { cron, timezone, file: 'inbox/erp/assets.csv' },
});

/** One worker process's schedules, and what it told. */
export interface Desk {
  readonly schedules: Schedules;
  readonly store: Store;
  readonly queue: Queue;
  readonly notices: string[];
  /** Undefined: they cannot be read. */
  jobs: ScheduledJob[] | undefined;
  close(): Promise<void>;
}

export function desk(store: Store, jobs: ScheduledJob[], clock?: ScheduleClock, leaseMs = 15_000): Desk {
  const [notices, queue]: [string[], Queue] = [[], store.queue('rowferry')];
  const made: Desk = {
    store,
    queue,
    notices,
    jobs,
    schedules: openSchedules({
      store,
      queue,
      jobs: () => (made.jobs ? Promise.resolve(made.jobs) : Promise.reject(new Error('away'))),
      notice: (level, text) => notices.push(`${level}: ${text}`),
      leaseMs,
      ...(clock && { clock }),
    }),
    async close() {
      await made.schedules.close();
      await store.close();
    },
  };
  return made;
}

/** Ids of all runs that were ever put on the queue, by slot. */
export async function slotsOf(queue: Queue): Promise<string[]> {
  const jobs = await queue.getJobs();
  return jobs.map(({ id }) => String(id)).sort();
}

export const waitingCount = async (queue: Queue): Promise<number> =>
  (await queue.getJobCounts('waiting'))['waiting'] ?? 0;

/** Removes all runs. */
export async function emptyQueue(queue: Queue): Promise<void> {
  for (const { id = '' } of await queue.getJobs()) await queue.remove(id);
}

/** Takes the next run off the queue, as a worker does; `end` ends it. */
export async function takeRun(store: Store): Promise<{ id: string; end(): Promise<void> }> {
  let endRun = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    endRun = resolve;
  });
  let take = (_id: string): void => undefined;
  const taken = new Promise<string>((resolve) => {
    take = resolve;
  });
  const work = async ({ id = '' }: { id?: string | undefined }) => {
    take(id);
    await ended;
  };
  const worker = store.worker('rowferry', work, {});
  return {
    id: await taken,
    async end() {
      // It takes no other one.
      const closed = worker.close();
      endRun();
      await closed;
    },
  };
}
