import { useState } from 'react';
import { useLocation } from 'wouter';
import type { RunDetail, Verb } from '../../api/schema.js';
import { noOutcomes } from '../../model/outcome.js';
import { send } from '../app/client.js';
import { ActionError } from '../app/faults.js';
import { useResourceFields, ValueInput } from '../app/fields.js';
import { client, isComplete, isLive, useOnce, useSession, useWhyNot } from '../app/queries.js';
import { counted, when } from '../kit/format.js';
import type { IconName } from '../kit/icons.js';
import { Button, Card, Choose, Dialog, Facts, Field, TextField } from '../kit/parts.js';
import { toast } from '../kit/toast.js';
import { RunPlan } from './plan.js';
import { nextSteps, runName, summaryOf } from './words.js';

/** What can be done with a run: its button, and what is said before it is done. */
interface VerbText {
  readonly word: string;
  readonly icon: IconName;
  /** What it will do, in numbers. */
  readonly before: string;
  /** The plan is shown, too: as it will be written, or as it goes back. */
  readonly plan?: 'all' | 'back';
}

const VERB_TEXTS: Readonly<Record<Verb, (run: RunDetail) => VerbText>> = {
  stop: ({ progress }) => ({
    word: 'Stop',
    icon: 'stop',
    before: `Requests that are on their way are waited for. The ${progress?.total && progress.phase === 'writing' ? counted(progress.total - progress.done, 'row') : 'rows'} not come to stay as they are, and “Resume” goes on with them.`,
  }),
  resume: ({ outcomes }) => ({
    word: 'Resume',
    icon: 'next',
    before: `${outcomes ? `${counted(outcomes.not_attempted, 'row was', 'rows were')} not reached. ` : ''}Rows that are in are not sent again; what was on its way is looked up first. Nothing is written twice.`,
  }),
  retry({ outcomes }) {
    const { failed, unknown } = outcomes ?? noOutcomes();
    return {
      word: `Take up ${counted(failed + unknown, 'row')} again`,
      icon: 'again',
      before: `${counted(failed, 'failed', 'failed')} and ${counted(unknown, 'unknown', 'unknown')}. Each is looked up in the service first: what is there is not sent again. This makes a run of its own.`,
    };
  },
  approve(run) {
    const { created, updated } = run.outcomes ?? noOutcomes();
    const orphans = summaryOf(run)?.reconcile?.orphans.acted ?? 0;
    const braked = run.status === 'braked';
    const records = counted(created + updated + orphans, run.kind === 'reconcile' ? 'record' : 'row');
    return {
      word: braked ? 'Let it through' : `Write ${records}`,
      icon: 'check',
      before: `Exactly this plan is carried out, as a run of its own. ${orphans > 0 ? 'Of the records that are not in the file, those whose update would destroy a value are held back. ' : ''}A record that somebody has changed since is left as it is, and the run names it. Afterwards ${created > 0 ? 'updates can be taken back; the service deletes no records' : 'it can be taken back'}.`,
      plan: 'all',
    };
  },
  undo(run) {
    const { created, updated: rows } = run.outcomes ?? noOutcomes();
    const updated = rows + (summaryOf(run)?.reconcile?.compared?.orphans_acted ?? 0);
    const back = `${counted(updated, 'updated record gets', 'updated records get')} the earlier values back. `;
    const retired = `The service deletes no records: the ${counted(created, 'created one gets', 'created ones get')} what you say below, else what its job says, if anything. `;
    return {
      word: 'Undo',
      icon: 'undo',
      before: `${updated > 0 ? back : ''}${created > 0 ? retired : ''}What somebody changed since is left alone; a dry run says of which records. The undo is a run of its own, and can be undone.`,
      plan: 'back',
    };
  },
};
const VERBS = Object.keys(VERB_TEXTS) as Verb[];

/** What else can be done with the run as it is; what cannot is one click away, with the reason. */
export function Actions({ run }: { run: RunDetail }) {
  // What is to be done next has its button there.
  const elsewhere: (Verb | undefined)[] = nextSteps(run).map(({ verb }) => verb);
  if (run.status === 'braked') elsewhere.push('approve');
  const available = VERBS.filter((verb) => run.actions[verb]?.allowed && !elsewhere.includes(verb));
  const unavailable = VERBS.filter((verb) => !run.actions[verb]?.allowed && run.actions[verb]?.why !== undefined);
  const isWaiting = canWait(run);
  if (available.length + unavailable.length === 0 && !isWaiting) return null;
  return (
    <Card title={available.length > 0 || isWaiting ? 'What you can do' : undefined}>
      <div className="stack tight">
        {available.length > 0 && (
          <div className="line">
            {available.map((verb) => (
              <VerbButton key={verb} run={run} verb={verb} />
            ))}
          </div>
        )}
        {available.includes('undo') && <p className="soft small">What this run wrote can be taken back.</p>}
        {isWaiting && <Aside run={run} />}
        {unavailable.length > 0 && (
          <details className="small">
            <summary className="soft">What cannot be done now, and why</summary>
            <Facts of={unavailable.map((verb) => [VERB_TEXTS[verb](run).word, run.actions[verb].why])} />
          </details>
        )}
      </div>
    </Card>
  );
}

