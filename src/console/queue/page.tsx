import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Queue } from '../../api/schema.js';
import { ConnectionLost, PagePending } from '../app/faults.js';
import { every, queueQuery, runQuery } from '../app/queries.js';
import { usePageTitle } from '../app/shell.js';
import { counted, joinParts, number, when } from '../kit/format.js';
import { ButtonLink, Card, Notice, Prose } from '../kit/parts.js';
import { VerbButton } from '../runs/actions.js';
import { OutcomeBar } from '../runs/outcomes.js';
import { Figure } from '../runs/plan.js';
import { progressText } from '../runs/words.js';

type Queued = Queue['active'][number];
const POLL_MS = 2_000;

export default function QueuePage() {
  usePageTitle('Queue');
  const { data, error, dataUpdatedAt } = useQuery({ ...queueQuery, refetchInterval: every(POLL_MS) });
  if (!data) return <PagePending page="Queue" error={error} />;
  const { counts, workers, active, waiting, failed } = data;
  const rest = counts.waiting + counts.delayed;
  return (
    <div className="stack">
      <header className="stack tight">
        <h1>{headline(data)}</h1>
        <p className="soft wrap">{data.address}</p>
      </header>
      {error && <ConnectionLost lastSeen={new Date(dataUpdatedAt)} />}
      {workers === 0 && rest > 0 && (
        <Notice tone="bad" title="Nobody works on this queue">
          <p>
            What waits begins once a worker runs: start one with <code>rowferry worker</code>.
          </p>
        </Notice>
      )}
      <Card>
        <dl className="tiles">
          <Figure n={counts.active} what="at work" tone="info" />
          <Figure n={counts.waiting} what="waiting" />
          <Figure n={counts.delayed} what="for later" tone="warn" />
          <Figure n={counts.failed} what="failed" tone="bad" />
          <Figure n={counts.completed} what="done" />
          <Figure n={workers} what={workers === 1 ? 'worker' : 'workers'} />
        </dl>
      </Card>
      <QueueJobs title="At work" of={active} total={counts.active} />
      <QueueJobs title="Waiting" of={waiting} total={rest} word="Look at it" />
      <QueueJobs title="Failed" of={failed} total={counts.failed} word="What to do" />
    </div>
  );
}

function headline({ counts: { active, waiting, delayed, failed } }: Queue): string {
  const rest = waiting + delayed;
  if (active + rest > 0)
    return joinParts(
      `${counted(active, 'run')} at work`,
      `${number(waiting)} waiting`,
      delayed > 0 && `${number(delayed)} for later`,
    );
  return failed > 0 ? `Nothing runs or waits; ${number(failed)} failed` : 'Nothing runs, waits or has failed';
}

/** `of`: the first of them. `word`: of the way to its run; without one it can be stopped here. */
function QueueJobs({ title, of, total, word }: { title: string; of: readonly Queued[]; total: number; word?: string }) {
  if (of.length === 0) return null;
  return (
    <Card flush title={of.length < total ? `${title}: ${number(of.length)} of ${number(total)}` : title}>
      <ul className="entries">
        {of.map((job) => (
          <li key={job.id}>
            <div className="stack tight grow wrap">
              <div className="line">
                {job.run ? <Link href={`/runs/${job.run}`}>{jobLabel(job)}</Link> : <strong>{jobLabel(job)}</strong>}
                {job.file && <bdi className="soft wrap">{job.file}</bdi>}
                <span className="soft small">{when(job.at)}</span>
              </div>
              {job.progress && !word && (
                <>
                  <span>{progressText(job.progress)}</span>
                  <OutcomeBar counts={job.progress.outcomes} total={job.progress.total} />
                </>
              )}
              {job.reason && <Prose as="p">{job.reason}</Prose>}
            </div>
            {job.run && (word ? <ButtonLink href={`/runs/${job.run}`} word={word} /> : <StopControl id={job.run} />)}
          </li>
        ))}
      </ul>
    </Card>
  );
}

const jobLabel = ({ kind, job }: Queued): string => (job === 'inline' ? kind : `${kind} ${job}`);

/** Which worker has it, and a stop: what that will do stands before it is done. */
function StopControl({ id }: { id: string }) {
  const { data: run } = useQuery(runQuery(id));
  if (!run) return null;
  return (
    <div className="line">
      {run.host && <span className="soft">on {run.host}</span>}
      <VerbButton run={run} verb="stop" />
    </div>
  );
}
