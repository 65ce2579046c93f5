import type { Query } from '@tanstack/react-query';
import { type ReactNode, useEffect } from 'react';
import { Link, useLocation } from 'wouter';
import type { RunDetail } from '../../api/schema.js';
import { OUTCOME_GROUPS, type OutcomeCounts } from '../../model/outcome.js';
import { reportUrl } from '../app/client.js';
import { ActionError, ConnectionLost, PagePending } from '../app/faults.js';
import { client, isComplete, isLive, runQuery, useLiveRun, useOnce, useWhyNot } from '../app/queries.js';
import { usePageTitle, useUrlParams } from '../app/shell.js';
import { openRejectedRows } from '../import/rejected.js';
import { counted, number } from '../kit/format.js';
import { Icon } from '../kit/icons.js';
import { Button, ButtonLink, Card, Moment, Notice, Prose, Warnings } from '../kit/parts.js';
import { Actions, VerbButton } from './actions.js';
import { FOUR, fourWord, OutcomeBar, StateBadge, sumOf } from './outcomes.js';
import { Orphans, RunPlan } from './plan.js';
import { Rows } from './rows.js';
import { StoryPanel } from './story.js';
import { Timeline } from './timeline.js';
import { jobWord, kindWord, nextSteps, runHeadline, runName, summaryOf } from './words.js';
import './runs.css';

export default function RunPage({ id = '' }: { id: string | undefined }) {
  return <RunPanel id={id} />;
}

interface RunPanelProps {
  readonly id: string;
  /** Of the tab; else the name of the file. */
  readonly title?: string;
  readonly where?: ReactNode;
  /** Stands below the first line, whichever run it is. */
  readonly children?: ReactNode;
}

/** A run, told from top to bottom: how it stands, what to do, how it went, its rows. */
export function RunPanel({ id, title, where, children }: RunPanelProps) {
  const { run, error, lost } = useLiveRun(id);
  const status = run?.status;
  useEffect(() => {
    const belongs = ({ queryKey }: Query) => queryKey.length > runQuery(id).queryKey.length;
    if (status) void client.invalidateQueries({ queryKey: ['runs', id], predicate: belongs });
  }, [id, status]);
  usePageTitle(title ?? (run ? runName(run) : 'Run'));
  return (
    <div className="stack run">
      {run ? (
        <header className="stack tight">
          <nav className="line soft small" aria-label="Where this is">
            {where ?? <Link href="/runs">Runs</Link>}
          </nav>
          <h1 aria-live="polite">{runHeadline(run)}</h1>
          <Meta run={run} />
        </header>
      ) : (
        <PagePending page={title ?? 'Run'} error={error} />
      )}
      {children}
      {lost && <ConnectionLost lastSeen={lost} />}
      {run && <RunContent key={run.id} run={run} />}
    </div>
  );
}

function RunContent({ run }: { run: RunDetail }) {
  const [params] = useUrlParams();
  const isExport = run.kind === 'export';
  const rows = run.here && !isExport && run.status !== 'waiting' && summaryOf(run)?.file === undefined;
  const open = rows ? Number(params.get('row')) || undefined : undefined;
  const isPlanOnly = run.dry_run || run.status === 'braked';
  const orphans = summaryOf(run)?.reconcile?.orphans;
  return (
    <>
      <RunTrouble run={run} />
      {run.outcomes && !isExport && <OutcomeFigures run={run} counts={run.outcomes} chosen={params.get('outcome')} />}
      <div className={open ? 'beside open' : 'beside'}>
        <div className="stack">
          {!isPlanOnly && <Warnings of={summaryOf(run)?.warnings} />}
          <NextStepsCard run={run} />
          {!run.here && (run.summary ?? (run.progress && run.progress.phase !== 'waiting')) && (
            <Notice tone="info" title="Its rows lie elsewhere">
              <p>A worker with another data folder carried this run out. Its rows and reports are there.</p>
            </Notice>
          )}
          {run.here && !isExport && !isLive(run) && (isPlanOnly || run.kind === 'reconcile') && (
            <Card title={isPlanOnly ? 'What would be written' : 'What changed, by field'}>
              <RunPlan run={run} show={isPlanOnly ? 'all' : 'fields'} />
            </Card>
          )}
          {run.here && orphans && orphans.total > 0 && <Orphans run={run.id} orphans={orphans} />}
          {rows && <Rows run={run} />}
        </div>
        <div className="stack">
          {open && <StoryPanel run={run} row={open} />}
          <Actions run={run} />
          <Timeline run={run} />
          {run.reports.length > 0 && <Reports run={run} />}
        </div>
      </div>
    </>
  );
}

