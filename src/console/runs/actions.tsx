import { useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import type { RunDetail, RunProgress, Verb } from '../../api/schema.js';
import { send } from '../app/client.js';
import { Refused } from '../app/faults.js';
import { planQuery, useOnce, useSession, useWhyNot } from '../app/queries.js';
import { Dialog } from '../kit/dialog.js';
import { counted, number } from '../kit/format.js';
import type { IconName } from '../kit/icons.js';
import { Button, Card, Field, Skeleton } from '../kit/parts.js';
import { toast } from '../kit/toast.js';
import { PlanView } from './plan.js';

const VERBS: readonly Verb[] = ['stop', 'resume', 'retry', 'approve', 'undo'];

interface Words {
  readonly word: string;
  readonly icon: IconName;
  readonly title: string;
  readonly after: string;
}

function wordsOf(verb: Verb, run: RunDetail): Words {
  const { rows = 0, outcomes } = { rows: run.rows ?? 0, outcomes: run.outcomes };
  const written = (outcomes?.created ?? 0) + (outcomes?.updated ?? 0);
  switch (verb) {
    case 'stop':
      return { word: 'Stop', icon: 'stop', title: 'Stop this run?', after: 'The run stops.' };
    case 'resume':
      return { word: 'Resume', icon: 'next', title: 'Go on where it stopped?', after: 'The run goes on.' };
    case 'retry': {
      const n = (outcomes?.failed ?? 0) + (outcomes?.unknown ?? 0);
      return {
        word: `Take up ${counted(n, 'row')} again`,
        icon: 'again',
        title: 'Take these rows up again?',
        after: 'The rows are taken up again.',
      };
    }
    case 'approve':
      return run.dry_run
        ? {
            word: `Write ${counted(written, 'row')}`,
            icon: 'check',
            title: 'Write this plan?',
            after: 'The plan is carried out.',
          }
        : { word: 'Let it through', icon: 'check', title: 'Let this run through?', after: 'The plan is carried out.' };
    case 'undo':
      return {
        word: 'Undo',
        icon: 'undo',
        title: `Take back what ${rows === 0 ? 'it' : 'this run'} wrote?`,
        after: 'What the run wrote is taken back.',
      };
  }
}

/** What else can be done with the run as it is; what cannot is one click away, with the reason. */
export function Actions({
  run,
  but = [],
  progress,
}: {
  run: RunDetail;
  /** Stand elsewhere on the page. */
  but?: readonly Verb[];
  progress: RunProgress | null;
}) {
  const can = VERBS.filter((verb) => run.actions[verb]?.allowed && !but.includes(verb));
  const not = VERBS.flatMap((verb) => {
    const { allowed = false, why } = run.actions[verb] ?? {};
    return allowed || why === undefined ? [] : [{ verb, why }];
  });
  if (can.length === 0 && not.length === 0) return null;
  return (
    <Card title="What you can do">
      <div className="stack tight">
        {can.length > 0 && (
          <div className="line">
            {can.map((verb) => (
              <VerbButton key={verb} run={run} verb={verb} progress={progress} />
            ))}
          </div>
        )}
        {can.includes('undo') && <p className="soft small">What this run wrote can be taken back.</p>}
        {not.length > 0 && (
          <details>
            <summary className="soft small">What cannot be done now, and why</summary>
            <dl className="facts small">
              {not.map(({ verb, why }) => (
                <Why key={verb} verb={wordsOf(verb, run).word} why={why} />
              ))}
            </dl>
          </details>
        )}
      </div>
    </Card>
  );
}

function Why({ verb, why }: { verb: string; why: string }) {
  return (
    <>
      <dt>{verb}</dt>
      <dd>{why}</dd>
    </>
  );
}

/** Asks with the numbers before it does anything. */
export function VerbButton({
  run,
  verb,
  look,
  progress = null,
}: {
  run: RunDetail;
  verb: Verb;
  look?: 'primary';
  progress?: RunProgress | null;
}) {
  const [asked, setAsked] = useState(false);
  const [by, setBy] = useState('');
  const { name, via } = useSession();
  const [, go] = useLocation();
  const queries = useQueryClient();
  const words = wordsOf(verb, run);
  const why = useWhyNot(verb === 'approve' ? 'approver' : 'operator');
  const act = useOnce({
    mutationFn: () =>
      send<{ id: string } | undefined>(
        'POST',
        `/runs/${encodeURIComponent(run.id)}/${verb}`,
        verb === 'approve' ? { by: by || name } : {},
      ),
    onSuccess: (begun) => {
      setAsked(false);
      toast(words.after);
      void queries.invalidateQueries({ queryKey: ['runs'] });
      if (begun && begun.id !== run.id) go(`/runs/${begun.id}`);
    },
  });
  const allowed = run.actions[verb];
  const refusal = why ?? (allowed?.allowed === false ? allowed.why : undefined);
  return (
    <>
      <Button look={look} icon={words.icon} why={refusal} onClick={() => setAsked(true)}>
        {words.word}
      </Button>
      <Dialog
        open={asked}
        onClose={() => {
          setAsked(false);
          act.reset();
        }}
        title={words.title}
        footer={
          <>
            <Button onClick={() => setAsked(false)}>Leave it</Button>
            <Button look={verb === 'stop' ? 'danger' : 'primary'} busy={act.isPending} onClick={() => act.mutate()}>
              {verb === 'stop' ? 'Stop the run' : words.word}
            </Button>
          </>
        }
      >
        <Before run={run} verb={verb} progress={progress} />
        {verb === 'approve' && via !== 'user' && (
          <Field label="Who lets it through" hint="Stands in the reports and in the audit log.">
            {(props) => (
              <input
                {...props}
                className="input"
                value={by}
                placeholder={name}
                onChange={({ target }) => setBy(target.value)}
              />
            )}
          </Field>
        )}
        <Refused error={act.error} />
      </Dialog>
    </>
  );
}

/** What the button will do, in numbers, and old → new where records change. */
function Before({ run, verb, progress }: { run: RunDetail; verb: Verb; progress: RunProgress | null }): ReactNode {
  const { outcomes } = run;
  switch (verb) {
    case 'stop': {
      const left = progress?.total ? progress.total - progress.done : undefined;
      return (
        <p>
          Requests that are on their way are waited for.{' '}
          {left === undefined ? 'The rows' : `The ${counted(left, 'row')}`} not come to stay as they are, and “Resume”
          goes on with them.
        </p>
      );
    }
    case 'resume':
      return (
        <p>
          {outcomes
            ? `${counted(outcomes.not_attempted, 'row')} ${outcomes.not_attempted === 1 ? 'was' : 'were'} not reached. `
            : ''}
          Rows that are in are not sent again; what was on its way is looked up first. Nothing is written twice.
        </p>
      );
    case 'retry':
      return (
        <p>
          {number(outcomes?.failed ?? 0)} failed and {number(outcomes?.unknown ?? 0)} unknown. Each is looked up in the
          service first: what is there is not sent again. This makes a run of its own.
        </p>
      );
    case 'approve':
      return (
        <>
          <p>
            Exactly this plan is carried out, as a run of its own. Where somebody has changed a record since, nothing is
            written and the run says so. Afterwards it can be undone.
          </p>
          <Written run={run} />
        </>
      );
    case 'undo':
      return (
        <>
          <p>
            {number(outcomes?.updated ?? 0)} updated {outcomes?.updated === 1 ? 'record gets' : 'records get'} the
            earlier values back.{' '}
            {outcomes && outcomes.created > 0
              ? `${number(outcomes.created)} created ${outcomes.created === 1 ? 'record gets' : 'records get'} the values that retire ${outcomes.created === 1 ? 'it' : 'them'}, if the job names any: the service deletes none. `
              : ''}
            What somebody changed since is left alone. The undo is a run of its own, and can be undone.
          </p>
          <Written run={run} back />
        </>
      );
  }
}

function Written({ run, back = false }: { run: RunDetail; back?: boolean }) {
  const { data: plan } = useQuery({ ...planQuery(run.id), enabled: run.here });
  if (!run.here) return null;
  return plan ? <PlanView plan={plan} run={run.id} back={back} /> : <Skeleton what="the plan" />;
}
