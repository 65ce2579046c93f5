import type { ReconcileJob } from '../../model/job.js';
import type { ReconcileFacts } from '../../model/reconcile.js';
import {
  type BrakeFinding,
  headingsChanged,
  type PlanCounts,
  trippedByPlan,
  unknownKeys,
} from '../../pipeline/plan/brakes.js';
import { type Nights, sameFile } from '../nights.js';
import type { Run } from '../run.js';
import type { Resolved } from '../stage-rows.js';
import type { Compared } from './compare-records.js';

/** What the brakes look at. */
export interface Judged {
  readonly job: ReconcileJob;
  /** As they were planned; `invalidBy` with them. */
  readonly counts: PlanCounts;
  readonly nights: Nights;
  readonly compared: Compared;
  readonly facts: ReconcileFacts;
}

/** Sentences for the brakes that stop the run; what only warns is said. Contract, section 8. */
export function trippedBrakes(run: Run, resolved: Resolved, judged: Judged): readonly string[] {
  const { job, counts, nights, compared, facts } = judged;
  const { orphans, scope, differences } = facts;
  const plan: PlanCounts = {
    ...counts,
    clearedBy: new Map(differences.by_field.flatMap(({ field, cleared }) => (cleared > 0 ? [[field, cleared]] : []))),
    updatedBy: new Map(differences.by_field.flatMap(({ field, file }) => (file > 0 ? [[field, file]] : []))),
    orphans: { fresh: orphans.fresh, acting: orphans.acted, scope: scope.records },
  };
  const tripped = trippedByPlan(job.brakes, plan, nights.last?.rows, { defaults: true });
  const note = (brake: 'same_file' | 'headings' | 'unknown_keys', { tripped: sentence, remark }: BrakeFinding) => {
    if (remark !== undefined) run.warn(remark);
    if (sentence === undefined) return;
    if (job.brakes[brake] === 'stop') tripped.push(sentence);
    else run.warn(sentence);
  };
  const writes = counts.creates + counts.updates + orphans.acted;
  note('same_file', sameFile(nights, run.request.sha256, writes > 0));
  const mapped = resolved.mapping.columns.map(({ heading }) => heading);
  if (nights.last) note('headings', headingsChanged(nights.last.headings, run.source.meta.headings, mapped));
  const unknown = unknownKeys(
    {
      keyed: resolved.keys.size,
      matched: compared.keysFound,
      records: compared.records - compared.withoutKey,
    },
    {
      company: run.request.company,
      resource: resolved.spec.name,
      ...(resolved.companyName === undefined ? {} : { companyName: resolved.companyName }),
    },
  );
  if (unknown !== undefined) note('unknown_keys', { tripped: unknown });
  return tripped;
}
