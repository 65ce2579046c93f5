import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useMemo, useState } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { Job, Night } from '../../api/schema.js';
import type { Summary } from '../../report/summary.js';
import { headline } from '../../report/words.js';
import { Fault, Refused } from '../app/faults.js';
import { jobsQuery, nightsQuery, planQuery, runQuery } from '../app/queries.js';
import { usePageTitle } from '../app/shell.js';
import { counted, exactly, number, when } from '../kit/format.js';
import { Badge, ButtonLink, Card, Empty, Notice, Prose, Skeleton, StateBadge, stateWord } from '../kit/parts.js';
import { Brakes, FieldChanges, Figures } from '../kit/plan.js';
import { LetThrough } from './approve.js';
import './nights.css';
import { Orphans } from './orphans.js';
import { FIGURES, nightDay, nightLine } from './words.js';

const Chart = lazy(() => import('./chart.js'));

export default function Nights({ job }: { job: string | undefined }) {
  usePageTitle(job === undefined ? 'Nights' : `Nights of ${job}`);
  const { data, error } = useQuery({ ...jobsQuery, enabled: job === undefined });
  if (job !== undefined) return <NightsOf job={job} />;
  if (error) return <Fault error={error} />;
  if (!data) return <Skeleton what="the jobs" lines={6} />;
  const jobs = data.jobs.filter(({ kind }) => kind === 'reconcile');
  const [only] = jobs;
  if (!only) {
    return (
      <Empty title="No job compares a file with the service">
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
        <table>
          <thead>
            <tr>
              <th scope="col">Job</th>
              <th scope="col">Last night</th>
              <th scope="col" className="broad">
                Next
              </th>
            </tr>
          </thead>
          <tbody>
            {jobs.map(({ name, last, schedule }) => (
              <tr key={name}>
                <th scope="row">
                  <Link href={`/nights/${encodeURIComponent(name)}`}>{name}</Link>
                </th>
                <td>
                  {last ? (
                    <span className="line">
                      <StateBadge state={last.status} /> {when(last.started_at)}
                    </span>
                  ) : (
                    <span className="soft">It has not run yet</span>
                  )}
                </td>
                <td className="broad">
                  {schedule?.next ? when(schedule.next) : <span className="soft">No schedule</span>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Card>
    </div>
  );
}

function NightsOf({ job }: { job: string }) {
  const { data, error } = useQuery(nightsQuery(job));
  const [params, setParams] = useSearchParams();
  const [pointed, point] = useState<number | null>(null);
  const nights = useMemo(
    () => [...(data?.nights ?? [])].sort((a, b) => (a.started_at < b.started_at ? -1 : 1)),
    [data],
  );
  if (error && !data) return <Fault error={error} />;
  if (!data) return <Skeleton what="the nights" lines={8} />;
  if (nights.length === 0) {
    return (
      <Empty title={`${job} has had no night yet`}>
        <p>It runs at its time, or when a file is put into its drop folder. Then its nights stand here side by side.</p>
        <ButtonLink href={`/jobs/${encodeURIComponent(job)}`}>To the job</ButtonLink>
      </Empty>
    );
  }
  const asked = nights.findIndex(({ run }) => run === params.get('run'));
  const chosen = asked < 0 ? nights.length - 1 : asked;
  const night = nights[chosen]!;
  const shown = nights[pointed ?? chosen] ?? night;
  const choose = (at: number) => {
    const { run } = nights[at] ?? night;
    setParams({ run }, { replace: true });
  };
  return (
    <div className="stack nights">
      <ChosenNight key={night.run} night={night} job={job} />
      <Card
        title={nights.length === 1 ? `The one night of ${job}` : `The last ${nights.length} nights of ${job}`}
        beside={
          <nav className="line" aria-label="Nights before and after">
            <Step to={nights[chosen - 1]} word="Earlier" icon="back" />
            <Step to={nights[chosen + 1]} word="Later" icon="next" />
          </nav>
        }
      >
        <div className="chart">
          <ul aria-hidden="true">
            {FIGURES.map(({ what, of }) => (
              <li key={what}>
                <strong>{number(of(shown))}</strong>
                <span className="soft">{what}</span>
              </li>
            ))}
          </ul>
          <Suspense fallback={<Skeleton what="the chart" lines={8} />}>
            <Chart nights={nights} chosen={chosen} onChoose={choose} onPoint={point} />
          </Suspense>
        </div>
        <p className="line wide small soft">
          <span>
            {nightDay(shown)}: {stateWord(shown.status)}
          </span>
          <span>
            <span className="toned bad" aria-hidden="true">
              ×
            </span>{' '}
            red: stopped by a brake
          </span>
        </p>
        <details>
          <summary>The same as a table</summary>
          <Table nights={nights} chosen={night.run} />
        </details>
      </Card>
    </div>
  );
}

function Step({ to, word, icon }: { to: Night | undefined; word: string; icon: 'back' | 'next' }) {
  if (!to) return null;
  return (
    <ButtonLink look="quiet" icon={icon} href={`?run=${to.run}`}>
      {word}: {nightDay(to)}
    </ButtonLink>
  );
}

/** The latest first. */
function Table({ nights, chosen }: { nights: readonly Night[]; chosen: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled with the keyboard
    <section className="scroll low" tabIndex={0} aria-label="Nights">
      <table>
        <thead>
          <tr>
            <th scope="col">Night</th>
            <th scope="col">How it ended</th>
            {FIGURES.map(({ what }) => (
              <th key={what} scope="col" className="num">
                {what}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {nights.toReversed().map((night) => (
            <tr key={night.run}>
              <th scope="row">
                <Link href={`?run=${night.run}`} aria-current={night.run === chosen ? 'true' : undefined}>
                  {when(night.started_at)}
                </Link>
              </th>
              <td>
                <StateBadge state={night.status} />
              </td>
              {FIGURES.map(({ what, of }) => (
                <td key={what} className="num">
                  {number(of(night))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** One night: what became of it, why it stopped, what it would change. */
function ChosenNight({ night, job }: { night: Night; job: string }) {
  const { data: run, error } = useQuery(runQuery(night.run));
  const { data: plan, error: noPlan } = useQuery({ ...planQuery(night.run), enabled: run?.here === true });
  const summary = run?.summary as unknown as Summary | null | undefined;
  const facts = summary?.reconcile;
  const braked = night.status === 'braked';
  const would = braked || !night.apply;
  const tripped = plan?.brakes.filter((brake) => brake.tripped) ?? [];
  return (
    <>
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
        <h1>
          {summary ? headline(summary) : error || run ? nightLine(night) : <Skeleton what="the night" lines={1} />}
        </h1>
      </div>
      {braked && (
        <Card title="Why it stopped" className="stopped">
          <div className="stack">
            {tripped.length > 0 ? (
              <Brakes of={tripped} />
            ) : (
              night.reason && (
                <p>
                  <Prose>{night.reason}</Prose>
                </p>
              )
            )}
            {run && !night.approved_by && (
              <div className="line wide">
                <LetThrough run={run} plan={plan} />
                <span className="soft">
                  Or leave it: nothing is written, and the next night compares everything anew.
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
            { n: night.put_right, what: would ? 'would be put right' : 'put right', tone: 'good', icon: 'check' },
            { n: night.created, what: would ? 'would be created' : 'created', tone: 'good', icon: 'check' },
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
      {facts && facts.orphans.total > 0 && <Orphans run={night.run} orphans={facts.orphans} />}
    </>
  );
}
