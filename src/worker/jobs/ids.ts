import path from 'node:path';
import type { Job } from 'bullmq';
import { checkTimeZone, type Schedule, slotOf } from '../../runs/schedule/slots.js';
import { type Claim, droppedName } from '../inbox/claim.js';
import type { RunData } from './data.js';
import type { Trigger } from './state.js';

/**
 * The ids of our jobs say what they stand for: `drop.<job>.<run>` a file of the drop folder, `night.<job>.<slot>` a slot of
 * a schedule, `again.<run>` a run whose job the queue had lost, `run.<run>` one that was ordered under that id. A queue holds one job of an id, so each is run once.
 */
export const claimJobId = ({ job, run }: Pick<Claim, 'job' | 'run'>): string => `drop.${safeName(job)}.${run}`;
export const slotJobId = (job: string, slot: string): string => `night.${safeName(job)}.${slot}`;
export const againJobId = (run: string): string => `again.${run}`;
export const runJobId = (run: string): string => `run.${run}`;

/** A queue's ids may hold no colon. Different names stay different. */
function safeName(job: string): string {
  return job.replace(/[%:]/g, encodeURIComponent);
}

const RUN = String.raw`\d{8}T\d{9}Z-[0-9a-f]+`;
const DROP = new RegExp(`^drop\\.(.+)\\.(${RUN})$`, 's');
const NAMED = new RegExp(`^(?:again|run)\\.(${RUN})$`);
const NIGHT = /^night\.(.+)\.([^.]+)$/s;

/** Where a job of the queue came from. */
export interface Origin {
  readonly trigger: Trigger;
  /** Set where the id names the run. */
  readonly run?: string;
  readonly claim?: Claim;
  /** A file taken from the drop folder of another worker, under a path that is not this worker's: left to that one. */
  readonly elsewhere?: true;
}

/**
 * Reads a job's id, which is anybody's to choose: over data that do not fit it, it proves nothing, and the job counts as
 * anybody's. No export reads what is dropped.
 */
export function originOf({ id = '', name }: Pick<Job, 'id' | 'name'>, data: RunData, inbox: string): Origin {
  const ordered = NAMED.exec(id)?.[1];
  if (ordered !== undefined) return { trigger: 'queue', run: ordered };
  const { job, file } = data;
  if (typeof job !== 'string') return { trigger: 'queue' };
  const named = (found: string | undefined) => found === job || found === safeName(job);
  const [, dropped, run] = DROP.exec(id) ?? [];
  if (name !== 'export' && run !== undefined && named(dropped) && file !== undefined) {
    const dir = path.join(inbox, 'processing', job, run);
    const at = path.resolve(dir, file);
    const claim = { job, run, dir, file: at, name: droppedName(path.basename(at)) };
    if (path.dirname(at) === dir) return { trigger: 'drop', run, claim };
    if (file.endsWith(path.join('processing', job, run, path.basename(file)))) {
      return { trigger: 'drop', run, elsewhere: true };
    }
  }
  return { trigger: named(NIGHT.exec(id)?.[1]) ? 'schedule' : 'queue' };
}

/** A run is late where it was put on the queue more than this after its slot was due. */
export const LATE_MS = 10 * 60_000;

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
  const key = NIGHT.exec(jobId)?.[2] ?? '';
  const slot = slotOf(key, checkTimeZone(timezone) === undefined ? timezone : 'UTC');
  return slot && { slot: slot.key, dueAt: slot.dueAt, late: startedAt - slot.dueAt > LATE_MS };
}

/** `Late: due 2026-11-21 02:00 Europe/Berlin, begun 07:12.` */
export function lateNote(dueAt: number, now: number, timeZone: string): string {
  const wallTime = (at: number) =>
    new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' }).format(at);
  const [due, begun] = [wallTime(dueAt), wallTime(now)];
  const sameDay = due.slice(0, 10) === begun.slice(0, 10);
  return `Late: due ${due} ${timeZone}, begun ${sameDay ? begun.slice(11) : begun}.`;
}
