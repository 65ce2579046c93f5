import { type Query, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { RunDetail, RunProgress } from '../../api/schema.js';
import { FOUR, type Four } from '../../model/outcome.js';
import { addressOf } from '../app/client.js';
import { type RunEvents, useRunEvents } from '../app/events.js';
import { ConnectionLost, Fault } from '../app/faults.js';
import { planQuery, runQuery } from '../app/queries.js';
import { usePageTitle } from '../app/shell.js';
import { exactly, number, when } from '../kit/format.js';
import { Icon } from '../kit/icons.js';
import {
  Badge,
  ButtonLink,
  Card,
  FOUR_LOOKS,
  Notice,
  OutcomeBar,
  Prose,
  Skeleton,
  StateBadge,
  sumOf,
} from '../kit/parts.js';
import { Actions, VerbButton } from './actions.js';
import { PlanView } from './plan.js';
import { Rows } from './rows.js';
import { StoryPanel } from './story.js';
import { Timeline } from './timeline.js';
import { firstLine, fourWord, kindWord, nextSteps, summaryOf } from './words.js';
import './runs.css';

const LOOK_AGAIN_MS = 5_000;
const ENDED: ReadonlySet<string> = new Set(['succeeded', 'partial']);

/** A run, told from top to bottom: how it stands, what to do, how it went, its rows. */
export default function RunPage({ id }: { id: string }) {
  const { data: run, error } = useQuery({
    ...runQuery(id),
    // Events tell of a run at work; this is for what they may have missed, and for what somebody else takes up again.
    refetchInterval: ({ state: { data } }) => (data && ENDED.has(data.status) ? false : LOOK_AGAIN_MS),
  });
  const status = run?.status;
  const queries = useQueryClient();
  useEffect(() => {
    const belongs = ({ queryKey }: Query) => queryKey.length > runQuery(id).queryKey.length;
    if (status) void queries.invalidateQueries({ queryKey: ['runs', id], predicate: belongs });
  }, [queries, id, status]);
  const events = useRunEvents(run?.id ?? id, run !== undefined && isLive(run));
  usePageTitle(run ? run.file || run.job : 'Run');
  if (error && !run) return <Fault error={error} page="Run" />;
  if (!run) {
    return (
      <div className="stack">
        <h1>Run</h1>
        <Skeleton what="the run" lines={8} />
      </div>
    );
  }
  return <Told run={run} events={events} />;
}

export function isLive({ status }: Pick<RunDetail, 'status'>): boolean {
  return status === 'running' || status === 'waiting';
}

function Told({ run, events }: { run: RunDetail; events: RunEvents }) {
  const live = isLive(run);
  const progress = live ? (events.progress ?? run.progress) : null;
  const counts = progress?.outcomes ?? run.outcomes;
  const total = progress?.total ?? run.rows;
  const steps = nextSteps(run);
  const summary = summaryOf(run);
  const [params] = useSearchParams();
  const rows = run.here && run.kind !== 'export' && run.status !== 'waiting';
  const open = rows ? Number(params.get('row')) || undefined : undefined;
  const planned = run.kind !== 'export' && run.here && (run.dry_run || run.status === 'braked');
  return (
    <div className="stack run">
      <div className="stack tight">
        <nav className="soft small" aria-label="Where this is">
          <Link href="/runs">Runs</Link> / <bdi>{run.job}</bdi>
        </nav>
        <h1 aria-live="polite">{firstLine(run, progress)}</h1>
        <Meta run={run} />
      </div>
      {live && <ConnectionLost events={events} />}
      {run.reason && !live && (
        <Notice tone={run.status === 'braked' || run.status === 'failed' ? 'bad' : 'warn'} title={reasonTitle(run)}>
          <p>
            <Prose>{run.reason}</Prose>
          </p>
        </Notice>
      )}
      {counts && run.kind !== 'export' && <Figures run={run} counts={counts} total={total} />}
      <div className={open ? 'beside open' : 'beside'}>
        <div className="stack">
          {(steps.length > 0 || (summary && run.kind !== 'export')) && <Next run={run} steps={steps} />}
          {!run.here && (
            <Notice tone="info" title="Its rows lie elsewhere">
              <p>A worker with another data folder carried this run out. Its rows and reports are there.</p>
            </Notice>
          )}
          {planned && <Planned id={run.id} />}
          {rows && <Rows run={run} counts={counts} total={total} live={live} />}
        </div>
        <div className="stack">
          {open && <StoryPanel run={run} row={open} />}
          <Actions run={run} but={steps.flatMap(({ verb }) => verb ?? [])} progress={progress} />
          <Timeline run={run} progress={progress} />
          {run.reports.length > 0 && <Reports run={run} />}
        </div>
      </div>
    </div>
  );
}

export function reasonTitle({ status }: RunDetail): string {
  if (status === 'braked') return 'Why it was stopped';
  return status === 'failed' ? 'Why it failed' : 'Why it ended';
}

function Meta({ run }: { run: RunDetail }) {
  return (
    <div className="line wide soft meta">
      <StateBadge state={run.status} />
      <strong className="wrap">
        <bdi>{run.file}</bdi>
      </strong>
      <span>{kindWord(run)}</span>
      <time dateTime={run.started_at} title={exactly(run.started_at)}>
        {when(run.started_at)}
      </time>
      {run.of_run && (
        <span>
          of <Link href={`/runs/${run.of_run}`}>run {run.of_run.slice(0, 15)}</Link>
        </span>
      )}
      {run.corrections ? <span>{number(run.corrections)} cells corrected</span> : null}
      <code className="soft">{run.id}</code>
    </div>
  );
}

/** The four words with their counts: each is a filter of the rows below. */
function Figures({ run, counts, total }: { run: RunDetail; counts: RunProgress['outcomes']; total: number | null }) {
  const [params] = useSearchParams();
  const chosen = params.get('outcome');
  return (
    <div className="stack tight">
      <div className="four">
        {FOUR.map((four: Four) => {
          const rows = sumOf(counts, four);
          const { tone, icon } = FOUR_LOOKS[four];
          return (
            <Link
              key={four}
              className={`${rows > 0 ? tone : 'calm'}`}
              href={chosen === four ? `/runs/${run.id}` : `/runs/${run.id}?outcome=${four}`}
              aria-current={chosen === four ? 'true' : undefined}
            >
              <span className="toned line">
                <Icon name={icon} />
                <strong>{number(rows)}</strong>
              </span>
              <span>{fourWord(four, run)}</span>
            </Link>
          );
        })}
      </div>
      <OutcomeBar counts={counts} total={total} />
    </div>
  );
}

export function Next({ run, steps }: { run: RunDetail; steps: ReturnType<typeof nextSteps> }) {
  return (
    <Card title="What to do next">
      {steps.length === 0 ? (
        <p>Nothing. Every {run.kind === 'undo' ? 'record' : 'row'} ended well.</p>
      ) : (
        <ol className="todo">
          {steps.map(({ text, verb, report, show }) => (
            <li key={text}>
              {text}
              {verb && (
                <div>
                  <VerbButton run={run} verb={verb} look="primary" />
                </div>
              )}
              {report && (
                <div>
                  <ButtonLink icon="download" href={reportAddress(run, report)} download={report}>
                    {report}
                  </ButtonLink>
                </div>
              )}
              {show && (
                <div>
                  <ButtonLink href={`/runs/${run.id}?outcome=${show}`}>Show them</ButtonLink>
                </div>
              )}
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

export function reportAddress({ id }: Pick<RunDetail, 'id'>, name: string): string {
  return addressOf(`/runs/${encodeURIComponent(id)}/reports/${encodeURIComponent(name)}`);
}

const WHAT: Readonly<Record<string, string>> = {
  'report.html': 'on one page, to send or print',
  'results.csv': 'every row with its outcome',
  'rejected.csv': 'to correct and import again',
  'rejected.xlsx': 'to correct and import again',
  'faults.csv': 'every fault on a line',
  'plan.csv': 'every change, old and new',
  'before.ndjson': 'the records before it',
  'corrected.csv': 'the file as corrected here',
  'corrected.xlsx': 'the file as corrected here',
  'references.csv': 'what rows name was created',
  'reconcile.xlsx': 'the night as a workbook',
  'summary.json': 'for programs',
};

function Reports({ run }: { run: RunDetail }) {
  return (
    <Card title="Reports">
      <ul className="reports">
        {run.reports.map((name) => (
          <li key={name}>
            <a
              href={reportAddress(run, name)}
              {...(name === 'report.html' ? { target: '_blank', rel: 'noreferrer' } : { download: name })}
            >
              {name}
            </a>
            <span className="soft small cut">{WHAT[name] ?? ''}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Planned({ id }: { id: string }) {
  const { data: plan, error } = useQuery(planQuery(id));
  if (error) return <Fault error={error} />;
  if (!plan) return <Skeleton what="the plan" />;
  return (
    <Card
      title="What would be written"
      beside={
        plan.brakes.some(({ tripped }) => tripped) && (
          <Badge tone="bad" icon="stop">
            A brake stops it
          </Badge>
        )
      }
    >
      <PlanView plan={plan} run={id} />
    </Card>
  );
}
