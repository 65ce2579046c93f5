import type { IssueCode } from '../../model/issue.js';
import type { Matched } from '../match-rows.js';
import type { Run } from '../run.js';

/** Says what an undo of these records cannot see. */
export function warnBlind(run: Run, { spec }: Matched): void {
  if (spec.readPath) return;
  run.warn(
    'Customers cannot be read: they are put back to our own last write before the run, and what somebody else changed in them since is not seen.',
  );
}

/** What was left as it is in records that were put back otherwise, over all processes of the undo. */
export interface Left {
  readonly fields: number;
  readonly records: number;
}

export function countLeft({ rowStore }: Run): Left {
  let [records, fields] = [0, 0];
  for (const batch of rowStore.whole(`kind = 'updated'`)) {
    for (const { result } of batch) {
      const left = result?.outcome.issues.filter(({ code }) => LEFT.has(code)).length ?? 0;
      if (left > 0) records++;
      fields += left;
    }
  }
  return { fields, records };
}

/** Why a field is left. */
const LEFT: ReadonlySet<IssueCode> = new Set<IssueCode>([
  'changed_meanwhile',
  'old_value_unknown',
  'field_not_updatable',
  'status_not_writable',
  'required',
]);

/** Records of which a part was put back need a person, and their rows do not show it. */
export function warnLeft(run: Run, { fields, records }: Left): void {
  if (fields === 0) return;
  const what = `${fields === 1 ? 'One field' : `${fields} fields`} of ${records === 1 ? 'one record' : `${records} records`}`;
  const [as, verb] = fields === 1 ? ['it is', 'was'] : ['they are', 'were'];
  run.warn(
    `${what} ${run.request.dryRun ? 'would be' : verb} left as ${as}, while the rest of the record was put back: results.csv says which, and why.`,
  );
}
