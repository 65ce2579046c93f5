import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import type { Accepted, Correction, Suggestion, Table, TableOptions, Uploaded } from '../../api/schema.js';
import { get, type Query, send, withParams } from '../app/client.js';
import { client, jobQuery, resourcesQuery, runQuery, useOnce } from '../app/queries.js';
import { toast } from '../kit/toast.js';
import {
  type Draft,
  type Job,
  loadDraft,
  newDraft,
  type OrderedJob,
  saveDraft,
  suggestedJob,
  withEdits,
  withMembers,
  withSent,
  withSource,
} from './draft.js';
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
  /** Another window may be on the same import; what there was no room for is here alone. */
  const takeUp = () => {
    const stored = loadDraft(localStorage, id);
    if (stored && stored.at > latest.current.at) latest.current = stored;
    setDraft(latest.current);
  };
  useEffect(() => {
    window.addEventListener('storage', takeUp);
    return () => window.removeEventListener('storage', takeUp);
  }, []);
  const change = (to: (now: Draft) => Draft) => {
    takeUp();
    latest.current = { ...to(latest.current), at: Date.now() };
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
  const sent = draft.sent?.[run ?? ''];
  /** Since this check the table was overruled, or the rows are other records: what it was given says nothing of them. */
  const isOtherTable =
    sent !== undefined &&
    JSON.stringify([draft.source, draft.resource ?? sent.resource]) !== JSON.stringify([sent.source, sent.resource]);
  const same = isOtherTable ? undefined : ordered;
  // For the very table that was shown, which is not always the one whose headings fit best.
  const detected = {
    ...draft.source,
    ...(table.data?.sheet != null && { sheet: table.data.sheet }),
    header_row: table.data?.header_row ?? ('none' as const),
  };
  const tableKey = JSON.stringify([Object.entries(detected).sort(), resource?.name]);
  const left = draft.left?.[tableKey];
  const composed = (first: readonly Correction[] | undefined, second: Edits) =>
    corrections(composeEdits(editsOf(first), second, table.data?.headings));
  /** What was typed over this check. */
  const openEdits = run === undefined ? [] : (draft.edits[run] ?? []);
  /** All that was corrected in the table so far. */
  const corrected = () =>
    run === undefined || isOtherTable
      ? (left?.corrected ?? [])
      : composed(ordered?.corrections, editsOf(draft.edits[run]));
  const sentNow = (of: OrderedJob | undefined) => ({ source: draft.source, resource: resource?.name, job: of });
  /** What was checked before was another table, or other records. */
  const startOver = (source: TableOptions, records?: string) => {
    change((now) => {
      const known = run === undefined || sent ? now : withSent(now, run, sentNow(chosenJob ?? ordered?.job));
      return withSource(known, tableKey, source, records, corrected());
    });
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
  const chosenJob = draft.job ?? left?.job;
  const job = chosenJob ?? same?.job ?? (suggestion.data && suggestedJob(suggestion.data, draft));

  /** Whether columns were changed since this check: then its plan is not what is meant any more. */
  const isOtherJob =
    sent !== undefined &&
    !isOtherTable &&
    chosenJob !== undefined &&
    JSON.stringify(chosenJob) !== JSON.stringify(sent.job);

  /** Where the table was overruled, a saved job reads it as it is shown, too. */
  const asShown = async (one: OrderedJob | undefined) => {
    if (typeof one !== 'string' || Object.keys(draft.source).length === 0) return one;
    const { job: saved } = await client.fetchQuery({ ...jobQuery(one), staleTime: 0 });
    return saved ? withMembers(saved, 'source', table.data ? detected : draft.source) : one;
  };
  /** A dry run with the job as it is now, or with a saved one, and with everything that was corrected so far. */
  const check = useOnce({
    async mutationFn({ saved, edits }: { saved?: string; edits?: Edits }) {
      // What is typed over the rows of a run is of the table that it has read.
      const allEdits = edits ? composed(ordered?.corrections, edits) : corrected();
      const isSame = edits !== undefined && !isOtherJob;
      const jobToSend = isSame ? ordered?.job : await asShown(saved ?? job);
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
        const next = withEdits({ ...now, ...(saved !== undefined && { job: saved }) }, begun, []);
        return withSent(next, begun, (isSame && sent) || sentNow(saved ?? chosenJob ?? jobToSend));
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
  const decided = { draft, change, setJob, startOver, job, openEdits, isOtherJob, isOtherTable };
  return { ...address, ...found, ...decided, check, carryOut };
}
