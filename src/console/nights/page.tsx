import { useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'wouter';
import type { Job, Night } from '../../api/schema.js';
import { PagePending } from '../app/faults.js';
import { every, jobsQuery, nightsQuery } from '../app/queries.js';
import { usePageTitle } from '../app/shell.js';
import { JobTable } from '../jobs/page.js';
import { Bars } from '../kit/bars.js';
import { counted, number, shortDay, when } from '../kit/format.js';
import { Badge, ButtonLink, Card, Empty } from '../kit/parts.js';
import { StateBadge } from '../runs/outcomes.js';
import { RunPanel } from '../runs/run.js';

export default function Nights({ id: job }: { id: string | undefined }) {
  usePageTitle('Nights');
  const { data, error } = useQuery({ ...jobsQuery, enabled: job === undefined });
  if (job !== undefined) return <JobNights job={job} />;
  if (!data) return <PagePending page="Nights" error={error} />;
  const jobs = data.jobs.filter(({ kind }) => kind === 'reconcile');
  const [first, ...more] = jobs;
  if (!first) {
    return (
      <Empty page title="No job compares a file with the service">
        <p>
          A job of the kind <code>reconcile</code> holds a full file against the service every night, and says what
          differs before anything is put right.
        </p>
        <ButtonLink href="/jobs" word="To the jobs" />
      </Empty>
    );
  }
  return more.length === 0 ? <JobNights job={first.name} /> : <NightlyJobs jobs={jobs} />;
}

/** More than one: which of them waits for somebody. */
function NightlyJobs({ jobs }: { jobs: readonly Job[] }) {
  const stopped = jobs.filter(({ last }) => last && isStopped(last)).length;
  return (
    <div className="stack">
      <h1>
        {stopped === 0
          ? `${counted(jobs.length, 'job')}, and none was stopped in its last night`
          : `The last night of ${number(stopped)} of ${counted(jobs.length, 'job')} was stopped, and waits for you`}
      </h1>
      <JobTable jobs={jobs} at="/nights" />
    </div>
  );
}

/** A job's nights side by side, and the chosen one as its run tells it. */
function JobNights({ job }: { job: string }) {
  // The present one ends while somebody looks, and another one may begin.
  const { data, error } = useQuery({ ...nightsQuery(job), refetchInterval: every() });
  const [params] = useSearchParams();
  if (!data) return <PagePending page={`Nights of ${job}`} error={error} />;
  const nights = data.nights.toReversed();
  const night = nights.find(({ run }) => run === params.get('run')) ?? nights.at(-1);
  if (!night) {
    return (
      <Empty page title={`${job} has had no night yet`}>
        <p>It runs at its time, or when a file is put into its drop folder. Then its nights stand here side by side.</p>
        <ButtonLink href={`/jobs/${encodeURIComponent(job)}`} word="To the job" />
      </Empty>
    );
  }
  const where = (
    <>
      <Link href="/nights">Nights</Link> / <Link href={`/jobs/${encodeURIComponent(job)}`}>{job}</Link>
      {night.approved_by && <Badge tone="good" icon="people" word={`Let through by ${night.approved_by}`} />}
    </>
  );
  return (
    <RunPanel id={night.run} title={`Nights of ${job}`} where={where}>
      <Chart nights={nights} chosen={night} />
    </RunPanel>
  );
}

const hrefOf = ({ run }: Night) => `?run=${run}`;
const isStopped = ({ status }: Pick<Night, 'status'>) => status === 'braked' || status === 'failed';
const tone = (night: Night) => (isStopped(night) ? 'bad' : 'info');

function Chart({ nights, chosen }: { nights: readonly Night[]; chosen: Night }) {
  return (
    <Card title={nights.length === 1 ? 'The one night so far' : `The last ${nights.length} nights`}>
      <Bars
        label="Nights"
        all={nights}
        keyOf={({ run }) => run}
        nameOf={({ started_at }) => shortDay(started_at)}
        chosen={chosen}
        hrefOf={hrefOf}
        markOf={(night) => (isStopped(night) ? '×' : '')}
        columns={[
          { head: 'Night', of: (night) => <Link href={hrefOf(night)}>{when(night.started_at)}</Link> },
          { head: 'How it ended', of: (night) => <StateBadge run={night} /> },
        ]}
        series={[
          { head: 'Rows', of: ({ rows }) => rows, tone },
          { head: 'Differences', of: ({ differences }) => differences, tone },
          { head: 'New orphans', of: ({ new_orphans }) => new_orphans, tone },
        ]}
      />
      {nights.some(isStopped) && (
        <p className="soft small" aria-hidden="true">
          <span className="toned bad">× red</span>: stopped by a brake, or failed
        </p>
      )}
    </Card>
  );
}
