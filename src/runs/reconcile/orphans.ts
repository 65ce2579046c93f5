import type { ReconcileJob } from '../../model/job.js';
import type { Orphan, OrphanCounts, OrphanLine } from '../../model/reconcile.js';
import { type Fields, valueText } from '../../model/value.js';
import type { Absences } from '../nights.js';
import type { Beyond } from './compare-records.js';

/** How the orphans of a run are judged. */
export interface OrphanOptions {
  readonly rules: ReconcileJob['orphans'];
  /** What the job sets in orphans; undefined where it only reports them. */
  readonly set: Fields | undefined;
  /** After this run. */
  readonly absences: Absences;
  /** Why this run may not touch any, one sentence. */
  readonly held: string | undefined;
  /** Calendar date of the run, `yyyy-MM-dd`, UTC. */
  readonly date: string;
}

/** What becomes of the records that the file does not hold. Nothing is done to one that may be there after all. */
export function judgeOrphans(
  beyond: readonly Beyond[],
  { rules, absences, held, date, set }: OrphanOptions,
): readonly OrphanLine[] {
  return beyond.map(({ id, key, name, done, held: values }) => {
    const absent = absences.get(id);
    const known = { id, key, name, since: absent?.since ?? date, absences: absent?.absences ?? 0 };
    if (rules.action === 'report') return { ...known, state: 'report' };
    if (done) return { ...known, state: 'done' };
    if (known.absences < rules.after) return { ...known, state: 'wait' };
    if (held !== undefined) return { ...known, state: 'held', why: held };
    return { ...known, state: 'act', held: values, changes: changesOf(values, set) };
  });
}

function changesOf(held: Readonly<Record<string, string>>, set: Fields = {}): NonNullable<OrphanLine['changes']> {
  return Object.keys(set).flatMap((field) => {
    const change = { field, old: held[field] ?? '', new: valueText(set[field]) };
    return change.old === change.new ? [] : [change];
  });
}

/** `before`: absences before this run. */
export function countOrphans(orphans: readonly Orphan[], before: Absences): OrphanCounts {
  const counts = { total: orphans.length, fresh: 0, waiting: 0, acted: 0, settled: 0, held: 0 };
  for (const { id, state } of orphans) {
    if (!before.has(id) && state !== 'done') counts.fresh++;
    if (state === 'wait') counts.waiting++;
    else if (state === 'act') counts.acted++;
    else if (state === 'done') counts.settled++;
    else if (state === 'held') counts.held++;
  }
  return counts;
}
