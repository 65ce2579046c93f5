import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { RunDetail } from '../../api/schema.js';
import { send } from '../app/client.js';
import { ActionError, PagePending } from '../app/faults.js';
import { client, planQuery, useOnce, useSession, useWhyNot } from '../app/queries.js';
import { counted } from '../kit/format.js';
import { Button, ButtonLink, Card, submitting, TextField, takeFocus } from '../kit/parts.js';
import { toast } from '../kit/toast.js';
import { sumOf } from '../runs/outcomes.js';
import { PlanView } from '../runs/plan.js';
import { RunPanel } from '../runs/run.js';
import type { Job } from './draft.js';
import type { Importing } from './state.js';

export function PlanStep({ of: { carryOut, write, hrefOf }, run }: { of: Importing; run: RunDetail }) {
  const { data: plan, error } = useQuery(planQuery(run.id));
  const { company_name, company } = useSession();
  const braked = plan?.brakes.some(({ tripped }) => tripped) ?? false;
  const whyNot = useWhyNot(braked ? 'approver' : 'operator');
  if (!plan) return <PagePending page="The plan" error={error} />;
  const rows = plan.created + plan.updated;
  const excluded = sumOf(run.outcomes, 'to_correct') + sumOf(run.outcomes, 'to_look_at');
  const exceptText =
    excluded === 0 ? '' : `, without the ${excluded === 1 ? 'one' : counted(excluded, 'row')} that cannot go in`;
  return (
    <>
      {/* Nobody writes with the key that brought them here: the button is one Tab further. */}
      <h1 ref={takeFocus} tabIndex={-1} className="wrap">
        {write !== undefined
          ? 'This plan was carried out'
          : rows === 0
            ? `There is nothing to write${exceptText}`
            : `${counted(rows, 'row')} would be written to ${company_name ?? `company ${company}`}${exceptText}`}
      </h1>
      {write !== undefined && <ButtonLink href={hrefOf('result')} word="To the result" />}
      {rows > 0 && write === undefined && (
        <div className="line wide">
          <Button
            look={braked ? 'danger' : 'primary'}
            why={whyNot}
            change={carryOut}
            order={{ approve: braked }}
            word={braked ? `Let it through: write ${counted(rows, 'row')}` : `Write ${counted(rows, 'row')}`}
          />
          <span className="soft">
            {braked && whyNot !== undefined
              ? 'A brake stops it. Send this address to somebody who is an approver.'
              : plan.created > 0
                ? 'Nothing is written twice. Afterwards updates can be taken back; the service deletes no records.'
                : 'Nothing is written twice, and you can take it back afterwards.'}
          </span>
        </div>
      )}
      <ActionError error={carryOut.error} />
      <Card title="What would be written">
        <PlanView plan={plan} run={run} />
      </Card>
    </>
  );
}

/** The run that writes, live; then what came of it, what to do next, and the way back. */
export function ResultStep({ of: { name, checked }, id }: { of: Importing; id: string }) {
  const job = checked.data?.ordered?.job;
  const where = <Link href={`/runs/${id}`}>The page of this run</Link>;
  return (
    <>
      <RunPanel id={id} title={`Import ${name}`} where={where} />
      {typeof job === 'object' && <SaveJob job={job} file={name} />}
    </>
  );
}

/** `Inventory 2026 (final).xlsx` → `inventory-2026-final` */
const jobName = (file: string) =>
  (file.replace(/(\.[^.]{1,6})+$/, '').match(/[\p{L}\p{N}]+/gu) ?? ['import']).join('-').toLowerCase();

/** The mapping as a job file, for the next file of this kind. */
function SaveJob({ job, file }: { job: Job; file: string }) {
  const whyNot = useWhyNot('operator');
  const save = useOnce({
    mutationFn: (name: string) =>
      send('PUT', `/jobs/${encodeURIComponent(name)}`, { job }, { headers: { 'if-none-match': '*' } }),
    onSuccess(_, name) {
      void client.invalidateQueries({ queryKey: ['jobs'] });
      toast(`The job ${name} is saved. Choose it with the next file.`);
    },
  });
  return (
    <Card title="Save how this was read and matched">
      <form className="fields" {...submitting((form) => whyNot === undefined && save.mutate(form['job'].value))}>
        <TextField
          label="Name of the job"
          hint={save.isSuccess ? 'Saved.' : 'The next file of this kind needs no matching.'}
          name="job"
          required
          defaultValue={jobName(file)}
          onChange={save.reset}
        />
        <Button type="submit" why={whyNot} busy={save.isPending} word="Save as job" />
      </form>
      <ActionError error={save.error} />
    </Card>
  );
}
