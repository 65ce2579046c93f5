import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import type { Accepted, Suggestion, Table, TableOptions, Uploaded } from '../../api/schema.js';
import { get, type Query, send, withParams } from '../app/client.js';
import { client, jobQuery, resourcesQuery, runQuery, sessionQuery, useOnce } from '../app/queries.js';
import { toast } from '../kit/toast.js';
import {
  type Decided,
  type Draft,
  type DraftStorage,
  type Job,
  loadDraft,
  newDraft,
  type OrderedJob,
  saveDraft,
  suggestedJob,
  withDecided,
  withMembers,
} from './draft.js';
import { composeEdits, corrections, editsOf } from './edits.js';

export const STEPS = ['table', 'columns', 'check', 'plan', 'result'] as const;
export type Step = (typeof STEPS)[number];

export type Importing = ReturnType<typeof useImport>;

/** How the table is to be read where the address overrules detection. */
function sourceIn(params: URLSearchParams): TableOptions {
  const { sheet, header_row: row, encoding, delimiter } = Object.fromEntries(params);
  return {
    ...(sheet !== undefined && { sheet }),
    ...(row !== undefined && { header_row: row === 'none' ? row : Number(row) }),
    ...(encoding !== undefined && { encoding }),
    ...(delimiter !== undefined && { delimiter }),
  };
}

const tableKey = (table: Query) => String(withParams(new URLSearchParams(), table));

const importHref = (id: string, query: Query) =>
  `/import/${encodeURIComponent(id)}?${withParams(new URLSearchParams(), query)}`;

/** What of the browser's storage is of whoever is signed in: others use the same browser. */
export function draftStorage(): DraftStorage {
  const name = client.getQueryData(sessionQuery.queryKey)?.name ?? '';
  return {
    getItem: (key) => localStorage.getItem(`${key} ${name}`),
    setItem: (key, text) => localStorage.setItem(`${key} ${name}`, text),
  };
}

/** Keeps what is decided of an upload that somebody begins with, and answers where they begin. */
export function beginDraft({ id, name }: Uploaded, resource: string | undefined, decided: Decided, at: Query): string {
  const table = { resource };
  const last = importHref(id, { ...at, ...table });
  saveDraft(draftStorage(), { ...withDecided(newDraft(id, name), tableKey(table), decided), last });
  return last;
}

/** A dry run. Somebody waits for it: what goes wrong is told at once. */
export const checkOrder = (file: string, job: OrderedJob | undefined) => {
  return { kind: 'import', job, file, options: { dry_run: true }, once: true };
};

/**
 * An import, as all its steps see it. Where somebody is stands in the address: the step, how the table is read, what its rows are,
 * the run that checks, the run that writes. What they decided lies in the draft, what was found with the API, and what a run was
 * ordered with the run itself tells.
 */
