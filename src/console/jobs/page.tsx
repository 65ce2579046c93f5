import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Job } from '../../api/schema.js';
import { Fault } from '../app/faults.js';
import { jobsQuery } from '../app/queries.js';
import { usePageTitle } from '../app/shell.js';
import { counted, number, when } from '../kit/format.js';
import { Badge, ButtonLink, Card, Empty, Skeleton, StateBadge } from '../kit/parts.js';
import { JobPage } from './job.js';
import './jobs.css';
import { scheduleWords } from './schedule.js';

export default function Jobs({ name }: { name: string | undefined }) {
  usePageTitle(name ?? 'Jobs');
  return name === undefined ? <JobList /> : <JobPage name={name} />;
}

function JobList() {
  const { data, error } = useQuery(jobsQuery);
  if (error && !data) return <Fault error={error} />;
  if (!data) return <Skeleton what="the jobs" lines={8} />;
  const { jobs } = data;
  if (jobs.length === 0) {
    return (
      <Empty title="There is no job file yet">
        <p>
          A job says which column goes into which field. An import makes one from your file: it can be saved at its end.
        </p>
        <ButtonLink look="primary" icon="import" href="/import">
          Import a file
        </ButtonLink>
      </Empty>
    );
  }
  const wrong = jobs.filter(isWrong).length;
  return (
    <div className="stack jobs">
      <header className="line">
        <h1 className="grow">
          {wrong === 0
            ? `${counted(jobs.length, 'job')}, and each can run`
            : `${number(wrong)} of ${counted(jobs.length, 'job')} cannot run: the file has faults`}
        </h1>
        <ButtonLink icon="import" href="/import">
          New job from a file
        </ButtonLink>
      </header>
      <Card flush>
        <table>
          <thead>
            <tr>
              <th scope="col">Job</th>
              <th scope="col" className="broad">
                When
              </th>
              <th scope="col" className="broad">
                Drop folder
              </th>
              <th scope="col">Last run</th>
            </tr>
          </thead>
          <tbody>
            {[...jobs]
              .sort((a, b) => Number(isWrong(b)) - Number(isWrong(a)))
              .map((job) => (
                <JobRow key={job.name} job={job} />
              ))}
          </tbody>
        </table>
      </Card>
    </div>
  );
}

const isWrong = ({ problems }: Job): boolean => problems.some(({ severity }) => severity === 'error');

function JobRow({ job }: { job: Job }) {
  const { name, kind, resource, schedule, inbox, last, problems } = job;
  return (
    <tr>
      <th scope="row">
        <Link href={`/jobs/${encodeURIComponent(name)}`} className="wrap">
          {name}
        </Link>
        <div className="soft small">{kind === null ? 'cannot be read' : `${kind} of ${resource}s`}</div>
      </th>
      <td className="broad">
        {schedule ? scheduleWords(schedule.cron) : <span className="soft">when somebody starts it</span>}
        {schedule?.next && <div className="soft small">next {when(schedule.next)}</div>}
      </td>
      <td className="broad">
        {inbox && inbox.waiting > 0 ? `${counted(inbox.waiting, 'file')} waiting` : <span className="soft">–</span>}
      </td>
      <td>
        {isWrong(job) ? (
          <Badge tone="bad" icon="bad">
            {counted(problems.filter(({ severity }) => severity === 'error').length, 'fault')}
          </Badge>
        ) : last ? (
          <Link href={`/runs/${last.id}`} className="line">
            <StateBadge state={last.status} /> <span className="broad">{when(last.started_at)}</span>
          </Link>
        ) : (
          <span className="soft">none yet</span>
        )}
      </td>
    </tr>
  );
}
