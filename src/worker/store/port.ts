import type * as bull from 'bullmq';
import type { JobsOptions, JobType } from 'bullmq';
import type { SharedPace } from '../../model/pace.js';

/** Where the queue lives. Outside this folder only the embedded one, which has one worker, is told from the others. */
export interface Store {
  readonly kind: 'redis' | 'postgres' | 'embedded';
  /** The address for people: never a password. */
  readonly address: string;
  /** A queue of this store; its connection is closed by `close` of the store or of the queue, whichever comes first. */
  queue(name: string, options?: QueueOptions): Queue;
  worker(name: string, processor: Processor, options: WorkerOptions): Worker;
  /**
   * Takes a lease that ends by itself unless it is renewed; it renews itself at a third of its time. Undefined where
   * somebody else holds it, or may believe so: a store that has lost its memory hands out none for as long as a lease lasts.
   */
  lease(name: string, ttlMs: number): Promise<Lease | undefined>;
  leased(name: string): Promise<boolean>;
  /** A small text kept under a name; undefined where there is none. */
  read(name: string): Promise<string | undefined>;
  /**
   * Replaces a text in one step by what is made of it, and tells what was there before. `edit` is asked again where another one
   * was faster; undefined leaves all as it is.
   */
  update(name: string, edit: TextEdit): Promise<string | undefined>;
  /** The pace shared by all processes that name the same service. */
  pace(service: string): SharedPace;
  /** Processes that work on a queue now, over all machines. */
  workers(queue: string): Promise<number>;
  /** Resolves where the store answers; throws a `RunError` that says what is wrong. */
  check(): Promise<void>;
  close(): Promise<void>;
}

/** A store for several processes: each hears what the others do. */
export interface SharedStore extends Store {
  readonly kind: 'redis' | 'postgres';
  events(name: string): QueueEvents;
}

/** A store that one process has open. */
export interface EmbeddedStore extends Store {
  readonly kind: 'embedded';
}

export type TextEdit = (text: string | undefined) => string | undefined;

/**
 * What is used of BullMQ's classes of the same names; the embedded queue has its own, which do the same. A job shows what the queue
 * knew of it when it was asked for.
 *
 *   added → waiting, or delayed until it is due → active → completed
 *                                                        → failed; with attempts left waiting again, or delayed
 *                                                        → put back by its processor: first of those that wait, or delayed
 */
export type Job = Pick<
  bull.Job,
  | ('id' | 'name' | 'data' | 'opts' | 'timestamp' | 'progress' | 'attemptsMade' | 'stalledCounter')
  | ('finishedOn' | 'returnvalue' | 'failedReason')
  | ('updateProgress' | 'moveToDelayed' | 'moveToWait' | 'promote' | 'remove' | 'extendLock')
>;

export interface Queue extends Pick<bull.Queue, 'name' | 'getJobState' | 'getJobCounts' | 'remove' | 'close'> {
  /** A job of an id that the queue knows, in whatever state, is not added. */
  add(name: string, data: unknown, options?: JobsOptions): Promise<Job>;
  getJob(id: string): Promise<Job | undefined>;
  /** Of each state those from `start` to `end`, the latest first unless `asc`. */
  getJobs(states?: JobType[], start?: number, end?: number, asc?: boolean): Promise<Job[]>;
}

export type QueueOptions = Pick<bull.QueueOptions, 'defaultJobOptions' | 'streams'>;

export interface Worker extends Pick<bull.Worker, 'isRunning' | 'pause' | 'close'> {
  on(event: 'completed' | 'closing', listener: () => void): this;
  on(event: 'error', listener: (error: Error) => void): this;
}

export type WorkerOptions = Pick<
  bull.WorkerOptions,
  'concurrency' | 'lockDuration' | 'stalledInterval' | 'maxStalledCount' | 'removeOnComplete' | 'removeOnFail'
>;

/** `signal`: aborted where another process may have the job. */
export type Processor = (job: Job, token: string | undefined, signal: AbortSignal | undefined) => Promise<unknown>;

export type QueueEvents = Pick<bull.QueueEvents, 'name' | 'on' | 'waitUntilReady' | 'close'>;

/** Thrown by a processor that has put its job back, to be due later. BullMQ knows these three by their names. */
export class DelayedError extends Error {
  override readonly name = 'DelayedError';
}

/** Thrown by a processor that has put its job back. */
export class WaitingError extends Error {
  override readonly name = 'WaitingError';
}

/** The job fails for good, whatever attempts it has left. */
export class UnrecoverableError extends Error {
  override readonly name = 'UnrecoverableError';
}

/** A right that one process holds at a time, over all machines. */
export interface Lease {
  /** Grows with every taking of this lease: whoever holds a smaller one has lost it. */
  readonly epoch: number;
  /** False once it may have ended, by this process's own reckoning: renewals that did not come through count. */
  readonly valid: boolean;
  readonly lost: AbortSignal;
  release(): Promise<void>;
}
export interface StoreOptions {
  /** Absent: embedded, in `home`. May hold a password. */
  readonly url?: string | undefined;
  /** Absolute. */
  readonly home: string;
  /** Refuse what is only warned of. */
  readonly strict: boolean;
  /** How long a store that is away is waited for; `Infinity` in a worker. */
  readonly patienceMs: number;
  /** Told at once and then every ten seconds while the store is away, and once when it is back. */
  readonly notice: (level: 'info' | 'warn', text: string) => void;
  readonly signal: AbortSignal;
  /** How long the leases last that are wanted; where it is stated, it is told that a new store hands out none for so long. */
  readonly leaseMs?: number;
}

export interface StoredText {
  readonly text: string | undefined;
  /** The store's clock, milliseconds since 1970. */
  readonly now: number;
  /** For so long the store has forgotten nothing; infinite for one that never does. */
  readonly ageMs: number;
}

/**
 * What a store does besides carrying jobs: texts under names, of which one is replaced in one step (`shared.ts` makes leases,
 * presence and pace of them). All reject with the driver's error, soon also where the store is away: nothing waits here for
 * its return.
 */
export interface TextStore {
  ping(): Promise<void>;
  look(name: string): Promise<StoredText>;
  /** False where another one has changed it since it was seen, or the store has forgotten it. Kept for so long, else for good. */
  replace(name: string, seen: StoredText, text: string, keepMs?: number): Promise<boolean>;
}
