import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { send } from '../app/client.js';
import { useRunNow } from '../app/events.js';
import { Fault, Refused } from '../app/faults.js';
import { runQuery, useOnce, useWhyNot } from '../app/queries.js';
import { Button, ButtonLink, Card, Field, OutcomeBar, Skeleton } from '../kit/parts.js';
import { toast } from '../kit/toast.js';
import { Actions } from '../runs/actions.js';
import { Next, Trouble } from '../runs/run.js';
import { Timeline } from '../runs/timeline.js';
import { firstLine, nextSteps } from '../runs/words.js';
import type { Importing } from './state.js';

/** The run that writes, live; then what came of it, what to do next, and the way back. */
export function ResultStep({ of: { checked }, id }: { of: Importing; id: string }) {
  const { data: run, error } = useQuery(runQuery(id));
  const now = useRunNow(id, run);
  if (!run) return error ? <Fault error={error} /> : <Skeleton what="the run" lines={6} />;
  const job = checked.data?.ordered?.job;
  const { live, progress, counts, total } = now;
  return (
    <>
      <h1 className="wrap" aria-live="polite">
        {firstLine(run, progress)}
      </h1>
      {counts && <OutcomeBar counts={counts} total={total} />}
      <Trouble run={run} now={now} />
      {!live && <Next run={run} steps={nextSteps(run)} />}
      <Timeline run={run} progress={progress} />
      <Actions run={run} progress={progress} />
      {!live && job !== undefined && typeof job !== 'string' && <SaveJob job={job} file={run.file} />}
      <div className="line">
        <ButtonLink href={`/runs/${id}`}>Every row of this run</ButtonLink>
        <ButtonLink href="/import">Import another file</ButtonLink>
      </div>
    </>
  );
}

/** `Inventory 2026 (final).xlsx` → `inventory-2026-final` */
function jobName(file: string): string {
  const plain = file
    .replace(/(\.[^.]{1,6})+$/, '')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '-');
  return plain.replace(/^-+|-+$/g, '') || 'import';
}

/** The mapping as a job file, for the next file of this kind. */
function SaveJob({ job, file }: { job: Readonly<Record<string, unknown>>; file: string }) {
  const whyNot = useWhyNot('operator');
  const queries = useQueryClient();
  const [name, setName] = useState(() => jobName(file));
  const save = useOnce({
    mutationFn: () => send('PUT', `/jobs/${encodeURIComponent(name)}`, { job }, { headers: { 'if-none-match': '*' } }),
    onSuccess() {
      void queries.invalidateQueries({ queryKey: ['jobs'] });
      toast(`The job ${name} is saved. Choose it with the next file.`);
    },
  });
  return (
    <Card title="Save how this was read and matched">
      <form
        className="fields"
        onSubmit={(event) => {
          event.preventDefault();
          if (whyNot === undefined) save.mutate();
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
