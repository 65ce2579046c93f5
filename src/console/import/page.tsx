import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { Link, useLocation, useSearchParams } from 'wouter';
import type { Accepted, Resource, RunDetail, Suggestion, Table, Uploaded } from '../../api/schema.js';
import { get, send } from '../app/client.js';
import { isLive, useRunEvents } from '../app/events.js';
import { ConnectionLost, Fault, Refused } from '../app/faults.js';
import { resourcesQuery, runQuery } from '../app/queries.js';
import { usePageTitle } from '../app/shell.js';
import { counted, number } from '../kit/format.js';
import { Button, ButtonLink, Notice, OutcomeBar, Prose, Skeleton, sumOf } from '../kit/parts.js';
import { VerbButton } from '../runs/actions.js';
import { Timeline } from '../runs/timeline.js';
import { firstLine } from '../runs/words.js';
import '../runs/runs.css';
import { CheckStep } from './check.js';
import { ColumnsStep } from './columns.js';
import { type Check, type Draft, jobOf, keep, load, newDraft, withCheck, withResource, withSource } from './draft.js';
import { after, corrections, type Edits, editsOf, NO_EDITS } from './edits.js';
import { PlanStep } from './plan.js';
import { ResultStep } from './result.js';
import { TableStep } from './table.js';
import { Upload } from './upload.js';
import './import.css';

/** From a file to its rows in the service, in five steps, each kept at its address. */
export default function Import({ upload }: { upload: string | undefined }) {
  return upload === undefined ? <Upload /> : <Steps key={upload} id={upload} />;
}

const STEPS = ['table', 'columns', 'check', 'plan', 'result'] as const;
type Step = (typeof STEPS)[number];
const STEP_WORDS: Readonly<Record<Step, string>> = {
  table: 'Table',
  columns: 'Columns',
  check: 'Check',
  plan: 'Plan',
  result: 'Result',
};

