import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import type { Accepted, Suggestion, Table, TableOptions, Uploaded } from '../../api/schema.js';
import { get, type Query, send, withParams } from '../app/client.js';
import { resourcesQuery, runQuery, useOnce } from '../app/queries.js';
import { toast } from '../kit/toast.js';
import { type Draft, type Job, loadDraft, newDraft, saveDraft, suggestedJob, withEdits, withSource } from './draft.js';
import { composeEdits, corrections, type Edits, editsOf } from './edits.js';

export const STEPS = ['table', 'columns', 'check', 'plan', 'result'] as const;
export type Step = (typeof STEPS)[number];

export type Importing = ReturnType<typeof useImport>;

/**
 * An import, as all its steps see it. Where somebody is stands in the address: the step, the run that checks, the run that
 * writes. What they decided lies in the draft, what was found with the API, and what a run was ordered with the run itself tells.
 */
export function useImport(id: string) {
  const [params] = useSearchParams();
  const [, go] = useLocation();
  const [draft, setDraft] = useState(() => loadDraft(localStorage, id) ?? newDraft(id, id));
  const latest = useRef(draft);
  const change = (to: (now: Draft) => Draft) => {
    latest.current = to(latest.current);
    setDraft(latest.current);
    if (!saveDraft(localStorage, latest.current))
      toast('Your browser has no room left to keep this: check again before you leave.');
  };
  const setJob = (job: Job) => change((now) => ({ ...now, job }));
  const step = STEPS.find((one) => one === params.get('step')) ?? 'table';
  const run = params.get('run') ?? undefined;
  const write = params.get('write') ?? undefined;
  const hrefOf = (to: Step, more: Query = {}) =>
    `/import/${encodeURIComponent(id)}?${withParams(new URLSearchParams(), { step: to, run, write, ...more })}`;
  /** To a step that was begun here: whoever comes back later comes back to it. */
  const goToStep = (to: Step, more: Query, alsoChange: (now: Draft) => Draft = (now) => now) => {
    const href = hrefOf(to, more);
    change((now) => ({ ...alsoChange(now), last: href }));
    go(href);
  };

  const file = useQuery({
    queryKey: ['files', id],
    queryFn: () => get<Uploaded>(`/files/${encodeURIComponent(id)}`),
    staleTime: 60_000,
  });
  const table = useQuery({
    queryKey: ['tables', id, draft.source],
    queryFn: ({ signal }) => send<Table>('POST', '/tables', { file: id, source: draft.source }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data: resourceData } = useQuery(resourcesQuery);
  const resources = resourceData?.resources ?? [];
  const checked = useQuery({ ...runQuery(run ?? ''), enabled: run !== undefined });
  const ordered = checked.data?.ordered;
  const resourceName = draft.resource ?? checked.data?.resource ?? table.data?.resource;
  const resource = resources.find(({ name }) => name === resourceName);
  // For the very table that was shown, which is not always the one whose headings fit best.
  const detected = {
    ...draft.source,
    ...(table.data?.sheet != null && { sheet: table.data.sheet }),
    header_row: table.data?.header_row ?? ('none' as const),
  };
  const tableKey = JSON.stringify([Object.entries(detected).sort(), resource?.name]);
  /** What was checked before was another table, or other records. */
  const startOver = (source: TableOptions, records?: string) => {
    change((now) => withSource(now, tableKey, source, records));
    go(hrefOf(step, { run: null, write: null }), { replace: true });
  };
  const suggestion = useQuery({
    queryKey: ['suggestions', id, detected, resource?.name],
    queryFn: ({ signal }) =>
      send<Suggestion>('POST', '/suggestions', { file: id, resource: resource?.name, source: detected }, { signal }),
    enabled: step === 'columns' && resource !== undefined && table.data !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  // As it was decided here, or by whoever made the check that the address names, or as suggested.
  const chosenJob = draft.job ?? draft.left?.[tableKey];
  const job = chosenJob ?? ordered?.job ?? (suggestion.data && suggestedJob(suggestion.data, draft));

  /** What was typed over this check, and whether columns were changed since: then its plan is not what is meant any more. */
  const openEdits = run === undefined ? [] : (draft.edits[run] ?? []);
  const isOtherJob =
    draft.sent !== undefined && chosenJob !== undefined && JSON.stringify(chosenJob) !== JSON.stringify(draft.sent);

  /** A dry run with the job as it is now, or with a saved one, and with everything that was corrected so far. */
  const check = useOnce({
    async mutationFn({ saved, edits }: { saved?: string; edits?: Edits }) {
      const allEdits = corrections(composeEdits(editsOf(ordered?.corrections), edits ?? editsOf(openEdits)));
      const jobToSend = saved ?? (edits && !isOtherJob ? ordered?.job : job);
      const order = {
        kind: 'import',
        job: jobToSend,
        file: id,
        options: { dry_run: true },
        // Somebody waits for it: what goes wrong is told at once.
        once: true,
        ...(allEdits.length > 0 && { corrections: allEdits }),
      };
      const { id: begun } = await send<Accepted>('POST', '/runs', order);
      goToStep('check', { run: begun, write: null }, (now) => {
        const sent = jobToSend && (saved ?? now.job ?? jobToSend);
        const next = { ...now, ...(saved !== undefined && { job: saved }), ...(sent && { sent }) };
        return withEdits(next, begun, []);
      });
    },
  });
  /** `approve`: exactly the plan of the check, although a brake stops it. */
  const carryOut = useOnce({
    async mutationFn({ approve }: { approve: boolean }) {
      // As the run has it: whoever presses the button twice, and whoever else presses it, orders the very same and gets one run.
      const options = { plan_of: run };
      const order = { kind: 'import', file: id, job: ordered?.job, corrections: ordered?.corrections, options };
      const begun = approve
        ? await send<Accepted>('POST', `/runs/${run}/approve`)
        : await send<Accepted>('POST', '/runs', order, { headers: { 'idempotency-key': `write-${run}` } });
      goToStep('result', { write: begun.id });
    },
  });
  const address = { id, name: file.data?.name ?? draft.name, step, run, write, hrefOf, go };
  const found = { file, table, resources, resource, suggestion, checked };
  const decided = { draft, change, setJob, startOver, job, openEdits, isOtherJob };
  return { ...address, ...found, ...decided, check, carryOut };
}
