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

function count(change: Change, counts: PlanCounts): void {
  if (change.kind === 'create') counts.creates++;
  else if (change.kind === 'update') {
    counts.updates++;
    if (changesOf(change.diff).some((one) => one.kind === 'clear')) counts.cleared++;
  } else if (change.kind === 'settled' && change.outcome !== 'skipped') counts.invalid++;
}
