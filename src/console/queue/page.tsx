import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { Queue } from '../../api/schema.js';
import { send } from '../app/client.js';
import { Fault, Refused } from '../app/faults.js';
import { queueQuery, useWhyNot } from '../app/queries.js';
import { usePageTitle } from '../app/shell.js';
import { Dialog } from '../kit/dialog.js';
import { counted, number, timeOfDay, when } from '../kit/format.js';
import { Button, ButtonLink, Card, Notice, OutcomeBar, Prose, Skeleton } from '../kit/parts.js';
import { Figures } from '../kit/plan.js';

type Queued = Queue['active'][number];
const LOOK_MS = 2_000;

export default function QueuePage() {
  usePageTitle('Queue');
  const { data, error, dataUpdatedAt } = useQuery({ ...queueQuery, refetchInterval: LOOK_MS });
  const [asked, ask] = useState<Queued>();
  if (!data) return error ? <Fault error={error} /> : <Skeleton what="the queue" lines={8} />;
  const { counts, workers, active, waiting, failed } = data;
  const nobody = workers === 0 && counts.waiting + counts.delayed > 0;
  const rest = counts.waiting + counts.delayed;
  return (
    <div className="stack">
      <header className="stack tight">
        <h1>{headline(data)}</h1>
        <p className="soft wrap">{data.address}</p>
      </header>
      {error && (
        <Notice tone="warn" icon="off" title="Connection lost">
          <p>What runs goes on. Last seen {timeOfDay(new Date(dataUpdatedAt))}; the page tries again by itself.</p>
        </Notice>
      )}
      {nobody && (
        <Notice tone="bad" title="Nobody works on this queue">
          <p>
            What waits begins once a worker runs: start one with <code>rowferry worker</code>.
          </p>
        </Notice>
      )}
      <Card>
        <Figures
          of={[
            { n: counts.active, what: 'at work', tone: 'info' },
            { n: counts.waiting, what: 'waiting' },
            { n: counts.delayed, what: 'tried again later', tone: 'warn', icon: 'clock' },
            { n: counts.failed, what: 'failed', tone: 'bad', icon: 'bad' },
            { n: counts.completed, what: 'done' },
            { n: workers, what: workers === 1 ? 'worker' : 'workers' },
          ]}
        />
      </Card>
      {active.length > 0 && (
        <Jobs title="At work" of={active} beside={(job) => <Stop job={job} onAsk={() => ask(job)} word="Stop…" />}>
          {({ progress }) =>
            progress && (
              <div className="stack tight">
                <span>
                  {progress.phase} · {number(progress.done)}
                  {progress.total === null ? '' : ` of ${counted(progress.total, 'row')}`}
                </span>
                <OutcomeBar counts={progress.outcomes} total={progress.total} />
              </div>
            )
          }
        </Jobs>
      )}
      {waiting.length > 0 && (
        <Jobs
          title={waiting.length < rest ? `Waiting: the next ${number(waiting.length)} of ${number(rest)}` : 'Waiting'}
          of={waiting}
          beside={(job) => <Stop job={job} onAsk={() => ask(job)} word="Take off…" />}
        >
          {({ reason }) => reason && <Prose>{reason}</Prose>}
        </Jobs>
      )}
      {failed.length > 0 && (
        <Jobs
          title={failed.length < counts.failed ? `The last ${failed.length} that failed` : 'Failed'}
          of={failed}
          beside={({ run }) => run && <ButtonLink href={`/runs/${run}`}>What to do</ButtonLink>}
        >
          {({ reason }) => <Prose>{reason ?? 'Without a reason.'}</Prose>}
        </Jobs>
      )}
      <StopDialog job={asked} onClose={() => ask(undefined)} />
    </div>
  );
}

function headline({ counts: { active, waiting, delayed, failed } }: Queue): string {
  const rest = waiting + delayed;
  if (active + rest > 0) return `${counted(active, 'run')} at work, ${number(rest)} waiting`;
  return failed > 0 ? `Nothing runs or waits; ${number(failed)} failed` : 'Nothing runs, waits or has failed';
}

function Jobs({
  title,
  of,
  beside,
  children,
}: {
  title: string;
  of: readonly Queued[];
  beside: (job: Queued) => ReactNode;
  children: (job: Queued) => ReactNode;
}) {
  return (
    <Card flush title={title}>
      <ul className="entries">
        {of.map((job) => (
          <li key={job.id}>
            <div className="stack tight grow">
              <div className="line">
                {job.run ? <Link href={`/runs/${job.run}`}>{nameOf(job)}</Link> : <strong>{nameOf(job)}</strong>}
                {job.file && <bdi className="soft wrap">{job.file}</bdi>}
                <span className="soft small">{when(job.at)}</span>
              </div>
              {children(job)}
            </div>
            {beside(job)}
          </li>
        ))}
      </ul>
    </Card>
  );
}

const nameOf = ({ kind, job }: Queued): string => (job === 'inline' ? kind : `${kind} ${job}`);

function Stop({ job: { run }, word, onAsk }: { job: Queued; word: string; onAsk: () => void }) {
  const mayNot = useWhyNot('operator');
  return (
    <Button icon="stop" why={mayNot ?? (run ? undefined : 'It has no run yet.')} onClick={onAsk}>
      {word}
    </Button>
  );
}

function StopDialog({ job, onClose }: { job: Queued | undefined; onClose: () => void }) {
  const queries = useQueryClient();
  const stop = useMutation({
    mutationFn: () => send('POST', `/runs/${job?.run}/stop`),
    onSuccess: onClose,
    onSettled: () => queries.invalidateQueries({ queryKey: queueQuery.queryKey }),
  });
  return (
    <Dialog
      open={job !== undefined}
      onClose={onClose}
      title={`Stop ${job ? nameOf(job) : ''}?`}
      footer={
        <>
          <Button onClick={onClose}>Let it run</Button>
          <Button look="danger" busy={stop.isPending} onClick={() => stop.mutate()}>
            Stop it
          </Button>
        </>
      }
    >
      <p>
        Requests in flight are finished, and what was written stays. Its reports say which rows were not reached;
        “Resume” goes on from there, and nothing is written twice. A run that waits is taken off the queue.
      </p>
      <Refused error={stop.error} />
    </Dialog>
  );
}
