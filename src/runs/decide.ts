import type { Change } from '../model/change.js';
import { planByFingerprint, planRow } from '../pipeline/plan/plan.js';
import type { ResolvedRow } from '../pipeline/resolve/resolve.js';
import { referenceCycle } from '../pipeline/rows.js';
import { adopt } from './adopt.js';
import type { Matched } from './match-rows.js';
import { heldToPlan } from './planned.js';
import { storedRows, storedRowsOr } from './row-files.js';
import type { Run } from './run.js';

/** Rows of one wave that are met, each as what its head alone decides, else the row; some hundred at a time. */
export function decidedOrRows(
  wave: number,
  run: Run,
  { snapshot, options }: Matched,
): AsyncGenerator<readonly (Change | ResolvedRow)[]> {
  const { past, folder } = run;
  // Rows of later waves refer to others, and where there are no records none is like its row.
  if (wave > 0 || snapshot.size === 0) return storedRows(folder.resolved);
  return storedRowsOr(folder.resolved, (head) => {
    const { row } = head.ref;
    return past.open.has(row) || past.outcomes.has(row) ? undefined : planByFingerprint(head, options);
  });
}

/**
 * Decides about one row, in the light of what an earlier process of the run may have sent for it. At once where no record
 * has to be read: a promise a row costs as much as most rows do.
 */
export function decide(row: ResolvedRow, run: Run, matched: Matched): Change | Promise<Change> {
  if (row.after && !matched.depth.has(row.ref.row)) {
    const { ref, key, after } = row;
    return { ref, key, kind: 'settled', outcome: 'invalid', issues: [...row.issues, referenceCycle(ref.row, after)] };
  }
  const intent = run.past.open.get(row.ref.row);
  const change = intent ? adopt(row, intent, matched) : planRow(row, matched.options);
  const { planned } = run;
  if (!planned) return change;
  const held = (one: Change) => heldToPlan(one, planned, matched.snapshot);
  return change instanceof Promise ? change.then(held) : held(change);
}