export function useImport(id: string) {
  const [params] = useSearchParams();
  const [, go] = useLocation();
  const { draft, change } = useDraft(id);
  const step = STEPS.find((one) => one === params.get('step')) ?? 'table';
  const run = params.get('run') ?? undefined;
  const last = new URLSearchParams(draft.last?.split('?')[1]);
  // The address of a plan that was carried out from it does not say so: whoever goes back to it is told.
  const write = params.get('write') ?? (last.get('run') === run ? last.get('write') : null) ?? undefined;
  const source = sourceIn(params);
  const chosenTable = { ...source, resource: params.get('resource') };
  const decided = draft.tables[tableKey(chosenTable)] ?? {};
  const hrefOf = (to: Step, more: Query = {}) => importHref(id, { step: to, run, write, ...chosenTable, ...more });
  /** To a step that was begun here: whoever comes back later comes back to it. */
  const goToStep = (to: Step, more: Query, job = decided.job) => {
    const href = hrefOf(to, more);
    change((now) => ({ ...withDecided(now, tableKey(chosenTable), { job }), last: href }));
    go(href);
  };
  const setJob = (job: Job) => change((now) => withDecided(now, tableKey(chosenTable), { job }));
  /** Each table, and each kind of record, has a check of its own. */
  const setTable = (options: Query) => {
    // Another sheet has headings of its own.
    const table = { ...chosenTable, ...('sheet' in options && { header_row: null }), ...options };
    change((now) => withDecided(now, tableKey(chosenTable), { run }));
    go(hrefOf(step, { ...table, run: draft.tables[tableKey(table)]?.run, write: null }), { replace: true });
  };

  const file = useQuery({
    queryKey: ['files', id],
    queryFn: () => get<Uploaded>(`/files/${encodeURIComponent(id)}`),
    staleTime: 60_000,
  });
  const table = useQuery({
    queryKey: ['tables', id, source],
    queryFn: ({ signal }) => send<Table>('POST', '/tables', { file: id, source }, { signal }),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { data: resourceData } = useQuery(resourcesQuery);
  const resources = resourceData?.resources ?? [];
  const checked = useQuery({ ...runQuery(run ?? ''), enabled: run !== undefined });
  const ordered = checked.data?.ordered;
  const resourceName = chosenTable.resource ?? checked.data?.resource ?? table.data?.resource;
  const resource = resources.find(({ name }) => name === resourceName);
  // For the very table that was shown, which is not always the one whose headings fit best.
  const detected = {
    ...source,
    ...(table.data?.sheet != null && { sheet: table.data.sheet }),
    header_row: table.data?.header_row ?? ('none' as const),
  };
  const suggestion = useQuery({
    queryKey: ['suggestions', id, detected, resource?.name],
    queryFn: ({ signal }) =>
      send<Suggestion>('POST', '/suggestions', { file: id, resource: resource?.name, source: detected }, { signal }),
    enabled: step === 'columns' && resource !== undefined && table.data !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
  // As it was decided here, or by whoever made the check that the address names, or as suggested.
  const job = decided.job ?? ordered?.job ?? (suggestion.data && suggestedJob(suggestion.data, source));
  /** Whether columns were changed since this check: then its plan is not what is meant any more. */
  const isOtherJob = ordered !== undefined && JSON.stringify(job) !== JSON.stringify(ordered.job);
  /** What was typed over this check. */
  const openEdits = draft.edits[run ?? ''] ?? [];

  /** Where the table was overruled, a saved job reads it as it is shown, too. */
  const asShown = async (one: OrderedJob | undefined) => {
    if (typeof one !== 'string' || Object.keys(source).length === 0) return one;
    const { job: saved } = await client.fetchQuery({ ...jobQuery(one), staleTime: 0 });
    return saved ? withMembers(saved, 'source', table.data ? detected : source) : one;
  };
  /** A dry run with the job as it is now, or with a saved one, and with everything that was corrected so far. */
  const check = useOnce({
    async mutationFn({ saved }: { saved?: string }) {
      const allEdits = composeEdits(editsOf(ordered?.corrections), editsOf(openEdits), table.data?.headings);
      const order = {
        ...checkOrder(id, await asShown(saved ?? job)),
        ...(allEdits.size > 0 && { corrections: corrections(allEdits) }),
      };
      const begun = await send<Accepted>('POST', '/runs', order);
      goToStep('check', { run: begun.id, write: null }, order.job);
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
  const address = { id, name: file.data?.name ?? draft.name, step, run, write, source, hrefOf, go };
  const found = { file, table, resources, resource, suggestion, checked };
  return { ...address, ...found, draft, change, setJob, setTable, job, openEdits, isOtherJob, check, carryOut };
}

function useDraft(id: string) {
  const [draft, setDraft] = useState(() => loadDraft(draftStorage(), id) ?? newDraft(id, id));
  const latest = useRef(draft);
  /** Another window may be on the same import; what there was no room for is here alone. */
  const takeUp = () => {
    const stored = loadDraft(draftStorage(), id);
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
    if (!saveDraft(draftStorage(), latest.current))
      toast('Your browser has no room left to keep this: check again before you leave.');
  };
  return { draft, change };
}
