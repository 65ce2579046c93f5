import type { Job } from 'bullmq';
import type { Schedule } from '../../runs/schedule/slots.js';
import { lateness } from '../schedule/slot-job.js';

/** `Late: due 2026-11-21 02:00 Europe/Berlin, begun 07:12.`; undefined for a job that is no slot's, or in time. */
export function lateNote(
  job: Pick<Job, 'id' | 'timestamp'>,
  schedule: Schedule | undefined,
  now: number,
): string | undefined {
  const slot = schedule && job.id !== undefined ? lateness(job.id, schedule, job.timestamp) : undefined;
  if (!schedule || !slot?.late) return undefined;
  const due = wallTime(slot.dueAt, schedule.timezone);
  const begun = wallTime(now, schedule.timezone);
  const sameDay = due.slice(0, 10) === begun.slice(0, 10);
  return `Late: due ${due} ${schedule.timezone}, begun ${sameDay ? begun.slice(11) : begun}.`;
}

/** `2026-11-21 02:00` */
function wallTime(at: number, timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(at);
}
