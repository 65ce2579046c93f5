import type { Queue } from 'bullmq';
import type { OutcomeCounts } from '../../model/outcome.js';
import type { EndedRun, Trigger } from './ended.js';

/**
 * What the worker counts. Called from everywhere in the worker, never throws, costs next to nothing. Labels hold job
 * names and fixed words only: never a file name, a key or a value.
 */
export interface Metrics {
  /** Rows of a job that came to an end since the last call. */
  outcomes(job: string, delta: Partial<OutcomeCounts>): void;
  /**
   * The same from running totals, as a run's progress hands them out: the first call of a resumed run gives what it
   * found, `already`, so that nothing counts twice.
   */
  tally(job: string, already?: Partial<OutcomeCounts>): (totals: Partial<OutcomeCounts>) => void;
  /** One exchange with the service. */
  requestDone(event: RequestDone): void;
  runEnded(run: EndedRun): void;
  /** When a job last succeeded before this process began, from its past runs: alerts then hold across a restart. */
  lastSuccess(job: string, at: number, trigger?: Trigger): void;
  /** One part was executed here, for whichever coordinator. */
  partDone(result: 'done' | 'failed' | 'handed_back', seconds: number): void;
  /** What workers tell each other came without a valid signature, or in another form, and was ignored. */
  refused(what: 'part' | 'message' | 'result'): void;
  /** The run of a slot was begun so many milliseconds after the slot was due. */
  slotBegun(job: string, lateMs: number): void;
  /** A slot was refused, as the run before it had not ended. */
  slotRefused(job: string): void;
  /** A notification went out, or could not. */
  notified(channel: 'webhook' | 'file', ok: boolean): void;
  /** Where a scrape reads the state of the moment; a later call replaces the earlier one, undefined ends it. */
  watchPace(read: (() => PaceGauges) | undefined): void;
  watchHoldings(read: (() => Holdings | Promise<Holdings>) | undefined): void;
  /** A list, or what gives the list of the moment. */
  watchQueues(queues: readonly WatchedQueue[] | (() => readonly WatchedQueue[])): void;
  /** Answers a scrape; bounded in time also where the store is away. */
  text(): Promise<string>;
  /** The media type of `text`. */
  readonly contentType: string;
}

/** One exchange with the service, as `ServiceOptions.observe` hands it out. */
export interface RequestDone {
  readonly kind: 'read' | 'write';
  /** HTTP status; undefined where no answer came. */
  readonly status: number | undefined;
  readonly ms: number;
  /** Sent before, for the same purpose. */
  readonly repetition: boolean;
}

/** The gate to the service at this moment, as the channel tells it. */
export interface PaceGauges {
  /** Requests per second; undefined where no rate is in force. */
  readonly rate?: number | undefined;
  readonly inFlight: number;
  readonly inFlightLimit: number;
  /** Milliseconds from now within which nothing is sent; 0 for none. */
  readonly heldMs: number;
}

/** What this worker holds at this moment. */
export interface Holdings {
  readonly leases?: number;
  /** Files in `processing/` of the drop folder, over all workers on it. */
  readonly claims?: number;
  /** Runs this worker coordinates. */
  readonly runs?: number;
}

export type WatchedQueue = Pick<Queue, 'name' | 'getJobCounts'>;
