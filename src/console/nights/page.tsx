import { useQuery } from '@tanstack/react-query';
import { Link, useSearchParams } from 'wouter';
import type { Job, Night } from '../../api/schema.js';
import { NotThere, Refused } from '../app/faults.js';
import { jobsQuery, nightsQuery, planQuery, runQuery, useWhyNot } from '../app/queries.js';
import { usePageTitle } from '../app/shell.js';
import { counted, exactly, number, when } from '../kit/format.js';
import { Badge, ButtonLink, Card, Empty, Notice, Prose, StateBadge, stateWord } from '../kit/parts.js';
import { Table } from '../kit/table.js';
import { VerbButton } from '../runs/actions.js';
import { Brakes, FieldChanges, Figures } from '../runs/plan.js';
import { firstLine, summaryOf } from '../runs/words.js';
import { Chart } from './chart.js';
import './nights.css';
import { Orphans } from './orphans.js';

export default function Nights({ job }: { job: string | undefined }) {
  usePageTitle(job === undefined ? 'Nights' : `Nights of ${job}`);
  const { data, error } = useQuery({ ...jobsQuery, enabled: job === undefined });
  if (job !== undefined) return <NightsOf job={job} />;
  if (!data) return <NotThere page="Nights" error={error} />;
  const jobs = data.jobs.filter(({ kind }) => kind === 'reconcile');
  const [only] = jobs;
  if (!only) {
    return (
      <Empty page title="No job compares a file with the service">
        <p>
          A job of the kind <code>reconcile</code> holds a full file against the service every night, and says what
          differs before anything is put right.
        </p>
        <ButtonLink href="/jobs">To the jobs</ButtonLink>
      </Empty>
    );
  }
  return jobs.length === 1 ? <NightsOf job={only.name} /> : <NightlyJobs jobs={jobs} />;
}

/** More than one: which of them waits for somebody. */
function NightlyJobs({ jobs }: { jobs: readonly Job[] }) {
  const stopped = jobs.filter(({ last }) => last?.status === 'braked').length;
  return (
    <div className="stack">
      <h1>
        {stopped === 0
          ? `No brake stopped the last night of the ${counted(jobs.length, 'job')}`
          : `The last night of ${number(stopped)} of ${counted(jobs.length, 'job')} was stopped, and waits for you`}
      </h1>
      <Card flush>
        <Table
          label="Jobs"
          rows={jobs}
          keyOf={({ name }) => name}
          columns={[
            { head: 'Job', of: ({ name }) => <Link href={`/nights/${encodeURIComponent(name)}`}>{name}</Link> },
            { head: 'Last night', of: ({ last }) => (last ? <StateBadge state={last.status} /> : 'none yet') },
            { head: 'Began', broad: true, of: ({ last }) => last && when(last.started_at) },
            { head: 'Next', broad: true, of: ({ schedule }) => (schedule?.next ? when(schedule.next) : 'no schedule') },
          ]}
        />
      </Card>
    </div>
  );
}

function NightsOf({ job }: { job: string }) {
  const { data, error } = useQuery(nightsQuery(job));
  const [params] = useSearchParams();
  if (!data) return <NotThere page={`Nights of ${job}`} error={error} />;
  const nights = data.nights.toReversed();
  const night = nights.find(({ run }) => run === params.get('run')) ?? nights.at(-1);
  if (!night) {
    return (
      <Empty page title={`${job} has had no night yet`}>
        <p>It runs at its time, or when a file is put into its drop folder. Then its nights stand here side by side.</p>
        <ButtonLink href={`/jobs/${encodeURIComponent(job)}`}>To the job</ButtonLink>
      </Empty>
    );
  }
  return <ChosenNight night={night} nights={nights} job={job} />;
}

const GOOD = { tone: 'good', icon: 'check' } as const;

/** One night: what became of it, why it stopped, what it would change. */
function ChosenNight({ night, nights, job }: { night: Night; nights: readonly Night[]; job: string }) {
  const { data: run, error } = useQuery(runQuery(night.run));
  const { data: plan, error: noPlan } = useQuery({ ...planQuery(night.run), enabled: run?.here === true });
  const facts = run && summaryOf(run)?.reconcile;
  const braked = night.status === 'braked';
  const would = braked || !night.apply;
  const tripped = plan?.brakes.filter((brake) => brake.tripped) ?? [];
  const mayNot = useWhyNot('approver');
  return (
    <div className="stack nights">
      <div className="stack tight">
        <div className="line">
          <StateBadge state={night.status} />
          {!night.apply && <Badge tone="calm">Only reported</Badge>}
          {night.approved_by && (
            <Badge tone="good" icon="people">
              Let through by {night.approved_by}
            </Badge>
          )}
          <span className="soft" title={exactly(night.started_at)}>
            {job}, {when(night.started_at)}
          </span>
          <Link href={`/runs/${night.run}`}>The run with all its rows</Link>
        </div>
        <h1>{run ? firstLine(run, run.progress) : error ? (night.reason ?? stateWord(night.status)) : '…'}</h1>
      </div>
      <Chart nights={nights} chosen={night} />
      {braked && (
        <Card title="Why it stopped" className="stopped">
          <div className="stack">
            {tripped.length > 0 ? <Brakes of={tripped} /> : <Prose>{night.reason ?? ''}</Prose>}
            {run && (
              <div className="line wide">
                <VerbButton run={run} verb="approve" look="primary" />
                <span className="soft">
                  {mayNot ??
                    run.actions.approve.why ??
                    'Or leave it: nothing is written, and the next night compares everything anew.'}
                </span>
              </div>
            )}
          </div>
        </Card>
      )}
      <Card>
        <Figures
          of={[
            { n: night.rows, what: 'rows in the file' },
            { n: night.differences, what: 'rows that differ' },
            {
              n: would ? (plan?.updated ?? 0) : night.put_right,
              what: would ? 'would be put right' : 'put right',
              ...GOOD,
            },
            { n: would ? (plan?.created ?? 0) : night.created, what: would ? 'would be created' : 'created', ...GOOD },
            { n: night.orphans, what: 'not in the file' },
            { n: night.new_orphans, what: 'of them new', tone: 'warn', icon: 'look' },
          ]}
        />
      </Card>
      {run?.here === false && (
        <Notice tone="info" title="Its rows and reports lie in the data folder of another worker" />
      )}
      <Refused error={error ?? noPlan} />
      {plan && plan.fields.length > 0 && (
        <Card flush title={would ? 'What would change, by field' : 'What changed, by field'}>
          <FieldChanges of={plan.fields} run={night.run} />
        </Card>
      )}
      {facts && facts.orphans.total > 0 && <Orphans key={night.run} run={night.run} orphans={facts.orphans} />}
    </div>
  );
}
