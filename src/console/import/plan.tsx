import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { Plan, RunDetail } from '../../api/schema.js';
import { Fault, Refused } from '../app/faults.js';
import { planQuery, useSession, useWhyNot } from '../app/queries.js';
import { counted } from '../kit/format.js';
import { Button, Card, Notice, Prose, Skeleton, sumOf } from '../kit/parts.js';
import { Brakes, FieldChanges, Figures } from '../kit/plan.js';

/** What would be written, before the button that writes it. `approve`: exactly this plan, although a brake stops it. */
export function PlanStep({
  run,
  onWrite,
}: {
  run: RunDetail;
  onWrite: (how: { approve: boolean }) => Promise<unknown>;
}) {
  const { data: plan, error } = useQuery(planQuery(run.id));
  const { company_name, company } = useSession();
  const heading = useRef<HTMLHeadingElement>(null);
  const braked = plan?.brakes.some(({ tripped }) => tripped) ?? false;
  const whyNot = useWhyNot(braked ? 'approver' : 'operator');
  const write = useMutation({ mutationFn: () => onWrite({ approve: braked }) });
  const known = plan !== undefined;
  // Nobody writes with the key that brought them here: the button is one Tab further.
  useEffect(() => {
    if (known) heading.current?.focus();
  }, [known]);
  if (error) return <Fault error={error} />;
  if (!plan) return <Skeleton what="the plan" lines={6} />;
  const rows = plan.created + plan.updated;
  const left = run.outcomes ? sumOf(run.outcomes, 'to_correct') + sumOf(run.outcomes, 'to_look_at') : 0;
  return (
    <>
      <h1 ref={heading} tabIndex={-1} className="wrap">
        {rows === 0
          ? 'There is nothing to write: the service has all of it'
          : `${counted(rows, 'row')} would be written to ${company_name ?? `company ${company}`}`}
      </h1>
      {rows > 0 && (
        <div className="line wide">
          <Button
            look={braked ? 'danger' : 'primary'}
            why={whyNot}
            busy={write.isPending}
            onClick={() => write.mutate()}
          >
            {braked ? `Let it through: write ${counted(rows, 'row')}` : `Write ${counted(rows, 'row')}`}
          </Button>
          <span className="soft">Nothing is written twice, and you can take it back afterwards.</span>
        </div>
      )}
      <Refused error={write.error} />
      <Figures
        of={[
          { n: plan.created, what: 'To create', tone: 'good' },
          { n: plan.updated, what: 'To update', tone: 'good' },
          { n: plan.unchanged, what: 'Unchanged: nothing is sent' },
          { n: left, what: 'Left out: to correct or to look at', tone: 'warn', icon: 'correct' },
        ]}
      />
      {plan.warnings.map((warning) => (
        <Notice key={warning} tone="warn">
          <p className="wrap">
            <Prose>{warning}</Prose>
          </p>
        </Notice>
      ))}
      {plan.brakes.length > 0 && (
        <Card title={braked ? 'A brake stops this' : 'Within all limits'}>
          <Brakes of={plan.brakes} />
        </Card>
      )}
      {plan.fields.length > 0 && (
        <Card title="What changes in records that are there" flush>
          <FieldChanges of={plan.fields} run={run.id} />
        </Card>
      )}
      {plan.creates.length > 0 && <Creates of={plan.creates} all={plan.created} />}
    </>
  );
}

function Creates({ of, all }: { of: Plan['creates']; all: number }) {
  return (
    <Card title={all > of.length ? `The first ${of.length} of ${counted(all, 'new record')}` : 'New records'} flush>
      {of.map(({ row, key, values }) => (
        <details key={row} className="edits">
          <summary>
            <bdi>{key || `Row ${row}`}</bdi> gets {counted(values.length, 'value')}
          </summary>
          <dl className="facts new-record">
            {values.map(({ field, value }) => (
              <div key={field}>
                <dt>{field}</dt>
                <dd>
                  <bdi>{value}</bdi>
                </dd>
              </div>
            ))}
          </dl>
        </details>
      ))}
    </Card>
  );
}
