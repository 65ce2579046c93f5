import { estimateText, type PlannedWrites } from './estimate.js';
import type { Matched } from './match-rows.js';
import type { Run } from './run.js';
import { FRESH_MS } from './write-rows.js';

/** Less is over before it is read. */
const WORTH_TELLING = { requests: 100, seconds: 10 };

/**
 * Tells what the run is going to take, before its first write; of a rehearsal, what the real run would take. Called once the
 * plan is known, or as much of it as will be. What is told is kept for the summary.
 */
export function announce(run: Run, planned: Omit<PlannedWrites, 'freshMs'> & Partial<PlannedWrites>): void {
  if (run.signal.aborted) return;
  const { creates, updates, atMost = false } = planned;
  const freshMs = run.job.write.reread === 'always' ? 0 : (planned.freshMs ?? FRESH_MS);
  const { dryRun } = run.request;
  const rows = run.rows - run.past.outcomes.size;
  const rest = run.outlook.plan({ creates, updates, atMost, freshMs }, rows, run.counts);
  if (!rest || (rest.requests < WORTH_TELLING.requests && rest.seconds < WORTH_TELLING.seconds)) return;
  if (dryRun) {
    const whole = run.outlook.summary({ dryRun, requests: run.counts }) ?? rest;
    run.info(`The real run would take ${estimateText(whole)}.`);
    return;
  }
  const why = atMost ? `; how many of the records differ from their rows shows as they are compared` : '';
  const text = estimateText(rest, atMost);
  run.info(`To be done: ${text}${why}.`);
}

/**
 * The writes of a run that plans its rows while it writes: a row without a record is created, and a row with one is updated at
 * most.
 */
export function expectedWrites(run: Run, { keys, keyless, snapshot, counts, spec }: Matched): PlannedWrites {
  const { existing, missing } = run.job.match;
  let found = 0;
  if (snapshot.size > 0) for (const key of keys.keys()) if (snapshot.has(key)) found++;
  const rows = Math.max(0, counts.rows - counts.invalid - run.past.outcomes.size);
  const creates = missing === 'create' ? Math.min(rows, keys.size - found + keyless) : 0;
  const updates = existing === 'update' ? Math.min(rows - creates, found) : 0;
  // What was written before is known of customers, and is not in the snapshot.
  const atMost = updates > 0 || spec.readPath === undefined || run.past.outcomes.size > 0;
  return { creates, updates, atMost, freshMs: FRESH_MS };
}
