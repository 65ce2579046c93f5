import type { Change } from '../model/change.js';
import { referenceCycle } from '../pipeline/after.js';
import { planRow } from '../pipeline/plan.js';
import type { ResolvedRow } from '../pipeline/resolve.js';
import { adopt } from './adopt.js';
import type { Matched } from './match-rows.js';
import { heldToPlan } from './planned.js';
import type { Run } from './run.js';

/** Decides about one row, in the light of what an earlier process of the run may have sent for it. */
export async function decide(row: ResolvedRow, run: Run, matched: Matched): Promise<Change> {
  if (row.after && !matched.depth.has(row.ref.row)) {
    const { ref, key, after } = row;
    return { ref, key, kind: 'settled', outcome: 'invalid', issues: [...row.issues, referenceCycle(ref.row, after)] };
  }
  const intent = run.past.open.get(row.ref.row);
  const change = intent ? await adopt(row, intent, matched) : await planRow(row, matched.options);
  return run.planned ? heldToPlan(change, run.planned, matched.snapshot) : change;
}
