import { channel } from 'node:diagnostics_channel';

/**
 * Moments of a run between which it may be cut off, in the order in which they come. Whoever wants to know subscribes to
 * the channel `rowferry:milestone` of node:diagnostics_channel; a message is `{ name }`. Subscribers run at that very
 * moment: one that ends the process ends it there. Without one, a moment costs a look at a flag.
 */
export const MILESTONES = [
  /** API: the run of an order is chosen and kept; next it goes on the queue. */
  'order-noted',
  /** API: a run that waits is to be stopped, which is kept; next its job goes off the queue, and then how it ended is kept. */
  'stop-noted',
  'job-removed',
  /** Worker: a dropped file lies in the folder of its claim. */
  'claimed',
  /** Worker: the claim is known to be complete; next it goes on the queue. */
  'claim-noted',
  'offered',
  /** The run's own copy of the file lies in its folder, and its hash is known. */
  'hashed',
  /** Nothing but run.json is needed from here on to take the run up again. */
  'request-kept',
  /** The journal of earlier processes of the run has been read. */
  'past-read',
  'staged',
  'resolved',
  /** A page of a list is in the log of what was read. */
  'page-kept',
  /** The list of a resource that runs read again is kept, as far as it was read. */
  'mirror-kept',
  'looked-up',
  /** Reconciliations: the plan stands, with the orphans as they were judged. */
  'facts-kept',
  'planned',
  /** Brakes let the run write. */
  'passed',
  /** What rows refer to is about to be created, by a run of its own that goes through the moments of a run. */
  'references-begun',
  'references-ended',
  /** Reconciliations: the rows are written, the orphans are about to be, and go through the same moments. */
  'orphans-begun',
  /** What is learned of records, and reads do not show, is on the disk. */
  'known-durable',
  'intent-durable',
  /** A writing request is about to leave. */
  'before-send',
  /** Its bytes are with the system. */
  'sent',
  'answer-read',
  /** An outcome is noted, and may not be on the disk yet. */
  'outcome-noted',
  /** Lines of a journal or log are with the system, and may not be on the disk yet. */
  'lines-written',
  'lines-durable',
  /** Checkpoint: every row of a part has its outcome. */
  'part-ended',
  /** Ids that answers did not tell are in the journal. */
  'ids-noted',
  'orphans-ended',
  /** The journal says that every row has its outcome. */
  'finished-noted',
  /** A file is whole under its temporary name: reports, plans, exports. */
  'file-made',
  'file-renamed',
  /** Exports: what was written is remembered, for the import of the changed file. */
  'base-kept',
  'reports-written',
  'summary-kept',
  /** Reconciliations: since when records are missing, and how the night ended. */
  'night-kept',
  'run-remembered',
  /** Worker: the claim's folder lies in `done` or `failed`. */
  'archived',
  /** Worker: run.json and summary.json name the new place. */
  'reports-moved',
  /** Worker: the ticket of the job says that its run has ended. */
  'ticket-ended',
  /** Worker: the queue knows that the job is done. */
  'acknowledged',
] as const;

export type Milestone = (typeof MILESTONES)[number];

const milestones = channel('rowferry:milestone');

/** Tells whoever listens that the run has come so far. */
export function reached(name: Milestone): void {
  if (milestones.hasSubscribers) milestones.publish({ name });
}

/** The same once what was handed to the system in this turn is with it. */
export function reachedSoon(name: Milestone): void {
  if (milestones.hasSubscribers) setImmediate(() => milestones.publish({ name }));
}
