import type { Job, Queue } from 'bullmq';
import { Unavailable } from '../../src/worker/store/faults.js';
import {
  DelayedError,
  type Processor,
  type Store,
  type TextStore,
  UnrecoverableError,
  WaitingError,
} from '../../src/worker/store/port.js';
import { isLeased, openPresence, readText, takeLease, updateText } from '../../src/worker/store/shared.js';
import type { Timeline } from './timeline.js';

/** A job as the store keeps it. */
interface Kept {
  readonly id: string;
  readonly name: string;
  readonly data: string;
  readonly opts: Readonly<Record<string, unknown>>;
  readonly timestamp: number;
  progress: string;
  stalls: number;
  attempts: number;
  state: 'waiting' | 'delayed' | 'active' | 'completed' | 'failed';
  /** Least first. */
  order: number;
  dueAt: number;
  token: string | undefined;
  lockedUntil: number;
  finishedOn: number | undefined;
  reason: string | undefined;
}

export type SimQueue = ReturnType<typeof openSimQueue>;

/** A queue's server: jobs as BullMQ keeps them, and texts under names. One for all machines of a simulated world. */
export function openSimQueue(timeline: Timeline, random: () => number, wall: () => number) {
  const jobs = new Map<string, Kept>();
  const cells = new Map<string, { readonly text: string; readonly until: number }>();
  let awayUntil = 0;
  /** When it lost its memory last. */
  let lostAt = Number.NEGATIVE_INFINITY;
  let order = 0;
  let number = 0;

  /** Whoever dies in between does not hear of what was done. */
  const ask = <T>(work: () => T): Promise<T> =>
    new Promise((resolve, reject) => {
      timeline.after(0.1 + random() * 2, () => {
        let settle: () => void;
        try {
          if (timeline.now < awayUntil) throw new Unavailable('the queue is away');
          const answer = work();
          settle = () => resolve(answer);
        } catch (error) {
          settle = () => reject(error);
        }
        timeline.after(0.1 + random() * 2, settle);
      });
    });

  const texts: TextStore = {
    ping: () => ask(() => undefined),
    look: (name) =>
      ask(() => {
        const cell = cells.get(name);
        const text = cell && cell.until > timeline.now ? cell.text : undefined;
        return { text, now: timeline.now, ageMs: timeline.now - lostAt };
      }),
    replace: (name, seen, text, keepMs = Number.POSITIVE_INFINITY) =>
      ask(() => {
        const cell = cells.get(name);
        const current = cell && cell.until > timeline.now ? cell.text : undefined;
        if (current !== seen.text || timeline.now - lostAt < seen.ageMs) return false;
        cells.set(name, { text, until: timeline.now + keepMs });
        return true;
      }),
  };

  const known = (id: string, what: string): Kept => {
    const job = jobs.get(id);
    if (!job) throw new Error(`Missing key for job ${id}. ${what}`);
    return job;
  };
  const held = (id: string, token: string | undefined, what: string): Kept => {
    const job = known(id, what);
    if (job.token !== token || job.state !== 'active') throw new Error(`Missing lock for job ${id}. ${what}`);
    return job;
  };
  const release = (job: Kept, state: Kept['state']): void => {
    job.state = state;
    job.token = undefined;
  };

  function view({ id, name, data, opts, timestamp, ...kept }: Kept): Job {
    let progress: unknown = JSON.parse(kept.progress);
    return {
      ...{ id, name, data: JSON.parse(data), opts, timestamp },
      ...{ stalledCounter: kept.stalls, attemptsMade: kept.attempts, finishedOn: kept.finishedOn },
      get progress() {
        return progress;
      },
      updateProgress(given: unknown) {
        progress = JSON.parse(JSON.stringify(given));
        return ask(() => {
          known(id, 'updateProgress').progress = JSON.stringify(given);
        });
      },
      moveToDelayed(at: number, token?: string) {
        const ms = Math.max(0, at - Date.now());
        return ask(() => {
          const job = held(id, token, 'moveToDelayed');
          release(job, 'delayed');
          job.dueAt = timeline.now + ms;
        });
      },
      moveToWait: (token?: string) =>
        ask(() => {
          const job = held(id, token, 'moveToWait');
          release(job, 'waiting');
          job.order = -++order;
          return 1;
        }),
      remove: () =>
        ask(() => {
          if (known(id, 'remove').state === 'active') throw new Error(`Job ${id} could not be removed: it is locked`);
          jobs.delete(id);
        }),
    } as unknown as Job;
  }

  const queue = {
    add: (name: string, data: unknown, opts: { jobId?: string } = {}) => {
      const text = JSON.stringify(data);
      return ask(() => {
        const id = opts.jobId ?? String(++number);
        const there = jobs.get(id);
        if (there) return view(there);
        const job: Kept = {
          ...{ id, name, data: text, opts, timestamp: Math.floor(wall()), progress: '0', stalls: 0, attempts: 0 },
          ...{ state: 'waiting', order: ++order, dueAt: 0, token: undefined, lockedUntil: 0 },
          ...{ finishedOn: undefined, reason: undefined },
        };
        jobs.set(id, job);
        return view(job);
      });
    },
    getJob: (id: string) =>
      ask(() => {
        const job = jobs.get(id);
        return job && view(job);
      }),
  } as unknown as Queue;

  /** As BullMQ's worker: takes jobs, renews their locks, and says how they ended. Until `close`, which waits for its jobs. */
  function worker(member: string, processor: Processor, options: { concurrency: number; lockMs: number }) {
    const { concurrency, lockMs } = options;
    const working = new Map<string, Promise<void>>();
    let paused = false;
    let taking = false;

    const next = () =>
      ask((): Kept | undefined => {
        const { now } = timeline;
        for (const job of jobs.values()) {
          if (job.state === 'delayed' && job.dueAt <= now) job.state = 'waiting';
          if (job.state !== 'active' || job.lockedUntil > now) continue;
          release(job, 'waiting');
          job.stalls++;
        }
        const [first] = [...jobs.values()].filter(({ state }) => state === 'waiting').sort((a, b) => a.order - b.order);
        if (!first) return undefined;
        first.state = 'active';
        first.token = `${member}:${++number}`;
        first.lockedUntil = now + lockMs;
        return { ...first };
      });

    async function end(id: string, token: string | undefined, ended: Promise<unknown>): Promise<void> {
      const say = (tell: (job: Kept) => void) => ask(() => tell(held(id, token, 'finish'))).catch(() => undefined);
      const finish = (state: 'completed' | 'failed', reason?: string) => (job: Kept) => {
        release(job, state);
        job.finishedOn = Math.floor(wall());
        job.reason = reason;
      };
      try {
        await ended;
        await say(finish('completed'));
      } catch (error) {
        if (error instanceof DelayedError || error instanceof WaitingError) return;
        const reason = String((error as Error)?.stack ?? error);
        await say((job) => {
          job.attempts++;
          const again = !(error instanceof UnrecoverableError) && job.attempts < Number(job.opts['attempts'] ?? 1);
          if (again) release(job, 'waiting');
          else finish('failed', reason)(job);
        });
      }
    }

    async function take(): Promise<void> {
      if (taking || paused || working.size >= concurrency) return;
      taking = true;
      try {
        const job = await next();
        if (!job) return;
        const { id, token } = job;
        const taken = new AbortController();
        const renewal = setInterval(() => {
          ask(() => {
            held(id, token, 'extendLock').lockedUntil = timeline.now + lockMs;
          }).catch((error) => {
            if (/Missing/.test(String(error))) taken.abort();
          });
        }, lockMs / 2);
        const ended = end(id, token, processor(view(job), token, taken.signal)).finally(() => {
          clearInterval(renewal);
          working.delete(`${id} ${token}`);
        });
        working.set(`${id} ${token}`, ended);
      } catch {
        // Asked again.
      } finally {
        taking = false;
      }
    }
    // Not in step with the others, who would never have a turn.
    let timer: NodeJS.Timeout;
    const look = () => {
      void take();
      timer = setTimeout(look, 50 + random() * 200);
    };
    look();
    return {
      pause() {
        paused = true;
      },
      async close(): Promise<void> {
        paused = true;
        clearTimeout(timer);
        await Promise.all(working.values());
      },
    };
  }

  return {
    queue,
    worker,
    /** The way of one process to it. */
    connect(member: string): Pick<Store, 'lease' | 'leased' | 'workers' | 'check' | 'read' | 'update'> & {
      presence: ReturnType<typeof openPresence>;
    } {
      const presence = openPresence(texts, member, () => undefined);
      return {
        lease: (name, ttlMs) => takeLease(texts, name, ttlMs, () => undefined),
        leased: (name) => isLeased(texts, name),
        read: (name) => readText(texts, name),
        update: (name, edit) => updateText(texts, name, edit),
        workers: (name) => presence.count(name),
        check: () => texts.ping(),
        presence,
      };
    },
    /** Nobody reaches it for so long. */
    away(ms: number): void {
      awayUntil = Math.max(awayUntil, timeline.now + ms);
    },
    /** It forgets everything, as one that is started anew without its log. */
    lose(): void {
      jobs.clear();
      cells.clear();
      lostAt = timeline.now;
    },
    /** Jobs that have not ended. */
    open: (): string[] =>
      [...jobs.values()]
        .filter(({ state }) => state !== 'completed' && state !== 'failed')
        .map(({ id, state }) => `${id} ${state}`),
  };
}