function Steps({ id }: { id: string }) {
  const [params] = useSearchParams();
  const [, go] = useLocation();
  const step = STEPS.find((one) => one === params.get('step')) ?? 'table';
  const run = params.get('run');
  const write = params.get('write');
  const [draft, setDraft] = useDraft(id);
  const file = useQuery({
    queryKey: ['file', id],
    queryFn: () => get<Uploaded>(`/files/${encodeURIComponent(id)}`),
    staleTime: 60_000,
  });
  const table = useTable(id, draft);
  const { data: known } = useQuery(resourcesQuery);
  const resources = known?.resources ?? [];
  const resource = resources.find(({ name }) => name === draft.resource) ?? likely(table.data, resources);
  const early = step === 'table' || step === 'columns';
  const suggestion = useSuggestion(id, draft, step === 'columns' ? resource?.name : undefined, table.data);
  const checked = useQuery({ ...runQuery(run ?? ''), enabled: run !== null && !early });
  const check = useCheck(draft, setDraft, checked.data);
  const name = file.data?.name ?? draft.name;
  const hrefOf = (to: Step, more: Readonly<Record<string, string | null>> = {}) => {
    const next = new URLSearchParams();
    for (const [key, value] of Object.entries({ step: to, run, write, ...more })) if (value) next.set(key, value);
    return `/import/${encodeURIComponent(id)}?${next}`;
  };
  const start = useMutation({
    async mutationFn({ job, edits }: { job: NonNullable<Draft['job']>; edits: Edits }) {
      const sent = corrections(edits);
      const order = {
        kind: 'import',
        job,
        file: id,
        options: { dry_run: true },
        // Somebody waits for it: what goes wrong is told at once.
        once: true,
        ...(sent.length > 0 && { corrections: sent }),
      };
      const { id: begun } = await send<Accepted>('POST', '/runs', order);
      setDraft((now) => withCheck(now, { run: begun, job, sent, edits: [] }));
      go(hrefOf('check', { run: begun, write: null }));
    },
  });
  const carryOut = async (check: Check, approve: boolean) => {
    const { run: of } = check;
    // As the run has it: whoever presses the button twice, and whoever else presses it, orders the very same and gets one run.
    const { job, corrections: sent } = checked.data?.ordered ?? { job: check.job, corrections: check.sent };
    const order = { kind: 'import', job, file: id, ...(sent?.length && { corrections: sent }) };
    const begun = approve
      ? await send<Accepted>('POST', `/runs/${of}/approve`)
      : await send<Accepted>('POST', '/runs', order, { headers: { 'idempotency-key': `write-${of}` } });
    go(hrefOf('result', { write: begun.id }));
  };
  const job = jobOf(draft, suggestion.data);
  const reach: Readonly<Record<Step, boolean>> = {
    table: true,
    columns: true,
    check: run !== null,
    plan: checked.data?.summary != null,
    result: write !== null,
  };
  const title = titleOf(step, name, table.data, suggestion.data, checked.data);
  usePageTitle(step === 'table' ? `Import ${name}` : title);
  return (
    <div className="import stack">
      <div className="line wide">
        <span className="soft wrap">
          <bdi>{name}</bdi>
          {facts(table.data, checked.data).map((fact) => ` · ${fact}`)}
        </span>
        <StepLine step={step} reach={reach} hrefOf={hrefOf} />
      </div>
      {(early || !checked.data?.summary) && step !== 'result' && <h1 className="wrap">{title}</h1>}
      {file.error && early && <Fault error={file.error} />}
      {step === 'table' && !file.error && (
        <TableStep
          table={table.isPlaceholderData ? undefined : table.data}
          error={table.error}
          source={draft.source}
          onSource={(source) => setDraft((now) => withSource(now, source))}
          onColumns={() => go(hrefOf('columns'))}
          onJob={(saved) => {
            setDraft((now) => ({ ...now, job: saved }));
            start.mutate({ job: saved, edits: NO_EDITS });
          }}
          busy={start.isPending}
          refused={<Refused error={start.error} />}
        />
      )}
      {step === 'columns' &&
        (draft.job !== undefined ? (
          <Notice
            tone="info"
            title={
              typeof draft.job === 'string'
                ? `The job ${draft.job} says where each column goes`
                : 'The columns were matched by somebody else'
            }
          >
            <div className="line">
              <Button
                look="primary"
                busy={start.isPending}
                onClick={() => start.mutate({ job: draft.job!, edits: NO_EDITS })}
              >
                Check with it
              </Button>
              <Button onClick={() => setDraft(({ job: _, ...rest }) => rest)}>Match the columns here instead</Button>
            </div>
            <Refused error={start.error} />
          </Notice>
        ) : suggestion.error ? (
          <Fault error={suggestion.error} />
        ) : suggestion.data && resource ? (
          <ColumnsStep
            draft={draft}
            suggestion={suggestion.data}
            resource={resource}
            resources={resources}
            onChange={(next) => setDraft(() => next)}
            onResource={(chosen) => setDraft((now) => withResource(now, chosen))}
            onCheck={() => job && start.mutate({ job, edits: NO_EDITS })}
            busy={start.isPending}
            refused={<Refused error={start.error} />}
          />
        ) : (
          <Skeleton what="the columns" lines={8} />
        ))}
      {(step === 'check' || step === 'plan') &&
        (run === null ? (
          <p>
            Nothing was checked yet. <Link href={hrefOf('columns')}>Match the columns</Link>
          </p>
        ) : checked.error ? (
          <Fault error={checked.error} />
        ) : !checked.data ? (
          <Skeleton what="the check" lines={8} />
        ) : (
          <Ended run={checked.data} hrefBack={hrefOf('columns')}>
            {!check ? (
              <Skeleton what="the check" />
            ) : step === 'plan' ? (
              <PlanStep run={checked.data} onWrite={({ approve }) => carryOut(check, approve)} />
            ) : (
              <CheckStep
                key={check.run}
                title={title}
                run={checked.data}
                check={check}
                onEdits={(edits) => setDraft((now) => withCheck(now, { ...check, edits: corrections(edits) }))}
                onCheck={(edits) => start.mutateAsync({ job: check.job, edits: after(editsOf(check.sent), edits) })}
                onPlan={() => go(hrefOf('plan'))}
              />
            )}
          </Ended>
        ))}
      {step === 'result' && write !== null && <ResultStep id={write} job={check?.job} />}
    </div>
  );
}

