import { Link } from 'wouter';
import type { RunDetail } from '../../api/schema.js';
import { useRunNow } from '../app/events.js';
import { Fault, Refused } from '../app/faults.js';
import { usePageTitle } from '../app/shell.js';
import { counted, number } from '../kit/format.js';
import { Icon } from '../kit/icons.js';
import { Button, ButtonLink, Notice, Prose, Skeleton, sumOf } from '../kit/parts.js';
import { HowItGoes } from '../runs/run.js';
import { firstLine } from '../runs/words.js';
import '../runs/runs.css';
import { CheckStep } from './check.js';
import { ColumnsStep } from './columns.js';
import { suggestedJob } from './draft.js';
import { type Importing, STEPS, type Step, useImport } from './state.js';
import { TableStep } from './table.js';
import { Upload } from './upload.js';
import { PlanStep, ResultStep } from './write.js';
import './import.css';

/** From a file to its rows in the service, in five steps, each kept at its address. */
export default function Import({ upload }: { upload: string | undefined }) {
  return upload === undefined ? <Upload /> : <Steps key={upload} id={upload} />;
}

function Steps({ id }: { id: string }) {
  const of = useImport(id);
  const { step, name, file, checked } = of;
  const early = step === 'table' || step === 'columns';
  const title = titleOf(of);
  usePageTitle(step === 'table' ? `Import ${name}` : title);
  return (
    <div className={`import stack${step === 'check' ? ' broad-page' : ''}`}>
      <div className="line wide">
        <StepLine of={of} />
        <span className="soft wrap">
          <bdi>{name}</bdi>
          {factsOf(of).map((fact) => ` · ${fact}`)}
        </span>
      </div>
      {(early || !checked.data?.summary) && step !== 'result' && <h1 className="wrap">{title}</h1>}
      {file.error && early ? (
        <Fault error={file.error} />
      ) : step === 'table' ? (
        <TableStep of={of} />
      ) : step === 'columns' ? (
        <Columns of={of} />
      ) : step === 'result' && of.write !== undefined ? (
        <ResultStep of={of} id={of.write} />
      ) : of.run === undefined ? (
        <p>
          Nothing was checked yet. <Link href={of.hrefOf('columns')}>Match the columns</Link>
        </p>
      ) : checked.data ? (
        <Checked of={of} run={checked.data} title={title} />
      ) : checked.error ? (
        <Fault error={checked.error} />
      ) : (
        <Skeleton what="the check" lines={8} />
      )}
    </div>
  );
}

const STEP_WORDS: Readonly<Record<Step, string>> = {
  table: 'Table',
  columns: 'Columns',
  check: 'Check',
  plan: 'Plan',
  result: 'Result',
};

function StepLine({ of: { step, run, write, checked, hrefOf } }: { of: Importing }) {
  const here = STEPS.indexOf(step);
  const reached = write !== undefined ? 5 : checked.data?.summary ? 4 : run !== undefined ? 3 : 2;
  return (
    <nav aria-label="Steps" className="steps">
      <ol>
        {STEPS.map((one, at) => {
          const words = (
            <>
              <i aria-hidden="true">{at < here ? <Icon name="check" /> : at + 1}</i> {STEP_WORDS[one]}
            </>
          );
          return (
            <li key={one} className={at === here ? 'here' : at < here ? 'done' : ''}>
              {at < reached ? (
                <Link href={hrefOf(one)} aria-current={at === here ? 'step' : undefined}>
                  {words}
                </Link>
              ) : (
                <span className="soft">{words}</span>
              )}
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

/** The first line of the page, which answers its question. */
function titleOf({ step, name, table, suggestion, checked: { data: run } }: Importing): string {
  if (step === 'table') return table.data ? `Is this the table of ${name}?` : `Looking at ${name}`;
  if (step === 'columns') return suggestion.data ? `Where does each column go?` : 'Matching the columns';
  if (!run?.summary) return run?.status === 'failed' ? 'The check could not be made' : 'Checking: nothing is written';
  const counts = run.outcomes;
  if (!counts) return 'Checked';
  const [bad, look] = [sumOf(counts, 'to_correct'), sumOf(counts, 'to_look_at')];
  const total = run.rows ?? 0;
  const fine = total - bad - look;
  if (fine === total) return total === 1 ? 'The only row is fine' : `All ${number(total)} rows are fine`;
  return [
    `${counted(fine, 'row')} ${fine === 1 ? 'is' : 'are'} fine`,
    ...(bad > 0 ? [`${number(bad)} to correct`] : []),
    ...(look > 0 ? [`${number(look)} to look at`] : []),
  ].join(' · ');
}

function factsOf({ table: { data: table }, checked: { data: run } }: Importing): string[] {
  return [
    ...(run?.rows != null ? [counted(run.rows, 'row')] : []),
    ...(table?.sheet != null ? [`sheet “${table.sheet}”`] : []),
    ...(table?.header_row != null ? [`headings in row ${table.header_row}`] : []),
    ...(run?.corrections ? [counted(run.corrections, 'correction')] : []),
  ];
}

function Columns({ of }: { of: Importing }) {
  const { job, draft, change, check, suggestion, resource } = of;
  if (suggestion.error) return <Fault error={suggestion.error} />;
  if (!suggestion.data || !resource || job === undefined) return <Skeleton what="the columns" lines={8} />;
  const suggested = suggestedJob(suggestion.data, draft);
  if (typeof job !== 'string')
    return <ColumnsStep {...{ of, job, resource, suggested }} suggestion={suggestion.data} />;
  return (
    <Notice tone="info" title={`The job ${job} says where each column goes`}>
      <div className="line">
        <Button look="primary" busy={check.isPending} onClick={() => check.mutate({})}>
          Check with it
        </Button>
        <Button onClick={() => change((now) => ({ ...now, job: suggested }))}>Match the columns here instead</Button>
      </div>
      <Refused error={check.error} />
    </Notice>
  );
}

/** What is there once a dry run has ended; until then where it stands. */
function Checked({ of, run, title }: { of: Importing; run: RunDetail; title: string }) {
  const now = useRunNow(run.id, run);
  if (now.live) {
    return (
      <>
        <p>{firstLine(run, now.progress)}</p>
        <HowItGoes run={run} now={now} />
      </>
    );
  }
  const { summary, ordered, status } = run;
  if (summary && ordered && status !== 'failed' && status !== 'interrupted')
    return of.step === 'check' ? (
      <CheckStep key={run.id} of={of} run={run} ordered={ordered} title={title} />
    ) : (
      <PlanStep of={of} run={run} />
    );
  return (
    <Notice tone="bad" title={status === 'interrupted' ? 'The check was stopped' : 'The check could not be made'}>
      <p className="wrap reason-lines">
        <Prose>{run.reason ?? 'It left no reason.'}</Prose>
      </p>
      <div>
        <ButtonLink href={of.hrefOf('columns')}>Back to the columns</ButtonLink>
      </div>
    </Notice>
  );
}
