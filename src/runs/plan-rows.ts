import type { Change } from '../model/change.js';
import type { PlanCounts } from '../pipeline/plan/brakes.js';
import { changesOf } from '../pipeline/plan/merge.js';
import { isNoRecord, parentNotWritten } from '../pipeline/rows.js';
import { reached } from '../trace/milestones.js';
import { decide, decidedOrRows } from './decide.js';
import type { Matched } from './match-rows.js';
import { noteSettled, noteUnsent } from './outcomes.js';
import { planWriter } from './planned.js';
import type { Run } from './run.js';

/**
 * Plans every row without writing. A dry run notes what would happen; a run with brakes on its plan only counts. The plan is
 * kept in the run's folder, where `runs approve` finds it. `see` is shown every change.
 */
export async function planRows(run: Run, matched: Matched, see?: (change: Change) => void): Promise<PlanCounts> {
  const counts: PlanCounts = { rows: run.rows, invalid: 0, creates: 0, updates: 0, cleared: 0 };
  const plan = await planWriter(run.folder.plan, matched.snapshot);
  let done = 0;
  try {
    for await (const changes of plannedRows(run, matched)) {
      for (const change of changes) {
        count(change, counts);
        see?.(change);
        const added = plan.add(change);
        if (added) await added;
        if (run.request.dryRun) noteSettled(run, change);
        run.progress('planning', ++done);
      }
    }
  } catch (error) {
    await plan.close(false).catch(() => undefined);
    throw error;
  }
  await plan.close(!run.signal.aborted);
  reached('planned');
  return counts;
}

/** Notes the rows of a braked run: those that would have been written are not attempted, and the reports show the plan. */
export async function noteRest(run: Run, matched: Matched): Promise<void> {
  for await (const changes of plannedRows(run, matched)) for (const change of changes) noteUnsent(run, change);
}

/**
 * What would happen to every row that has no outcome yet, in the order of writing: rows that refer to rows of this file
 * come after those, and are not written where those are not. Some hundred at a time.
 */
async function* plannedRows(run: Run, matched: Matched): AsyncGenerator<readonly Change[]> {
  const planned = new Set<number>();
  const isWritten = (row: number) => planned.has(row) || run.past.ids.get(row) !== undefined;
  for (let wave = 0; wave < matched.waves; wave++) {
    for await (const rows of decidedOrRows(wave, run, matched)) {
      const changes: Change[] = [];
      for (const row of rows) {
        if ('kind' in row) {
          changes.push(row);
          continue;
        }
        if ((matched.depth.get(row.ref.row) ?? 0) !== wave || run.past.outcomes.has(row.ref.row)) continue;
        const decided = decide(row, run, matched);
        const change = orphaned(decided instanceof Promise ? await decided : decided, isWritten);
        if (matched.waves > 1 && (change.kind === 'create' || change.kind === 'update')) planned.add(row.ref.row);
        changes.push(change);
        if (run.signal.aborted) break;
      }
      yield changes;
      if (run.signal.aborted) return;
    }
  }
}

function orphaned(change: Change, isWritten: (row: number) => boolean): Change {
  if ((change.kind !== 'create' && change.kind !== 'update') || !change.after || isWritten(change.after.row)) {
    return change;
  }
  const { ref, key, issues, after } = change;
  return { ref, key, kind: 'settled', outcome: 'invalid', issues: [...issues, parentNotWritten(after)] };
}

function count(change: Change, counts: PlanCounts): void {
  if (change.kind === 'create') counts.creates++;
  else if (change.kind === 'update') {
    counts.updates++;
    if (changesOf(change.diff).some((one) => one.kind === 'clear')) counts.cleared++;
  } else if (isNoRecord(change)) counts.noRecords = (counts.noRecords ?? 0) + 1;
  else if (change.kind === 'settled' && change.outcome === 'invalid') counts.invalid++;
}
