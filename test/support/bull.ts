import type * as bull from 'bullmq';
import type { SharedStore, Store } from '../../src/worker/store/port.js';

/** A store on Redis or PostgreSQL as BullMQ has it, for tests that do more with it than rowferry does. */
export interface BullStore extends Omit<SharedStore, 'queue' | 'worker' | 'events'> {
  queue(...values: Parameters<Store['queue']>): bull.Queue;
  worker(name: string, processor: bull.Processor, options: Omit<bull.WorkerOptions, 'connection'>): bull.Worker;
  events(name: string): bull.QueueEvents;
}

export const asBull = (store: Store): BullStore => store as unknown as BullStore;
