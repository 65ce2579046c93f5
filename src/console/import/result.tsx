import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Accepted, RunDetail, Verb } from '../../api/schema.js';
import type { Summary } from '../../report/summary.js';
import { headline } from '../../report/words.js';
import { API, send } from '../app/client.js';
import { useRunEvents } from '../app/events.js';
import { ConnectionLost, Fault, Refused } from '../app/faults.js';
import { client, runQuery, useWhyNot } from '../app/queries.js';
import { Dialog } from '../kit/dialog.js';
import { counted } from '../kit/format.js';
import { Button, ButtonLink, Card, Field, Notice, OutcomeBar, Prose, Skeleton, sumOf } from '../kit/parts.js';
import { toast } from '../kit/toast.js';
import type { Check } from './draft.js';
import { Working } from './working.js';

/** The run that writes, live; then what came of it, what to do next, and the way back. */
export function ResultStep({ id, job }: { id: string; job: Check['job'] | undefined }) {
  const { data: run, error } = useQuery(runQuery(id));
  const works = run?.status === 'waiting' || run?.status === 'running';
  const events = useRunEvents(id, works);
  if (error) return <Fault error={error} />;
  if (!run) return <Skeleton what="the run" lines={6} />;
  const progress = events.progress ?? run.progress;
  if (works) {
    return (
      <>
        <h1>Writing: what is in stays in, whatever happens to this page</h1>
        <ConnectionLost events={events} />
        <Working run={run} progress={progress} what="Writing" />
        <div className="line">
          <VerbButton run={run} verb="stop" word="Stop" />
          <span className="soft">Stop ends it after the requests on their way. Resume goes on from there.</span>
        </div>
      </>
    );
  }
  const counts = run.outcomes;
  const rejected = run.reports.find((name) => name.startsWith('rejected.'));
  const bad = counts ? sumOf(counts, 'to_correct') : 0;
  const look = counts ? sumOf(counts, 'to_look_at') : 0;
  return (
    <>
      <h1 className="wrap">
        {run.summary ? headline(run.summary as unknown as Summary) : 'The run ended without a report'}
      </h1>
      {counts && <OutcomeBar counts={counts} total={run.rows} />}
      {run.reason !== null && (
        <Notice tone="bad" title="Why it stopped">
          <p className="wrap">
            <Prose>{run.reason}</Prose>
          </p>
        </Notice>
      )}
      <Card title={bad + look === 0 ? 'Nothing is left to do' : 'What to do next'}>
        <div className="stack">
          {bad > 0 && (
            <p>
              {counted(bad, 'row')} {bad === 1 ? 'waits' : 'wait'} for a correction. Download{' '}
              {bad === 1 ? 'it' : 'them'}, correct the marked cells in your spreadsheet program, and import that file:
              what is in already is found unchanged.
            </p>
          )}
          {look > 0 && (
            <p>
              {counted(look, 'row')} {look === 1 ? 'needs' : 'need'} a look: the run says of each what happened.
            </p>
          )}
          <div className="line">
            {rejected && bad + look > 0 && (
              <ButtonLink
                look="primary"
                icon="download"
                href={`${API}/runs/${id}/reports/${rejected}`}
                download={rejected}
              >
                Rows to correct
              </ButtonLink>
            )}
            {run.actions.resume.allowed && <VerbButton run={run} verb="resume" word="Resume" />}
            {run.actions.retry.allowed && <VerbButton run={run} verb="retry" word="Try the others again" />}
            <ButtonLink href={`/runs/${id}`}>Every row of the run</ButtonLink>
            <ButtonLink href="/import">Import another file</ButtonLink>
          </div>
        </div>
      </Card>
      {run.kind === 'import' && <TakeBack run={run} />}
      {job !== undefined && typeof job !== 'string' && <SaveJob job={job} file={run.file} />}
    </>
  );
}

