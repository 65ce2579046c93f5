import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Overview, Run } from '../../api/schema.js';
import { OUTCOME_GROUPS } from '../../model/outcome.js';
import { PagePending } from '../app/faults.js';
import { every, overviewQuery } from '../app/queries.js';
import { usePageTitle } from '../app/shell.js';
import { Bars } from '../kit/bars.js';
import { counted, day, oneDecimal, timeOfDay } from '../kit/format.js';
import { Badge, ButtonLink, Card, Empty, Moment, NameLink } from '../kit/parts.js';
import { RunTable } from '../runs/list.js';
import { FOUR, sumOf } from '../runs/outcomes.js';

export default function OverviewPage() {
  usePageTitle('Overview');
  const { data, error } = useQuery({ ...overviewQuery, refetchInterval: every() });
  if (!data) return <PagePending page="Overview" error={error} />;
  const { needs_person: needed, running, next, days, service } = data;
  const hasRows = days.some(({ outcomes }) => OUTCOME_GROUPS.some((four) => sumOf(outcomes, four) > 0));
  return (
    <div className="stack overview">
      <div className="line wide">
        <h1 className="grow">{overviewHeadline(data)}</h1>
        <ButtonLink look="primary" icon="import" href="/import" word="Import a file" />
      </div>
      <Service service={service} />
      {needed.length + running.length + next.length === 0 && !hasRows ? (
        <Card>
          <Empty title="Nothing has run in the last 30 days">
            <p>
              Drop a spreadsheet: you see what would be written before anything is, and you can take it back afterwards.
            </p>
          </Empty>
        </Card>
      ) : (
        <>
          <div className="beside">
            <Pane title="Waits for you" runs={needed} none="Nothing. What needs you stands here." />
            <div className="stack">
              <Pane title="At work now" runs={running} none="Nothing runs." />
              <Card flush title="Comes next">
                {next.length === 0 ? (
                  <p className="pad soft">
                    No job has a schedule. <Link href="/jobs">Jobs</Link> can have one.
                  </p>
                ) : (
                  <ul className="entries">
                    {next.map(({ job, at }) => (
                      <li key={`${job} ${at}`}>
                        <NameLink href={`/jobs/${encodeURIComponent(job)}`}>{job}</NameLink>
                        <Moment at={at} />
                      </li>
                    ))}
                  </ul>
                )}
              </Card>
            </div>
          </div>
          <Days days={days} />
        </>
      )}
    </div>
  );
}

function Service({ service }: Pick<Overview, 'service'>) {
  const { ok, rate, waiting, paused_until: until } = service;
  const [tone, icon, text] =
    ok === null
      ? (['calm', 'clock', 'The service was not asked yet'] as const)
      : !ok
        ? (['bad', 'bad', 'The service does not answer'] as const)
        : until !== null && new Date(until) > new Date()
          ? (['warn', 'clock', `The service asked for a pause until ${timeOfDay(until)}`] as const)
          : (['good', 'check', 'The service answered when last asked'] as const);
  return (
    <p className="line wide soft">
      <Badge tone={tone} icon={icon} word={text} />
      {rate !== null && <span>It bears {oneDecimal(rate)} requests a second</span>}
      {waiting > 0 && <span>{counted(waiting, 'request waits for its turn', 'requests wait for their turn')}</span>}
    </p>
  );
}

function Pane({ title, runs, none }: { title: string; runs: readonly Run[]; none: string }) {
  return (
    <Card flush title={title}>
      {runs.length === 0 ? <p className="pad soft">{none}</p> : <RunTable label={`Runs: ${title}`} runs={runs} />}
    </Card>
  );
}

function overviewHeadline({ needs_person: needed, running }: Overview): string {
  const waits =
    needed.length === 0 ? 'Nothing waits for you' : counted(needed.length, 'run waits for you', 'runs wait for you');
  return running.length === 0 ? `${waits}.` : `${waits}; ${counted(running.length, 'run is', 'runs are')} at work.`;
}

function Days({ days }: { days: Overview['days'] }) {
  return (
    <Card
      title="The last 30 days"
      beside={
        <span className="line small">
          {OUTCOME_GROUPS.map((four) => (
            <span key={four} className={`line legend ${FOUR[four].tone}`}>
              <i aria-hidden="true" />
              {FOUR[four].word}
            </span>
          ))}
        </span>
      }
    >
      <Bars
        stacked
        label="Rows of each day"
        all={days}
        keyOf={({ date }) => date}
        nameOf={({ date }) => day(date)}
        columns={[{ head: 'Day', of: ({ date }) => day(date) }]}
        series={OUTCOME_GROUPS.map((four) => ({
          head: FOUR[four].word,
          of: ({ outcomes }: Overview['days'][number]) => sumOf(outcomes, four),
          tone: () => FOUR[four].tone,
        }))}
      />
    </Card>
  );
}
