import { useState } from 'react';
import { useLocation } from 'wouter';
import type { RunDetail, Verb } from '../../api/schema.js';
import { noOutcomes } from '../../model/outcome.js';
import { send } from '../app/client.js';
import { ActionError } from '../app/faults.js';
import { useResourceFields, ValueInput } from '../app/fields.js';
import { client, isLive, useOnce, useSession, useWhyNot } from '../app/queries.js';
import { Dialog } from '../kit/dialog.js';
import { counted, when } from '../kit/format.js';
import type { IconName } from '../kit/icons.js';
import { Button, Card, Choose, Facts, Field, TextField } from '../kit/parts.js';
import { toast } from '../kit/toast.js';
import { RunPlan } from './plan.js';
import { nextSteps, runName, summaryOf } from './words.js';

/** What can be done with a run: its button, and what is said before and after it. */
interface VerbText {
  readonly word: string;
  readonly icon: IconName;
  readonly title: string;
  /** What it will do, in numbers. */
  readonly before: string;
  readonly after: string;
  /** The plan is shown, too: as it will be written, or as it goes back. */
  readonly plan?: 'all' | 'back';
}

const VERB_TEXTS: Readonly<Record<Verb, (run: RunDetail) => VerbText>> = {
  stop: ({ progress }) => ({
    word: 'Stop',
    icon: 'stop',
    title: 'Stop this run?',
    before: `Requests that are on their way are waited for. The ${progress?.total && progress.phase === 'writing' ? counted(progress.total - progress.done, 'row') : 'rows'} not come to stay as they are, and “Resume” goes on with them.`,
    after: 'The run stops.',
  }),
  resume: ({ outcomes }) => ({
    word: 'Resume',
    icon: 'next',
    title: 'Go on where it stopped?',
    before: `${outcomes ? `${counted(outcomes.not_attempted, 'row was', 'rows were')} not reached. ` : ''}Rows that are in are not sent again; what was on its way is looked up first. Nothing is written twice.`,
    after: 'The run goes on.',
  }),
  retry({ outcomes }) {
    const { failed, unknown } = outcomes ?? noOutcomes();
    return {
      word: `Take up ${counted(failed + unknown, 'row')} again`,
      icon: 'again',
      title: 'Take these rows up again?',
      before: `${counted(failed, 'failed', 'failed')} and ${counted(unknown, 'unknown', 'unknown')}. Each is looked up in the service first: what is there is not sent again. This makes a run of its own.`,
      after: 'The rows are taken up again.',
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
      title: braked ? 'Let this run through?' : 'Write this plan?',
      before: `Exactly this plan is carried out, as a run of its own. ${orphans > 0 ? 'Of the records that are not in the file, those whose update would destroy a value are held back. ' : ''}A record that somebody has changed since is left as it is, and the run names it. Afterwards ${created > 0 ? 'updates can be taken back; the service deletes no records' : 'it can be taken back'}.`,
      after: 'The plan is carried out.',
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
      title: 'Take back what this run wrote?',
      before: `${updated > 0 ? back : ''}${created > 0 ? retired : ''}What somebody changed since is left alone; a dry run says of which records. The undo is a run of its own, and can be undone.`,
      after: 'The undo begins.',
      plan: 'back',
    };
  },
};
const VERBS = Object.keys(VERB_TEXTS) as Verb[];

