import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Queue } from '../../api/schema.js';
import { Fault } from '../app/faults.js';
import { queueQuery, runQuery } from '../app/queries.js';
import { usePageTitle } from '../app/shell.js';
import { counted, number, timeOfDay, when } from '../kit/format.js';
import { ButtonLink, Card, Notice, OutcomeBar, Prose, Skeleton } from '../kit/parts.js';
import { Figures } from '../kit/plan.js';
import { VerbButton } from '../runs/actions.js';

type Queued = Queue['active'][number];
const LOOK_MS = 2_000;

export default function QueuePage() {
  usePageTitle('Queue');
  const { data, error, dataUpdatedAt } = useQuery({
    ...queueQuery,
    // What could not be shown yet is asked for again by its button: else the page would blink.
    refetchInterval: ({ state }) => state.data !== undefined && LOOK_MS,
  });
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
        <Jobs title="At work" of={active} beside={({ run }) => run && <Stop run={run} />}>
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
          beside={({ run }) => run && <ButtonLink href={`/runs/${run}`}>Look at it</ButtonLink>}
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

/** What it will do stands before it is done. */
function Stop({ run: id }: { run: string }) {
  const { data: run } = useQuery(runQuery(id));
  return run ? <VerbButton run={run} verb="stop" progress={run.progress} /> : null;
}
