import { checkTimeZone, type Schedule, slotOf } from '../../runs/schedule/slots.js';

/** A run is late where it was put on the queue more than this after its slot was due. */
export const LATE_MS = 10 * 60_000;

/** Id of the queue's job for a slot: a queue holds one job of an id, so one slot runs once. */
export function slotJobId(job: string, slot: string): string {
  return `night.${safeName(job)}.${slot}`;
}

/** A queue's ids may hold no colon. Different names stay different. */
export function safeName(job: string): string {
  return job.replace(/[%:]/g, encodeURIComponent);
}

export interface Lateness {
  /** Key of the slot, e.g. `2026-03-29T0230`. */
  readonly slot: string;
  /** Milliseconds since 1970. */
  readonly dueAt: number;
  readonly late: boolean;
}

/**
 * The slot that a job of the queue stands for. `startedAt`: when it was put on the queue, milliseconds since 1970 (the
 * job's `timestamp`). Undefined where the id is none of `slotJobId`. A zone that is unknown by now: reckoned in UTC.
 */
export function lateness(jobId: string, { timezone }: Schedule, startedAt: number): Lateness | undefined {
  const key = /^night\.(?:.+)\.([^.]+)$/su.exec(jobId)?.[1] ?? '';
  const slot = slotOf(key, checkTimeZone(timezone) === undefined ? timezone : 'UTC');
  return slot && { slot: slot.key, dueAt: slot.dueAt, late: startedAt - slot.dueAt > LATE_MS };
}
