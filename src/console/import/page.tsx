import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Table } from '../../api/schema.js';
import { capitalize } from '../../report/wording.js';
import { ActionError, PagePending } from '../app/faults.js';
import { isLive, jobQuery, useLiveRun, useWhyNot } from '../app/queries.js';
import { usePageTitle } from '../app/shell.js';
import { counted } from '../kit/format.js';
import { Icon } from '../kit/icons.js';
import { Button, ButtonLink, Notice } from '../kit/parts.js';
import { RunPanel } from '../runs/run.js';
import { CheckStep } from './check.js';
import { ColumnsStep } from './columns.js';
import { suggestedJob } from './draft.js';
import { type Importing, STEPS, useImport } from './state.js';
import { TableStep } from './table.js';
import { Upload } from './upload.js';
import { PlanStep, ResultStep } from './write.js';
import './import.css';

/** From a file to its rows in the service, in five steps, each kept at its address. */
export default function Import({ id }: { id: string | undefined }) {
  return id === undefined ? <Upload /> : <Steps key={id} id={id} />;
}

function Steps({ id }: { id: string }) {
  const of = useImport(id);
  usePageTitle(`Import ${of.name}`);
  return (
    <div className={`import stack${of.step === 'check' ? ' broad-page' : ''}`}>
      <div className="line wide">
        <StepLine of={of} />
        <span className="soft wrap">
          <bdi>{of.name}</bdi>
          {factsOf(of).map((fact) => ` · ${fact}`)}
        </span>
      </div>
      <StepContent of={of} />
    </div>
  );
}

function StepContent({ of }: { of: Importing }) {
  const { step, name, file, run, write, hrefOf } = of;
  if (file.error && (step === 'table' || step === 'columns')) return <PagePending page={name} error={file.error} />;
  if (step === 'table') return <TableStep of={of} />;
  if (step === 'columns') return <Columns of={of} />;
  if (step === 'result' && write !== undefined) return <ResultStep of={of} id={write} />;
  if (run !== undefined) return <CheckResult key={run} of={of} id={run} />;
  return (
    <>
      <h1>Nothing was checked yet</h1>
      <Link href={hrefOf('columns')}>Match the columns</Link>
    </>
  );
}

function StepLine({ of: { step, run, write, checked, hrefOf } }: { of: Importing }) {
  const current = STEPS.indexOf(step);
  const reachable = write !== undefined ? 5 : checked.data?.summary ? 4 : run !== undefined ? 3 : 2;
  return (
    <nav aria-label="Steps" className="steps">
      <ol>
        {STEPS.map((one, at) => {
          const label = (
            <>
              <i aria-hidden="true">{at < current ? <Icon name="check" /> : at + 1}</i> {capitalize(one)}
            </>
          );
          return (
            <li key={one} className={at === current ? 'here' : at < current ? 'done' : ''}>
              {at < reachable ? (
                <Link href={hrefOf(one)} aria-current={at === current ? 'step' : undefined}>
                  {label}
                </Link>
              ) : (
                <span className="soft">{label}</span>
              )}
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

/** Of the table that is looked at; from the check on of what the run has read. */
function factsOf({ step, table, checked }: Importing): string[] {
  const isChecked = STEPS.indexOf(step) >= STEPS.indexOf('check');
  const run = isChecked ? checked.data : undefined;
  const read = isChecked ? (run?.summary?.['source'] as Partial<Table> | undefined) : table.data;
  return [
    ...(run?.rows != null ? [counted(run.rows, 'row')] : []),
    ...(read?.sheet != null ? [`sheet “${read.sheet}”`] : []),
    ...(read?.header_row != null ? [`headings in row ${read.header_row}`] : []),
    ...(run?.corrections ? [counted(run.corrections, 'correction')] : []),
  ];
}

function Columns({ of }: { of: Importing }) {
  const { job, source, setJob, check, suggestion, resource } = of;
  if (!suggestion.data || !resource || job === undefined)
    return <PagePending page="Matching the columns" error={suggestion.error} />;
  const suggested = suggestedJob(suggestion.data, source);
  return (
    <>
      <h1>Where does each column go?</h1>
      {typeof job === 'string' ? (
        <Notice tone="info" title={`The job ${job} says where each column goes`}>
          <div className="line">
            <Button look="primary" change={check} order={{}} word="Check with it" />
            <Button onClick={() => setJob(suggested)} word="Match the columns here instead" />
          </div>
          <ActionError error={check.error} />
        </Notice>
      ) : (
        <ColumnsStep {...{ of, job, resource, suggested }} suggestion={suggestion.data} />
      )}
    </>
  );
}

/** What is there once a dry run has ended; until then, and where it could not be made, the run itself. */
function CheckResult({ of, id }: { of: Importing; id: string }) {
  const { run, error } = useLiveRun(id);
  const { job, job_etag: etag } = run?.ordered ?? {};
  const isPlan = of.step !== 'check' && of.write === undefined;
  const saved = useQuery({ ...jobQuery(String(job)), enabled: isPlan && typeof job === 'string' });
  if (!run) return <PagePending page="Checking: nothing is written" error={error} />;
  const { summary, ordered, status } = run;
  if (isLive(run) || !summary || !ordered || status === 'failed' || status === 'interrupted') {
    const where = isLive(run) ? 'Checking: nothing is written' : 'The check could not be made';
    return (
      <RunPanel id={id} title={`Import ${of.name}`} where={where}>
        <ButtonLink href={of.hrefOf('columns')} word="Back to the columns" />
      </RunPanel>
    );
  }
  if (of.step === 'check') return <CheckStep of={of} run={run} ordered={ordered} />;
  if (saved.isLoading) return <PagePending page="The plan" error={undefined} />;
  // A saved job may have been saved anew meanwhile.
  const isOtherJob = of.isOtherJob || (etag !== undefined && saved.data !== undefined && saved.data.etag !== etag);
  const { length } = of.openEdits;
  const why = [
    isOtherJob &&
      `${typeof of.job === 'string' ? `The job ${of.job} was` : 'The columns were'} changed since this check.`,
    length > 0 && `${counted(length, 'correction is', 'corrections are')} not checked yet.`,
  ].filter(Boolean);
  return isPlan && why.length > 0 ? <StalePlan of={of} why={why.join(' ')} /> : <PlanStep of={of} run={run} />;
}

/** A plan of what was changed since is not written. */
function StalePlan({ of: { check }, why }: { of: Importing; why: string }) {
  const whyNot = useWhyNot('operator');
  return (
    <>
      <h1>The plan is not up to date</h1>
      <p>{why}</p>
      <Button look="primary" why={whyNot} change={check} order={{}} word="Check again" />
      <ActionError error={check.error} />
    </>
  );
}