/** What else can be done with the run as it is; what cannot is one click away, with the reason. */
export function Actions({ run }: { run: RunDetail }) {
  // What is to be done next has its button there.
  const steps = nextSteps(run);
  const isElsewhere = (verb: Verb) =>
    (verb === 'approve' && run.status === 'braked') || steps.some((step) => step.verb === verb);
  const available = VERBS.filter((verb) => run.actions[verb]?.allowed && !isElsewhere(verb));
  const unavailable = VERBS.filter(
    (verb) => run.actions[verb]?.allowed === false && run.actions[verb].why !== undefined,
  );
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
const canWait = (run: RunDetail) =>
  run.here &&
  !run.dry_run &&
  !isLive(run) &&
  run.status !== 'succeeded' &&
  (run.status !== 'partial' || (run.needs_person ?? 0) > 0);

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

/** Says what it will do, in numbers and old → new, before it does anything. */
export function VerbButton({ run, verb, look }: { run: RunDetail; verb: Verb; look?: 'primary' }) {
  const [isOpen, setIsOpen] = useState(false);
  const [by, setBy] = useState('');
  const { name, via } = useSession();
  const [, go] = useLocation();
  const { word, icon, title, before, after, plan } = VERB_TEXTS[verb](run);
  const why = useWhyNot(verb === 'approve' ? 'approver' : 'operator');
  const [retire, setRetire] = useState(NOTHING);
  const retireBody = verb === 'undo' && retire.value !== '' && { retire: { [retire.field]: retire.value } };
  const whyUnsaid =
    verb === 'undo' && retire.field !== '' && retire.value === '' ? 'Say above what these records get.' : undefined;
  const mutation = useOnce({
    mutationFn: (order: object) =>
      send<{ id: string } | undefined>('POST', `/runs/${encodeURIComponent(run.id)}/${verb}`, order),
    onSuccess(begun, order) {
      setIsOpen(false);
      toast('dry_run' in order ? 'Nothing is written.' : after);
      void client.invalidateQueries({ queryKey: ['runs'] });
      if (begun && begun.id !== run.id) go(`/runs/${begun.id}`);
    },
  });
  const { allowed, why: notNow } = run.actions[verb] ?? {};
  const leave = () => {
    setIsOpen(false);
    mutation.reset();
  };
  const buttons = (
    <>
      <Button onClick={leave} word="Leave it" />
      {verb === 'undo' && (
        <Button why={whyUnsaid} change={mutation} order={{ dry_run: true, ...retireBody }} word="Dry run" />
      )}
      <Button
        why={whyUnsaid}
        look={verb === 'stop' ? 'danger' : 'primary'}
        change={mutation}
        order={verb === 'approve' ? { by: by || name } : { ...retireBody }}
        word={verb === 'stop' ? 'Stop the run' : word}
      />
    </>
  );
  const whyNot = why ?? (allowed === false ? notNow : undefined);
  return (
    <>
      <Button look={look} icon={icon} why={whyNot} onClick={() => setIsOpen(true)} word={word} />
      {isOpen && (
        <Dialog onClose={leave} title={title} footer={buttons}>
          <p className="wrap">
            <strong>
              <bdi>{runName(run)}</bdi>
            </strong>
            , {when(run.started_at)}
          </p>
          <p>{before}</p>
          {verb === 'undo' && (run.outcomes?.created ?? 0) > 0 && (
            <Retire resource={run.resource} chosen={retire} onChange={setRetire} />
          )}
          {plan && run.here && <RunPlan run={run} show={plan} />}
          {verb === 'approve' && via !== 'user' && (
            <TextField
              label="Who lets it through"
              hint="Stands in the reports and in the audit log."
              value={by}
              placeholder={name}
              onChange={({ target }) => setBy(target.value)}
            />
          )}
          <ActionError error={mutation.error} />
        </Dialog>
      )}
    </>
  );
}

/** What an undo gives to the records that the run created. */
const NOTHING = { field: '', value: '' };

interface RetireProps {
  readonly resource: string | undefined;
  readonly chosen: typeof NOTHING;
  readonly onChange: (chosen: typeof NOTHING) => void;
}

function Retire({ resource, chosen: { field, value }, onChange }: RetireProps) {
  const fields = useResourceFields(resource).filter(({ updated }) => updated);
  // One of them mostly says that a record is out of use.
  const choices = fields.toSorted((a, b) => Number(b.type === 'choice') - Number(a.type === 'choice'));
  const chosen = fields.find(({ name }) => name === field);
  return (
    <div className="fields">
      <Choose
        label="Records that it created get"
        value={field}
        options={[['', 'what its job says, else nothing'], ...choices.map(({ name, label }) => [name, label] as const)]}
        onChoose={(name) => onChange({ field: name, value: '' })}
      />
      {chosen && (
        <Field label={chosen.label}>
          {(props) => (
            <ValueInput {...props} field={chosen} value={value} onChange={(text) => onChange({ field, value: text })} />
          )}
        </Field>
      )}
    </div>
  );
}
