import { RunError } from '../model/error.js';
import { reached } from '../trace/milestones.js';
import { runFolder } from './layout.js';
import type { Matched } from './match-rows.js';
import { checkRejections } from './outcomes.js';
import { noteRest } from './plan-rows.js';
import { planChanges, readPlan } from './planned.js';
import type { Run } from './run.js';

/** Rows that a refusal names. */
const NAMED = 10;

/** What may keep a planned run from writing. */
export interface Brakes {
  /** A sentence for each brake that the plan trips. */
  readonly tripped: readonly string[];
  /** What a person is told to do about them. */
  readonly advice?: string;
  /** Throws where an approved plan would be left beside the rows, too. */
  readonly assertSame?: () => Promise<void>;
}

/**
 * Lets a planned run write, or throws a `RunError` of kind `braked`: where a brake trips that neither `--force` nor an
 * approval overrides, and where the plan is not the one that was approved. Contract, section 8.
 */
export async function passBrakes(run: Run, matched: Matched, { tripped, advice, assertSame }: Brakes): Promise<void> {
  const { dryRun, force, lineage } = run.request;
  try {
    await assertApproved(run);
    await assertSame?.();
    const overridden = force || lineage?.approves !== undefined;
    if (tripped.length > 0 && !overridden) {
      throw new RunError('braked', [...tripped, ...(advice === undefined ? [] : [advice])].join(' '));
    }
  } catch (error) {
    if (!dryRun) await noteRest(run, matched);
    throw error;
  }
  const by = lineage?.approves ? `, approved by ${lineage.approves.by}` : ' by --force';
  for (const sentence of tripped) run.warn(`Brake overridden${by}: ${sentence}`);
  if (!dryRun) run.store.keep('passed', true);
  reached('passed');
}

/** What somebody looked at is carried out, or nothing. */
async function assertApproved(run: Run): Promise<void> {
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

/**
 * Rows are written as they were planned where somebody may have looked at the plan, and where an earlier run had planned them:
 * a retry has the plan of that run in its folder.
 */
export async function usePlan(run: Run): Promise<void> {
  const { retries, approves } = run.request.lineage ?? {};
  if (retries || approves || run.request.kind === 'reconcile') run.planned = await readPlan(run.folder.plan);
}

/** A run that the service's refusals have stopped goes on where somebody forces it, not by being taken up again. */
export function assertNotRejected(run: Run): void {
  const stop = checkRejections(run);
  if (stop) throw stop;
}
