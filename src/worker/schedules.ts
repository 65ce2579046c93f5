import { z } from 'zod';
import { errorText } from '../model/error.js';
import { endSentence } from '../model/issue.js';
import { type Clock, systemClock } from '../runs/run/context.js';
import { checkSchedule, lastDue, nextDue, type Schedule, slotOf, slotText } from '../runs/schedule/slots.js';
import { LATE_MS, slotJobId } from './jobs/job.js';
import { withTimeout } from './rights.js';
import type { Lease, Queue, Store } from './store/port.js';
import { parseAs } from './store/shared.js';

/** A job with a `schedule`, contract section 4. */
export interface ScheduledJob {
  /** Name of the job file. */
  readonly name: string;
  readonly kind: 'import' | 'export' | 'reconcile';
  /** `file` as it is written there: what its run reads. An export may do without: its job names what it writes. */
  readonly schedule: Schedule & { readonly file?: string | undefined };
}

/** Time as schedules see it; tests pass their own. */
export type ScheduleClock = Pick<Clock, 'wall' | 'after'>;

interface SchedulesOptions {
  readonly store: Pick<Store, 'lease' | 'read' | 'update'>;
  /** The jobs that have a schedule, read anew at every look. Rejects where they cannot be read. */
  jobs(): Promise<readonly ScheduledJob[]>;
  /** The queue that carries runs. */
  readonly queue: Pick<Queue, 'add' | 'getJobState'>;
  readonly notice: (level: 'info' | 'warn', text: string) => void;
  /** How long after the death of the process that decides another one takes over. */
  readonly leaseMs: number;
  readonly clock?: ScheduleClock;
}

export type Schedules = ReturnType<typeof openSchedules>;

/** What all workers remember of the schedules of jobs, in one text of the store. */
const memoriesSchema = z.array(
  z.object({
    job: z.string(),
    /** The schedule that this belongs to: under another one the slots are others. */
    cron: z.string(),
    timezone: z.string(),
    /** The last slot that is done with: run, refused, or before the job was first seen; '' for none. */
    key: z.string(),
    /** The last slot whose job was put on the queue, or was about to be. */
    queued: z.string().optional(),
  }),
);
type SlotMemory = z.output<typeof memoriesSchema>[number];
const MEMORIES_KEY = 'schedules';

const POLL_MS = 60_000;
const CLOSE_MS = 2500;
/** After the lease was lost: where the store is too slow to keep one, it is not to be asked without a pause. */
const AGAIN_MS = 500;
/** A remembered slot further ahead than this was put on the queue while the machine's clock was wrong. */
const AHEAD_MS = 48 * 3_600_000;
/** So long the queue knows the slots that ran, in seconds. What is remembered in the store has no end. */
const KEEP = { age: 30 * 86_400 };
const ENDED = new Set(['completed', 'failed', 'unknown']);

/**
 * Puts the slots of schedules on the queue; contract section 4. One process of all on the queue decides:
 *
 *     waiting  → holds the lease `schedules`      → deciding
 *     deciding → the lease is lost, or let go of  → waiting
 *
 * It looks at once, when the next slot falls due, and every minute: that finds what was due while no worker ran, and what a
 * clock that was set jumped over. A look takes the latest slot of each job that is due and not yet done with; of several
 * missed ones that is one run:
 *
 *     first sight, or another schedule → what is due by now is done with, only later slots run
 *     the run before it has not ended  → refused: done with, and told; a late one waits for its end
 *     else                             → remembered as queued → on the queue → done with
 *
 * A process that dies between two of these steps leaves a slot that is not done with, so the next look goes on with it:
 * the queue drops a job whose id it holds already, so it is not run twice; and as the slot is remembered as queued before
 * its job exists, a later slot that is due by then finds its run.
 */
