import type { EndedRun } from './ended.js';

/**
 * Tells people when a job begins to fail and when it works again, when a reconciliation found more to do than the last one,
 * and of schedules that ran late or were refused.
 * Nothing here blocks or fails a run: the methods return at once, what goes wrong is logged.
 */
export interface Notifier {
  /** After every run of a job, and when a job was refused. */
  ended(run: EndedRun): void;
  /** Of a schedule; told once per job, event and slot, by whichever worker is first. */
  schedule(event: ScheduleEvent): void;
  /** Waits until what was told has gone out, at most so long, 10 s where it is not stated. */
  close(patienceMs?: number): Promise<void>;
}

export interface ScheduleEvent {
  /** `late`: begun long after it was due. `overlap`: refused, as the run before it had not ended. */
  readonly event: 'late' | 'overlap';
  readonly job: string;
  /** Key of the slot, e.g. `2026-03-29T0230`. */
  readonly slot: string;
  /** Milliseconds since 1970. */
  readonly dueAt: number;
  /** The run of a late slot, or the run that an overlapping one met, where it is known. */
  readonly run?: string;
}

/** The part of the store that notifications need: all workers on it agree on what has been told. */
export interface NotifierState {
  read(name: string): Promise<string | undefined>;
  swap(name: string, text: string): Promise<string | undefined>;
}
