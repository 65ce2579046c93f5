import { z } from 'zod';
import type { Store } from '../store/port.js';

/** What all workers remember of a job's schedule. */
const memory = z.object({
  /** The schedule that this belongs to: under another one the slots are others. */
  cron: z.string(),
  timezone: z.string(),
  /** The last slot that is done with: run, refused, or before the job was first seen; '' for none. */
  key: z.string(),
  /** The last slot whose job was put on the queue, or was about to be. */
  queued: z.string().optional(),
});
export type Memory = z.output<typeof memory>;

const nameOf = (job: string): string => `schedule.${job}`;

/** Undefined where nothing is remembered. What cannot be read counts as nothing. */
export async function recall(store: Pick<Store, 'read'>, job: string): Promise<Memory | undefined> {
  const text = await store.read(nameOf(job));
  if (text === undefined || text === '') return undefined;
  try {
    return memory.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

export async function remember(store: Pick<Store, 'swap'>, job: string, what: Memory): Promise<void> {
  await store.swap(nameOf(job), JSON.stringify(what));
}

/** The job has no schedule any more: should it get one again, that is a first sight. */
export async function forget(store: Pick<Store, 'swap'>, job: string): Promise<void> {
  await store.swap(nameOf(job), '');
}
