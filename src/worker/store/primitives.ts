import type { PaceReport, PaceState } from '../../model/pace.js';

/**
 * What a store does itself, besides BullMQ: each one step in the store, reckoned by the store's clock. All reject with
 * the driver's error, soon also where the store is away: nothing waits here for its return.
 */
export interface Primitives {
  ping(): Promise<void>;
  /** The new epoch; undefined where another token holds the lease, or may still count on it. */
  take(name: string, token: string, ttlMs: number): Promise<number | undefined>;
  /** False where somebody else has taken it. One that lapsed, and that nobody has taken, is held again. */
  renew(name: string, token: string, epoch: number, ttlMs: number): Promise<boolean>;
  release(name: string, token: string): Promise<void>;
  held(name: string): Promise<boolean>;
  read(name: string): Promise<string | undefined>;
  swap(name: string, text: string): Promise<string | undefined>;
  exchange(service: string, member: string, report: PaceReport): Promise<PaceState>;
  /** This member works on the queue now. */
  present(queue: string, member: string): Promise<void>;
  absent(queue: string, member: string): Promise<void>;
  /** Members that were present within the last ten seconds. */
  count(queue: string): Promise<number>;
}

/** A member that was not heard of for so long is gone. */
export const PRESENT_MS = 10_000;
/** Members of a pace. */
export const PACE_MEMBER_MS = 5_000;
/** What a pace knows is forgotten after so long without a report. */
export const PACE_MEMORY_MS = 600_000;
/**
 * Slots granted further ahead than this, at a slower rate than is asked for now, make room: new ones begin where those
 * granted would end at the new rate. Else a rate that has recovered would wait for the slots of the slow one.
 */
export const PACE_AHEAD_MS = 2_000;
