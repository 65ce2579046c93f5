import type { Queue } from 'bullmq';
import type { Store } from '../store/port.js';
import { safeName } from './job-id.js';
import { forget } from './memory.js';
import type { ScheduledJob } from './put-due.js';

/** Queue of the fires: one BullMQ job scheduler per job with a schedule. A fire only says that it is time to look. */
export const SCHEDULE_QUEUE = 'rowferry-schedules';

/** A scheduler whose next fire is past by this much has lost it. */
const LOST_MS = 5 * 60_000;
const KEEP = { count: 50 };

/**
 * Makes the job schedulers what the job files say; those that are so already are left alone. `present`: names of all jobs
 * that have a schedule, also one that cannot be used. One that is missing is gone where `absent`, the scheduler
 * ids missing the last time, holds it too: a job file is missing for an instant while it is saved. Returns the ids
 * missing now. Throws, after all is done that can be, what the first scheduler failed with.
 */
export async function alignFires(
  fires: Queue,
  store: Pick<Store, 'swap'>,
  jobs: readonly ScheduledJob[],
  present: readonly string[],
  absent: ReadonlySet<string>,
): Promise<Set<string>> {
  const failed: unknown[] = [];
  const there = new Map((await fires.getJobSchedulers()).map((one) => [one.key, one]));
  for (const { name, schedule } of jobs) {
    const found = there.get(safeName(name));
    // The library knows L as a capital only.
    const [pattern, tz] = [schedule.cron.trim().toUpperCase(), schedule.timezone];
    const lives = found?.next !== undefined && found.next > Date.now() - LOST_MS;
    if (lives && found.pattern === pattern && found.tz === tz) continue;
    const opts = { removeOnComplete: KEEP, removeOnFail: KEEP };
    await fires
      .upsertJobScheduler(safeName(name), { pattern, tz }, { name: 'slot', data: { job: name }, opts })
      .catch((error: unknown) => failed.push(error));
  }
  const wanted = new Set(present.map(safeName));
  const missing = new Set([...there.keys()].filter((id) => !wanted.has(id)));
  for (const id of missing) {
    if (!absent.has(id)) continue;
    const job = fireOf(there.get(id)?.template?.data);
    if (job !== undefined) await forget(store, job);
    await fires.removeJobScheduler(id);
  }
  if (failed.length > 0) throw failed[0];
  return missing;
}

/** The job that a fire is for. */
export function fireOf(data: unknown): string | undefined {
  const job = typeof data === 'object' && data !== null && 'job' in data ? data.job : undefined;
  return typeof job === 'string' ? job : undefined;
}
