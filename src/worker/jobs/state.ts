import type { Job } from 'bullmq';
import { z } from 'zod';
import { noOutcomes, OUTCOMES, type OutcomeCounts } from '../../model/outcome.js';
import type { Progress } from '../../runs/context.js';
import { isRunId } from '../../runs/list.js';
import { pause } from '../../runs/pause.js';

/** The progress of a BullMQ job: contract, section 10, and what a later delivery must know. */
export interface JobState {
  readonly phase: 'waiting' | Progress['phase'] | 'done';
  /** Rows of the file; null until they have been counted. */
  readonly total: number | null;
  readonly done: number;
  readonly outcomes: OutcomeCounts;
  /** Id of the run, the same in every delivery that continues it. */
  readonly run: string;
  /** Data folder that the run was begun in, and the machine. Absent until it is begun. */
  readonly home?: string | undefined;
  readonly host?: string | undefined;
  /** How often it was handed on because its file was not to be found. */
  readonly away?: number | undefined;
  /** Milliseconds since 1970: not begun anew before then, because requests of a worker that is gone may be under way. */
  readonly notBefore?: number | undefined;
  /** The worker that had it was told to end and kept everything. */
  readonly handedBack?: true | undefined;
  /** The run that this one takes the place of, and the machine that has it. */
  readonly insteadOf?: { readonly run: string; readonly host: string } | undefined;
  /** The job failed for good: its data, job file or file were wrong (`usage`), or the work could not be done (`failed`). */
  readonly failure?: 'usage' | 'failed' | undefined;
  /** When it was told last, the run waited for its turn: that its worker died is not its doing. */
  readonly waited?: boolean | undefined;
  /** Workers that had died over this job when it last came further, and how many rows had an outcome then. */
  readonly mark?: { readonly stalls: number; readonly rows: number } | undefined;
}

const WAITING: JobState['phase'] = 'waiting for its turn';

export function freshState(run: string): JobState {
  return { phase: 'waiting', total: null, done: 0, outcomes: noOutcomes(), run };
}

const count = z.int().nonnegative().catch(0);
const ifFit = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);
const told = z.object({
  run: z.custom<string>(isRunId),
  phase: z.unknown().optional(),
  total: z.number().nullable().catch(null),
  done: count,
  outcomes: z.record(z.enum(OUTCOMES), count).catch(noOutcomes()),
  home: ifFit(z.string()),
  host: ifFit(z.string()),
  away: ifFit(z.number()),
  notBefore: ifFit(z.number()),
  handedBack: ifFit(z.literal(true)),
  insteadOf: ifFit(z.object({ run: z.string(), host: z.string() })),
  mark: ifFit(z.object({ stalls: count, rows: count })),
});

/** What an earlier delivery left; undefined in the first one, and where somebody else wrote something else there. */
export function stateOf(job: Pick<Job, 'progress'>): JobState | undefined {
  const { data } = told.safeParse(job.progress);
  if (!data) return undefined;
  const { phase, ...state } = data;
  return { ...state, phase: 'waiting', waited: phase === WAITING || undefined };
}

/** Rows that have an outcome. */
export function settledRows(outcomes: Readonly<OutcomeCounts>): number {
  return OUTCOMES.reduce((sum, kind) => sum + outcomes[kind], 0);
}

/** At most one message in so many milliseconds, and one at each change of phase. */
const EVERY_MS = 500;

/**
 * Sends where a run stands to the queue, one message at a time and the latest only. A message that cannot be sent is told to
 * `failed` and not repeated: the next one says more.
 */
export function stateWriter(
  job: Pick<Job, 'updateProgress'>,
  base: JobState,
  failed: (error: unknown) => void,
): { note(progress: Progress): void; close(): Promise<void> } {
  let latest: JobState | undefined;
  let phase: JobState['phase'] | undefined;
  let sending: Promise<void> | undefined;
  let rest = new AbortController();
  let closed = false;
  async function send(): Promise<void> {
    while (latest && !closed) {
      const state = latest;
      latest = undefined;
      phase = state.phase;
      rest = new AbortController();
      await job.updateProgress(state).catch(failed);
      if (!closed) await pause(EVERY_MS, rest.signal);
    }
    sending = undefined;
  }
  return {
    note({ phase: now, done, total, outcomes }) {
      latest = { ...base, phase: now, done, total: total ?? null, outcomes: { ...outcomes } };
      if (now !== phase) rest.abort();
      sending ??= send();
    },
    /** Waits for what is under way; nothing is sent afterwards. */
    async close() {
      closed = true;
      rest.abort();
      await sending;
    },
  };
}