/** Why it ended otherwise than it should; after a brake the way on for who may decide. The plan has a line for each brake. */
function RunTrouble({ run }: { run: RunDetail }) {
  const { status, reason } = run;
  const { allowed, why } = run.actions.approve;
  const whyNot = useWhyNot('approver');
  const isBraked = status === 'braked';
  const title = isBraked ? 'Why it was stopped' : status === 'failed' ? 'Why it failed' : 'Why it ended';
  if (isLive(run) || !(reason || isBraked)) return null;
  return (
    <Notice tone={isBraked || status === 'failed' ? 'bad' : 'warn'} title={title}>
      {reason && <Prose as="p">{reason}</Prose>}
      {isBraked && allowed && <VerbButton run={run} verb="approve" look="primary" />}
      {isBraked && (
        <p>
          {whyNot
            ? 'An approver may let it through: send this address to one.'
            : allowed
              ? 'Are these numbers meant? Then let it through: exactly the plan below is carried out. If not, leave it: nothing was written.'
              : why}
        </p>
      )}
    </Notice>
  );
}

function Meta({ run }: { run: RunDetail }) {
  const linkTo = (id: string) => <Link href={`/runs/${id}`}>run {id.slice(0, 15)}</Link>;
  return (
    <div className="line wide soft meta">
      <StateBadge run={run} />
      {run.kind !== 'undo' && (
        <strong dir="auto" className="wrap">
          {run.file}
        </strong>
      )}
      <span>
        {kindWord(run)} · <bdi>{jobWord(run)}</bdi>
      </span>
      <Moment at={run.started_at} />
      {run.of_run && <span>of {linkTo(run.of_run)}</span>}
      {run.undone_by && <span>taken back by {linkTo(run.undone_by)}</span>}
      {run.corrections ? <span>{counted(run.corrections, 'correction')}</span> : null}
      <code className="soft">{run.id}</code>
    </div>
  );
}

/** The four words with their counts: each is a filter of the rows below. */
function OutcomeFigures({ run, counts, chosen }: { run: RunDetail; counts: OutcomeCounts; chosen: string | null }) {
  return (
    <div className="stack tight">
      <div className="four">
        {OUTCOME_GROUPS.map((four) => {
          const rows = sumOf(counts, four);
          const { tone, icon } = FOUR[four];
          return (
            <Link
              key={four}
              className={rows > 0 ? tone : 'calm'}
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
      <OutcomeBar counts={counts} total={run.rows} />
    </div>
  );
}

function NextStepsCard({ run }: { run: RunDetail }) {
  const steps = nextSteps(run);
  if (steps.length === 0 && (run.kind === 'export' || !isComplete(run))) return null;
  return (
    <Card title="What to do next">
      {steps.length === 0 ? (
        <p>Nothing. Every {run.kind === 'undo' ? 'record' : 'row'} ended well.</p>
      ) : (
        <ol className="todo stack">
          {steps.map(({ text, verb, report, show, run: other }) => (
            <li key={text}>
              <Prose as="p">{text}</Prose>
              {verb && <VerbButton run={run} verb={verb} look="primary" />}
              {run.ordered && isRejected(report) && <CorrectHere run={run} report={report} />}
              {report && (
                <ButtonLink icon="download" href={reportUrl(run.id, report)} download={report} word={report} />
              )}
              {run.ordered && isRejected(report) && (
                <ButtonLink icon="import" href={`/import?like=${run.id}`} word="Import the corrected file" />
              )}
              {show && <ButtonLink href={`/runs/${run.id}?outcome=${show}`} word="Show them" />}
              {other && <ButtonLink href={`/runs/${other}`} word="To the run" />}
            </li>
          ))}
        </ol>
      )}
    </Card>
  );
}

const isRejected = (report = ''): report is string => report.startsWith('rejected.');

/** In the grid of an import of their own. */
function CorrectHere({ run, report }: { run: RunDetail; report: string }) {
  const [, go] = useLocation();
  const whyNot = useWhyNot('operator');
  const open = useOnce({ mutationFn: async () => go(await openRejectedRows(run, report)) });
  return (
    <>
      <Button look="primary" icon="correct" why={whyNot} change={open} word="Correct them here" />
      <ActionError error={open.error} />
    </>
  );
}

function Reports({ run }: { run: RunDetail }) {
  return (
    <Card title="Reports">
      <ul className="stack tight">
        {run.reports.map((name) => (
          <li key={name}>
            <a
              href={reportUrl(run.id, name)}
              {...(name === 'report.html' ? { target: '_blank', rel: 'noreferrer' } : { download: name })}
            >
              {name}
            </a>
          </li>
        ))}
      </ul>
    </Card>
  );
}
