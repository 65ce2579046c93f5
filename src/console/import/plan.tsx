import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import type { RunDetail } from '../../api/schema.js';
import { Fault, Refused } from '../app/faults.js';
import { planQuery, useSession, useWhyNot } from '../app/queries.js';
import { counted } from '../kit/format.js';
import { Button, Card, Skeleton, sumOf } from '../kit/parts.js';
import { PlanView } from '../runs/plan.js';
import type { Importing } from './state.js';

/** What would be written, before the button that writes it. */
export function PlanStep({ of: { carryOut }, run }: { of: Importing; run: RunDetail }) {
  const { data: plan, error } = useQuery(planQuery(run.id));
  const { company_name, company } = useSession();
  const heading = useRef<HTMLHeadingElement>(null);
  const braked = plan?.brakes.some(({ tripped }) => tripped) ?? false;
  const whyNot = useWhyNot(braked ? 'approver' : 'operator');
  const known = plan !== undefined;
  // Nobody writes with the key that brought them here: the button is one Tab further.
  useEffect(() => {
    if (known) heading.current?.focus();
  }, [known]);
  if (!plan) return error ? <Fault error={error} /> : <Skeleton what="the plan" lines={6} />;
  const rows = plan.created + plan.updated;
  const left = run.outcomes ? sumOf(run.outcomes, 'to_correct') + sumOf(run.outcomes, 'to_look_at') : 0;
  const without = left === 0 ? '' : `, without the ${left === 1 ? 'one' : counted(left, 'row')} that cannot go in`;
  return (
    <>
      <h1 ref={heading} tabIndex={-1} className="wrap">
        {rows === 0
          ? `There is nothing to write${without}`
          : `${counted(rows, 'row')} would be written to ${company_name ?? `company ${company}`}${without}`}
      </h1>
      {rows > 0 && (
        <div className="line wide">
          <Button
            look={braked ? 'danger' : 'primary'}
            why={whyNot}
            busy={carryOut.isPending}
            onClick={() => carryOut.mutate({ approve: braked })}
          >
            {braked ? `Let it through: write ${counted(rows, 'row')}` : `Write ${counted(rows, 'row')}`}
          </Button>
          <span className="soft">
            {braked && whyNot !== undefined
              ? 'A brake stops it. Send this address to somebody who is an approver.'
              : 'Nothing is written twice, and you can take it back afterwards.'}
          </span>
        </div>
      )}
      <Refused error={carryOut.error} />
      <Card title="What would be written">
        <PlanView plan={plan} run={run.id} />
      </Card>
    </>
  );
}