export function openSchedules(options: SchedulesOptions) {
  const { store, queue, notice, clock = systemClock } = options;
  const warned = new Map<string, string>();
  let jobs: readonly ScheduledJob[] = [];
  let memoryByJob = new Map<string, SlotMemory>();
  let lease: Lease | undefined;
  let closed = false;
  let cancel = (): void => undefined;
  let turn: Promise<void> = Promise.resolve();

  const isDeciding = (): boolean => !closed && lease?.valid === true;

  /** Before every step that changes something. */
  function assertDeciding(): void {
    if (!isDeciding()) throw new Error('another process decides');
  }

  /** A warning about the same thing once, until it is another one or all is well again. */
  function warnOnce(about: string, text: string | undefined): void {
    if (text === undefined) warned.delete(about);
    else if (warned.get(about) !== text) {
      warned.set(about, text);
      notice('warn', text);
    }
  }

  async function remember(...changed: readonly SlotMemory[]): Promise<void> {
    assertDeciding();
    for (const one of changed) memoryByJob.set(one.job, one);
    await store.update(MEMORIES_KEY, () => JSON.stringify([...memoryByJob.values()]));
  }

  async function ensureLease(): Promise<void> {
    if (lease?.valid) return;
    lease = undefined;
    const newLease = await store.lease('schedules', options.leaseMs);
    if (newLease && closed) await newLease.release();
    else if (newLease) {
      lease = newLease;
      newLease.lost.addEventListener('abort', () => pollAfter(AGAIN_MS));
    }
  }

  async function pollOnce(): Promise<void> {
    if (closed) return;
    await ensureLease();
    const memories = parseAs(memoriesSchema, await store.read(MEMORIES_KEY));
    // A store that was emptied meanwhile knows nothing: what was read there at the last look still holds.
    if (memories) memoryByJob = new Map(memories.map((memory) => [memory.job, memory]));
    if (!isDeciding()) return;
    const listed = await options.jobs().catch((error: unknown) => {
      warnOnce(
        'jobs',
        `The job files cannot be read now: ${reasonOf(error)} Schedules go on as they were read before.`,
      );
      return undefined;
    });
    jobs = listed ?? jobs;
    for (const job of jobs) {
      try {
        const fault = checkSchedule(job.schedule);
        if (fault === undefined) await enqueueDue(job);
        warnOnce(job.name, fault && `The job ${job.name} does not run by its schedule: ${fault}.`);
      } catch (error) {
        if (!isDeciding()) return;
        warnOnce(job.name, `The schedule of the job ${job.name} cannot be followed now: ${reasonOf(error)}`);
      }
    }
    if (listed) {
      warnOnce('jobs', undefined);
      await forgetRemoved(new Set(listed.map(({ name }) => name)));
    }
    warnOnce('', undefined);
  }

  async function enqueueDue({ name, kind, schedule }: ScheduledJob): Promise<void> {
    const { cron, timezone, file } = schedule;
    const now = clock.wall();
    const due = lastDue(schedule, now);
    const before = memoryByJob.get(name);
    const ahead = before && isFarAhead(before, now);
    if (!before || ahead || before.cron !== cron || before.timezone !== timezone) {
      if (ahead)
        notice(
          'warn',
          `The job ${name} has run for ${slotLabel(before.key, timezone)}, which lies ahead: check this machine's clock.`,
        );
      const queued = before?.queued;
      await remember({ job: name, cron, timezone, key: due?.key ?? '', ...(queued !== undefined && { queued }) });
      return;
    }
    // A clock that was put back shows slots that are done with.
    if (!due || due.key <= before.key) return;

    const { queued } = before;
    if (queued !== undefined && queued !== due.key && !ENDED.has(await queue.getJobState(slotJobId(name, queued)))) {
      // Missed while no worker ran: what ended that one cut off the run before it, which goes on now.
      if (now - due.dueAt > LATE_MS) return;
      await remember({ ...before, key: due.key });
      notice('warn', overlapText(before, due.key, queued));
      return;
    }
    if (queued !== due.key) await remember({ ...before, queued: due.key });
    assertDeciding();
    const jobId = slotJobId(name, due.key);
    const data = { job: name, ...(file !== undefined && { file }) };
    await queue.add(kind, data, { jobId, removeOnComplete: KEEP, removeOnFail: KEEP });
    await remember({ job: name, cron, timezone, key: due.key, queued: due.key });
    const late = now - due.dueAt > LATE_MS ? ', late' : '';
    notice('info', `The job ${name}, due at ${slotLabel(due.key, timezone)}, is on the queue${late}.`);
  }

  /** A job that has no schedule any more is new when it comes back. */
  async function forgetRemoved(present: ReadonlySet<string>): Promise<void> {
    const remaining = new Map([...memoryByJob].filter(([job]) => present.has(job)));
    if (remaining.size === memoryByJob.size) return;
    memoryByJob = remaining;
    await remember();
  }

  function poll(): Promise<void> {
    turn = turn.then(pollOnce).catch((error: unknown) => {
      if (!closed)
        warnOnce('', `Schedules cannot be looked at now: ${reasonOf(error)} The next look is within a minute.`);
    });
    return turn;
  }

  function pollAfter(ms: number): void {
    cancel();
    if (!closed) cancel = clock.after(ms, () => void poll().then(() => pollAfter(untilNext())));
  }

  function untilNext(): number {
    if (!isDeciding()) return Math.min(POLL_MS, options.leaseMs);
    const now = clock.wall();
    const usable = jobs.filter(({ schedule }) => checkSchedule(schedule) === undefined);
    const dues = usable.map(({ schedule }) => (nextDue(schedule, now)?.dueAt ?? Number.POSITIVE_INFINITY) - now);
    return Math.max(10, Math.min(POLL_MS, ...dues));
  }

  pollAfter(0);
  return {
    /** Whether this process is the one, of all workers on the queue, that puts slots on the queue. */
    get deciding(): boolean {
      return isDeciding();
    },
    /** Looks now what is due; resolves when that is done. Never rejects. */
    poll,
    /** Hands the deciding over. Ends within 3 s, also while the store is away. */
    async close(): Promise<void> {
      if (closed) return;
      closed = true;
      cancel();
      await withTimeout(CLOSE_MS, Promise.allSettled([turn, lease?.release()]));
    },
  };
}

function isFarAhead({ key, timezone }: SlotMemory, now: number): boolean {
  const slot = slotOf(key, timezone);
  return slot !== undefined && slot.dueAt > now + AHEAD_MS;
}

function overlapText({ job, timezone }: SlotMemory, due: string, earlier: string): string {
  return (
    `The job ${job}, due at ${slotLabel(due, timezone)}, is not run: its run of ${slotLabel(earlier, timezone)} ` +
    'has not ended. It runs again at the next time of its schedule; plan more time between two runs if this happens often.'
  );
}

function slotLabel(key: string, timezone: string): string {
  return `${slotText(key)} ${timezone}`;
}

const reasonOf = (error: unknown): string => endSentence(errorText(error));
