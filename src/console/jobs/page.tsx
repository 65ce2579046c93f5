import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Job } from '../../api/schema.js';
import { PagePending } from '../app/faults.js';
import { jobsQuery } from '../app/queries.js';
import { usePageTitle } from '../app/shell.js';
import { counted, number, when } from '../kit/format.js';
import { Badge, ButtonLink, Card, Empty, NameLink } from '../kit/parts.js';
import { Table } from '../kit/table.js';
import { StateBadge } from '../runs/outcomes.js';
import { JobPage } from './job.js';
import './jobs.css';

export default function Jobs({ id: name }: { id: string | undefined }) {
  usePageTitle(name ?? 'Jobs');
  return name === undefined ? <JobList /> : <JobPage name={name} />;
}

function JobList() {
  const { data, error } = useQuery(jobsQuery);
  if (!data) return <PagePending page="Jobs" error={error} />;
  const { jobs } = data;
  if (jobs.length === 0) {
    return (
      <Empty page title="There is no job file yet">
        <p>
          A job says which column goes into which field. An import makes one from your file: it can be saved at its end.
        </p>
        <ButtonLink look="primary" icon="import" href="/import" word="Import a file" />
      </Empty>
    );
  }
  const wrong = jobs.filter((job) => faultsOf(job) > 0).length;
  return (
    <div className="stack">
      <header className="line">
        <h1 className="grow">
          {wrong === 0
            ? `${counted(jobs.length, 'job')}, and each can run`
            : `${number(wrong)} of ${counted(jobs.length, 'job')} cannot run: the file has faults`}
        </h1>
        <ButtonLink icon="import" href="/import" word="New job from a file" />
      </header>
      <JobTable jobs={[...jobs].sort((a, b) => Math.sign(faultsOf(b)) - Math.sign(faultsOf(a)))} at="/jobs" />
    </div>
  );
}

/** `at`: where the name of a job leads, below which its own page is. */
export function JobTable({ jobs, at }: { jobs: readonly Job[]; at: '/jobs' | '/nights' }) {
  return (
    <Card flush>
      <Table
        label="Jobs"
        rows={jobs}
        keyOf={({ name }) => name}
        columns={[
          { head: 'Job', of: ({ name }) => <NameLink href={`${at}/${encodeURIComponent(name)}`}>{name}</NameLink> },
          {
            head: 'What',
            broad: true,
            of: ({ kind, resource }) => (
              <span className="soft">{kind === null ? 'cannot be read' : `${kind}, ${resource}`}</span>
            ),
          },
          {
            head: 'When',
            broad: true,
            of: ({ schedule }) =>
              schedule ? <code>{schedule.cron}</code> : <span className="soft">when somebody starts it</span>,
          },
          { head: 'Next', broad: true, of: ({ schedule }) => schedule?.next && when(schedule.next) },
          { head: 'Files waiting', broad: true, num: true, of: ({ inbox }) => inbox && number(inbox.waiting) },
          { head: 'Last run', of: lastOf },
        ]}
      />
    </Card>
  );
}

const faultsOf = ({ problems }: Job): number => problems.filter(({ severity }) => severity === 'error').length;

function lastOf(job: Job) {
  const faults = faultsOf(job);
  if (faults > 0) return <Badge tone="bad" icon="bad" word={counted(faults, 'fault')} />;
  if (!job.last) return 'none yet';
  return (
    <Link href={`/runs/${job.last.id}`} className="name line">
      <StateBadge run={job.last} /> <span className="broad soft">{when(job.last.started_at)}</span>
    </Link>
  );
}
