import type { Schedule } from '../../runs/schedule/slots.js';
import { type Lateness, lateness } from '../schedule/slot-job.js';
import type { Delivery } from './delivery.js';
import { lateNote } from './late-note.js';
import type { JobState } from './state.js';

/** Why a run begins here and now, as far as that is worth telling. */
export interface Occasion {
  /** The slot of the job's schedule that it stands for. */
  readonly slot?: Lateness;
  /** Sentences for the warnings of its summary. */
  readonly notes: readonly string[];
}

/** Looks at what led to the run; who watches the schedules is told that the run of a slot begins. */
export function occasionOf(delivery: Delivery, state: JobState, schedule: Schedule | undefined): Occasion {
  const { job, deps, name, work } = delivery;
  const slot = schedule && job.id !== undefined ? lateness(job.id, schedule, job.timestamp) : undefined;
  if (slot) deps.onSlot?.({ job: name, run: state.run, ...slot });
  const notes = [lateNote(job, schedule, Date.now()), anewNote(state, work.anewText)];
  return { ...(slot && { slot }), notes: notes.filter((note) => note !== undefined) };
}

function anewNote({ insteadOf }: JobState, text: string): string | undefined {
  return (
    insteadOf &&
    `Begun anew: run ${insteadOf.run} of the same job was begun on ${insteadOf.host}, whose worker is gone. ${text}`
  );
}
