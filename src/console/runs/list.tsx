import { useQuery } from '@tanstack/react-query';
import { useEffect, useState, useSyncExternalStore } from 'react';
import { Link } from 'wouter';
import type { Run, RunState } from '../../api/schema.js';
import { NotThere } from '../app/faults.js';
import { jobsQuery, runsQuery } from '../app/queries.js';
import { useAddress, usePageTitle } from '../app/shell.js';
import { counted, exactly, number, when } from '../kit/format.js';
import { Button, ButtonLink, Card, Chip, Chips, Empty, OutcomeBar, StateBadge, stateWord } from '../kit/parts.js';
import { Table } from '../kit/table.js';
import { jobWord, kindWord } from './words.js';
import './runs.css';

const STATES: readonly RunState[] = [
  'running',
  'waiting',
  'partial',
  'braked',
  'failed',
  'interrupted',
  'unfinished',
  'succeeded',
];
const PER_PAGE = 50;
const LOOK_AGAIN_MS = 5_000;

/** All runs, newest first; the address holds the filter and the page. */
export default function Runs() {
  usePageTitle('Runs');
  const [params, set] = useAddress();
  const { status = '', job = '', q = '', after = '' } = Object.fromEntries(params);
  const filter = { status, job, q, after, limit: PER_PAGE };
  const { data, error } = useQuery({ ...runsQuery(filter), refetchInterval: LOOK_AGAIN_MS });
  const filtered = status + job + q !== '';
  const { shown, fresh, showFresh } = useStill(data?.runs, JSON.stringify(filter));
  const next = data?.next ?? '';
  if (!shown) return <NotThere page="Runs" error={data ? undefined : error} />;
  return (
    <div className="stack">
      <h1>{firstLine(shown, filtered, next !== '')}</h1>
      <div className="line wide">
        <Chips
          label="By state"
          of={[{ value: '', word: 'All' }, ...STATES.map((state) => ({ value: state, word: stateWord(state) }))]}
          on={status}
          onChoose={(state) => set({ after: '', status: state === status ? '' : state })}
        />
        <JobChoice job={job} onChange={(name) => set({ after: '', job: name })} />
        {q && (
          <Chip on icon="close" onClick={() => set({ after: '', q: '' })}>
            “{q}”
          </Chip>
        )}
      </div>
      <Card flush>
        {fresh > 0 && (
          <Button look="quiet" className="fresh" onClick={showFresh}>
            {number(fresh)} new
          </Button>
        )}
        {shown.length > 0 ? (
          <RunTable runs={shown} />
        ) : filtered ? (
          <Empty title="No run matches">
            <p>
              Files and jobs are found by a part of their name, runs by how their id begins; a key on the page of its
              run.
            </p>
            <ButtonLink href="/runs">Show all runs</ButtonLink>
          </Empty>
        ) : (
          <Empty title="Nothing has run yet">
            <p>Import a spreadsheet: nothing is written before you have seen what would be.</p>
            <ButtonLink look="primary" href="/import" icon="import">
              Import a file
            </ButtonLink>
          </Empty>
        )}
      </Card>
      {(after || next) && (
        <nav className="line" aria-label="Pages of the list">
          {after && (
            <Button icon="back" onClick={() => set({ after: '' })}>
              The newest
            </Button>
          )}
          {next && (
            <Button icon="next" onClick={() => set({ after: next })}>
              Older
            </Button>
          )}
        </nav>
      )}
    </div>
  );
}

const NEEDS: ReadonlySet<RunState> = new Set(['braked', 'failed', 'interrupted', 'unfinished']);

function firstLine(runs: readonly Run[], filtered: boolean, more: boolean): string {
  const n = runs.length;
  if (n === 0) return filtered ? 'No run matches.' : 'Nothing has run yet.';
  const waiting = runs.filter(({ status, needs_person }) => NEEDS.has(status) || (needs_person ?? 0) > 0).length;
  const need = waiting === 1 ? 'needs' : 'need';
  if (filtered) {
    const these = more ? `${counted(n, 'run')} and more match` : counted(n, 'run matches', 'runs match');
    return `${these}; ${waiting === 0 ? 'none of them needs you' : `${number(waiting)} ${need} you`}.`;
  }
  if (waiting === 0) return `Nobody is needed: the latest ${counted(n, 'run')} ended well.`;
  return `${number(waiting)} of the latest ${counted(n, 'run')} ${need} you.`;
}

