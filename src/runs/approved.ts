import { RunError } from '../model/error.js';
import { runFolder } from './layout.js';
import { planChanges, readPlan } from './planned.js';
import type { Run } from './run.js';

/** Rows that a refusal names. */
const NAMED = 10;

/**
 * Holds the plan of this run against the one that was approved. Throws a `RunError` of kind `braked` where any row would now
 * be written otherwise: what somebody looked at is carried out, or nothing.
 */
export async function assertApproved(run: Run): Promise<void> {
  const approved = run.request.lineage?.approves;
  if (!approved) return;
  const then = await readPlan(runFolder(run.settings.home, approved.run).plan);
  const now = await readPlan(run.folder.plan);
  if (!then || !now) {
    throw new RunError(
      'failed',
      `The plan of the run ${approved.run} is not in its folder any more: nothing was sent.`,
    );
  }
  const { rows, told } = planChanges(then, now, NAMED);
  if (rows === 0) return;
  throw new RunError(
    'braked',
    `The records have changed since the run ${approved.run} was planned: ${rows === 1 ? 'one row' : `${rows} rows`} would now be written otherwise. Nothing was sent. Run the file again and look at the new plan.`,
    [...told, ...(rows > told.length ? [`and ${rows - told.length} more`] : [])].map((line) => `${line}.`),
  );
}
