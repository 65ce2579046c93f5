import type { Change } from '../model/change.js';
import type { PlanCounts } from '../pipeline/brakes.js';
import { changesOf } from '../pipeline/merge.js';
import { decide, type Matched } from './match-rows.js';
import { noteSettled } from './outcomes.js';
import type { Run } from './run.js';
import { resolvedRows } from './stage-rows.js';

/** Plans every row without writing. A dry run notes what would happen; a run with brakes on its plan only counts. */
export async function planRows(run: Run, matched: Matched): Promise<PlanCounts> {
  const counts: PlanCounts = { rows: 0, invalid: 0, creates: 0, updates: 0, cleared: 0 };
  for await (const row of resolvedRows(run)) {
    counts.rows++;
    if (run.past.outcomes.has(row.ref.row)) continue;
    const change = await decide(row, run, matched);
    count(change, counts);
    if (run.request.dryRun) noteSettled(run, change);
    run.progress('planning', counts.rows);
    if (run.signal.aborted) break;
  }
  return counts;
}

/** Notes the rows of a braked run that end without a request; the others are not attempted. */
export async function noteRest(run: Run, matched: Matched): Promise<void> {
  for await (const row of resolvedRows(run)) {
    if (run.past.outcomes.has(row.ref.row)) continue;
    const change = await decide(row, run, matched);
    if (change.kind !== 'create' && change.kind !== 'update') noteSettled(run, change);
  }
}

function count(change: Change, counts: PlanCounts): void {
  if (change.kind === 'create') counts.creates++;
  else if (change.kind === 'update') {
    counts.updates++;
    if (changesOf(change.diff).some((one) => one.kind === 'clear')) counts.cleared++;
  } else if (change.kind === 'settled' && change.outcome === 'invalid') counts.invalid++;
}