/**
 * A list that does not move: what came since waits behind a button, what is shown changes in place. `key`: another one is
 * another list.
 */
function useStill(runs: readonly Run[] | undefined, key: string) {
  const [still, setStill] = useState<{ readonly key: string; readonly runs: readonly Run[] }>();
  useEffect(() => {
    if (!runs) return;
    setStill((before) => {
      if (before?.key !== key || before.runs.length === 0) return { key, runs };
      const latest = new Map(runs.map((run) => [run.id, run]));
      return { key, runs: before.runs.map((run) => latest.get(run.id) ?? run) };
    });
  }, [runs, key]);
  const shown = still?.key === key ? still.runs : undefined;
  const known = new Set(shown?.map(({ id }) => id));
  const fresh = shown && runs ? runs.filter(({ id }) => !known.has(id)).length : 0;
  return { shown, fresh, showFresh: () => runs && setStill({ key, runs }) };
}

function JobChoice({ job, onChange }: { job: string; onChange: (name: string) => void }) {
  const { data } = useQuery(jobsQuery);
  const names = new Set([...(data?.jobs.map(({ name }) => name) ?? []), ...(job ? [job] : [])]);
  return (
    <select className="input" aria-label="Job" value={job} onChange={({ target }) => onChange(target.value)}>
      <option value="">All jobs</option>
      {[...names].sort().map((name) => (
        <option key={name}>{name}</option>
      ))}
    </select>
  );
}

function Began({ at }: { at: string }) {
  return (
    <time className="soft" dateTime={at} title={exactly(at)}>
      {when(at)}
    </time>
  );
}

/** Where there is no room for columns; also on the overview. */
export function RunLines({ runs }: { runs: readonly Run[] }) {
  return (
    <ul className="entries">
      {runs.map((run) => (
        <li key={run.id} className="run">
          <Link href={`/runs/${run.id}`} className="name cut">
            <bdi>{run.file || run.job}</bdi>
          </Link>
          <Began at={run.started_at} />
          <span className="line small">
            <StateBadge state={run.status} />
            <span className="soft grow cut">
              {kindWord(run)} · <bdi>{jobWord(run)}</bdi>
            </span>
            {run.needs_person ? <span>{counted(run.needs_person, 'needs you', 'need you')}</span> : null}
          </span>
        </li>
      ))}
    </ul>
  );
}

const NARROW = matchMedia('(max-width: 760px)');

function onNarrow(changed: () => void): () => void {
  NARROW.addEventListener('change', changed);
  return () => NARROW.removeEventListener('change', changed);
}

function RunTable({ runs }: { runs: readonly Run[] }) {
  if (useSyncExternalStore(onNarrow, () => NARROW.matches)) return <RunLines runs={runs} />;
  return (
    <Table
      className="runs"
      label="Runs"
      rows={runs}
      keyOf={({ id }) => id}
      columns={[
        { head: 'State', of: ({ status }) => <StateBadge state={status} /> },
        {
          head: 'File',
          names: true,
          of: ({ id, file, job }) => (
            <Link href={`/runs/${id}`} className="name cut">
              <bdi>{file || job || id}</bdi>
            </Link>
          ),
        },
        { head: 'Job', of: (run) => <bdi>{jobWord(run)}</bdi> },
        { head: 'What', of: (run) => <span className="soft">{kindWord(run)}</span> },
        { head: 'Rows', num: true, of: ({ rows }) => rows !== null && number(rows) },
        {
          head: <span className="unseen">Share by outcome</span>,
          of: ({ outcomes, rows }) => outcomes && <OutcomeBar counts={outcomes} total={rows} />,
        },
        { head: 'Need you', num: true, of: ({ needs_person: n }) => (n ? number(n) : <span className="soft">–</span>) },
        { head: 'Began', num: true, of: ({ started_at }) => <Began at={started_at} /> },
      ]}
    />
  );
}
