import type { Queue } from 'bullmq';
import { lastDue, type Schedule, type Slot, slotOf, slotText } from '../../runs/schedule/slots.js';
import type { Store } from '../store/port.js';
import { LATE_MS, slotJobId } from './job-id.js';
import { type Memory, recall, remember } from './memory.js';

/** A job with a `schedule`, contract section 4. */
export interface ScheduledJob {
  /** Name of the job file. */
  readonly name: string;
  readonly kind: 'import' | 'export' | 'reconcile';
  /** `file` as it is written there: what its run reads. An export may do without: its job names what it writes. */
  readonly schedule: Schedule & { readonly file?: string | undefined };
}

export interface PutDueOptions {
  readonly store: Pick<Store, 'read' | 'swap'>;
  /** The queue that carries runs. */
  readonly queue: Pick<Queue, 'add' | 'getJobState'>;
  readonly notice: (level: 'info' | 'warn', text: string) => void;
  /** Told of the job of a slot that is refused because the run before it has not ended. */
  readonly refused?: (job: string) => void;
  /** Whether this process is still the one that decides. */
  readonly mayDecide: () => boolean;
}

/** A remembered slot further ahead than this was put on the queue while the machine's clock was wrong. */
const AHEAD_MS = 48 * 3_600_000;
/** So long the queue knows the slots that ran, in seconds. What is remembered in the store has no end. */
const KEEP = { age: 30 * 86_400 };
const ENDED = new Set(['completed', 'failed', 'unknown']);

/**
 * Puts the latest slot of a job that is due, and not yet done with, on the queue. Of several missed ones that is one run.
 *
 *     first sight, or another schedule → what is due by now is done with, only later slots run
 *     the run before it has not ended  → refused: done with, and told
 *     else                             → remembered as queued → on the queue → done with
 *
 * A process that dies between two of these steps leaves a slot that is not done with, so the next look goes on with it:
 * the queue drops a job whose id it holds already, so it is not run twice; and as the slot is remembered as queued before
 * its job exists, a later slot that is due by then finds its run. One process at a time does this (lease `schedules`).
 * Throws what the store throws, and `RunError` (usage) for a schedule that cannot be used.
 */
export async function putDue(job: ScheduledJob, now: number, options: PutDueOptions): Promise<void> {
  const { store, queue, notice } = options;
  const { cron, timezone, file } = job.schedule;
  const due = lastDue(job.schedule, now);
  const before = await recall(store, job.name);
  if (!options.mayDecide()) return;
  if (!before || before.cron !== cron || before.timezone !== timezone || isFarAhead(before, now)) {
    if (before && isFarAhead(before, now)) notice('warn', aheadText(job, before));
    const queued = before?.queued;
    await remember(store, job.name, { cron, timezone, key: due?.key ?? '', ...(queued !== undefined && { queued }) });
    return;
  }
  // A clock that was put back shows slots that are done with.
  if (!due || due.key <= before.key) return;

  if (before.queued !== undefined && before.queued !== due.key) {
    const running = slotJobId(job.name, before.queued);
    if (!ENDED.has(await queue.getJobState(running))) {
      if (!options.mayDecide()) return;
      await remember(store, job.name, { ...before, key: due.key });
      notice('warn', overlapText(job, due, before.queued));
      options.refused?.(job.name);
      return;
    }
  }
  if (!options.mayDecide()) return;
  if (before.queued !== due.key) await remember(store, job.name, { ...before, queued: due.key });
  if (!options.mayDecide()) return;
  const jobId = slotJobId(job.name, due.key);
  const data = { job: job.name, ...(file !== undefined && { file }) };
  await queue.add(job.kind, data, { jobId, removeOnComplete: KEEP, removeOnFail: KEEP });
  if (!options.mayDecide()) return;
  await remember(store, job.name, { cron, timezone, key: due.key, queued: due.key });
  const late = now - due.dueAt > LATE_MS;
  notice('info', `The job ${job.name}, due at ${shown(due.key, timezone)}, is on the queue${late ? ', late' : ''}.`);
}

function isFarAhead(before: Memory, now: number): boolean {
  const slot = before.key === '' ? undefined : slotOf(before.key, before.timezone);
  return slot !== undefined && slot.dueAt > now + AHEAD_MS;
}

function overlapText(job: ScheduledJob, due: Slot, earlier: string): string {
  const { timezone } = job.schedule;
  return (
    `The job ${job.name}, due at ${shown(due.key, timezone)}, is not run: its run of ${shown(earlier, timezone)} ` +
    'has not ended. It runs again at the next time of its schedule; plan more time between two runs if this happens often.'
  );
}

function aheadText(job: ScheduledJob, before: Memory): string {
  return (
    `The job ${job.name} has run for ${shown(before.key, before.timezone)}, which lies ahead: this machine's clock was ` +
    'or is wrong. It runs at the next time of its schedule by the clock as it is now; check the clock.'
  );
}

function shown(key: string, timezone: string): string {
  return `${slotText(key)} ${timezone}`;
}
