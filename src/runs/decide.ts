import type { Change } from '../model/change.js';
import { referenceCycle } from '../pipeline/after.js';
import { planRow } from '../pipeline/plan.js';
import type { ResolvedRow } from '../pipeline/resolve.js';
import { adopt } from './adopt.js';
import type { Matched } from './match-rows.js';
import { heldToPlan } from './planned.js';
import type { Run } from './run.js';

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
  return planned ? Promise.resolve(change).then((one) => heldToPlan(one, planned, matched.snapshot)) : change;
}