/** Goes on to the run that it begins. */
function VerbButton({ run, verb, word }: { run: RunDetail; verb: Verb; word: string }) {
  const [, go] = useLocation();
  const whyNot = useWhyNot('operator');
  const { allowed, why } = run.actions[verb];
  const ask = useMutation({
    mutationFn: () => send<Accepted | undefined>('POST', `/runs/${run.id}/${verb}`),
    onSuccess(begun) {
      void client.invalidateQueries({ queryKey: ['run', run.id] });
      if (begun && begun.id !== run.id) go(`/runs/${begun.id}`);
    },
  });
  return (
    <>
      <Button
        icon={verb === 'stop' ? 'stop' : 'next'}
        busy={ask.isPending}
        why={whyNot ?? (allowed ? undefined : why)}
        onClick={() => ask.mutate()}
      >
        {word}
      </Button>
      <Refused error={ask.error} />
    </>
  );
}

/** What it would do stands before the button that does it. */
function TakeBack({ run }: { run: RunDetail }) {
  const [, go] = useLocation();
  const whyNot = useWhyNot('operator');
  const [preview, setPreview] = useState<string>();
  const { allowed, why } = run.actions.undo;
  const path = `/runs/${run.id}/undo`;
  const look = useMutation({
    mutationFn: () => send<Accepted>('POST', path, { dry_run: true }),
    onSuccess: ({ id }) => setPreview(id),
  });
  const back = useMutation({
    mutationFn: () => send<Accepted>('POST', path, {}),
    onSuccess: ({ id }) => go(`/runs/${id}`),
  });
  return (
    <Card title="Take it back">
      <div className="stack tight">
        <p>
          Records that were updated get their earlier values again, unless somebody changed them since. New records are
          retired.
        </p>
        <div>
          <Button
            icon="back"
            why={whyNot ?? (allowed ? undefined : why)}
            busy={look.isPending}
            onClick={() => look.mutate()}
          >
            Take back…
          </Button>
        </div>
        <Refused error={look.error} />
      </div>
      <Dialog
        open={preview !== undefined}
        onClose={() => setPreview(undefined)}
        title="What taking it back would do"
        footer={
          <>
            <Button onClick={() => setPreview(undefined)}>Leave it</Button>
            <Button look="danger" busy={back.isPending} onClick={() => back.mutate()}>
              Take back
            </Button>
          </>
        }
      >
        {preview !== undefined && <Preview id={preview} />}
        <Refused error={back.error} />
      </Dialog>
    </Card>
  );
}

function Preview({ id }: { id: string }) {
  const { data: run, error } = useQuery(runQuery(id));
  const works = run === undefined || run.status === 'waiting' || run.status === 'running';
  const { progress } = useRunEvents(id, works);
  if (error) return <Fault error={error} />;
  if (!run) return <Skeleton what="what it would do" />;
  if (works) return <Working run={run} progress={progress ?? run.progress} what="Looking" />;
  if (!run.summary) return <Notice tone="bad" title={run.reason ?? 'It cannot be said.'} />;
  return (
    <>
      <p>{headline(run.summary as unknown as Summary)}</p>
      {run.outcomes && <OutcomeBar counts={run.outcomes} total={run.rows} />}
    </>
  );
}

/** The mapping as a job file, for the next file of this kind. */
function SaveJob({ job, file }: { job: Readonly<Record<string, unknown>>; file: string }) {
  const whyNot = useWhyNot('operator');
  const [name, setName] = useState(
    () =>
      file
        .replace(/\.[^.]*$/, '')
        .toLowerCase()
        .replace(/[^\p{L}\p{N}-]+/gu, '-')
        .replace(/^-+|-+$/g, '') || 'import',
  );
  const save = useMutation({
    async mutationFn() {
      // Only who saves a job needs what writes YAML.
      const { stringify } = await import('yaml');
      await send('PUT', `/jobs/${encodeURIComponent(name)}`, { text: stringify(job) });
      void client.invalidateQueries({ queryKey: ['jobs'] });
      toast(`The job ${name} is saved. Choose it with the next file.`);
    },
  });
  return (
    <Card title="Save how this was read and matched">
      <form
        className="fields"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        <Field
          label="Name of the job"
          hint={save.isSuccess ? 'Saved.' : 'The next file of this kind needs no matching.'}
        >
          {(props) => (
            <input
              {...props}
              className="input"
              required
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
          )}
        </Field>
        <Button type="submit" why={whyNot} busy={save.isPending}>
          Save as job
        </Button>
      </form>
      <Refused error={save.error} />
    </Card>
  );
}
