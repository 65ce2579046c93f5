import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { Run } from '../../api/schema.js';
import { PagePending } from '../app/faults.js';
import { jobsQuery, runsQuery } from '../app/queries.js';
import { usePageTitle, useUrlParams } from '../app/shell.js';
import { counted, number } from '../kit/format.js';
import { Button, ButtonLink, Card, Chips, Choose, Empty, Moment, NameLink } from '../kit/parts.js';
import { Table } from '../kit/table.js';
import { OutcomeBar, STATES, StateBadge } from './outcomes.js';
import { jobWord, kindWord, runName } from './words.js';
import './runs.css';

const PER_PAGE = 50;
const POLL_MS = 5_000;

/** All runs, newest first; the address holds the filter and the page. */
export default function Runs() {
  usePageTitle('Runs');
  const [params, set] = useUrlParams();
  const { status = '', job = '', q = '', after = '' } = Object.fromEntries(params);
  const filter = { status, job, q, after, limit: PER_PAGE };
  const { data, error, isPlaceholderData } = useQuery({ ...runsQuery(filter), refetchInterval: POLL_MS });
  const filtered = status + job + q !== '';
  const runs = isPlaceholderData ? undefined : data?.runs;
  const { visible, fresh, showFresh } = useStableList(runs, JSON.stringify(filter));
  const next = data?.next ?? '';
  if (!visible) return <PagePending page="Runs" error={data ? undefined : error} />;
  return (
    <div className="stack">
      <h1>{listHeadline(visible, filtered, next !== '')}</h1>
      <div className="line wide">
        <Chips
          label="By state"
          of={[['', { word: 'All' }] as const, ...Object.entries(STATES)].map(([to, { word }]) => ({
            ...{ word, to },
            on: to === status,
          }))}
          onChoose={(state) => set({ after: '', status: state })}
        />
        <JobChoice job={job} onChange={(name) => set({ after: '', job: name })} />
        {q && <Button look="quiet" icon="close" onClick={() => set({ after: '', q: '' })} word={`“${q}”`} />}
      </div>
      <Card flush>
        {fresh > 0 && <Button look="quiet" className="fresh" onClick={showFresh} word={`${number(fresh)} new`} />}
        {visible.length > 0 ? (
          <RunTable label="Runs" runs={visible} />
        ) : filtered ? (
          <Empty title="No run matches">
            <p>
              Files and jobs are found by a part of their name, runs by how their id begins; a key on the page of its
              run.
            </p>
            <ButtonLink href="/runs" word="Show all runs" />
          </Empty>
        ) : (
          <Empty title="Nothing has run yet">
            <p>Import a spreadsheet: nothing is written before you have seen what would be.</p>
            <ButtonLink look="primary" href="/import" icon="import" word="Import a file" />
          </Empty>
        )}
      </Card>
      {(after || next) && (
        <nav className="line" aria-label="Pages of the list">
          {after && <Button icon="back" onClick={() => set({ after: '' })} word="The newest" />}
          {next && <Button icon="next" onClick={() => set({ after: next })} word="Older" />}
        </nav>
      )}
    </div>
  );
}

/**
 * What a dry run of an import found is for whoever made it; a night may only report. Whether it was taken up since tells the
 * overview.
 */
const waitsForPerson = ({ status, kind, dry_run: dry }: Run) =>
  ['warn', 'bad'].includes(STATES[status].tone) && !(dry && kind !== 'reconcile');

function listHeadline(runs: readonly Run[], filtered: boolean, more: boolean): string {
  const n = runs.length;
  if (n === 0) return filtered ? 'No run matches.' : 'Nothing has run yet.';
  if (filtered) return more ? `${counted(n, 'run')} and more match.` : `${counted(n, 'run matches', 'runs match')}.`;
  const waiting = runs.filter(waitsForPerson).length;
  if (waiting === 0) return `Nobody is needed: the latest ${n === 1 ? 'run' : counted(n, 'run')} ended well.`;
  return `${n === 1 ? 'The latest run' : `${number(waiting)} of the latest ${counted(n, 'run')}`} left something for you.`;
}

/**
 * A list that does not move: what came since waits behind a button, what is shown changes in place. `key`: another one is
 * another list, in whose place the one before stands until it comes.
 */
function useStableList(runs: readonly Run[] | undefined, key: string) {
  const [stable, setStable] = useState<{ readonly key: string; readonly runs: readonly Run[] }>();
  useEffect(() => {
    if (!runs) return;
    setStable((before) => {
      if (before?.key !== key || before.runs.length === 0) return { key, runs };
      const latest = new Map(runs.map((run) => [run.id, run]));
      return { key, runs: before.runs.map((run) => latest.get(run.id) ?? run) };
    });
  }, [runs, key]);
  const visible = stable?.key === key || !runs ? stable?.runs : runs;
  const known = new Set(visible?.map(({ id }) => id));
  const fresh = visible && runs ? runs.filter(({ id }) => !known.has(id)).length : 0;
  return { visible, fresh, showFresh: () => runs && setStable({ key, runs }) };
}

function JobChoice({ job, onChange }: { job: string; onChange: (name: string) => void }) {
  const { data } = useQuery(jobsQuery);
  const names = new Set([...(data?.jobs.map(({ name }) => name) ?? []), ...(job ? [job] : [])]);
  const options = [...names].sort().map((name) => [name, name] as const);
  return <Choose bare label="Job" value={job} options={[['', 'All jobs'], ...options]} onChoose={onChange} />;
}

/** Columns go where there is no room for them; the state and the name stay. */
export function RunTable({ label, runs }: { label: string; runs: readonly Run[] }) {
  return (
    <Table
      className="runs"
      label={label}
      rows={runs}
      keyOf={({ id }) => id}
      columns={[
        { head: 'State', of: (run) => <StateBadge run={run} /> },
        { head: 'File', names: true, of: (run) => <NameLink href={`/runs/${run.id}`}>{runName(run)}</NameLink> },
        {
          head: 'What',
          broad: true,
          of: (run) => (
            <span className="soft">
              {kindWord(run)} · <bdi>{jobWord(run)}</bdi>
            </span>
          ),
        },
        { head: 'Rows', broad: true, num: true, of: ({ rows }) => rows !== null && number(rows) },
        {
          head: <span className="unseen">Share by outcome</span>,
          broad: true,
          of: ({ outcomes, rows }) => outcomes && <OutcomeBar counts={outcomes} total={rows} />,
        },
        { head: 'Need you', num: true, of: ({ needs_person: n }) => (n ? number(n) : <span className="soft">–</span>) },
        { head: 'Began', num: true, of: ({ started_at }) => <Moment at={started_at} /> },
      ]}
    />
  );
}