function StepLine({
  step,
  reach,
  hrefOf,
}: {
  step: Step;
  reach: Readonly<Record<Step, boolean>>;
  hrefOf: (step: Step) => string;
}) {
  const here = STEPS.indexOf(step);
  return (
    <nav aria-label="Steps" className="steps">
      <ol>
        {STEPS.map((one, at) => {
          const sign = <span aria-hidden="true">{at === here ? '◉' : at < here ? '●' : '○'}</span>;
          return (
            <li key={one} className={at === here ? 'here' : ''}>
              {reach[one] ? (
                <Link href={hrefOf(one)} aria-current={at === here ? 'step' : undefined}>
                  {sign} {STEP_WORDS[one]}
                </Link>
              ) : (
                <span className="soft">
                  {sign} {STEP_WORDS[one]}
                </span>
              )}
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

/** The first line of the page, which answers its question. */
function titleOf(step: Step, name: string, table?: Table, suggestion?: Suggestion, run?: RunDetail): string {
  if (step === 'table') return table ? `Is this the table of ${name}?` : `Looking at ${name}`;
  if (step === 'columns') return suggestion ? `Where does each column go?` : 'Matching the columns';
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

function facts(table: Table | undefined, run: RunDetail | undefined): string[] {
  return [
    ...(run?.rows != null ? [counted(run.rows, 'row')] : []),
    ...(table?.sheet != null ? [`sheet “${table.sheet}”`] : []),
    ...(table?.header_row != null ? [`headings in row ${table.header_row}`] : []),
    ...(run?.corrections ? [counted(run.corrections, 'correction')] : []),
  ];
}

/** What is there once a dry run has ended; until then where it stands. */
function Ended({ run, hrefBack, children }: { run: RunDetail; hrefBack: string; children: React.ReactNode }) {
  const live = isLive(run);
  const events = useRunEvents(run.id, live);
  const progress = events.progress ?? run.progress;
  if (live) {
    return (
      <>
        <ConnectionLost events={events} />
        {progress && <OutcomeBar counts={progress.outcomes} total={progress.total} />}
        <p>{firstLine(run, progress)}</p>
        <Timeline run={run} progress={progress} />
        <div>
          <VerbButton run={run} verb="stop" progress={progress} />
        </div>
      </>
    );
  }
  if (run.summary && run.status !== 'failed' && run.status !== 'interrupted') return children;
  return (
    <Notice tone="bad" title={run.status === 'interrupted' ? 'The check was stopped' : 'The check could not be made'}>
      {(run.reason ?? 'It left no reason.').split('\n').map((line) => (
        <p key={line} className="wrap">
          <Prose>{line}</Prose>
        </p>
      ))}
      <div>
        <ButtonLink href={hrefBack}>Back to the columns</ButtonLink>
      </div>
    </Notice>
  );
}

/** What was decided, kept in the browser with every change. */
function useDraft(id: string): [Draft, (change: (now: Draft) => Draft) => void] {
  const [draft, setDraft] = useState(() => load(localStorage, id) ?? newDraft(id, id));
  return [
    draft,
    (change) =>
      setDraft((now) => {
        const next = change(now);
        keep(localStorage, next);
        return next;
      }),
  ];
}

function useTable(id: string, { source }: Draft) {
  return useQuery({
    queryKey: ['table', id, source],
    queryFn: ({ signal }) => send<Table>('POST', '/tables', { file: id, source }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
    // Of a large file its first rows come first.
    refetchInterval: ({ state }) => (state.data?.whole === false ? 1_000 : false),
  });
}

/** For the very table that was shown, which is not always the one whose headings fit best. */
function useSuggestion(id: string, { source, job }: Draft, resource: string | undefined, table: Table | undefined) {
  const seen = {
    ...source,
    ...(table?.sheet != null && { sheet: table.sheet }),
    header_row: table?.header_row ?? ('none' as const),
  };
  return useQuery({
    queryKey: ['suggestion', id, seen, resource],
    queryFn: ({ signal }) => send<Suggestion>('POST', '/suggestions', { file: id, resource, source: seen }, { signal }),
    enabled: resource !== undefined && job === undefined && table !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
}

/** What a check was made with: as it was kept here, or as the run says, where somebody else made it. */
function useCheck(
  draft: Draft,
  setDraft: (change: (now: Draft) => Draft) => void,
  run: RunDetail | undefined,
): Check | undefined {
  const kept = draft.checks.find((one) => one.run === run?.id);
  const ordered = run?.ordered;
  const adopt = useRef(setDraft);
  adopt.current = setDraft;
  const id = run?.id;
  useEffect(() => {
    if (kept || !ordered || id === undefined) return;
    adopt.current((now) => ({
      ...withCheck(now, { run: id, job: ordered.job, sent: ordered.corrections ?? [], edits: [] }),
      ...(now.checks.length === 0 && { job: ordered.job }),
    }));
  }, [kept, ordered, id]);
  return kept;
}

/** The resource whose fields the headings name most. */
function likely(table: Table | undefined, resources: readonly Resource[]): Resource | undefined {
  if (!table) return undefined;
  const plain = (text: string) => text.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '');
  const headings = table.headings.map(plain);
  const hits = ({ name, fields }: Resource) =>
    headings.filter(
      (heading) =>
        heading.includes(name) ||
        fields.some((field) => plain(field.label) === heading || plain(field.name) === heading),
    ).length;
  return resources
    .filter(({ imported }) => imported)
    .reduce<Resource | undefined>((best, one) => (!best || hits(one) > hits(best) ? one : best), undefined);
}
