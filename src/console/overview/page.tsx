import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Overview } from '../../api/schema.js';
import { FOUR } from '../../model/outcome.js';
import { Fault } from '../app/faults.js';
import { overviewQuery } from '../app/queries.js';
import { usePageTitle } from '../app/shell.js';
import { counted, day, number, oneDecimal, timeOfDay, when } from '../kit/format.js';
import { Badge, ButtonLink, Card, Empty, FOUR_LOOKS, Skeleton, sumOf } from '../kit/parts.js';
import { RunLines } from '../runs/list.js';
import './overview.css';

const LOOK_AGAIN_MS = 5_000;

/** What waits for the reader, what runs, what comes next, how the last weeks went. */
export default function OverviewPage() {
  usePageTitle('Overview');
  const { data, error } = useQuery({ ...overviewQuery, refetchInterval: LOOK_AGAIN_MS });
  if (error && !data) return <Fault error={error} page="Overview" />;
  return (
    <div className="stack overview">
      <div className="line wide">
        <h1 className="grow">{data ? firstLine(data) : 'Overview'}</h1>
        <ButtonLink look="primary" icon="import" href="/import">
          Import a file
        </ButtonLink>
      </div>
      {data ? <Told overview={data} /> : <Skeleton what="the overview" lines={8} />}
    </div>
  );
}

function firstLine({ needs_person: needed, running }: Overview): string {
  const at =
    running.length > 0 ? `${counted(running.length, 'run')} ${running.length === 1 ? 'is' : 'are'} at work` : '';
  if (needed.length === 0) return at ? `Nothing waits for you; ${at}.` : 'Nothing waits for you.';
  const waits = `${counted(needed.length, 'run')} ${needed.length === 1 ? 'waits' : 'wait'} for you`;
  return at ? `${waits}; ${at}.` : `${waits}.`;
}

function Told({ overview: { needs_person: needed, running, next, days, service } }: { overview: Overview }) {
  const some = days.some(({ outcomes }) => FOUR.some((four) => sumOf(outcomes, four) > 0));
  if (needed.length + running.length + next.length === 0 && !some) {
    return (
      <>
        <Card>
          <Empty title="Nothing has run in the last 30 days">
            <p>
              Drop a spreadsheet: you see what would be written before anything is, and you can take it back afterwards.
            </p>
            <ButtonLink href="/import" icon="import">
              Import a file
            </ButtonLink>
          </Empty>
        </Card>
        <Service service={service} />
      </>
    );
  }
  return (
    <>
      <Service service={service} />
      <div className="panes">
        <Card flush title="Waits for you">
          {needed.length === 0 ? (
            <p className="pad soft">Nothing. What needs you stands here.</p>
          ) : (
            <RunLines runs={needed} />
          )}
        </Card>
        <Card flush title="At work now">
          {running.length === 0 ? <p className="pad soft">Nothing runs.</p> : <RunLines runs={running} />}
        </Card>
        <Card flush title="Comes next">
          {next.length === 0 ? (
            <p className="pad soft">
              No job has a schedule. <Link href="/jobs">Jobs</Link> can have one.
            </p>
          ) : (
            <ul className="lines">
              {next.map(({ job, at }) => (
                <li key={`${job} ${at}`}>
                  <Link href={`/jobs/${encodeURIComponent(job)}`} className="grow cut">
                    <bdi>{job}</bdi>
                  </Link>
                  <time className="soft" dateTime={at}>
                    {when(at)}
                  </time>
                </li>
              ))}
            </ul>
          )}
        </Card>
      </div>
      <Days days={days} />
    </>
  );
}

/** The service's health in one line. */
function Service({ service: { ok, rate, waiting, paused_until: until } }: { service: Overview['service'] }) {
  const paused = until !== null && new Date(until) > new Date();
  return (
    <p className="line wide soft">
      {ok === null ? (
        <Badge tone="calm" icon="clock">
          The service was not asked yet
        </Badge>
      ) : ok ? (
        <Badge tone={paused ? 'warn' : 'good'} icon={paused ? 'clock' : 'check'}>
          {paused ? `The service asked for a pause until ${timeOfDay(until)}` : 'The service answers'}
        </Badge>
      ) : (
        <Badge tone="bad" icon="bad">
          The service does not answer
        </Badge>
      )}
      {rate !== null && <span>It bears {oneDecimal(rate)} requests a second</span>}
      {waiting > 0 && <span>{counted(waiting, 'request')} wait for their turn</span>}
    </p>
  );
}

/** A bar a day; the table below says the same in numbers. */
function Days({ days }: { days: Overview['days'] }) {
  const all = days.map(({ date, outcomes }) => ({
    date,
    parts: FOUR.map((four) => ({ four, rows: sumOf(outcomes, four) })),
  }));
  const sum = ({ parts }: (typeof all)[number]) => parts.reduce((n, { rows }) => n + rows, 0);
  const most = Math.max(...all.map(sum), 1);
  const total = all.reduce((n, one) => n + sum(one), 0);
  return (
    <Card
      title="The last 30 days"
      beside={
        <span className="line small">
          {FOUR.map((four) => (
            <span key={four} className={`line key ${FOUR_LOOKS[four].tone}`}>
              <i aria-hidden="true" />
              {WORDS[four]}
            </span>
          ))}
        </span>
      }
    >
      <div
        className="days"
        role="img"
        aria-label={`${counted(total, 'row')} in 30 days; the table below has each day.`}
      >
        <span className="most soft small">{number(most)}</span>
        {all.map((one) => (
          <div key={one.date} className="day" title={`${day(one.date)}: ${told(one.parts)}`}>
            {one.parts
              .filter(({ rows }) => rows > 0)
              .map(({ four, rows }) => (
                <i key={four} className={FOUR_LOOKS[four].tone} style={{ height: `${(rows / most) * 100}%` }} />
              ))}
          </div>
        ))}
      </div>
      <div className="ends soft small">
        <span>{all[0] && day(all[0].date)}</span>
        <span>today</span>
      </div>
      <details>
        <summary className="soft small">As a table</summary>
        <div className="scroll">
          <table>
            <thead>
              <tr>
                <th>Day</th>
                {FOUR.map((four) => (
                  <th key={four} className="num">
                    {WORDS[four]}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {all
                .filter((one) => sum(one) > 0)
                .map(({ date, parts }) => (
                  <tr key={date}>
                    <td>{day(date)}</td>
                    {parts.map(({ four, rows }) => (
                      <td key={four} className="num">
                        {number(rows)}
                      </td>
                    ))}
                  </tr>
                ))}
            </tbody>
          </table>
        </div>
      </details>
    </Card>
  );
}

const WORDS = { in: 'In', unchanged: 'Unchanged', to_correct: 'To correct', to_look_at: 'To look at' } as const;

function told(parts: readonly { readonly four: keyof typeof WORDS; readonly rows: number }[]): string {
  const some = parts
    .filter(({ rows }) => rows > 0)
    .map(({ four, rows }) => `${number(rows)} ${WORDS[four].toLowerCase()}`);
  return some.join(', ') || 'nothing';
}
