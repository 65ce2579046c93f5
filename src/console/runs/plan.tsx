import { useQuery } from '@tanstack/react-query';
import type { Plan } from '../../api/schema.js';
import { Fault } from '../app/faults.js';
import { planQuery } from '../app/queries.js';
import { counted } from '../kit/format.js';
import { Skeleton, Warnings } from '../kit/parts.js';
import { Brakes, FieldChanges, Figures } from '../kit/plan.js';

export function PlanOf({ run, back = false }: { run: string; back?: boolean }) {
  const { data: plan, error } = useQuery(planQuery(run));
  if (plan) return <PlanView plan={plan} run={run} back={back} />;
  return error ? <Fault error={error} /> : <Skeleton what="the plan" />;
}

/** What a run writes, or would. `back`: what an undo of it writes, where only what goes back is of interest. */
export function PlanView({ plan, run, back = false }: { plan: Plan; run: string; back?: boolean }) {
  const { brakes, fields, creates, warnings, created, updated, unchanged, cleared, at_risk } = plan;
  if (back) return <FieldChanges of={fields} run={run} back />;
  return (
    <div className="stack">
      <Figures
        of={[
          { n: created, what: 'to create', tone: 'good', icon: 'check' },
          { n: updated, what: 'to update', tone: 'good', icon: 'check' },
          { n: unchanged, what: 'unchanged, nothing is sent' },
          ...(cleared > 0 ? [{ n: cleared, what: 'values are emptied', tone: 'warn', icon: 'warn' } as const] : []),
          ...(at_risk > 0 ? [{ n: at_risk, what: 'values are at risk', tone: 'bad', icon: 'look' } as const] : []),
        ]}
      />
      {brakes.length > 0 && <Brakes of={brakes} />}
      <Warnings of={warnings} />
      {fields.length > 0 && (
        <div>
          <FieldChanges of={fields} run={run} />
        </div>
      )}
      {creates.length > 0 && (
        <div>
          <h3>{created > creates.length ? 'The first of the new records' : 'New records'}</h3>
          {creates.map(({ row, key, values }) => (
            <details key={row} className="edits">
              <summary>
                <bdi>{key || `Row ${row}`}</bdi> <span className="soft">{counted(values.length, 'value')}</span>
              </summary>
              <ul className="pairs stack tight">
                {values.map(({ field, value }) => (
                  <li key={field}>
                    <bdi className="soft">{field}</bdi>
                    <bdi className="wrap">{value}</bdi>
                  </li>
                ))}
              </ul>
            </details>
          ))}
        </div>
      )}
    </div>
  );
}