/** Whether it is of the runs that wait for a person until somebody takes them up. */
const canWait = ({ here, status, summary, dry_run: dry, needs_person: needed }: RunDetail) =>
  (here || !summary) && !dry && !isLive({ status }) && !(isComplete({ status }) && !needed);

function Aside({ run: { id, aside } }: { run: RunDetail }) {
  const why = useWhyNot('operator');
  const put = useOnce({
    mutationFn: () => send('PUT', `/runs/${encodeURIComponent(id)}/aside`, { aside: !aside }),
    onSuccess() {
      for (const of of ['runs', 'overview']) void client.invalidateQueries({ queryKey: [of] });
    },
  });
  return (
    <div className="stack tight">
      <Button why={why} change={put} word={aside ? 'Let it wait again' : 'Put it aside'} />
      {!aside && <p className="soft small">It then stands no more among what waits for you.</p>}
      <ActionError error={put.error} />
    </div>
  );
}

/** What is said besides the verb: who lets it through, and what an undo gives to the records that the run created. */
type Order = { readonly by?: string; readonly retire?: Readonly<Record<string, string>> };

/** Says what it will do, in numbers and old → new, before it does anything. */
export function VerbButton({ run, verb, look }: { run: RunDetail; verb: Verb; look?: 'primary' }) {
  const [isOpen, setIsOpen] = useState(false);
  const [order, setOrder] = useState<Order>({});
  const { name, via } = useSession();
  const [, go] = useLocation();
  const { word, icon, before, plan } = VERB_TEXTS[verb](run);
  const whyNot = useWhyNot(verb === 'approve' ? 'approver' : 'operator') ?? run.actions[verb]?.why;
  const whyUnsaid = Object.values(order.retire ?? {}).includes('') ? 'Say above what these records get.' : undefined;
  const mutation = useOnce({
    mutationFn: (body: object) =>
      send<{ id: string } | undefined>('POST', `/runs/${encodeURIComponent(run.id)}/${verb}`, body),
    onSuccess(begun) {
      setIsOpen(false);
      if (verb === 'stop') toast('The run stops.');
      void client.invalidateQueries({ queryKey: ['runs'] });
      if (begun && begun.id !== run.id) go(`/runs/${begun.id}`);
    },
  });
  const leave = () => {
    setIsOpen(false);
    mutation.reset();
  };
  const buttons = (
    <>
      <Button onClick={leave} word="Leave it" />
      {verb === 'undo' && (
        <Button why={whyUnsaid} change={mutation} order={{ dry_run: true, ...order }} word="Dry run" />
      )}
      <Button
        why={whyUnsaid}
        look={verb === 'stop' ? 'danger' : 'primary'}
        change={mutation}
        order={verb === 'approve' ? { by: order.by || name } : order}
        word={verb === 'stop' ? 'Stop the run' : word}
      />
    </>
  );
  return (
    <>
      <Button look={look} icon={icon} why={whyNot} onClick={() => setIsOpen(true)} word={word} />
      {isOpen && (
        <Dialog onClose={leave} title={`${word}?`} footer={buttons}>
          <p className="wrap">
            <strong dir="auto">{runName(run)}</strong>, {when(run.started_at)}
          </p>
          <p>{before}</p>
          {verb === 'undo' && (run.outcomes?.created ?? 0) > 0 && (
            <Retire resource={run.resource} order={order} onChange={setOrder} />
          )}
          {plan && run.here && <RunPlan run={run} show={plan} />}
          {verb === 'approve' && via !== 'user' && (
            <TextField
              label="Who lets it through"
              hint="Stands in the reports and in the audit log."
              value={order.by ?? ''}
              placeholder={name}
              onChange={({ target }) => setOrder({ by: target.value })}
            />
          )}
          <ActionError error={mutation.error} />
        </Dialog>
      )}
    </>
  );
}

interface RetireProps {
  readonly resource: string | undefined;
  readonly order: Order;
  readonly onChange: (order: Order) => void;
}

function Retire({ resource, order: { retire = {} }, onChange }: RetireProps) {
  const [[field, value] = ['', '']] = Object.entries(retire);
  const fields = useResourceFields(resource).filter(({ updated }) => updated);
  // One of them mostly says that a record is out of use.
  const choices = fields.toSorted((a, b) => Number(b.type === 'choice') - Number(a.type === 'choice'));
  const chosen = fields.find(({ name }) => name === field);
  const setValue = (text: string) => onChange({ retire: { [field]: text } });
  return (
    <div className="fields">
      <Choose
        label="Records that it created get"
        value={field}
        options={[['', 'what its job says, else nothing'], ...choices.map(({ name, label }) => [name, label] as const)]}
        onChoose={(name) => onChange(name === '' ? {} : { retire: { [name]: '' } })}
      />
      {chosen && (
        <Field label={chosen.label}>
          {(props) => <ValueInput {...props} field={chosen} value={value} onChange={setValue} />}
        </Field>
      )}
    </div>
  );
}
